package io.rdmashuffle.transport.verbs;

import io.rdmashuffle.conf.RdmaShuffleConf;
import io.rdmashuffle.transport.Access;
import io.rdmashuffle.transport.Connection;
import io.rdmashuffle.transport.Deadline;
import io.rdmashuffle.transport.PeerIdentity;
import io.rdmashuffle.transport.ReadBatch;
import io.rdmashuffle.transport.ReadListener;
import io.rdmashuffle.transport.RegisteredSlab;
import io.rdmashuffle.transport.SlabFactories;
import io.rdmashuffle.transport.SlabFactory;
import io.rdmashuffle.transport.SlabMemory;
import io.rdmashuffle.transport.Transport;
import io.rdmashuffle.transport.TransportException;
import java.lang.management.ManagementFactory;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.Map;
import java.util.concurrent.Semaphore;

/**
 * Latency of small reads and bandwidth of large ones between two transports of one process; what
 * ib_read_lat and ib_read_bw measure between two processes. Arguments: reads per measurement.
 */
public final class ReadBench {
  private static final int SLAB_LENGTH = 8 << 20;

  private ReadBench() {}

  /** Runs all measurements, a line each. */
  public static void main(String[] arguments) throws Exception {
    int count = arguments.length > 0 ? Integer.parseInt(arguments[0]) : 1000;
    PeerIdentity owner = new PeerIdentity("bench", "owner", new byte[PeerIdentity.TOKEN_LENGTH]);
    SlabFactory slabs = SlabFactories.open(Path.of("/dev/shm"), owner);
    try (SlabMemory source = slabs.create(SLAB_LENGTH);
        SlabMemory target = slabs.create(SLAB_LENGTH);
        Transport remote = open(owner);
        Transport local = open(owner);
        RegisteredSlab from = remote.register(source, Access.REMOTE_READ);
        RegisteredSlab to = local.register(target, Access.LOCAL_WRITE);
        Connection connection =
            local
                .connect(remote.localEndpoint(), owner, Deadline.after(Duration.ofSeconds(30)))
                .get()) {
      System.out.println(local.availability().cause());
      for (int length : new int[] {8, 4096, 65536}) {
        latency(connection, from, to, length, count);
      }
      bandwidth(connection, from, to, 65536, count);
      bandwidth(connection, from, to, 1 << 20, Math.max(16, count / 16));
    }
  }

  private static Transport open(PeerIdentity self) {
    return VerbsTransports.open(self, RdmaShuffleConf.from(Map.of()).transport());
  }

  private static void latency(
      Connection connection, RegisteredSlab from, RegisteredSlab to, int length, int count)
      throws InterruptedException {
    Window window = new Window(1);
    ReadBatch batch = new ReadBatch(1);
    long[] takenNs = new long[count];
    Deadline deadline = Deadline.after(Duration.ofMinutes(10));
    long allocatedBefore = 0;
    for (int i = -count / 10; i < count; i++) {
      if (i == 0) {
        allocatedBefore = allocatedOnPoller();
      }
      long startNs = System.nanoTime();
      batch.reset(deadline).add(from.remoteAddress(), from.remoteKey(), length, to, 4096);
      connection.offer(batch, window);
      window.await(1);
      if (i >= 0) {
        takenNs[i] = System.nanoTime() - startNs;
      }
    }
    long allocated = allocatedOnPoller() - allocatedBefore;
    Arrays.sort(takenNs);
    System.out.printf(
        "read latency, %d bytes: median %.1f us, p99 %.1f us, max %.1f us; poller allocated %d"
            + " bytes in %d batches%n",
        length,
        takenNs[count / 2] / 1e3,
        takenNs[count * 99 / 100] / 1e3,
        takenNs[count - 1] / 1e3,
        allocated,
        count);
  }

  private static void bandwidth(
      Connection connection, RegisteredSlab from, RegisteredSlab to, int length, int count)
      throws InterruptedException {
    int depth = 8;
    Window window = new Window(depth);
    ReadBatch[] batches = new ReadBatch[depth];
    Arrays.setAll(batches, i -> new ReadBatch(1));
    Deadline deadline = Deadline.after(Duration.ofMinutes(10));
    long startNs = System.nanoTime();
    for (int i = 0; i < count; i++) { // batches end in order, so the oldest is free
      window.await(1);
      ReadBatch batch = batches[i % depth].reset(deadline);
      batch.add(from.remoteAddress(), from.remoteKey(), length, to, 4096);
      while (!connection.offer(batch, window)) {
        Thread.onSpinWait();
      }
      if (i == 0) {
        window.release(depth - 1);
      }
    }
    window.await(depth);
    double seconds = (System.nanoTime() - startNs) / 1e9;
    System.out.printf(
        "read bandwidth, %d bytes, %d outstanding: %.1f MB/s%n",
        length, depth, (double) length * count / seconds / 1e6);
  }

  private static long allocatedOnPoller() {
    com.sun.management.ThreadMXBean threads =
        (com.sun.management.ThreadMXBean) ManagementFactory.getThreadMXBean();
    long total = 0;
    for (Thread thread : Thread.getAllStackTraces().keySet()) {
      if (thread.getName().startsWith("rdma-")) {
        total += threads.getThreadAllocatedBytes(thread.getId());
      }
    }
    return total;
  }

  private static final class Window implements ReadListener {
    private final Semaphore done = new Semaphore(0);

    Window(int depth) {
      if (depth > 1) {
        done.release(1);
      }
    }

    void await(int count) throws InterruptedException {
      done.acquire(count);
    }

    void release(int count) {
      done.release(count);
    }

    @Override
    public void onComplete(ReadBatch batch) {
      done.release();
    }

    @Override
    public void onFailure(ReadBatch batch, TransportException failure) {
      throw new IllegalStateException(failure);
    }
  }
}
