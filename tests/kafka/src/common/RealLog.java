import java.nio.ByteBuffer;
import java.util.List;
import java.util.Map;
import org.apache.kafka.storage.internals.log.LogSegment;

/** One real UnifiedLog, whatever class and signatures its release has. */
interface RealLog {
    void appendAsLeader(ByteBuffer records, int leaderEpoch, boolean control) throws Exception;

    void appendAsFollower(ByteBuffer records, int leaderEpoch) throws Exception;

    boolean truncateTo(long offset) throws Exception;

    /** Raises the high watermark to the log end, then the log start; false if it already was there. */
    boolean incrementLogStart(long offset) throws Exception;

    int deleteOldSegments() throws Exception;

    void roll() throws Exception;

    void close() throws Exception;

    /** Lets go of the files as they are, as a killed broker does. */
    void abandon() throws Exception;

    long logStart();

    long logEnd();

    LogSegment activeSegment();

    List<LogSegment> segments();

    /** Reads every record as a consumer would: counts, offsets, and a hash of all that the records say. */
    Map<String, Object> readAll() throws Exception;
}
