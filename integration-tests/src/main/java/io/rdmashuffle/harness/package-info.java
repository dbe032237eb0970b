/** Starts Spark on {@code local-cluster} from Maven's jars and measures what its jobs do. */
package io.rdmashuffle.harness;
