package io.rdmashuffle.store.model;

import java.util.Arrays;

/**
 * A state of {@link ProtocolModel}: memory, the stores that the owner made and that are not visible
 * yet, and how far owner and readers have come. Immutable; {@link #copy()} is for whoever derives
 * the next one, before anybody else sees it.
 */
final class ModelState {
  /** Most stores under way at a time. */
  static final int PENDING = 6;

  // Fields of a reader.
  static final int STEP = 0;
  static final int OUTPUT = 1;
  static final int LOADED = 2;
  static final int GENERATION = 3;
  static final int POINTER = 4;
  static final int FIRST = 5;
  static final int SECOND = 6;
  static final int AGAIN = 7;
  static final int VISITS = 8;
  static final int HOLDS_UP = 9;
  private static final int READER_FIELDS = 10;

  private static final int PENDING_COUNT = Layout.WORDS;
  private static final int PENDING_AT = PENDING_COUNT + 1;
  private static final int OWNER_AT = PENDING_AT + 3 * PENDING;
  private static final int ANNOUNCED_AT = OWNER_AT + 1;
  private static final int WRONG_AT = ANNOUNCED_AT + 1;
  private static final int READERS_AT = WRONG_AT + 1;

  private final byte[] values;

  private ModelState(byte[] values) {
    this.values = values;
  }

  static ModelState empty(int readers) {
    return new ModelState(new byte[READERS_AT + readers * READER_FIELDS]);
  }

  ModelState copy() {
    return new ModelState(values.clone());
  }

  int memory(int word) {
    return values[word];
  }

  void setMemory(int word, int value) {
    values[word] = (byte) value;
  }

  int owner() {
    return values[OWNER_AT];
  }

  void setOwner(int step) {
    values[OWNER_AT] = (byte) step;
  }

  /** Outputs that readers were told of. */
  int announced() {
    return values[ANNOUNCED_AT];
  }

  void announceNext() {
    values[ANNOUNCED_AT]++;
  }

  boolean isWrong() {
    return values[WRONG_AT] != 0;
  }

  void setWrong() {
    values[WRONG_AT] = 1;
  }

  int readers() {
    return (values.length - READERS_AT) / READER_FIELDS;
  }

  int reader(int reader, int field) {
    return values[READERS_AT + reader * READER_FIELDS + field];
  }

  void setReader(int reader, int field, int value) {
    values[READERS_AT + reader * READER_FIELDS + field] = (byte) value;
  }

  int pending() {
    return values[PENDING_COUNT];
  }

  /** The owner stores; when it becomes visible is another step. */
  void store(int word, int value, boolean isRelease) {
    int at = PENDING_AT + 3 * values[PENDING_COUNT]++;
    values[at] = (byte) word;
    values[at + 1] = (byte) value;
    values[at + 2] = (byte) (isRelease ? 1 : 0);
  }

  /** Whether the order of stores allows that one to become visible next. */
  boolean canCommit(int index) {
    int at = PENDING_AT + 3 * index;
    if (values[at + 2] != 0) {
      return index == 0;
    }
    for (int earlier = PENDING_AT; earlier < at; earlier += 3) {
      if (values[earlier] == values[at]) {
        return false;
      }
    }
    return true;
  }

  String pendingText(int index) {
    int at = PENDING_AT + 3 * index;
    return "word " + values[at] + "=" + values[at + 1];
  }

  void commit(int index) {
    int at = PENDING_AT + 3 * index;
    values[values[at]] = values[at + 1];
    int end = PENDING_AT + 3 * PENDING;
    System.arraycopy(values, at + 3, values, at, end - at - 3);
    Arrays.fill(values, end - 3, end, (byte) 0); // equal states must be equal bytes
    values[PENDING_COUNT]--;
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof ModelState that && Arrays.equals(values, that.values);
  }

  @Override
  public int hashCode() {
    return Arrays.hashCode(values);
  }
}
