package io.rdmashuffle.spark.directory;

import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.TreeMap;

/**
 * The latest counters of each executor and their sums. Counters are cumulative, so only the latest
 * report counts; reports may overtake each other and carry a sequence number. Lost executors keep
 * counting. Not thread-safe.
 */
final class CounterTotals {
  private final int maxExecutors;
  private final int maxNames;
  private final Map<String, Integer> nameIndexes = new HashMap<>();
  private final Map<String, Report> latest = new LinkedHashMap<>();
  private final Map<String, Long> retired = new HashMap<>();

  private static final class Report {
    long sequence = -1;
    long[] values = {};
  }

  CounterTotals(int maxExecutors, int maxNames) {
    this.maxExecutors = maxExecutors;
    this.maxNames = maxNames;
  }

  /** Keeps a report unless a later one of the same executor was kept. Returns whether it did. */
  boolean report(String executorId, long sequence, Map<String, Long> counters) {
    if (!intern(counters)) {
      return false;
    }
    Report report = latest.get(executorId);
    if (report == null) {
      makeRoom();
      report = new Report();
      latest.put(executorId, report);
    }
    if (sequence <= report.sequence) {
      return false;
    }
    report.sequence = sequence;
    // Fresh, so that a counter the executor no longer reports no longer counts.
    report.values = new long[nameIndexes.size()];
    for (Map.Entry<String, Long> counter : counters.entrySet()) {
      report.values[nameIndexes.get(counter.getKey())] = counter.getValue();
    }
    return true;
  }

  private boolean intern(Map<String, Long> counters) {
    long unknown = counters.keySet().stream().filter(n -> !nameIndexes.containsKey(n)).count();
    if (nameIndexes.size() + unknown > maxNames) {
      return false;
    }
    counters.keySet().forEach(name -> nameIndexes.putIfAbsent(name, nameIndexes.size()));
    return true;
  }

  // The executor that reported first is the likeliest to be gone; its sums stay, its name goes.
  private void makeRoom() {
    if (latest.size() >= maxExecutors) {
      Report eldest = latest.remove(latest.keySet().iterator().next());
      addTo(retired, eldest);
    }
  }

  /** Sum over all executors by counter name, sorted. */
  Map<String, Long> totals() {
    Map<String, Long> totals = new TreeMap<>(retired);
    latest.values().forEach(report -> addTo(totals, report));
    return totals;
  }

  private void addTo(Map<String, Long> sums, Report report) {
    nameIndexes.forEach(
        (name, index) -> {
          if (index < report.values.length) {
            sums.merge(name, report.values[index], Long::sum);
          }
        });
  }
}
