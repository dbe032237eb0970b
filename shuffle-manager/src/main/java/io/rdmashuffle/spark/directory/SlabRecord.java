package io.rdmashuffle.spark.directory;

import io.rdmashuffle.store.SlabDescriptor;
import java.util.HashMap;
import java.util.Map;

/**
 * One slab of an executor, as its peers need to know it. Immutable.
 *
 * @param slabId number of the slab, unique within its executor, not negative
 * @param length length of the slab in bytes
 * @param keys transport name to the slab's key there; empty when no transport registered it
 */
public record SlabRecord(int slabId, long length, Map<String, SlabKey> keys) {
  public SlabRecord {
    Bounds.check(slabId >= 0, "slabId=%d is negative", slabId);
    Bounds.check(slabId != Located.IN_FILES, "slabId=%d is no slab", slabId);
    Bounds.check(length > 0, "slabLength=%d is not positive", length);
    Bounds.checkTransports(keys.keySet());
    keys = Map.copyOf(keys);
  }

  /** What the owner's own description of a slab says. */
  public static SlabRecord of(SlabDescriptor slab) {
    Map<String, SlabKey> keys = new HashMap<>();
    for (SlabDescriptor.Registration registration : slab.registrations()) {
      keys.put(
          registration.transport(),
          new SlabKey(registration.remoteAddress(), registration.remoteKey()));
    }
    return new SlabRecord(slab.slabId(), slab.length(), keys);
  }

  /** The slab's key for a transport, or null when that transport did not register it. */
  public SlabKey key(String transport) {
    return keys.get(transport);
  }

  /** Id, length and names of the transports; no key. */
  @Override
  public String toString() {
    return "slab " + slabId + " of " + length + " bytes over " + keys.keySet();
  }
}
