package io.rdmashuffle.spark.read;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import org.apache.spark.network.buffer.ManagedBuffer;
import org.apache.spark.network.buffer.NioManagedBuffer;
import org.apache.spark.network.shuffle.BlockFetchingListener;
import org.junit.jupiter.api.Test;

final class ServiceThenOwnerTest {
  private static final int SERVICE_PORT = 7337;
  private static final int OWNER_PORT = 40_000;

  private final List<String> asked = new ArrayList<>();
  private final TreeMap<String, String> outcome = new TreeMap<>();
  private final BlockFetchingListener listener =
      new BlockFetchingListener() {
        @Override
        public void onBlockFetchSuccess(String blockId, ManagedBuffer data) {
          note(blockId, "read");
        }

        @Override
        public void onBlockFetchFailure(String blockId, Throwable failure) {
          note(blockId, failure.getMessage());
        }
      };

  private void note(String blockId, String what) {
    assertEquals(null, outcome.put(blockId, what), "told twice of " + blockId);
  }

  /** Has some blocks and fails for the others. */
  private BlockFetcher source(String name, Set<String> has) {
    return (host, port, executorId, blockIds, told, files) -> {
      asked.add(name + " " + port + " " + new TreeSet<>(List.of(blockIds)));
      for (String blockId : blockIds) {
        if (has.contains(blockId)) {
          told.onBlockFetchSuccess(blockId, new NioManagedBuffer(ByteBuffer.allocate(1)));
        } else {
          told.onBlockFetchFailure(blockId, new IllegalStateException("not in " + name));
        }
      }
    };
  }

  private void fetch(Set<String> service, Set<String> owner, int ownerPort, Executor executor) {
    new ServiceThenOwner(
            source("service", service), source("owner", owner), id -> ownerPort, executor)
        .fetchBlocks("host", SERVICE_PORT, "1", new String[] {"a", "b", "c", "d"}, listener, null);
  }

  @Test
  void whatTheServiceHasIsNotAskedOfTheOwner() {
    fetch(Set.of("a", "b", "c", "d"), Set.of(), OWNER_PORT, Runnable::run);
    assertEquals(List.of("service 7337 [a, b, c, d]"), asked);
    assertEquals("{a=read, b=read, c=read, d=read}", outcome.toString());
  }

  @Test
  void whatTheServiceLacksIsAskedOfTheOwnerInOneGo() {
    fetch(Set.of("b"), Set.of("a", "c"), OWNER_PORT, Runnable::run);
    assertEquals(List.of("service 7337 [a, b, c, d]", "owner 40000 [a, c, d]"), asked);
    assertEquals("{a=read, b=read, c=read, d=not in owner}", outcome.toString());
  }

  @Test
  void anOwnerThatIsGoneLeavesTheFailureOfTheService() {
    fetch(Set.of("a", "b", "c"), Set.of("d"), 0, Runnable::run);
    assertEquals("not in service", outcome.get("d"));
    assertEquals(4, outcome.size());
  }

  @Test
  void everyBlockIsToldOfWhenThePluginIsStopped() {
    fetch(
        Set.of("a"),
        Set.of(),
        OWNER_PORT,
        task -> {
          throw new RejectedExecutionException("stopped");
        });
    assertEquals(4, outcome.size());
    assertTrue(asked.size() == 1, asked::toString);
  }
}
