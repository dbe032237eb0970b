package io.rdmashuffle.store;

import io.rdmashuffle.transport.Access;
import io.rdmashuffle.transport.RegisteredSlab;
import io.rdmashuffle.transport.SlabMemory;
import io.rdmashuffle.transport.Transport;
import io.rdmashuffle.transport.TransportException;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Makes memory known to every available transport. Used by several threads. */
final class SlabRegistrar {
  private static final Logger LOG = LoggerFactory.getLogger(SlabRegistrar.class);

  private final String user;
  private final List<Transport> transports;
  private final Access access;
  private final Set<Transport> refusalsLogged = ConcurrentHashMap.newKeySet();

  /**
   * @param user whose memory it is, for log lines
   * @param transports unavailable ones are left out; stay the caller's
   * @param access what registrations permit
   */
  SlabRegistrar(String user, List<Transport> transports, Access access) {
    this.user = user;
    this.transports = transports.stream().filter(t -> t.availability().isAvailable()).toList();
    this.access = Objects.requireNonNull(access, "access");
  }

  /** Whether there is no transport to register with. */
  boolean isIdle() {
    return transports.isEmpty();
  }

  /** Number of transports to register with. */
  int transports() {
    return transports.size();
  }

  /**
   * Registers memory with each transport that accepts it; the first refusal of each is logged.
   *
   * @return owns the memory from now on
   */
  Slab register(SlabMemory memory) {
    RegisteredSlab[] registrations = new RegisteredSlab[transports.size()];
    for (int i = 0; i < registrations.length; i++) {
      Transport transport = transports.get(i);
      try {
        registrations[i] = transport.register(memory, access);
      } catch (TransportException e) {
        onRefused(transport, memory, null, e.getMessage());
      } catch (RuntimeException e) {
        onRefused(transport, memory, e, e.toString());
      }
    }
    return new Slab(memory, transports, registrations);
  }

  /** The slab is as good as ever for the other transports and for TCP. */
  private void onRefused(Transport transport, SlabMemory memory, Throwable bug, String reason) {
    if (refusalsLogged.add(transport)) {
      LOG.warn(
          "Transport {} refused to register {} of {}, which cannot be read over it: {}",
          transport.name(),
          memory,
          user,
          reason,
          bug);
    }
  }
}
