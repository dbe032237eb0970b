package io.rdmashuffle.store;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/**
 * The first {@value #LENGTH} bytes of an index block, and where in the block everything else lies.
 *
 * <p>Layout of the block, little-endian, every field 8-byte aligned or in pairs of 4:
 *
 * <pre>
 *   0  magic (4), version (4)
 *   8  generation (8); 0 while the block is being written and once it is void
 *  16  shuffle id (4), number of partitions n (4)
 *  24  map task id (8)
 *  32  number of extents e (4), checksum algorithm (2), keys per extent k (2)
 *  40  logical offsets of the partitions, and the end of the last (8 each, n + 1)
 *      checksums of the partitions (8 each, n), unless the algorithm is NONE
 *      extents: offset in the slab (8), length (8), slab id (4), 0 (4); 24 each, e
 *        each followed by its keys: transport (8), address (8), key (4), 0 (4); 24 each, k
 * </pre>
 *
 * <p>Extents without keys lie in the owner's slabs, which it published. Extents with keys are
 * {@link MappedOutput windows of files}, each a slab of its own that only this block describes:
 * there is one for each output, here today and gone tomorrow, which would be too much for the
 * driver.
 *
 * <p>A reader of few partitions of a large block reads the header first, then the ranges named by
 * the {@code …Position} methods together with the header again, and hands all to {@link
 * IndexBlock#decodeSlice}.
 *
 * @param generation of the map output, never 0
 * @param shuffleId shuffle of the map output
 * @param mapTaskId Spark's task attempt id, unique in the application
 * @param numPartitions partitions of the map output
 * @param extentCount runs of memory that hold its bytes
 * @param checksumAlgorithm what the checksums are
 * @param keysPerExtent 0 when the extents lie in slabs; else they are windows of files, and so many
 *     transports can read each
 */
