package io.rdmashuffle.transport.verbs;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNotSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.rdmashuffle.conf.RdmaShuffleConf;
import io.rdmashuffle.conf.TransportConfig;
import io.rdmashuffle.transport.Access;
import io.rdmashuffle.transport.Availability;
import io.rdmashuffle.transport.Deadline;
import io.rdmashuffle.transport.FailureKind;
import io.rdmashuffle.transport.PeerIdentity;
import io.rdmashuffle.transport.Transport;
import io.rdmashuffle.transport.TransportException;
import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.MalformedURLException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ExecutionException;
import java.util.jar.JarEntry;
import java.util.jar.JarFile;
import java.util.jar.JarOutputStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Loading the library, with or without a device. */
final class NativeLibraryTest {
  @Test
  void anotherBuildsLibraryIsRefused() {
    assumeLibrary();
    NativeLibraryException failure =
        assertThrows(
            NativeLibraryException.class,
            () -> NativeLibrary.load(getClass().getClassLoader(), "0123456789abcdef"));
    assertTrue(failure.getMessage().contains("expected abi=0123456789abcdef"));
    assertTrue(failure.getMessage().contains("found abi=" + NativeAbi.HASH));
  }

  @Test
  void aJarWithoutTheLibrarySaysWhatIsMissing() throws Exception {
    try (URLClassLoader empty = new URLClassLoader(new URL[0], null)) {
      NativeLibraryException failure =
          assertThrows(
              NativeLibraryException.class, () -> NativeLibrary.load(empty, NativeAbi.HASH));
      assertTrue(failure.getMessage().contains(NativeLibrary.resourceName()));
      assertTrue(failure.getMessage().contains("librdmacm-dev"));
    }
  }

  @Test
  void missingSystemLibrariesAreNamedWithThePackagesThatHaveThem() {
    String text =
        NativeLibrary.describe(
            new UnsatisfiedLinkError(
                "librdmacm.so.1: cannot open shared object file: No such file or directory"));
    assertTrue(text.contains("librdmacm.so.1"));
    assertTrue(text.contains("libibverbs1 librdmacm1"));
    String noexec =
        NativeLibrary.describe(
            new UnsatisfiedLinkError("failed to map segment from shared object"));
    assertTrue(noexec.contains("noexec"));
  }

  @Test
  void loadingLeavesNoFile() throws Exception {
    assumeLibrary();
    VerbsTransports.loader();
    List<String> mapped;
    try (Stream<String> maps = Files.lines(Path.of("/proc/self/maps"))) {
      mapped = maps.filter(line -> line.contains("libdisni.so")).toList();
    }
    assertFalse(mapped.isEmpty());
    mapped.forEach(line -> assertTrue(line.endsWith("(deleted)"), line));
  }

  @Test
  void twoTransportsOfOneLoaderShareTheLibrary() throws Exception {
    assumeLibrary();
    assertEquals(VerbsTransports.loader(), VerbsTransports.loader());
    try (Transport one = open();
        Transport two = open()) {
      assertEquals(one.availability().isAvailable(), two.availability().isAvailable());
      assertNotEquals(FailureKind.NATIVE_MISSING, one.availability().failureKind());
    }
  }

  @Test
  void twoPluginLoadersInOneProcessEachLoadIt() throws Exception {
    assumeLibrary();
    try (URLClassLoader one = pluginLoader(classPath());
        URLClassLoader two = pluginLoader(classPath())) {
      assertNotSame(one.loadClass(VerbsTransports.class.getName()), VerbsTransports.class);
      for (ClassLoader loader : List.of(one, two)) {
        String availability = availabilityThrough(loader);
        assertTrue(!availability.contains("NATIVE_MISSING"), availability);
      }
    }
  }

  @Test
  void loadsFromOneJarThatHoldsEverything(@TempDir Path directory) throws Exception {
    assumeLibrary();
    Path jar = directory.resolve("plugin with a blank.jar");
    shade(jar);
    try (URLClassLoader loader = pluginLoader(new URL[] {jar.toUri().toURL()})) {
      String availability = availabilityThrough(loader);
      assertTrue(!availability.contains("NATIVE_MISSING"), availability);
    }
  }

