package io.rdmashuffle.harness;

import java.io.PrintStream;

/** Progress on long work: one line that is rewritten on a terminal, rare lines elsewhere. */
public final class Console {
  private static final long LINE_NANOS = 15_000_000_000L;

  private final PrintStream out;
  // The scripts know; System.console() does not tell on newer JDKs.
  private final boolean terminal = Boolean.getBoolean("harness.terminal");
  private long start;
  private long lastLine;
  private String doing = "";

  /** Prints there. */
  public Console(PrintStream out) {
    this.out = out;
  }

  /** Begins a step. */
  public void begin(String step) {
    doing = step;
    start = System.nanoTime();
    lastLine = start;
    out.print(terminal ? "  " + step + " ..." : "  " + step + " ...\n");
    out.flush();
  }

  /** Says how far it is. */
  public void progress(String how) {
    long now = System.nanoTime();
    String line = "  %s ... %s, %d s".formatted(doing, how, (now - start) / 1_000_000_000L);
    if (terminal) {
      out.print("\r\033[K" + line);
      out.flush();
    } else if (now - lastLine > LINE_NANOS) {
      lastLine = now;
      out.println(line);
    }
  }

  /** Ends a step. */
  public void end(String result) {
    out.println((terminal ? "\r\033[K" : "") + "  " + doing + ": " + result);
  }

  /** A line by itself. */
  public void say(String line) {
    out.println(line);
  }
}
