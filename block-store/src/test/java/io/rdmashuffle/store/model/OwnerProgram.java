package io.rdmashuffle.store.model;

import io.rdmashuffle.store.model.OwnerStep.Kind;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;

/**
 * What the owner of memory does, in the order of {@code MapOutput.remove}, {@code SlabPool.retire},
 * {@code MapOutputBuilder.commit} and {@code Publisher}: gives an output up, writes the next where
 * it was, and announces that.
 */
final class OwnerProgram {
  private static final int VOID = 0;

  private final Layout layout;
  private final Set<Flaw> flaws;
  private final boolean hasQuarantine;
  private final List<OwnerStep> steps = new ArrayList<>();

  private OwnerProgram(Layout layout, Set<Flaw> flaws, boolean hasQuarantine) {
    this.layout = layout;
    this.flaws = flaws;
    this.hasQuarantine = hasQuarantine;
  }

  /** The steps from the first output to the last. */
  static List<OwnerStep> steps(Layout layout, Set<Flaw> flaws, boolean hasQuarantine, int outputs) {
    OwnerProgram program = new OwnerProgram(layout, flaws, hasQuarantine);
    for (int output = 1; output < outputs; output++) {
      program.replace(output);
    }
    return program.steps;
  }

  /** The generation of an output. */
  static int generation(int output, Set<Flaw> flaws) {
    return flaws.contains(Flaw.GENERATION_REPEATED) ? 100 : 100 + output;
  }

  /** A word of the data of an output; none is a generation or says where data begins. */
  static int word(int output, int position) {
    return 10 * (output + 1) + position;
  }

  private void replace(int output) {
    if (!flaws.contains(Flaw.VOID_AFTER_REUSE)) {
      giveUp(output - 1);
    }
    if (hasQuarantine) {
      steps.add(OwnerStep.of(Kind.BEGIN_QUARANTINE));
      steps.add(OwnerStep.of(Kind.END_QUARANTINE));
    }
    if (flaws.contains(Flaw.ANNOUNCED_EARLY)) {
      steps.add(OwnerStep.of(Kind.ANNOUNCE));
    }
    steps.add(OwnerStep.store(layout.data(output), word(output, 0)));
    steps.add(OwnerStep.store(layout.data(output) + 1, word(output, 1)));
    if (flaws.contains(Flaw.VOID_AFTER_REUSE)) {
      giveUp(output - 1);
    }
    voidAt(layout.generation(output)); // the index block is written over a void generation
    steps.add(OwnerStep.store(layout.pointer(output), layout.data(output)));
    publish(output);
    if (!flaws.contains(Flaw.ANNOUNCED_EARLY)) {
      steps.add(OwnerStep.of(Kind.ANNOUNCE));
    }
  }

  private void giveUp(int output) {
    if (!flaws.contains(Flaw.NO_VOID)) {
      voidAt(layout.generation(output));
    }
  }

  private void voidAt(int word) {
    steps.add(OwnerStep.release(word, VOID));
    if (!flaws.contains(Flaw.NO_FENCE)) {
      steps.add(OwnerStep.of(Kind.FENCE));
    }
  }

  private void publish(int output) {
    int word = layout.generation(output);
    int value = generation(output, flaws);
    if (flaws.contains(Flaw.PUBLISHED_WITHOUT_RELEASE)) {
      steps.add(OwnerStep.store(word, value));
    } else {
      steps.add(OwnerStep.release(word, value));
      steps.add(OwnerStep.of(Kind.FENCE));
    }
  }
}
