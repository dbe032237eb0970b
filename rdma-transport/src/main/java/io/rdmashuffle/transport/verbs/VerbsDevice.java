package io.rdmashuffle.transport.verbs;

import com.ibm.disni.verbs.IbvCQ;
import com.ibm.disni.verbs.IbvCompChannel;
import com.ibm.disni.verbs.IbvContext;
import com.ibm.disni.verbs.IbvPd;
import com.ibm.disni.verbs.IbvQP;
import com.ibm.disni.verbs.IbvQPInitAttr;
import com.ibm.disni.verbs.RdmaCmId;
import com.ibm.disni.verbs.RdmaEventChannel;
import com.ibm.disni.verbs.impl.NatObject;
import io.rdmashuffle.conf.PortRange;
import io.rdmashuffle.transport.FailureKind;
import io.rdmashuffle.transport.TransportException;
import java.io.IOException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What a transport holds of its device: the id it listens with, one protection domain, and one
 * completion queue with its channel. Queue pairs and memory regions are others' and must be gone
 * before {@link #close()}.
 */
final class VerbsDevice implements QueuePairFactory, AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(VerbsDevice.class);

  /** Completion entries asked for first; each costs 64 bytes on common cards. */
  private static final int WANTED_COMPLETIONS = 16384;

  private static final int LEAST_COMPLETIONS = 16;

  /** Twice the 8 MiB that systemd allows by default: a limit of that kind shows at the start. */
  private static final long PROBE_LENGTH = 16L << 20;

  private final Candidate candidate;
  private final RdmaCmId listenId;
  private IbvContext context;
  private IbvPd pd;
  private IbvCompChannel channel;
  private IbvCQ completionQueue;
  private int completionEntries;

  private VerbsDevice(Candidate candidate, RdmaCmId listenId) {
    this.candidate = candidate;
    this.listenId = listenId;
  }

  /**
   * Binds a port of the range and creates the objects.
   *
   * @throws TransportException saying which step failed; nothing is left then
   */
  static VerbsDevice open(RdmaEventChannel events, Candidate candidate, PortRange ports)
      throws TransportException {
    VerbsDevice device = null;
    try {
      device = new VerbsDevice(candidate, events.createId((short) 0x106));
      device.bind(ports);
      device.context = device.listenId.getVerbs();
      if (device.context == null) {
        throw new IOException(candidate.address() + " is bound to no device");
      }
      device.pd = device.context.allocPd();
      device.channel = device.context.createCompChannel();
      device.createCompletionQueue();
      device.probeMemoryLimit();
      return device;
    } catch (IOException | TransportException e) {
      if (device != null) {
        device.close();
      }
      if (e instanceof TransportException failure) {
        throw failure;
      }
      throw new TransportException(
          FailureKind.NO_DEVICE, candidate + " cannot be used: " + e.getMessage(), e);
    }
  }

  Candidate candidate() {
    return candidate;
  }

  RdmaCmId listenId() {
    return listenId;
  }

  IbvContext context() {
    return context;
  }

  long contextHandle() {
    return handleOf(context);
  }

  long pdHandle() {
    return handleOf(pd);
  }

  long completionQueueHandle() {
    return handleOf(completionQueue);
  }

  long completionChannelHandle() {
    return handleOf(channel);
  }

  /** Completions the queue holds: never may more work requests be outstanding. */
  int completionEntries() {
    return completionEntries;
  }

  /** The port peers connect to. */
  int listenPort() {
    return VerbsExt.ipPortOf(handleOf(listenId));
  }

  static long handleOf(Object disniObject) {
    return ((NatObject) disniObject).getObjId();
  }

  @Override
  public IbvQP create(RdmaCmId id, int sendDepth) throws IOException {
    IbvQPInitAttr attributes = new IbvQPInitAttr();
    attributes.setQp_type(IbvQP.IBV_QPT_RC);
    attributes.setSend_cq(completionQueue);
    attributes.setRecv_cq(completionQueue);
    attributes.cap().setMax_send_wr(sendDepth);
    attributes.cap().setMax_recv_wr(1);
    return id.createQP(pd, attributes);
  }

  /** Destroys what there is, in the order the device demands. The event channel is not ours. */
  @Override
  public void close() {
    quietly("destroy id", listenId::destroyId);
    if (completionQueue != null) {
      quietly("destroy completion queue", completionQueue::destroyCQ);
    }
    if (channel != null) {
      quietly("destroy completion channel", () -> VerbsDevice.destroy(channel));
    }
    if (pd != null) {
      quietly("deallocate protection domain", pd::deallocPd);
    }
  }

  private static int destroy(IbvCompChannel channel) throws IOException {
    return com.ibm.disni.verbs.RdmaVerbs.open().destroyCompChannel(channel);
  }

  private void bind(PortRange ports) throws IOException {
    long id = handleOf(listenId);
    byte[] ip = candidate.address().getAddress();
    int result = 0;
    for (int port = ports.first(); port <= ports.last(); port++) {
      result = VerbsExt.bind(id, ip, port);
      if (result != -VerbsExt.EADDRINUSE) {
        VerbsExt.check("bind to " + candidate.address().getHostAddress() + ":" + port, result);
        return;
      }
    }
    throw new IOException(
        VerbsExt.describe("bind to a port of spark.shuffle.rdma.port=" + ports, result)
            + "; widen the range, every executor of a host needs its own");
  }

  private void createCompletionQueue() throws IOException {
    int entries = Math.min(WANTED_COMPLETIONS, candidate.attributes().maxCompletions());
    while (true) {
      try {
        completionQueue = context.createCQ(channel, entries, 0);
        completionEntries = entries;
        return;
      } catch (IOException e) {
        if (entries / 2 < LEAST_COMPLETIONS) {
          throw e;
        }
        entries /= 2;
      }
    }
  }

  private void probeMemoryLimit() throws IOException, TransportException {
    int result = VerbsExt.probeRegistration(pdHandle(), PROBE_LENGTH);
    if (result == -VerbsExt.ENOMEM && VerbsExt.memlockLimit() < Long.MAX_VALUE) {
      throw new TransportException(
          FailureKind.MEMLOCK_TOO_LOW, memlockMessage(PROBE_LENGTH, VerbsExt.memlockLimit()));
    }
    VerbsExt.check("register " + PROBE_LENGTH + " bytes", result);
  }

  /** What to say when the limit of locked memory refused a registration. */
  static String memlockMessage(long wanted, long limit) {
    return "RLIMIT_MEMLOCK="
        + limit
        + " bytes does not admit registering "
        + wanted
        + " bytes more; expected unlimited, or the size of all slabs: raise 'ulimit -l' for the"
        + " process (limits.conf, LimitMEMLOCK= of the service, or IPC_LOCK for a container)";
  }

  private interface Step {
    int run() throws Exception;
  }

  private static void quietly(String what, Step step) {
    try {
      int result = step.run();
      if (result < 0) {
        LOG.warn("{}", VerbsExt.describe(what, result));
      }
    } catch (Exception e) {
      LOG.warn("{} failed", what, e);
    }
  }
}
