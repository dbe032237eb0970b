package io.rdmashuffle.it;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;

import io.rdmashuffle.harness.HarnessPaths;
import java.io.IOException;
import java.util.List;
import java.util.zip.ZipEntry;
import java.util.zip.ZipFile;
import org.junit.jupiter.api.Test;

/** What users get: one jar that brings nothing Spark has. */
class PluginJarTest {
  @Test
  void holdsTheManagerAndNothingThatIsNotOurs() throws IOException {
    try (ZipFile jar = new ZipFile(HarnessPaths.pluginJar().toFile())) {
      assertNotNull(jar.getEntry("io/rdmashuffle/RdmaShuffleManager.class"));
      List<String> foreign =
          jar.stream()
              .filter(entry -> !entry.isDirectory())
              .map(ZipEntry::getName)
              .filter(name -> !isOurs(name))
              .toList();
      assertEquals(List.of(), foreign);
    }
  }

  /** Our classes, DiSNI's, the native library, and the manifest with the license. */
  private static boolean isOurs(String name) {
    return name.startsWith("io/rdmashuffle/")
        || name.startsWith("com/ibm/disni/")
        || name.startsWith("native/")
        || name.startsWith("META-INF/");
  }
}
