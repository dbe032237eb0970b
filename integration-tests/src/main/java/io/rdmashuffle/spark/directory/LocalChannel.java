package io.rdmashuffle.spark.directory;

import io.rdmashuffle.transport.Deadline;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicLong;

/** Asks a service in this process, at once, and counts what it answers. */
final class LocalChannel implements DirectoryChannel {
  private final DirectoryService service;
  private final AtomicLong answeredBytes = new AtomicLong();

  LocalChannel(DirectoryService service) {
    this.service = service;
  }

  /** Bytes of all answers so far. */
  long answeredBytes() {
    return answeredBytes.get();
  }

  @Override
  public CompletableFuture<byte[]> ask(byte[] request, Deadline deadline) {
    byte[] answer = service.answer(request);
    answeredBytes.addAndGet(answer.length);
    return CompletableFuture.completedFuture(answer);
  }

  @Override
  public void send(byte[] message) {
    service.receive(message);
  }

  @Override
  public void close() {
    // Nothing is held.
  }
}
