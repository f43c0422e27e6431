import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelFutureListener;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.handler.codec.http.HttpHeaders;
import io.netty.handler.codec.http.HttpMessage;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.handler.codec.http.HttpUtil;
import io.netty.handler.codec.http.LastHttpContent;
import io.netty.util.ReferenceCountUtil;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.function.Supplier;
import org.opensearch.analysis.common.CommonAnalysisPlugin;
import org.opensearch.common.network.NetworkService;
import org.opensearch.common.settings.ClusterSettings;
import org.opensearch.common.settings.Settings;
import org.opensearch.common.util.BigArrays;
import org.opensearch.common.util.PageCacheRecycler;
import org.opensearch.common.util.concurrent.ThreadContext;
import org.opensearch.core.common.io.stream.NamedWriteableRegistry;
import org.opensearch.core.indices.breaker.CircuitBreakerService;
import org.opensearch.core.xcontent.NamedXContentRegistry;
import org.opensearch.env.Environment;
import org.opensearch.http.HttpServerTransport;
import org.opensearch.http.netty4.Netty4HttpServerTransport;
import org.opensearch.index.mapper.MapperExtrasPlugin;
import org.opensearch.index.reindex.ReindexPlugin;
import org.opensearch.knn.plugin.KNNPlugin;
import org.opensearch.node.InternalSettingsPreparer;
import org.opensearch.node.Node;
import org.opensearch.painless.PainlessPlugin;
import org.opensearch.plugins.Plugin;
import org.opensearch.telemetry.tracing.Tracer;
import org.opensearch.threadpool.ThreadPool;
import org.opensearch.transport.Netty4Plugin;
import org.opensearch.transport.SharedGroupFactory;
import org.opensearch.transport.TransportInterceptor;
import org.opensearch.transport.TransportRequest;
import org.opensearch.transport.TransportRequestHandler;

/**
 * One OpenSearch node on loopback whose plugins come from the class path.
 *
 * <p>Usage: {@code OsNode HOME HTTP_PORT}; port 0 takes a free one. Once it listens, its address is
 * in {@code HOME/logs/http.ports}. A node that cannot start ends with exit code 1.
 *
 * <p>Every HTTP request must hold the secret in {@code HOME/node.secret} as a bearer token. The port
 * between nodes answers nobody: this node has no others.
 */
public final class OsNode {
    private static final String NAME = "ccrag";

    private static final List<Class<? extends Plugin>> PLUGINS =
            List.of(
                    GuardedPlugin.class,
                    CommonAnalysisPlugin.class,
                    PainlessPlugin.class,
                    ReindexPlugin.class,
                    MapperExtrasPlugin.class,
                    KNNPlugin.class);

    /** Read once at the start; not a setting, because settings can be asked for. */
    private static byte[] expected;

    /** HTTP and transport of the node, both closed to strangers. */
    public static final class GuardedPlugin extends Netty4Plugin {
        @Override
        public Map<String, Supplier<HttpServerTransport>> getHttpTransports(
                Settings settings,
                ThreadPool threadPool,
                BigArrays bigArrays,
                PageCacheRecycler pageCacheRecycler,
                CircuitBreakerService circuitBreakerService,
                NamedXContentRegistry xContentRegistry,
                NetworkService networkService,
                HttpServerTransport.Dispatcher dispatcher,
                ClusterSettings clusterSettings,
                Tracer tracer) {
            return Map.of(
                    NETTY_HTTP_TRANSPORT_NAME,
                    () ->
                            new Netty4HttpServerTransport(
                                    settings,
                                    networkService,
                                    bigArrays,
                                    threadPool,
                                    xContentRegistry,
                                    dispatcher,
                                    clusterSettings,
                                    new SharedGroupFactory(settings),
                                    tracer) {
                                /** In front of all that reads a body or an address. */
                                @Override
                                protected ChannelInboundHandlerAdapter createHeaderVerifier() {
                                    return new Guard();
                                }
                            });
        }

