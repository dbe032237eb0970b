package io.rdmashuffle.it.compatibility;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/**
 * What the document said before.
 *
 * @param titles of the columns of Sparks
 * @param cells by {@link Place}
 */
record EarlierDocument(List<String> titles, Map<Place, String> cells) {
  /** Nothing was said. */
  static final EarlierDocument NONE = new EarlierDocument(List.of(), Map.of());

  private static final String BAR = " \\| ";

  /**
   * Where something is said.
   *
   * @param names of the tests: with others, it says something else
   */
  record Place(String title, String feature, String names) {}

  static EarlierDocument parse(String document) {
    List<String> titles = new ArrayList<>();
    Map<Place, String> cells = new HashMap<>();
    document
        .lines()
        .filter(line -> line.startsWith("| ") && !line.startsWith("| ---"))
        .map(line -> List.of(line.substring(2, line.length() - 2).split(BAR, -1)))
        .forEach(
            row -> {
              int last = row.size() - 1;
              if (row.get(0).equals(CompatibilityDocument.FEATURE)) {
                titles.addAll(row.subList(1, last));
              } else {
                for (int i = 1; i < last; i++) {
                  Place place = new Place(titles.get(i - 1), row.get(0), row.get(last));
                  cells.put(place, row.get(i));
                }
              }
            });
    return new EarlierDocument(titles, cells);
  }

  /** Some runs, and one without results for each column that they lack. */
  List<SparkRun> withColumns(List<SparkRun> runs) {
    List<String> known = runs.stream().map(SparkRun::title).toList();
    Stream<SparkRun> others =
        titles.stream().filter(title -> !known.contains(title)).map(SparkRun::ofTitle);
    return Stream.concat(runs.stream(), others).sorted(SparkRun.ORDER).toList();
  }

  /** What was said of a feature shown by the same tests; empty when nothing was. */
  String cell(String title, String feature, String names) {
    return cells.getOrDefault(new Place(title, feature, names), "");
  }
}
