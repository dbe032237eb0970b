package io.rdmashuffle.spark.directory;

import io.rdmashuffle.spark.directory.DirectoryException.Reason;
import io.rdmashuffle.transport.Deadline;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.apache.spark.SparkConf;
import org.apache.spark.rpc.RpcEndpointRef;
import org.apache.spark.rpc.RpcEnv;
import org.apache.spark.rpc.RpcTimeout;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import scala.concurrent.ExecutionContext;
import scala.concurrent.ExecutionContext$;
import scala.concurrent.Future;
import scala.concurrent.duration.FiniteDuration;
import scala.reflect.ClassTag;
import scala.reflect.ClassTag$;

/**
 * Reaches the directory over Spark's RPC. The endpoint is looked up on first use, without blocking;
 * a failed look-up is tried again by the next request.
 */
final class SparkDirectoryChannel implements DirectoryChannel {
  private static final Logger LOG = LoggerFactory.getLogger(SparkDirectoryChannel.class);

  // Only completes a CompletableFuture, so it may run wherever Spark completes its own.
  private static final ExecutionContext DIRECT =
      ExecutionContext$.MODULE$.fromExecutor(Runnable::run);

  private static final ClassTag<byte[]> BYTES = ClassTag$.MODULE$.apply(byte[].class);

  private final RpcEnv rpcEnv;
  private final String uri;
  private CompletableFuture<RpcEndpointRef> ref; // guarded by this
  private volatile boolean closed;

  SparkDirectoryChannel(RpcEnv rpcEnv, SparkConf conf) {
    this.rpcEnv = rpcEnv;
    // As RpcUtils.makeDriverRef finds the driver; that one blocks without a deadline of ours.
    this.uri =
        "spark://"
            + DirectoryEndpoint.NAME
            + "@"
            + conf.get("spark.driver.host", "localhost")
            + ":"
            + conf.get("spark.driver.port", "7077");
  }

  @Override
  public CompletableFuture<byte[]> ask(byte[] request, Deadline deadline) {
    if (closed) {
      return CompletableFuture.failedFuture(closedException());
    }
    return ref()
        .thenCompose(found -> toJava(found.ask(request, timeout(deadline), BYTES)))
        .orTimeout(Math.max(1, deadline.remainingNs()), TimeUnit.NANOSECONDS)
        .handle(SparkDirectoryChannel::orDirectoryException);
  }

  @Override
  public void send(byte[] message) {
    if (closed) {
      return;
    }
    CompletableFuture<Void> unused =
        ref()
            .thenAccept(found -> found.send(message))
            .whenComplete(
                (done, failure) -> {
                  if (failure != null) {
                    LOG.debug("A report to the shuffle directory got lost", failure);
                  }
                });
  }

  @Override
  public void close() {
    closed = true;
  }

  private synchronized CompletableFuture<RpcEndpointRef> ref() {
    if (ref == null || ref.isCompletedExceptionally()) {
      ref = toJava(rpcEnv.asyncSetupEndpointRefByURI(uri));
    }
    // A copy, so that the deadline of one request does not end the look-up.
    return ref.copy();
  }

  private static RpcTimeout timeout(Deadline deadline) {
    FiniteDuration left = FiniteDuration.apply(deadline.remainingMs() + 1, TimeUnit.MILLISECONDS);
    return new RpcTimeout(left, "the deadline of the caller");
  }

  private static <T> CompletableFuture<T> toJava(Future<T> future) {
    CompletableFuture<T> result = new CompletableFuture<>();
    future.onComplete(
        tried ->
            tried.isSuccess()
                ? result.complete(tried.get())
                : result.completeExceptionally(tried.failed().get()),
        DIRECT);
    return result;
  }

  private static byte[] orDirectoryException(byte[] answer, Throwable failure) {
    if (failure == null) {
      return answer;
    }
    Throwable cause = failure instanceof CompletionException ? failure.getCause() : failure;
    if (cause instanceof TimeoutException) {
      throw new CompletionException(
          new DirectoryException(
              Reason.TIMEOUT, "no answer of the driver within the deadline", cause));
    }
    throw new CompletionException(
        new DirectoryException(
            Reason.UNREACHABLE, "the driver's directory cannot be reached: " + cause, cause));
  }

  private static DirectoryException closedException() {
    return new DirectoryException(Reason.CLOSED, "the directory client is closed");
  }
}
