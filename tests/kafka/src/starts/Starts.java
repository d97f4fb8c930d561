import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.BufferedReader;
import java.io.ByteArrayOutputStream;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.io.PrintStream;
import java.lang.reflect.Proxy;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Properties;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import kafka.server.KafkaConfig;
import kafka.server.KafkaRaftServer;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.AlterConfigOp;
import org.apache.kafka.clients.admin.ConfigEntry;
import org.apache.kafka.common.config.ConfigResource;
import org.apache.kafka.common.utils.Time;

/**
 * Starts brokers on directories, one after the other in one process: a JSON object per line in, `{"dirs": [...], "metadata_dir": null,
 * "node": 1}`, and one out, `{"started": true, "error": null, "exit": null, "log": "..."}`. A broker that started is stopped.
 *
 * Each broker's threads are those of a ThreadGroup, because a thread belongs to the group of the one that made it: so what they log, and
 * which of them ends the process, is told apart from the threads that an earlier, failed broker left behind.
 */
public final class Starts {
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final long STARTING_SECONDS = 90; // a second on a machine that has nothing else to do
    private static final long STOPPING_SECONDS = 20;
    private static final long DELETING_SECONDS = 30;
    private static final long STOPPING_AFTER_EXIT_SECONDS = 2; // threads are missing that a stop waits for
    private static final Map<ThreadGroup, Start> STARTS = new ConcurrentHashMap<>();

    private Starts() {}

    /** One start: how it ended, and what its threads logged. */
    private static final class Start {
        final LinkedBlockingQueue<Map<String, Object>> ends = new LinkedBlockingQueue<>();
        final ByteArrayOutputStream log = new ByteArrayOutputStream();
        volatile KafkaRaftServer server;

        void end(boolean started, String error, Integer exit) {
            Map<String, Object> end = new LinkedHashMap<>();
            end.put("started", started);
            end.put("error", error);
            end.put("exit", exit);
            ends.add(end);
        }
    }

