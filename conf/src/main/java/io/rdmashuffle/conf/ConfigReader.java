package io.rdmashuffle.conf;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.UnaryOperator;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * Reads one set of properties: first all keys, each for itself, then rules between keys. Problems
 * and warnings pile up; a key with a problem has no value, and rules that involve it are skipped.
 */
final class ConfigReader {
  /**
   * Where a key's value comes from.
   *
   * @param name the key that was set: the key itself or an alias
   * @param text its value as the key itself would have it
   */
  private record Origin(String name, String text) {}

  private final Map<ConfigKey<?>, Object> values = new HashMap<>();
  private final Map<ConfigKey<?>, Origin> origins = new HashMap<>();
  private final List<String> problems = new ArrayList<>();
  private final List<String> warnings = new ArrayList<>();

  ConfigReader(Map<String, String> properties) {
    final Map<String, String> unread = new TreeMap<>();
    properties.forEach(
        (name, text) -> {
          if (name.startsWith(ConfigKey.PREFIX)) {
            unread.put(name, text == null ? "" : text);
          }
        });
    ConfigKeys.all().forEach(key -> read(key, unread));
    unread.forEach(this::onUnread);
  }

  /** Returns the value of a key; only when there are no problems. */
  @SuppressWarnings("unchecked") // values holds a T for every ConfigKey<T>
  <T> T get(ConfigKey<T> key) {
    return (T) values.get(key);
  }

  /**
   * Returns the key and how its value was spelled, and where from unless the key itself was set.
   */
  String describe(ConfigKey<?> key) {
    final Origin origin = origins.get(key);
    if (origin == null) {
      return setting(key.name(), key.defaultText()) + " (default)";
    }
    final String given = setting(key.name(), origin.text());
    return origin.name().equals(key.name()) ? given : given + " (from " + origin.name() + ")";
  }

  /** Demands {@code larger > smaller}. */
  <T extends Comparable<T>> void mustExceed(ConfigKey<T> larger, ConfigKey<T> smaller, String why) {
    if (haveValues(larger, smaller) && get(larger).compareTo(get(smaller)) <= 0) {
      contradiction(larger, "<=", smaller, why);
    }
  }

  /** Demands {@code larger >= smaller}. */
  <T extends Comparable<T>> void mustReach(ConfigKey<T> larger, ConfigKey<T> smaller, String why) {
    if (haveValues(larger, smaller) && get(larger).compareTo(get(smaller)) < 0) {
      contradiction(larger, "<", smaller, why);
    }
  }

  boolean haveValues(ConfigKey<?>... keys) {
    return Stream.of(keys).allMatch(values::containsKey);
  }

  void contradiction(ConfigKey<?> larger, String relation, ConfigKey<?> smaller, String why) {
    problems.add(
        describe(larger)
            + " "
            + relation
            + " "
            + describe(smaller)
            + ": "
            + why
            + "; raise the first or lower the second");
  }

  /** Returns what is wrong, in the order it was found. */
  List<String> problems() {
    return List.copyOf(problems);
  }

  /** Returns what works but should be changed. */
  List<String> warnings() {
    return List.copyOf(warnings);
  }

  /**
   * Returns the keys that are not at their default because they were set, in order of their names.
   */
  Map<String, String> explicit() {
    final Map<String, String> byName = new TreeMap<>();
    origins.forEach((key, origin) -> byName.put(key.name(), origin.text()));
    return byName;
  }

  private <T> void read(ConfigKey<T> key, Map<String, String> unread) {
    final ConfigKey.Alias itself = new ConfigKey.Alias(key.name(), UnaryOperator.identity());
    final List<ConfigKey.Alias> set =
        Stream.concat(Stream.of(itself), key.aliases().stream())
            .filter(alias -> unread.containsKey(alias.name()))
            .toList();
    if (set.isEmpty()) {
      values.put(key, key.defaultValue());
    } else if (set.size() == 1) {
      readAs(set.get(0), key, unread.get(set.get(0).name()));
    } else {
      problems.add(
          set.stream()
              .map(alias -> setting(alias.name(), unread.get(alias.name())))
              .collect(
                  Collectors.joining(
                      " and ", "", ": both set the same thing; keep " + key + " alone")));
    }
    set.forEach(alias -> unread.remove(alias.name()));
  }

  private <T> void readAs(ConfigKey.Alias alias, ConfigKey<T> key, String text) {
    try {
      final String translated = alias.translate().apply(text).trim();
      values.put(key, key.parse(translated));
      origins.put(key, new Origin(alias.name(), translated));
      if (!alias.name().equals(key.name())) {
        warnings.add(
            setting(alias.name(), text)
                + ": SparkRDMA's key still works, but use "
                + setting(key.name(), translated));
      }
    } catch (IllegalArgumentException e) {
      problems.add(
          setting(alias.name(), text) + ": " + e.getMessage() + "; allowed: " + key.allowed());
    }
  }

  private void onUnread(String name, String text) {
    final String advice = ConfigKeys.RETIRED.get(name);
    problems.add(
        setting(name, text)
            + (advice == null
                ? ": no such key; the nearest is " + nearest(name)
                : ": SparkRDMA's key is gone; " + advice));
  }

  private static String setting(String name, String text) {
    return name + "=" + text;
  }

  private static String nearest(String name) {
    final String unknown = withoutPrefix(name);
    String nearest = "";
    int least = Integer.MAX_VALUE;
    for (ConfigKey<?> key : ConfigKeys.all().toList()) {
      final String known = withoutPrefix(key.name());
      final String lastPart = known.substring(known.lastIndexOf('.') + 1);
      final int distance =
          Math.min(editDistance(unknown, known), 1 + editDistance(unknown, lastPart));
      if (distance < least) {
        least = distance;
        nearest = key.name();
      }
    }
    return nearest;
  }

  private static String withoutPrefix(String name) {
    return name.substring(ConfigKey.PREFIX.length()).toLowerCase(Locale.ROOT);
  }

  /** Levenshtein's: the fewest insertions, deletions and replacements of one character. */
  static int editDistance(String a, String b) {
    int[] previous = new int[b.length() + 1];
    for (int j = 0; j <= b.length(); j++) {
      previous[j] = j;
    }
    for (int i = 1; i <= a.length(); i++) {
      final int[] current = new int[b.length() + 1];
      current[0] = i;
      for (int j = 1; j <= b.length(); j++) {
        final int replaced = previous[j - 1] + (a.charAt(i - 1) == b.charAt(j - 1) ? 0 : 1);
        current[j] = Math.min(replaced, 1 + Math.min(previous[j], current[j - 1]));
      }
      previous = current;
    }
    return previous[b.length()];
  }
}
