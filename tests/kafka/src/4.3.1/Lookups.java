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
import org.apache.kafka.common.utils.*; // BufferSupplier, up to 4.3
import org.apache.kafka.common.utils.internals.*; // BufferSupplier, from 4.4 on
import org.apache.kafka.server.storage.log.FetchIsolation;
import org.apache.kafka.storage.internals.log.FetchDataInfo;
import org.apache.kafka.storage.internals.log.LogConfig;
import org.apache.kafka.storage.internals.log.LogDirFailureChannel;
import org.apache.kafka.storage.internals.log.ProducerStateManagerConfig;
import org.apache.kafka.storage.internals.log.UnifiedLog;
import org.apache.kafka.storage.log.metrics.BrokerTopicStats;

/**
 * Looks up offsets and timestamps in a directory as it is: a JSON object a line in, a JSON object a line out. An offset is fetched batch
 * after batch as a consumer with max.partition.fetch.bytes=1 does, and what comes is read in the order of CompletedFetch.
 */
public final class Lookups {
    private static final ObjectMapper JSON = new ObjectMapper();

    private Lookups() {}

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
        UnifiedLog log;
        try {
            log = UnifiedLog.create(new File(question.get("dir").asText()), new LogConfig(Map.of()), 0, Long.MAX_VALUE, new IdleScheduler(),
                new BrokerTopicStats(false), new StillTime(question.get("now").asLong()), 300_000, new ProducerStateManagerConfig(86_400_000, false),
                600_000, new LogDirFailureChannel(10), true, Optional.empty());
        } catch (Exception | Error error) {
            answer.put("error", described(error));
            return answer;
        }
        answer.put("log_end", log.logEndOffset());
        List<Object> fetched = new ArrayList<>();
        question.get("offsets").forEach(offset -> fetched.add(attempt(() -> fetch(log, offset.asLong()))));
        answer.put("offsets", fetched);
        List<Object> listed = new ArrayList<>();
        question.get("timestamps").forEach(timestamp -> listed.add(attempt(() -> list(log, timestamp.asLong()))));
        answer.put("timestamps", listed);
        log.close();
        return answer;
    }

    private interface Attempt {
        Object answer() throws Exception;
    }

    private static Object attempt(Attempt attempt) {
        try {
            return attempt.answer();
        } catch (Exception | Error error) {
            return described(error);
        }
    }

    /** Partition.fetchOffsetForTimestamp gives nothing from the end on. */
    private static Object list(UnifiedLog log, long timestamp) throws Exception {
        Optional<FileRecords.TimestampAndOffset> found = log.fetchOffsetByTimestamp(timestamp, Optional.empty()).timestampAndOffsetOpt();
        return found.filter(item -> item.offset < log.logEndOffset()).map(item -> List.of(item.offset, item.timestamp)).orElse(null);
    }

    /** Offset and timestamp of the first record from an offset on. */
    private static Object fetch(UnifiedLog log, long offset) throws Exception {
        while (true) {
            FetchDataInfo fetched = log.read(offset, 1, FetchIsolation.LOG_END, true);
            if (fetched.records.sizeInBytes() == 0) return null;
            ByteBuffer buffer = ByteBuffer.allocate(fetched.records.sizeInBytes());
            ((FileRecords) fetched.records).readInto(buffer, 0);
            long next = offset;
            for (RecordBatch batch : MemoryRecords.readableRecords(buffer).batches()) {
                if (batch.magic() >= RecordBatch.MAGIC_VALUE_V2) batch.ensureValid();
                try (var records = batch.streamingIterator(BufferSupplier.NO_CACHING)) {
                    while (records.hasNext()) {
                        Record record = records.next();
                        if (record.offset() < offset) continue;
                        record.ensureValid();
                        if (batch.isControlBatch()) continue;
                        record.key();
                        record.value();
                        record.headers();
                        return List.of(record.offset(), record.timestamp());
                    }
                }
                next = batch.nextOffset();
            }
            if (next <= offset) return null;
            offset = next;
        }
    }

    private static Map<String, Object> described(Throwable error) {
        Map<String, Object> described = new LinkedHashMap<>();
        described.put("class", error.getClass().getName());
        described.put("message", error.getMessage());
        return described;
    }
}
