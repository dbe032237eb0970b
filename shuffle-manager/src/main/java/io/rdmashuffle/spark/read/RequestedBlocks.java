package io.rdmashuffle.spark.read;

/**
 * The blocks of one request, parsed from their names: {@code shuffle_<shuffle>_<map>_<reduce>} or,
 * for adjacent partitions, {@code shuffle_<shuffle>_<map>_<start>_<end>}. Spark hands over names
 * only. Immutable.
 */
final class RequestedBlocks {
  private static final String PREFIX = "shuffle_";

  private final String[] names;
  private final long[] mapTaskIds;
  private final int[] startPartitions;
  private final int[] endPartitions;
  private final int shuffleId;

  private RequestedBlocks(
      String[] names,
      int shuffleId,
      long[] mapTaskIds,
      int[] startPartitions,
      int[] endPartitions) {
    this.names = names;
    this.shuffleId = shuffleId;
    this.mapTaskIds = mapTaskIds;
    this.startPartitions = startPartitions;
    this.endPartitions = endPartitions;
  }

  /**
   * The blocks, or null when one is no shuffle block, has no partition in its range, or they belong
   * to several shuffles.
   */
  static RequestedBlocks parse(String[] names) {
    int count = names.length;
    long[] mapTaskIds = new long[count];
    int[] startPartitions = new int[count];
    int[] endPartitions = new int[count];
    long[] numbers = new long[4];
    int shuffleId = -1;
    for (int i = 0; i < count; i++) {
      int fields = parseNumbers(names[i], numbers);
      long end = fields == 4 ? numbers[3] : numbers[2] + 1;
      if (fields < 3
          || (i > 0 && numbers[0] != shuffleId)
          || end <= numbers[2]
          || end > Integer.MAX_VALUE) {
        return null;
      }
      shuffleId = (int) numbers[0];
      mapTaskIds[i] = numbers[1];
      startPartitions[i] = (int) numbers[2];
      endPartitions[i] = (int) end;
    }
    return count == 0
        ? null
        : new RequestedBlocks(names, shuffleId, mapTaskIds, startPartitions, endPartitions);
  }

  /** Reads up to four numbers between underscores; returns how many, or -1. */
  private static int parseNumbers(String name, long[] numbers) {
    if (!name.startsWith(PREFIX) || name.endsWith("_")) {
      return -1;
    }
    int fields = 0;
    int position = PREFIX.length();
    while (position < name.length()) {
      if (fields == numbers.length) {
        return -1;
      }
      long value = 0;
      int start = position;
      while (position < name.length() && name.charAt(position) != '_') {
        int digit = name.charAt(position) - '0';
        if (digit < 0 || digit > 9 || value > (Long.MAX_VALUE - 9) / 10) {
          return -1;
        }
        value = value * 10 + digit;
        position++;
      }
      if (position == start || (fields != 1 && value > Integer.MAX_VALUE)) {
        return -1;
      }
      numbers[fields++] = value;
      position++;
    }
    return fields;
  }

  int size() {
    return names.length;
  }

  int shuffleId() {
    return shuffleId;
  }

  String name(int block) {
    return names[block];
  }

  long mapTaskId(int block) {
    return mapTaskIds[block];
  }

  /** All map task ids, in the order of the blocks; not to be modified. */
  long[] mapTaskIds() {
    return mapTaskIds;
  }

  int startPartition(int block) {
    return startPartitions[block];
  }

  /** Exclusive. */
  int endPartition(int block) {
    return endPartitions[block];
  }
}
