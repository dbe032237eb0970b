package io.rdmashuffle.store.model;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.BiConsumer;

/**
 * Visits every state that a model can reach, nearest first, so that the way to the first wrong one
 * is a shortest one.
 *
 * @param <S> a state: immutable, with equality by value
 */
final class Explorer<S> {
  /** What is explored. */
  interface Model<S> {
    S initial();

    /** Hands over each step that some party can take next, with the state it leads to. */
    void forEachStep(S state, BiConsumer<String, S> visitor);

    /** Whether the state must not be. */
    boolean isWrong(S state);

    /** Whether a party with nothing left to do is all right here. */
    boolean mayEnd(S state);
  }

  /**
   * What was found.
   *
   * @param states number of different states visited
   * @param steps number of steps taken between them
   * @param counterexample the steps to a wrong state; empty when there is none
   */
  record Result(int states, long steps, List<String> counterexample) {
    boolean isSafe() {
      return counterexample.isEmpty();
    }
  }

  private record Origin<S>(S state, String step) {}

  private final Model<S> model;
  private final int maxStates;
  private final Map<S, Origin<S>> origins = new HashMap<>();
  private final ArrayDeque<S> frontier = new ArrayDeque<>();
  private long steps;
  private S wrong;

  /**
   * @param maxStates most states to visit; a model with more is an error, not a proof
   */
  Explorer(Model<S> model, int maxStates) {
    this.model = model;
    this.maxStates = maxStates;
  }

  Result explore() {
    reach(model.initial(), null);
    while (wrong == null && !frontier.isEmpty()) {
      expand(frontier.remove());
    }
    return new Result(origins.size(), steps, wrong == null ? List.of() : wayTo(wrong));
  }

  private void expand(S state) {
    long before = steps;
    model.forEachStep(state, (step, next) -> reach(next, new Origin<>(state, step)));
    if (steps == before && !model.mayEnd(state)) {
      throw new IllegalStateException("stuck after " + wayTo(state));
    }
  }

  private void reach(S state, Origin<S> origin) {
    steps += origin == null ? 0 : 1;
    if (origins.containsKey(state)) {
      return;
    }
    if (origins.size() == maxStates) {
      throw new IllegalStateException("more than " + maxStates + " states");
    }
    origins.put(state, origin);
    frontier.add(state);
    if (wrong == null && model.isWrong(state)) {
      wrong = state;
    }
  }

  private List<String> wayTo(S state) {
    List<String> way = new ArrayList<>();
    for (Origin<S> at = origins.get(state); at != null; at = origins.get(at.state())) {
      way.add(at.step());
    }
    Collections.reverse(way);
    return way;
  }
}
