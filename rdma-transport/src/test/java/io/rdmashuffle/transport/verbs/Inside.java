package io.rdmashuffle.transport.verbs;

import io.rdmashuffle.conf.TransportConfig;
import io.rdmashuffle.transport.PeerIdentity;
import io.rdmashuffle.transport.Transport;
import java.lang.reflect.Method;

/** Calls {@link InsideProbe} where the library is. */
final class Inside {
  private Inside() {}

  static String knock(byte[] endpoint, byte[] privateData) throws Exception {
    return (String) method("knock", byte[].class, byte[].class).invoke(null, endpoint, privateData);
  }

  static Transport openScarce(PeerIdentity self, TransportConfig conf, int limit) throws Exception {
    return (Transport)
        method("openScarce", PeerIdentity.class, TransportConfig.class, int.class)
            .invoke(null, self, conf, limit);
  }

  private static Method method(String name, Class<?>... parameters) throws Exception {
    return VerbsTransports.loader()
        .loadClass("io.rdmashuffle.transport.verbs.InsideProbe")
        .getMethod(name, parameters);
  }
}
