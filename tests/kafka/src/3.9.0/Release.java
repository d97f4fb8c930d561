import java.io.File;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import kafka.log.UnifiedLog;
import kafka.server.BrokerTopicStats;
import kafka.server.RequestLocal;
import kafka.tools.DumpLogSegments;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.record.MemoryRecords;
import org.apache.kafka.common.record.Record;
import org.apache.kafka.common.record.RecordBatch;
import org.apache.kafka.server.common.MetadataVersion;
import org.apache.kafka.storage.internals.checkpoint.LeaderEpochCheckpointFile;
import org.apache.kafka.storage.internals.epoch.LeaderEpochFileCache;
import org.apache.kafka.storage.internals.log.AppendOrigin;
import org.apache.kafka.storage.internals.log.FetchDataInfo;
import org.apache.kafka.storage.internals.log.FetchIsolation;
import org.apache.kafka.storage.internals.log.LogConfig;
import org.apache.kafka.storage.internals.log.LogDirFailureChannel;
import org.apache.kafka.storage.internals.log.LogOffsetsListener;
import org.apache.kafka.storage.internals.log.LogSegment;
import org.apache.kafka.storage.internals.log.LogStartOffsetIncrementReason;
import org.apache.kafka.storage.internals.log.ProducerStateManager;
import org.apache.kafka.storage.internals.log.ProducerStateManagerConfig;
import org.apache.kafka.storage.internals.log.VerificationGuard;
import scala.Option;

/** The classes of 3.9.0, whose UnifiedLog is Scala. */
final class Release {
    private static final int MAX_TRANSACTION_TIMEOUT_MS = 300_000;
    private static final int READ_BYTES = 1 << 20;
    private static final ProducerStateManagerConfig PRODUCERS = new ProducerStateManagerConfig(86_400_000, false);

    private Release() {}

    static RealLog open(File dir, Map<String, String> settings, long logStart, long recoveryPoint, boolean clean, StillTime time) throws Exception {
        UnifiedLog log = UnifiedLog.apply(dir, new LogConfig(settings), logStart, recoveryPoint, new IdleScheduler(), new BrokerTopicStats(false), time,
            MAX_TRANSACTION_TIMEOUT_MS, PRODUCERS, 600_000, new LogDirFailureChannel(10), clean, Option.empty(), true,
            new ConcurrentHashMap<>(), false, LogOffsetsListener.NO_OP_OFFSETS_LISTENER);
        return new Opened(log);
    }

    static LogSegment segment(File dir, Map<String, String> settings, long base, StillTime time) throws Exception {
        return LogSegment.open(dir, base, new LogConfig(settings), time, true, 0, false, "");
    }

    static int recover(LogSegment segment, File dir, StillTime time) throws Exception {
        TopicPartition partition = new TopicPartition("t", 0);
        LeaderEpochFileCache epochs =
            new LeaderEpochFileCache(partition, new LeaderEpochCheckpointFile(LeaderEpochCheckpointFile.newFile(dir), new LogDirFailureChannel(1)), new IdleScheduler());
        return segment.recover(new ProducerStateManager(partition, dir, MAX_TRANSACTION_TIMEOUT_MS, PRODUCERS, time), Optional.of(epochs));
    }

    static void dump(String[] args) throws Exception {
        DumpLogSegments.main(args);
    }

    private record Opened(UnifiedLog log) implements RealLog {
        @Override
        public void appendAsLeader(ByteBuffer records, int leaderEpoch, boolean control) {
            log.appendAsLeader(MemoryRecords.readableRecords(records), leaderEpoch, control ? AppendOrigin.COORDINATOR : AppendOrigin.CLIENT,
                MetadataVersion.latestProduction(), RequestLocal.NoCaching(), VerificationGuard.SENTINEL);
        }

        @Override
        public void appendAsFollower(ByteBuffer records, int leaderEpoch) {
            log.appendAsFollower(MemoryRecords.readableRecords(records));
        }

        @Override
        public boolean truncateTo(long offset) {
            return log.truncateTo(offset);
        }

        @Override
        public boolean incrementLogStart(long offset) throws Exception {
            log.updateHighWatermark(log.logEndOffset());
            return log.maybeIncrementLogStartOffset(offset, LogStartOffsetIncrementReason.ClientRecordDeletion);
        }

        @Override
        public int deleteOldSegments() throws Exception {
            return log.deleteOldSegments();
        }

        @Override
        public void roll() throws Exception {
            log.roll(Option.empty());
        }

        @Override
        public void close() {
            log.close();
        }

        @Override
        public void abandon() {
            log.closeHandlers();
        }

        @Override
        public long logStart() {
            return log.logStartOffset();
        }

        @Override
        public long logEnd() {
            return log.logEndOffset();
        }

        @Override
        public LogSegment activeSegment() {
            return log.activeSegment();
        }

        @Override
        public List<LogSegment> segments() {
            return List.copyOf(log.logSegments());
        }

        @Override
        public Map<String, Object> readAll() throws Exception {
            RecordsDigest digest = new RecordsDigest();
            long offset = log.logStartOffset();
            while (offset < log.logEndOffset()) {
                FetchDataInfo fetched = log.read(offset, READ_BYTES, FetchIsolation.LOG_END, true);
                long next = offset;
                for (RecordBatch batch : fetched.records.batches()) {
                    batch.ensureValid();
                    digest.batches++;
                    for (Record record : batch) {
                        if (record.offset() < offset) continue;
                        digest.add(record.offset(), record.timestamp(), record.sequence(), record.key(), record.value(), record.headers());
                    }
                    next = batch.nextOffset();
                }
                if (next == offset) break;
                offset = next;
            }
            return digest.answer();
        }
    }
}
