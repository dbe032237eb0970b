package io.rdmashuffle.chaos;

import io.rdmashuffle.transport.Availability;
import io.rdmashuffle.transport.SlabFactory;
import io.rdmashuffle.transport.SlabMemory;
import java.io.IOException;

/** Slabs that cannot be had from time to time. */
record FaultySlabFactory(SlabFactory delegate, InjectedFaults faults) implements SlabFactory {
  @Override
  public SlabMemory create(int length) throws IOException {
    if (faults.onAllocate()) {
      throw new IOException("a slab of " + length + " bytes: fault injected by " + faults);
    }
    return delegate.create(length);
  }

  @Override
  public Availability shareable() {
    return delegate.shareable();
  }
}
