package io.rdmashuffle.chaos;

import io.rdmashuffle.harness.PluginTotals;
import java.util.List;

/**
 * What happened in one round.
 *
 * @param seed gives the same round again
 * @param plan in words
 * @param events what was done to the application, and when
 * @param jobs how many were right
 * @param faults what went wrong that must not; empty when all is well
 * @param warnings how many lines the plugin logged at WARN
 */
public record RoundReport(
    long seed,
    String plan,
    List<String> events,
    int jobs,
    List<String> faults,
    double seconds,
    int warnings,
    PluginTotals totals) {
  /** Copies the lists. */
  public RoundReport {
    events = List.copyOf(events);
    faults = List.copyOf(faults);
  }

  /** Whether results were right, jobs ended and nothing leaked. */
  public boolean isSound() {
    return faults.isEmpty();
  }
}
