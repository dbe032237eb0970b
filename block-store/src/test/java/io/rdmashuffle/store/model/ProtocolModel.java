package io.rdmashuffle.store.model;

import java.util.List;
import java.util.Set;
import java.util.function.BiConsumer;

/**
 * One owner that reuses its memory, and readers that it knows nothing of.
 *
 * <p>Every load and every store's becoming visible is a step of its own, and any party may rest for
 * ever between two of its steps: a process that is stopped for longer than every deadline is one of
 * the cases. Stores become visible in any order that fences and releases allow.
 *
 * <p>A reader takes any output that was ever announced, at any time; reads its index block, the
 * words in any order; then the two words of data and the generation again; and delivers, or finds
 * it stale. Then it reads once more by the index block it kept.
 */
final class ProtocolModel implements Explorer.Model<ModelState> {
  /** How the reads of one batch are served. */
  enum Service {
    /**
     * A read is over before the next begins. Nothing is assumed of the quarantine: there is none.
     */
    IN_ORDER,
    /**
     * Words of one batch are fetched in any order, but all of them within less than the quarantine.
     */
    OVERLAPPING
  }

  private static final int VISITS = 2;

  // Steps of a reader.
  private static final int CHOOSES = 0;
  private static final int READS_INDEX = 1;
  private static final int READS_DATA = 2;
  private static final int ENDED = 3;

  private static final int INDEX_LOADED = 0b11;
  private static final int DATA_LOADED = 0b11;
  private static final int AGAIN_LOADED = 0b100;

  private final Layout layout;
  private final Service service;
  private final Set<Flaw> flaws;
  private final int readers;
  private final List<OwnerStep> program;

  /**
   * @param outputs how many the owner writes one after the other, the first included
   */
  ProtocolModel(Layout layout, Service service, Set<Flaw> flaws, int outputs, int readers) {
    this.layout = layout;
    this.service = service;
    this.flaws = flaws;
    this.readers = readers;
    program = OwnerProgram.steps(layout, flaws, service == Service.OVERLAPPING, outputs);
  }

  @Override
  public ModelState initial() {
    ModelState state = ModelState.empty(readers);
    state.announceNext();
    state.setMemory(layout.generation(0), OwnerProgram.generation(0, flaws));
    state.setMemory(layout.pointer(0), layout.data(0));
    state.setMemory(layout.data(0), OwnerProgram.word(0, 0));
    state.setMemory(layout.data(0) + 1, OwnerProgram.word(0, 1));
    return state;
  }

  @Override
  public boolean isWrong(ModelState state) {
    return state.isWrong();
  }

  /** Everybody can always go on until all is done. */
  @Override
  public boolean mayEnd(ModelState state) {
    for (int reader = 0; reader < readers; reader++) {
      if (state.reader(reader, ModelState.STEP) != ENDED) {
        return false;
      }
    }
    return state.owner() == program.size() && state.pending() == 0;
  }

  @Override
  public void forEachStep(ModelState state, BiConsumer<String, ModelState> visitor) {
    stepOwner(state, visitor);
    for (int i = 0; i < state.pending(); i++) {
      if (state.canCommit(i)) {
        ModelState next = state.copy();
        next.commit(i);
        visitor.accept("visible: " + state.pendingText(i), next);
      }
    }
    for (int reader = 0; reader < readers; reader++) {
      stepReader(state, reader, visitor);
    }
  }

  // ---- the owner

  private void stepOwner(ModelState state, BiConsumer<String, ModelState> visitor) {
    if (state.owner() == program.size()) {
      return;
    }
    OwnerStep step = program.get(state.owner());
    if (!canTake(state, step)) {
      return;
    }
    ModelState next = state.copy();
    next.setOwner(state.owner() + 1);
    if (step.isStore()) {
      next.store(step.word(), step.value(), step.kind() == OwnerStep.Kind.RELEASE);
    } else if (step.kind() == OwnerStep.Kind.ANNOUNCE) {
      next.announceNext();
    } else if (step.kind() == OwnerStep.Kind.BEGIN_QUARANTINE) {
      for (int reader = 0; reader < readers; reader++) {
        next.setReader(reader, ModelState.HOLDS_UP, isBeingServed(state, reader) ? 1 : 0);
      }
    }
    visitor.accept("owner: " + step, next);
  }

  private boolean canTake(ModelState state, OwnerStep step) {
    return switch (step.kind()) {
      case STORE, RELEASE -> state.pending() < ModelState.PENDING;
      case FENCE -> state.pending() == 0;
      case ANNOUNCE, BEGIN_QUARANTINE -> true;
      case END_QUARANTINE -> flaws.contains(Flaw.READS_OUTLAST_QUARANTINE) || !isHeldUp(state);
    };
  }

  private boolean isHeldUp(ModelState state) {
    for (int reader = 0; reader < readers; reader++) {
      if (state.reader(reader, ModelState.HOLDS_UP) != 0) {
        return true;
      }
    }
    return false;
  }

