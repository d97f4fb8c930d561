import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.BufferedReader;
import java.io.File;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.storage.internals.checkpoint.OffsetCheckpointFile;
import org.apache.kafka.storage.internals.log.LogConfig;
import org.apache.kafka.storage.internals.log.LogDirFailureChannel;
import org.apache.kafka.storage.internals.log.LogSegment;
import org.apache.kafka.storage.internals.log.ProducerStateManagerConfig;
import org.apache.kafka.storage.internals.log.UnifiedLog;
import org.apache.kafka.storage.log.metrics.BrokerTopicStats;

/**
 * Loads what a broker loads at a start, with the classes of 4.3.1 or 4.4.0: a JSON object per line in, a JSON object per line out.
 * `{"checkpoint": FILE}` reads an offset checkpoint, `{"dir": DIRECTORY, "clean": true, ...}` opens the log of a partition.
 */
public final class Loads {
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final int MAX_TRANSACTION_TIMEOUT_MS = 300_000;
    private static final int CHECK_INTERVAL_MS = 600_000;
    private static final int PRODUCER_EXPIRATION_MS = 86_400_000;

    private Loads() {}

    public static void main(String[] args) throws Exception {
        BufferedReader questions = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        PrintStream answers = new PrintStream(new FileOutputStream(FileDescriptor.out), true, StandardCharsets.UTF_8);
        for (String line; (line = questions.readLine()) != null; ) {
            answers.println(JSON.writeValueAsString(answer(JSON.readTree(line))));
        }
        Runtime.getRuntime().halt(0);
    }

    private static Map<String, Object> answer(JsonNode question) {
        boolean isCheckpoint = question.has("checkpoint");
        File file = new File(question.get(isCheckpoint ? "checkpoint" : "dir").asText());
        Map<String, Object> answer = new LinkedHashMap<>();
        try {
            if (isCheckpoint) {
                answer.put("offsets", offsets(file));
            } else {
                load(file, question, answer);
            }
        } catch (Exception | Error error) {
            answer.put("error", error(error, file));
        }
        return answer;
    }

    private static Map<String, Long> offsets(File file) throws Exception {
        Map<String, Long> offsets = new TreeMap<>();
        for (Map.Entry<TopicPartition, Long> entry : new OffsetCheckpointFile(file, new LogDirFailureChannel(1)).read().entrySet()) {
            offsets.put(entry.getKey().topic() + " " + entry.getKey().partition(), entry.getValue());
        }
        return offsets;
    }

    private static void load(File dir, JsonNode question, Map<String, Object> answer) throws Exception {
        Map<String, String> settings = new HashMap<>();
        question.path("settings").fields().forEachRemaining(item -> settings.put(item.getKey(), item.getValue().asText()));
        UnifiedLog log = UnifiedLog.create(dir, new LogConfig(settings), question.path("log_start").asLong(0), question.path("recovery_point").asLong(0),
            new IdleScheduler(), new BrokerTopicStats(false), new StillTime(question.path("now").asLong(0)), MAX_TRANSACTION_TIMEOUT_MS,
            new ProducerStateManagerConfig(PRODUCER_EXPIRATION_MS, false), CHECK_INTERVAL_MS, new LogDirFailureChannel(1), question.path("clean").asBoolean(true),
            Optional.empty());
        answer.put("bases", log.logSegments().stream().map(LogSegment::baseOffset).toList());
        answer.put("log_start", log.logStartOffset());
        answer.put("log_end", log.logEndOffset());
        Map<String, Long> files = new TreeMap<>();
        for (File file : dir.listFiles()) files.put(file.getName(), file.isFile() ? file.length() : -1L);
        answer.put("files", files);
    }

    private static Map<String, Object> error(Throwable error, File file) {
        Map<String, Object> described = new LinkedHashMap<>();
        described.put("class", error.getClass().getName());
        described.put("message", error.getMessage() == null ? null : error.getMessage().replace(file.getParent(), "<DIR>"));
        if (error.getCause() != null && error.getCause() != error) described.put("cause", error(error.getCause(), file));
        return described;
    }
}