        @Override
        public List<TransportInterceptor> getTransportInterceptors(
                NamedWriteableRegistry namedWriteableRegistry, ThreadContext threadContext) {
            return List.of(new OwnRequestsOnly());
        }
    }

    /**
     * Turns away what a browser or another account of this machine sends, by its head alone; of its
     * body nothing is kept. One per connection.
     */
    private static final class Guard extends ChannelInboundHandlerAdapter {
        /** What the request under way is told; null: it may pass. */
        private String refusal;

        @Override
        public void channelRead(ChannelHandlerContext context, Object message) {
            if (message instanceof HttpRequest) {
                refusal = refusalOf((HttpRequest) message, port(context));
            }
            if (refusal == null) {
                context.fireChannelRead(message);
                return;
            }
            // Told at the end of the body: a client that still sends would not hear it.
            boolean ends =
                    message instanceof LastHttpContent
                            || message instanceof HttpMessage
                                    && (HttpUtil.is100ContinueExpected((HttpMessage) message)
                                            || isBroken((HttpMessage) message));
            ReferenceCountUtil.release(message);
            if (ends) {
                context.writeAndFlush(Unpooled.copiedBuffer(refusal, StandardCharsets.US_ASCII))
                        .addListener(ChannelFutureListener.CLOSE);
            }
        }

        private static int port(ChannelHandlerContext context) {
            return ((InetSocketAddress) context.channel().localAddress()).getPort();
        }

        private static boolean isBroken(HttpMessage request) {
            return request.decoderResult().isFailure();
        }

        private static String refusalOf(HttpRequest request, int port) {
            HttpHeaders headers = request.headers();
            if (isBroken(request)) {
                return answer(400, "Bad Request", "no HTTP request that can be read");
            }
            if (headers.contains("Origin")) {
                return answer(403, "Forbidden", "requests of web pages are refused");
            }
            if (!isOurs(headers.getAll("Host"), port)) {
                return answer(403, "Forbidden", "the Host header names another host");
            }
            if (!holdsSecret(headers.getAll("Authorization"))) {
                return answer(
                        401,
                        "Unauthorized",
                        "the secret of this start of the node is needed, as a bearer token");
            }
            return null;
        }

        /** A name that an attacker's name server pointed here is none of these. */
        private static boolean isOurs(List<String> hosts, int port) {
            return hosts.size() == 1
                    && List.of("127.0.0.1:" + port, "localhost:" + port, "[::1]:" + port)
                            .contains(hosts.get(0));
        }

        private static boolean holdsSecret(List<String> given) {
            return given.size() == 1
                    && MessageDigest.isEqual(
                            given.get(0).getBytes(StandardCharsets.UTF_8), expected);
        }

        /** A whole response: the handler that would write one stands behind this one. */
        private static String answer(int status, String phrase, String reason) {
            String body =
                    String.format(
                            "{\"error\":{\"type\":\"ccrag_guard\",\"reason\":\"%s\"},\"status\":%d}\n",
                            reason, status);
            return String.format(
                    "HTTP/1.1 %d %s\r\nContent-Type: application/json; charset=UTF-8\r\n"
                            + "Content-Length: %d\r\nConnection: close\r\n\r\n%s",
                    status, phrase, body.length(), body);
        }
    }

    /** Lets through what this node asks itself; nothing that came over a socket. */
    private static final class OwnRequestsOnly implements TransportInterceptor {
        @Override
        public <T extends TransportRequest> TransportRequestHandler<T> interceptHandler(
                String action,
                String executor,
                boolean forceExecution,
                TransportRequestHandler<T> handler) {
            return (request, channel, task) -> {
                if ("direct".equals(channel.getChannelType())) {
                    handler.messageReceived(request, channel, task);
                } else {
                    channel.sendResponse(new SecurityException("this node has no other nodes"));
                }
            };
        }
    }

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
        String secret = Files.readString(home.resolve("node.secret")).strip();
        if (secret.length() < 32) {
            throw new IllegalStateException("node.secret is too short");
        }
        expected = ("Bearer " + secret).getBytes(StandardCharsets.UTF_8);
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
