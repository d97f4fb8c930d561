import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.BufferedReader;
import java.io.File;
import java.io.InputStreamReader;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.apache.kafka.common.record.internal.FileRecords;
import org.apache.kafka.common.record.internal.MemoryRecords;
import org.apache.kafka.common.record.internal.Record;
import org.apache.kafka.common.record.internal.RecordBatch;
import org.apache.kafka.server.storage.log.FetchIsolation;
import org.apache.kafka.storage.internals.log.FetchDataInfo;
import org.apache.kafka.storage.internals.log.LogConfig;
import org.apache.kafka.storage.internals.log.LogDirFailureChannel;
import org.apache.kafka.storage.internals.log.LogSegment;
import org.apache.kafka.storage.internals.log.ProducerStateManagerConfig;
import org.apache.kafka.storage.internals.log.UnifiedLog;
import org.apache.kafka.storage.log.metrics.BrokerTopicStats;

/**
 * Loads a broken directory as a broker does, and reads it as a consumer with max.partition.fetch.bytes=1 does: a JSON object a line in, a
 * JSON object a line out. What a fetch gives is parsed as the client parses it, checksums verified.
 */
public final class BrokenLogs {
    private static final ObjectMapper JSON = new ObjectMapper();

    private BrokenLogs() {}

    public static void main(String[] args) throws Exception {
        BufferedReader questions = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line; (line = questions.readLine()) != null; ) {
            System.out.println(JSON.writeValueAsString(answer(JSON.readTree(line))));
            System.out.flush();
        }
        System.exit(0);
    }

    private static Map<String, Object> answer(JsonNode question) {
        Map<String, Object> answer = new LinkedHashMap<>();
        File dir = new File(question.get("dir").asText());
        UnifiedLog log;
        try {
            log = open(dir, question);
        } catch (Exception | Error error) {
            answer.put("error", Harness.error(error, dir));
            return answer;
        }
        answer.put("bases", log.logSegments().stream().map(LogSegment::baseOffset).toList());
        answer.put("log_end", log.logEndOffset());
        if (question.hasNonNull("timestamp")) {
            Optional<FileRecords.TimestampAndOffset> found =
                log.fetchOffsetByTimestamp(question.get("timestamp").asLong(), Optional.empty()).timestampAndOffsetOpt();
            answer.put("answer", found.map(item -> item.offset).orElse(null));
        } else {
            read(log, answer);
        }
        log.closeHandlers();
        return answer;
    }

    private static UnifiedLog open(File dir, JsonNode question) throws Exception {
        return UnifiedLog.create(dir, new LogConfig(Replay.settings(question.get("settings"))), question.get("log_start").asLong(),
            question.get("recovery_point").asLong(), new IdleScheduler(), new BrokerTopicStats(false), new StillTime(question.get("now").asLong()),
            300_000, new ProducerStateManagerConfig(86_400_000, false), 600_000, new LogDirFailureChannel(10), question.get("clean").asBoolean(), Optional.empty());
    }

    /** Batch after batch: the first and the last offset that come, the segment and the byte where the batch lies. */
    private static void read(UnifiedLog log, Map<String, Object> answer) {
        List<List<Long>> ranges = new ArrayList<>();
        answer.put("ranges", ranges);
        long offset = log.logStartOffset();
        try {
            while (offset < log.logEndOffset()) {
                FetchDataInfo fetched = log.read(offset, 1, FetchIsolation.LOG_END, true);
                if (fetched.records.sizeInBytes() == 0) return;
                ByteBuffer buffer = ByteBuffer.allocate(fetched.records.sizeInBytes());
                ((FileRecords) fetched.records).readInto(buffer, 0);
                RecordBatch batch = MemoryRecords.readableRecords(buffer).batches().iterator().next();
                batch.ensureValid();
                long first = -1;
                for (Record record : batch) {
                    if (record.offset() >= offset && first < 0) first = record.offset();
                }
                if (first < 0 || batch.nextOffset() <= offset) return;
                ranges.add(List.of(first, batch.lastOffset(), fetched.fetchOffsetMetadata.segmentBaseOffset, (long) fetched.fetchOffsetMetadata.relativePositionInSegment));
                offset = batch.nextOffset();
            }
        } catch (Exception | Error error) {
            answer.put("read_error", List.of(offset, error.getClass().getName(), String.valueOf(error.getMessage())));
        }
    }
}
