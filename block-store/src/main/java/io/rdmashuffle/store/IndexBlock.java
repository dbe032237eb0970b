package io.rdmashuffle.store;

import io.rdmashuffle.transport.FileWindow;
import io.rdmashuffle.transport.SlabMemory;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;

/**
 * A decoded and checked index block, or the slice of one for some partitions: which runs of the
 * owner's slabs, or of files it has mapped, hold a range of partitions. Immutable. {@link
 * IndexHeader} has the layout.
 */
public final class IndexBlock {
  /** Heap bytes of the object and its array headers, rounded up. */
  private static final int OBJECT_BYTES = 192;

  private static final long[] NO_CHECKSUMS = {};

  private final IndexHeader header;
  private final int startPartition;
  private final int endPartition;
  // Offsets of the partitions of the slice and the end of the last one.
  private final long[] offsets;
  private final long[] checksums;
  // Extent i holds the logical bytes [extentStarts[i], extentStarts[i + 1]).
  private final long[] extentStarts;
  private final int[] extentSlabIds;
  private final int[] extentOffsets;
  private final List<SlabDescriptor> fileWindows;

  private IndexBlock(
      IndexHeader header,
      int startPartition,
      long[] offsets,
      long[] checksums,
      long[] extentStarts,
      int[] extentSlabIds,
      int[] extentOffsets,
      List<SlabDescriptor> fileWindows) {
    this.header = header;
    this.startPartition = startPartition;
    this.endPartition = startPartition + offsets.length - 1;
    this.offsets = offsets;
    this.checksums = checksums;
    this.extentStarts = extentStarts;
    this.extentSlabIds = extentSlabIds;
    this.extentOffsets = extentOffsets;
    this.fileWindows = fileWindows;
  }

  /**
   * Reads and checks a whole block, whoever may have written it. Allocates no more than about the
   * bytes that are there.
   *
   * @param bytes holds the block from {@code position} on; copied from, otherwise untouched
   * @param location as published; the block is as long as it says
   * @param bounds the peer's slabs as published
   */
  public static IndexBlock decode(
      ByteBuffer bytes,
      int position,
      IndexLocation location,
      int shuffleId,
      long mapTaskId,
      int numPartitions,
      SlabBounds bounds)
      throws InvalidIndexException {
    IndexHeader header =
        IndexHeader.decode(bytes, position, location, shuffleId, mapTaskId, numPartitions);
    if (bytes.limit() - position < location.length()) {
      throw new CorruptIndexException(
          "length=" + location.length() + " > " + (bytes.limit() - position) + " bytes read");
    }
    return decodeSlice(
        header,
        0,
        numPartitions,
        bytes,
        position + header.offsetPosition(0),
        position + header.checksumPosition(0),
        position + header.extentsPosition(),
        bounds);
  }

  /**
   * Checks and joins the parts of a block that concern the partitions [{@code startPartition},
   * {@code endPartition}).
   *
   * @param header as decoded from bytes that were read no earlier than the parts
   * @param bytes holds all the parts; copied from, otherwise untouched
   * @param offsetsPosition where the offsets of the range and its end lie in {@code bytes}
   * @param checksumsPosition where the checksums of the range lie; of no meaning without checksums
   * @param extentsPosition where all the extents lie
   */
  public static IndexBlock decodeSlice(
      IndexHeader header,
      int startPartition,
      int endPartition,
      ByteBuffer bytes,
      int offsetsPosition,
      int checksumsPosition,
      int extentsPosition,
      SlabBounds bounds)
      throws InvalidIndexException {
    Objects.checkFromToIndex(startPartition, endPartition, header.numPartitions());
    int partitions = endPartition - startPartition;
    ByteBuffer in = IndexHeader.littleEndian(bytes);
    checkPart(in, offsetsPosition, Long.BYTES * (partitions + 1L));
    checkPart(in, extentsPosition, header.extentsLength());
    long[] offsets = longs(in, offsetsPosition, partitions + 1);
    long[] checksums = NO_CHECKSUMS;
    if (header.hasChecksums()) {
      checkPart(in, checksumsPosition, Long.BYTES * (long) partitions);
      checksums = longs(in, checksumsPosition, partitions);
    }
    int extentCount = header.extentCount();
    long[] extentStarts = new long[extentCount + 1];
    int[] extentSlabIds = new int[extentCount];
    int[] extentOffsets = new int[extentCount];
    List<SlabDescriptor> fileWindows = new ArrayList<>();
    for (int i = 0; i < extentCount; i++) {
      int at = extentsPosition + header.extentStride() * i;
      long offset = in.getLong(at);
      long length = in.getLong(at + 8);
      int slabId = in.getInt(at + 16);
      int reserved = in.getInt(at + 20);
      if (header.isInFiles()) {
        checkWindow(offset, length, slabId, reserved);
        fileWindows.add(ExtentKeys.decode(in, at, header.keysPerExtent()));
      } else {
        checkExtent(offset, length, slabId, reserved, bounds);
      }
      extentStarts[i + 1] = extentStarts[i] + length;
      extentSlabIds[i] = slabId;
      extentOffsets[i] = (int) offset;
    }
    checkOffsets(header, startPartition, offsets, extentStarts[extentCount]);
    return new IndexBlock(
        header,
        startPartition,
        offsets,
        checksums,
        extentStarts,
        extentSlabIds,
        extentOffsets,
        fileWindows);
  }

