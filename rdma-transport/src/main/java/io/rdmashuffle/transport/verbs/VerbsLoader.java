package io.rdmashuffle.transport.verbs;

import java.io.IOException;
import java.io.InputStream;
import java.net.URL;
import java.net.URLConnection;
import java.nio.file.Path;
import java.security.CodeSource;
import java.util.Enumeration;

/**
 * Defines DiSNI and this package itself and says where their native library lies; everything else
 * comes from the parent.
 *
 * <p>The JVM binds natives to the loader of the class that declares them, and one file to one
 * loader: so two plugin jars in one JVM each get a library of their own.
 */
final class VerbsLoader extends ClassLoader {
  static {
    registerAsParallelCapable();
  }

  private static final String[] OWN_PREFIXES = {
    "com.ibm.disni.", "io.rdmashuffle.transport.verbs."
  };

  private final Path library;

  VerbsLoader(ClassLoader parent, Path library) {
    super("rdma-verbs", parent);
    this.library = library;
  }

  @Override
  protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
    if (!isOwn(name)) {
      return super.loadClass(name, resolve);
    }
    synchronized (getClassLoadingLock(name)) {
      Class<?> loaded = findLoadedClass(name);
      return loaded != null ? loaded : findClass(name);
    }
  }

  @Override
  protected Class<?> findClass(String name) throws ClassNotFoundException {
    URL resource = find(name.replace('.', '/') + ".class");
    if (resource == null) {
      throw new ClassNotFoundException(name);
    }
    try {
      URLConnection connection = resource.openConnection();
      connection.setUseCaches(false); // else the jar stays open as long as the JVM runs
      try (InputStream in = connection.getInputStream()) {
        byte[] bytes = in.readAllBytes();
        return defineClass(name, bytes, 0, bytes.length, VerbsLoader.class.getProtectionDomain());
      }
    } catch (IOException e) {
      throw new ClassNotFoundException(name, e);
    }
  }

  @Override
  protected String findLibrary(String name) {
    return name.equals("disni") ? library.toString() : null;
  }

  private static boolean isOwn(String name) {
    for (String prefix : OWN_PREFIXES) {
      if (name.startsWith(prefix)) {
        return true;
      }
    }
    return false;
  }

  /** Of several copies the one beside this class: we replace one class of DiSNI's. */
  private URL find(String path) throws ClassNotFoundException {
    try {
      CodeSource source = VerbsLoader.class.getProtectionDomain().getCodeSource();
      String home = source == null ? "" : source.getLocation().getPath();
      URL first = null;
      for (Enumeration<URL> e = getParent().getResources(path); e.hasMoreElements(); ) {
        URL url = e.nextElement();
        if (first == null || (!home.isEmpty() && url.getPath().contains(home))) {
          first = url;
        }
      }
      return first;
    } catch (IOException e) {
      throw new ClassNotFoundException(path, e);
    }
  }
}
