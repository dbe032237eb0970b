package io.rdmashuffle.conf;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.Comparator;
import java.util.EnumSet;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.function.UnaryOperator;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/**
 * One setting: its name, type, default, bounds and meaning. All keys are in {@link ConfigKeys}.
 *
 * @param <T> the type of its value
 */
public final class ConfigKey<T> {
  /** What every key of the plugin begins with. */
  public static final String PREFIX = "spark.shuffle.rdma.";

  /**
   * A SparkRDMA key that means the same, and how its value reads here.
   *
   * @param name the old key, in full
   * @param translate makes a value of this plugin out of one of SparkRDMA's
   */
  record Alias(String name, UnaryOperator<String> translate) {}

  private final String name;
  private final Type<T> type;
  private final String defaultText;
  private final T defaultValue;
  private final String since;
  private final List<Alias> aliases;
  private final String doc;

  private ConfigKey(Builder<T> builder, String doc) {
    this.name = PREFIX + builder.name;
    this.type = builder.type;
    this.defaultText = builder.defaultText;
    this.defaultValue = parse(builder.defaultText);
    this.since = builder.since;
    this.aliases = List.copyOf(builder.aliases);
    this.doc = doc;
  }

  /** Returns the key in full, such as {@code spark.shuffle.rdma.memory.size}. */
  public String name() {
    return name;
  }

  /** Returns the value that holds when the key is not set, in the spelling of settings. */
  public String defaultText() {
    return defaultText;
  }

  /** Returns what values the key takes, in words. */
  public String allowed() {
    return type.allowed();
  }

  /** Returns the version that brought the key. */
  public String since() {
    return since;
  }

  /** Returns what the key does, in Markdown. */
  public String doc() {
    return doc;
  }

  /** Returns the full name, so that a key can stand in a message. */
  @Override
  public String toString() {
    return name;
  }

  T defaultValue() {
    return defaultValue;
  }

  List<Alias> aliases() {
    return aliases;
  }

  boolean isBounded() {
    return type.bounded;
  }

  /**
   * Reads a value.
   *
   * @throws IllegalArgumentException if the key does not take it; the message completes a sentence
   *     that begins with the value
   */
  T parse(String text) {
    return type.parser.apply(text);
  }

  static Builder<DataSize> dataSize(String name) {
    return ordered(name, DataSize::parse, "a size");
  }

  static Builder<Duration> duration(String name) {
    return ordered(name, TimeSpan::parse, "a duration");
  }

  static Builder<Integer> integer(String name) {
    return ordered(name, ConfigKey::parseInteger, "a whole number");
  }

  static Builder<Boolean> bool(String name) {
    return unordered(name, ConfigKey::parseBoolean, "`true` or `false`");
  }

  static Builder<PortRange> portRange(String name) {
    return unordered(name, PortRange::parse, "`0`, a port or a range of ports from 1024 to 65535");
  }

  /** A text that matches a pattern; {@code allowed} says which in words. */
  static Builder<String> text(String name, Pattern pattern, String allowed) {
    return unordered(name, text -> parseText(text, pattern), allowed);
  }

  /** A comma-separated list of an enum's constants, in any order and case, none twice. */
  static <E extends Enum<E>> Builder<Set<E>> enumSet(String name, Class<E> enumClass) {
    return unordered(
        name,
        text -> parseEnumSet(text, enumClass),
        "a comma-separated list of " + names(enumClass, ", "));
  }

  /** One of an enum's constants, in any case. */
  static <E extends Enum<E>> Builder<E> enumConstant(String name, Class<E> enumClass) {
    return unordered(name, text -> parseEnum(text, enumClass), names(enumClass, " or "));
  }

  private static <E extends Enum<E>> String names(Class<E> enumClass, String separator) {
    return Arrays.stream(enumClass.getEnumConstants())
        .map(constant -> "`" + constant + "`")
        .collect(Collectors.joining(separator));
  }

  private static <T extends Comparable<T>> Builder<T> ordered(
      String name, Function<String, T> parser, String allowed) {
    return new Builder<>(name, new Type<>(parser, Comparator.naturalOrder(), allowed, false));
  }

  private static <T> Builder<T> unordered(String name, Function<String, T> parser, String allowed) {
    return new Builder<>(name, new Type<>(parser, ConfigKey::refuseToCompare, allowed, false));
  }

