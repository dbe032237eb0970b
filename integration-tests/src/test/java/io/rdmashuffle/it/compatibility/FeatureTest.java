package io.rdmashuffle.it.compatibility;

import io.rdmashuffle.it.Feature;
import java.io.IOException;
import java.lang.reflect.Method;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.platform.commons.annotation.Testable;
import org.junit.platform.commons.support.AnnotationSupport;

/**
 * A test that shows a feature.
 *
 * @param feature as its {@link Feature} names it
 * @param className of the test, with its package
 * @param method empty when all the tests of the class show it
 */
record FeatureTest(String feature, String className, String method) {
  /** Those of all classes under a directory, by feature and test. */
  static List<FeatureTest> under(Path classesDirectory) throws IOException {
    List<FeatureTest> all = new ArrayList<>();
    try (Stream<Path> files = Files.walk(classesDirectory)) {
      for (Path file : files.filter(path -> path.toString().endsWith(".class")).toList()) {
        Class<?> type = load(classesDirectory.relativize(file));
        if (hasTests(type)) {
          all.addAll(of(type));
        }
      }
    }
    all.sort(
        Comparator.comparing(FeatureTest::feature)
            .thenComparing(FeatureTest::className)
            .thenComparing(FeatureTest::method));
    return all;
  }

  private static Class<?> load(Path classFile) {
    String path = classFile.toString();
    String name = path.substring(0, path.length() - ".class".length()).replace('/', '.');
    try {
      return Class.forName(name, false, FeatureTest.class.getClassLoader());
    } catch (ClassNotFoundException e) {
      throw new IllegalStateException("the directory of tests is not on the class path", e);
    }
  }

  private static boolean hasTests(Class<?> type) {
    return Stream.of(type.getDeclaredMethods())
        .anyMatch(method -> AnnotationSupport.isAnnotated(method, Testable.class));
  }

  /** Those of one class, whether or not it has tests. */
  static List<FeatureTest> of(Class<?> type) {
    List<FeatureTest> all = new ArrayList<>();
    add(type.getAnnotation(Feature.class), type, "", all);
    for (Method method : type.getDeclaredMethods()) {
      add(method.getAnnotation(Feature.class), type, method.getName(), all);
    }
    return all;
  }

  private static void add(Feature named, Class<?> type, String method, List<FeatureTest> all) {
    if (named != null) {
      for (String feature : named.value()) {
        all.add(new FeatureTest(feature, type.getName(), method));
      }
    }
  }

  /** As the document names it: without the package. */
  String shortName() {
    String simple = className.substring(className.lastIndexOf('.') + 1);
    return method.isEmpty() ? simple : simple + "." + method;
  }

  /** Whether a report's test is this one, or one of those that it makes at run time. */
  boolean matches(TestResult result) {
    return result.className().equals(className)
        && (method.isEmpty()
            || Pattern.compile("\\b" + Pattern.quote(method) + "\\b")
                .matcher(result.name())
                .find());
  }
}
