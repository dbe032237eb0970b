package io.rdmashuffle.bench;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class CpuProfileTest {
  private static final long TASK = 1;
  private static final long POLLER = 2;
  private static final long OTHER_POLLER = 3;

  private static final CpuProfile.Sample SORTING =
      new CpuProfile.Sample(TASK, List.of("io.rdmashuffle.spark.write.RecordPages.sorted"), false);
  private static final CpuProfile.Sample COMPRESSING =
      new CpuProfile.Sample(TASK, List.of("net.jpountz.lz4.LZ4JNICompressor.compress"), true);

  private final List<CpuProfile.Sample> samples = new ArrayList<>();
  private final CpuProfile profile = new CpuProfile();

  @Test
  void samplesShareTheCpuTimeOfTheirThread() {
    add(3, SORTING);
    add(1, new CpuProfile.Sample(TASK, List.of("io.netty.Channel.write"), false));
    profile.add(samples, Map.of(TASK, 8.0), 8);
    assertEquals(6, profile.seconds(Work.SORT), 1e-9);
    assertEquals(2, profile.seconds(Work.NETTY), 1e-9);
    assertEquals(8, profile.seconds(), 1e-9);
  }

  @Test
  void aSampleInNativeCodeCountsForTheTurnsOfTheOtherThreads() {
    // Two pollers are always in native code, the task half of the time: of the ticks in which the
    // task is in native code it has a third.
    add(100, waiting(POLLER));
    add(100, waiting(OTHER_POLLER));
    add(50, COMPRESSING);
    add(125, SORTING);
    profile.add(samples, Map.of(TASK, 10.0), 10);
    assertEquals(5, profile.seconds(Work.COMPRESS), 1e-9);
    assertEquals(5, profile.seconds(Work.SORT), 1e-9);
  }

  @Test
  void waitingForSocketsIsNotWhatAThreadUsesItsCpuFor() {
    add(99, waiting(POLLER));
    add(
        1,
        new CpuProfile.Sample(
            POLLER, List.of("org.apache.spark.storage.TimeTrackingOutputStream.write"), true));
    profile.add(samples, Map.of(POLLER, 2.0), 2);
    assertEquals(2, profile.seconds(Work.WRITE), 1e-9);
  }

  @Test
  void aThreadThatWasOnlySeenWaitingStillHasItsCpu() {
    add(5, waiting(POLLER));
    profile.add(samples, Map.of(POLLER, 0.5), 0.5);
    assertEquals(0.5, profile.seconds(Work.NETTY), 1e-9);
  }

  @Test
  void whatNoJavaThreadUsedIsTheJvms() {
    profile.add(samples, Map.of(TASK, 1.0), 4);
    assertEquals(3, profile.seconds(Work.JVM), 1e-9);
    assertEquals(1, profile.seconds(Work.OTHER), 1e-9);
  }

  @Test
  void topFramesComeWithTheirCallersOutsideTheJdk() {
    add(
        4,
        new CpuProfile.Sample(
            TASK,
            List.of("java.util.Arrays.fill", "io.rdmashuffle.spark.write.RecordPages.begin"),
            false));
    add(1, SORTING);
    profile.add(samples, Map.of(TASK, 5.0), 5);
    assertEquals(
        List.of(
            new CpuProfile.Top(
                "java.util.Arrays.fill",
                "io.rdmashuffle.spark.write.RecordPages.begin",
                Work.SERIALIZE,
                4)),
        profile.top(1));
  }

  private void add(int count, CpuProfile.Sample sample) {
    samples.addAll(Collections.nCopies(count, sample));
  }

  private static CpuProfile.Sample waiting(long threadId) {
    return new CpuProfile.Sample(
        threadId, List.of("sun.nio.ch.EPoll.wait", "io.netty.channel.nio.NioEventLoop.run"), true);
  }
}
