package io.rdmashuffle.spark.directory;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;

class DirectorySimulationTest {
  private static final int EXECUTORS = 1_000;
  private static final int OUTPUTS = 100_000;

  @Test
  void aThousandExecutorsFindAHundredThousandOutputsWhereTheyWerePublished() throws Exception {
    DirectorySimulation simulation = new DirectorySimulation(EXECUTORS);
    simulation.publish(OUTPUTS);
    DirectorySimulation.LookedUp lookedUp = simulation.lookUp();
    assertTrue(lookedUp.clientBytes() > OUTPUTS, "bytes=" + lookedUp.clientBytes());
    assertTrue(lookedUp.driverBytes() > (long) EXECUTORS * OUTPUTS);
  }

  @Test
  void anOutputTakesAtMost64BytesOfTheDriversHeap() throws Exception {
    DirectorySimulation.Published published = new DirectorySimulation(10).publish(OUTPUTS);
    assertEquals(OUTPUTS, published.outputs());
    assertTrue(published.accountedBytes() <= 64L * OUTPUTS, "bytes=" + published.accountedBytes());
  }
}
