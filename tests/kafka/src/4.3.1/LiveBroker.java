import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.admin.RecordsToDelete;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.header.internals.RecordHeader;
import org.apache.kafka.common.serialization.ByteArraySerializer;

/**
 * A broker of 4.3.1 that fills its topics, prints its address, and runs until its standard input ends. The folder is the argument;
 * logs in it is the broker directory, which others read meanwhile.
 */
public final class LiveBroker {
    private static final long START_MS = 1_790_000_000_000L;
    private static final String[] CODECS = {"none", "gzip", "snappy", "lz4", "zstd"};
    private static final Map<String, String> SETTINGS = Map.of(
        "transaction.state.log.replication.factor", "1",
        "transaction.state.log.min.isr", "1",
        "transaction.state.log.num.partitions", "1",
        "log.message.timestamp.before.max.ms", String.valueOf(Long.MAX_VALUE),
        "log.message.timestamp.after.max.ms", String.valueOf(Long.MAX_VALUE),
        "log.flush.start.offset.checkpoint.interval.ms", "200",
        "log.initial.task.delay.ms", "200");

    private final EmbeddedBroker broker;
    private final Random random = new Random(44);

    private LiveBroker(Path folder) throws Exception {
        broker = new EmbeddedBroker(folder.resolve("logs"), SETTINGS);
    }

    public static void main(String[] args) throws Exception {
        java.io.PrintStream out = System.out;
        System.setOut(System.err);
        LiveBroker live = new LiveBroker(Path.of(args[0]));
        live.broker.run(admin -> {
            live.fill(admin);
            Thread.sleep(1500); // the log start offsets are in their checkpoint by then
            out.println(live.broker.address);
            out.flush();
            while (System.in.read() >= 0) { }
        });
        Runtime.getRuntime().halt(0);
    }

    private void fill(Admin admin) throws Exception {
        create(admin, "orders", 3, Map.of());
        create(admin, "stamped", 1, Map.of("message.timestamp.type", "LogAppendTime"));
        create(admin, "payments", 1, Map.of());
        create(admin, "cut", 2, Map.of());
        create(admin, "empty", 2, Map.of());
        for (int run = 0; run < CODECS.length; run++) send("orders", 3, run * 120, 120, CODECS[run]);
        send("stamped", 1, 0, 60, "none");
        send("cut", 2, 0, 200, "lz4");
        admin.deleteRecords(Map.of(new TopicPartition("cut", 0), RecordsToDelete.beforeOffset(37))).all().get();
        transactions("payments-1", 20, false);
        send("payments", 1, 1000, 10, "none");
        transactions("payments-2", 3, true);
        send("payments", 1, 2000, 10, "none");
    }

    private void create(Admin admin, String name, int partitions, Map<String, String> more) throws Exception {
        Map<String, String> settings = new LinkedHashMap<>(more);
        settings.put("internal.segment.bytes", "8192");
        settings.put("index.interval.bytes", "700");
        settings.put("retention.ms", "-1");
        admin.createTopics(List.of(new NewTopic(name, partitions, (short) 1).configs(settings))).all().get();
    }

    private KafkaProducer<byte[], byte[]> producer(String codec, String transactionalId) {
        Map<String, Object> settings = new LinkedHashMap<>(
            Map.of("bootstrap.servers", broker.address, "compression.type", codec, "linger.ms", 5, "batch.size", 900, "acks", "all"));
        if (transactionalId != null) settings.put("transactional.id", transactionalId);
        return new KafkaProducer<>(settings, new ByteArraySerializer(), new ByteArraySerializer());
    }

    /** Some have no key, no value or headers, two of one name among them; times go back now and then. */
    private ProducerRecord<byte[], byte[]> record(String topic, int partition, int number) {
        byte[] key = number % 7 == 0 ? null : (topic + number % 50).getBytes(StandardCharsets.UTF_8);
        byte[] value = number % 11 == 0 ? null : ("value " + number + " ".repeat(random.nextInt(60))).getBytes(StandardCharsets.UTF_8);
        List<Header> headers = new ArrayList<>();
        for (int i = 0; i < number % 4; i++) headers.add(new RecordHeader("h" + i / 2, i == 1 ? null : new byte[] {(byte) number, (byte) i}));
        long time = START_MS + number * 1000L - (number % 13 == 0 ? 45_000 : 0);
        return new ProducerRecord<>(topic, partition, time, key, value, headers);
    }

    private void send(String topic, int partitions, int first, int count, String codec) {
        try (var producer = producer(codec, null)) {
            for (int number = first; number < first + count; number++) producer.send(record(topic, number % partitions, number));
        }
    }

    /** Every third transaction is aborted; the last one may stay open. */
    private void transactions(String id, int count, boolean leaveOpen) {
        var producer = producer("none", id); // not closed where it is left open: that would abort
        producer.initTransactions();
        for (int number = 0; number < count; number++) {
            producer.beginTransaction();
            for (int i = 0; i < 4; i++) producer.send(record("payments", 0, number * 4 + i));
            producer.flush();
            if (leaveOpen && number == count - 1) return;
            if (number % 3 == 2) producer.abortTransaction();
            else producer.commitTransaction();
        }
        producer.close();
    }
}
