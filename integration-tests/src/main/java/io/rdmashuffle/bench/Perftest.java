package io.rdmashuffle.bench;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * Runs perftest's {@code ib_read_bw} and {@code ib_read_lat} with both ends on this machine and one
 * device, and reads their figures.
 */
final class Perftest {
  /** perftest listens a moment after it starts; under emulation that moment is long. */
  private static final int CONNECT_ATTEMPTS = 30;

  private static final long ATTEMPT_PAUSE_MS = 500;
  private static final long LIMIT_SECONDS = 120;

  private final String device;
  private final int gidIndex;
  private final String address;

  /**
   * @param device name of the RDMA device
   * @param address of the interface it belongs to
   */
  Perftest(String device, int gidIndex, String address) {
    this.device = device;
    this.gidIndex = gidIndex;
    this.address = address;
  }

  /** Average bandwidth in MB/s (2^20 bytes, as perftest counts). */
  double bandwidth(int readBytes, int depth, int reads) throws IOException {
    List<String> fields = run("ib_read_bw", readBytes, reads, List.of("-t", "" + depth));
    return Double.parseDouble(fields.get(3));
  }

  /** Typical latency in microseconds. */
  double latency(int readBytes, int reads) throws IOException {
    List<String> fields = run("ib_read_lat", readBytes, reads, List.of());
    return Double.parseDouble(fields.get(4));
  }

  private List<String> run(String tool, int readBytes, int reads, List<String> more)
      throws IOException {
    List<String> command = new ArrayList<>(List.of(tool, "-F", "-d", device, "-x", "" + gidIndex));
    command.addAll(List.of("-s", "" + readBytes, "-n", "" + reads));
    command.addAll(more);
    Process server = start(command);
    try {
      command.add(address);
      return connect(command, readBytes);
    } finally {
      server.destroyForcibly();
    }
  }

  private static List<String> connect(List<String> command, int readBytes) throws IOException {
    String output = "";
    for (int attempt = 0; attempt < CONNECT_ATTEMPTS; attempt++) {
      pause();
      Process client = start(command);
      output = new String(client.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
      List<String> row = resultRow(output, readBytes);
      if (row != null) {
        return row;
      }
      await(client);
    }
    throw new IOException("no result of " + String.join(" ", command) + ":\n" + output);
  }

  /** The line of figures: it begins with the size. */
  private static List<String> resultRow(String output, int readBytes) {
    for (String line : output.lines().toList()) {
      List<String> fields = List.of(line.trim().split("\\s+", -1));
      if (fields.size() > 4 && fields.get(0).equals("" + readBytes)) {
        return fields;
      }
    }
    return null;
  }

  private static Process start(List<String> command) throws IOException {
    return new ProcessBuilder(command).redirectErrorStream(true).start();
  }

  private static void await(Process process) throws IOException {
    try {
      if (!process.waitFor(LIMIT_SECONDS, TimeUnit.SECONDS)) {
        process.destroyForcibly();
      }
    } catch (InterruptedException e) {
      process.destroyForcibly();
      throw new IOException("interrupted", e);
    }
  }

  private static void pause() throws IOException {
    try {
      Thread.sleep(ATTEMPT_PAUSE_MS);
    } catch (InterruptedException e) {
      throw new IOException("interrupted", e);
    }
  }
}