  public IndexHeader header() {
    return header;
  }

  /**
   * The window of a file that an extent is.
   *
   * @return null when the block describes no such window; always when it is not {@linkplain
   *     IndexHeader#isInFiles in files}
   */
  public SlabDescriptor fileWindow(int slabId) {
    for (SlabDescriptor window : fileWindows) {
      if (window.slabId() == slabId) {
        return window;
      }
    }
    return null;
  }

  /** First partition the block knows of. */
  public int startPartition() {
    return startPartition;
  }

  /** One more than the last partition the block knows of. */
  public int endPartition() {
    return endPartition;
  }

  /** Whether the block knows of every partition of the map output. */
  public boolean isWhole() {
    return offsets.length - 1 == header.numPartitions();
  }

  /** Bytes of one partition. */
  public long partitionLength(int partition) {
    return length(partition, partition + 1);
  }

  /** Bytes of the partitions from {@code start} up to and not including {@code end}. */
  public long length(int start, int end) {
    checkRange(start, end);
    return offsets[end - startPartition] - offsets[start - startPartition];
  }

  /** Checksum of a partition; 0 when the map output has none. */
  public long checksum(int partition) {
    checkRange(partition, partition + 1);
    return header.hasChecksums() ? checksums[partition - startPartition] : 0;
  }

  /**
   * Visits the runs of memory that hold the partitions from {@code start} up to and not including
   * {@code end}, in order; none when they are empty. Allocates nothing.
   */
  public void forEachPiece(int start, int end, PieceVisitor visitor) {
    checkRange(start, end);
    long from = offsets[start - startPartition];
    long to = offsets[end - startPartition];
    if (from == to) {
      return;
    }
    int found = Arrays.binarySearch(extentStarts, from);
    for (int i = found >= 0 ? found : -found - 2; from < to; i++) {
      int length = (int) (Math.min(to, extentStarts[i + 1]) - from);
      visitor.onPiece(
          extentSlabIds[i], (int) (extentOffsets[i] + (from - extentStarts[i])), length);
      from += length;
    }
  }

  /** Heap the block takes, in bytes. */
  public long sizeInBytes() {
    return OBJECT_BYTES
        + (long) Long.BYTES * (offsets.length + checksums.length + extentStarts.length)
        + 2L * Integer.BYTES * extentSlabIds.length;
  }

  /**
   * Writes a block with a void generation; {@link Generations#publish} makes it valid.
   *
   * @param out memory of a slab, little-endian
   * @param position where the block begins, a multiple of 8
   * @param header everything but the generation, which is ignored
   */
  static void encode(
      ByteBuffer out,
      int position,
      IndexHeader header,
      long[] offsets,
      long[] checksums,
      ExtentChain extents) {
    int at = encodePartitions(out, position, header, offsets, checksums);
    for (int i = 0; i < extents.size(); i++) {
      putExtent(out, at, extents.offset(i), extents.usedLength(i), extents.slab(i).id());
      at += header.extentStride();
    }
  }

  /** As the other, with windows of files instead of extents in slabs. */
  static void encode(
      ByteBuffer out,
      int position,
      IndexHeader header,
      long[] offsets,
      long[] checksums,
      List<SlabDescriptor> windows) {
    int at = encodePartitions(out, position, header, offsets, checksums);
    for (SlabDescriptor window : windows) {
      putExtent(out, at, 0, window.length(), window.slabId());
      ExtentKeys.encode(out, at, window.registrations());
      at += header.extentStride();
    }
  }

