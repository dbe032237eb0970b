package io.rdmashuffle.spark.write;

/**
 * Partition and place of a record in one long: 24 bits partition, 13 bits page, 27 bits offset in
 * the page. The partition fills whole bytes at the top, so that a radix sort of three bytes orders
 * by partition.
 */
final class PackedPointer {
  /** The bytes of a pointer that hold the partition, counted from the lowest. */
  static final int FIRST_PARTITION_BYTE = 5;

  static final int LAST_PARTITION_BYTE = 7;

  static final int MAX_PARTITIONS = 1 << 24;
  static final int MAX_PAGES = 1 << 13;

  /** A record begins below this offset. */
  static final int MAX_PAGE_LENGTH = 1 << 27;

  private static final int PARTITION_SHIFT = 40;
  private static final int PAGE_SHIFT = 27;

  private PackedPointer() {}

  static long of(int partition, int page, int offset) {
    return (long) partition << PARTITION_SHIFT | (long) page << PAGE_SHIFT | offset;
  }

  static int partition(long pointer) {
    return (int) (pointer >>> PARTITION_SHIFT);
  }

  static int page(long pointer) {
    return (int) (pointer >>> PAGE_SHIFT) & (MAX_PAGES - 1);
  }

  static int offset(long pointer) {
    return (int) pointer & (MAX_PAGE_LENGTH - 1);
  }
}
