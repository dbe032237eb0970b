package io.rdmashuffle.spark.read;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import org.apache.spark.network.buffer.ManagedBuffer;
import org.apache.spark.network.shuffle.BlockFetchingListener;

/** What one request was told of each block, with the bytes as the listener found them. */
final class Fetch implements BlockFetchingListener {
  private static final long PATIENCE_SECONDS = 30;

  final List<ManagedBuffer> kept = new ArrayList<>();
  private final Map<String, List<Object>> told = new ConcurrentHashMap<>();
  private final CountDownLatch left;
  private final boolean keeps;

  /**
   * @param keeps whether to retain the buffers, as a task does that has not come to them yet
   */
  Fetch(String[] names, boolean keeps) {
    this.keeps = keeps;
    left = new CountDownLatch(names.length);
    for (String name : names) {
      told.put(name, new ArrayList<>());
    }
  }

  @Override
  public void onBlockFetchSuccess(String blockId, ManagedBuffer data) {
    try (var in = data.createInputStream()) {
      tell(blockId, in.readAllBytes());
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    if (keeps) {
      synchronized (kept) {
        kept.add(data.retain());
      }
    }
    left.countDown();
  }

  @Override
  public void onBlockFetchFailure(String blockId, Throwable failure) {
    tell(blockId, failure);
    left.countDown();
  }

  private void tell(String blockId, Object what) {
    List<Object> all = told.get(blockId);
    synchronized (all) {
      all.add(what);
    }
  }

  /** Waits until as many calls came as there are blocks. */
  Fetch await() {
    try {
      assertTrue(left.await(PATIENCE_SECONDS, TimeUnit.SECONDS), () -> "missing: " + missing());
    } catch (InterruptedException e) {
      throw new AssertionError(e);
    }
    return this;
  }

  private List<String> missing() {
    return told.entrySet().stream()
        .filter(entry -> entry.getValue().isEmpty())
        .map(Map.Entry::getKey)
        .sorted()
        .toList();
  }

  boolean isTold(String name) {
    return !told.get(name).isEmpty();
  }

  /** Each block came once, with the right bytes. */
  Fetch assertAllRight(Function<String, byte[]> content) {
    await();
    told.forEach(
        (name, all) -> {
          assertEquals(1, all.size(), name);
          if (all.get(0) instanceof Throwable failure) {
            throw new AssertionError(name + " failed", failure);
          }
          assertArrayEquals(content.apply(name), (byte[]) all.get(0), name);
        });
    return this;
  }

  /** Each block failed, and was told so once. */
  void assertAllFailed() {
    await();
    told.forEach(
        (name, all) -> {
          assertEquals(1, all.size(), name);
          assertTrue(all.get(0) instanceof Throwable, name);
        });
  }

  /** Bytes of all blocks. */
  long bytes() {
    return told.values().stream().mapToLong(all -> ((byte[]) all.get(0)).length).sum();
  }

  /** Lets go of the buffers that were kept. */
  void release() {
    synchronized (kept) {
      kept.forEach(ManagedBuffer::release);
      kept.clear();
    }
  }
}
