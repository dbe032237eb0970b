package io.rdmashuffle.transport.verbs;

import java.io.IOException;

/**
 * One port of a device.
 *
 * @param state 1 down, 2 initialising, 3 armed, 4 active
 * @param maxMessageLength longest message in bytes, as reported
 * @param isEthernet whether the link layer is Ethernet (RoCE, iWARP) and not InfiniBand
 * @param gidCount entries of the GID table
 * @param speed speed times width as the device codes them: only good for comparing
 */
record PortAttributes(
    int state, long maxMessageLength, boolean isEthernet, int gidCount, long speed) {
  private static final int ACTIVE = 4;
  private static final int LINK_LAYER_ETHERNET = 2;
  private static final int MAX_GIDS = 4096;
  private static final String[] STATES = {"NOP", "DOWN", "INIT", "ARMED", "ACTIVE", "DEFERRED"};

  static PortAttributes query(long context, int port) throws IOException {
    long[] values = new long[8];
    VerbsExt.check("ibv_query_port", VerbsExt.queryPort(context, port, values));
    return new PortAttributes(
        (int) values[0],
        values[1],
        values[2] == LINK_LAYER_ETHERNET,
        (int) Math.max(0, Math.min(MAX_GIDS, values[3])),
        values[4] * values[5]);
  }

  boolean isActive() {
    return state == ACTIVE;
  }

  String stateName() {
    return state >= 0 && state < STATES.length ? STATES[state] : "state " + state;
  }
}
