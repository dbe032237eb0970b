package io.rdmashuffle.transport;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;
import org.junit.jupiter.api.Test;

class SlabMemoryTest {
  private static final int LENGTH = 2 * SlabMemory.HEADER_LENGTH;

  private final PeerIdentity owner = AbstractTransportContractTest.identity("1", 1);

  @Test
  void isLittleEndianAndDescribesItself() throws Exception {
    try (SlabMemory slab = newSlab()) {
      assertEquals(ByteOrder.LITTLE_ENDIAN, slab.buffer().order());
      assertEquals(LENGTH, slab.length());
      assertEquals("slab 7 (8192 bytes, anonymous)", slab.toString());
    }
  }

  @Test
  void closeIsIdempotent() throws Exception {
    SlabMemory slab = newSlab();
    assertFalse(slab.isClosed());
    slab.close();
    assertTrue(slab.isClosed());
    slab.close();
  }

  @Test
  void headerProvesTheOwnerAndNobodyElse() throws Exception {
    try (SlabMemory slab = newSlab()) {
      assertFalse(SlabHeader.isOwnedBy(slab.buffer(), owner), "not written yet");
      SlabHeader.write(slab, owner);
      assertTrue(SlabHeader.isOwnedBy(slab.buffer(), owner));
      assertTrue(SlabHeader.isLiving(slab.buffer()));
      assertFalse(SlabHeader.isOwnedBy(slab.buffer(), identity("app", "1", 2)));
      assertFalse(SlabHeader.isOwnedBy(slab.buffer(), identity("app", "2", 1)));
      assertFalse(SlabHeader.isOwnedBy(slab.buffer(), identity("app2", "1", 1)));
      SlabHeader.clear(slab);
      assertFalse(SlabHeader.isLiving(slab.buffer()));
      assertFalse(SlabHeader.isOwnedBy(slab.buffer(), owner));
    }
  }

  @Test
  void headerOfATruncatedFileIsNotAccepted() throws Exception {
    try (SlabMemory slab = newSlab()) {
      SlabHeader.write(slab, owner);
      ByteBuffer first = slab.buffer().slice(0, SlabMemory.HEADER_LENGTH);
      assertFalse(SlabHeader.isOwnedBy(first.order(ByteOrder.LITTLE_ENDIAN), owner));
      ByteBuffer tiny = slab.buffer().slice(0, 16);
      assertFalse(SlabHeader.isOwnedBy(tiny.order(ByteOrder.LITTLE_ENDIAN), owner));
    }
  }

  @Test
  void headerDoesNotHoldTheToken() throws Exception {
    try (SlabMemory slab = newSlab()) {
      SlabHeader.write(slab, owner);
      byte[] token = owner.token();
      byte[] window = new byte[token.length];
      for (int i = 0; i <= SlabMemory.HEADER_LENGTH - token.length; i++) {
        slab.buffer().get(i, window);
        assertFalse(Arrays.equals(token, window));
      }
    }
  }

  private static SlabMemory newSlab() {
    return new SlabMemory(7, ByteBuffer.allocateDirect(LENGTH), null, SlabMemory.NO_DESCRIPTOR);
  }

  private static PeerIdentity identity(String applicationId, String executorId, int tokenByte) {
    byte[] token = AbstractTransportContractTest.identity("", tokenByte).token();
    return new PeerIdentity(applicationId, executorId, token);
  }
}
