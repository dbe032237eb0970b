package io.rdmashuffle.jobs;

import java.io.Serializable;
import org.apache.spark.sql.SparkSession;

/** A job that gives the same result whichever shuffle carries it. */
public interface Job extends Serializable {
  /** Short name: a word for the command line. */
  String name();

  /** What it does, for the table's legend. */
  String describe(JobInput input);

  /** Makes input that is not part of the measurement; called before each run, cheap when done. */
  default void prepare(SparkSession spark, JobInput input) {}

  /** Runs it; this is what is timed. */
  ResultDigest run(SparkSession spark, JobInput input);
}
