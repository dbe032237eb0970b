package io.rdmashuffle.chaos;

import io.rdmashuffle.harness.ClusterSpec;
import io.rdmashuffle.harness.HarnessPaths;
import io.rdmashuffle.harness.RemoteApp;
import io.rdmashuffle.harness.ShuffleMode;

/**
 * Rounds one after another, compared with an application on the sort shuffle that lives as long as
 * this.
 */
public final class ChaosRun implements AutoCloseable {
  private final Arena arena;
  private final RemoteApp sortShuffle;

  private ChaosRun(Arena arena, RemoteApp sortShuffle) {
    this.arena = arena;
    this.sortShuffle = sortShuffle;
  }

  /** Makes the places to run in and starts the application to compare with. */
  public static ChaosRun open() {
    Arena arena = Arena.open(HarnessPaths.workDir().resolve("chaos"));
    try {
      ClusterSpec spec = ClusterSpec.forTests("chaos-sort", ShuffleMode.SORT).sized(2, 1, 512);
      return new ChaosRun(arena, RemoteApp.start(spec));
    } catch (RuntimeException e) {
      arena.close();
      throw e;
    }
  }

  /** Runs the round of a seed. */
  public RoundReport round(long seed) {
    return new ChaosRound(ChaosPlan.of(seed), arena, sortShuffle).run();
  }

  @Override
  public void close() {
    try {
      sortShuffle.close();
    } finally {
      arena.close();
    }
  }
}
