package io.rdmashuffle.transport.verbs;

import java.io.IOException;
import java.io.InputStream;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Locale;

/** Takes the native library out of the jar, loads it, and checks that it is this build's. */
final class NativeLibrary {
  /**
   * Every class that loads the library by name: all must do so before the file is deleted, since
   * the JVM looks for the file even when the library is loaded already.
   */
  private static final String[] USERS = {
    "io.rdmashuffle.transport.verbs.VerbsExt",
    "com.ibm.disni.verbs.impl.NativeDispatcher",
    "com.ibm.disni.util.NativeAffinity"
  };

  private NativeLibrary() {}

  /**
   * A loader whose classes are bound to a library of their own.
   *
   * @param parent where classes, DiSNI and the library lie as resources
   * @param expectedAbi what the library must answer
   */
  static ClassLoader load(ClassLoader parent, String expectedAbi) throws NativeLibraryException {
    Path directory = null;
    Path file = null;
    try {
      directory = Files.createTempDirectory("rdma-shuffle-native"); // mode 0700
      file = directory.resolve("libdisni.so");
      extract(parent, file);
      VerbsLoader loader = new VerbsLoader(parent, file);
      for (String user : USERS) {
        Class.forName(user, true, loader);
      }
      checkAbi(expectedAbi, abiOf(loader));
      return loader;
    } catch (IOException e) {
      throw new NativeLibraryException(
          "cannot write the native library to "
              + System.getProperty("java.io.tmpdir")
              + " ("
              + e
              + "); make java.io.tmpdir a writable directory",
          e);
    } catch (LinkageError e) {
      throw new NativeLibraryException(describe(e), e);
    } catch (ReflectiveOperationException e) {
      throw new NativeLibraryException("the jar is incomplete: " + e, e);
    } finally {
      delete(file);
      delete(directory);
    }
  }

  /** Where the jar carries the library for this machine. */
  static String resourceName() {
    String architecture = System.getProperty("os.arch", "unknown").toLowerCase(Locale.ROOT);
    return "native/linux-"
        + (architecture.equals("amd64") ? "x86_64" : architecture)
        + "/libdisni.so";
  }

  static void checkAbi(String expected, String found) throws NativeLibraryException {
    if (!expected.equals(found)) {
      throw new NativeLibraryException(
          "the native library does not match the classes: expected abi="
              + expected
              + ", found abi="
              + found
              + "; two versions of the plugin are mixed, use one jar");
    }
  }

  /** What to do about a library that the system's loader refuses. */
  static String describe(LinkageError error) {
    String text = String.valueOf(error.getMessage());
    if (text.contains("cannot open shared object file")) {
      return "the native library needs one that is not installed ("
          + text
          + "); install libibverbs1 librdmacm1 ibverbs-providers (Debian, Ubuntu) or libibverbs"
          + " librdmacm (RHEL, SUSE)";
    }
    if (text.contains("failed to map segment") || text.contains("Operation not permitted")) {
      return "the native library cannot be executed where it was written ("
          + text
          + "); "
          + System.getProperty("java.io.tmpdir")
          + " is mounted noexec: set java.io.tmpdir to a directory that is not";
    }
    if (text.contains("undefined symbol") || text.contains("version `")) {
      return "the native library needs newer system libraries ("
          + text
          + "); it was built with rdma-core 44, update libibverbs and librdmacm or build the jar"
          + " on this system";
    }
    return "the native library does not load: " + error;
  }

  private static void extract(ClassLoader parent, Path file)
      throws IOException, NativeLibraryException {
    String name = resourceName();
    try (InputStream in = parent.getResourceAsStream(name)) {
      if (in == null) {
        throw new NativeLibraryException(
            "the jar carries no native library for this machine (expected "
                + name
                + "); build it where gcc, libibverbs-dev and librdmacm-dev are installed");
      }
      Files.copy(in, file);
    }
  }

  private static String abiOf(ClassLoader loader) throws ReflectiveOperationException {
    Method abi = loader.loadClass(USERS[0]).getDeclaredMethod("abi");
    abi.setAccessible(true);
    try {
      return (String) abi.invoke(null);
    } catch (InvocationTargetException e) {
      // A library of another build may lack even this one.
      if (e.getCause() instanceof UnsatisfiedLinkError) {
        return "none";
      }
      throw e;
    }
  }

  private static void delete(Path path) {
    if (path == null) {
      return;
    }
    try {
      Files.deleteIfExists(path);
    } catch (IOException e) {
      path.toFile().deleteOnExit();
    }
  }
}
