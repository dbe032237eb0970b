package io.rdmashuffle.transport.verbs;

import java.io.IOException;
import java.nio.ByteBuffer;

/**
 * Natives beside DiSNI's, for what DiSNI has no call for. They take the handles of DiSNI's objects
 * ({@code NatObject.getObjId()}), never throw, and answer a negative errno on failure.
 */
final class VerbsExt {
  static {
    System.loadLibrary("disni");
  }

  /** {@code errno} of a call that would have had to wait. */
  static final int EAGAIN = 11;

  static final int EINTR = 4;
  static final int ENOMEM = 12;
  static final int EACCES = 13;
  static final int EADDRINUSE = 98;
  static final int ETIMEDOUT = 110;
  static final int ECONNREFUSED = 111;

  /** Bytes of a work completion as {@link #pollCq} writes it. */
  static final int COMPLETION_LENGTH = 48;

  static final int COMPLETION_STATUS_OFFSET = 8;
  static final int COMPLETION_VENDOR_ERROR_OFFSET = 16;

  /**
   * Bytes of a read as {@link #postReads} takes it: remote address (8), local address (8), length,
   * remote key, local key, zero (4 each).
   */
  static final int READ_LENGTH = 32;

  /** Bytes {@link #nextCmEvent} may write. */
  static final int CM_EVENT_LENGTH = 296;

  static final int ACCESS_LOCAL_WRITE = 1;
  static final int ACCESS_REMOTE_READ = 4;

  private VerbsExt() {}

  // Library, buffers, limits, texts.

  static native String abi();

  /** Where a direct buffer begins; the caller keeps the buffer reachable while it is used. */
  static native long bufferAddress(ByteBuffer buffer);

  /** Soft limit of locked memory in bytes, {@code Long.MAX_VALUE} for none. */
  static native long memlockLimit();

  static native String errnoText(int errno);

  static native String statusText(int status);

  static native String asyncEventText(int event);

  // Devices. A context lives as long as the process; it is not closed.

  static native int presentDevices(String[] names);

  static native int openDevices(long[] contexts);

  static native String deviceName(long context);

  static native int queryDevice(long context, long[] attributes);

  static native int queryPort(long context, int port, long[] attributes);

  /** Fills in the 16 bytes of an entry; answers its type: 0 IB, 1 RoCE v1, 2 RoCE v2. */
  static native int queryGid(long context, int port, int index, byte[] gid);

  static native int asyncFd(long context);

  /** Takes one event of the device without waiting; shared by all transports on that device. */
  static native int nextAsyncEvent(long context);

  // Connection manager.

  static native long createId(long channel);

  static native int destroyId(long id);

  static native int channelFd(long channel);

  /** Takes one event without waiting and acknowledges it; answers its type. */
  static native int nextCmEvent(long channel, long address);

  static native long contextOf(long id);

  static native int portOf(long id);

  static native int ipPortOf(long id);

  static native int bind(long id, byte[] ip, int port);

  static native int resolve(long id, byte[] ip, int port, int timeoutMs);

  static native int setTypeOfService(long id, int value);

  static native int setAckTimeout(long id, int exponent);

  static native int connect(
      long id,
      byte[] privateData,
      int responderResources,
      int initiatorDepth,
      int retryCount,
      int rnrRetryCount);

  static native int accept(
      long id, byte[] privateData, int responderResources, int initiatorDepth, int rnrRetryCount);

  static native int reject(long id, byte[] privateData);

  // Queue pairs and completions.

  /** State, send work requests, send elements, outstanding reads, timeout, retries, MTU code. */
  static native int queryQp(long qp, int[] values);

  static native long createChain(int capacity);

  static native int destroyChain(long chain);

  /**
   * Posts reads with one doorbell, only the last signaled; read i has work request id {@code
   * firstWrId + i}. The chain is scratch space of one thread.
   */
  static native int postReads(long qp, long chain, long address, int count, long firstWrId);

  static native int pollCq(long cq, int count, long address);

  static native int requestNotification(long cq);

  static native int compChannelFd(long channel);

  static native int takeCqEvents(long channel);

  // Memory regions.

  /** Answers a handle; fills in lkey and rkey. */
  static native long registerMemory(long pd, long address, long length, int access, int[] keys);

  static native int deregisterMemory(long region);

  /** Registers that many bytes of fresh memory and gives them back: 0 if the limits admit it. */
  static native int probeRegistration(long pd, long length);

  // Waiting.

  static native int createEventFd();

  static native int closeFd(int fd);

  static native int signal(int fd);

  static native int clearSignal(int fd);

  /** Waits for descriptors (-1: none); bit i of the answer: descriptor i is readable. */
  static native int waitReadable(int fd0, int fd1, int fd2, int timeoutMs);

  /** The result, or an exception that names the operation if it is an error. */
  static long check(String operation, long result) throws IOException {
    if (result < 0) {
      throw new IOException(describe(operation, result));
    }
    return result;
  }

  static int check(String operation, int result) throws IOException {
    return (int) check(operation, (long) result);
  }

  static String describe(String operation, long negative) {
    int errno = (int) -negative;
    return operation + ": " + errnoText(errno) + " (errno " + errno + ")";
  }
}
