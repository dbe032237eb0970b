package io.rdmashuffle.it;

import io.rdmashuffle.jobs.ResultDigest;
import java.util.Map;
import org.apache.spark.sql.SparkSession;

/** One of Spark's operations that shuffle, on small data that is the same in every run. */
record Operation(String name, Map<String, String> sqlSettings, Body body) {
  /** What it does. */
  interface Body {
    ResultDigest run(SparkSession spark);
  }

  static Operation rdd(String name, Body body) {
    return new Operation(name, Map.of(), body);
  }

  static Operation sql(String name, boolean adaptive, Body body) {
    return new Operation(
        name + (adaptive ? ", AQE on" : ", AQE off"),
        Map.of("spark.sql.adaptive.enabled", Boolean.toString(adaptive)),
        body);
  }

  ResultDigest run(SparkSession spark) {
    sqlSettings.forEach(spark.conf()::set);
    return body.run(spark);
  }

  @Override
  public String toString() {
    return name;
  }
}
