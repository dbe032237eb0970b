package io.rdmashuffle.transport.verbs;

import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.ArrayList;
import java.util.List;

/** The valid entries of a port's GID table. */
record GidTable(List<Entry> entries) {
  static final int TYPE_ROCE_V2 = 2;
  private static final String[] TYPES = {"IB", "RoCE v1", "RoCE v2"};

  /**
   * One entry.
   *
   * @param index position in the table
   * @param type 0 InfiniBand, 1 RoCE v1, 2 RoCE v2
   * @param address the GID read as an IP address; an IPv4 address if it maps one
   */
  record Entry(int index, int type, InetAddress address) {
    @Override
    public String toString() {
      return "GID "
          + index
          + " "
          + (type >= 0 && type < TYPES.length ? TYPES[type] : "type " + type)
          + " "
          + address.getHostAddress();
    }
  }

  static GidTable query(long context, int port, int count) {
    List<Entry> entries = new ArrayList<>();
    byte[] gid = new byte[16];
    for (int i = 0; i < count; i++) {
      int type = VerbsExt.queryGid(context, port, i, gid);
      if (type >= 0) { // else the entry is empty
        entries.add(new Entry(i, type, address(gid)));
      }
    }
    return new GidTable(entries);
  }

  /** The RoCE v2 entry of an address, null if there is none. */
  Entry routable(InetAddress address) {
    for (Entry entry : entries) {
      if (entry.type() == TYPE_ROCE_V2 && entry.address().equals(address)) {
        return entry;
      }
    }
    return null;
  }

  private static InetAddress address(byte[] gid) {
    try {
      return InetAddress.getByAddress(gid); // an IPv4-mapped one becomes an Inet4Address
    } catch (UnknownHostException e) {
      throw new IllegalStateException("a GID has 16 bytes", e);
    }
  }
}
