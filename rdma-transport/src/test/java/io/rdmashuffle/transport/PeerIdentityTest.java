package io.rdmashuffle.transport;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.util.HexFormat;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;

class PeerIdentityTest {
  private final byte[] token = AbstractTransportContractTest.identity("", 1).token();
  private final PeerIdentity identity = new PeerIdentity("app", "1", token);

  @Test
  void proofIsTheSameForTheSameInputOnly() {
    assertArrayEquals(identity.proof("slab"), new PeerIdentity("app", "1", token).proof("slab"));
    assertEquals(PeerIdentity.PROOF_LENGTH, identity.proof("slab").length);
    Set<String> proofs = new TreeSet<>();
    List<PeerIdentity> others =
        List.of(
            identity,
            new PeerIdentity("app", "11", token),
            new PeerIdentity("app1", "1", token),
            new PeerIdentity("ap", "p1", token),
            new PeerIdentity("app", "1", AbstractTransportContractTest.identity("", 2).token()));
    for (PeerIdentity other : others) {
      proofs.add(HexFormat.of().formatHex(other.proof("slab")));
      proofs.add(HexFormat.of().formatHex(other.proof("slabs")));
    }
    assertEquals(2 * others.size(), proofs.size());
  }

  @Test
  void tokenIsCopied() {
    byte[] mine = token.clone();
    PeerIdentity copied = new PeerIdentity("app", "1", mine);
    mine[0]++;
    assertEquals(identity, copied);
    copied.token()[0]++;
    assertEquals(identity, copied);
  }

  @Test
  void tokenOfAnotherLengthIsRefused() {
    assertThrows(IllegalArgumentException.class, () -> new PeerIdentity("app", "1", new byte[31]));
    assertThrows(IllegalArgumentException.class, () -> new PeerIdentity("app", "1", new byte[0]));
  }

  @Test
  void equalityCoversEveryPart() {
    PeerIdentity same = new PeerIdentity("app", "1", token);
    assertEquals(identity, same);
    assertEquals(identity.hashCode(), same.hashCode());
    assertNotEquals(identity, new PeerIdentity("app", "2", token));
    assertNotEquals(identity, new PeerIdentity("app2", "1", token));
    assertNotEquals(
        identity,
        new PeerIdentity("app", "1", AbstractTransportContractTest.identity("", 2).token()));
  }

  @Test
  void printsNoToken() {
    assertEquals("executor 1 of app", identity.toString());
    assertFalse(identity.toString().contains(HexFormat.of().formatHex(token)));
  }
}
