package io.rdmashuffle.transport;

import java.nio.file.Path;
import java.util.Optional;
import java.util.UUID;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Name of the file behind a slab during the instant in which it has one: says which process made
 * it, so that a leftover is recognised, and is different for every slab.
 */
final class SlabFileName {
  private static final String PREFIX = "rdma-shuffle-slab";
  private static final Pattern PATTERN =
      Pattern.compile(
          PREFIX
              + "\\.([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})"
              + "\\.(\\d{1,18})\\.(\\d{1,18})\\.(\\d{1,18})\\.[0-9a-f-]{36}");

  private SlabFileName() {}

  static String create(ProcessIdentity creator) {
    return String.join(
        ".",
        PREFIX,
        creator.bootId().toString(),
        Long.toString(creator.pidNamespace()),
        Long.toString(creator.pid()),
        Long.toString(creator.startTime()),
        UUID.randomUUID().toString());
  }

  /** The process that made the file; empty when the name is none of ours. */
  static Optional<ProcessIdentity> creatorOf(Path file) {
    Matcher matcher = PATTERN.matcher(file.getFileName().toString());
    if (!matcher.matches()) {
      return Optional.empty();
    }
    return Optional.of(
        new ProcessIdentity(
            UUID.fromString(matcher.group(1)),
            Long.parseLong(matcher.group(2)),
            Long.parseLong(matcher.group(3)),
            Long.parseLong(matcher.group(4))));
  }
}
