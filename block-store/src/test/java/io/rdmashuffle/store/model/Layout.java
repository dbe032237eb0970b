package io.rdmashuffle.store.model;

/**
 * Where successive outputs lie in six words of memory. An output is two words of index block, the
 * generation and where the data begins, and two words of data.
 */
enum Layout {
  /** Each output in the very place of the one before. */
  IN_PLACE(0, 0, 2, 2),
  /** The index block comes to lie where data was, and data where the index block was. */
  SWAPPED(0, 2, 2, 0),
  /** Data moves on and back; the index block stays. */
  DATA_MOVES(0, 0, 2, 4),
  /** The index block moves on and back; the data stays. */
  INDEX_MOVES(0, 4, 2, 2);

  static final int WORDS = 6;

  private final int evenIndex;
  private final int oddIndex;
  private final int evenData;
  private final int oddData;

  Layout(int evenIndex, int oddIndex, int evenData, int oddData) {
    this.evenIndex = evenIndex;
    this.oddIndex = oddIndex;
    this.evenData = evenData;
    this.oddData = oddData;
  }

  /** Word that holds the generation of an output, which are counted from 0. */
  int generation(int output) {
    return output % 2 == 0 ? evenIndex : oddIndex;
  }

  /** Word that says where the data begins. */
  int pointer(int output) {
    return generation(output) + 1;
  }

  /** First word of the data. */
  int data(int output) {
    return output % 2 == 0 ? evenData : oddData;
  }
}
