package io.rdmashuffle.spark.write;

import org.apache.spark.Partitioner;

/** The partition of an integer key is its rest. */
final class ModuloPartitioner extends Partitioner {
  private static final long serialVersionUID = 1L;

  private final int numPartitions;

  ModuloPartitioner(int numPartitions) {
    this.numPartitions = numPartitions;
  }

  @Override
  public int numPartitions() {
    return numPartitions;
  }

  @Override
  public int getPartition(Object key) {
    return Math.floorMod((Integer) key, numPartitions);
  }
}
