package io.rdmashuffle.transport.verbs;

import java.nio.ByteBuffer;

/** An event of the connection manager. */
final class CmEvent {
  static final int ADDR_RESOLVED = 0;
  static final int ADDR_ERROR = 1;
  static final int ROUTE_RESOLVED = 2;
  static final int ROUTE_ERROR = 3;
  static final int CONNECT_REQUEST = 4;
  static final int CONNECT_RESPONSE = 5;
  static final int CONNECT_ERROR = 6;
  static final int UNREACHABLE = 7;
  static final int REJECTED = 8;
  static final int ESTABLISHED = 9;
  static final int DISCONNECTED = 10;
  static final int DEVICE_REMOVAL = 11;
  static final int ADDR_CHANGE = 14;
  static final int TIMEWAIT_EXIT = 15;

  private static final String[] NAMES = {
    "ADDR_RESOLVED",
    "ADDR_ERROR",
    "ROUTE_RESOLVED",
    "ROUTE_ERROR",
    "CONNECT_REQUEST",
    "CONNECT_RESPONSE",
    "CONNECT_ERROR",
    "UNREACHABLE",
    "REJECTED",
    "ESTABLISHED",
    "DISCONNECTED",
    "DEVICE_REMOVAL",
    "MULTICAST_JOIN",
    "MULTICAST_ERROR",
    "ADDR_CHANGE",
    "TIMEWAIT_EXIT"
  };

  private final int type;
  private final long listenId;
  private final long id;
  private final int status;
  private final int responderResources;
  private final byte[] privateData;

  CmEvent(
      int type, long listenId, long id, int status, int responderResources, byte[] privateData) {
    this.type = type;
    this.listenId = listenId;
    this.id = id;
    this.status = status;
    this.responderResources = responderResources;
    this.privateData = privateData;
  }

  /** Copies what {@link VerbsExt#nextCmEvent} wrote. */
  static CmEvent read(ByteBuffer buffer) {
    byte[] privateData = new byte[buffer.getInt(32)];
    buffer.get(36, privateData);
    return new CmEvent(
        buffer.getInt(16),
        buffer.getLong(0),
        buffer.getLong(8),
        buffer.getInt(20),
        buffer.getInt(24),
        privateData);
  }

  /** One of the constants here. */
  int type() {
    return type;
  }

  /** The listener's id of a connect request, else 0. */
  long listenId() {
    return listenId;
  }

  /** The id the event is about. */
  long id() {
    return id;
  }

  /** 0, a negative errno, or the fabric's reason of a rejection. */
  int status() {
    return status;
  }

  /** Reads the other side wants answered at a time. */
  int responderResources() {
    return responderResources;
  }

  /** What the other side sent along, perhaps padded; not copied. */
  byte[] privateData() {
    return privateData;
  }

  String name() {
    return type >= 0 && type < NAMES.length ? NAMES[type] : "event " + type;
  }

  /** Name and status, for messages. */
  String describe() {
    if (status < 0) {
      return name() + ", " + VerbsExt.errnoText(-status);
    }
    return status == 0 ? name() : name() + ", status " + status;
  }
}
