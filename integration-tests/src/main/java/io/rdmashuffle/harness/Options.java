package io.rdmashuffle.harness;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/** Command-line options of the form {@code --name value}; flags have no value. */
public final class Options {
  private final Map<String, List<String>> values = new LinkedHashMap<>();

  private Options() {}

  /**
   * Parses.
   *
   * @throws IllegalArgumentException naming the option that is unknown or lacks its value
   */
  public static Options parse(String[] args, Set<String> withValue, Set<String> flags) {
    Options options = new Options();
    for (int i = 0; i < args.length; i++) {
      String name = args[i];
      String value = "";
      if (withValue.contains(name)) {
        if (++i == args.length) {
          throw new IllegalArgumentException(name + " needs a value; see --help");
        }
        value = args[i];
      } else if (!flags.contains(name)) {
        throw new IllegalArgumentException("unknown option '" + name + "'; see --help");
      }
      options.values.computeIfAbsent(name, key -> new ArrayList<>()).add(value);
    }
    return options;
  }

  /** Whether a flag was given. */
  public boolean has(String name) {
    return values.containsKey(name);
  }

  /** The last value given. */
  public Optional<String> last(String name) {
    List<String> all = all(name);
    return all.isEmpty() ? Optional.empty() : Optional.of(all.get(all.size() - 1));
  }

  /** All values given. */
  public List<String> all(String name) {
    return values.getOrDefault(name, List.of());
  }

  /** A number above zero. */
  public double number(String name, double byDefault) {
    String text = last(name).orElse(Double.toString(byDefault));
    try {
      double value = Double.parseDouble(text);
      if (value > 0) {
        return value;
      }
    } catch (NumberFormatException e) {
      // Reported below with what was expected.
    }
    throw new IllegalArgumentException(name + ": expected a number above 0, found '" + text + "'");
  }

  /** A whole number of at least one. */
  public int count(String name, int byDefault) {
    String text = last(name).orElse(Integer.toString(byDefault));
    try {
      int value = Integer.parseInt(text);
      if (value > 0) {
        return value;
      }
    } catch (NumberFormatException e) {
      // Reported below with what was expected.
    }
    throw new IllegalArgumentException(
        name + ": expected a whole number above 0, found '" + text + "'");
  }

  /** {@code K=V} options as a map. */
  public Map<String, String> settings(String name) {
    Map<String, String> settings = new LinkedHashMap<>();
    for (String setting : all(name)) {
      int equals = setting.indexOf('=');
      if (equals < 1) {
        throw new IllegalArgumentException(name + ": expected KEY=VALUE, found '" + setting + "'");
      }
      settings.put(setting.substring(0, equals), setting.substring(equals + 1));
    }
    return settings;
  }
}
