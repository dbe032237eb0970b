package io.rdmashuffle.spark.read;

import io.rdmashuffle.spark.directory.OutputRecord;
import io.rdmashuffle.store.BlockStore;
import io.rdmashuffle.store.BudgetSpentException;
import io.rdmashuffle.store.IndexLocation;
import io.rdmashuffle.store.MapOutput;
import io.rdmashuffle.store.MapOutputBuilder;
import io.rdmashuffle.store.SlabDescriptor;
import io.rdmashuffle.store.SlabPool;
import io.rdmashuffle.transport.Access;
import io.rdmashuffle.transport.PeerIdentity;
import io.rdmashuffle.transport.SlabFactory;
import io.rdmashuffle.transport.Transport;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.HexFormat;
import java.util.Random;
import java.util.concurrent.locks.LockSupport;

/**
 * A process that writes map outputs over and over into memory that is too small for them, and
 * removes as many: real store, real index blocks, no quarantine. Ends with its standard input.
 * Arguments: directory, transport, seed, most microseconds between two outputs.
 */
final class TortureOwner {
  static final String EXECUTOR = "owner";

  private final TortureBoard board;
  private final BlockStore store;
  private final Random random;
  private final long longestPauseNs;
  private final long[] mapTaskIds = new long[TortureBoard.SLOTS];
  private final ByteBuffer block = ByteBuffer.allocate(1 << 16);
  private long nextMapTaskId = 1;

  private TortureOwner(TortureBoard board, BlockStore store, Random random, long longestPauseNs) {
    this.board = board;
    this.store = store;
    this.random = random;
    this.longestPauseNs = longestPauseNs;
  }

  public static void main(String[] arguments) throws Exception {
    TortureSetting setting = new TortureSetting(Path.of(arguments[0]), arguments[1]);
    PeerIdentity self = TortureSetting.identity(EXECUTOR);
    SlabFactory slabs = TortureSetting.slabs(self);
    try (Transport transport = setting.open(self, slabs)) {
      SlabPool pool =
          ReaderSide.pool("outputs", slabs, transport, Access.REMOTE_READ, ReaderSide.SLAB_LENGTH);
      try (BlockStore store = new BlockStore(pool)) {
        pool.free(pool.allocate(1, 1)); // so that there is the slab to tell of
        greet(setting.greeting(), transport, pool.slabTable().slabs().get(0));
        new TortureOwner(
                new TortureBoard(setting.board()),
                store,
                new Random(Long.parseLong(arguments[2])),
                1000 * Long.parseLong(arguments[3]))
            .run();
      }
    }
  }

  private static void greet(Path file, Transport transport, SlabDescriptor slab)
      throws IOException {
    SlabDescriptor.Registration registration = slab.registrations().get(0);
    Path draft = file.resolveSibling("draft");
    Files.writeString(
        draft,
        String.join(
            " ",
            HexFormat.of().formatHex(transport.localEndpoint()),
            Integer.toString(slab.slabId()),
            Integer.toString(slab.length()),
            Long.toString(registration.remoteAddress()),
            Integer.toString(registration.remoteKey())));
    Files.move(draft, file, StandardCopyOption.ATOMIC_MOVE);
  }

  private void run() throws IOException {
    Thread parent = new Thread(TortureOwner::awaitEndOfInput, "parent");
    parent.setDaemon(true);
    parent.start();
    while (parent.isAlive()) {
      replace(random.nextInt(TortureBoard.SLOTS));
      LockSupport.parkNanos((long) (random.nextDouble() * longestPauseNs));
    }
    System.out.println("outputs=" + nextMapTaskId);
  }

  private static void awaitEndOfInput() {
    try {
      while (System.in.read() >= 0) {
        // until the test has had enough
      }
    } catch (IOException e) {
      return; // the same
    }
  }

  /** Publishes a new output in a slot, and removes what was there before or after. */
  private void replace(int slot) {
    if (random.nextBoolean()) {
      remove(slot);
    }
    MapOutput output = write(nextMapTaskId++);
    remove(slot);
    mapTaskIds[slot] = output.mapTaskId();
    IndexLocation location = output.location();
    board.write(
        slot,
        new OutputRecord(
            TortureBlocks.SHUFFLE_ID,
            output.mapTaskId(),
            location.slabId(),
            location.offset(),
            location.length(),
            location.generation()));
  }

  private void remove(int slot) {
    store.remove(TortureBlocks.SHUFFLE_ID, mapTaskIds[slot]);
    mapTaskIds[slot] = 0;
  }

  private MapOutput write(long mapTaskId) {
    while (true) {
      try (MapOutputBuilder builder =
          store.begin(TortureBlocks.SHUFFLE_ID, mapTaskId, TortureBlocks.PARTITIONS)) {
        for (int partition = 0; partition < TortureBlocks.PARTITIONS; partition++) {
          block.clear();
          TortureBlocks.fill(block, mapTaskId, partition);
          builder.startPartition(partition);
          builder.write(block.flip());
        }
        return builder.commit();
      } catch (BudgetSpentException e) {
        remove(random.nextInt(TortureBoard.SLOTS));
      }
    }
  }
}
