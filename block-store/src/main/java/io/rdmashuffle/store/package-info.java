/**
 * Where map outputs lie while they can be read one-sided.
 *
 * <p>A {@link io.rdmashuffle.store.SlabPool} creates slabs of registered memory up to a budget and
 * lends {@linkplain io.rdmashuffle.store.Extent extents} of them. A map task appends its partitions
 * through a {@link io.rdmashuffle.store.MapOutputBuilder}; commit writes an {@linkplain
 * io.rdmashuffle.store.IndexBlock index block} beside the data and gives it a generation. Peers
 * read that block, then the data, then the generation again; the owner learns of none of it.
 *
 * <p>What makes this safe is the order in which memory is taken back: the generation is voided, the
 * last local pin goes, the extents linger in {@linkplain io.rdmashuffle.store.Quarantine
 * quarantine} for longer than any reader's deadline, and only then are they lent again.
 *
 * <p>Reads of our own land in the buffers of a {@link io.rdmashuffle.store.ReceivePool}, which
 * stands on a slab pool of its own.
 */
package io.rdmashuffle.store;
