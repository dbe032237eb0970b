package io.rdmashuffle.it.features;

import java.io.Serializable;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.stream.IntStream;
import scala.Tuple2;

/**
 * Records of a random job.
 *
 * @param hotPercent how many of a hundred records have the same key
 * @param maxLength longest value, in characters
 */
record RandomInput(long seed, int maps, int recordsPerMap, int keys, int hotPercent, int maxLength)
    implements Serializable {

  static RandomInput of(long seed, SplittableRandom random) {
    int[] records = {0, 1, 50, 500, 2_000};
    int[] keys = {1, 10, 500, 1 << 20};
    int[] lengths = {0, 8, 60, 400};
    return new RandomInput(
        seed,
        1 + random.nextInt(10),
        records[random.nextInt(records.length)],
        keys[random.nextInt(keys.length)],
        random.nextInt(3) * 40,
        lengths[random.nextInt(lengths.length)]);
  }

  List<Integer> partitions() {
    return IntStream.range(0, maps).boxed().toList();
  }

  List<Tuple2<Integer, String>> records(int partition) {
    SplittableRandom random = new SplittableRandom(seed * 31 + partition);
    List<Tuple2<Integer, String>> records = new ArrayList<>(recordsPerMap);
    for (int i = 0; i < recordsPerMap; i++) {
      int key = random.nextInt(100) < hotPercent ? 0 : random.nextInt(keys);
      records.add(new Tuple2<>(key, value(random)));
    }
    return records;
  }

  private String value(SplittableRandom random) {
    int length = maxLength == 0 ? 0 : random.nextInt(maxLength);
    StringBuilder value = new StringBuilder(length + 16);
    while (value.length() < length) {
      value.append(Long.toHexString(random.nextLong()));
    }
    return value.toString();
  }
}
