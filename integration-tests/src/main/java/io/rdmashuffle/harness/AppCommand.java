package io.rdmashuffle.harness;

import io.rdmashuffle.jobs.JobInput;
import java.io.Serializable;

/** What a parent process asks an application to do. */
sealed interface AppCommand extends Serializable {
  /** Runs a job by name. */
  record Run(String job, JobInput input) implements AppCommand {}

  /** Runs a piece of code on the driver. */
  record Call(RemoteApp.Work<?> work) implements AppCommand {}

  /** Stops the application and ends the process. */
  record Stop() implements AppCommand {}
}
