package io.rdmashuffle.spark.directory;

import io.rdmashuffle.transport.PeerIdentity;
import java.util.Arrays;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;

/**
 * What peers need to know of an executor: its name, the token its proofs are made with, how each of
 * its transports is reached, and its slabs. Immutable; arrays are copied on the way in and out.
 */
public final class ExecutorRecord {
  private final String executorId;
  private final String host;
  private final byte[] token;
  private final Map<String, byte[]> endpoints;
  private final List<SlabRecord> slabs;

  /**
   * @param token {@link PeerIdentity#TOKEN_LENGTH} random bytes
   * @param endpoints transport name to that transport's {@code localEndpoint()}
   * @param slabs in any order, no two with the same id
   * @throws IllegalArgumentException when an argument exceeds its bound
   */
  public ExecutorRecord(
      String executorId,
      String host,
      byte[] token,
      Map<String, byte[]> endpoints,
      Collection<SlabRecord> slabs) {
    Bounds.checkName("executor id", executorId);
    Bounds.checkName("host", host);
    Bounds.check(token.length == PeerIdentity.TOKEN_LENGTH, "tokenLength=%d", token.length);
    Bounds.checkTransports(endpoints.keySet());
    this.executorId = executorId;
    this.host = host;
    this.token = token.clone();
    this.endpoints = copyEndpoints(endpoints);
    this.slabs = sortedById(slabs);
  }

  private static Map<String, byte[]> copyEndpoints(Map<String, byte[]> endpoints) {
    Map<String, byte[]> copy = new TreeMap<>();
    endpoints.forEach(
        (name, endpoint) -> {
          Bounds.check(
              endpoint.length <= Bounds.MAX_ENDPOINT_BYTES,
              "endpointLength=%d > %d",
              endpoint.length,
              Bounds.MAX_ENDPOINT_BYTES);
          copy.put(name, endpoint.clone());
        });
    return copy;
  }

  private static List<SlabRecord> sortedById(Collection<SlabRecord> slabs) {
    Bounds.check(slabs.size() <= Bounds.MAX_SLABS, "slabs=%d > %d", slabs.size(), Bounds.MAX_SLABS);
    SlabRecord[] sorted = slabs.toArray(new SlabRecord[0]);
    Arrays.sort(sorted, Comparator.comparingInt(SlabRecord::slabId));
    for (int i = 1; i < sorted.length; i++) {
      int slabId = sorted[i].slabId();
      Bounds.check(slabId != sorted[i - 1].slabId(), "slabId=%d comes twice", slabId);
    }
    return List.of(sorted);
  }

  /** The same executor with other slabs. */
  ExecutorRecord withSlabs(Collection<SlabRecord> otherSlabs) {
    return new ExecutorRecord(executorId, host, token, endpoints, otherSlabs);
  }

  public String executorId() {
    return executorId;
  }

  public String host() {
    return host;
  }

  /** A copy of the token. */
  public byte[] token() {
    return token.clone();
  }

  boolean hasToken(byte[] other) {
    return Arrays.equals(token, other);
  }

  /** Names of the transports this executor can be reached over, sorted. */
  public Collection<String> transports() {
    return List.copyOf(endpoints.keySet());
  }

  /** A copy of the endpoint of a transport, or null when the executor has none there. */
  public byte[] endpoint(String transport) {
    byte[] endpoint = endpoints.get(transport);
    return endpoint == null ? null : endpoint.clone();
  }

  /** All slabs, by ascending id. */
  public List<SlabRecord> slabs() {
    return slabs;
  }

  /** The slab with that id, or null. Allocates nothing. */
  public SlabRecord slab(int slabId) {
    int low = 0;
    int high = slabs.size() - 1;
    while (low <= high) {
      int middle = (low + high) >>> 1;
      SlabRecord slab = slabs.get(middle);
      if (slab.slabId() == slabId) {
        return slab;
      } else if (slab.slabId() < slabId) {
        low = middle + 1;
      } else {
        high = middle - 1;
      }
    }
    return null;
  }

  /** Roughly what this record takes on the heap, for budgets. */
  long heapBytes() {
    long bytes = 256 + 2L * (executorId.length() + host.length());
    for (byte[] endpoint : endpoints.values()) {
      bytes += 96 + endpoint.length;
    }
    for (SlabRecord slab : slabs) {
      bytes += 96 + 64L * slab.keys().size();
    }
    return bytes;
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof ExecutorRecord that
        && executorId.equals(that.executorId)
        && host.equals(that.host)
        && Arrays.equals(token, that.token)
        && endpoints.keySet().equals(that.endpoints.keySet())
        && endpoints.entrySet().stream()
            .allMatch(e -> Arrays.equals(e.getValue(), that.endpoints.get(e.getKey())))
        && slabs.equals(that.slabs);
  }

  @Override
  public int hashCode() {
    return Objects.hash(executorId, host);
  }

  /** Names and counts; never the token, an endpoint or a key. */
  @Override
  public String toString() {
    return "executor "
        + executorId
        + " on "
        + host
        + " over "
        + endpoints.keySet()
        + " with "
        + slabs.size()
        + " slabs";
  }
}
