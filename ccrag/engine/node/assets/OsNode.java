import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import org.opensearch.analysis.common.CommonAnalysisPlugin;
import org.opensearch.common.settings.Settings;
import org.opensearch.env.Environment;
import org.opensearch.index.mapper.MapperExtrasPlugin;
import org.opensearch.index.reindex.ReindexPlugin;
import org.opensearch.knn.plugin.KNNPlugin;
import org.opensearch.node.InternalSettingsPreparer;
import org.opensearch.node.Node;
import org.opensearch.painless.PainlessPlugin;
import org.opensearch.plugins.Plugin;
import org.opensearch.transport.Netty4Plugin;

/**
 * One OpenSearch node on loopback whose plugins come from the class path.
 *
 * <p>Usage: {@code OsNode HOME HTTP_PORT}; port 0 takes a free one. Once it listens, its address is
 * in {@code HOME/logs/http.ports}. A node that cannot start ends with exit code 1.
 */
public final class OsNode {
    private static final String NAME = "ccrag";

    private static final List<Class<? extends Plugin>> PLUGINS =
            List.of(
                    Netty4Plugin.class,
                    CommonAnalysisPlugin.class,
                    PainlessPlugin.class,
                    ReindexPlugin.class,
                    MapperExtrasPlugin.class,
                    KNNPlugin.class);

    private static final class Embedded extends Node {
        Embedded(Environment environment, Collection<Class<? extends Plugin>> plugins) {
            super(environment, plugins, true);
        }
    }

    private static Settings settings(Path home, String httpPort) {
        return Settings.builder()
                .put("path.home", home.toString())
                .put("path.data", home.resolve("data").toString())
                .put("path.logs", home.resolve("logs").toString())
                .put("cluster.name", NAME)
                .put("node.name", NAME)
                .put("network.host", "127.0.0.1")
                .put("http.port", httpPort)
                .put("transport.port", "0")
                .put("node.portsfile", true)
                .put("discovery.type", "single-node")
                .putList("node.roles", "cluster_manager", "data", "ingest")
                // A full disk is checked before the start; a watermark would block small machines.
                .put("cluster.routing.allocation.disk.threshold_enabled", false)
                .put("action.destructive_requires_name", true)
                .build();
    }

    private static void run(Path home, String httpPort) throws Exception {
        for (String folder : List.of("config", "logs")) {
            Files.createDirectories(home.resolve(folder));
        }
        Environment environment =
                InternalSettingsPreparer.prepareEnvironment(
                        settings(home, httpPort), Map.of(), home.resolve("config"), () -> NAME);
        Node node = new Embedded(environment, PLUGINS);
        Runtime.getRuntime().addShutdownHook(new Thread(() -> close(node)));
        node.start();
        new CountDownLatch(1).await();
    }

    private static void close(Node node) {
        try {
            node.close();
        } catch (Exception e) {
            e.printStackTrace();
        }
    }

    public static void main(String[] args) {
        try {
            run(Path.of(args[0]).toAbsolutePath(), args[1]);
        } catch (Throwable e) {
            // Other threads would keep the JVM alive after a failed start.
            e.printStackTrace();
            System.exit(1);
        }
    }
}