  /** Writes all that comes before the extents; returns where they begin. */
  private static int encodePartitions(
      ByteBuffer out, int position, IndexHeader header, long[] offsets, long[] checksums) {
    Generations.voidAt(out, position);
    out.putInt(position, IndexHeader.MAGIC);
    out.putInt(position + 4, IndexHeader.VERSION);
    out.putInt(position + IndexHeader.SHUFFLE_ID_POSITION, header.shuffleId());
    out.putInt(position + IndexHeader.PARTITIONS_POSITION, header.numPartitions());
    out.putLong(position + IndexHeader.MAP_TASK_ID_POSITION, header.mapTaskId());
    out.putInt(position + IndexHeader.EXTENT_COUNT_POSITION, header.extentCount());
    out.putShort(position + IndexHeader.ALGORITHM_POSITION, header.checksumAlgorithm().code());
    out.putShort(position + IndexHeader.KEYS_POSITION, (short) header.keysPerExtent());
    int at = position + header.offsetPosition(0);
    for (long offset : offsets) {
      out.putLong(at, offset);
      at += Long.BYTES;
    }
    for (long checksum : checksums) {
      out.putLong(at, checksum);
      at += Long.BYTES;
    }
    return at;
  }

  private static void putExtent(ByteBuffer out, int at, long offset, int length, int slabId) {
    out.putLong(at, offset);
    out.putLong(at + 8, length);
    out.putInt(at + 16, slabId);
    out.putInt(at + 20, 0);
  }

  private void checkRange(int start, int end) {
    if (start < startPartition || end < start || end > endPartition) {
      throw new IndexOutOfBoundsException(
          "partitions ["
              + start
              + ", "
              + end
              + ") are not within ["
              + startPartition
              + ", "
              + endPartition
              + ")");
    }
  }

  private static void checkPart(ByteBuffer in, int position, long length)
      throws CorruptIndexException {
    if (position < 0 || length > in.limit() - (long) position) {
      throw new CorruptIndexException(
          "position=" + position + " length=" + length + " limit=" + in.limit());
    }
  }

  private static void checkExtent(
      long offset, long length, int slabId, int reserved, SlabBounds bounds)
      throws CorruptIndexException {
    int slabLength = bounds.slabLength(slabId);
    boolean isInSlab =
        offset >= SlabMemory.HEADER_LENGTH && offset < slabLength && length <= slabLength - offset;
    if (!isInSlab || length < 1 || reserved != 0) {
      throw new CorruptIndexException(
          "extent offset="
              + offset
              + " length="
              + length
              + " reserved="
              + reserved
              + " in slab "
              + slabId
              + " of "
              + slabLength
              + " bytes");
    }
  }

  private static void checkWindow(long offset, long length, int slabId, int reserved)
      throws CorruptIndexException {
    if (offset != 0
        || length < 1
        || length > FileWindow.MAX_LENGTH
        || slabId < 0
        || slabId == Integer.MAX_VALUE
        || reserved != 0) {
      throw new CorruptIndexException(
          "file window "
              + slabId
              + " offset="
              + offset
              + " length="
              + length
              + " reserved="
              + reserved);
    }
  }

  private static void checkOffsets(
      IndexHeader header, int startPartition, long[] offsets, long totalLength)
      throws CorruptIndexException {
    boolean isFirst = startPartition == 0;
    boolean isLast = startPartition + offsets.length - 1 == header.numPartitions();
    long previous = 0;
    for (long offset : offsets) {
      if (offset < previous) {
        throw new CorruptIndexException("partition offset " + offset + " < " + previous);
      }
      previous = offset;
    }
    if ((isFirst && offsets[0] != 0)
        || previous > totalLength
        || (isLast && previous != totalLength)) {
      throw new CorruptIndexException(
          "partition offsets from "
              + offsets[0]
              + " to "
              + previous
              + " contradict extents of "
              + totalLength
              + " bytes");
    }
  }

  private static long[] longs(ByteBuffer in, int position, int count) {
    long[] result = new long[count];
    for (int i = 0; i < count; i++) {
      result[i] = in.getLong(position + Long.BYTES * i);
    }
    return result;
  }
}
