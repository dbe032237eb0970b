package io.rdmashuffle.bench;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.zip.CRC32C;
import org.apache.spark.network.buffer.ManagedBuffer;
import org.apache.spark.network.shuffle.BlockFetchingListener;
import org.apache.spark.network.shuffle.BlockStoreClient;

/**
 * Fetches blocks over and over through a client, as Spark's fetch iterator would: requests of a
 * fifth of {@code spark.reducer.maxSizeInFlight}, five of them in flight.
 */
final class FetchLoop {
  private static final long REQUEST_BYTES = (48L << 20) / 5;
  private static final int REQUESTS_IN_FLIGHT = 5;

  private final BlockStoreClient client;
  private final BlockSet blocks;
  private final List<String[]> requests = new ArrayList<>();

  FetchLoop(BlockStoreClient client, BlockSet blocks) {
    this.client = client;
    this.blocks = blocks;
    int perRequest = (int) Math.max(1, REQUEST_BYTES / Math.max(1, blocks.meanBytes()));
    for (int from = 0; from < blocks.ids().size(); from += perRequest) {
      int to = Math.min(blocks.ids().size(), from + perRequest);
      requests.add(blocks.ids().subList(from, to).toArray(String[]::new));
    }
  }

  /** Fetches for at least that long, whole rounds over all blocks; one round at least. */
  FetchSample run(double minSeconds, long serverPid) throws InterruptedException {
    AtomicLong bytes = new AtomicLong();
    long count = 0;
    ReaderCosts costs = new ReaderCosts(serverPid);
    do {
      fetchAll((id, buffer) -> bytes.addAndGet(buffer.size()));
      count += blocks.ids().size();
    } while (costs.seconds() < minSeconds);
    return costs.sample(count, bytes.get());
  }

  /** Checksum of each block. */
  Map<String, Long> checksums() throws InterruptedException {
    Map<String, Long> sums = new ConcurrentHashMap<>();
    fetchAll((id, buffer) -> sums.put(id, checksum(buffer)));
    return sums;
  }

  private static long checksum(ManagedBuffer buffer) {
    try {
      CRC32C crc = new CRC32C();
      ByteBuffer bytes = buffer.nioByteBuffer();
      crc.update(bytes);
      return crc.getValue();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private void fetchAll(Sink sink) throws InterruptedException {
    Semaphore slots = new Semaphore(REQUESTS_IN_FLIGHT);
    AtomicReference<Throwable> failure = new AtomicReference<>();
    for (String[] request : requests) {
      slots.acquire();
      client.fetchBlocks(
          blocks.host(),
          blocks.port(),
          blocks.executorId(),
          request,
          new Listener(request.length, slots, sink, failure),
          null);
    }
    slots.acquire(REQUESTS_IN_FLIGHT);
    if (failure.get() != null) {
      throw new IllegalStateException("a block could not be fetched", failure.get());
    }
  }

  /** Takes a block before it is released. */
  private interface Sink {
    void accept(String id, ManagedBuffer buffer);
  }

  private static final class Listener implements BlockFetchingListener {
    private final AtomicInteger missing;
    private final Semaphore slots;
    private final Sink sink;
    private final AtomicReference<Throwable> failure;

    Listener(int blocks, Semaphore slots, Sink sink, AtomicReference<Throwable> failure) {
      this.missing = new AtomicInteger(blocks);
      this.slots = slots;
      this.sink = sink;
      this.failure = failure;
    }

    @Override
    public void onBlockFetchSuccess(String blockId, ManagedBuffer data) {
      // The caller owns its own reference and releases it after this returns.
      sink.accept(blockId, data);
      ended();
    }

    @Override
    public void onBlockFetchFailure(String blockId, Throwable cause) {
      failure.compareAndSet(null, cause);
      ended();
    }

    private void ended() {
      if (missing.decrementAndGet() == 0) {
        slots.release();
      }
    }
  }
}