  private static boolean isBeingServed(ModelState state, int reader) {
    return state.reader(reader, ModelState.STEP) == READS_DATA
        && state.reader(reader, ModelState.LOADED) != 0;
  }

  // ---- a reader

  private void stepReader(ModelState state, int reader, BiConsumer<String, ModelState> visitor) {
    switch (state.reader(reader, ModelState.STEP)) {
      case CHOOSES -> choose(state, reader, visitor);
      case READS_INDEX -> readIndex(state, reader, visitor);
      case READS_DATA -> readData(state, reader, visitor);
      default -> {} // at its end
    }
  }

  private static void choose(ModelState state, int reader, BiConsumer<String, ModelState> visitor) {
    for (int output = 0; output < state.announced(); output++) {
      ModelState next = state.copy();
      next.setReader(reader, ModelState.OUTPUT, output);
      next.setReader(reader, ModelState.STEP, READS_INDEX);
      visitor.accept("reader " + reader + " takes output " + output, next);
    }
  }

  private void readIndex(ModelState state, int reader, BiConsumer<String, ModelState> visitor) {
    int output = state.reader(reader, ModelState.OUTPUT);
    int[] words = {layout.generation(output), layout.pointer(output)};
    for (int i = 0; i < words.length; i++) {
      if (isLoaded(state, reader, i)) {
        continue;
      }
      ModelState next = load(state, reader, i, ModelState.GENERATION + i, words[i]);
      if (next.reader(reader, ModelState.LOADED) == INDEX_LOADED) {
        decode(next, reader);
      }
      visitor.accept("reader " + reader + " loads index word " + words[i], next);
    }
  }

  private void decode(ModelState state, int reader) {
    int pointer = state.reader(reader, ModelState.POINTER);
    boolean isGood =
        state.reader(reader, ModelState.GENERATION) == expected(state, reader)
            && pointer < Layout.WORDS - 1;
    state.setReader(reader, ModelState.LOADED, 0);
    state.setReader(reader, ModelState.STEP, isGood ? READS_DATA : ENDED);
  }

  private void readData(ModelState state, int reader, BiConsumer<String, ModelState> visitor) {
    int pointer = state.reader(reader, ModelState.POINTER);
    int generation = layout.generation(state.reader(reader, ModelState.OUTPUT));
    int[] words = {pointer, pointer + 1, generation};
    for (int i = 0; i < words.length; i++) {
      if (!isLoaded(state, reader, i) && mayLoad(state, reader, i)) {
        ModelState next = load(state, reader, i, ModelState.FIRST + i, words[i]);
        if (next.reader(reader, ModelState.LOADED) == (DATA_LOADED | AGAIN_LOADED)) {
          check(next, reader);
        }
        visitor.accept("reader " + reader + " loads word " + words[i], next);
      }
    }
  }

  private boolean mayLoad(ModelState state, int reader, int index) {
    if (service == Service.OVERLAPPING) {
      return true;
    }
    boolean isAgain = 1 << index == AGAIN_LOADED;
    int loaded = state.reader(reader, ModelState.LOADED);
    return flaws.contains(Flaw.SECOND_LOOK_FIRST)
        ? isAgain || (loaded & AGAIN_LOADED) != 0
        : !isAgain || loaded == DATA_LOADED;
  }

  private void check(ModelState state, int reader) {
    boolean isCurrent =
        flaws.contains(Flaw.NO_SECOND_LOOK)
            || state.reader(reader, ModelState.AGAIN) == expected(state, reader);
    int output = state.reader(reader, ModelState.OUTPUT);
    if (isCurrent
        && (state.reader(reader, ModelState.FIRST) != OwnerProgram.word(output, 0)
            || state.reader(reader, ModelState.SECOND) != OwnerProgram.word(output, 1))) {
      state.setWrong();
    }
    int visits = state.reader(reader, ModelState.VISITS) + 1;
    state.setReader(reader, ModelState.VISITS, visits);
    state.setReader(reader, ModelState.LOADED, 0);
    state.setReader(reader, ModelState.HOLDS_UP, 0);
    state.setReader(reader, ModelState.STEP, isCurrent && visits < VISITS ? READS_DATA : ENDED);
    for (int field = ModelState.FIRST; field <= ModelState.AGAIN; field++) {
      state.setReader(reader, field, 0); // forgotten, so that equal futures are equal states
    }
  }

  private int expected(ModelState state, int reader) {
    return OwnerProgram.generation(state.reader(reader, ModelState.OUTPUT), flaws);
  }

  private static boolean isLoaded(ModelState state, int reader, int index) {
    return (state.reader(reader, ModelState.LOADED) & 1 << index) != 0;
  }

  private static ModelState load(ModelState state, int reader, int index, int field, int word) {
    ModelState next = state.copy();
    next.setReader(reader, field, state.memory(word));
    next.setReader(reader, ModelState.LOADED, state.reader(reader, ModelState.LOADED) | 1 << index);
    return next;
  }
}
