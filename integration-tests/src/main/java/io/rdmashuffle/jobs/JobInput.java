package io.rdmashuffle.jobs;

import java.io.Serializable;
import java.util.List;

/**
 * Sizes and sources.
 *
 * @param dataDir where prepared data goes
 * @param sortBytes size of the sort's input
 * @param texts real text files
 * @param scale TPC-H scale factor
 * @param load factor on the size of the synthetic benchmark jobs; 1 takes seconds on one core
 */
public record JobInput(
    String dataDir, long sortBytes, List<String> texts, double scale, double load)
    implements Serializable {

  /** Copies the list. */
  public JobInput {
    texts = List.copyOf(texts);
  }
}
