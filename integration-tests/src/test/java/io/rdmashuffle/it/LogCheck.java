package io.rdmashuffle.it;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.rdmashuffle.harness.AppLogs;
import io.rdmashuffle.harness.LogWarning;
import java.lang.reflect.AnnotatedElement;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.regex.Pattern;
import org.junit.jupiter.api.extension.AfterAllCallback;
import org.junit.jupiter.api.extension.AfterEachCallback;
import org.junit.jupiter.api.extension.ExtensionContext;

/**
 * Fails a test during which the plugin logged a warning or an error, in the driver or in an
 * executor, that the test does not expect. JUnit applies it to every test of the module.
 */
public final class LogCheck implements AfterEachCallback, AfterAllCallback {
  @Override
  public void afterEach(ExtensionContext context) {
    check(context);
  }

  @Override
  public void afterAll(ExtensionContext context) {
    check(context);
  }

  private static void check(ExtensionContext context) {
    List<Pattern> expected = new ArrayList<>();
    context.getTestClass().ifPresent(type -> expected.addAll(expectedBy(type)));
    context.getTestMethod().ifPresent(method -> expected.addAll(expectedBy(method)));
    assertEquals(List.of(), unexpected(AppLogs.newWarnings(), expected), "unexpected in the logs");
  }

  static List<LogWarning> unexpected(List<LogWarning> warnings, List<Pattern> expected) {
    return warnings.stream()
        .filter(warning -> expected.stream().noneMatch(p -> p.matcher(warning.line()).find()))
        .toList();
  }

  private static List<Pattern> expectedBy(AnnotatedElement element) {
    return Optional.ofNullable(element.getAnnotation(ExpectedWarnings.class)).stream()
        .flatMap(annotation -> Arrays.stream(annotation.value()))
        .map(Pattern::compile)
        .toList();
  }
}
