package io.rdmashuffle.spark;

import io.rdmashuffle.transport.SlabFactory;
import io.rdmashuffle.transport.Transport;
import java.util.function.UnaryOperator;

/**
 * What a subclass of the shuffle manager puts around the parts of a runtime that touch the machine,
 * such as faults to test with.
 *
 * @param slabs applied to the factory of all slabs
 * @param transport applied to each transport; owns what it is given
 */
public record RuntimeWrappers(
    UnaryOperator<SlabFactory> slabs, UnaryOperator<Transport> transport) {
  /** The parts as they are. */
  public static final RuntimeWrappers NONE =
      new RuntimeWrappers(UnaryOperator.identity(), UnaryOperator.identity());
}