public record IndexHeader(
    long generation,
    int shuffleId,
    long mapTaskId,
    int numPartitions,
    int extentCount,
    ChecksumAlgorithm checksumAlgorithm,
    int keysPerExtent) {
  /** Bytes of the header. */
  public static final int LENGTH = 40;

  /** Where in the block the generation lies; 8 bytes. */
  public static final int GENERATION_POSITION = 8;

  /** Bytes of one extent in the block. */
  public static final int EXTENT_LENGTH = 24;

  /** "RSIB", shuffle index block, read as a little-endian number. */
  static final int MAGIC = 0x42495352;

  static final int VERSION = 1;

  static final int SHUFFLE_ID_POSITION = 16;
  static final int PARTITIONS_POSITION = 20;
  static final int MAP_TASK_ID_POSITION = 24;
  static final int EXTENT_COUNT_POSITION = 32;
  static final int ALGORITHM_POSITION = 36;
  static final int KEYS_POSITION = 38;

  /** Bytes of one key of an extent. */
  static final int KEY_LENGTH = 24;

  /** Most transports that an extent has keys of. */
  static final int MAX_KEYS = 8;

  /**
   * Reads and checks a header, whoever may have written it.
   *
   * @param bytes holds the header from {@code position} on; its position and order stay untouched
   * @param location as published
   * @param shuffleId which the block must be of
   * @param mapTaskId which the block must be of
   * @param numPartitions which the block must have
   */
  public static IndexHeader decode(
      ByteBuffer bytes,
      int position,
      IndexLocation location,
      int shuffleId,
      long mapTaskId,
      int numPartitions)
      throws InvalidIndexException {
    if (position < 0 || bytes.limit() - position < LENGTH) {
      throw new CorruptIndexException(
          "position=" + position + " limit=" + bytes.limit() + " leaves no room for a header");
    }
    ByteBuffer in = littleEndian(bytes);
    // First of all: in memory that serves another purpose by now, nothing else means anything.
    long generation = in.getLong(position + GENERATION_POSITION);
    if (generation != location.generation() || generation == 0) {
      throw new StaleIndexException(
          "generation="
              + Long.toHexString(generation)
              + ", expected "
              + Long.toHexString(location.generation()));
    }
    expect("magic", in.getInt(position), MAGIC);
    expect("version", in.getInt(position + 4), VERSION);
    expect("shuffleId", in.getInt(position + SHUFFLE_ID_POSITION), shuffleId);
    expect("numPartitions", in.getInt(position + PARTITIONS_POSITION), numPartitions);
    expect("mapTaskId", in.getLong(position + MAP_TASK_ID_POSITION), mapTaskId);
    short code = in.getShort(position + ALGORITHM_POSITION);
    ChecksumAlgorithm algorithm = ChecksumAlgorithm.ofCode(code);
    if (algorithm == null) {
      throw new CorruptIndexException("checksumAlgorithm=" + code + " is unknown");
    }
    int extentCount = in.getInt(position + EXTENT_COUNT_POSITION);
    int keys = in.getShort(position + KEYS_POSITION);
    if (numPartitions < 0 || extentCount < 0 || keys < 0 || keys > MAX_KEYS) {
      throw new CorruptIndexException(
          "numPartitions=" + numPartitions + " extentCount=" + extentCount + " keys=" + keys);
    }
    IndexHeader header =
        new IndexHeader(
            generation, shuffleId, mapTaskId, numPartitions, extentCount, algorithm, keys);
    expect("length", location.length(), header.blockLength());
    return header;
  }

  /** Bytes of the whole block. */
  long blockLength() {
    return LENGTH
        + Long.BYTES * (numPartitions + 1L)
        + (hasChecksums() ? Long.BYTES * (long) numPartitions : 0)
        + (long) extentStride() * extentCount;
  }

  /** Bytes of an extent and its keys. */
  int extentStride() {
    return EXTENT_LENGTH + KEY_LENGTH * keysPerExtent;
  }

  /**
   * Where the offset of a partition lies. The offsets of partitions [a, b) and the end of the last
   * are the bytes [{@code offsetPosition(a)}, {@code offsetPosition(b + 1)}).
   *
   * @param partition 0 up to the number of partitions
   */
  public int offsetPosition(int partition) {
    return LENGTH + Long.BYTES * partition;
  }

  /**
   * Where the checksum of a partition lies; those of [a, b) are the bytes [{@code
   * checksumPosition(a)}, {@code checksumPosition(b)}), none without checksums.
   */
  public int checksumPosition(int partition) {
    return offsetPosition(numPartitions + 1) + (hasChecksums() ? Long.BYTES * partition : 0);
  }

  /** Where the extents begin; they reach to the end of the block. */
  public int extentsPosition() {
    return checksumPosition(numPartitions);
  }

  /** Bytes of all extents and their keys. */
  public int extentsLength() {
    return extentStride() * extentCount;
  }

  /** Whether the extents are windows of files, which come and go, and not parts of slabs. */
  public boolean isInFiles() {
    return keysPerExtent > 0;
  }

  /** Whether the block holds a checksum for each partition. */
  public boolean hasChecksums() {
    return checksumAlgorithm != ChecksumAlgorithm.NONE;
  }

  /** The generation that memory shows which should hold an index block from a position on. */
  public static long generationOf(ByteBuffer bytes, int position) {
    return littleEndian(bytes).getLong(position + GENERATION_POSITION);
  }

  /**
   * The number of partitions that a header claims, for readers that do not know it otherwise;
   * {@link #decode} checks it against the published length.
   *
   * @return -1 when the bytes are too few for a header
   */
  public static int numPartitionsOf(ByteBuffer bytes, int position) {
    return bytes.limit() - position < LENGTH
        ? -1
        : littleEndian(bytes).getInt(position + PARTITIONS_POSITION);
  }

  static ByteBuffer littleEndian(ByteBuffer bytes) {
    return bytes.order() == ByteOrder.LITTLE_ENDIAN
        ? bytes
        : bytes.duplicate().order(ByteOrder.LITTLE_ENDIAN);
  }

  private static void expect(String field, long found, long expected) throws CorruptIndexException {
    if (found != expected) {
      throw new CorruptIndexException(field + "=" + found + ", expected " + expected);
    }
  }
}
