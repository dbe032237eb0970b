package io.rdmashuffle.bench;

import io.rdmashuffle.harness.Table;

/** Where a measured quantity lies: a point and the bounds of its interval. */
record Interval(double low, double middle, double high) {
  @Override
  public String toString() {
    return "%s (%s..%s)".formatted(Table.ratio(middle), Table.ratio(low), Table.ratio(high));
  }
}
