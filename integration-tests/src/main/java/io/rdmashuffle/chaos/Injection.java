package io.rdmashuffle.chaos;

/**
 * One thing that is done from outside while a job runs.
 *
 * @param afterMs milliseconds after the first job's start
 * @param target which executor, counted among those alive then, modulo their number
 * @param forMs milliseconds until it is undone; meaningless for what cannot be undone
 */
public record Injection(InjectionKind kind, long afterMs, int target, long forMs) {
  @Override
  public String toString() {
    return "%s at %d ms for %d ms, target %d".formatted(kind, afterMs, forMs, target);
  }
}
