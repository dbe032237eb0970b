package io.rdmashuffle.spark.read;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.rdmashuffle.spark.FallbackReason;
import io.rdmashuffle.spark.read.ManualTransport.ManualConnection;
import io.rdmashuffle.store.ReceiveBuffer;
import io.rdmashuffle.transport.Deadline;
import io.rdmashuffle.transport.FailureKind;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

final class ReadGroupTest {
  private static Deadline soon() {
    return TwoExecutors.soon();
  }

  /** All bytes are those that lie at the peer from the start of its slab on. */
  private static void assertRead(Readings.Ending ending, long length) {
    assertEquals(1, ending.calls);
    assertEquals(null, ending.failure);
    ReceiveBuffer buffer = ending.buffer;
    long position = 0;
    for (var slice : Buffers.slices(buffer, 0, length)) {
      while (slice.hasRemaining()) {
        assertEquals((byte) (1000 + position), slice.get(), "position " + position);
        position++;
      }
    }
    assertEquals(length, position);
    buffer.release();
  }

  @Test
  void splitsLongReadsAndFillsBatches() {
    ManualTransport transport = new ManualTransport("shm");
    try (Readings readings = new Readings(ReaderSide.conf(), transport)) {
      ReadGroup group = readings.group(100, 250, 1, 100, 99, 301);
      ManualConnection connection = new ManualConnection(100);
      assertTrue(group.post(connection, soon()));
      assertEquals(3 + 1 + 1 + 1 + 4, connection.outstandingReads());
      assertEquals(3, connection.outstanding()); // four reads a batch
      connection.completeAll();
      assertRead(readings.ending(0), 751);
      assertEquals(0, readings.receiveBytesInUse());
    }
  }

  @Test
  void readsOverTheEdgesOfFragmentedReceiveMemory() {
    ManualTransport transport = new ManualTransport("shm");
    try (Readings readings = new Readings(ReaderSide.conf(), transport)) {
      List<ReceiveBuffer> taken = new ArrayList<>();
      for (ReceiveBuffer b = take(readings); b != null; b = take(readings)) {
        taken.add(b);
      }
      for (int i = 0; i < taken.size(); i += 2) {
        taken.get(i).release();
      }
      ReadGroup group = readings.group(50_000, 70_000, 200_000, 3);
      ManualConnection connection = new ManualConnection(100);
      assertTrue(group.post(connection, soon()));
      connection.completeAll();
      assertTrue(readings.ending(0).buffer.runCount() > 1);
      assertRead(readings.ending(0), 270_003);
      for (int i = 1; i < taken.size(); i += 2) {
        taken.get(i).release();
      }
      assertEquals(0, readings.receiveBytesInUse());
    }
  }

  private static ReceiveBuffer take(Readings readings) {
    return readings.receivePool.tryAllocate(80_000);
  }

  @Test
  void goesOnWhereItWasPushedBack() {
    for (int room = 1; room <= 4; room++) {
      ManualTransport transport = new ManualTransport("shm");
      try (Readings readings = new Readings(ReaderSide.conf(), transport)) {
        ReadGroup group = readings.group(64, 1000, 7, 128, 64, 65, 1);
        ManualConnection connection = new ManualConnection(room);
        while (!group.post(connection, soon())) {
          assertEquals(room, connection.outstanding());
          assertEquals(0, readings.ending(0).calls);
          connection.complete();
        }
        assertTrue(connection.refusals > 0);
        connection.completeAll();
        assertRead(readings.ending(0), 1265);
        assertEquals(0, readings.receiveBytesInUse());
      }
    }
  }

  @Test
  void givesItsMemoryBackOnlyWhenTheLastBatchIsDone() {
    ManualTransport transport = new ManualTransport("shm");
    try (Readings readings = new Readings(ReaderSide.conf(), transport)) {
      ReadGroup group = readings.group(10, 100);
      ManualConnection connection = new ManualConnection(2);
      assertFalse(group.post(connection, soon()));
      group.fail(FallbackReason.READ_TIMEOUT, "too late to post the rest");
      assertEquals(0, readings.ending(0).calls, "reads in flight still write to the buffer");
      assertNotEquals(0, readings.receiveBytesInUse());
      connection.complete();
      assertEquals(0, readings.ending(0).calls);
      connection.complete();
      assertEquals(1, readings.ending(0).calls);
      assertEquals(FallbackReason.READ_TIMEOUT, readings.ending(0).failure.reason());
      assertFalse(readings.ending(0).failure.isOfConnection());
      assertEquals(0, readings.receiveBytesInUse());
    }
  }

  @Test
  void theFirstFailureIsReportedOnceAfterTheLastBatch() {
    ManualTransport transport = new ManualTransport("shm");
    try (Readings readings = new Readings(ReaderSide.conf(), transport)) {
      ReadGroup group = readings.group(10, 120);
      ManualConnection connection = new ManualConnection(10);
      assertTrue(group.post(connection, soon()));
      connection.complete();
      connection.fail(FailureKind.READ_TIMEOUT);
      assertEquals(0, readings.ending(0).calls);
      connection.flush();
      assertEquals(1, readings.ending(0).calls);
      assertEquals(
          new ReadGroup.Failure(FallbackReason.READ_TIMEOUT, "of the test", true),
          readings.ending(0).failure);
      assertEquals(0, readings.receiveBytesInUse());
    }
  }

  @Test
  void aConnectionThatIsClosedFailsTheGroupWithinPost() {
    ManualTransport transport = new ManualTransport("shm");
    try (Readings readings = new Readings(ReaderSide.conf(), transport)) {
      ReadGroup group = readings.group(10, 120);
      ManualConnection connection = new ManualConnection(10);
      connection.close();
      assertTrue(group.post(connection, soon()));
      assertEquals(FallbackReason.READ_FAILED, readings.ending(0).failure.reason());
      assertEquals(1, readings.ending(0).calls);
      assertEquals(0, readings.receiveBytesInUse());
    }
  }

  @Test
  void receiveMemoryThatTheTransportRefusedFailsTheGroup() {
    ManualTransport transport = new ManualTransport("shm");
    ManualTransport other = new ManualTransport("rdma");
    transport.refusesSlabs = true;
    try (Readings readings = new Readings(ReaderSide.conf(), transport, other)) {
      ReadGroup group = readings.group(10, 120);
      assertTrue(group.post(new ManualConnection(10), soon()));
      assertEquals(1, readings.ending(0).calls);
      assertEquals(FallbackReason.QP_SETUP_FAILED, readings.ending(0).failure.reason());
      assertEquals(0, readings.receiveBytesInUse());
    }
  }

  @Test
  void readsCanBeTakenBack() {
    ManualTransport transport = new ManualTransport("shm");
    try (Readings readings = new Readings(ReaderSide.conf(), transport)) {
      ReadGroup group = readings.group(1000, 10, 20);
      group.add(readings.slab, 30, 500);
      group.add(readings.slab, 30, 500);
      group.truncate(2);
      assertEquals(30, group.totalBytes());
      ManualConnection connection = new ManualConnection(10);
      assertTrue(group.post(connection, soon()));
      connection.completeAll();
      assertRead(readings.ending(0), 30);
    }
  }
}
