/**
 * Where the map outputs of an executor are kept: registered memory, Spark's files, or both, and how
 * they get from one to the other.
 */
package io.rdmashuffle.spark.tier;
