package io.rdmashuffle.transport.verbs;

import io.rdmashuffle.conf.TransportConfig;
import io.rdmashuffle.transport.FailureKind;
import io.rdmashuffle.transport.TransportException;
import java.io.File;
import java.io.IOException;
import java.net.InetAddress;
import java.net.NetworkInterface;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * Finds the address, and by it the device and port, at which peers will reach this process.
 *
 * <p>The connection manager knows devices by IP address, so every local address is tried: the
 * device that a bind ends up on is the one that traffic to the address would use. This holds for
 * InfiniBand (IP over IB), RoCE and iWARP alike.
 */
final class DeviceDiscovery {
  private static final int MAX_DEVICES = 64;
  private static final String SYSFS = "/sys/class/infiniband";

  private final TransportConfig conf;
  private final String preferredHost;
  private final List<String> rejections = new ArrayList<>();
  private final List<Candidate> candidates = new ArrayList<>();
  private final Map<String, Long> devices = new TreeMap<>(); // name -> context

  DeviceDiscovery(TransportConfig conf, String preferredHost) {
    this.conf = conf;
    this.preferredHost = preferredHost;
  }

  /**
   * The best candidate.
   *
   * @param channel handle of an event channel
   * @throws TransportException NO_DEVICE, naming every device, port and address and why not
   */
  Candidate choose(long channel) throws TransportException {
    for (NetworkInterface each : interfaces()) {
      each.inetAddresses().forEach(address -> examine(channel, each, address));
    }
    rejectPortsWithoutAddress();
    DeviceFilter filter = new DeviceFilter(conf.device());
    Candidate best = null;
    for (Candidate candidate : candidates) {
      if (!filter.admits(candidate)) {
        rejections.add(candidate + ": not what spark.shuffle.rdma.device=" + conf.device());
      } else if (conf.gidIndex() >= 0 && candidate.gidIndex() != conf.gidIndex()) {
        rejections.add(candidate + ": not what spark.shuffle.rdma.gidIndex=" + conf.gidIndex());
      } else if (best == null || order().compare(candidate, best) < 0) {
        best = candidate;
      }
    }
    if (best == null) {
      throw noDevice(
          "no RDMA device can be used, expected an active port with an IP address that peers can"
              + " reach; found "
              + (rejections.isEmpty() ? "none" : String.join("; ", rejections)));
    }
    return best;
  }

  /** What else there was, and why not, for the log. */
  String passedOver(Candidate chosen) {
    List<String> others = new ArrayList<>(rejections);
    for (Candidate candidate : candidates) {
      if (!candidate.equals(chosen)
          && rejections.stream().noneMatch(r -> r.startsWith(candidate + ":"))) {
        others.add(candidate + ": usable too");
      }
    }
    return others.isEmpty() ? "nothing" : String.join("; ", others);
  }

  private Comparator<Candidate> order() {
    InetAddress[] preferred = preferredAddresses();
    return Comparator.<Candidate>comparingInt(c -> contains(preferred, c.address()) ? 0 : 1)
        .thenComparing(c -> c.isIpv4() ? 0 : 1)
        .thenComparing(c -> -c.portAttributes().speed())
        .thenComparing(Candidate::device)
        .thenComparing(Candidate::port)
        .thenComparing(c -> c.address().getHostAddress());
  }

  /**
   * Opens what there is; call first.
   *
   * @throws TransportException NO_DEVICE when there is nothing
   */
  void openDevices() throws TransportException {
    String[] present = new String[MAX_DEVICES];
    int count = VerbsExt.presentDevices(present);
    if (count <= 0) {
      throw noDevice(
          noDeviceText(count < 0 ? VerbsExt.describe("ibv_get_device_list", count) : ""));
    }
    long[] contexts = new long[MAX_DEVICES];
    int open = VerbsExt.openDevices(contexts);
    for (int i = 0; i < open; i++) {
      devices.put(VerbsExt.deviceName(contexts[i]), contexts[i]);
    }
    for (int i = 0; i < count; i++) {
      if (!devices.containsKey(present[i])) {
        rejections.add(
            present[i]
                + ": cannot be opened ("
                + (open < 0
                    ? VerbsExt.describe("rdma_get_devices", open)
                    : "not known to the connection manager")
                + "); check the permissions of /dev/infiniband");
      }
    }
  }

