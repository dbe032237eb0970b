package io.rdmashuffle.spark.directory;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.rdmashuffle.transport.Deadline;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;

/**
 * A large stage with real messages: 1,000 executors publish 100,000 outputs, then all of them
 * locate all outputs and the peers that hold them. Prints bytes and times, asserts only results.
 */
class DirectorySimulationTest {
  private static final int EXECUTORS = 1_000;
  private static final int OUTPUTS = 100_000;
  private static final int SLABS = 64;
  private static final int WHOLE_CLIENTS = 10;

  private final Directory directory = new Directory(DirectoryLimits.defaults());
  private final DirectoryService service = new DirectoryService(directory);

  @Test
  void aLargeStage() throws Exception {
    directory.registerShuffle(0);
    register();
    publish();
    locateOnTheDriver("the first executor", 1);
    locateOnTheDriver("all executors", EXECUTORS);
    locateInClients();
  }

  private void register() throws Exception {
    long beganNs = System.nanoTime();
    long bytes = 0;
    for (int e = 0; e < EXECUTORS; e++) {
      byte[] request = Messages.encodeRegister(Samples.executor("" + e, e, SLABS));
      bytes += request.length;
      Messages.decodeAcknowledged(service.answer(request));
    }
    print("registering " + EXECUTORS + " executors of " + SLABS + " slabs", bytes, beganNs);
  }

  private void publish() throws Exception {
    long beganNs = System.nanoTime();
    long before = directory.usedBytes();
    long bytes = 0;
    for (int id = 0; id < OUTPUTS; id++) {
      int executor = (int) (id * 7_919L % EXECUTORS);
      OutputRecord output =
          new OutputRecord(0, id, id % SLABS, 4_096L * (id / EXECUTORS), 8_240, 1_000_000L + id);
      byte[] request =
          Messages.encodePublish(
              new Messages.Publication("" + executor, List.of(), List.of(output)));
      bytes += request.length;
      Messages.decodeAcknowledged(service.answer(request));
    }
    print("publishing " + OUTPUTS + " outputs", bytes, beganNs);
    System.out.printf(
        "  bytes per output on the driver: %.1f%n",
        (directory.usedBytes() - before) / (double) OUTPUTS);
  }

  private void locateOnTheDriver(String who, int executors) throws Exception {
    long beganNs = System.nanoTime();
    long bytes = 0;
    for (int e = 0; e < executors; e++) {
      int from = 0;
      for (int pages = 2; pages > 0; pages--) {
        byte[] answer = service.answer(Messages.encodeLocate(new Messages.LocateRequest(0, from)));
        bytes += answer.length;
        from = Bounds.MAX_PAGE_ENTRIES;
      }
    }
    print("answering " + who, bytes, beganNs);
  }

  private void locateInClients() throws Exception {
    long[] ids = LongStream.range(0, OUTPUTS).toArray();
    FakeChannel channel = new FakeChannel(service);
    List<DirectoryClient> clients = new ArrayList<>();
    long beganNs = System.nanoTime();
    for (int c = 0; c < WHOLE_CLIENTS; c++) {
      DirectoryClient client =
          new DirectoryClient(channel, "" + c, ClientSettings.withTimeout(Samples.AMPLE));
      clients.add(client);
      assertTrue(client.ensureLocated(0, ids, Deadline.after(Samples.AMPLE)));
      for (int e = 0; e < EXECUTORS; e++) {
        PeerRecord peer = client.peer("" + e, Deadline.after(Samples.AMPLE));
        assertEquals(SLABS, peer.executor().slabs().size());
      }
    }
    print(WHOLE_CLIENTS + " whole clients", channel.answeredBytes.get(), beganNs);
    int peerAsks = channel.asks(Messages.PEERS) / WHOLE_CLIENTS;
    System.out.printf(
        "  a client: %.1f bytes per location, 2 requests for locations, %d for peers%n",
        clients.get(0).usedBytes() / (double) OUTPUTS, peerAsks);
    beganNs = System.nanoTime();
    Located located = new Located();
    for (long id : ids) {
      assertTrue(clients.get(0).lookup(0, id, located));
      assertEquals("" + id * 7_919L % EXECUTORS, located.executorId());
    }
    print("looking up all outputs once", 0, beganNs);
    clients.forEach(DirectoryClient::close);
  }

  private static void print(String what, long bytes, long beganNs) {
    System.out.printf(
        "%s: %,d bytes in messages, %,d ms%n",
        what, bytes, (System.nanoTime() - beganNs) / 1_000_000);
  }
}
