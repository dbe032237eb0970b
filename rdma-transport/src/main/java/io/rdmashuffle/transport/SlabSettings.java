package io.rdmashuffle.transport;

/** Keys that error messages about slabs tell an administrator to change. */
final class SlabSettings {
  static final String DIRECTORY = "spark.shuffle.rdma.memory.dir";
  static final String SIZE = "spark.shuffle.rdma.memory.size";

  private SlabSettings() {}
}
