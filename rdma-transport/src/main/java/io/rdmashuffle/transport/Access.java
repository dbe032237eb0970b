package io.rdmashuffle.transport;

/** What a registration of a slab permits. Nothing is ever remotely writable. */
public enum Access {
  /** Peers may read the slab one-sided: slabs that hold map outputs. */
  REMOTE_READ,
  /** Our own reads may land in the slab: receive buffers. */
  LOCAL_WRITE
}
