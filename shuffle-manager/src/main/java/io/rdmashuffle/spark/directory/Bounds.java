package io.rdmashuffle.spark.directory;

import io.rdmashuffle.transport.Transport;
import java.nio.charset.StandardCharsets;
import java.util.Collection;
import java.util.Locale;

/** Bounds that every record and every message keeps, whatever the limits of a directory are. */
final class Bounds {
  /** Longest executor id or host, in bytes of UTF-8. */
  static final int MAX_NAME_BYTES = 256;

  /** Most transports of one executor. */
  static final int MAX_TRANSPORTS = 8;

  /** Longest name of a transport, in bytes. */
  static final int MAX_TRANSPORT_NAME_BYTES = 32;

  /** Longest endpoint of a transport, in bytes. */
  static final int MAX_ENDPOINT_BYTES = Transport.MAX_ENDPOINT_LENGTH;

  /** Most slabs of one executor. */
  static final int MAX_SLABS = 65_536;

  /** Most outputs in one publication. */
  static final int MAX_OUTPUTS_PER_PUBLICATION = 1_024;

  /** Most entries of one page of a shuffle's outputs. */
  static final int MAX_PAGE_ENTRIES = 65_536;

  /** Most executors named in one message. */
  static final int MAX_EXECUTORS_PER_MESSAGE = 65_536;

  /** Most peers asked for in one message. */
  static final int MAX_PEERS_PER_REQUEST = 256;

  /** Most shuffles asked about in one message. */
  static final int MAX_SHUFFLES_PER_REQUEST = 4_096;

  /** Most counters of one report. */
  static final int MAX_COUNTERS = 256;

  /** Longest name of a counter, in bytes. */
  static final int MAX_COUNTER_NAME_BYTES = 128;

  /** Longest text of a refusal, in bytes; longer ones are cut. */
  static final int MAX_TEXT_BYTES = 2_048;

  /** Longest index block, in bytes: one of 16,777,216 partitions with checksums fits. */
  static final int MAX_INDEX_BYTES = 1 << 29;

  private Bounds() {}

  static void check(boolean holds, String format, Object... arguments) {
    if (!holds) {
      throw new IllegalArgumentException(String.format(Locale.ROOT, format, arguments));
    }
  }

  static void checkName(String what, String value) {
    check(!value.isEmpty(), "%s is empty", what);
    checkLength(what, value, MAX_NAME_BYTES);
  }

  static void checkTransports(Collection<String> names) {
    check(names.size() <= MAX_TRANSPORTS, "transports=%d > %d", names.size(), MAX_TRANSPORTS);
    for (String name : names) {
      checkLength("transport name", name, MAX_TRANSPORT_NAME_BYTES);
    }
  }

  static void checkLength(String what, String value, int maxBytes) {
    int bytes = value.getBytes(StandardCharsets.UTF_8).length;
    check(bytes <= maxBytes, "%s takes %d bytes > %d", what, bytes, maxBytes);
  }
}
