package io.rdmashuffle.store;

import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.Predicate;

/**
 * Index blocks read from peers, least recently used first out, within a budget of heap bytes. All
 * methods may be called from any thread.
 */
public final class IndexBlockCache {
  /** Heap of a key and a map entry beside the block, in bytes; the owner's name is shared. */
  private static final int ENTRY_BYTES = 112;

  private record Key(String owner, int shuffleId, long mapTaskId) {}

  private final long budgetBytes;

  // Guarded by this.
  private final LinkedHashMap<Key, IndexBlock> blocks = new LinkedHashMap<>(16, 0.75f, true);
  private long bytes;

  /**
   * @param budgetBytes most bytes of heap; 0 keeps nothing
   */
  public IndexBlockCache(long budgetBytes) {
    if (budgetBytes < 0) {
      throw new IllegalArgumentException("budgetBytes=" + budgetBytes + " < 0");
    }
    this.budgetBytes = budgetBytes;
  }

  /**
   * The block of a map output, null when it is not here. A block with another generation is
   * dropped, not returned.
   *
   * @param owner executor that holds the map output
   */
  public synchronized IndexBlock get(String owner, int shuffleId, long mapTaskId, long generation) {
    Key key = new Key(owner, shuffleId, mapTaskId);
    IndexBlock block = blocks.get(key);
    if (block != null && block.header().generation() != generation) {
      blocks.remove(key);
      bytes -= size(block);
      return null;
    }
    return block;
  }

  /**
   * Keeps a block, replacing the one there was, if it is whole and fits the budget at all.
   *
   * @return whether it is kept
   */
  public synchronized boolean put(String owner, IndexBlock block) {
    if (!block.isWhole() || size(block) > budgetBytes) {
      return false;
    }
    Key key = new Key(owner, block.header().shuffleId(), block.header().mapTaskId());
    IndexBlock replaced = blocks.put(key, block);
    bytes += size(block) - (replaced == null ? 0 : size(replaced));
    Iterator<IndexBlock> eldest = blocks.values().iterator();
    while (bytes > budgetBytes) {
      bytes -= size(eldest.next());
      eldest.remove();
    }
    return true;
  }

  /** Drops one block, for example because it turned out stale. */
  public synchronized void drop(String owner, int shuffleId, long mapTaskId) {
    IndexBlock dropped = blocks.remove(new Key(owner, shuffleId, mapTaskId));
    bytes -= dropped == null ? 0 : size(dropped);
  }

  /** Drops all blocks of a shuffle. */
  public void dropShuffle(int shuffleId) {
    dropIf(key -> key.shuffleId == shuffleId);
  }

  /** Drops all blocks of an executor. */
  public void dropOwner(String owner) {
    dropIf(key -> key.owner.equals(owner));
  }

  /** Heap taken, in bytes; at most the budget. */
  public synchronized long bytes() {
    return bytes;
  }

  /** Number of blocks. */
  public synchronized int size() {
    return blocks.size();
  }

  private synchronized void dropIf(Predicate<Key> condition) {
    Iterator<Map.Entry<Key, IndexBlock>> entries = blocks.entrySet().iterator();
    while (entries.hasNext()) {
      Map.Entry<Key, IndexBlock> entry = entries.next();
      if (condition.test(entry.getKey())) {
        bytes -= size(entry.getValue());
        entries.remove();
      }
    }
  }

  private static long size(IndexBlock block) {
    return ENTRY_BYTES + block.sizeInBytes();
  }
}
