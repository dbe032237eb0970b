package io.rdmashuffle.jobs;

import java.io.BufferedInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.function.Consumer;
import java.util.stream.Stream;
import java.util.zip.GZIPInputStream;
import org.apache.spark.api.java.JavaRDD;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.sql.SparkSession;

/** Real text files: what the machine has, or what the user names. */
public final class TextCorpus {
  private static final Set<String> ENDINGS =
      Set.of("txt", "gz", "md", "html", "htm", "rst", "copyright", "changelog", "readme", "news");
  private static final List<Path> USUAL_PLACES =
      List.of(
          Path.of("/usr/share/common-licenses"),
          Path.of("/usr/share/doc"),
          Path.of("/usr/share/perl"),
          Path.of("/usr/share/maven"),
          Path.of("/usr/lib/python3"));
  private static final int PARTITIONS = 16;

  private TextCorpus() {}

  /** Text files on this machine, at most about {@code limit} bytes as they lie there. */
  public static List<String> onThisMachine(long limit) {
    return find(USUAL_PLACES, false, limit);
  }

  /** All regular files in a directory the user names. */
  public static List<String> in(Path dir) {
    if (!Files.isDirectory(dir)) {
      throw new IllegalArgumentException(dir + " is not a directory");
    }
    return find(List.of(dir), true, Long.MAX_VALUE);
  }

  private static List<String> find(List<Path> roots, boolean any, long limit) {
    List<String> found = new ArrayList<>();
    long bytes = 0;
    for (Path root : roots) {
      if (!Files.isDirectory(root)) {
        continue;
      }
      try (Stream<Path> walk = Files.walk(root)) {
        for (Path file : walk.filter(Files::isRegularFile).sorted().toList()) {
          if (bytes < limit && (any || looksLikeText(file))) {
            found.add(file.toString());
            bytes += Files.size(file);
          }
        }
      } catch (IOException e) {
        throw new UncheckedIOException("cannot look for text in " + root, e);
      }
    }
    return found;
  }

  private static boolean looksLikeText(Path file) {
    String name = file.getFileName().toString().toLowerCase(Locale.ROOT);
    return ENDINGS.contains(name.substring(name.lastIndexOf('.') + 1))
        || file.startsWith("/usr/share/common-licenses");
  }

  /** The files' names, spread over partitions. */
  static JavaRDD<String> files(SparkSession spark, JobInput input) {
    if (input.texts().isEmpty()) {
      throw new IllegalArgumentException(
          "no text files found; name a directory that has some with --text DIR");
    }
    return JavaSparkContext.fromSparkContext(spark.sparkContext())
        .parallelize(input.texts(), Math.min(PARTITIONS, input.texts().size()));
  }

  static int partitions() {
    return PARTITIONS;
  }

  /** Calls {@code sink} with each word of the file in lower case. */
  static void words(String file, Consumer<String> sink) throws IOException {
    StringBuilder word = new StringBuilder();
    String text = new String(open(file), StandardCharsets.UTF_8);
    for (int i = 0; i < text.length(); i++) {
      char c = text.charAt(i);
      if (Character.isLetter(c)) {
        word.append(Character.toLowerCase(c));
      } else if (!word.isEmpty()) {
        sink.accept(word.toString());
        word.setLength(0);
      }
    }
    if (!word.isEmpty()) {
      sink.accept(word.toString());
    }
  }

  private static byte[] open(String file) throws IOException {
    try (InputStream raw = new BufferedInputStream(Files.newInputStream(Path.of(file)))) {
      raw.mark(2);
      boolean zipped = raw.read() == 0x1f && raw.read() == 0x8b;
      raw.reset();
      return zipped ? new GZIPInputStream(raw).readAllBytes() : raw.readAllBytes();
    }
  }
}
