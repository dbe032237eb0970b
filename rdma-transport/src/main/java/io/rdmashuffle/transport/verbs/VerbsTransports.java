package io.rdmashuffle.transport.verbs;

import io.rdmashuffle.conf.TransportConfig;
import io.rdmashuffle.transport.FailureKind;
import io.rdmashuffle.transport.PeerIdentity;
import io.rdmashuffle.transport.Transport;
import java.lang.reflect.InvocationTargetException;

/**
 * Opens the verbs transport: the only class of this package that others use.
 *
 * <p>The native library is loaded once for each class loader that defines this class, and stays
 * loaded as long as that one lives; any number of transports can be opened.
 */
public final class VerbsTransports {
  private static ClassLoader loader; // guarded by the class

  private VerbsTransports() {}

  /** As {@link #open(PeerIdentity, TransportConfig, String)}, without a preferred address. */
  public static Transport open(PeerIdentity self, TransportConfig conf) {
    return open(self, conf, "");
  }

  /**
   * Opens the device that the settings name or that suits best. Never throws: without library,
   * device or permission the transport says so in {@link Transport#availability()} and refuses
   * everything.
   *
   * @param self who this process is; peers prove that they know its token
   * @param preferredHost name or address under which Spark knows this process; a device that has
   *     this address is preferred to others. Empty: none
   */
  public static Transport open(PeerIdentity self, TransportConfig conf, String preferredHost) {
    try {
      return (Transport)
          loader()
              .loadClass("io.rdmashuffle.transport.verbs.VerbsFactory")
              .getMethod("open", PeerIdentity.class, TransportConfig.class, String.class)
              .invoke(null, self, conf, preferredHost);
    } catch (NativeLibraryException e) {
      return new UnavailableTransport(FailureKind.NATIVE_MISSING, e.getMessage());
    } catch (InvocationTargetException e) {
      return new UnavailableTransport(
          FailureKind.NO_DEVICE, "opening the RDMA device failed: " + e.getCause());
    } catch (ReflectiveOperationException | LinkageError e) {
      return new UnavailableTransport(
          FailureKind.NATIVE_MISSING, "the classes of the verbs transport do not load: " + e);
    }
  }

  /** The loader that defines DiSNI and this package beside the native library. */
  static synchronized ClassLoader loader() throws NativeLibraryException {
    if (loader == null) {
      loader = NativeLibrary.load(VerbsTransports.class.getClassLoader(), NativeAbi.HASH);
    }
    return loader;
  }
}
