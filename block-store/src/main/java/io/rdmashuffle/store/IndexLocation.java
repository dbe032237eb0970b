package io.rdmashuffle.store;

/**
 * Where the index block of a map output lies: what is published to peers.
 *
 * @param slabId slab that holds the block
 * @param offset where in the slab it begins, in bytes
 * @param length bytes of the block
 * @param generation of the map output, never 0; a block with another one is not it
 */
public record IndexLocation(int slabId, int offset, int length, long generation) {}
