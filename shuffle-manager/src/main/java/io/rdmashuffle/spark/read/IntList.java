package io.rdmashuffle.spark.read;

import java.util.Arrays;

/** A growing list of ints without boxes. */
final class IntList {
  private int[] values = new int[16];
  private int size;

  void add(int value) {
    if (size == values.length) {
      values = Arrays.copyOf(values, size * 2);
    }
    values[size++] = value;
  }

  int get(int index) {
    return values[index];
  }

  int size() {
    return size;
  }
}
