import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.File;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.consumer.OffsetAndTimestamp;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.ByteBufferDeserializer;

/**
 * A broker of 4.3.1 that makes the topics of a question (a JSON object on the standard input), stops, finds other files in their place
 * when it starts again, and lets a consumer read all there is.
 */
public final class Broker {
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final Duration PATIENCE = Duration.ofSeconds(30);

    private final JsonNode topics;
    private final EmbeddedBroker broker;

    private Broker(JsonNode question) throws Exception {
        topics = question.get("topics");
        Path logs = Path.of(question.get("dir").asText()).resolve("logs");
        broker = new EmbeddedBroker(logs, Map.of("group.coordinator.rebalance.protocols", "classic"));
    }

    public static void main(String[] args) throws Exception {
        PrintStream answers = System.out;
        System.setOut(System.err);
        Map<String, Object> answer = new Broker(JSON.readTree(System.in)).answer();
        answers.println(JSON.writeValueAsString(answer));
        answers.flush();
        Runtime.getRuntime().halt(0); // a clean stop is behind us; no thread of a client is waited for
    }

    private Map<String, Object> answer() throws Exception {
        broker.run(this::createTopics);
        putInPlace();
        Map<String, Object> answer = new LinkedHashMap<>();
        broker.run(admin -> consume(answer));
        for (JsonNode topic : topics) topicAnswer(answer, topic).put("stopped", State.closed(dir(topic).toFile()));
        return answer;
    }

    private void createTopics(Admin admin) throws Exception {
        List<NewTopic> created = new ArrayList<>();
        for (JsonNode topic : topics) {
            created.add(new NewTopic(topic.get("name").asText(), 1, (short) 1).configs(Replay.settings(topic.get("settings"))));
        }
        admin.createTopics(created).all().get();
        for (JsonNode topic : topics) waitFor(dir(topic).resolve("partition.metadata"));
    }

    private static void waitFor(Path file) throws Exception {
        long until = System.nanoTime() + PATIENCE.toNanos();
        while (!Files.exists(file)) {
            if (System.nanoTime() > until) throw new IOException("the broker did not make " + file);
            Thread.sleep(20);
        }
    }

    /** The stopped broker's partitions keep their topic id, and get the files of others. */
    private void putInPlace() throws IOException {
        for (JsonNode topic : topics) {
            for (File file : State.sorted(dir(topic).toFile())) {
                if (!file.getName().equals("partition.metadata")) Files.delete(file.toPath());
            }
            for (File file : State.sorted(new File(topic.get("dir").asText()))) {
                Files.copy(file.toPath(), dir(topic).resolve(file.getName()), StandardCopyOption.REPLACE_EXISTING);
            }
        }
        checkpoint("recovery-point-offset-checkpoint", "log_end");
        checkpoint("replication-offset-checkpoint", "log_end");
        checkpoint("log-start-offset-checkpoint", "log_start");
    }

    private void checkpoint(String name, String offset) throws IOException {
        StringBuilder text = new StringBuilder("0\n" + topics.size() + "\n");
        for (JsonNode topic : topics) text.append(topic.get("name").asText()).append(" 0 ").append(topic.get(offset).asLong()).append('\n');
        Files.writeString(broker.logs.resolve(name), text);
    }

    private void consume(Map<String, Object> answer) {
        Map<String, Object> settings = Map.of("bootstrap.servers", broker.address, "enable.auto.commit", false, "auto.offset.reset", "none");
        try (var consumer = new KafkaConsumer<>(settings, new ByteBufferDeserializer(), new ByteBufferDeserializer())) {
            for (JsonNode topic : topics) topicAnswer(answer, topic).putAll(consumed(consumer, topic));
        }
    }

    private static Map<String, Object> consumed(KafkaConsumer<ByteBuffer, ByteBuffer> consumer, JsonNode topic) {
        TopicPartition partition = new TopicPartition(topic.get("name").asText(), 0);
        List<TopicPartition> only = List.of(partition);
        consumer.assign(only);
        consumer.seekToBeginning(only);
        long end = consumer.endOffsets(only, PATIENCE).get(partition);
        RecordsDigest digest = new RecordsDigest();
        long until = System.nanoTime() + PATIENCE.toNanos();
        while (consumer.position(partition) < end && System.nanoTime() < until) {
            for (ConsumerRecord<ByteBuffer, ByteBuffer> one : consumer.poll(Duration.ofMillis(200))) {
                digest.add(one.offset(), one.timestamp(), -1, one.key(), one.value(), one.headers().toArray());
            }
        }
        Map<String, Object> answer = digest.answer();
        answer.put("log_start", consumer.beginningOffsets(only, PATIENCE).get(partition));
        answer.put("log_end", end);
        answer.put("position", consumer.position(partition));
        answer.put("by_time", byTime(consumer, partition, topic.get("times")));
        return answer;
    }

    private static List<Object> byTime(KafkaConsumer<ByteBuffer, ByteBuffer> consumer, TopicPartition partition, JsonNode times) {
        List<Object> found = new ArrayList<>();
        for (JsonNode time : times) {
            OffsetAndTimestamp at = consumer.offsetsForTimes(Map.of(partition, time.asLong()), PATIENCE).get(partition);
            found.add(at == null ? null : List.of(at.offset(), at.timestamp()));
        }
        return found;
    }

    @SuppressWarnings("unchecked")
    private static Map<String, Object> topicAnswer(Map<String, Object> answer, JsonNode topic) {
        return (Map<String, Object>) answer.computeIfAbsent(topic.get("name").asText(), name -> new LinkedHashMap<String, Object>());
    }

    private Path dir(JsonNode topic) {
        return broker.logs.resolve(topic.get("name").asText() + "-0");
    }
}
