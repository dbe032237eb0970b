package io.rdmashuffle.spark.read;

import io.rdmashuffle.conf.RdmaShuffleConf;
import io.rdmashuffle.spark.FallbackReason;
import io.rdmashuffle.spark.ReadAccounting;
import io.rdmashuffle.spark.directory.SlabKey;
import io.rdmashuffle.spark.directory.SlabRecord;
import io.rdmashuffle.store.IndexBlockCache;
import io.rdmashuffle.store.ReceiveBuffer;
import io.rdmashuffle.store.ReceivePool;
import io.rdmashuffle.store.SlabPool;
import io.rdmashuffle.transport.Access;
import io.rdmashuffle.transport.SlabFactories;
import io.rdmashuffle.transport.Transport;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** Groups of reads over transports that do what the test says. */
final class Readings implements AutoCloseable {
  /** How a group ended, and how often. */
  static final class Ending implements ReadGroup.Outcome {
    ReceiveBuffer buffer;
    ReadGroup.Failure failure;
    int calls;

    @Override
    public void onRead(ReceiveBuffer read) {
      buffer = read;
      calls++;
    }

    @Override
    public void onFailure(ReadGroup.Failure cause) {
      failure = cause;
      calls++;
    }

    @Override
    public void onError(Throwable error) {
      throw new AssertionError(error);
    }
  }

  final SlabRecord slab =
      new SlabRecord(3, 1 << 20, Map.of("shm", new SlabKey(1000, 7), "rdma", new SlabKey(0, 7)));
  final List<Ending> endings = new ArrayList<>();
  final ReceivePool receivePool;
  final ReadServices services;
  private final Transport transport;
  private final BatchPool batches;

  Readings(RdmaShuffleConf conf, Transport... transports) {
    transport = transports[0];
    batches = new BatchPool(transport);
    receivePool =
        new ReceivePool(
            new SlabPool(
                "receive",
                SlabFactories.open(Path.of("/dev/shm"), TwoExecutors.identity("reader", 2)),
                List.of(transports),
                Access.LOCAL_WRITE,
                4L << 20,
                1 << 20,
                Duration.ZERO));
    services =
        new ReadServices(
            "app-1",
            List.of(transports),
            FallbackReason.NO_DEVICE,
            "no device",
            null,
            receivePool,
            new IndexBlockCache(0),
            new ReadAccounting(),
            Runnable::run,
            null,
            conf.shuffle(),
            conf.transport());
  }

  /** A group of reads, one behind the other at the peer, with its buffer. */
  ReadGroup group(int maxReadBytes, int... lengths) {
    Ending ending = new Ending();
    endings.add(ending);
    ReadGroup group = groupWithoutMemory(ending, maxReadBytes, lengths);
    group.useBuffer(receivePool.tryAllocate(group.totalBytes()));
    return group;
  }

  ReadGroup groupWithoutMemory(ReadGroup.Outcome ending, int maxReadBytes, int... lengths) {
    ReadGroup group = new ReadGroup(transport, batches, maxReadBytes, ending);
    int offset = 0;
    for (int length : lengths) {
      group.add(slab, offset, length);
      offset += length;
    }
    return group;
  }

  Ending ending(int group) {
    return endings.get(group);
  }

  long receiveBytesInUse() {
    return receivePool.pool().gauges().allocatedBytes();
  }

  @Override
  public void close() {
    receivePool.close();
  }
}
