import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.Map;
import org.apache.kafka.common.header.Header;

/** A hash of what records say: of each, its offset, timestamp, sequence, key, value and headers, big-endian; byte strings behind their length, -1 for null. */
final class RecordsDigest {
    private final MessageDigest sha = State.sha256();
    private long records;
    private long first = -1;
    private long last = -1;
    long batches;

    void add(long offset, long timestamp, int sequence, ByteBuffer key, ByteBuffer value, Header[] headers) {
        sha.update(ByteBuffer.allocate(20).putLong(offset).putLong(timestamp).putInt(sequence).flip());
        addBytes(key);
        addBytes(value);
        addInt(headers.length);
        for (Header header : headers) {
            addBytes(ByteBuffer.wrap(header.key().getBytes(StandardCharsets.UTF_8)));
            addBytes(header.value() == null ? null : ByteBuffer.wrap(header.value()));
        }
        first = records == 0 ? offset : first;
        last = offset;
        records++;
    }

    private void addBytes(ByteBuffer bytes) {
        addInt(bytes == null ? -1 : bytes.remaining());
        if (bytes != null) sha.update(bytes.duplicate());
    }

    private void addInt(int number) {
        sha.update(ByteBuffer.allocate(4).putInt(number).flip());
    }

    Map<String, Object> answer() {
        Map<String, Object> answer = new LinkedHashMap<>();
        answer.put("batches", batches);
        answer.put("records", records);
        answer.put("first_offset", first);
        answer.put("last_offset", last);
        answer.put("records_sha256", HexFormat.of().formatHex(sha.digest()));
        return answer;
    }
}
