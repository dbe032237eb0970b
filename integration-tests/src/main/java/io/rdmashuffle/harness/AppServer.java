package io.rdmashuffle.harness;

import io.rdmashuffle.jobs.Job;
import io.rdmashuffle.jobs.Jobs;
import java.io.EOFException;
import java.io.IOException;
import java.io.ObjectInputStream;
import java.io.ObjectOutputStream;
import java.io.PrintWriter;
import java.io.Serializable;
import java.io.StringWriter;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;

/**
 * An application in a process of its own, driven over standard input and output: a JVM holds one
 * SparkContext, and comparisons need two alive.
 */
public final class AppServer {
  /** What Spark's cleaner needs: it looks every 100 ms, and then asks the executors. */
  private static final long CLEANING_MILLIS = 400;

  private final ObjectInputStream commands;
  private final ObjectOutputStream replies;

  private AppServer(ObjectInputStream commands, ObjectOutputStream replies) {
    this.commands = commands;
    this.replies = replies;
  }

  /** Takes a {@link ClusterSpec}, then {@link AppCommand}s. */
  public static void main(String[] args) throws IOException, ClassNotFoundException {
    ObjectOutputStream replies = new ObjectOutputStream(System.out);
    replies.flush();
    // Whatever a library prints must not get between the replies.
    System.setOut(System.err);
    new AppServer(new ObjectInputStream(System.in), replies).serve();
  }

  private void serve() throws IOException, ClassNotFoundException {
    ClusterSpec spec = (ClusterSpec) commands.readObject();
    try (LocalCluster cluster = LocalCluster.start(spec)) {
      send(new AppReply.Ready(cluster.context().applicationId()));
      JobRunner runner = new JobRunner(cluster);
      for (Object command = commands.readObject();
          !(command instanceof AppCommand.Stop);
          command = commands.readObject()) {
        send(
            command instanceof AppCommand.Run run
                ? runAndReport(cluster, runner, run)
                : call(cluster, ((AppCommand.Call) command).work()));
      }
    } catch (EOFException parentGone) {
      return;
    } catch (Exception e) {
      // Scala throws checked exceptions undeclared.
      send(new AppReply.Failed(stackTrace(e)));
    }
    send(new AppReply.Stopped(ProcessCounts.of(ProcessHandle.current().pid())));
  }

  private AppReply runAndReport(LocalCluster cluster, JobRunner runner, AppCommand.Run run) {
    ScheduledExecutorService timer = Executors.newSingleThreadScheduledExecutor();
    long before = cluster.metrics().tasks();
    ScheduledFuture<?> ticks =
        timer.scheduleAtFixedRate(
            () -> trySend(new AppReply.Progress(cluster.tasksEnded() - before)),
            1,
            1,
            TimeUnit.SECONDS);
    try {
      Job job = Jobs.byName(run.job());
      JobReport report = runner.run(job, run.input());
      dropShuffles();
      return new AppReply.Done(report);
    } catch (Exception e) {
      return new AppReply.Failed(stackTrace(e));
    } finally {
      ticks.cancel(false);
      timer.shutdown();
    }
  }

  /**
   * Spark frees a shuffle once the driver's collector finds it unused. Without this it would happen
   * at any time, and be a part of whichever run that meets.
   */
  private static void dropShuffles() throws InterruptedException {
    System.gc();
    Thread.sleep(CLEANING_MILLIS);
  }

  private static AppReply call(LocalCluster cluster, RemoteApp.Work<?> work) {
    try {
      return new AppReply.Result((Serializable) work.run(cluster));
    } catch (Exception e) {
      return new AppReply.Failed(stackTrace(e));
    }
  }

  private void trySend(AppReply reply) {
    try {
      send(reply);
    } catch (IOException parentGone) {
      // The next command read ends the process.
      Thread.currentThread().interrupt();
    }
  }

  private synchronized void send(AppReply reply) throws IOException {
    replies.writeObject(reply);
    replies.flush();
  }

  private static String stackTrace(Throwable e) {
    StringWriter out = new StringWriter();
    e.printStackTrace(new PrintWriter(out, true));
    return out.toString();
  }
}
