package io.rdmashuffle.spark.read;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.rdmashuffle.store.BudgetSpentException;
import io.rdmashuffle.store.IndexHeader;
import io.rdmashuffle.store.MapOutput;
import io.rdmashuffle.store.MapOutputBuilder;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.function.Function;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * The real owner and the real reader, one step at a time and in every order: the owner voids an
 * output, gives its memory up, and writes, commits and publishes another in its place, while the
 * reader reads index block, data and generation in pieces, and then once more by the index block it
 * kept. {@code ProtocolModelTest} tries the orders of a weakly ordered memory.
 */
@Timeout(120)
final class EveryOrderOfReadsAndReuseTest {
  /** Room for one output at a time. */
  private static final int MEMORY = 8 << 10;

  private static final int PARTITION = 1_800;
  private static final int OWNER_STEPS = 5;

  /** Two pieces of the index block, two of the data, the generation. */
  private static final int FIRST_FETCH = 5;

  /** Two pieces of the data, the generation. */
  private static final int SECOND_FETCH = 3;

  private TwoExecutors pair;
  private long nextMapTaskId;
  private List<Runnable> ownerSteps = List.of();

  /** Before which step of the reader each step of the owner comes. */
  private int[] order = {};

  private int ownerStep;
  private int readerStep;

  @BeforeEach
  void open() throws Exception {
    pair =
        new TwoExecutors(
            plain -> new SteppedTransport(plain, (key, address, length) -> onReaderStep()),
            MEMORY,
            1);
  }

  @AfterEach
  void close() {
    pair.close();
  }

  /** The next output lies where the old one lay, ends before it, or ends behind it. */
  @ParameterizedTest
  @ValueSource(ints = {PARTITION, PARTITION - 600, PARTITION + 150})
  void eachBlockIsRightOrFoundStaleInEveryOrder(int length) throws Exception {
    runEveryOrder(length, pair::fetch);
  }

  @Test
  void soIsEachBlockThatGoesIntoAFileInEveryOrder(@TempDir Path directory) throws Exception {
    DownloadFiles files = new DownloadFiles(directory, false);
    runEveryOrder(PARTITION, name -> pair.fetchToFiles(files, name));
  }

  private void runEveryOrder(int length, Function<String, Fetch> fetch) throws Exception {
    int orders = 0;
    order = new int[OWNER_STEPS];
    do {
      run(length, fetch);
      orders++;
    } while (advance(order, FIRST_FETCH + SECOND_FETCH));
    assertEquals(1287, orders, "13 over 5");
    pair.assertClean();
  }

  private void run(int length, Function<String, Fetch> fetch) throws Exception {
    MapOutput old = pair.write(1, nextMapTaskId++, PARTITION, PARTITION);
    long successor = nextMapTaskId++;
    long before = deliveredOneSided();
    start(reuse(old, successor, length));
    String name = "shuffle_1_" + old.mapTaskId() + "_0_2";
    fetch.apply(name).assertAllRight(pair::content);
    fetch.apply(name).assertAllRight(pair::content);
    readerStep = Integer.MAX_VALUE - 1;
    onReaderStep(); // what the owner has yet to do
    int expected =
        (order[0] < FIRST_FETCH ? 0 : 1) + (order[0] < FIRST_FETCH + SECOND_FETCH ? 0 : 1);
    assertEquals(expected, deliveredOneSided() - before, () -> Arrays.toString(order));
    assertTrue(pair.store.remove(1, successor));
  }

  @Test
  void anOwnerThatDoesNotVoidIsFoundOut() throws Exception {
    MapOutput old = pair.write(1, 0, PARTITION, PARTITION);
    order = new int[] {FIRST_FETCH - 2};
    start(List.of(() -> scribble(old)));
    Fetch fetch = pair.fetch("shuffle_1_0_0_2");
    assertThrows(AssertionError.class, () -> fetch.assertAllRight(pair::content));
    assertEquals(1, deliveredOneSided());
  }

  private void start(List<Runnable> steps) {
    ownerSteps = steps;
    ownerStep = 0;
    readerStep = 0;
  }

  private void onReaderStep() {
    while (ownerStep < ownerSteps.size() && order[ownerStep] <= readerStep) {
      ownerSteps.get(ownerStep++).run();
    }
    readerStep++;
  }

  private List<Runnable> reuse(MapOutput old, long mapTaskId, int length) {
    assertTrue(old.pin());
    MapOutputBuilder builder = pair.store.begin(1, mapTaskId, 2);
    return List.of(
        () -> pair.store.remove(1, old.mapTaskId()), // voids, the pin keeps the memory
        old::unpin,
        () -> write(builder, mapTaskId, 0, length),
        () -> write(builder, mapTaskId, 1, length),
        () -> publish(builder));
  }

  private void write(MapOutputBuilder builder, long mapTaskId, int partition, int length) {
    byte[] bytes = pair.newPartition(1, mapTaskId, partition, length);
    builder.startPartition(partition);
    try {
      builder.write(bytes, 0, length);
    } catch (BudgetSpentException e) {
      throw new AssertionError("the memory given up is not there", e);
    }
  }

  private void publish(MapOutputBuilder builder) {
    try {
      pair.publish(builder.commit());
    } catch (Exception e) {
      throw new AssertionError(e);
    }
  }

  /** Writes over the first word of the output as if its memory were free. */
  private void scribble(MapOutput output) {
    ByteBuffer memory = pair.memoryOfSlab(output.location().slabId());
    int extent =
        output.location().offset() + output.location().length() - IndexHeader.EXTENT_LENGTH;
    int data = (int) memory.getLong(extent);
    memory.putLong(data + PARTITION, ~memory.getLong(data + PARTITION));
  }

  private long deliveredOneSided() {
    return pair.accounting.snapshot().getOrDefault("blocks.shm", 0L);
  }

  /** The next of the orders in which no step overtakes another; false behind the last. */
  private static boolean advance(int[] order, int last) {
    for (int i = order.length - 1; i >= 0; i--) {
      if (order[i] < last) {
        Arrays.fill(order, i, order.length, order[i] + 1);
        return true;
      }
    }
    return false;
  }
}
