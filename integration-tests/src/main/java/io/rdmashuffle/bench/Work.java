package io.rdmashuffle.bench;

import java.util.List;

/** What an executor spends its CPU on, as the stack of a sample tells. */
enum Work {
  SERIALIZE("serialize"),
  SORT("sort by partition"),
  COMPRESS("compress"),
  CHECKSUM("checksum"),
  WRITE("write"),
  FETCH("fetch"),
  NETTY("Netty"),
  DECOMPRESS("decompress"),
  DESERIALIZE("deserialize"),
  /** Garbage collector, compiler and what else the JVM does on threads of its own. */
  JVM("JVM's own threads"),
  /** The job itself, and Spark besides its shuffle. */
  OTHER("other");

  private static final List<String> CODECS =
      List.of("net.jpountz.", "com.github.luben.zstd.", "org.xerial.snappy.", "com.ning.compress.");

  /** The first that a frame begins with decides. */
  private static final List<Rule> RULES =
      List.of(
          new Rule("io.rdmashuffle.jobs.", OTHER),
          new Rule("org.apache.logging.", OTHER),
          new Rule("java.util.zip.Adler32.", CHECKSUM),
          new Rule("java.util.zip.CRC32", CHECKSUM),
          new Rule("org.apache.spark.storage.TimeTrackingOutputStream.", WRITE),
          new Rule("io.rdmashuffle.store.MapOutputBuilder", WRITE),
          new Rule("io.rdmashuffle.spark.write.RecordPages.sorted", SORT),
          new Rule("org.apache.spark.shuffle.sort.ShuffleInMemorySorter.", SORT),
          new Rule("org.apache.spark.util.collection.PartitionedPairBuffer", SORT),
          new Rule("org.apache.spark.util.collection.PartitionedAppendOnlyMap", SORT),
          new Rule("org.apache.spark.util.collection.ExternalSorter", SORT),
          new Rule("org.apache.spark.sql.execution.UnsafeRowSerializerInstance$$anon$1", SERIALIZE),
          new Rule("org.apache.spark.sql.execution.UnsafeRowSerializerInstance$$anon", DESERIALIZE),
          new Rule("org.apache.spark.serializer.KryoSerializationStream", SERIALIZE),
          // Not their subclass for Java's serializer, which also reads and writes tasks.
          new Rule("org.apache.spark.serializer.SerializationStream", SERIALIZE),
          new Rule("org.apache.spark.serializer.KryoDeserializationStream", DESERIALIZE),
          new Rule("org.apache.spark.serializer.DeserializationStream", DESERIALIZE),
          new Rule("io.rdmashuffle.spark.write.RecordPages", SERIALIZE),
          new Rule("io.rdmashuffle.spark.write.SingleStreamInserter.", SERIALIZE),
          new Rule("io.rdmashuffle.spark.write.PartitionStreamsInserter", SERIALIZE),
          new Rule("org.apache.spark.shuffle.sort.ShuffleExternalSorter.insertRecord", SERIALIZE),
          new Rule("io.rdmashuffle.spark.read.RecordIterator.", DESERIALIZE),
          new Rule("io.rdmashuffle.spark.write.", WRITE),
          new Rule("io.rdmashuffle.spark.Publisher", WRITE),
          new Rule("io.rdmashuffle.spark.read.", FETCH),
          new Rule("io.rdmashuffle.spark.directory.", FETCH),
          new Rule("io.rdmashuffle.transport.", FETCH),
          new Rule("org.apache.spark.storage.ShuffleBlockFetcherIterator", FETCH),
          new Rule("org.apache.spark.storage.BufferReleasingInputStream", FETCH),
          new Rule("org.apache.spark.shuffle.BlockStoreShuffleReader", FETCH),
          new Rule("org.apache.spark.network.shuffle.", FETCH),
          new Rule("org.apache.spark.MapOutputTracker", FETCH),
          new Rule("io.netty.", NETTY),
          new Rule("org.apache.spark.network.", NETTY),
          new Rule("org.apache.spark.storage.DiskBlockObjectWriter", WRITE),
          new Rule("org.apache.spark.shuffle.", WRITE));

  private final String label;

  Work(String label) {
    this.label = label;
  }

  /** For tables. */
  String label() {
    return label;
  }

  /**
   * What a stack is about: the innermost frame that is known to belong to a part of a shuffle. A
   * shuffle pulls records out of iterators, so what lies within one that is none of its own is the
   * job's.
   *
   * @param frames such as {@code java.util.zip.CRC32.update}, innermost first
   */
  static Work of(List<String> frames) {
    for (String frame : frames) {
      Work codec = ofCodec(frame);
      if (codec != null) {
        return codec;
      }
      for (Rule rule : RULES) {
        if (frame.startsWith(rule.prefix)) {
          return rule.work;
        }
      }
      if (frame.endsWith(".next") || frame.endsWith(".hasNext")) {
        return OTHER;
      }
    }
    return OTHER;
  }

  /** Null when the frame does not tell the direction. */
  private static Work ofCodec(String frame) {
    if (CODECS.stream().noneMatch(frame::startsWith)) {
      return null;
    }
    if (frame.contains("InputStream") || frame.contains("Decompressor")) {
      return DECOMPRESS;
    }
    return frame.contains("OutputStream") || frame.contains("Compressor") ? COMPRESS : null;
  }

  private record Rule(String prefix, Work work) {}
}
