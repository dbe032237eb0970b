/**
 * Real jobs while executors die and freeze, memory, disks and links fail, and the plugin's own
 * calls are made to fail; everything follows from a seed. Run by {@code bin/chaos} and by tests.
 */
package io.rdmashuffle.chaos;
