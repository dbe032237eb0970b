package io.rdmashuffle.transport.verbs;

import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.Locale;

/** What the device setting admits: a device, an interface, an address, a subnet, or anything. */
record DeviceFilter(String text) {
  private static final String ANY = "auto";

  boolean isAny() {
    return text.isEmpty() || text.toLowerCase(Locale.ROOT).equals(ANY);
  }

  boolean admits(Candidate candidate) {
    return isAny()
        || text.equals(candidate.device())
        || text.equals(candidate.device() + ":" + candidate.port())
        || text.equals(candidate.networkInterface())
        || admits(candidate.address());
  }

  private boolean admits(InetAddress address) {
    int slash = text.indexOf('/');
    byte[] wanted = literal(slash < 0 ? text : text.substring(0, slash));
    byte[] found = address.getAddress();
    if (wanted == null || wanted.length != found.length) {
      return false;
    }
    int bits = found.length * 8;
    if (slash >= 0) {
      try {
        bits = Integer.parseInt(text.substring(slash + 1));
      } catch (NumberFormatException e) {
        return false;
      }
    }
    for (int i = 0; i < found.length && bits > 0; i++, bits -= 8) {
      int mask = bits >= 8 ? 0xff : 0xff & (0xff << (8 - bits));
      if (((wanted[i] ^ found[i]) & mask) != 0) {
        return false;
      }
    }
    return true;
  }

  /** The bytes of an address literal, null for anything else: names are not looked up here. */
  private static byte[] literal(String text) {
    if (!text.matches("[0-9.]+|[0-9a-fA-F:.]*:[0-9a-fA-F:.]*")) {
      return null;
    }
    try {
      return InetAddress.getByName(text).getAddress();
    } catch (UnknownHostException e) {
      return null;
    }
  }
}
