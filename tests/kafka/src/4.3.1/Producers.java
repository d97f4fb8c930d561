import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.locks.LockSupport;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.serialization.ByteArraySerializer;

/**
 * Sends the same records to each topic of a 4.3.1 broker, with a producer of other settings.
 *
 * The question is a JSON object on the standard input: `{"dir", "records": [[key, value], ...], "due_us": [...], "topics": [{"name",
 * "partitions", "is_paced", "settings"}, ...]}`. A paced record is sent once that many microseconds have passed, any other one
 * as soon as the one before it was taken. Paced producers send at the same time, because they wait most of it.
 */
public final class Producers {
    private static final int PACED_AT_ONCE = 4;

    private final List<byte[][]> records = new ArrayList<>();
    private final List<Long> dueMicros = new ArrayList<>();
    private final JsonNode topics;
    private final EmbeddedBroker broker;

    private Producers(JsonNode question) throws Exception {
        for (JsonNode record : question.get("records")) records.add(new byte[][] {bytes(record.get(0)), bytes(record.get(1))});
        for (JsonNode due : question.get("due_us")) dueMicros.add(due.asLong());
        topics = question.get("topics");
        broker = new EmbeddedBroker(Path.of(question.get("dir").asText()).resolve("logs"), Map.of());
    }

    public static void main(String[] args) throws Exception {
        System.setOut(System.err);
        Producers producers = new Producers(new ObjectMapper().readTree(System.in));
        producers.broker.run(producers::send);
        Runtime.getRuntime().halt(0);
    }

    private void send(Admin admin) throws Exception {
        List<NewTopic> created = new ArrayList<>();
        created.add(new NewTopic("warm-up", 1, (short) 1));
        for (JsonNode topic : topics) created.add(new NewTopic(topic.get("name").asText(), topic.get("partitions").asInt(), (short) 1));
        admin.createTopics(created).all().get();
        send("warm-up", 1, false, Map.of());
        for (boolean isPaced : new boolean[] {true, false}) {
            ExecutorService senders = Executors.newFixedThreadPool(isPaced ? PACED_AT_ONCE : 1);
            List<Future<?>> sendings = new ArrayList<>();
            for (JsonNode topic : topics) {
                if (topic.get("is_paced").asBoolean() == isPaced) sendings.add(senders.submit(() -> send(topic)));
            }
            for (Future<?> sending : sendings) sending.get();
            senders.shutdown();
        }
    }

    private void send(JsonNode topic) {
        Map<String, Object> settings = new HashMap<>();
        topic.get("settings").fields().forEachRemaining(setting -> settings.put(setting.getKey(), setting.getValue().asText()));
        send(topic.get("name").asText(), topic.get("partitions").asInt(), topic.get("is_paced").asBoolean(), settings);
    }

    private void send(String topic, int partitions, boolean isPaced, Map<String, Object> settings) {
        Map<String, Object> all = new HashMap<>(settings);
        all.put("bootstrap.servers", broker.address);
        try (var producer = new KafkaProducer<>(all, new ByteArraySerializer(), new ByteArraySerializer())) {
            producer.partitionsFor(topic); // the first record waits for no metadata
            long start = System.nanoTime();
            for (int number = 0; number < records.size(); number++) {
                long due = start + (isPaced ? dueMicros.get(number) * 1000 : 0);
                for (long left; (left = due - System.nanoTime()) > 0; ) LockSupport.parkNanos(left);
                byte[][] record = records.get(number);
                producer.send(new ProducerRecord<>(topic, number % partitions, record[0], record[1]));
            }
        }
    }

    private static byte[] bytes(JsonNode text) {
        return text.asText().getBytes(StandardCharsets.UTF_8);
    }
}
