package io.rdmashuffle.spark.read;

import io.rdmashuffle.spark.directory.DirectoryClient;
import io.rdmashuffle.spark.directory.ExecutorRecord;
import io.rdmashuffle.spark.directory.LocalDirectory;
import io.rdmashuffle.spark.directory.OutputRecord;
import io.rdmashuffle.spark.directory.SlabKey;
import io.rdmashuffle.spark.directory.SlabRecord;
import io.rdmashuffle.transport.PeerIdentity;
import io.rdmashuffle.transport.ReadBatch;
import io.rdmashuffle.transport.SlabFactory;
import io.rdmashuffle.transport.Transport;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.spark.network.buffer.ManagedBuffer;
import org.apache.spark.network.shuffle.BlockFetchingListener;

/**
 * A process that fetches the blocks of a {@link TortureOwner} with the real fetch client, and looks
 * at every word it is given. Prints counts at its end. Arguments: directory, transport, seed, most
 * seconds, blocks wanted, and perhaps {@value #TRUSTING}.
 */
final class TortureReader implements SteppedTransport.Step {
  /** Believes every generation that it reads again: the reader that must be caught. */
  static final String TRUSTING = "trusting";

  private static final int MOST_VISITS = 6;
  private static final long PATIENCE_SECONDS = 120;

  private final TortureBoard board;
  private final ReaderSide side;
  private final DirectoryClient driver;
  private final Random random;
  private final SlabRecord slab;

  private final AtomicInteger right = new AtomicInteger();
  private final AtomicInteger wrong = new AtomicInteger();
  private final AtomicInteger notOneSided = new AtomicInteger();
  private volatile long expectedGeneration;

  private TortureReader(TortureSetting setting, long seed, boolean isTrusting) throws Exception {
    board = new TortureBoard(setting.board());
    random = new Random(seed);
    String[] greeting = awaitGreeting(setting.greeting()).split(" ", -1);
    slab =
        new SlabRecord(
            Integer.parseInt(greeting[1]),
            Integer.parseInt(greeting[2]),
            Map.of(
                setting.transport(),
                new SlabKey(Long.parseLong(greeting[3]), Integer.parseInt(greeting[4]))));
    LocalDirectory directory = new LocalDirectory();
    directory.driver().registerShuffle(TortureBlocks.SHUFFLE_ID);
    driver = directory.client(TortureOwner.EXECUTOR);
    driver.register(owner(setting, greeting[0]), TwoExecutors.soon());
    PeerIdentity self = TortureSetting.identity("reader");
    SlabFactory slabs = TortureSetting.slabs(self);
    Transport transport = setting.open(self, slabs);
    side =
        new ReaderSide(
            self.applicationId(),
            directory.client(self.executorId()),
            new FakeTcpClient(name -> new byte[0]), // no block is empty
            isTrusting ? new SteppedTransport(transport, this) : transport,
            slabs,
            4,
            ReaderSide.conf(settings()));
  }

  /** A stop outlasts the read's deadline; what follows it must not be left to TCP for long. */
  private static String[] settings() {
    return new String[] {
      "read.timeout", "300ms", "peer.backoff", "10ms", "peer.maxBackoff", "20ms",
    };
  }

  private static ExecutorRecord owner(TortureSetting setting, String endpoint) {
    PeerIdentity owner = TortureSetting.identity(TortureOwner.EXECUTOR);
    return new ExecutorRecord(
        owner.executorId(),
        "localhost",
        owner.token(),
        Map.of(setting.transport(), HexFormat.of().parseHex(endpoint)),
        List.of());
  }

  private static String awaitGreeting(Path file) throws IOException, InterruptedException {
    long endNs = System.nanoTime() + TimeUnit.SECONDS.toNanos(PATIENCE_SECONDS);
    while (!Files.exists(file)) {
      if (System.nanoTime() - endNs > 0) {
        throw new IOException("no owner said how to reach it in " + file);
      }
      Thread.sleep(10);
    }
    return Files.readString(file);
  }