  private static String noDeviceText(String error) {
    String[] known = new File(SYSFS).list();
    String hint = error.isEmpty() ? "" : " (" + error + ")";
    return known == null || known.length == 0
        ? "no RDMA device: expected one in "
            + SYSFS
            + ", found none"
            + hint
            + "; load the driver of the card"
        : "no RDMA device can be opened: "
            + String.join(", ", known)
            + " in "
            + SYSFS
            + ", but no /dev/infiniband/uverbs node that this process may use"
            + hint
            + "; load ib_uverbs, check permissions, or in a container pass /dev/infiniband through";
  }

  private List<NetworkInterface> interfaces() throws TransportException {
    try {
      List<NetworkInterface> up = new ArrayList<>();
      for (NetworkInterface each : NetworkInterface.networkInterfaces().toList()) {
        if (each.isLoopback()) {
          continue;
        }
        each.subInterfaces().forEach(up::add);
        up.add(each);
      }
      return up;
    } catch (IOException e) {
      throw new TransportException(
          FailureKind.NO_DEVICE, "cannot list network interfaces: " + e.getMessage(), e);
    }
  }

  private void examine(long channel, NetworkInterface networkInterface, InetAddress address) {
    String place = networkInterface.getName() + " " + address.getHostAddress();
    long id = VerbsExt.createId(channel);
    if (id < 0) {
      rejections.add(place + ": " + VerbsExt.describe("rdma_create_id", id));
      return;
    }
    try {
      if (address.isLinkLocalAddress() || VerbsExt.bind(id, address.getAddress(), 0) < 0) {
        return; // no other host reaches it, or no RDMA device has it
      }
      long context = VerbsExt.contextOf(id);
      if (context >= 0) {
        examine(context, VerbsExt.portOf(id), networkInterface.getName(), address);
      }
    } catch (IOException e) {
      rejections.add(place + ": " + e.getMessage());
    } finally {
      VerbsExt.destroyId(id);
    }
  }

  private void examine(long context, int port, String networkInterface, InetAddress address)
      throws IOException {
    String device = VerbsExt.deviceName(context);
    DeviceAttributes attributes = DeviceAttributes.query(context);
    PortAttributes portAttributes = PortAttributes.query(context, port);
    GidTable gids = GidTable.query(context, port, portAttributes.gidCount());
    GidTable.Entry gid = gids.routable(address);
    Candidate candidate =
        new Candidate(
            device,
            port,
            networkInterface,
            address,
            gid == null ? -1 : gid.index(),
            attributes,
            portAttributes);
    if (!portAttributes.isActive()) {
      rejections.add(candidate + ": port is " + portAttributes.stateName() + ", not ACTIVE");
    } else if (portAttributes.maxMessageLength() < 4096) {
      rejections.add(
          candidate + ": max_msg_sz=" + portAttributes.maxMessageLength() + " makes no sense");
    } else if (candidate.fabric() == Fabric.ROCE && gid == null) {
      rejections.add(
          candidate + ": no RoCE v2 entry for the address in the GID table " + gids.entries());
    } else {
      candidates.add(candidate);
    }
  }

  private void rejectPortsWithoutAddress() {
    for (Map.Entry<String, Long> device : devices.entrySet()) {
      try {
        DeviceAttributes attributes = DeviceAttributes.query(device.getValue());
        for (int port = 1; port <= attributes.ports(); port++) {
          if (!isMentioned(device.getKey() + " port " + port + " ")) {
            PortAttributes state = PortAttributes.query(device.getValue(), port);
            rejections.add(
                device.getKey()
                    + " port "
                    + port
                    + " ("
                    + state.stateName()
                    + "): no usable IP address; "
                    + GidTable.query(device.getValue(), port, state.gidCount()).entries());
          }
        }
      } catch (IOException e) {
        rejections.add(device.getKey() + ": " + e.getMessage());
      }
    }
  }

  private boolean isMentioned(String start) {
    return candidates.stream().anyMatch(c -> c.toString().startsWith(start))
        || rejections.stream().anyMatch(r -> r.startsWith(start));
  }

  private InetAddress[] preferredAddresses() {
    if (preferredHost.isEmpty()) {
      return new InetAddress[0];
    }
    try {
      return InetAddress.getAllByName(preferredHost);
    } catch (IOException e) {
      return new InetAddress[0]; // a wish, not a need
    }
  }

  private static boolean contains(InetAddress[] addresses, InetAddress wanted) {
    for (InetAddress address : addresses) {
      if (address.equals(wanted)) {
        return true;
      }
    }
    return false;
  }

  private static TransportException noDevice(String message) {
    return new TransportException(FailureKind.NO_DEVICE, message);
  }
}
