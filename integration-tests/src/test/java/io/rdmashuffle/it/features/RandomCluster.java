package io.rdmashuffle.it.features;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.SplittableRandom;

/** Settings of an application, which a seed stands for; no result may depend on them. */
final class RandomCluster {
  private RandomCluster() {}

  static Map<String, String> settings(long seed) {
    SplittableRandom random = new SplittableRandom(seed);
    Map<String, String> settings = new LinkedHashMap<>();
    settings.put("spark.shuffle.io.maxRetries", "1");
    settings.put("spark.shuffle.io.retryWait", "100ms");
    settings.put("spark.stage.maxConsecutiveAttempts", "10");
    settings.put("spark.task.maxFailures", "8");
    settings.put("spark.deploy.maxExecutorRetries", "-1");
    settings.put(
        "spark.serializer",
        pick(
            random,
            "org.apache.spark.serializer.JavaSerializer",
            "org.apache.spark.serializer.KryoSerializer"));
    settings.put("spark.io.compression.codec", pick(random, "lz4", "zstd", "snappy", "lzf"));
    settings.put("spark.shuffle.compress", pick(random, "true", "true", "false"));
    settings.put("spark.io.encryption.enabled", pick(random, "false", "false", "false", "true"));
    settings.put("spark.shuffle.useOldFetchProtocol", pick(random, "false", "false", "true"));
    settings.put("spark.shuffle.checksum.algorithm", pick(random, "ADLER32", "CRC32"));
    settings.put("spark.shuffle.rdma.verifyChecksums", pick(random, "false", "true"));
    settings.put("spark.shuffle.rdma.memory.slabSize", pick(random, "1m", "4m", "64m"));
    settings.put("spark.shuffle.rdma.memory.size", pick(random, "0", "64m", "256m", "auto"));
    settings.put("spark.shuffle.rdma.memory.receiveSize", pick(random, "64m", "256m"));
    settings.put("spark.network.maxRemoteBlockSizeFetchToMem", pick(random, "200m", "10k"));
    settings.put("spark.reducer.maxBlocksInFlightPerAddress", pick(random, "3", "2147483647"));
    settings.put("spark.reducer.maxReqsInFlight", pick(random, "2", "2147483647"));
    return settings;
  }

  private static String pick(SplittableRandom random, String... values) {
    return values[random.nextInt(values.length)];
  }
}
