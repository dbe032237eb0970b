package io.rdmashuffle.spark.read;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.rdmashuffle.store.ReceiveBuffer;
import io.rdmashuffle.transport.Connection;
import io.rdmashuffle.transport.FailureKind;
import io.rdmashuffle.transport.PeerIdentity;
import io.rdmashuffle.transport.ReadBatch;
import io.rdmashuffle.transport.ReadListener;
import io.rdmashuffle.transport.TransportException;
import java.util.Random;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Groups posted by several threads over a narrow connection that ends batches on its own. */
@Timeout(120)
final class FlightControlStressTest {
  private static final int THREADS = 3;
  private static final int GROUPS = 2_000;

  private record Offer(ReadBatch batch, ReadListener listener) {}

  /** Takes three batches at a time; breaks now and then, and flushes what is behind. */
  private static final class Narrow implements Connection {
    private final BlockingQueue<Offer> offers = new ArrayBlockingQueue<>(3);
    private boolean isOpen = true; // guarded by this

    @Override
    public PeerIdentity peer() {
      return null;
    }

    @Override
    public synchronized boolean isOpen() {
      return isOpen;
    }

    @Override
    public boolean offer(ReadBatch batch, ReadListener listener) {
      synchronized (this) {
        if (isOpen) {
          return offers.offer(new Offer(batch, listener));
        }
      }
      listener.onFailure(batch, new TransportException(FailureKind.CLOSED, "closed"));
      return true;
    }

    /** Ends what is out until nothing comes any more. */
    void work(Random random, int breaksOneIn) throws InterruptedException {
      for (Offer o = offers.poll(); o != null; o = offers.poll(5, TimeUnit.MILLISECONDS)) {
        if (!isOpen() || random.nextInt(breaksOneIn) == 0) {
          close();
          o.listener().onFailure(o.batch(), new TransportException(FailureKind.READ_FAILED, "no"));
        } else {
          o.listener().onComplete(o.batch());
        }
      }
    }

    @Override
    public synchronized void close() {
      isOpen = false;
    }
  }

  @Test
  void everyGroupEndsOnceAndGivesEverythingBack() throws Exception {
    long seed = Long.getLong("test.seed", System.nanoTime());
    System.out.println("everyGroupEndsOnceAndGivesEverythingBack seed=" + seed);
    AtomicLong bytesToAll = new AtomicLong();
    AtomicInteger doubles = new AtomicInteger();
    CountDownLatch left = new CountDownLatch(THREADS * GROUPS);
    AtomicReference<Narrow> connection = new AtomicReference<>(new Narrow());
    try (Readings readings =
        new Readings(
            ReaderSide.conf(
                "readChunkSize", "4k",
                "maxBytesInFlightPerPeer", "64k",
                "maxBytesInFlight", "64k",
                "maxReadsInFlightPerPeer", "16"),
            new ManualTransport("shm"))) {
      FlightControl control = new FlightControl(readings.services, bytesToAll);
      for (int t = 0; t < THREADS; t++) {
        Random random = new Random(seed + t);
        new Thread(() -> submit(readings, control, connection, random, left, doubles)).start();
      }
      Random random = new Random(seed);
      while (left.getCount() > 0) {
        Narrow current = connection.get();
        current.work(random, 200);
        if (!current.isOpen()) {
          connection.set(new Narrow());
          current.work(random, 1); // what was offered before it broke
          control.pump();
        }
      }
      assertTrue(left.await(1, TimeUnit.SECONDS));
      assertEquals(0, doubles.get());
      assertEquals(0, bytesToAll.get());
      assertEquals(0, readings.receiveBytesInUse());
    }
  }

  private static void submit(
      Readings readings,
      FlightControl control,
      AtomicReference<Narrow> connection,
      Random random,
      CountDownLatch left,
      AtomicInteger doubles) {
    for (int i = 0; i < GROUPS; i++) {
      int[] lengths = random.ints(1 + random.nextInt(20), 1, 5_000).toArray();
      AtomicInteger calls = new AtomicInteger();
      ReadGroup.Outcome outcome =
          new ReadGroup.Outcome() {
            @Override
            public void onRead(ReceiveBuffer buffer) {
              buffer.release();
              end();
            }

            @Override
            public void onFailure(ReadGroup.Failure failure) {
              end();
            }

            @Override
            public void onError(Throwable error) {
              throw new AssertionError(error);
            }

            private void end() {
              if (calls.incrementAndGet() > 1) {
                doubles.incrementAndGet();
              }
              left.countDown();
            }
          };
      ReadGroup group = readings.groupWithoutMemory(outcome, 4096, lengths);
      ReceiveBuffer buffer = readings.receivePool.tryAllocate(group.totalBytes());
      while (buffer == null) {
        LockSupport.parkNanos(100_000);
        buffer = readings.receivePool.tryAllocate(group.totalBytes());
      }
      group.useBuffer(buffer);
      control.submit(group, connection.get());
    }
  }
}
