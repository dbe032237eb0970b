package io.rdmashuffle.harness;

import io.rdmashuffle.jobs.JobInput;
import java.io.IOException;
import java.io.ObjectInputStream;
import java.io.ObjectOutputStream;
import java.io.Serializable;
import java.io.UncheckedIOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.LongConsumer;

/** An application in another process; see {@link AppServer}. */
public final class RemoteApp implements AutoCloseable {
  /** Code that runs on the application's driver; what it refers to travels there and back. */
  public interface Work<T> extends Serializable {
    /** Gives what travels back. */
    T run(LocalCluster cluster) throws Exception;
  }

  private static final long STOP_SECONDS = 60;

  private final String name;
  private final Process process;
  private final Path errors;
  private final ObjectOutputStream commands;
  private final ObjectInputStream replies;
  private boolean over;

  private RemoteApp(String name, Process process, Path errors) throws IOException {
    this.name = name;
    this.process = process;
    this.errors = errors;
    this.commands = new ObjectOutputStream(process.getOutputStream());
    commands.flush();
    this.replies = new ObjectInputStream(process.getInputStream());
  }

  /** Starts it and waits until its executors are up. */
  public static RemoteApp start(ClusterSpec spec) {
    Path dir = HarnessPaths.workDir();
    Path errors = dir.resolve(spec.name() + "-driver.err");
    try {
      Files.createDirectories(dir);
      ProcessBuilder builder = new ProcessBuilder(command(spec.name()));
      Path home = ownHome(spec.name());
      builder.environment().put("SPARK_HOME", home.toString());
      builder.redirectError(errors.toFile());
      AppLogs.watchDriver(driverLog(spec.name()));
      RemoteApp app = new RemoteApp(spec.name(), builder.start(), errors);
      app.commands.writeObject(spec);
      app.commands.flush();
      AppReply.Ready ready = app.await(AppReply.Ready.class, tasks -> {});
      AppLogs.watchExecutors(home.resolve("work").resolve(ready.applicationId()));
      return app;
    } catch (IOException e) {
      throw new UncheckedIOException(
          "application " + spec.name() + " did not start; see " + errors, e);
    }
  }

  private static List<String> command(String name) {
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.add("-Xmx1g");
    for (String argument : ManagementFactory.getRuntimeMXBean().getInputArguments()) {
      if (argument.startsWith("--add-opens")) {
        command.add(argument);
      }
    }
    // Surefire sets properties without passing them on the command line.
    for (String property : System.getProperties().stringPropertyNames()) {
      boolean passOn =
          property.startsWith("harness.")
              || property.startsWith("log4j2.")
              || property.startsWith("jdk.reflect.");
      if (passOn && !property.equals("harness.log")) {
        command.add("-D" + property + "=" + System.getProperty(property));
      }
    }
    command.add("-Dharness.log=" + driverLog(name));
    command.add("-cp");
    command.add(System.getProperty("java.class.path"));
    command.add(AppServer.class.getName());
    return command;
  }

  private static Path driverLog(String name) {
    return HarnessPaths.workDir().resolve(name + "-driver.log");
  }

  /** Applications that start in the same second get the same id, so their logs need two homes. */
  private static Path ownHome(String name) throws IOException {
    Path home = HarnessPaths.workDir().resolve("home").resolve(name);
    Files.createDirectories(home);
    Path jars = home.resolve("jars");
    Files.deleteIfExists(jars);
    Files.createSymbolicLink(jars, HarnessPaths.sparkHome().resolve("jars").toRealPath());
    return home;
  }

  /**
   * Runs a job there.
   *
   * @param progress told the number of tasks that have ended, about once a second
   * @throws IllegalStateException with the other side's stack trace when the job fails
   */
  public JobReport run(String job, JobInput input, LongConsumer progress) {
    try {
      commands.writeObject(new AppCommand.Run(job, input));
      commands.flush();
      return await(AppReply.Done.class, progress).report();
    } catch (IOException e) {
      throw new UncheckedIOException("lost application " + name + "; see " + errors, e);
    }
  }

  /**
   * Runs a piece of code there.
   *
   * @throws IllegalStateException with the other side's stack trace when it fails
   */
  public <T> T call(Class<T> type, Work<T> work) {
    try {
      commands.writeObject(new AppCommand.Call(work));
      commands.flush();
      return type.cast(await(AppReply.Result.class, tasks -> {}).value());
    } catch (IOException e) {
      throw new UncheckedIOException("lost application " + name + "; see " + errors, e);
    }
  }

  /** The process of its driver. */
  public long driverPid() {
    return process.pid();
  }

  private <T extends AppReply> T await(Class<T> type, LongConsumer progress) throws IOException {
    while (true) {
      AppReply reply = read();
      if (type.isInstance(reply)) {
        return type.cast(reply);
      }
      if (reply instanceof AppReply.Progress ticked) {
        progress.accept(ticked.tasks());
      } else if (reply instanceof AppReply.Failed failed) {
        throw new IllegalStateException(
            "application "
                + name
                + " failed; its log is beside "
                + errors
                + "\n"
                + failed.stackTrace());
      } else {
        throw new IllegalStateException("unexpected reply " + reply);
      }
    }
  }

  private AppReply read() throws IOException {
    try {
      return (AppReply) replies.readObject();
    } catch (ClassNotFoundException e) {
      throw new IllegalStateException(e);
    }
  }

  /** Stops it; the result says what its driver still held of ours once the context was stopped. */
  public ProcessCounts stop() {
    try {
      over = true;
      commands.writeObject(new AppCommand.Stop());
      commands.flush();
      return await(AppReply.Stopped.class, tasks -> {}).left();
    } catch (IOException e) {
      throw new UncheckedIOException("application " + name + " did not stop; see " + errors, e);
    } finally {
      end();
    }
  }

  @Override
  public void close() {
    if (!over) {
      over = true;
      end();
    }
  }

  private void end() {
    try {
      // Its standard input ends with the process builder's pipe; give it time to stop Spark.
      process.getOutputStream().close();
      if (!process.waitFor(STOP_SECONDS, TimeUnit.SECONDS)) {
        process.destroyForcibly();
      }
    } catch (IOException e) {
      process.destroyForcibly();
    } catch (InterruptedException e) {
      process.destroyForcibly();
      Thread.currentThread().interrupt();
    }
  }
}
