/**
 * The directory of map outputs: the driver's copy, the executors' client of it, and the messages
 * between them.
 *
 * <p>The directory only says where bytes lie. Spark's MapOutputTracker alone decides which map
 * outputs count, so an entry that is missing, late or out of date costs a read over TCP and nothing
 * else. Nothing here blocks a thread of Spark's RPC.
 *
 * <p>Messages are byte arrays, because the class loader of Spark's RPC does not see classes that
 * came with {@code --jars}.
 */
package io.rdmashuffle.spark.directory;
