package io.rdmashuffle.transport.verbs;

import com.ibm.disni.verbs.RdmaEventChannel;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The thread that takes every event of the connection manager and of the device, and hands it to
 * the state machine it is for. Other threads only leave commands.
 */
final class ConnectionManager implements Runnable {
  private static final Logger LOG = LoggerFactory.getLogger(ConnectionManager.class);

  private static final int LONGEST_WAIT_MS = 10_000;
  private static final int PAUSE_MS = 10;

  /** Events taken before commands and deadlines have their turn, whoever sends them. */
  private static final int EVENT_LIMIT = 64;

  // enum ibv_event_type
  private static final int EVENT_PORT_ACTIVE = 9;
  private static final int EVENT_DEVICE_FATAL = 8;

  private final RdmaEventChannel events;
  private final long channel;
  private final int channelFd;
  private final int wakeFd;
  private final int asyncFd;
  private final VerbsDevice device;
  private final ByteBuffer eventBuffer =
      ByteBuffer.allocateDirect(VerbsExt.CM_EVENT_LENGTH).order(ByteOrder.nativeOrder());
  private final long eventAddress = VerbsExt.bufferAddress(eventBuffer);

  private final ConcurrentLinkedQueue<Runnable> commands = new ConcurrentLinkedQueue<>();
  private final Object wakeLock = new Object();
  private boolean isWakeFdClosed; // guarded by wakeLock
  private volatile Thread thread;

  // Owner: the thread.
  private final Map<Long, CmHandler> handlers = new HashMap<>();
  private boolean isStopping;

  ConnectionManager(RdmaEventChannel events, VerbsDevice device) throws IOException {
    this.events = events;
    this.device = device;
    channel = VerbsDevice.handleOf(events);
    channelFd = VerbsExt.check("event channel", VerbsExt.channelFd(channel));
    asyncFd = VerbsExt.check("asynchronous events", VerbsExt.asyncFd(device.contextHandle()));
    wakeFd = VerbsExt.check("eventfd", VerbsExt.createEventFd());
  }

  RdmaEventChannel events() {
    return events;
  }

  /** Has the thread run a command; any thread. What comes after the end is not run. */
  void execute(Runnable command) {
    commands.add(command);
    synchronized (wakeLock) {
      if (!isWakeFdClosed) {
        VerbsExt.signal(wakeFd);
      }
    }
  }

  /** Stops every handler and ends the thread. */
  void stop() {
    execute(
        () -> {
          isStopping = true;
          for (CmHandler handler : new ArrayList<>(handlers.values())) {
            guarded("stop", handler::onStop);
          }
        });
  }

  /** Frees what the thread used; only after it has ended. */
  void close() {
    synchronized (wakeLock) {
      if (!isWakeFdClosed) {
        isWakeFdClosed = true;
        VerbsExt.closeFd(wakeFd);
      }
    }
  }

  boolean isManagerThread() {
    return Thread.currentThread() == thread;
  }

  // On the thread.

  void add(long id, CmHandler handler) {
    handlers.put(id, handler);
  }

  void remove(long id) {
    handlers.remove(id);
  }

  @Override
  public void run() {
    thread = Thread.currentThread();
    while (true) {
      for (Runnable command = commands.poll(); command != null; command = commands.poll()) {
        guarded("command", command);
      }
      if (isStopping) {
        return;
      }
      takeCmEvents();
      takeAsyncEvents();
      int timeoutMs = commands.isEmpty() ? checkDeadlines() : 0;
      int ready = VerbsExt.waitReadable(channelFd, wakeFd, asyncFd, timeoutMs);
      if ((ready & 2) != 0) {
        VerbsExt.clearSignal(wakeFd);
      }
    }
  }

  private void takeCmEvents() {
    for (int i = 0; i < EVENT_LIMIT; i++) {
      int result = VerbsExt.nextCmEvent(channel, eventAddress);
      if (result == -VerbsExt.EAGAIN) {
        return;
      }
      if (result < 0) {
        LOG.warn("{}", VerbsExt.describe("rdma_get_cm_event", result));
        VerbsExt.waitReadable(wakeFd, -1, -1, PAUSE_MS); // not in a hot loop
        return;
      }
      CmEvent event = CmEvent.read(eventBuffer);
      boolean isRequest = event.type() == CmEvent.CONNECT_REQUEST;
      CmHandler handler = handlers.get(isRequest ? event.listenId() : event.id());
      if (handler != null) {
        guarded(event.name(), () -> handler.onEvent(event));
      } else if (isRequest) {
        VerbsExt.destroyId(event.id());
      }
    }
  }

  private void takeAsyncEvents() {
    int type = VerbsExt.nextAsyncEvent(device.contextHandle());
    for (; type >= 0; type = VerbsExt.nextAsyncEvent(device.contextHandle())) {
      String text = VerbsExt.asyncEventText(type);
      if (type == EVENT_PORT_ACTIVE) {
        LOG.info("{} reports: {}", device.candidate(), text);
      } else if (type == EVENT_DEVICE_FATAL) {
        LOG.error("{} reports: {}; its connections fail", device.candidate(), text);
        CmEvent removal = new CmEvent(CmEvent.DEVICE_REMOVAL, 0, 0, 0, 0, new byte[0]);
        for (CmHandler handler : new ArrayList<>(handlers.values())) {
          guarded("device error", () -> handler.onEvent(removal));
        }
      } else {
        // Connections it concerns fail by themselves; this is the reason to look for.
        LOG.warn("{} reports: {}", device.candidate(), text);
      }
    }
  }

  private int checkDeadlines() {
    long nowNs = System.nanoTime();
    long nearestNs = TimeUnit.MILLISECONDS.toNanos(LONGEST_WAIT_MS);
    List<CmHandler> late = new ArrayList<>();
    for (CmHandler handler : handlers.values()) {
      long deadlineNs = handler.deadlineNs();
      if (deadlineNs != CmHandler.NO_DEADLINE) {
        long leftNs = deadlineNs - nowNs;
        if (leftNs <= 0) {
          late.add(handler);
        } else {
          nearestNs = Math.min(nearestNs, leftNs);
        }
      }
    }
    late.forEach(handler -> guarded("deadline", handler::onDeadline));
    return (int) TimeUnit.NANOSECONDS.toMillis(nearestNs + 999_999);
  }

  private static void guarded(String what, Runnable action) {
    try {
      action.run();
    } catch (RuntimeException | Error e) {
      LOG.error("the RDMA connection manager failed at: {}", what, e);
    }
  }
}