  @Test
  void anUnavailableTransportSaysWhyAndRefusesEverything() throws Exception {
    String cause = "no device, plug one in";
    try (Transport transport = new UnavailableTransport(FailureKind.NO_DEVICE, cause)) {
      assertEquals(
          Availability.unavailable(FailureKind.NO_DEVICE, cause), transport.availability());
      TransportException failure =
          assertThrows(
              TransportException.class, () -> transport.register(null, Access.REMOTE_READ));
      assertEquals(cause, failure.getMessage());
      ExecutionException connect =
          assertThrows(
              ExecutionException.class,
              () ->
                  transport
                      .connect(new byte[0], identity(), Deadline.after(Duration.ofSeconds(1)))
                      .get());
      assertEquals(FailureKind.NO_DEVICE, ((TransportException) connect.getCause()).kind());
    }
  }

  private static void assumeLibrary() {
    assumeTrue(
        NativeLibraryTest.class.getClassLoader().getResource(NativeLibrary.resourceName()) != null,
        "the library was not built here");
  }

  private static Transport open() {
    return VerbsTransports.open(identity(), RdmaShuffleConf.from(Map.of()).transport());
  }

  private static PeerIdentity identity() {
    return new PeerIdentity("app", "1", new byte[PeerIdentity.TOKEN_LENGTH]);
  }

  private static URL[] classPath() throws MalformedURLException {
    String[] parts = System.getProperty("java.class.path").split(File.pathSeparator, -1);
    URL[] urls = new URL[parts.length];
    for (int i = 0; i < parts.length; i++) {
      urls[i] = Path.of(parts[i]).toUri().toURL();
    }
    return urls;
  }

  /** As Spark's loader of the jars of a job: a child that has the plugin alone. */
  private static URLClassLoader pluginLoader(URL[] urls) {
    return new URLClassLoader(urls, ClassLoader.getPlatformClassLoader());
  }

  private static String availabilityThrough(ClassLoader loader) throws Exception {
    Class<?> identityClass = loader.loadClass(PeerIdentity.class.getName());
    Class<?> confClass = loader.loadClass(TransportConfig.class.getName());
    Object identity =
        identityClass
            .getConstructor(String.class, String.class, byte[].class)
            .newInstance("app", "1", new byte[PeerIdentity.TOKEN_LENGTH]);
    Class<?> allConf = loader.loadClass(RdmaShuffleConf.class.getName());
    Object all = allConf.getMethod("from", Map.class).invoke(null, Map.of());
    Object conf = allConf.getMethod("transport").invoke(all);
    Object transport =
        loader
            .loadClass(VerbsTransports.class.getName())
            .getMethod("open", identityClass, confClass)
            .invoke(null, identity, conf);
    Class<?> type = loader.loadClass(Transport.class.getName());
    String availability = type.getMethod("availability").invoke(transport).toString();
    type.getMethod("close").invoke(transport);
    return availability;
  }

  /** All of the class path in one jar; of classes that occur twice the first counts. */
  private static void shade(Path jar) throws IOException {
    try (JarOutputStream out = new JarOutputStream(Files.newOutputStream(jar))) {
      Set<String> names = new HashSet<>();
      for (String part : System.getProperty("java.class.path").split(File.pathSeparator, -1)) {
        Path path = Path.of(part);
        if (Files.isDirectory(path)) {
          shadeDirectory(path, names, out);
        } else if (Stream.of("disni", "slf4j", "conf").anyMatch(part::contains)) {
          shadeJar(path, names, out);
        }
      }
    }
  }

  private static void shadeDirectory(Path root, Set<String> names, JarOutputStream out)
      throws IOException {
    List<Path> files;
    try (Stream<Path> all = Files.walk(root)) {
      files = all.filter(Files::isRegularFile).toList();
    }
    for (Path file : files) {
      try (InputStream in = Files.newInputStream(file)) {
        add(root.relativize(file).toString(), in, names, out);
      }
    }
  }

  private static void shadeJar(Path path, Set<String> names, JarOutputStream out)
      throws IOException {
    try (JarFile file = new JarFile(path.toFile())) {
      for (JarEntry entry : file.stream().filter(e -> !e.isDirectory()).toList()) {
        try (InputStream in = file.getInputStream(entry)) {
          add(entry.getName(), in, names, out);
        }
      }
    }
  }

  private static void add(String name, InputStream in, Set<String> names, OutputStream out)
      throws IOException {
    if (names.add(name) && Arrays.asList(".class", ".so").stream().anyMatch(name::endsWith)) {
      ((JarOutputStream) out).putNextEntry(new JarEntry(name));
      in.transferTo(out);
    }
  }
}
