package io.rdmashuffle.store;

/**
 * What a {@link SlabPool} holds at one moment; all zero once it is closed and everything lent came
 * back.
 *
 * @param slabs slabs mapped
 * @param slabBytes bytes of those slabs, headers included: what counts against the budget
 * @param allocatedBytes bytes of extents lent
 * @param quarantinedBytes bytes of extents given back but not yet lent again, expired ones included
 * @param freeBytes bytes that can be lent without creating a slab or ending a quarantine
 * @param extents extents lent or in quarantine
 */
public record SlabPoolGauges(
    int slabs,
    long slabBytes,
    long allocatedBytes,
    long quarantinedBytes,
    long freeBytes,
    int extents) {}
