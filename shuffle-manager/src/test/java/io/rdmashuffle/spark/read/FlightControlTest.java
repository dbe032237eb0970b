package io.rdmashuffle.spark.read;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.rdmashuffle.spark.FallbackReason;
import io.rdmashuffle.spark.read.ManualTransport.ManualConnection;
import io.rdmashuffle.transport.FailureKind;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
final class FlightControlTest {
  private final ManualTransport transport = new ManualTransport("shm");
  private final AtomicLong bytesToAll = new AtomicLong();
  private final ManualConnection connection = new ManualConnection(100);
  private Readings readings =
      new Readings(
          ReaderSide.conf(
              "readChunkSize", "4k",
              "maxBytesInFlightPerPeer", "10k",
              "maxBytesInFlight", "16k",
              "maxReadsInFlightPerPeer", "8"),
          transport);
  private FlightControl control = new FlightControl(readings.services, bytesToAll);

  @AfterEach
  void everythingIsBack() {
    readings.endings.forEach(
        ending -> {
          assertEquals(1, ending.calls);
          if (ending.buffer != null) {
            ending.buffer.release();
          }
        });
    assertEquals(0, readings.receiveBytesInUse());
    assertEquals(0, bytesToAll.get());
    readings.close();
  }

  private void submit(FlightControl to, ManualConnection over, int... lengths) {
    to.submit(readings.group(4096, lengths), over);
  }

  @Test
  void boundsBytesAndKeepsOrder() {
    for (int i = 0; i < 5; i++) {
      submit(control, connection, 4000);
    }
    assertEquals(2, connection.outstanding());
    connection.complete();
    assertEquals(1, readings.ending(0).calls);
    assertEquals(2, connection.outstanding());
    connection.completeAll();
  }

  @Test
  void boundsReads() {
    submit(control, connection, 1, 1, 1, 1, 1);
    submit(control, connection, 1, 1, 1);
    submit(control, connection, 1);
    assertEquals(8, connection.outstandingReads());
    connection.completeAll();
  }

  @Test
  void aSmallGroupDoesNotOvertakeALargeOne() {
    submit(control, connection, 4000);
    submit(control, connection, 4000, 4000);
    submit(control, connection, 1);
    assertEquals(1, connection.outstanding());
    connection.completeAll();
  }

  @Test
  void aGroupBeyondTheBoundsFliesAlone() {
    submit(control, connection, 1);
    submit(control, connection, 100_000);
    submit(control, connection, 1);
    assertEquals(1, connection.outstanding());
    connection.complete();
    assertEquals(25, connection.outstandingReads());
    connection.completeAll();
  }

  @Test
  void boundsBytesToAllPeersButLetsEachHaveOneGroup() {
    FlightControl other = new FlightControl(readings.services, bytesToAll);
    ManualConnection toOther = new ManualConnection(100);
    submit(control, connection, 5000);
    submit(control, connection, 5000);
    submit(other, toOther, 5000);
    submit(other, toOther, 5000);
    assertEquals(2, connection.outstanding());
    assertEquals(1, toOther.outstanding());
    connection.completeAll();
    toOther.completeAll();
  }

  @Test
  void aGroupWithMoreBatchesThanTheConnectionTakesGoesOnByItself() {
    ManualConnection narrow = new ManualConnection(2);
    submit(control, narrow, 100_000); // 25 reads, 7 batches
    assertEquals(2, narrow.outstanding());
    for (int i = 0; i < 7; i++) {
      narrow.complete();
    }
    assertEquals(1, readings.ending(0).calls);
    assertEquals(null, readings.ending(0).failure);
  }

  @Test
  void aGroupThatFailsWhilePushedBackLeavesNoTrace() {
    ManualConnection narrow = new ManualConnection(2);
    submit(control, narrow, 100_000);
    submit(control, narrow, 5);
    narrow.fail(FailureKind.READ_FAILED);
    assertEquals(0, readings.ending(0).calls, "a batch is still out");
    narrow.flush();
    assertEquals(FallbackReason.READ_FAILED, readings.ending(0).failure.reason());
    assertEquals(FallbackReason.READ_FAILED, readings.ending(1).failure.reason());
    // All the room is there again, over a new connection.
    submit(control, connection, 5000);
    submit(control, connection, 5000);
    assertEquals(4, connection.outstandingReads());
    connection.completeAll();
  }

  @Test
  void groupsInTheQueueFailWhenTheConnectionIsClosed() {
    submit(control, connection, 9000);
    submit(control, connection, 9000);
    connection.close();
    control.pump();
    assertEquals(FallbackReason.READ_FAILED, readings.ending(1).failure.reason());
    assertEquals(false, readings.ending(1).failure.isOfConnection());
    connection.flush();
  }

  @Test
  void aGroupThatWaitedTooLongFailsAndIsNoFaultOfTheConnection() {
    readings.close();
    readings =
        new Readings(
            ReaderSide.conf(
                "readChunkSize", "4k",
                "maxBytesInFlightPerPeer", "10k",
                "maxBytesInFlight", "16k",
                "read.timeout", "10ms"),
            transport);
    control = new FlightControl(readings.services, bytesToAll);
    submit(control, connection, 9000);
    submit(control, connection, 9000);
    while (readings.ending(1).calls == 0) {
      LockSupport.parkNanos(1_000_000);
      control.pump();
    }
    assertEquals(FallbackReason.READ_TIMEOUT, readings.ending(1).failure.reason());
    assertEquals(false, readings.ending(1).failure.isOfConnection());
    assertEquals(true, connection.isOpen());
    connection.completeAll();
  }
}
