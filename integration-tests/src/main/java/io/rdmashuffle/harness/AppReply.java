package io.rdmashuffle.harness;

import java.io.Serializable;

/** What an application tells its parent process. */
sealed interface AppReply extends Serializable {
  /** Executors are up. */
  record Ready(String applicationId) implements AppReply {}

  /** A job is still running. */
  record Progress(long tasks) implements AppReply {}

  /** A job has ended. */
  record Done(JobReport report) implements AppReply {}

  /** A piece of code has ended. */
  record Result(Serializable value) implements AppReply {}

  /** Something failed; the application may be gone. */
  record Failed(String stackTrace) implements AppReply {}

  /** The context is stopped; {@code left} is what the driver still holds of ours. */
  record Stopped(ProcessCounts left) implements AppReply {}
}
