package io.rdmashuffle.it.compatibility;

/**
 * One test of one run.
 *
 * @param name of the method, with what tells tests of one method apart
 * @param reason why it was skipped; empty when it was not, or nobody said
 */
record TestResult(String className, String name, Outcome outcome, String reason) {
  enum Outcome {
    PASSED,
    /** It does not apply there, or lacked something. */
    SKIPPED,
    FAILED
  }

  /** As the document puts it. */
  String text() {
    return switch (outcome) {
      case PASSED -> "yes";
      case FAILED -> "no";
      case SKIPPED -> reason.isEmpty() ? "n/a" : "n/a: " + reason;
    };
  }
}
