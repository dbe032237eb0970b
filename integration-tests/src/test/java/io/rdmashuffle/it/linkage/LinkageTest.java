package io.rdmashuffle.it.linkage;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.rdmashuffle.harness.HarnessPaths;
import io.rdmashuffle.it.Feature;
import io.rdmashuffle.spark.resolve.Resolvers;
import java.io.IOException;
import java.io.InputStream;
import java.net.MalformedURLException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import java.util.zip.ZipEntry;
import java.util.zip.ZipFile;
import org.apache.spark.SparkConf;
import org.apache.spark.shuffle.sort.SortShuffleManager;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Every class, field and method that the plugin's jar refers to is there in the Spark that runs the
 * tests, with the same types; jobs reach only some of them.
 */
@Tag("core")
class LinkageTest {
  private static final String RESOLVER = "io/rdmashuffle/spark/resolve/RdmaShuffleBlockResolver";

  /** Classes of ours that are used only where Spark has the other class. */
  private static final Map<String, String> ONLY_WITH =
      Map.of(
          "io/rdmashuffle/spark/write/RowChecksums$PerPartition",
          "org/apache/spark/shuffle/checksum/RowBasedChecksum",
          "io/rdmashuffle/it/features/RowChecksumTest",
          "org/apache/spark/shuffle/checksum/RowBasedChecksum");

  private URLClassLoader loader;
  private Classes classes;

  @BeforeEach
  void open() throws IOException {
    List<URL> jars = new ArrayList<>();
    jars.add(url(HarnessPaths.pluginJar()));
    try (Stream<Path> sparks = Files.list(HarnessPaths.sparkHome().resolve("jars"))) {
      sparks.map(LinkageTest::url).forEach(jars::add);
    }
    loader = new URLClassLoader(jars.toArray(new URL[0]), ClassLoader.getPlatformClassLoader());
    classes = new Classes(loader);
  }

  @AfterEach
  void close() throws IOException {
    loader.close();
  }

  @Test
  @Feature("Versions: everything the jar refers to is there")
  void everythingTheJarRefersToIsThere() throws IOException {
    List<String> problems = new ArrayList<>();
    int checked = 0;
    for (ClassFile ours : classesIn(HarnessPaths.pluginJar())) {
      if (isForThisSpark(ours.name())) {
        checked++;
        problems.addAll(classes.problems(ours));
      }
    }
    assertEquals(List.of(), problems);
    assertTrue(checked > 200, () -> "too few classes to be all of them");
  }

  /** They are compiled once, too, and most of them do not run on every Spark each time. */
  @Test
  void everythingTheJobsAndTestsReferToIsThere() throws IOException {
    Classes onClassPath = new Classes(LinkageTest.class.getClassLoader());
    List<String> problems = new ArrayList<>();
    for (Path jar : HarnessPaths.userJars()) {
      for (ClassFile ours : classesIn(jar)) {
        if (ours.name().startsWith("io/rdmashuffle/") && isForThisSpark(ours.name())) {
          problems.addAll(onClassPath.problems(ours));
        }
      }
    }
    assertEquals(List.of(), problems);
  }

  /** Else the test above would be one that cannot fail. */
  @Test
  void aClassOfAnotherSparkDoesNotLink() throws IOException {
    List<ClassFile> others =
        classesIn(HarnessPaths.pluginJar()).stream()
            .filter(ours -> ours.name().startsWith(RESOLVER) && !isForThisSpark(ours.name()))
            .toList();
    assertEquals(2, others.size(), "one resolver of three is for this Spark");
    for (ClassFile other : others) {
      assertFalse(classes.problems(other).isEmpty(), other.name());
    }
  }

  private boolean isForThisSpark(String name) {
    if (name.startsWith(RESOLVER)) {
      return name.equals(chosenResolver());
    }
    String needed = ONLY_WITH.get(name);
    return needed == null || classes.find(needed).isPresent();
  }

  private static String chosenResolver() {
    SparkConf conf = new SparkConf(false);
    return Resolvers.create(conf, new SortShuffleManager(conf).shuffleBlockResolver(), () -> null)
        .getClass()
        .getName()
        .replace('.', '/');
  }

  private static List<ClassFile> classesIn(Path jar) throws IOException {
    List<ClassFile> all = new ArrayList<>();
    try (ZipFile file = new ZipFile(jar.toFile())) {
      for (ZipEntry entry : file.stream().toList()) {
        if (entry.getName().endsWith(".class")) {
          try (InputStream in = file.getInputStream(entry)) {
            all.add(ClassFile.read(in));
          }
        }
      }
    }
    return all;
  }

  private static URL url(Path jar) {
    try {
      return jar.toUri().toURL();
    } catch (MalformedURLException e) {
      throw new IllegalArgumentException(e);
    }
  }
}
