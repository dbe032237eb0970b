package io.rdmashuffle.transport.verbs;

/** What stands behind an id of the connection manager. All calls come on its thread. */
interface CmHandler {
  /** Value of {@link #deadlineNs()} for one that waits for nothing; looked at before comparing. */
  long NO_DEADLINE = Long.MIN_VALUE;

  void onEvent(CmEvent event);

  /** Until when the next event must come, on the clock of {@code System.nanoTime()}. */
  long deadlineNs();

  /** The deadline is over. */
  void onDeadline();

  /** The transport closes: give back what is held. */
  void onStop();
}
