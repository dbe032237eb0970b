package io.rdmashuffle.bench;

import java.io.Serializable;

/** What fetching some blocks for a while has taken. */
record FetchSample(double seconds, long blocks, long bytes, double readerCpu, double serverCpu)
    implements Serializable {
  static final FetchSample NONE = new FetchSample(0, 0, 0, 0, 0);

  FetchSample plus(FetchSample o) {
    return new FetchSample(
        seconds + o.seconds,
        blocks + o.blocks,
        bytes + o.bytes,
        readerCpu + o.readerCpu,
        serverCpu + o.serverCpu);
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
}
