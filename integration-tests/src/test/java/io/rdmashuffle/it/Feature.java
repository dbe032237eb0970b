package io.rdmashuffle.it;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/**
 * What of Spark a test shows to work with the plugin: a row of {@code docs/compatibility.md}, whose
 * columns are the versions of Spark that the test passed with. Several tests may show the same
 * feature; it then works where all of them pass. On a class, it holds for all the tests in it, also
 * for those made at run time.
 */
@Documented
@Retention(RetentionPolicy.RUNTIME)
@Target({ElementType.TYPE, ElementType.METHOD})
public @interface Feature {
  /**
   * The feature as users of Spark call it, the area before a colon where it is one of several: for
   * example {@code Adaptive execution: skewed partitions are split}.
   */
  String[] value();
}