    public static void main(String[] args) throws Exception {
        PrintStream answers = System.out;
        PrintStream errors = System.err;
        System.setErr(new PrintStream(new LogByStart(errors), true));
        System.setOut(System.err);
        catchEndsOfProcess();
        BufferedReader questions = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line; (line = questions.readLine()) != null; ) {
            answers.println(JSON.writeValueAsString(start(JSON.readTree(line))));
            answers.flush();
        }
        Runtime.getRuntime().halt(0);
    }

    /** Kafka's Exit is in another package from 4.4 on. */
    private static void catchEndsOfProcess() throws ReflectiveOperationException {
        Class<?> exit;
        try {
            exit = Class.forName("org.apache.kafka.common.utils.internals.Exit");
        } catch (ClassNotFoundException older) {
            exit = Class.forName("org.apache.kafka.common.utils.Exit");
        }
        Class<?> procedure = Class.forName(exit.getName() + "$Procedure");
        Object end = Proxy.newProxyInstance(procedure.getClassLoader(), new Class<?>[] {procedure}, (proxy, method, arguments) -> {
            endOfProcess((Integer) arguments[0]);
            return null;
        });
        exit.getMethod("setExitProcedure", procedure).invoke(null, end);
        exit.getMethod("setHaltProcedure", procedure).invoke(null, end);
    }

    /** In place of Runtime.exit and halt: ends the start, and the thread that asked for it. */
    private static void endOfProcess(int status) {
        Start start = current();
        if (start != null) start.end(false, null, status);
        throw new ThreadDeath();
    }

    private static Start current() {
        for (ThreadGroup group = Thread.currentThread().getThreadGroup(); group != null; group = group.getParent()) {
            Start start = STARTS.get(group);
            if (start != null) return start;
        }
        return null;
    }

    private static Map<String, Object> start(JsonNode question) throws Exception {
        Properties properties = properties(question);
        Start start = new Start();
        ThreadGroup group = new ThreadGroup("start");
        STARTS.put(group, start);
        new Thread(group, () -> run(start, properties), "main-of-broker").start();
        Map<String, Object> answer = start.ends.poll(STARTING_SECONDS, TimeUnit.SECONDS);
        if (answer == null) {
            start.end(false, "no answer in " + STARTING_SECONDS + " seconds", null);
            answer = start.ends.poll();
        }
        if (answer.get("started").equals(true) && question.has("configs")) setConfigs(question, properties);
        Thread stopper = new Thread(group, () -> stop(start), "stopper");
        stopper.start();
        stopper.join(1000 * (answer.get("exit") == null ? STOPPING_SECONDS : STOPPING_AFTER_EXIT_SECONDS));
        answer.put("stopped", !stopper.isAlive());
        STARTS.remove(group);
        answer.put("log", start.log.toString(StandardCharsets.UTF_8));
        return answer;
    }

    /** Sets `configs`, values by name by topic, and waits until the files `until_gone` do not exist, or for a while. */
    private static void setConfigs(JsonNode question, Properties properties) throws Exception {
        String address = properties.getProperty("listeners").split(",")[0].replace("PLAINTEXT://", "");
        Map<ConfigResource, Collection<AlterConfigOp>> operations = new HashMap<>();
        question.get("configs").fields().forEachRemaining(topic -> {
            Collection<AlterConfigOp> values = new ArrayList<>();
            topic.getValue().fields().forEachRemaining(item -> values.add(
                new AlterConfigOp(new ConfigEntry(item.getKey(), item.getValue().asText()), AlterConfigOp.OpType.SET)));
            operations.put(new ConfigResource(ConfigResource.Type.TOPIC, topic.getKey()), values);
        });
        try (Admin admin = Admin.create(Map.of("bootstrap.servers", address))) {
            admin.incrementalAlterConfigs(operations).all().get();
        }
        long until = System.nanoTime() + TimeUnit.SECONDS.toNanos(DELETING_SECONDS);
        for (JsonNode file : question.get("until_gone")) {
            while (Files.exists(Path.of(file.asText())) && System.nanoTime() < until) Thread.sleep(50);
        }
    }

    private static void run(Start start, Properties properties) {
        try {
            start.server = new KafkaRaftServer(new KafkaConfig(properties, false), Time.SYSTEM);
            start.server.startup();
            start.end(true, null, null);
        } catch (ThreadDeath death) {
            // endOfProcess has said so
        } catch (Throwable error) {
            start.end(false, error.toString(), null);
        }
    }

    private static void stop(Start start) {
        if (start.server == null) return;
        try {
            start.server.shutdown();
            start.server.awaitShutdown();
        } catch (Throwable error) {
            // a broker that failed half way need not stop well
        }
    }

    private static Properties properties(JsonNode question) throws Exception {
        int[] ports = freePorts();
        String address = "localhost:" + ports[0];
        Properties properties = new Properties();
        properties.put("process.roles", "broker,controller");
        properties.put("node.id", question.get("node").asText());
        properties.put("controller.quorum.voters", question.get("node").asText() + "@localhost:" + ports[1]);
        properties.put("controller.listener.names", "CONTROLLER");
        properties.put("listeners", "PLAINTEXT://" + address + ",CONTROLLER://localhost:" + ports[1]);
        properties.put("listener.security.protocol.map", "PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT");
        StringBuilder dirs = new StringBuilder();
        for (JsonNode dir : question.get("dirs")) dirs.append(dirs.length() == 0 ? "" : ",").append(dir.asText());
        properties.put("log.dirs", dirs.toString());
        if (question.hasNonNull("metadata_dir")) properties.put("metadata.log.dir", question.get("metadata_dir").asText());
        properties.put("offsets.topic.replication.factor", "1");
        properties.put("offsets.topic.num.partitions", "1");
        properties.put("log.retention.ms", "-1"); // the records' times are not those of today
        properties.put("background.threads", "2");
        properties.put("num.network.threads", "1");
        properties.put("num.io.threads", "2");
        properties.put("socket.listen.backlog.size", "10");
        properties.put("controlled.shutdown.enable", "false");
        properties.put("broker.heartbeat.interval.ms", "200");
        properties.put("broker.session.timeout.ms", "2000"); // after a kill the old registration holds for that long
        properties.put("log.cleaner.dedupe.buffer.size", "4194304");
        properties.put("controller.quorum.request.timeout.ms", "1000");
        question.path("settings").fields().forEachRemaining(item -> properties.put(item.getKey(), item.getValue().asText()));
        return properties;
    }

    private static int[] freePorts() throws Exception {
        try (ServerSocket one = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
            ServerSocket other = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            return new int[] {one.getLocalPort(), other.getLocalPort()};
        }
    }

    /** What is logged, kept with the start whose thread logs it. */
    private static final class LogByStart extends OutputStream {
        private final OutputStream rest;

        LogByStart(OutputStream rest) {
            this.rest = rest;
        }

        @Override
        public void write(int value) {
            write(new byte[] {(byte) value}, 0, 1);
        }

        @Override
        public void write(byte[] data, int from, int length) {
            Start start = current();
            if (start != null) start.log.write(data, from, length);
        }
    }
}
