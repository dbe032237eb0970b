package io.rdmashuffle.spark.directory;

import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import org.apache.spark.rpc.RpcCallContext;
import org.apache.spark.rpc.RpcEndpoint;
import org.apache.spark.rpc.RpcEndpointRef;
import org.apache.spark.rpc.RpcEnv;
import scala.PartialFunction;
import scala.runtime.AbstractPartialFunction;
import scala.runtime.BoxedUnit;

/** Opens a {@link Directory} to the executors, as an endpoint of the driver's RPC. */
public final class DirectoryEndpoint implements RpcEndpoint, AutoCloseable {
  /** Name of the endpoint; executors find it by this. */
  static final String NAME = "RdmaShuffleDirectory";

  private final RpcEnv rpcEnv;
  private final DirectoryService service;
  private final AtomicBoolean closed = new AtomicBoolean();
  private volatile RpcEndpointRef ref;

  private DirectoryEndpoint(RpcEnv rpcEnv, Directory directory) {
    this.rpcEnv = rpcEnv;
    this.service = new DirectoryService(directory);
  }

  /**
   * Opens the directory.
   *
   * @param rpcEnv the driver's
   */
  public static DirectoryEndpoint start(RpcEnv rpcEnv, Directory directory) {
    DirectoryEndpoint endpoint = new DirectoryEndpoint(rpcEnv, directory);
    endpoint.ref = rpcEnv.setupEndpoint(NAME, endpoint);
    return endpoint;
  }

  @Override
  public RpcEnv rpcEnv() {
    return rpcEnv;
  }

  @Override
  public PartialFunction<Object, BoxedUnit> receive() {
    return new OnBytes(service::receive);
  }

  @Override
  public PartialFunction<Object, BoxedUnit> receiveAndReply(RpcCallContext context) {
    return new OnBytes(request -> context.reply(service.answer(request)));
  }

  /** Closes the directory to executors, who see it as unreachable. Idempotent. */
  @Override
  public void close() {
    if (closed.compareAndSet(false, true)) {
      rpcEnv.stop(ref);
    }
  }

  /** Handles byte arrays and leaves everything else to Spark, which refuses it. */
  private static final class OnBytes extends AbstractPartialFunction<Object, BoxedUnit> {
    private final Consumer<byte[]> handler;

    OnBytes(Consumer<byte[]> handler) {
      this.handler = handler;
    }

    @Override
    public boolean isDefinedAt(Object message) {
      return message instanceof byte[];
    }

    @Override
    public BoxedUnit apply(Object message) {
      handler.accept((byte[]) message);
      return BoxedUnit.UNIT;
    }
  }
}
