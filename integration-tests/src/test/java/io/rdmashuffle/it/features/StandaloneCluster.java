package io.rdmashuffle.it.features;

import io.rdmashuffle.harness.ClusterSpec;
import io.rdmashuffle.harness.HarnessPaths;
import io.rdmashuffle.harness.LocalCluster;
import io.rdmashuffle.harness.SparkDaemon;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.jar.JarFile;

/**
 * A standalone cluster as an administrator starts it: a master, and a worker on each of some
 * loopback addresses, which Spark takes for hosts.
 */
final class StandaloneCluster implements AutoCloseable {
  private static final long START_SECONDS = 60;
  private static final String FIRST_HOST = "127.0.0.1";
  private static final String SECOND_HOST = "127.0.0.2";

  private final Path directory;
  private final int executors;
  private final int port;
  private final Process master;
  private final List<Process> workers = new ArrayList<>();

  private StandaloneCluster(
      Path directory, List<String> hosts, int executorsPerHost, List<String> workerOptions)
      throws IOException {
    this.directory = directory;
    executors = hosts.size() * executorsPerHost;
    try (ServerSocket free = new ServerSocket(0)) {
      port = free.getLocalPort();
    }
    master =
        start(
            "master",
            FIRST_HOST,
            List.of(),
            "org.apache.spark.deploy.master.Master",
            "--host",
            FIRST_HOST,
            "--port",
            Integer.toString(port),
            "--webui-port",
            "0");
    awaitMaster();
    for (String host : hosts) {
      workers.add(
          start(
              "worker-" + host,
              host,
              workerOptions,
              "org.apache.spark.deploy.worker.Worker",
              "--host",
              host,
              "--cores",
              Integer.toString(executorsPerHost),
              "--memory",
              executorsPerHost + "g",
              "--webui-port",
              "0",
              "--work-dir",
              directory.resolve("work-" + host).toString(),
              url()));
    }
  }

  /**
   * Two hosts with an executor each.
   *
   * @param directory for logs and the executors' directories
   */
  static StandaloneCluster ofTwoHosts(Path directory) {
    return start(directory, List.of(FIRST_HOST, SECOND_HOST), 1, List.of());
  }

  /** One host with two executors and a shuffle service, of which a machine can have but one. */
  static StandaloneCluster withShuffleService(Path directory, String port) {
    return start(
        directory,
        List.of(FIRST_HOST),
        2,
        List.of("-Dspark.shuffle.service.enabled=true", "-Dspark.shuffle.service.port=" + port));
  }

  /** One host with room for a driver and two executors, of a core each. */
  static StandaloneCluster withRoomForDriver(Path directory) {
    return start(directory, List.of(FIRST_HOST), 3, List.of());
  }

  private static StandaloneCluster start(
      Path directory, List<String> hosts, int executorsPerHost, List<String> workerOptions) {
    try {
      return new StandaloneCluster(directory, hosts, executorsPerHost, workerOptions);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private Process start(String name, String host, List<String> options, String... command)
      throws IOException {
    return SparkDaemon.start(directory.resolve(name + ".log"), host, options, List.of(command));
  }

  /** Workers that come before it try again only after many seconds. */
  private void awaitMaster() throws IOException {
    Path log = directory.resolve("master.log");
    Decommission.await(
        "the master does not start, see " + log,
        () -> {
          try {
            return Files.readString(log).contains("I have been elected leader");
          } catch (IOException e) {
            throw new UncheckedIOException(e);
          }
        });
  }

  String url() {
    return "spark://" + FIRST_HOST + ":" + port;
  }

  /** An application with all the executors there can be. */
  LocalCluster application(ClusterSpec spec, Map<String, String> settings) {
    LocalCluster cluster =
        LocalCluster.start(
            spec.sized(0, 1, 1024)
                .with("spark.master", url())
                .with("spark.executor.memory", "1g")
                .with("spark.executor.cores", "1")
                .with(settings));
    cluster.awaitExecutors(executors);
    return cluster;
  }

  /** Hands an application over to the cluster, as spark-submit does in cluster mode. */
  void submit(Class<?> main, Map<String, String> settings, String argument) throws IOException {
    List<String> command = new ArrayList<>();
    command.addAll(List.of("org.apache.spark.deploy.SparkSubmit", "--master", url()));
    command.addAll(List.of("--deploy-mode", "cluster", "--class", main.getName()));
    settings.forEach((key, value) -> command.addAll(List.of("--conf", key + "=" + value)));
    List<String> jars = HarnessPaths.userJars().stream().map(Path::toString).toList();
    command.addAll(List.of("--jars", String.join(",", jars)));
    command.add(jarOf(main).toString());
    command.add(argument);
    Process submission = start("submit", FIRST_HOST, List.of(), command.toArray(String[]::new));
    try {
      if (!submission.waitFor(START_SECONDS, TimeUnit.SECONDS)) {
        kill(submission);
        throw new IOException("the master took no driver in time, see submit.log in " + directory);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      kill(submission);
    }
  }

  private static Path jarOf(Class<?> type) {
    return HarnessPaths.userJars().stream()
        .filter(jar -> holds(jar, type))
        .findFirst()
        .orElseThrow(() -> new IllegalStateException("no user jar holds " + type));
  }

  private static boolean holds(Path jar, Class<?> type) {
    try (JarFile file = new JarFile(jar.toFile())) {
      return file.getEntry(type.getName().replace('.', '/') + ".class") != null;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** A host that dies with everything on it. */
  void loseSecondHost() {
    kill(workers.get(1));
  }

  /** Kills one executor of the first host, whose worker starts another. */
  void killAnExecutor() {
    workers.get(0).children().findFirst().orElseThrow().destroyForcibly();
  }

  private static void kill(Process process) {
    process.descendants().forEach(ProcessHandle::destroyForcibly);
    process.destroyForcibly();
  }

  @Override
  public void close() {
    workers.forEach(StandaloneCluster::kill);
    kill(master);
    try {
      for (Process worker : workers) {
        worker.waitFor(START_SECONDS, TimeUnit.SECONDS);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
