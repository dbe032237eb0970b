package io.rdmashuffle.it.tiers;

import io.rdmashuffle.harness.ExecutorProcess;
import io.rdmashuffle.harness.LocalCluster;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardWatchEventKinds;
import java.nio.file.WatchEvent;
import java.nio.file.WatchKey;
import java.nio.file.WatchService;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;
import java.util.stream.Stream;

/**
 * The files that executors put into their local directories, noted by the kernel as they come, so
 * that those count too that are deleted at once. The application is started with {@link #SETTINGS}.
 */
final class LocalFiles implements AutoCloseable {
  /** One directory of files in each local directory, which can be watched before it is used. */
  static final Map<String, String> SETTINGS = Map.of("spark.diskStore.subDirectories", "1");

  private static final String LOCAL_DIR = "SPARK_EXECUTOR_DIRS=";

  private final List<Path> directories = new ArrayList<>();
  private final WatchService watcher;

  LocalFiles(LocalCluster cluster) throws IOException {
    watcher = FileSystems.getDefault().newWatchService();
    for (ExecutorProcess executor : cluster.executors()) {
      for (Path blockManager : find(localDir(executor), path -> isNamed(path, "blockmgr-"))) {
        Path directory = Files.createDirectories(blockManager.resolve("00"));
        directory.register(watcher, StandardWatchEventKinds.ENTRY_CREATE);
        directories.add(directory);
      }
    }
    if (directories.size() != cluster.spec().executors()) {
      throw new IllegalStateException("expected a directory of each executor, in " + directories);
    }
  }

  /** Workers in one JVM keep the place they got from the first application's settings. */
  private static Path localDir(ExecutorProcess executor) throws IOException {
    String environment = Files.readString(Path.of("/proc/" + executor.pid() + "/environ"));
    for (String variable : environment.split("\0", -1)) {
      if (variable.startsWith(LOCAL_DIR)) {
        return Path.of(variable.substring(LOCAL_DIR.length()));
      }
    }
    throw new IllegalStateException("executor " + executor + " was given no local directory");
  }

  private static boolean isNamed(Path path, String prefix) {
    return path.getFileName().toString().startsWith(prefix);
  }

  private static boolean isFile(Path path, String suffix) {
    return Files.isRegularFile(path) && path.toString().endsWith(suffix);
  }

  private static List<Path> find(Path directory, Predicate<Path> wanted) {
    try (Stream<Path> paths = Files.walk(directory)) {
      return paths.filter(wanted).toList();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Names of the files created since the last call. */
  List<String> created() throws InterruptedException {
    List<String> names = new ArrayList<>();
    WatchKey key = watcher.poll(1, TimeUnit.SECONDS);
    while (key != null) {
      for (WatchEvent<?> event : key.pollEvents()) {
        if (event.kind() == StandardWatchEventKinds.OVERFLOW) {
          throw new IllegalStateException("more files were created than can be counted");
        }
        names.add(event.context().toString());
      }
      key.reset();
      key = watcher.poll(1, TimeUnit.SECONDS);
    }
    return names;
  }

  /** Names of the files there are now that begin so, for each executor of the start. */
  List<List<String>> names(String prefix) {
    List<List<String>> names = new ArrayList<>();
    for (Path directory : directories) {
      names.add(
          find(directory, path -> isNamed(path, prefix)).stream()
              .map(path -> path.getFileName().toString())
              .toList());
    }
    return names;
  }

  /** Bytes of the files there are now whose names end so. */
  long bytes(String suffix) throws IOException {
    long bytes = 0;
    for (Path directory : directories) {
      for (Path file : find(directory, path -> isFile(path, suffix))) {
        bytes += Files.size(file);
      }
    }
    return bytes;
  }

  @Override
  public void close() throws IOException {
    watcher.close();
  }
}
