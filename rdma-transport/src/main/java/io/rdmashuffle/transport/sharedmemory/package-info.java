/**
 * The transport between executors on one host: a peer's slabs are mapped read-only through {@code
 * /proc/<pid>/fd}, and a read is a copy made by the thread that asks for it.
 */
package io.rdmashuffle.transport.sharedmemory;
