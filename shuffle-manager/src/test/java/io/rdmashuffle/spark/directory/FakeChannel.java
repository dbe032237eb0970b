package io.rdmashuffle.spark.directory;

import io.rdmashuffle.spark.directory.DirectoryException.Reason;
import io.rdmashuffle.transport.Deadline;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.UnaryOperator;

/** A channel to a service in this process, which can be held up, be cut, or change answers. */
final class FakeChannel implements DirectoryChannel {
  private final DirectoryService service;
  private final Map<Byte, AtomicInteger> asks = new ConcurrentHashMap<>();
  private volatile CompletableFuture<Void> gate = CompletableFuture.completedFuture(null);
  private volatile UnaryOperator<byte[]> tamper = UnaryOperator.identity();
  private volatile boolean closed;
  final AtomicLong answeredBytes = new AtomicLong();

  FakeChannel(Directory directory) {
    this(new DirectoryService(directory));
  }

  FakeChannel(DirectoryService service) {
    this.service = service;
  }

  /** Holds up answers, which the driver has not yet worked out, until the future completes. */
  void holdUntil(CompletableFuture<Void> open) {
    gate = open;
  }

  void tamper(UnaryOperator<byte[]> change) {
    tamper = change;
  }

  /** How many requests of a type went out. */
  int asks(byte type) {
    AtomicInteger count = asks.get(type);
    return count == null ? 0 : count.get();
  }

  @Override
  public CompletableFuture<byte[]> ask(byte[] request, Deadline deadline) {
    if (closed) {
      return CompletableFuture.failedFuture(new DirectoryException(Reason.CLOSED, "closed"));
    }
    asks.computeIfAbsent(request[1], type -> new AtomicInteger()).incrementAndGet();
    return gate.copy()
        .thenApplyAsync(open -> tamper.apply(service.answer(request)), ForkJoinPool.commonPool())
        .orTimeout(Math.max(1, deadline.remainingNs()), TimeUnit.NANOSECONDS)
        .handle(this::answer);
  }

  private byte[] answer(byte[] answer, Throwable failure) {
    if (failure != null) {
      throw new CompletionException(
          new DirectoryException(Reason.TIMEOUT, "no answer of the fake", failure));
    }
    answeredBytes.addAndGet(answer.length);
    return answer;
  }

  @Override
  public void send(byte[] message) {
    service.receive(message);
  }

  @Override
  public void close() {
    closed = true;
  }
}
