package io.rdmashuffle.harness;

import java.io.IOException;
import java.io.Serializable;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.stream.Stream;

/**
 * A point at which tasks in other processes wait until the test lets them go on, and at which they
 * leave marks. Kept in files, since nothing else goes on working while any of the processes is
 * frozen. One directory makes one gate.
 */
public final class Gate implements Serializable {
  private static final long serialVersionUID = 1L;

  // Far above what anything needs: a task that waits for ever would look like a fault of ours.
  private static final long LIMIT_SECONDS = 120;
  private static final String OPEN = "open";
  private static final String ARRIVED = "arrived.";
  private static final String LEFT = "left.";

  private final String directory;

  /**
   * @param directory made when it is not there; the caller removes it
   */
  public Gate(Path directory) {
    try {
      this.directory = Files.createDirectories(directory).toString();
    } catch (IOException e) {
      throw new UncheckedIOException("cannot create " + directory, e);
    }
  }

  /** In a task: says that it is here, then waits until the gate is open. */
  public void pass(int task) {
    mark(ARRIVED + task);
    await("gate " + directory + " stays shut", () -> Files.exists(file(OPEN)));
  }

  /** In a task: says that it is done with what came after the gate. */
  public void leave(int task) {
    mark(LEFT + task);
  }

  /** Waits until so many tasks have arrived. */
  public void awaitArrivals(int count) {
    await("not " + count + " tasks are at gate " + directory, () -> marks(ARRIVED) >= count);
  }

  /** Whether that task is done by now with what came after the gate. */
  public boolean hasLeft(int task) {
    return Files.exists(file(LEFT + task));
  }

  /** Lets everyone pass from now on. */
  public void open() {
    mark(OPEN);
  }

  private Path file(String name) {
    return Path.of(directory, name);
  }

  private void mark(String name) {
    try {
      Files.writeString(file(name), "");
    } catch (IOException e) {
      throw new UncheckedIOException("cannot leave a mark at gate " + directory, e);
    }
  }

  private int marks(String prefix) {
    try (Stream<Path> files = Files.list(Path.of(directory))) {
      return (int) files.filter(f -> f.getFileName().toString().startsWith(prefix)).count();
    } catch (IOException e) {
      throw new UncheckedIOException("cannot list the marks at gate " + directory, e);
    }
  }

  private static void await(String complaint, BooleanSupplier condition) {
    Poll.until(complaint, LIMIT_SECONDS, TimeUnit.SECONDS, condition);
  }
}
