package io.rdmashuffle.it.compatibility;

/**
 * One test of one run.
 *
 * @param name of the method, with what tells tests of one method apart
 */
record TestResult(String className, String name, Outcome outcome) {
  enum Outcome {
    PASSED,
    /** It does not apply there, or lacked something. */
    SKIPPED,
    FAILED
  }
}
