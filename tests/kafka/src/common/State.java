import java.io.ByteArrayOutputStream;
import java.io.File;
import java.io.IOException;
import java.lang.reflect.Field;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Base64;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;
import java.util.zip.GZIPOutputStream;
import org.apache.kafka.storage.internals.log.AbstractIndex;
import org.apache.kafka.storage.internals.log.LogSegment;

/** What lies in a partition directory: of each segment the size and hash of its .log, and the content of its indexes. */
final class State {
    private static final int HEX_AT_MOST = 400;
    private static final byte[] ZEROS = new byte[1 << 14];

    private State() {}

    /** Of an open log: also how many entries the indexes that are loaded hold in memory. */
    static Map<String, Object> open(RealLog log, File dir) throws Exception {
        Map<String, Object> state = new LinkedHashMap<>();
        state.put("log_start", log.logStart());
        state.put("log_end", log.logEnd());
        List<Object> segments = new ArrayList<>();
        for (LogSegment segment : log.segments()) segments.add(openSegment(segment, dir));
        state.put("segments", segments);
        smallFiles(dir, state);
        return state;
    }

    static Map<String, Object> closed(File dir) throws IOException {
        Map<String, Object> state = new LinkedHashMap<>();
        List<Object> segments = new ArrayList<>();
        for (File file : sorted(dir)) {
            if (file.getName().endsWith(".log")) segments.add(closedSegment(dir, Long.parseLong(file.getName().split("\\.")[0])));
        }
        state.put("segments", segments);
        smallFiles(dir, state);
        return state;
    }

    static List<Object> sizes(File dir) {
        List<Object> sizes = new ArrayList<>();
        for (File file : sorted(dir)) sizes.add(List.of(file.getName(), file.length()));
        return sizes;
    }

    private static Map<String, Object> openSegment(LogSegment segment, File dir) throws Exception {
        Map<String, Object> state = closedSegment(dir, segment.baseOffset());
        byte[] log = read(dir, segment.baseOffset(), ".log");
        if (log.length != segment.size()) {
            state.put("log_file_len", log.length);
            state.put("log_size", segment.size());
            state.put("log_sha256", hash(Arrays.copyOf(log, segment.size())));
        }
        entries(state.get("index"), segment, "lazyOffsetIndex");
        entries(state.get("timeindex"), segment, "lazyTimeIndex");
        return state;
    }

    static Map<String, Object> closedSegment(File dir, long base) throws IOException {
        byte[] log = read(dir, base, ".log");
        byte[] aborted = read(dir, base, ".txnindex");
        Map<String, Object> state = new LinkedHashMap<>();
        state.put("base", base);
        state.put("log_size", log.length);
        state.put("log_sha256", hash(log));
        state.put("index", index(read(dir, base, ".index"), 8));
        state.put("timeindex", index(read(dir, base, ".timeindex"), 12));
        if (aborted != null) state.put("txnindex", HexFormat.of().formatHex(aborted));
        return state;
    }

    /** The producer snapshots, and the epochs of leaders. */
    private static void smallFiles(File dir, Map<String, Object> state) throws IOException {
        Map<String, Object> snapshots = new TreeMap<>();
        for (File file : sorted(dir)) {
            if (file.getName().endsWith(".snapshot")) snapshots.put(file.getName(), HexFormat.of().formatHex(Files.readAllBytes(file.toPath())));
        }
        state.put("snapshots", snapshots);
        File epochs = new File(dir, "leader-epoch-checkpoint");
        state.put("leader_epoch_checkpoint", epochs.exists() ? Files.readString(epochs.toPath()) : null);
    }

    private static Map<String, Object> index(byte[] bytes, int entryBytes) throws IOException {
        if (bytes == null) return null;
        int end = writtenEnd(bytes);
        byte[] content = Arrays.copyOf(bytes, Math.min(bytes.length, (end + entryBytes - 1) / entryBytes * entryBytes));
        Map<String, Object> index = new LinkedHashMap<>();
        index.put("file_len", bytes.length);
        if (content.length <= HEX_AT_MOST) index.put("hex", HexFormat.of().formatHex(content));
        else index.put("gz", gzipped(content));
        return index;
    }

    /** Where the zeros at the end begin: millions in an index that has room left. */
    private static int writtenEnd(byte[] bytes) {
        int end = bytes.length;
        while (end >= ZEROS.length && Arrays.equals(bytes, end - ZEROS.length, end, ZEROS, 0, ZEROS.length)) end -= ZEROS.length;
        while (end > 0 && bytes[end - 1] == 0) end--;
        return end;
    }

    /** Without loading it: LogSegment opens an index when it first needs it, and a question must not. */
    @SuppressWarnings("unchecked")
    private static void entries(Object index, LogSegment segment, String lazyName) throws Exception {
        if (index == null) return;
        Object wrapper = field(field(segment, lazyName), "indexWrapper");
        boolean loaded = wrapper.getClass().getSimpleName().equals("IndexValue");
        ((Map<String, Object>) index).put("entries", loaded ? ((AbstractIndex) field(wrapper, "index")).entries() : null);
    }

    private static Object field(Object owner, String name) throws Exception {
        Field field = owner.getClass().getDeclaredField(name);
        field.setAccessible(true);
        return field.get(owner);
    }

    private static byte[] read(File dir, long base, String suffix) throws IOException {
        Path path = dir.toPath().resolve(String.format("%020d%s", base, suffix));
        return Files.exists(path) ? Files.readAllBytes(path) : null;
    }

    static File[] sorted(File dir) {
        File[] files = dir.listFiles(File::isFile);
        Arrays.sort(files);
        return files;
    }

    static void delete(Path dir) throws IOException {
        try (Stream<Path> paths = Files.walk(dir)) {
            for (Path path : paths.sorted((a, b) -> b.compareTo(a)).toList()) Files.delete(path);
        }
    }

    private static String gzipped(byte[] bytes) throws IOException {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        try (GZIPOutputStream gzip = new GZIPOutputStream(out)) {
            gzip.write(bytes);
        }
        return Base64.getEncoder().encodeToString(out.toByteArray());
    }

    static String hash(byte[] bytes) {
        return HexFormat.of().formatHex(sha256().digest(bytes));
    }

    static MessageDigest sha256() {
        try {
            return MessageDigest.getInstance("SHA-256");
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException(e);
        }
    }
}
