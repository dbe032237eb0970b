package io.rdmashuffle.bench;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.rdmashuffle.harness.Options;
import io.rdmashuffle.jobs.Job;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;

class JobPlanTest {
  @Test
  void withoutOptionsSixWorkloadsAreStartedAfreshThreeTimes() {
    JobPlan plan = plan();
    assertEquals(
        List.of("sort", "repartition", "sql", "aggregation", "tinyblocks", "skewedjoin"),
        plan.jobs().stream().map(Job::name).toList());
    assertEquals(3, plan.starts());
    assertEquals(30, plan.minutes());
  }

  @Test
  void quickIsSmallerAndOptionsWinOverIt() {
    JobPlan plan = plan("--quick", "--starts", "2", "--size", "1m");
    assertTrue(plan.input().load() < plan().input().load());
    assertTrue(plan.minutes() < plan().minutes());
    assertEquals(2, plan.starts());
    assertEquals(1 << 20, plan.input().sortBytes());
  }

  @Test
  void whatIsNoSizeOrNoJobIsNamed() {
    assertTrue(messageOf("--size", "large").contains("'large'"));
    assertTrue(messageOf("--jobs", "sort,terasort").contains("'terasort'"));
    assertTrue(messageOf("--rounds", "1.5").contains("'1.5'"));
  }

  private static String messageOf(String... args) {
    return assertThrows(IllegalArgumentException.class, () -> plan(args)).getMessage();
  }

  private static JobPlan plan(String... args) {
    Set<String> withValue = new HashSet<>(JobPlan.OPTIONS);
    withValue.add("--minutes");
    return JobPlan.from(Options.parse(args, withValue, Set.of("--quick")));
  }
}
