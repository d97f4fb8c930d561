import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.Properties;
import kafka.server.KafkaConfig;
import kafka.server.KafkaRaftServer;
import kafka.tools.StorageTool;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.utils.Time;

/** A broker and controller of 4.3.1 in this process, on a directory that it formats, at ports that are free. */
final class EmbeddedBroker {
    final Path logs;
    final String address;
    private final Properties properties = new Properties();

    /** Formats the directory; `settings` come beside those of a lone broker without a cleaner. */
    EmbeddedBroker(Path logs, Map<String, String> settings) throws IOException {
        this.logs = logs;
        int[] ports = freePorts();
        address = "localhost:" + ports[0];
        properties.put("process.roles", "broker,controller");
        properties.put("node.id", "1");
        properties.put("controller.quorum.voters", "1@localhost:" + ports[1]);
        properties.put("controller.listener.names", "CONTROLLER");
        properties.put("listeners", "PLAINTEXT://" + address + ",CONTROLLER://localhost:" + ports[1]);
        properties.put("listener.security.protocol.map", "PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT");
        properties.put("log.dirs", logs.toString());
        properties.put("offsets.topic.replication.factor", "1");
        properties.put("offsets.topic.num.partitions", "1");
        properties.put("log.cleaner.enable", "false");
        properties.putAll(settings);
        format();
    }

    interface Work {
        void run(Admin admin) throws Exception;
    }

    /** Does something while the broker runs, and stops it as an operator does. */
    void run(Work work) throws Exception {
        KafkaRaftServer server = new KafkaRaftServer(new KafkaConfig(properties, false), Time.SYSTEM);
        server.startup();
        try (Admin admin = Admin.create(Map.of("bootstrap.servers", address))) {
            work.run(admin);
        } finally {
            server.shutdown();
            server.awaitShutdown();
        }
    }

    /** Runs twice, and waits in between: it prints "filled", and reads a line of input. */
    void runTwice(Work fill, Work then) throws Exception {
        PrintStream answers = System.out;
        System.setOut(System.err);
        run(fill);
        answers.println("filled");
        answers.flush();
        if (System.in.read() >= 0) run(then);
        Runtime.getRuntime().halt(0); // after a clean stop; no thread of a client is waited for
    }

    private void format() throws IOException {
        Path file = Files.createDirectories(logs).resolveSibling("server.properties");
        try (var out = Files.newOutputStream(file)) {
            properties.store(out, null);
        }
        ByteArrayOutputStream said = new ByteArrayOutputStream();
        String[] args = {"format", "-t", Uuid.randomUuid().toString(), "-c", file.toString()};
        if (StorageTool.execute(args, new PrintStream(said, true)) != 0) throw new IOException("not formatted: " + said);
    }

    private static int[] freePorts() throws IOException {
        try (ServerSocket one = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
            ServerSocket other = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            return new int[] {one.getLocalPort(), other.getLocalPort()};
        }
    }
}
