package io.rdmashuffle.jobs;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class ResultDigestTest {
  @Test
  void aMultisetDoesNotDependOnOrderOrPartitions() {
    ResultDigest one = ResultDigest.multiset(List.of(part(0, false, "a", "b", "c")));
    ResultDigest two =
        ResultDigest.multiset(List.of(part(0, false, "c"), part(1, false, "b", "a")));
    assertEquals(Optional.empty(), one.differenceFrom(two));
  }

  @Test
  void aMultisetCountsDuplicates() {
    ResultDigest once = ResultDigest.multiset(List.of(part(0, false, "a", "b")));
    ResultDigest twice = ResultDigest.multiset(List.of(part(0, false, "a", "a")));
    assertTrue(once.differenceFrom(twice).isPresent());
  }

  @Test
  void anOrderedResultDependsOnOrder() {
    ResultDigest up = ResultDigest.ordered(List.of(part(0, true, "a", "b")));
    ResultDigest down = ResultDigest.ordered(List.of(part(0, true, "b", "a")));
    assertTrue(up.differenceFrom(down).orElseThrow().contains("partition 0"));
  }

  @Test
  void partitionsMayArriveInAnyOrder() {
    PartDigest first = part(0, true, "a");
    PartDigest second = part(1, true, "b");
    assertEquals(
        ResultDigest.ordered(List.of(first, second)), ResultDigest.ordered(List.of(second, first)));
  }

  @Test
  void aMissingRecordIsNamedByCount() {
    ResultDigest all = ResultDigest.ordered(List.of(part(0, true, "a", "b")));
    ResultDigest fewer = ResultDigest.ordered(List.of(part(0, true, "a")));
    assertEquals("1 records, expected 2", fewer.differenceFrom(all).orElseThrow());
  }

  private static PartDigest part(int index, boolean ordered, String... records) {
    RecordHash hash = new RecordHash(ordered);
    for (String record : records) {
      hash.add(record);
    }
    return hash.toDigest(index);
  }
}
