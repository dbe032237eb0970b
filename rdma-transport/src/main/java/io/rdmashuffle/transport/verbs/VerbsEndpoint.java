package io.rdmashuffle.transport.verbs;

import io.rdmashuffle.transport.FailureKind;
import io.rdmashuffle.transport.TransportException;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.nio.BufferUnderflowException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/**
 * Where a process listens for queue pairs. As bytes, big-endian: magic (2), version (1), fabric
 * (1), length of the address (1), address, port (2), length of the device's name (1), name.
 */
record VerbsEndpoint(Fabric fabric, InetAddress address, int port, String device) {
  private static final short MAGIC = 0x5256;
  private static final int VERSION = 1;
  private static final int MAX_NAME = 64;

  byte[] encode() {
    byte[] ip = address.getAddress();
    byte[] name = device.getBytes(StandardCharsets.US_ASCII);
    int nameLength = Math.min(MAX_NAME, name.length);
    return ByteBuffer.allocate(8 + ip.length + nameLength)
        .putShort(MAGIC)
        .put((byte) VERSION)
        .put((byte) fabric.number())
        .put((byte) ip.length)
        .put(ip)
        .putShort((short) port)
        .put((byte) nameLength)
        .put(name, 0, nameLength)
        .array();
  }

  /**
   * Reads what a peer published; it may come from a stranger.
   *
   * @throws TransportException CONNECT_REJECTED, saying what is wrong with it
   */
  static VerbsEndpoint decode(byte[] bytes) throws TransportException {
    ByteBuffer in = ByteBuffer.wrap(bytes);
    try {
      require(in.getShort() == MAGIC, "does not begin like one");
      int version = in.get();
      require(version == VERSION, "has version " + version + ", expected " + VERSION);
      Fabric fabric = Fabric.of(in.get());
      require(fabric != null, "names an unknown fabric");
      int ipLength = in.get();
      require(ipLength == 4 || ipLength == 16, "has an address of " + ipLength + " bytes");
      byte[] ip = new byte[ipLength];
      in.get(ip);
      InetAddress address = InetAddress.getByAddress(ip);
      require(
          !address.isAnyLocalAddress()
              && !address.isLoopbackAddress()
              && !address.isMulticastAddress()
              && !address.isLinkLocalAddress(),
          "has the address " + address.getHostAddress() + ", which is no host's");
      int port = in.getShort() & 0xffff;
      require(port != 0, "has port 0");
      int nameLength = in.get();
      require(
          nameLength >= 0 && nameLength <= MAX_NAME && nameLength == in.remaining(),
          "has a device name of " + nameLength + " bytes and " + in.remaining() + " left");
      byte[] name = Arrays.copyOfRange(bytes, in.position(), bytes.length);
      return new VerbsEndpoint(fabric, address, port, printable(name));
    } catch (BufferUnderflowException e) {
      throw invalid("ends after " + bytes.length + " bytes", e);
    } catch (UnknownHostException e) {
      throw invalid("has no valid address", e);
    }
  }

  private static String printable(byte[] name) throws TransportException {
    for (byte b : name) {
      require(b > ' ' && b < 0x7f, "has an unprintable device name");
    }
    return new String(name, StandardCharsets.US_ASCII);
  }

  private static void require(boolean condition, String problem) throws TransportException {
    if (!condition) {
      throw invalid(problem, null);
    }
  }

  private static TransportException invalid(String problem, Throwable cause) {
    return new TransportException(
        FailureKind.CONNECT_REJECTED, "the peer's RDMA endpoint " + problem, cause);
  }

  @Override
  public String toString() {
    String host = Candidate.text(address);
    return (host.indexOf(':') < 0 ? host : "[" + host + "]") + ":" + port + " (" + device + ")";
  }
}
