package io.rdmashuffle.transport;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.io.IOException;
import java.time.Duration;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class ReadBatchTest {
  private static final int LENGTH = 2 * SlabMemory.HEADER_LENGTH;

  private final Deadline deadline = Deadline.after(Duration.ofSeconds(1));
  private RegisteredSlab slab;

  @BeforeEach
  void open() throws IOException {
    PeerIdentity owner = AbstractTransportContractTest.identity("1", 1);
    SlabMemory memory = new AnonymousSlabFactory(owner, "for a test").create(LENGTH);
    slab =
        new RegisteredSlab() {
          @Override
          public SlabMemory slab() {
            return memory;
          }

          @Override
          public long remoteAddress() {
            return 0;
          }

          @Override
          public int remoteKey() {
            return 0;
          }

          @Override
          public void close() {}
        };
  }

  @AfterEach
  void close() throws IOException {
    slab.slab().close();
  }

  @Test
  void keepsReadsInTheOrderOfAddition() {
    ReadBatch batch = new ReadBatch(2).reset(deadline);
    batch.add(1L << 40, 7, 100, slab, 0).add(8, 9, LENGTH, slab, 0);
    assertEquals(2, batch.size());
    assertEquals(2, batch.capacity());
    assertEquals(100 + LENGTH, batch.totalBytes());
    assertEquals(deadline.deadlineNs(), batch.deadlineNs());
    assertEquals(1L << 40, batch.remoteAddress(0));
    assertEquals(7, batch.remoteKey(0));
    assertEquals(LENGTH, batch.length(1));
    assertSame(slab, batch.localSlab(1));
    assertEquals(0, batch.localOffset(1));
  }

  @Test
  void resetEmpties() {
    ReadBatch batch = new ReadBatch(1).reset(deadline).add(0, 0, 1, slab, 0);
    batch.reset(new Deadline(5));
    assertEquals(0, batch.size());
    assertEquals(0, batch.totalBytes());
    assertEquals(5, batch.deadlineNs());
    batch.add(0, 0, 2, slab, 0);
    assertEquals(2, batch.totalBytes());
  }

  @Test
  void refusesWhatDoesNotFit() {
    assertThrows(IllegalArgumentException.class, () -> new ReadBatch(0));
    ReadBatch batch = new ReadBatch(1).reset(deadline);
    assertRefused(batch, 0, 0);
    assertRefused(batch, -1, 0);
    assertRefused(batch, 1, -1);
    assertRefused(batch, 1, LENGTH);
    assertRefused(batch, LENGTH, 1);
    assertRefused(batch, Integer.MAX_VALUE, Integer.MAX_VALUE);
    assertEquals(0, batch.size());
    batch.add(0, 0, 1, slab, LENGTH - 1);
    assertThrows(IllegalStateException.class, () -> batch.add(0, 0, 1, slab, 0));
  }

  private void assertRefused(ReadBatch batch, int length, int offset) {
    assertThrows(IllegalArgumentException.class, () -> batch.add(0, 0, length, slab, offset));
  }
}
