package io.rdmashuffle.it;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/**
 * What the plugin may complain of in the logs while a test, or the tests of a class, run. Anything
 * else at WARN or ERROR fails the test, see {@link LogCheck}.
 */
@Retention(RetentionPolicy.RUNTIME)
@Target({ElementType.TYPE, ElementType.METHOD})
public @interface ExpectedWarnings {
  /** What readers say of an executor that was killed, or whose link fails. */
  String LOST_EXECUTOR =
      "blocks of executor \\d+ .*go by TCP: (CONNECT_|READ_|PEER_UNKNOWN|LOCATION_UNKNOWN)";

  /** What an executor says once its memory is full. */
  String BUDGET_SPENT = "map outputs go to files from now and then";

  /** Regular expressions, each for a part of a line. */
  String[] value();
}
