import com.fasterxml.jackson.databind.JsonNode;
import java.io.ByteArrayInputStream;
import java.io.File;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Base64;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.zip.CRC32;
import java.util.zip.CRC32C;
import java.util.zip.GZIPInputStream;
import org.apache.kafka.storage.internals.log.LogSegment;

/** One history of a real log: opened, appended to, closed, restarted, truncated, and what its files were after each. */
final class Replay {
    private static final int ATTRIBUTES_AT = 21;
    private static final int EPOCH_AT = 12;
    private static final int MAGIC_AT = 16;
    private static final int CRC_AT = 17;
    private static final int SIZE_AT = 8;
    private static final int SIZE_END = 12;
    private static final int LEGACY_CRC_AT = 12;
    private static final int LEGACY_ATTRIBUTES_AT = 17;
    private static final int LOG_APPEND_TIME = 1 << 3;
    private static final int CONTROL = 1 << 5;

    private final JsonNode question;
    private final StillTime time;
    private final File dir;
    private final ByteBuffer appended;
    private Map<String, String> settings;
    private RealLog log;

    Replay(JsonNode question, Path work) throws IOException {
        this.question = question;
        this.time = new StillTime(question.get("start_clock").asLong());
        this.dir = Files.createDirectories(work.resolve("t-0")).toFile();
        this.appended = ByteBuffer.wrap(ungz(question.get("appended_gz")));
        this.settings = settings(question.get("settings"));
    }

    Map<String, Object> answer() throws Exception {
        Map<String, Object> answer = new LinkedHashMap<>();
        try {
            log = Release.open(dir, settings, question.get("start_offset").asLong(), 0, true, time);
        } catch (Exception | Error error) {
            answer.put("open_error", Harness.error(error, dir));
            answer.put("after_open_error", State.sizes(dir));
            return answer;
        }
        answer.put("opened", State.open(log, dir));
        List<Object> steps = new ArrayList<>();
        answer.put("steps", steps);
        for (JsonNode step : question.get("steps")) {
            time.nowMs = step.get("now").asLong();
            Map<String, Object> done = done(step);
            steps.add(done);
            if (done.containsKey("files")) return answer;
            if (done.containsKey("error") && endsHistory(done)) break;
        }
        time.nowMs = question.path("close_clock").asLong(time.nowMs);
        answer.put("final_open", State.open(log, dir));
        log.close();
        answer.put("final_closed", State.closed(dir));
        keep();
        return answer;
    }

    /** These leave the log in memory apart from its files; the other errors of an append left nothing behind. */
    private static boolean endsHistory(Map<String, Object> done) {
        String name = (String) ((Map<?, ?>) done.get("error")).get("class");
        return name.endsWith(".IllegalArgumentException") || name.endsWith(".LogSegmentOffsetOverflowException")
            || name.endsWith(".KafkaStorageException");
    }

    private Map<String, Object> done(JsonNode step) throws Exception {
        Map<String, Object> done = new LinkedHashMap<>();
        done.put("op", step.get("op").asText());
        switch (step.get("op").asText()) {
            case "append" -> append(step, done);
            case "restart" -> restart(step, done);
            case "crash" -> crash(step, done);
            case "roll" -> {
                log.roll();
                done.put("state", State.open(log, dir));
            }
            case "truncateTo" -> {
                done.put("result", log.truncateTo(step.get("offset").asLong()));
                done.put("state", State.open(log, dir));
            }
            case "deleteRecords" -> deleteRecords(step, done);
            default -> throw new IllegalArgumentException("no such step: " + step);
        }
        return done;
    }

    private void append(JsonNode step, Map<String, Object> done) throws Exception {
        int size = 0;
        for (JsonNode batch : step.get("b")) size += batch.get(2).asInt();
        ByteBuffer records = ByteBuffer.wrap(appended.array(), appended.position(), size).slice();
        appended.position(appended.position() + size);
        LogSegment before = log.activeSegment();
        try {
            if (question.get("mode").asText().equals("leader")) appendAsLeader(records);
            else log.appendAsFollower(records, highestEpoch(records, step));
        } catch (Exception | Error error) {
            done.put("error", Harness.error(error, dir));
            done.put("state", State.open(log, dir));
            return;
        }
        done.put("seg", log.activeSegment().baseOffset());
        done.put("pos", log.activeSegment().size() - size);
        if (log.activeSegment().baseOffset() != before.baseOffset()) done.put("rolled", true);
        else if (log.activeSegment() != before) done.put("recreated", true); // a full index of an empty segment: KAFKA-6388
    }

