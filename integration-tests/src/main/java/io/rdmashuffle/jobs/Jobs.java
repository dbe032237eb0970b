package io.rdmashuffle.jobs;

import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** All jobs by name. */
public final class Jobs {
  private static final List<Job> DEMO =
      List.of(new TeraSort(), new WordCount(), new InvertedIndex(), new TpchQ3());
  private static final List<Job> BENCH =
      List.of(
          new TeraSort(),
          new RowRepartition(),
          new TpchQ3(),
          new WideAggregation(),
          new TinyBlocks(),
          new SkewedJoin());

  private Jobs() {}

  /** What a newcomer sees. */
  public static List<Job> demo() {
    return DEMO;
  }

  /** The six workloads that are measured. */
  public static List<Job> bench() {
    return BENCH;
  }

  /**
   * One of them.
   *
   * @throws IllegalArgumentException naming what there is
   */
  public static Job byName(String name) {
    return Stream.concat(DEMO.stream(), BENCH.stream())
        .filter(job -> job.name().equals(name))
        .findFirst()
        .orElseThrow(
            () ->
                new IllegalArgumentException(
                    "no job named '%s'; there are: %s"
                        .formatted(
                            name,
                            Stream.concat(DEMO.stream(), BENCH.stream())
                                .map(Job::name)
                                .distinct()
                                .collect(Collectors.joining(", ")))));
  }
}
