package io.rdmashuffle.spark.directory;

import java.util.List;

/**
 * Part of a shuffle's publications, as sent to an executor. Entries lie in {@code words} in the
 * layout of {@link OutputLog}, with the place of the executor within {@code executors} in the upper
 * half of the word that names executor and slab. Immutable once made.
 */
final class LocatePage {
  private final long[] words;
  private final int count;
  private final int nextPosition;
  private final boolean more;
  private final List<ExecutorMention> executors;

  /**
   * @param words owned by the page from now on
   * @param count entries
   * @param nextPosition where the next page begins
   * @param more whether entries lay beyond it when the page was made
   * @param executors those that the entries name
   */
  LocatePage(
      long[] words, int count, int nextPosition, boolean more, List<ExecutorMention> executors) {
    this.words = words;
    this.count = count;
    this.nextPosition = nextPosition;
    this.more = more;
    this.executors = List.copyOf(executors);
  }

  /**
   * An executor as a page names it.
   *
   * @param index driver's number of the executor, never used for another one
   * @param version version of its slab table
   */
  record ExecutorMention(int index, String executorId, long version) {}

  int count() {
    return count;
  }

  int nextPosition() {
    return nextPosition;
  }

  boolean more() {
    return more;
  }

  List<ExecutorMention> executors() {
    return executors;
  }

  int executor(int entry) {
    return OutputLog.upper(word(entry, OutputLog.EXECUTOR_AND_SLAB));
  }

  int slabId(int entry) {
    return OutputLog.lower(word(entry, OutputLog.EXECUTOR_AND_SLAB));
  }

  long mapTaskId(int entry) {
    return word(entry, OutputLog.MAP_TASK_ID);
  }

  long generation(int entry) {
    return word(entry, OutputLog.GENERATION);
  }

  long offset(int entry) {
    return word(entry, OutputLog.OFFSET);
  }

  int indexLength(int entry) {
    return (int) word(entry, OutputLog.INDEX_LENGTH);
  }

  private long word(int entry, int word) {
    return words[entry * OutputLog.WORDS + word];
  }
}