    private void appendAsLeader(ByteBuffer records) throws Exception {
        boolean v2 = records.get(MAGIC_AT) >= 2;
        boolean control = v2 && (records.getShort(ATTRIBUTES_AT) & CONTROL) != 0;
        ByteBuffer copy = ByteBuffer.allocate(records.remaining()).put(records.duplicate()).flip();
        if (v2) asProduced(copy);
        else messagesAsProduced(copy);
        log.appendAsLeader(copy, v2 ? records.getInt(EPOCH_AT) : 0, control);
    }

    /** A producer counts from 0 and says CreateTime: it is the log that gives the batch its offset and, if so set, its time. */
    private static void asProduced(ByteBuffer batch) {
        batch.putLong(0, 0);
        batch.putShort(ATTRIBUTES_AT, (short) (batch.getShort(ATTRIBUTES_AT) & ~LOG_APPEND_TIME));
        CRC32C checksum = new CRC32C();
        checksum.update(batch.duplicate().position(ATTRIBUTES_AT));
        batch.putInt(CRC_AT, (int) checksum.getValue());
    }

    /** Messages count from 0 too, those inside a compressed one as well: its own offset is that of the last. */
    private void messagesAsProduced(ByteBuffer messages) {
        for (int at = 0; at < messages.limit(); at += SIZE_END + messages.getInt(at + SIZE_AT)) {
            messages.putLong(at, messages.getLong(at) - log.logEnd());
            if (messages.get(at + MAGIC_AT) == 0) continue; // no times at all
            messages.put(at + LEGACY_ATTRIBUTES_AT, (byte) (messages.get(at + LEGACY_ATTRIBUTES_AT) & ~LOG_APPEND_TIME));
            CRC32 checksum = new CRC32();
            checksum.update(messages.duplicate().position(at + MAGIC_AT).limit(at + SIZE_END + messages.getInt(at + SIZE_AT)));
            messages.putInt(at + LEGACY_CRC_AT, (int) checksum.getValue());
        }
    }

    /** A follower refuses batches of an epoch that its leader cannot know. */
    private static int highestEpoch(ByteBuffer records, JsonNode step) {
        int highest = 0;
        int at = 0;
        for (JsonNode batch : step.get("b")) {
            if (records.get(at + MAGIC_AT) >= 2) highest = Math.max(highest, records.getInt(at + EPOCH_AT));
            at += batch.get(2).asInt();
        }
        return highest;
    }

    private void restart(JsonNode step, Map<String, Object> done) throws Exception {
        long logStart = log.logStart();
        long logEnd = log.logEnd();
        log.close();
        done.put("closed", State.closed(dir));
        reopen(step, done, logStart, logEnd, true);
    }

    private void crash(JsonNode step, Map<String, Object> done) throws Exception {
        long logStart = log.logStart();
        log.abandon();
        done.put("crashed", State.closed(dir));
        reopen(step, done, logStart, step.get("recovery_point").asLong(), false);
    }

    private void reopen(JsonNode step, Map<String, Object> done, long logStart, long recoveryPoint, boolean clean) throws Exception {
        if (step.has("settings")) settings = settings(step.get("settings"));
        try {
            log = Release.open(dir, settings, logStart, recoveryPoint, clean, time);
            done.put("opened", State.open(log, dir));
        } catch (Exception | Error error) {
            done.put("error", Harness.error(error, dir));
            done.put("files", State.closed(dir));
        }
    }

    private void deleteRecords(JsonNode step, Map<String, Object> done) throws Exception {
        done.put("result", log.incrementLogStart(step.get("offset").asLong()));
        done.put("segments_deleted", log.deleteOldSegments());
        done.put("log_start", log.logStart());
        done.put("bases", log.segments().stream().map(LogSegment::baseOffset).toList());
    }

    /** Leaves the files of a closed log where the question wants them. */
    private void keep() throws IOException {
        if (!question.has("keep")) return;
        Path kept = Files.createDirectories(Path.of(question.get("keep").asText()));
        for (File file : State.sorted(dir)) Files.copy(file.toPath(), kept.resolve(file.getName()));
    }

    static Map<String, String> settings(JsonNode node) {
        Map<String, String> settings = new HashMap<>();
        node.fieldNames().forEachRemaining(name -> settings.put(name, node.get(name).asText()));
        return settings;
    }

    static byte[] ungz(JsonNode node) throws IOException {
        try (GZIPInputStream in = new GZIPInputStream(new ByteArrayInputStream(Base64.getDecoder().decode(node.asText())))) {
            return in.readAllBytes();
        }
    }
}
