package io.rdmashuffle.bench;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import jdk.jfr.consumer.RecordedEvent;
import jdk.jfr.consumer.RecordedFrame;
import jdk.jfr.consumer.RecordedStackTrace;
import jdk.jfr.consumer.RecordedThread;
import jdk.jfr.consumer.RecordingFile;

/** Reads samples out of a file of the flight recorder. */
final class FlightRecording {
  private FlightRecording() {}

  static List<CpuProfile.Sample> samples(Path file) throws IOException {
    List<CpuProfile.Sample> samples = new ArrayList<>();
    try (RecordingFile recording = new RecordingFile(file)) {
      while (recording.hasMoreEvents()) {
        RecordedEvent event = recording.readEvent();
        switch (event.getEventType().getName()) {
          case "jdk.ExecutionSample" -> samples.add(sample(event, false));
          case "jdk.NativeMethodSample" -> samples.add(sample(event, true));
          default -> {
            // Metadata that every recording has.
          }
        }
      }
    }
    return samples;
  }

  private static CpuProfile.Sample sample(RecordedEvent event, boolean isNative) {
    RecordedThread thread = event.getThread("sampledThread");
    RecordedStackTrace stack = event.getStackTrace();
    List<String> frames =
        stack == null ? List.of() : stack.getFrames().stream().map(FlightRecording::name).toList();
    return new CpuProfile.Sample(thread == null ? 0 : thread.getJavaThreadId(), frames, isNative);
  }

  private static String name(RecordedFrame frame) {
    return frame.getMethod().getType().getName() + "." + frame.getMethod().getName();
  }
}
