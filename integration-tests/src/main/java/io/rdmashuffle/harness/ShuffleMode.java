package io.rdmashuffle.harness;

/** Which shuffle an application uses. */
public enum ShuffleMode {
  /** Spark's own sort shuffle: what results and times are compared with. */
  SORT("sort shuffle"),
  /** The plugin. */
  PLUGIN("plugin");

  private final String label;

  ShuffleMode(String label) {
    this.label = label;
  }

  /** For tables and progress lines. */
  public String label() {
    return label;
  }
}
