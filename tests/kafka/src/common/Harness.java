import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.BufferedReader;
import java.io.ByteArrayOutputStream;
import java.io.File;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.apache.kafka.common.utils.Exit;
import org.apache.kafka.storage.internals.log.LogSegment;

/**
 * Asks Kafka's own classes: a JSON object a line in, a JSON object a line out. "ask" is one of
 * replay (a history of a log), recover (LogSegment.recover of one .log), load (a directory as a broker that was stopped cleanly left it)
 * and dump (DumpLogSegments of files).
 */
public final class Harness {
    private static final ObjectMapper JSON = new ObjectMapper();

    private Harness() {}

    public static void main(String[] args) throws Exception {
        Exit.setExitProcedure((status, message) -> {
            throw new IllegalStateException("exit " + status + ": " + message);
        });
        PrintStream answers = System.out;
        BufferedReader questions = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line; (line = questions.readLine()) != null; ) {
            JsonNode question = JSON.readTree(line);
            Map<String, Object> answer = new LinkedHashMap<>();
            Path work = Files.createTempDirectory("kafka-harness");
            try {
                answer.putAll(answer(question, work));
            } catch (Exception | Error error) {
                answer.put("harness_error", error(error, work.toFile()));
            } finally {
                State.delete(work);
            }
            answers.println(JSON.writeValueAsString(answer));
            answers.flush();
        }
        System.exit(0);
    }

    private static Map<String, Object> answer(JsonNode question, Path work) throws Exception {
        return switch (question.get("ask").asText()) {
            case "replay" -> new Replay(question, work).answer();
            case "recover" -> recover(question, work);
            case "load" -> load(question);
            case "dump" -> dump(question);
            default -> throw new IllegalArgumentException("no such question: " + question.get("ask"));
        };
    }

    private static Map<String, Object> recover(JsonNode question, Path work) throws Exception {
        File dir = Files.createDirectories(work.resolve("t-0")).toFile();
        long base = question.get("base_offset").asLong();
        Files.write(dir.toPath().resolve(String.format("%020d.log", base)), Replay.ungz(question.get("log_gz")));
        Map<String, Object> answer = new LinkedHashMap<>();
        StillTime time = new StillTime(question.path("now").asLong(0));
        LogSegment segment = Release.segment(dir, Replay.settings(question.get("settings")), base, time);
        try {
            answer.put("truncated", Release.recover(segment, dir, time));
            answer.put("max_timestamp_so_far", segment.maxTimestampSoFar());
            answer.put("next_offset", segment.readNextOffset());
        } catch (Exception | Error error) {
            answer.put("error", error(error, dir));
        }
        answer.put("after", State.closedSegment(dir, base));
        answer.put("txnindex_hex", ((Map<?, ?>) answer.get("after")).get("txnindex"));
        Path epochs = dir.toPath().resolve("leader-epoch-checkpoint");
        answer.put("leader_epoch_checkpoint", Files.exists(epochs) ? Files.readString(epochs) : "");
        segment.close();
        answer.put("closed", State.closedSegment(dir, base));
        return answer;
    }

    private static Map<String, Object> load(JsonNode question) throws Exception {
        File dir = new File(question.get("dir").asText());
        StillTime time = new StillTime(question.get("now").asLong());
        Map<String, Object> answer = new LinkedHashMap<>();
        RealLog log;
        try {
            log = Release.open(dir, Replay.settings(question.get("settings")), question.get("log_start").asLong(), Long.MAX_VALUE, true, time);
        } catch (Exception | Error error) {
            answer.put("error", error(error, dir));
            return answer;
        }
        answer.put("opened", State.open(log, dir));
        for (LogSegment segment : log.segments()) {
            segment.sanityCheck(false);
            segment.offsetIndex().sanityCheck();
            segment.timeIndex().sanityCheck();
        }
        answer.put("read", log.readAll());
        log.close();
        answer.put("closed", State.closed(dir));
        return answer;
    }

    /** What the tool said, and what it raised: it writes to the standard output of the process. */
    private static Map<String, Object> dump(JsonNode question) throws Exception {
        List<String> args = new ArrayList<>();
        question.get("args").forEach(arg -> args.add(arg.asText()));
        PrintStream out = System.out;
        PrintStream err = System.err;
        ByteArrayOutputStream said = new ByteArrayOutputStream();
        ByteArrayOutputStream complained = new ByteArrayOutputStream();
        Map<String, Object> answer = new LinkedHashMap<>();
        System.setOut(new PrintStream(said, true, StandardCharsets.UTF_8));
        System.setErr(new PrintStream(complained, true, StandardCharsets.UTF_8));
        try {
            Release.dump(args.toArray(String[]::new));
        } catch (Exception | Error error) {
            answer.put("error", error(error, new File(".")));
        } finally {
            System.setOut(out);
            System.setErr(err);
        }
        answer.put("out", said.toString(StandardCharsets.UTF_8));
        answer.put("err", complained.toString(StandardCharsets.UTF_8));
        return answer;
    }

    static Map<String, Object> error(Throwable error, File dir) {
        Map<String, Object> described = new LinkedHashMap<>();
        described.put("class", error.getClass().getName());
        described.put("message", error.getMessage() == null ? null : error.getMessage().replace(dir.getParentFile() + "", "<DIR>"));
        if (error.getCause() != null && error.getCause() != error) described.put("cause", error(error.getCause(), dir));
        return described;
    }
}
