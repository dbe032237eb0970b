package io.rdmashuffle.transport.sharedmemory;

import io.rdmashuffle.transport.PeerIdentity;
import io.rdmashuffle.transport.ProcFileSystem;
import io.rdmashuffle.transport.ProcessIdentity;
import io.rdmashuffle.transport.SlabFile;
import java.io.IOException;
import java.util.concurrent.atomic.LongAdder;

/**
 * The memory of one peer: its slabs that are mapped here, found by key, and its files. A slab is
 * mapped when it is first read. Lookups take no lock: the table, open-addressed and never full, is
 * replaced and not changed. A peer has few slabs, so copying it costs nothing worth saving.
 */
final class PeerSlabs {
  private static final int INITIAL_CAPACITY = 16;

  private final PeerIdentity peer;
  private final ProcessIdentity process;
  private final LongAdder mappingCount;

  private volatile PeerSlab[] table = new PeerSlab[INITIAL_CAPACITY];

  // Guarded by this.
  private int size;
  private boolean isClosed;

  PeerSlabs(PeerIdentity peer, ProcessIdentity process, LongAdder mappingCount) {
    this.peer = peer;
    this.process = process;
    this.mappingCount = mappingCount;
  }

  /**
   * The slab with that key, held for the caller, who releases it.
   *
   * @throws IOException when the key is that of no slab of the peer, or it cannot be mapped
   */
  PeerSlab hold(int key) throws IOException {
    PeerSlab slab = find(table, key);
    if (slab != null && slab.hold()) {
      if (slab.isLiving()) {
        return slab;
      }
      slab.release();
    }
    return map(key);
  }

  /** A data file that the peer has open, opened for the caller, who releases it. */
  PeerFile openFile(int key) throws IOException {
    return new PeerFile(process, key, mappingCount);
  }

  synchronized void close() {
    isClosed = true;
    for (PeerSlab slab : table) {
      if (slab != null) {
        slab.release();
      }
    }
    table = new PeerSlab[1];
    size = 0;
  }

  private synchronized PeerSlab map(int key) throws IOException {
    if (isClosed) {
      throw new IOException("the connection was closed");
    }
    PeerSlab known = find(table, key);
    if (known != null) {
      if (known.isLiving()) { // another thread mapped it; the table's hold keeps it
        known.hold();
        return known;
      }
      replace(known, null);
    }
    PeerSlab slab =
        new PeerSlab(
            key,
            SlabFile.map(ProcFileSystem.SYSTEM.descriptor(process.pid(), key), peer),
            mappingCount);
    slab.hold();
    replace(null, slab);
    return slab;
  }

  /** Builds a table without {@code removed} and with {@code added}, either may be null. */
  private void replace(PeerSlab removed, PeerSlab added) {
    PeerSlab[] old = table;
    size += (added == null ? 0 : 1) - (removed == null ? 0 : 1);
    PeerSlab[] successor = new PeerSlab[2 * size > old.length ? 2 * old.length : old.length];
    for (PeerSlab slab : old) {
      if (slab != null && slab != removed) {
        put(successor, slab);
      }
    }
    if (added != null) {
      put(successor, added);
    }
    table = successor;
    if (removed != null) {
      removed.release();
    }
  }

  private static PeerSlab find(PeerSlab[] table, int key) {
    int mask = table.length - 1;
    for (int i = key & mask; table[i] != null; i = (i + 1) & mask) {
      if (table[i].key() == key) {
        return table[i];
      }
    }
    return null;
  }

  private static void put(PeerSlab[] table, PeerSlab slab) {
    int mask = table.length - 1;
    int i = slab.key() & mask;
    while (table[i] != null) {
      i = (i + 1) & mask;
    }
    table[i] = slab;
  }
}
