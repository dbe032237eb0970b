package io.rdmashuffle.transport.verbs;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.rdmashuffle.transport.Access;
import io.rdmashuffle.transport.Connection;
import io.rdmashuffle.transport.Outcome;
import io.rdmashuffle.transport.ReadBatch;
import io.rdmashuffle.transport.RegisteredSlab;
import io.rdmashuffle.transport.TransportNode;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * The promise on which the check of a generation behind its data rests, with an owner that rewrites
 * at the pace of the device: at a fixed pace a slow one would never find a generation whole.
 */
@Tag("rxe")
@Timeout(600)
final class ReadOrderTest {
  private static final int GENERATION = VerbsNodes.DATA;
  private static final int WORDS = GENERATION + 8;
  private static final int LENGTH = 32 * 1024;
  private static final int WANTED = 50;

  private final VerbsNodes nodes = new VerbsNodes();

  @AfterEach
  void closeNodes() throws Exception {
    nodes.close();
  }

  @Test
  void aLaterReadOfABatchSeesMemoryNoOlderThanAnEarlierOne() throws Exception {
    TransportNode owner = nodes.open("owner");
    TransportNode reader = nodes.open("reader");
    RegisteredSlab source = owner.addSlab(VerbsNodes.SLAB_LENGTH, Access.REMOTE_READ);
    RegisteredSlab target = reader.addSlab(VerbsNodes.SLAB_LENGTH, Access.LOCAL_WRITE);
    Connection connection = VerbsNodes.connect(reader, owner);
    long startNs = System.nanoTime();
    for (int i = 0; i < 20; i++) {
      readDataThenGeneration(connection, source, target);
    }
    long readNs = (System.nanoTime() - startNs) / 20;
    AtomicBoolean isOver = new AtomicBoolean();
    Thread writer = new Thread(() -> rewrite(source.slab().buffer(), 3 * readNs, isOver), "writer");
    writer.start();
    int whole = 0;
    int torn = 0;
    long endNs = System.nanoTime() + TimeUnit.SECONDS.toNanos(60);
    try {
      while ((whole < WANTED || torn < WANTED) && System.nanoTime() - endNs < 0) {
        long before = readGeneration(connection, source, target);
        readDataThenGeneration(connection, source, target);
        if (isWhole(target.slab().buffer(), before)) {
          whole++;
        } else {
          torn++;
        }
      }
    } finally {
      isOver.set(true);
      writer.join();
    }
    assertTrue(whole >= 10 && torn >= 10, "whole=" + whole + " torn=" + torn);
  }

  /** False when the generation changed meanwhile; fails when that went unnoticed. */
  private static boolean isWhole(ByteBuffer buffer, long before) {
    if (before == 0 || buffer.getLong(GENERATION) != before) {
      return false;
    }
    for (int at = WORDS; at < WORDS + LENGTH; at += 8) {
      assertEquals(before, buffer.getLong(at), "stale word at " + at);
    }
    return true;
  }

  private static long readGeneration(
      Connection connection, RegisteredSlab source, RegisteredSlab target) {
    ReadBatch batch = new ReadBatch(1).reset(VerbsNodes.soon());
    batch.add(source.remoteAddress() + GENERATION, source.remoteKey(), 8, target, GENERATION);
    await(connection, batch);
    return target.slab().buffer().getLong(GENERATION);
  }

  private static void readDataThenGeneration(
      Connection connection, RegisteredSlab source, RegisteredSlab target) {
    ReadBatch batch = new ReadBatch(2).reset(VerbsNodes.soon());
    batch.add(source.remoteAddress() + WORDS, source.remoteKey(), LENGTH, target, WORDS);
    batch.add(source.remoteAddress() + GENERATION, source.remoteKey(), 8, target, GENERATION);
    await(connection, batch);
  }

  private static void await(Connection connection, ReadBatch batch) {
    Outcome outcome = new Outcome();
    assertTrue(connection.offer(batch, outcome));
    assertNull(outcome.await());
  }

  /** Voids the generation, rewrites, states the next, as an owner that reuses memory does. */
  private static void rewrite(ByteBuffer buffer, long pauseNs, AtomicBoolean isOver) {
    for (long generation = 1; !isOver.get(); generation++) {
      buffer.putLong(GENERATION, 0);
      VarHandle.fullFence();
      for (int at = WORDS; at < WORDS + LENGTH; at += 8) {
        buffer.putLong(at, generation);
      }
      VarHandle.fullFence();
      buffer.putLong(GENERATION, generation);
      LockSupport.parkNanos(pauseNs);
    }
  }
}