  private static <T> int refuseToCompare(T left, T right) {
    throw new UnsupportedOperationException("no order between " + left + " and " + right);
  }

  private static Integer parseInteger(String text) {
    try {
      return Integer.valueOf(text.trim());
    } catch (NumberFormatException e) {
      throw new IllegalArgumentException("is not a whole number of 32 bits", e);
    }
  }

  private static Boolean parseBoolean(String text) {
    return switch (text.trim().toLowerCase(Locale.ROOT)) {
      case "true" -> true;
      case "false" -> false;
      default -> throw new IllegalArgumentException("is neither true nor false");
    };
  }

  private static String parseText(String text, Pattern pattern) {
    final String trimmed = text.trim();
    if (!pattern.matcher(trimmed).matches()) {
      throw new IllegalArgumentException("is not of the form this key takes");
    }
    return trimmed;
  }

  private static <E extends Enum<E>> Set<E> parseEnumSet(String text, Class<E> enumClass) {
    final Set<E> constants = EnumSet.noneOf(enumClass);
    for (String item : text.split(",", -1)) {
      final E constant = parseEnum(item, enumClass);
      if (!constants.add(constant)) {
        throw new IllegalArgumentException("names " + constant + " twice");
      }
    }
    return Collections.unmodifiableSet(constants);
  }

  private static <E extends Enum<E>> E parseEnum(String text, Class<E> enumClass) {
    return Arrays.stream(enumClass.getEnumConstants())
        .filter(candidate -> candidate.toString().equalsIgnoreCase(text.trim()))
        .findFirst()
        .orElseThrow(
            () -> new IllegalArgumentException("has the unknown entry '" + text.trim() + "'"));
  }

  /** How to read a value, and which are allowed. */
  private record Type<T>(
      Function<String, T> parser, Comparator<T> order, String allowed, boolean bounded) {

    Type<T> restricted(
        Predicate<T> predicate, String violation, String moreAllowed, boolean bound) {
      return new Type<>(
          text -> {
            final T value = parser.apply(text);
            if (!predicate.test(value)) {
              throw new IllegalArgumentException(violation);
            }
            return value;
          },
          order,
          allowed + moreAllowed,
          bounded || bound);
    }
  }

  /** Collects what makes a key; {@link #doc} ends it. */
  static final class Builder<T> {
    private final String name;
    private final List<Alias> aliases = new ArrayList<>();
    private Type<T> type;
    private String defaultText = "";
    private String since = "";

    private Builder(String name, Type<T> type) {
      this.name = name;
      this.type = type;
    }

    Builder<T> defaultsTo(String text) {
      defaultText = text;
      return this;
    }

    /** Both ends are allowed. */
    Builder<T> between(String least, String most) {
      final T min = type.parser.apply(least);
      final T max = type.parser.apply(most);
      final Comparator<T> order = type.order;
      type =
          type.restricted(
              value -> order.compare(value, min) >= 0 && order.compare(value, max) <= 0,
              "is out of bounds",
              " from " + least + " to " + most,
              true);
      return this;
    }

    /** The rule completes both "is not …" and ", …". */
    Builder<T> must(Predicate<T> predicate, String rule) {
      type = type.restricted(predicate, "is not " + rule, ", " + rule, false);
      return this;
    }

    /** Takes the word {@code auto} as well, read as empty. */
    Builder<Optional<T>> orAuto() {
      final Function<String, T> parser = type.parser;
      return new Builder<>(
          name,
          new Type<>(
              text ->
                  "auto".equalsIgnoreCase(text.trim())
                      ? Optional.empty()
                      : Optional.of(parser.apply(text)),
              ConfigKey::refuseToCompare,
              "`auto`, or " + type.allowed,
              type.bounded));
    }

    Builder<T> since(String version) {
      since = version;
      return this;
    }

    /** Names SparkRDMA's key of the same meaning, without the prefix. */
    Builder<T> replaces(String sparkRdmaKey) {
      return replaces(sparkRdmaKey, UnaryOperator.identity());
    }

    Builder<T> replaces(String sparkRdmaKey, UnaryOperator<String> translate) {
      aliases.add(new Alias(PREFIX + sparkRdmaKey, translate));
      return this;
    }

    /** Says what the key does and why its default is what it is; ends the key. */
    ConfigKey<T> doc(String doc) {
      return new ConfigKey<>(this, doc);
    }
  }
}
