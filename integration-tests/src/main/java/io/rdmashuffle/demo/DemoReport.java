package io.rdmashuffle.demo;

import io.rdmashuffle.harness.JobReport;
import io.rdmashuffle.harness.JsonFile;
import io.rdmashuffle.harness.PluginTotals;
import io.rdmashuffle.harness.Table;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;

/** What the demo prints and writes, and whether it succeeded. */
final class DemoReport {
  private final List<Comparison> jobs;
  private final boolean oneSidedWanted;

  DemoReport(List<Comparison> jobs, boolean oneSidedWanted) {
    this.jobs = jobs;
    this.oneSidedWanted = oneSidedWanted;
  }

  /** What is wrong; empty when all is well. */
  List<String> failures() {
    List<String> failures = new ArrayList<>();
    for (Comparison job : jobs) {
      job.difference()
          .ifPresent(what -> failures.add(job.plugin().job() + ": the result differs: " + what));
      if (job.sort().result().records() == 0) {
        failures.add(job.sort().job() + ": the result is empty, so nothing was compared");
      }
      if (!job.accounted()) {
        failures.add(
            "%s: the plugin accounts for %d bytes (%s), Spark counted %d remote bytes"
                .formatted(
                    job.plugin().job(),
                    job.plugin().totals().allBytes(),
                    job.plugin().totals().bytes(),
                    job.plugin().metrics().remoteBytes()));
      }
    }
    if (oneSidedWanted && oneSidedBytes() == 0) {
      failures.add("not a single byte was read one-sided; the reasons: " + fallbacks());
    }
    return failures;
  }

  private long oneSidedBytes() {
    return jobs.stream().mapToLong(job -> job.plugin().totals().oneSidedBytes()).sum();
  }

  private Map<String, Long> fallbacks() {
    Map<String, Long> all = new TreeMap<>();
    for (Comparison job : jobs) {
      job.plugin().totals().fallbacks().forEach((why, count) -> all.merge(why, count, Long::sum));
    }
    return all;
  }

  String table() {
    Table table =
        new Table(
            "job",
            "sort shuffle",
            "plugin",
            "speed-up",
            "shuffled",
            "remote",
            "rdma",
            "shm",
            "tcp",
            "fallbacks",
            "result");
    for (Comparison job : jobs) {
      PluginTotals totals = job.plugin().totals();
      table.add(
          job.plugin().job(),
          Table.seconds(job.sort().seconds()),
          Table.seconds(job.plugin().seconds()),
          Table.ratio(job.speedup()),
          Table.bytes(job.plugin().metrics().writtenBytes()),
          Table.bytes(job.plugin().metrics().remoteBytes()),
          Table.bytes(totals.bytes("rdma")),
          Table.bytes(totals.bytes("shm")),
          Table.bytes(totals.bytes("tcp")),
          totals.fallbacks().isEmpty()
              ? "none"
              : totals.fallbacks().entrySet().stream()
                  .map(e -> e.getKey() + " " + e.getValue())
                  .collect(Collectors.joining(", ")),
          job.difference().isPresent()
              ? "DIFFERS"
              : "%,d records equal".formatted(job.sort().result().records()));
    }
    return table.toString();
  }

  void writeJson(Path file) throws IOException {
    List<Map<String, Object>> rows = new ArrayList<>();
    for (Comparison job : jobs) {
      Map<String, Object> row = new LinkedHashMap<>();
      row.put("job", job.plugin().job());
      row.put("equal", job.difference().isEmpty());
      row.put("records", job.sort().result().records());
      row.put("speedup", job.speedup());
      row.put("accounted", job.accounted());
      row.put("sort", side(job.sort()));
      row.put("plugin", side(job.plugin()));
      rows.add(row);
    }
    Map<String, Object> root = new LinkedHashMap<>();
    root.put("jobs", rows);
    root.put("failures", failures());
    JsonFile.write(file, root);
  }

  private static Map<String, Object> side(JobReport report) {
    Map<String, Object> side = new LinkedHashMap<>();
    side.put("seconds", report.seconds());
    side.put("spark", report.metrics());
    side.put("bytes", report.totals().bytes());
    side.put("blocks", report.totals().blocks());
    side.put("fallbacks", report.totals().fallbacks());
    return side;
  }
}
