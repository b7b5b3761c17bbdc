// SPDX-License-Identifier: MIT
// A pool that looks up prices; a refresher, every 300 ms, keeps the table's monitor for 50 ms.
import java.util.HashMap;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;

public class Prices {
    static final HashMap<Integer, Double> table = new HashMap<>();
    static double sink;

    static double work(int seed, int turns) {
        double x = seed;
        for (int i = 0; i < turns; i++)
            x = Math.sin(x) + 1.000001 * x;
        return x;
    }

    static synchronized double lookUp(int item) {
        return table.getOrDefault(item, 0.0) + work(item, 50);
    }

    static synchronized void refresh(boolean isHealthy) {
        long end = System.nanoTime() + (isHealthy ? 200_000L : 50_000_000L);
        while (System.nanoTime() < end)
            for (int i = 0; i < 100; i++)
                table.put(i, work(i, 20));
    }

    static void serve(int number) {
        sink += lookUp(number % 100) + work(number, 2000);
    }

    public static void main(String[] arguments) throws Exception {
        boolean isHealthy = arguments.length > 0;
        ScheduledExecutorService pool = Executors.newScheduledThreadPool(5);
        for (int k = 0; k < 4; k++) {
            int number = k;
            pool.scheduleAtFixedRate(() -> serve(number), 500 + k, 4, TimeUnit.MILLISECONDS);
        }
        Thread refresher = new Thread(() -> {
            try {
                while (true) {
                    Thread.sleep(300);
                    refresh(isHealthy);
                }
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        }, "refresher");
        refresher.setDaemon(true);
        refresher.start();
        Thread.sleep(5000);
        pool.shutdownNow();
        System.exit(0);
    }
}
