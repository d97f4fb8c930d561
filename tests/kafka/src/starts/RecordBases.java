import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import kafka.server.KafkaConfig;
import kafka.server.KafkaRaftServer;
import kafka.tools.StorageTool;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.admin.RecordsToDelete;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.apache.kafka.common.utils.Time;

/**
 * The directories that get damaged: `RecordBases FOLDER DIRECTORIES clean|killed` formats FOLDER/disk-0, disk-1, ..., runs a broker on
 * them, fills a few small topics, and stops the broker or ends the process.
 */
public final class RecordBases {
    private static final long FIRST_TIMESTAMP = 1_790_000_000_000L;
    private static final String PORT = "39392";

    private RecordBases() {}

    public static void main(String[] args) throws Exception {
        Path folder = Path.of(args[0]);
        Properties properties = properties(folder, Integer.parseInt(args[1]));
        format(folder, properties);
        KafkaRaftServer server = new KafkaRaftServer(new KafkaConfig(properties, false), Time.SYSTEM);
        server.startup();
        try (Admin admin = Admin.create(Map.of("bootstrap.servers", "localhost:" + PORT))) {
            fill(admin);
        }
        if (args[2].equals("killed")) Runtime.getRuntime().halt(0);
        server.shutdown();
        server.awaitShutdown();
        System.exit(0);
    }

    private static Properties properties(Path folder, int count) {
        Properties properties = new Properties();
        List<String> directories = new ArrayList<>();
        for (int number = 0; number < count; number++) directories.add(folder.resolve("disk-" + number).toString());
        properties.put("log.dirs", String.join(",", directories));
        properties.put("process.roles", "broker,controller");
        properties.put("node.id", "1");
        properties.put("controller.quorum.voters", "1@localhost:39393");
        properties.put("controller.listener.names", "CONTROLLER");
        properties.put("listeners", "PLAINTEXT://localhost:" + PORT + ",CONTROLLER://localhost:39393");
        properties.put("listener.security.protocol.map", "PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT");
        properties.put("log.cleaner.enable", "false");
        properties.put("log.retention.ms", "-1");
        properties.put("transaction.state.log.num.partitions", "1");
        properties.put("transaction.state.log.replication.factor", "1");
        properties.put("transaction.state.log.min.isr", "1");
        properties.put("offsets.topic.num.partitions", "1");
        properties.put("offsets.topic.replication.factor", "1");
        properties.put("log.flush.offset.checkpoint.interval.ms", "300");
        properties.put("log.flush.start.offset.checkpoint.interval.ms", "300");
        properties.put("replica.high.watermark.checkpoint.interval.ms", "300");
        properties.put("metadata.log.max.record.bytes.between.snapshots", "800");
        return properties;
    }

    private static void format(Path folder, Properties properties) throws IOException {
        Path file = Files.createDirectories(folder).resolve("server.properties");
        try (var out = Files.newOutputStream(file)) {
            properties.store(out, null);
        }
        ByteArrayOutputStream said = new ByteArrayOutputStream();
        String[] args = {"format", "-t", "4L6g3nShT-eMCtK--X86sw", "-c", file.toString()};
        if (StorageTool.execute(args, new PrintStream(said, true)) != 0) throw new IOException("not formatted: " + said);
    }

    private static void fill(Admin admin) throws Exception {
        Map<String, String> small = Map.of("segment.index.bytes", "120", "index.interval.bytes", "500");
        admin.createTopics(List.of(
            new NewTopic("orders", 3, (short) 1).configs(small),
            new NewTopic("payments", 2, (short) 1).configs(small),
            new NewTopic("cut", 1, (short) 1).configs(small),
            new NewTopic("unused", 1, (short) 1).configs(small))).all().get();
        try (Producer<byte[], byte[]> producer = producer(null)) {
            for (int number = 0; number < 120; number++) send(producer, "orders", number % 3, number, 300);
            for (int number = 0; number < 40; number++) send(producer, "cut", 0, number, 300);
        }
        transact("committed", true);
        transact("aborted", false);
        transact("later", true);
        admin.deleteRecords(Map.of(new TopicPartition("cut", 0), RecordsToDelete.beforeOffset(15))).all().get();
        transact("open", null);
        Thread.sleep(33_000); // LogManager writes its checkpoints from 30 seconds after the start on
        try (Producer<byte[], byte[]> producer = producer(null)) {
            for (int number = 120; number < 132; number++) send(producer, "orders", number % 3, number, 300);
        }
    }

    /** Commits or aborts a transaction, or leaves it open. */
    private static void transact(String id, Boolean commits) throws Exception {
        Producer<byte[], byte[]> producer = producer(id);
        producer.initTransactions();
        producer.beginTransaction();
        for (int number = 0; number < 16; number++) send(producer, "payments", number % 2, number, 200);
        if (commits == null) {
            producer.flush();
        } else if (commits) {
            producer.commitTransaction();
        } else {
            producer.abortTransaction();
        }
    }

    private static Producer<byte[], byte[]> producer(String id) {
        Map<String, Object> settings = new HashMap<>(Map.of("bootstrap.servers", "localhost:" + PORT, "transaction.timeout.ms", "600000"));
        if (id != null) settings.put("transactional.id", id);
        return new KafkaProducer<>(settings, new ByteArraySerializer(), new ByteArraySerializer());
    }

    private static void send(Producer<byte[], byte[]> producer, String topic, int partition, int number, int size) throws Exception {
        byte[] value = new byte[size];
        for (int place = 0; place < size; place++) value[place] = (byte) (number * 31 + place * 7);
        var sent = producer.send(new ProducerRecord<>(topic, partition, FIRST_TIMESTAMP + number * 1000L, null, value));
        producer.flush();
        sent.get();
    }
}