  public static void main(String[] arguments) throws Exception {
    TortureSetting setting = new TortureSetting(Path.of(arguments[0]), arguments[1]);
    boolean isTrusting = arguments.length > 5 && arguments[5].equals(TRUSTING);
    TortureReader reader = new TortureReader(setting, Long.parseLong(arguments[2]), isTrusting);
    long endNs = System.nanoTime() + TimeUnit.SECONDS.toNanos(Long.parseLong(arguments[3]));
    int wanted = Integer.parseInt(arguments[4]);
    try {
      while (reader.right.get() < wanted
          && reader.wrong.get() == 0
          && System.nanoTime() - endNs < 0) {
        reader.visit(reader.random.nextInt(TortureBoard.SLOTS));
      }
    } finally {
      reader.close();
    }
    System.out.println(reader.counts());
  }

  private void close() {
    side.close();
    driver.close();
  }

  /** What the test reads. */
  private String counts() {
    return "right=%d wrong=%d notOneSided=%d stale=%d others=%s"
        .formatted(
            right.get(),
            wrong.get(),
            notOneSided.get(),
            side.accounting.snapshot().getOrDefault("fallbacks.STALE", 0L),
            side.accounting.snapshot());
  }

  private void visit(int slot) throws Exception {
    OutputRecord output = board.read(slot);
    if (output == null) {
      return;
    }
    expectedGeneration = output.generation();
    driver.publish(output, List.of(slab), TwoExecutors.soon());
    int before = notOneSided.get();
    for (int i = random.nextInt(MOST_VISITS); i >= 0 && before == notOneSided.get(); i--) {
      fetch(output.mapTaskId());
    }
  }

  private void fetch(long mapTaskId) throws InterruptedException {
    String[] names = new String[TortureBlocks.PARTITIONS];
    for (int partition = 0; partition < names.length; partition++) {
      names[partition] = "shuffle_" + TortureBlocks.SHUFFLE_ID + "_" + mapTaskId + "_" + partition;
    }
    CountDownLatch left = new CountDownLatch(names.length);
    side.client.fetchBlocks("localhost", 1, TortureOwner.EXECUTOR, names, checking(left), null);
    if (!left.await(PATIENCE_SECONDS, TimeUnit.SECONDS)) {
      throw new IllegalStateException(left.getCount() + " blocks were never answered");
    }
  }

  private BlockFetchingListener checking(CountDownLatch left) {
    return new BlockFetchingListener() {
      @Override
      public void onBlockFetchSuccess(String blockId, ManagedBuffer data) {
        try {
          check(blockId, data.nioByteBuffer());
        } catch (IOException | RuntimeException e) {
          onBlockFetchFailure(blockId, e);
          return;
        }
        left.countDown();
      }

      @Override
      public void onBlockFetchFailure(String blockId, Throwable failure) {
        System.out.println(blockId + " failed: " + failure);
        wrong.incrementAndGet();
        left.countDown();
      }
    };
  }

  private void check(String blockId, ByteBuffer bytes) {
    String[] fields = blockId.split("_", -1);
    if (!bytes.hasRemaining()) {
      notOneSided.incrementAndGet();
    } else if (TortureBlocks.isRight(
        bytes, Long.parseLong(fields[2]), Integer.parseInt(fields[3]))) {
      right.incrementAndGet();
    } else {
      System.out.println("not what " + blockId + " should be");
      wrong.incrementAndGet();
    }
  }

  // Of a trusting reader.

  @Override
  public void before(int remoteKey, long remoteAddress, int length) {}

  @Override
  public void after(ReadBatch piece) {
    if (piece.length(0) == Long.BYTES) {
      ByteBuffer target = piece.localSlab(0).slab().buffer();
      target.putLong(piece.localOffset(0), expectedGeneration);
    }
  }
}
