package io.rdmashuffle.spark.directory;

import io.rdmashuffle.transport.Deadline;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.LongStream;

/**
 * A stage larger than any machine at hand: executors register, publish map outputs one by one and
 * look them up, with the real messages, encoded and decoded, and without a network. Used by one
 * thread.
 */
public final class DirectorySimulation {
  /**
   * What it took to publish outputs.
   *
   * @param cpuNanos of the driver, from the messages' arrival to the answers
   * @param messageBytes of all requests
   * @param accountedBytes what the directory says that the outputs take of the driver's heap
   */
  public record Published(int outputs, long cpuNanos, long messageBytes, long accountedBytes) {}

  /**
   * What it took to look outputs up.
   *
   * @param driverNanos to answer all executors that ask where all outputs lie
   * @param driverBytes of those answers
   * @param clientNanos of one executor that asks for all outputs and for the peers that hold them
   * @param clientBytes of the answers it gets
   * @param clientHeapBytes what it keeps of the locations
   * @param lookupNanos of one executor to find all outputs in what it keeps
   */
  public record LookedUp(
      long driverNanos,
      long driverBytes,
      long clientNanos,
      long clientBytes,
      long clientHeapBytes,
      long lookupNanos) {}

  private static final int SHUFFLE = 0;
  private static final int SLABS = 64;
  private static final long SLAB_LENGTH = 64L << 20;
  private static final int INDEX_LENGTH = 8_240;
  private static final int TOKEN_LENGTH = 32;
  private static final int SHM_ENDPOINT_LENGTH = 120;
  private static final Duration AMPLE = Duration.ofMinutes(2);

  private final Directory directory = new Directory(DirectoryLimits.defaults());
  private final DirectoryService service = new DirectoryService(directory);
  private final int executors;
  private int outputs;

  /** Registers so many executors of 64 slabs. */
  public DirectorySimulation(int executors) throws DirectoryException {
    this.executors = executors;
    directory.registerShuffle(SHUFFLE);
    for (int e = 0; e < executors; e++) {
      requireAcknowledged(service.answer(Messages.encodeRegister(executor(e))));
    }
  }

  private static ExecutorRecord executor(int number) {
    List<SlabRecord> slabs = new ArrayList<>();
    for (int slabId = 0; slabId < SLABS; slabId++) {
      slabs.add(
          new SlabRecord(
              slabId,
              SLAB_LENGTH,
              Map.of(
                  "rdma", new SlabKey(0x7F00_0000_0000L + slabId, slabId + 1),
                  "shm", new SlabKey(0, 40 + slabId))));
    }
    return new ExecutorRecord(
        Integer.toString(number),
        "host-" + number,
        new byte[TOKEN_LENGTH],
        Map.of("rdma", new byte[24], "shm", new byte[SHM_ENDPOINT_LENGTH]),
        slabs);
  }

  /** Publishes that many more outputs, spread over the executors. */
  public Published publish(int count) {
    List<byte[]> requests = new ArrayList<>(count);
    long messageBytes = 0;
    for (int id = outputs; id < outputs + count; id++) {
      byte[] request =
          Messages.encodePublish(
              new Messages.Publication(holder(id), List.of(), List.of(output(id))));
      messageBytes += request.length;
      requests.add(request);
    }
    outputs += count;
    long accountedBefore = directory.usedBytes();
    // The directory answers on the thread that asks.
    ThreadMXBean threads = ManagementFactory.getThreadMXBean();
    long cpuBefore = threads.getCurrentThreadCpuTime();
    for (byte[] request : requests) {
      requireAcknowledged(service.answer(request));
    }
    long cpuNanos = threads.getCurrentThreadCpuTime() - cpuBefore;
    return new Published(count, cpuNanos, messageBytes, directory.usedBytes() - accountedBefore);
  }

  private String holder(long output) {
    return Long.toString(output * 7_919L % executors);
  }

  private OutputRecord output(int id) {
    long offset = 4_096L * (id / executors);
    return new OutputRecord(SHUFFLE, id, id % SLABS, offset, INDEX_LENGTH, 1_000_000L + id);
  }

  /**
   * All executors look up all outputs.
   *
   * @throws IllegalStateException when one is not found where it was published
   */
  public LookedUp lookUp() throws DirectoryException, InterruptedException {
    long beganNs = System.nanoTime();
    long driverBytes = 0;
    for (int e = 0; e < executors; e++) {
      driverBytes += locateAll();
    }
    long driverNanos = System.nanoTime() - beganNs;

    LocalChannel channel = new LocalChannel(service);
    try (DirectoryClient client =
        new DirectoryClient(channel, "0", ClientSettings.withTimeout(AMPLE))) {
      beganNs = System.nanoTime();
      locate(client);
      long clientNanos = System.nanoTime() - beganNs;
      beganNs = System.nanoTime();
      find(client);
      long lookupNanos = System.nanoTime() - beganNs;
      return new LookedUp(
          driverNanos,
          driverBytes,
          clientNanos,
          channel.answeredBytes(),
          client.usedBytes(),
          lookupNanos);
    }
  }

  private long locateAll() {
    long bytes = 0;
    for (int from = 0; from < outputs; from += Bounds.MAX_PAGE_ENTRIES) {
      bytes +=
          service.answer(Messages.encodeLocate(new Messages.LocateRequest(SHUFFLE, from))).length;
    }
    return bytes;
  }

  private void locate(DirectoryClient client) throws DirectoryException, InterruptedException {
    long[] ids = LongStream.range(0, outputs).toArray();
    require(
        client.ensureLocated(SHUFFLE, ids, Deadline.after(AMPLE)),
        "not all of %d outputs were located",
        outputs);
    for (int e = 0; e < executors; e++) {
      PeerRecord peer = client.peer(Integer.toString(e), Deadline.after(AMPLE));
      require(peer != null && peer.executor().slabs().size() == SLABS, "no peer %d", e);
    }
  }

  private void find(DirectoryClient client) {
    Located located = new Located();
    for (int id = 0; id < outputs; id++) {
      require(
          client.lookup(SHUFFLE, id, located) && located.executorId().equals(holder(id)),
          "output %d was not found where it was published",
          id);
    }
  }

  private static void requireAcknowledged(byte[] answer) {
    try {
      Messages.decodeAcknowledged(answer);
    } catch (DirectoryMessageException e) {
      throw new IllegalStateException("the directory refused a message", e);
    }
  }

  private static void require(boolean condition, String message, Object argument) {
    if (!condition) {
      throw new IllegalStateException(message.formatted(argument));
    }
  }
}
