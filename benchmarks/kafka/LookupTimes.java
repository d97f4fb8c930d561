import java.io.BufferedReader;
import java.io.File;
import java.io.InputStreamReader;
import java.lang.reflect.Method;
import java.util.Arrays;
import java.util.Map;
import org.apache.kafka.common.utils.Time;
import org.apache.kafka.storage.internals.log.LogConfig;
import org.apache.kafka.storage.internals.log.LogSegment;

/**
 * Times lookups of Kafka's own LogSegment, everything in the page cache.
 *
 * <p>Arguments: the directory of a topic-partition, the base offset of a segment, "offset" or
 * "timestamp". Standard input: targets, one a line. Standard output: of each target the median of
 * the measured rounds, in nanoseconds.
 */
public final class LookupTimes {
    // the first rounds are for the compiler of the JVM
    private static final int ROUNDS = 60, MEASURED = 30;
    private static final int MAX_DECOMPRESSED_BYTES = Integer.MAX_VALUE - 8;

    private interface Lookup {
        Object of(long target) throws Exception;
    }

    public static void main(String[] arguments) throws Exception {
        long baseOffset = Long.parseLong(arguments[1]);
        long[] targets =
                new BufferedReader(new InputStreamReader(System.in))
                        .lines()
                        .mapToLong(Long::parseLong)
                        .toArray();
        LogSegment segment =
                LogSegment.open(
                        new File(arguments[0]),
                        baseOffset,
                        new LogConfig(Map.of()),
                        Time.SYSTEM,
                        true,
                        0,
                        false,
                        "");
        Lookup lookup =
                arguments[2].equals("offset")
                        ? segment::translateOffset
                        : byTimestamp(segment, baseOffset);
        long[][] nanoseconds = new long[targets.length][MEASURED];
        for (int round = 0; round < ROUNDS; round++) {
            for (int i = 0; i < targets.length; i++) {
                long start = System.nanoTime();
                Object found = lookup.of(targets[i]);
                long end = System.nanoTime();
                if (found == null) throw new IllegalStateException("nothing at " + targets[i]);
                nanoseconds[i][round % MEASURED] = end - start;
            }
        }
        for (long[] times : nanoseconds) {
            Arrays.sort(times);
            System.out.println(times[MEASURED / 2]);
        }
    }

    /** From 4.4.0 on it is also told max.decompressed.message.bytes. */
    private static Lookup byTimestamp(LogSegment segment, long baseOffset) {
        Method method =
                Arrays.stream(LogSegment.class.getMethods())
                        .filter(candidate -> candidate.getName().equals("findOffsetByTimestamp"))
                        .findFirst()
                        .orElseThrow();
        boolean isLimited = method.getParameterCount() == 3;
        return target ->
                isLimited
                        ? method.invoke(segment, target, baseOffset, MAX_DECOMPRESSED_BYTES)
                        : method.invoke(segment, target, baseOffset);
    }
}
