package io.rdmashuffle.chaos;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.rdmashuffle.transport.Fault;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.apache.spark.SparkConf;
import org.junit.jupiter.api.Test;

class InjectedFaultsTest {
  private static final FaultRates RATES = new FaultRates(0.2, 0.1, 0.3, 0.4, 0.5);
  private static final int CALLS = 2_000;

  @Test
  void aSeedGivesTheSameFaultsAgain() {
    assertEquals(calls(RATES, 7), calls(RATES, 7));
    assertNotEquals(calls(RATES, 7), calls(RATES, 8));
  }

  @Test
  void withoutRatesNothingFails() {
    assertEquals(Set.of(Fault.NONE, false), Set.copyOf(calls(FaultRates.NONE, 7)));
  }

  @Test
  void everyFaultOfReadsIsDrawn() {
    InjectedFaults faults = new InjectedFaults(RATES, 1);
    Set<Fault> drawn = EnumSet.noneOf(Fault.class);
    for (int i = 0; i < CALLS; i++) {
      drawn.add(faults.onRead(null, 0, 1));
    }
    assertEquals(EnumSet.allOf(Fault.class), drawn);
  }

  @Test
  void callsFailAsOftenAsTheRatesSay() {
    InjectedFaults faults = new InjectedFaults(RATES, 1);
    int failed = 0;
    for (int i = 0; i < CALLS; i++) {
      failed += faults.onAllocate() ? 1 : 0;
    }
    assertTrue(Math.abs(failed - CALLS * RATES.allocate()) < CALLS * 0.05, "failed=" + failed);
  }

  @Test
  void ratesTravelInSettings() {
    SparkConf conf = new SparkConf(false);
    for (Map.Entry<String, String> setting : RATES.asSettings().entrySet()) {
      conf.set(setting.getKey(), setting.getValue());
    }
    assertEquals(RATES, FaultRates.of(conf));
  }

  private static List<Object> calls(FaultRates rates, long seed) {
    InjectedFaults faults = new InjectedFaults(rates, seed);
    List<Object> outcomes = new ArrayList<>();
    for (int i = 0; i < CALLS; i++) {
      outcomes.add(faults.onRead(null, i, 1));
      outcomes.add(faults.onConnect(null));
      outcomes.add(faults.onRegister(null, null));
      outcomes.add(faults.onAllocate());
    }
    return outcomes;
  }
}
