import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.server.util.Scheduler;

/** Takes every task and runs none: no flush in the background, no deletion that comes later. */
final class IdleScheduler implements Scheduler {
    private static final ScheduledFuture<?> NEVER = Executors.newScheduledThreadPool(1).schedule(() -> {}, 1, TimeUnit.DAYS);

    @Override
    public void startup() {}

    @Override
    public void shutdown() {}

    @Override
    public void resizeThreadPool(int size) {}

    @Override
    public ScheduledFuture<?> schedule(String name, Runnable task, long delayMs, long periodMs) {
        return NEVER;
    }
}
