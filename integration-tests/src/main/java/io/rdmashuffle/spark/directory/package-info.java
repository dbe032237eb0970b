/** The driver's directory under loads that no test machine has executors for. */
package io.rdmashuffle.spark.directory;
