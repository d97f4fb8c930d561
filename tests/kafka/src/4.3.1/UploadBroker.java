import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.AlterConfigOp;
import org.apache.kafka.clients.admin.ConfigEntry;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.config.ConfigResource;
import org.apache.kafka.common.serialization.ByteArraySerializer;

/**
 * A broker of 4.3.1 whose topics get remote storage (LocalTieredStorage) only after they were filled. It stops in between, and waits for a
 * line of input: the one who started it may change files then. The folder is the argument; logs and store in it are what is left.
 */
public final class UploadBroker {
    private static final int RECORDS = 160;
    private static final List<String> TOPICS = List.of("plain", "snapshot", "epochs", "index", "open", "stopped");

    private final EmbeddedBroker broker;
    private final Path store;

    private UploadBroker(Path folder) throws Exception {
        store = folder.resolve("store");
        broker = TieredBroker.broker(folder);
    }

    public static void main(String[] args) throws Exception {
        UploadBroker uploads = new UploadBroker(Path.of(args[0]));
        uploads.broker.runTwice(uploads::fill, uploads::upload);
    }

    private void fill(Admin admin) throws Exception {
        Map<String, String> settings =
            Map.of("internal.segment.bytes", "8192", "index.interval.bytes", "1024", "retention.ms", "-1", "retention.bytes", "-1");
        List<NewTopic> topics = new ArrayList<>();
        for (String name : TOPICS) topics.add(new NewTopic(name, 1, (short) 1).configs(settings));
        admin.createTopics(topics).all().get();
        for (String name : TOPICS) send(name);
        Map<String, Object> transactional = producerSettings();
        transactional.put("transactional.id", "forgotten");
        transactional.put("transaction.timeout.ms", 600_000);
        var producer = new KafkaProducer<>(transactional, new ByteArraySerializer(), new ByteArraySerializer());
        producer.initTransactions();
        producer.beginTransaction();
        producer.send(new ProducerRecord<>("open", 0, null, new byte[300]));
        producer.flush();
        producer.close(Duration.ZERO); // at once, so that the transaction stays open
        send("open");
    }

    private void upload(Admin admin) throws Exception {
        Map<ConfigResource, Collection<AlterConfigOp>> changes = new HashMap<>();
        for (String name : TOPICS) {
            Map<String, String> settings = name.equals("stopped")
                ? Map.of("remote.storage.enable", "true", "remote.log.copy.disable", "true")
                : Map.of("remote.storage.enable", "true", "local.retention.bytes", "8192");
            List<AlterConfigOp> of = new ArrayList<>();
            settings.forEach((key, value) -> of.add(new AlterConfigOp(new ConfigEntry(key, value), AlterConfigOp.OpType.SET)));
            changes.put(new ConfigResource(ConfigResource.Type.TOPIC, name), of);
        }
        admin.incrementalAlterConfigs(changes).all().get();
        TieredBroker.settle(store);
    }

    private Map<String, Object> producerSettings() {
        Map<String, Object> settings = new HashMap<>();
        settings.put("bootstrap.servers", broker.address);
        settings.put("linger.ms", 0);
        settings.put("batch.size", 2000);
        settings.put("acks", "all");
        return settings;
    }

    private void send(String topic) throws Exception {
        try (var producer = new KafkaProducer<>(producerSettings(), new ByteArraySerializer(), new ByteArraySerializer())) {
            for (int number = 0; number < RECORDS; number++) {
                producer.send(new ProducerRecord<>(topic, 0, null, new byte[300]));
                if (number % 5 == 4) producer.flush();
            }
        }
    }
}
