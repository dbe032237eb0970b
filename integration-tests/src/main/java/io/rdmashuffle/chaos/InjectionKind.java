package io.rdmashuffle.chaos;

/** What is done to a running application from outside. */
public enum InjectionKind {
  /** {@code kill -9} of an executor. */
  KILL("kills executor"),
  /** {@code kill -STOP} of an executor, and {@code -CONT} when the injection ends. */
  FREEZE("freezes executor"),
  /** The file system of the slabs has no room left. */
  FILL_MEMORY("fills the tmpfs of slabs"),
  /** The file system of {@code spark.local.dir} has no room left. */
  FILL_DISK("fills spark.local.dir"),
  /** {@code RLIMIT_MEMLOCK} of an executor becomes so low that nothing can be registered. */
  LOWER_MEMLOCK("lowers the memlock limit of executor"),
  /** {@code RLIMIT_FSIZE} of an executor becomes so low that new slabs and large files fail. */
  LOWER_FILE_SIZE("lowers the file size limit of executor"),
  /** The RDMA link is taken down. */
  LINK_DOWN("takes the link down"),
  /** The RDMA link loses packets. */
  LINK_LOSS("makes the link lose packets"),
  /** The RDMA link delays packets. */
  LINK_DELAY("makes the link slow");

  private final String deed;

  InjectionKind(String deed) {
    this.deed = deed;
  }

  /** In words, for the log of a round. */
  String deed() {
    return deed;
  }
}
