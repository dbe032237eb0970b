package io.rdmashuffle.it.reliability;

import io.rdmashuffle.harness.ExecutorGauges;
import io.rdmashuffle.harness.ProcessCounts;
import java.io.Serializable;
import java.lang.management.ManagementFactory;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import javax.management.JMException;
import javax.management.ObjectName;

/**
 * What a process holds of ours once its garbage is collected.
 *
 * @param gauges of the plugin; empty in a driver
 * @param process threads, mappings and descriptors
 * @param instances of the plugin's classes on the heap, by class
 * @param heapBytes all that is alive on the heap
 */
record Holdings(
    Map<String, Long> gauges, ProcessCounts process, Map<String, Long> instances, long heapBytes)
    implements Serializable {
  private static final Pattern OURS =
      Pattern.compile("^ *\\d+: +(\\d+) +\\d+ +(io\\.rdmashuffle\\.\\S+)", Pattern.MULTILINE);
  private static final Pattern TOTAL = Pattern.compile("^Total +\\d+ +(\\d+)", Pattern.MULTILINE);

  /** Of this process. */
  static Holdings here() throws JMException {
    String histogram = liveObjects();
    Map<String, Long> instances = new TreeMap<>();
    Matcher ours = OURS.matcher(histogram);
    while (ours.find()) {
      instances.put(ours.group(2), Long.parseLong(ours.group(1)));
    }
    Matcher total = TOTAL.matcher(histogram);
    if (!total.find()) {
      throw new IllegalStateException("no total in " + histogram);
    }
    return new Holdings(
        ExecutorGauges.here(),
        ProcessCounts.of(ProcessHandle.current().pid()),
        instances,
        Long.parseLong(total.group(1)));
  }

  /** Collects garbage, then lists what is left by class. */
  private static String liveObjects() throws JMException {
    return (String)
        ManagementFactory.getPlatformMBeanServer()
            .invoke(
                new ObjectName("com.sun.management:type=DiagnosticCommand"),
                "gcClassHistogram",
                new Object[] {new String[0]},
                new String[] {String[].class.getName()});
  }

  /** Classes of which there are more instances than before, beyond a few, with both counts. */
  Map<String, String> grownSince(Holdings before, long few) {
    Map<String, String> grown = new TreeMap<>();
    instances.forEach(
        (name, count) -> {
          long earlier = before.instances.getOrDefault(name, 0L);
          if (count > earlier + few) {
            grown.put(name, earlier + " -> " + count);
          }
        });
    return grown;
  }
}
