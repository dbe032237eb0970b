package io.rdmashuffle.jobs;

import java.io.Serializable;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;

/**
 * A result as counts and digests, so that gigabytes can be compared across applications.
 *
 * @param parts for an ordered result one per partition, in order; for a multiset exactly one
 */
public record ResultDigest(boolean ordered, List<PartDigest> parts) implements Serializable {

  /** Copies the list. */
  public ResultDigest {
    parts = List.copyOf(parts);
  }

  /** A result whose order is defined within and across partitions. */
  public static ResultDigest ordered(List<PartDigest> parts) {
    List<PartDigest> sorted = new ArrayList<>(parts);
    sorted.sort(Comparator.comparingInt(PartDigest::partition));
    return new ResultDigest(true, sorted);
  }

  /** A result without order: which partition holds a record does not matter either. */
  public static ResultDigest multiset(List<PartDigest> parts) {
    long records = 0;
    long hash1 = 0;
    long hash2 = 0;
    for (PartDigest part : parts) {
      records += part.records();
      // An empty partition's sum is its seed; taking it off makes the sum independent of how many
      // partitions there are.
      PartDigest empty = new RecordHash(false).toDigest(0);
      hash1 += part.hash1() - empty.hash1();
      hash2 += part.hash2() - empty.hash2();
    }
    return new ResultDigest(false, List.of(new PartDigest(0, records, hash1, hash2)));
  }

  /** How many records the result has. */
  public long records() {
    return parts.stream().mapToLong(PartDigest::records).sum();
  }

  /** Empty when equal, else the first difference in words. */
  public Optional<String> differenceFrom(ResultDigest expected) {
    if (equals(expected)) {
      return Optional.empty();
    }
    if (records() != expected.records()) {
      return Optional.of(records() + " records, expected " + expected.records());
    }
    if (parts.size() != expected.parts.size()) {
      return Optional.of(parts.size() + " partitions, expected " + expected.parts.size());
    }
    for (int i = 0; i < parts.size(); i++) {
      if (!parts.get(i).equals(expected.parts.get(i))) {
        return Optional.of(
            "partition %d has %d records with digest %016x, expected %d with %016x"
                .formatted(
                    i,
                    parts.get(i).records(),
                    parts.get(i).hash1(),
                    expected.parts.get(i).records(),
                    expected.parts.get(i).hash1()));
      }
    }
    return Optional.of("ordered and unordered results cannot be compared");
  }
}
