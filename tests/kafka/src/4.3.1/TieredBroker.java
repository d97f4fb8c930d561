import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.io.PrintStream;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.Callable;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.ListOffsetsResult;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.admin.OffsetSpec;
import org.apache.kafka.clients.admin.RecordsToDelete;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.serialization.ByteArraySerializer;

/**
 * A broker of 4.3.1 with tiered storage (LocalTieredStorage): fills its topics, lets it copy and delete
 * segments, stops, starts again for the next leader epoch, and at last tells each record that a consumer got. The folder is the argument;
 * logs and store in it are what is left.
 */
public final class TieredBroker {
    private static final long PATIENCE_NS = 120_000_000_000L;
    private static final int RECORD_BYTES = 300;

    static final Map<String, String> SETTINGS = Map.ofEntries(
        Map.entry("transaction.state.log.replication.factor", "1"),
        Map.entry("transaction.state.log.min.isr", "1"),
        Map.entry("transaction.state.log.num.partitions", "1"),
        Map.entry("log.initial.task.delay.ms", "500"),
        Map.entry("log.retention.check.interval.ms", "500"),
        Map.entry("log.segment.delete.delay.ms", "500"),
        Map.entry("log.message.timestamp.before.max.ms", String.valueOf(Long.MAX_VALUE)),
        Map.entry("remote.log.storage.system.enable", "true"),
        Map.entry("remote.log.storage.manager.class.name", "org.apache.kafka.server.log.remote.storage.LocalTieredStorage"),
        Map.entry("rsm.config.delete.on.close", "false"),
        Map.entry("rsm.config.delete.enable", "true"),
        Map.entry("remote.log.metadata.manager.listener.name", "PLAINTEXT"),
        Map.entry("remote.log.manager.task.interval.ms", "500"),
        Map.entry("remote.log.manager.task.retry.backoff.ms", "100"),
        Map.entry("rlmm.config.remote.log.metadata.topic.replication.factor", "1"),
        Map.entry("rlmm.config.remote.log.metadata.topic.num.partitions", "2"));

    private final EmbeddedBroker broker;
    private final Path store;
    private final Random random = new Random(26);
    private long clockMs = 1_750_000_000_000L;

    private TieredBroker(Path folder) throws IOException {
        store = folder.resolve("store");
        broker = broker(folder);
    }

    static EmbeddedBroker broker(Path folder) throws IOException {
        Map<String, String> settings = new LinkedHashMap<>(SETTINGS);
        settings.put("rsm.config.dir", Files.createDirectories(folder.resolve("store")).toString());
        return new EmbeddedBroker(folder.resolve("logs"), settings);
    }

    public static void main(String[] args) throws Exception {
        PrintStream answers = System.out;
        System.setOut(System.err);
        new TieredBroker(Path.of(args[0])).record(answers);
        answers.flush();
        Runtime.getRuntime().halt(0); // a clean stop is behind us; no thread of a client is waited for
    }

    private void record(PrintStream answers) throws Exception {
        broker.run(admin -> {
            create(admin, "orders", "8192", "16384");
            create(admin, "payments", "8192", "16384");
            create(admin, "audit", "8192", "16384");
            create(admin, "gone", "8192", "8192");
            send("orders", 0, 180, "none");
            send("audit", 0, 150, "zstd");
            send("gone", 0, 120, "none");
            transactions();
            settle(broker.logs, store);
        });
        broker.run(admin -> {
            send("orders", 180, 120, "lz4");
            settle(broker.logs, store);
            admin.deleteRecords(Map.of(new TopicPartition("audit", 0), RecordsToDelete.beforeOffset(70))).all().get();
            admin.deleteTopics(List.of("gone")).all().get();
            waitUntil(() -> remote("gone") == 0);
            settle(broker.logs, store);
        });
        broker.run(admin -> {
            send("orders", 300, 100, "none");
            settle(broker.logs, store);
            for (String topic : List.of("orders", "payments", "audit")) tell(answers, admin, topic);
        });
    }

    private void create(Admin admin, String name, String segmentBytes, String localBytes) throws Exception {
        Map<String, String> settings = Map.of(
            "remote.storage.enable", "true",
            "internal.segment.bytes", segmentBytes,
            "index.interval.bytes", "1024",
            "retention.ms", "-1",
            "retention.bytes", "-1",
            "local.retention.bytes", localBytes);
        admin.createTopics(List.of(new NewTopic(name, 1, (short) 1).configs(settings))).all().get();
    }

    private Map<String, Object> producerSettings(String codec) {
        return Map.of("bootstrap.servers", broker.address, "compression.type", codec, "linger.ms", 0, "batch.size", 2000, "acks", "all");
    }

    private ProducerRecord<byte[], byte[]> next(String topic, int number) {
        byte[] value = new byte[RECORD_BYTES];
        for (int i = 0; i < value.length; i++) value[i] = (byte) ('a' + random.nextInt(8));
        clockMs += 1 + random.nextInt(2000);
        return new ProducerRecord<>(topic, 0, clockMs, (topic + "-" + number).getBytes(), value);
    }

    private void send(String topic, int first, int count, String codec) throws Exception {
        try (var producer = new KafkaProducer<>(producerSettings(codec), new ByteArraySerializer(), new ByteArraySerializer())) {
            for (int number = first; number < first + count; number++) {
                producer.send(next(topic, number));
                if (number % 5 == 4) producer.flush();
            }
        }
    }

