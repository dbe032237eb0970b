package io.rdmashuffle.it.rxe;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.rdmashuffle.harness.Command;
import io.rdmashuffle.harness.HarnessPaths;
import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The jar as it is delivered, on every Java it is for: no setting, no path, loads and reads. */
@Tag("rxe")
@Timeout(600)
class JavaVersionTest {
  private static final Path INSTALLED = Path.of("/usr/lib/jvm");

  @ParameterizedTest
  @ValueSource(ints = {17, 25})
  void loadsAndReads(int version) throws IOException {
    Path java = java(version);
    assumeTrue(java != null, "no Java " + version + " under " + INSTALLED);
    String output =
        Command.run(java.toString(), compiler(), "-cp", classPath(), JarProbe.class.getName());
    assertEquals("read on Java " + version, output.lines().reduce("", (a, b) -> b), output);
  }

  /**
   * An emulated processor may execute an instruction while another is halfway through patching it,
   * as JVMs do when better code replaces a method: they crash. With one compiler that is rare.
   */
  private static String compiler() {
    return "tcg".equals(System.getenv("RXE_VM")) ? "-XX:TieredStopAtLevel=1" : "-Xshare:auto";
  }

  private static Path java(int version) throws IOException {
    if (Runtime.version().feature() == version) {
      return Path.of(System.getProperty("java.home"), "bin/java");
    }
    try (Stream<Path> homes = Files.list(INSTALLED)) {
      return homes
          .filter(home -> home.getFileName().toString().matches(".*\\b" + version + "\\b.*"))
          .map(home -> home.resolve("bin/java"))
          .filter(Files::isExecutable)
          .findFirst()
          .orElse(null);
    }
  }

  /** The plugin's jar, the jar with the probe, and of what Spark brings only the logging facade. */
  private static String classPath() throws IOException {
    try (Stream<Path> sparkJars = Files.list(HarnessPaths.sparkHome().resolve("jars"))) {
      List<Path> logging =
          sparkJars.filter(jar -> jar.getFileName().toString().startsWith("slf4j-api-")).toList();
      return Stream.of(List.of(HarnessPaths.pluginJar()), HarnessPaths.userJars(), logging)
          .flatMap(List::stream)
          .map(Path::toString)
          .collect(Collectors.joining(File.pathSeparator));
    }
  }
}
