/**
 * Every {@code spark.shuffle.rdma.*} setting in one place: its type, default, bounds and meaning.
 *
 * <p>{@link io.rdmashuffle.conf.RdmaShuffleConf#from} turns Spark's properties into one immutable,
 * checked view per module. No other class of the plugin reads a property. The keys themselves are
 * in {@link io.rdmashuffle.conf.ConfigKeys}; {@code docs/configuration.md} is generated from them.
 */
package io.rdmashuffle.conf;
