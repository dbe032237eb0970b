package io.rdmashuffle.bench;

import io.rdmashuffle.transport.Connection;
import io.rdmashuffle.transport.Deadline;
import io.rdmashuffle.transport.ReadBatch;
import io.rdmashuffle.transport.ReadListener;
import io.rdmashuffle.transport.RegisteredSlab;
import io.rdmashuffle.transport.TransportException;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;

/**
 * Keeps a number of batches in flight over a connection until a number of reads is done: each batch
 * is offered again from its own completion, as dependent reads of the shuffle are.
 */
final class ReadLoop implements ReadListener {
  private static final Duration LIMIT = Duration.ofMinutes(2);

  private final Connection connection;
  private final RegisteredSlab remote;
  private final RegisteredSlab local;
  private final int remoteOffset;
  private final int localOffset;
  private final int readBytes;
  private final int readsPerBatch;
  private final CountDownLatch batchesLeft;
  private final AtomicReference<TransportException> failure = new AtomicReference<>();

  ReadLoop(
      Connection connection,
      RegisteredSlab remote,
      RegisteredSlab local,
      int dataOffset,
      int readBytes,
      int readsPerBatch,
      int batches) {
    this.connection = connection;
    this.remote = remote;
    this.local = local;
    this.remoteOffset = dataOffset;
    this.localOffset = dataOffset;
    this.readBytes = readBytes;
    this.readsPerBatch = readsPerBatch;
    batchesLeft = new CountDownLatch(batches);
  }

  /** Runs to the end and returns the seconds it took. */
  double run(int batchesInFlight) throws TransportException, InterruptedException {
    long start = System.nanoTime();
    for (int i = 0; i < batchesInFlight; i++) {
      offer(new ReadBatch(readsPerBatch));
    }
    boolean isDone = batchesLeft.await(LIMIT.toSeconds(), TimeUnit.SECONDS);
    double seconds = (System.nanoTime() - start) / 1e9;
    if (failure.get() != null) {
      throw failure.get();
    }
    if (!isDone) {
      throw new IllegalStateException("the reads did not end within " + LIMIT);
    }
    return seconds;
  }

  private void offer(ReadBatch batch) {
    batch.reset(Deadline.after(LIMIT));
    for (int i = 0; i < readsPerBatch; i++) {
      batch.add(
          remote.remoteAddress() + remoteOffset, remote.remoteKey(), readBytes, local, localOffset);
    }
    if (!connection.offer(batch, this)) {
      throw new IllegalStateException("no room for " + readsPerBatch + " reads");
    }
  }

  @Override
  public void onComplete(ReadBatch batch) {
    batchesLeft.countDown();
    if (batchesLeft.getCount() > 0 && failure.get() == null) {
      offer(batch);
    }
  }

  @Override
  public void onFailure(ReadBatch batch, TransportException cause) {
    failure.compareAndSet(null, cause);
    while (batchesLeft.getCount() > 0) {
      batchesLeft.countDown();
    }
  }
}