    /** Every third transaction is aborted. */
    private void transactions() throws Exception {
        Map<String, Object> settings = new LinkedHashMap<>(producerSettings("none"));
        settings.put("transactional.id", "payments-1");
        try (var producer = new KafkaProducer<>(settings, new ByteArraySerializer(), new ByteArraySerializer())) {
            producer.initTransactions();
            for (int number = 0; number < 30; number++) {
                producer.beginTransaction();
                for (int i = 0; i < 5; i++) producer.send(next("payments", number * 5 + i));
                producer.flush();
                if (number % 3 == 2) producer.abortTransaction();
                else producer.commitTransaction();
            }
        }
    }

    /** Waits until nothing was copied, deleted or noted in these folders for a while. */
    static void settle(Path... folders) throws Exception {
        String before = "";
        int still = 0;
        long until = System.nanoTime() + PATIENCE_NS;
        while (still < 8) {
            if (System.nanoTime() > until) throw new IOException("the broker does not come to rest: " + before);
            Thread.sleep(500);
            String now = "";
            for (Path folder : folders) now += files(folder);
            still = now.equals(before) ? still + 1 : 0;
            before = now;
        }
    }

    private static String files(Path folder) throws IOException {
        StringBuilder text = new StringBuilder();
        try (var paths = Files.walk(folder)) {
            for (Path path : (Iterable<Path>) paths.sorted()::iterator) {
                String name = path.getFileName().toString();
                if (path.toString().contains("__cluster_metadata") || !name.endsWith(".log")) continue;
                text.append(path).append(' ').append(path.toFile().length()).append('\n');
            }
        } catch (UncheckedIOException deleted) { // a file was deleted during the walk, so the folder is not at rest
            return "a deletion at " + System.nanoTime();
        }
        return text.toString();
    }

    private long remote(String topic) throws IOException {
        try (var paths = Files.walk(store)) {
            return paths.filter(path -> path.toString().contains("/" + topic + "-0-") && path.toString().endsWith(".log")).count();
        }
    }

    private static void waitUntil(Callable<Boolean> condition) throws Exception {
        long until = System.nanoTime() + PATIENCE_NS;
        while (!condition.call()) {
            if (System.nanoTime() > until) throw new IOException("it did not happen");
            Thread.sleep(200);
        }
    }

    private List<ConsumerRecord<byte[], byte[]>> records(TopicPartition partition, String isolation) {
        Map<String, Object> settings =
            Map.of("bootstrap.servers", broker.address, "enable.auto.commit", false, "auto.offset.reset", "none", "isolation.level", isolation);
        List<ConsumerRecord<byte[], byte[]>> records = new ArrayList<>();
        try (var consumer = new KafkaConsumer<>(settings, new ByteArrayDeserializer(), new ByteArrayDeserializer())) {
            List<TopicPartition> only = List.of(partition);
            consumer.assign(only);
            consumer.seekToBeginning(only);
            long end = consumer.endOffsets(only).get(partition);
            long until = System.nanoTime() + PATIENCE_NS;
            while (consumer.position(partition) < end && System.nanoTime() < until) {
                for (var record : consumer.poll(Duration.ofMillis(200))) records.add(record);
            }
        }
        return records;
    }

    /** One line of what Kafka's answers of a topic are: its ends, its records, and the offset of some times. */
    private void tell(PrintStream answers, Admin admin, String topic) throws Exception {
        TopicPartition partition = new TopicPartition(topic, 0);
        Map<String, Object> answer = new LinkedHashMap<>();
        answer.put("topic", topic);
        answer.put("log_start", offset(admin, partition, OffsetSpec.earliest()));
        answer.put("local_log_start", offset(admin, partition, OffsetSpec.earliestLocal()));
        answer.put("latest_tiered", offset(admin, partition, OffsetSpec.latestTiered()));
        answer.put("log_end", offset(admin, partition, OffsetSpec.latest()));
        List<Object> told = new ArrayList<>();
        List<ConsumerRecord<byte[], byte[]>> all = records(partition, "read_uncommitted");
        for (var record : all) {
            told.add(List.of(
                record.offset(), record.timestamp(), record.leaderEpoch().orElse(-1), new String(record.key()), digest(record.value())));
        }
        answer.put("records", told);
        answer.put("committed", records(partition, "read_committed").stream().map(ConsumerRecord::offset).toList());
        List<Object> times = new ArrayList<>();
        for (int i = 0; i < all.size(); i += 9) {
            long time = all.get(i).timestamp() - 1;
            ListOffsetsResult.ListOffsetsResultInfo at =
                admin.listOffsets(Map.of(partition, OffsetSpec.forTimestamp(time))).partitionResult(partition).get();
            times.add(List.of(time, at.offset(), at.timestamp()));
        }
        answer.put("by_time", times);
        answers.println(new ObjectMapper().writeValueAsString(answer));
    }

    private static String digest(byte[] value) throws Exception {
        return HexFormat.of().formatHex(MessageDigest.getInstance("SHA-256").digest(value)).substring(0, 16);
    }

    private static long offset(Admin admin, TopicPartition partition, OffsetSpec spec) throws Exception {
        return admin.listOffsets(Map.of(partition, spec)).partitionResult(partition).get().offset();
    }
}
