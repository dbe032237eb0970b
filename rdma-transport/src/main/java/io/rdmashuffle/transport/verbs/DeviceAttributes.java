package io.rdmashuffle.transport.verbs;

import java.io.IOException;

/**
 * What a device says of its limits, checked: some firmware answers with zeros or garbage, and sizes
 * derived from that would break far from the cause.
 *
 * @param maxRegions most memory regions
 * @param maxQueuePairs most queue pairs
 * @param maxWorkRequests most work requests of one queue
 * @param maxCompletions most entries of a completion queue
 * @param maxReadsAsResponder reads a queue pair answers at a time, 1 to 255
 * @param maxReadsAsInitiator reads a queue pair has outstanding on the wire, 1 to 255
 * @param ports number of ports
 * @param isIwarp whether the transport is iWARP
 */
record DeviceAttributes(
    long maxRegions,
    int maxQueuePairs,
    int maxWorkRequests,
    int maxCompletions,
    int maxReadsAsResponder,
    int maxReadsAsInitiator,
    int ports,
    boolean isIwarp) {
  private static final int TRANSPORT_IWARP = 1;
  private static final int VALUES = 12;
  private static final int LEAST_QUEUE = 16;

  /**
   * Asks the device.
   *
   * @throws IOException when it does not answer, or a value makes no sense; names value and range
   */
  static DeviceAttributes query(long context) throws IOException {
    long[] values = new long[VALUES];
    VerbsExt.check("ibv_query_device", VerbsExt.queryDevice(context, values));
    return from(values);
  }

  /** Checks the values in the order in which {@link VerbsExt#queryDevice} gives them. */
  static DeviceAttributes from(long[] values) throws IOException {
    return new DeviceAttributes(
        inRange("max_mr", values[1], 1),
        (int) inRange("max_qp", values[2], 1),
        (int) inRange("max_qp_wr", values[3], LEAST_QUEUE),
        (int) inRange("max_cqe", values[5], LEAST_QUEUE),
        (int) Math.min(255, inRange("max_qp_rd_atom", values[6], 1)),
        (int) Math.min(255, inRange("max_qp_init_rd_atom", values[7], 1)),
        (int) inRange("phys_port_cnt", values[8], 1),
        values[9] == TRANSPORT_IWARP);
  }

  private static long inRange(String name, long value, long least) throws IOException {
    if (value < least || value > Integer.MAX_VALUE) {
      throw new IOException(
          "attribute "
              + name
              + "="
              + value
              + " is not within "
              + least
              + " and "
              + Integer.MAX_VALUE
              + "; the driver or firmware is broken");
    }
    return value;
  }
}
