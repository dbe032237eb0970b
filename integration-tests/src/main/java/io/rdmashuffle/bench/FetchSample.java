package io.rdmashuffle.bench;

import java.io.Serializable;

/**
 * What fetching some blocks for a while has taken.
 *
 * @param bytes of the blocks that were handed on
 * @param readerCpu seconds of the reading process
 * @param serverCpu seconds of the serving process
 * @param copiedBytes bytes that our transports copied for it; 0 where others copy
 * @param heapBytes what the threads of the reading process allocated on the heap
 */
record FetchSample(
    double seconds,
    long blocks,
    long bytes,
    double readerCpu,
    double serverCpu,
    long copiedBytes,
    long heapBytes)
    implements Serializable {
  static final FetchSample NONE = new FetchSample(0, 0, 0, 0, 0, 0, 0);

  FetchSample plus(FetchSample o) {
    return new FetchSample(
        seconds + o.seconds,
        blocks + o.blocks,
        bytes + o.bytes,
        readerCpu + o.readerCpu,
        serverCpu + o.serverCpu,
        copiedBytes + o.copiedBytes,
        heapBytes + o.heapBytes);
  }

  double blocksPerSecond() {
    return blocks / seconds;
  }

  double megabytesPerSecond() {
    return bytes / 1e6 / seconds;
  }

  double readerCpuPerGigabyte() {
    return readerCpu / (bytes / 1e9);
  }

  double serverCpuPerGigabyte() {
    return serverCpu / (bytes / 1e9);
  }

  double copiesPerByte() {
    return (double) copiedBytes / bytes;
  }

  double heapPerByte() {
    return (double) heapBytes / bytes;
  }

  double nanosPerBlock() {
    return seconds * 1e9 / blocks;
  }

  double cpuNanosPerBlock() {
    return readerCpu * 1e9 / blocks;
  }
}
