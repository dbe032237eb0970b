package io.rdmashuffle.harness;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/** A text table; the first column is aligned left, all others right. */
public final class Table {
  private final List<List<String>> rows = new ArrayList<>();

  /** With its headings. */
  public Table(String... headings) {
    rows.add(List.of(headings));
  }

  /** Adds a row. */
  public void add(String... cells) {
    rows.add(List.of(cells));
  }

  @Override
  public String toString() {
    StringBuilder out = new StringBuilder();
    for (int r = 0; r < rows.size(); r++) {
      StringBuilder line = new StringBuilder();
      for (int c = 0; c < rows.get(r).size(); c++) {
        String cell = rows.get(r).get(c);
        String padding = " ".repeat(width(c) - cell.length());
        line.append(c == 0 ? cell + padding : "  " + padding + cell);
      }
      out.append(line.toString().stripTrailing()).append('\n');
      if (r == 0) {
        out.append("-".repeat(line.length())).append('\n');
      }
    }
    return out.toString();
  }

  private int width(int column) {
    return rows.stream().mapToInt(row -> row.get(column).length()).max().orElse(0);
  }

  /** Bytes for people. */
  public static String bytes(long bytes) {
    if (bytes < 10_000) {
      return bytes + " B";
    }
    return bytes < 10_000_000
        ? String.format(Locale.ROOT, "%.1f KB", bytes / 1e3)
        : String.format(Locale.ROOT, "%.1f MB", bytes / 1e6);
  }

  /** Seconds for people. */
  public static String seconds(double seconds) {
    return String.format(Locale.ROOT, "%.1f s", seconds);
  }

  /** A ratio for people. */
  public static String ratio(double ratio) {
    return String.format(Locale.ROOT, "%.2f", ratio);
  }
}
