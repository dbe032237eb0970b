package io.rdmashuffle.harness;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** Processes of Spark's own that serve applications, such as a master or a shuffle service. */
public final class SparkDaemon {
  private SparkDaemon() {}

  /**
   * Starts one; the caller ends it.
   *
   * @param log where what it prints goes
   * @param host the address that Spark is to take for this machine's
   * @param options of the virtual machine
   * @param command main class and arguments
   */
  public static Process start(Path log, String host, List<String> options, List<String> command)
      throws IOException {
    List<String> line = new ArrayList<>();
    line.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    line.addAll(List.of("-Xmx256m", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC"));
    line.addAll(options);
    line.addAll(List.of("-cp", HarnessPaths.sparkHome().resolve("jars") + "/*"));
    line.addAll(command);
    ProcessBuilder builder = new ProcessBuilder(line);
    builder.environment().put("SPARK_LOCAL_IP", host);
    builder.redirectErrorStream(true);
    builder.redirectOutput(log.toFile());
    return builder.start();
  }
}
