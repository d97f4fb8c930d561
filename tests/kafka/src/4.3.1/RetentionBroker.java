import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.AlterConfigOp;
import org.apache.kafka.clients.admin.ConfigEntry;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.admin.RecordsToDelete;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.config.ConfigResource;
import org.apache.kafka.common.serialization.ByteArraySerializer;

/**
 * A broker of 4.3.1 whose segments are all copied to remote storage (LocalTieredStorage) before its topics get limits. It stops in between,
 * and waits for a line of input. The limits are the arguments after the folder, such as sized:retention.bytes=20000 or started:before=70.
 */
public final class RetentionBroker {
    private static final int RECORDS = 160;

    private final EmbeddedBroker broker;
    private final Path store;
    private final Map<String, Map<String, String>> limits = new LinkedHashMap<>();

    private RetentionBroker(Path folder) throws Exception {
        store = folder.resolve("store");
        broker = TieredBroker.broker(folder);
    }

    public static void main(String[] args) throws Exception {
        RetentionBroker retention = new RetentionBroker(Path.of(args[0]));
        for (String argument : List.of(args).subList(1, args.length)) {
            String[] parts = argument.split("[:=]");
            retention.limits.computeIfAbsent(parts[0], topic -> new LinkedHashMap<>()).put(parts[1], parts[2]);
        }
        retention.broker.runTwice(retention::fill, retention::limit);
    }

    private void fill(Admin admin) throws Exception {
        Map<String, String> settings = Map.of(
            "remote.storage.enable", "true",
            "internal.segment.bytes", "8192",
            "index.interval.bytes", "1024",
            "retention.ms", "-1",
            "retention.bytes", "-1",
            "local.retention.bytes", "8192");
        List<NewTopic> topics = new ArrayList<>();
        for (String name : limits.keySet()) topics.add(new NewTopic(name, 1, (short) 1).configs(settings));
        admin.createTopics(topics).all().get();
        for (String name : limits.keySet()) send(name);
        TieredBroker.settle(broker.logs, store);
    }

    /** Waits for a pass without limits first, so that the leader knows what was copied (KAFKA-20732). */
    private void limit(Admin admin) throws Exception {
        TieredBroker.settle(broker.logs, store);
        Map<ConfigResource, Collection<AlterConfigOp>> changes = new HashMap<>();
        Map<TopicPartition, RecordsToDelete> deletions = new HashMap<>();
        limits.forEach((topic, settings) -> settings.forEach((name, value) -> {
            if (name.equals("before")) {
                deletions.put(new TopicPartition(topic, 0), RecordsToDelete.beforeOffset(Long.parseLong(value)));
            } else if (!name.equals("none")) {
                changes.computeIfAbsent(new ConfigResource(ConfigResource.Type.TOPIC, topic), resource -> new ArrayList<>())
                    .add(new AlterConfigOp(new ConfigEntry(name, value), AlterConfigOp.OpType.SET));
            }
        }));
        admin.incrementalAlterConfigs(changes).all().get();
        admin.deleteRecords(deletions).all().get();
        TieredBroker.settle(broker.logs, store);
    }

    /** The records are an hour apart, the last one of now. The first one of the topic "behind" is of now too. */
    private void send(String topic) throws Exception {
        Map<String, Object> settings = new HashMap<>();
        settings.put("bootstrap.servers", broker.address);
        settings.put("linger.ms", 0);
        settings.put("batch.size", 2000);
        settings.put("acks", "all");
        long nowMs = System.currentTimeMillis();
        try (var producer = new KafkaProducer<>(settings, new ByteArraySerializer(), new ByteArraySerializer())) {
            for (int number = 0; number < RECORDS; number++) {
                long hours = topic.equals("behind") && number == 0 ? 0 : RECORDS - 1 - number;
                producer.send(new ProducerRecord<>(topic, 0, nowMs - Duration.ofHours(hours).toMillis(), null, new byte[300]));
                if (number % 5 == 4) producer.flush();
            }
        }
    }
}
