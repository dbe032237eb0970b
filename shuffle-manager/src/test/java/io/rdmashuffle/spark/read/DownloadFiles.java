package io.rdmashuffle.spark.read;

import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.stream.Stream;
import org.apache.spark.network.shuffle.DownloadFile;
import org.apache.spark.network.shuffle.DownloadFileManager;
import org.apache.spark.network.shuffle.SimpleDownloadFile;
import org.apache.spark.network.util.MapConfigProvider;
import org.apache.spark.network.util.TransportConf;

/** Makes files as Spark's fetch iterator does, in a directory of the test. */
final class DownloadFiles implements DownloadFileManager {
  static final TransportConf TRANSPORT_CONF =
      new TransportConf("shuffle", new MapConfigProvider(Map.of()));

  final List<DownloadFile> registered = new CopyOnWriteArrayList<>();
  private final Path directory;
  private final boolean isTaskOver;

  /**
   * @param isTaskOver whether the task ends before its files do, which are then not taken
   */
  DownloadFiles(Path directory, boolean isTaskOver) {
    this.directory = directory;
    this.isTaskOver = isTaskOver;
  }

  @Override
  public DownloadFile createTempFile(TransportConf conf) {
    File file = directory.resolve("block-" + System.nanoTime()).toFile();
    return new SimpleDownloadFile(file, conf);
  }

  @Override
  public boolean registerTempFileToClean(DownloadFile file) {
    return !isTaskOver && registered.add(file);
  }

  /** Files that are there. */
  long count() {
    try (Stream<Path> files = Files.list(directory)) {
      return files.count();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
