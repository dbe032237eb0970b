package io.rdmashuffle.transport.verbs;

import java.net.Inet4Address;
import java.net.InetAddress;

/**
 * An address at which peers could reach a port of an RDMA device.
 *
 * @param device name of the device
 * @param port number of the port
 * @param networkInterface name of the interface that has the address
 * @param gidIndex the RoCE v2 entry of the GID table that holds the address, -1 on other fabrics
 */
record Candidate(
    String device,
    int port,
    String networkInterface,
    InetAddress address,
    int gidIndex,
    DeviceAttributes attributes,
    PortAttributes portAttributes) {
  /** Longest single read: what the port can carry, bounded by what an int can say. */
  int maxReadLength() {
    return (int) Math.min(1 << 30, portAttributes.maxMessageLength());
  }

  boolean isIpv4() {
    return address instanceof Inet4Address;
  }

  Fabric fabric() {
    if (attributes.isIwarp()) {
      return Fabric.IWARP;
    }
    return portAttributes.isEthernet() ? Fabric.ROCE : Fabric.INFINIBAND;
  }

  /** The address without the scope that Java adds to some. */
  static String text(InetAddress address) {
    String text = address.getHostAddress();
    int scope = text.indexOf('%');
    return scope < 0 ? text : text.substring(0, scope);
  }

  @Override
  public String toString() {
    return device
        + " port "
        + port
        + " ("
        + fabric()
        + ", "
        + networkInterface
        + " "
        + text(address)
        + (gidIndex < 0 ? "" : ", GID " + gidIndex)
        + ")";
  }
}
