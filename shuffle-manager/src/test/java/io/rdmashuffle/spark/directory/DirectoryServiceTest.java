package io.rdmashuffle.spark.directory;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotSame;
import static org.junit.jupiter.api.Assertions.assertSame;

import io.rdmashuffle.transport.DecoderFuzz;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class DirectoryServiceTest {
  private static final int OUTPUTS = 2_000;

  private final Directory directory = new Directory(Samples.pagesOf(10_000));
  private final DirectoryService service = new DirectoryService(directory);

  @BeforeEach
  void someOutputs() throws Exception {
    directory.register(Samples.executor("1", 1));
    directory.register(Samples.executor("2", 1));
    directory.registerShuffle(0);
    publish(0, OUTPUTS);
  }

  private void publish(long from, long to) throws DirectoryException {
    for (long id = from; id < to; id++) {
      directory.publish(id % 2 == 0 ? "2" : "1", Samples.output(0, id));
    }
  }

  private byte[] ask() {
    return service.answer(Messages.encodeLocate(new Messages.LocateRequest(0, 0)));
  }

  private int located() throws DirectoryMessageException {
    return Messages.decodePage(ask()).orElseThrow().count();
  }

  @Test
  void aPageIsMadeOnceForEverybody() {
    assertSame(ask(), ask());
  }

  @Test
  void aPageIsMadeAnewAfterEveryChange() throws Exception {
    assertEquals(OUTPUTS, located());
    publish(OUTPUTS, OUTPUTS + 1);
    assertEquals(OUTPUTS + 1, located());
    directory.addSlabs("1", Samples.slabs(2));
    assertEquals(2, Messages.decodePage(ask()).orElseThrow().executors().get(1).version());
    directory.removeExecutor("1");
    assertEquals(OUTPUTS / 2 + 1, located());
    directory.dropShuffle(0);
    assertEquals(Messages.NO_SHUFFLE, ask()[1]);
    directory.registerShuffle(0);
    directory.register(Samples.executor("1", 8, 1));
    assertEquals(0, located());
  }

  @Test
  void aShuffleRegisteredAnewSharesNoPage() throws Exception {
    byte[] former = ask();
    directory.dropShuffle(0);
    directory.registerShuffle(0);
    publish(OUTPUTS, 2 * OUTPUTS);
    byte[] latter = ask();
    assertNotSame(former, latter);
    assertEquals(OUTPUTS, Messages.decodePage(latter).orElseThrow().mapTaskId(0));
  }

  @Test
  void everyMessageIsAnsweredWhateverItIs() throws Exception {
    List<OutputRecord> outputs = List.of(Samples.output(7, 9), Samples.output(7, 10));
    List<byte[]> requests =
        List.of(
            Messages.encodeRegister(Samples.executor("3", 2)),
            Messages.encodePublish(new Messages.Publication("3", Samples.slabs(2), outputs)),
            Messages.encodeLocate(new Messages.LocateRequest(0, 0)),
            Messages.encodePeers(List.of("1", "2", "4")));
    DecoderFuzz.of("directory", requests)
        .allocating(1 << 20, 64) // a page of all outputs
        .run(input -> service.answer(input)[1] != Messages.FAILED);
    assertEquals(Messages.PAGE, ask()[1]);
  }

  @Test
  void cachedPagesStayWithinTheirBudget() {
    PageCache pages = new PageCache(100);
    Directory.Stamp stamp = new Directory.Stamp(null, 0, 0);
    for (int from = 0; from < 20; from++) {
      pages.put(0, from, stamp, new byte[30]);
    }
    int kept = 0;
    for (int from = 0; from < 20; from++) {
      kept += pages.get(0, from, stamp) == null ? 0 : 1;
    }
    assertEquals(3, kept);
    pages.put(0, 99, stamp, new byte[101]);
    assertEquals(null, pages.get(0, 99, stamp));
  }

  @Test
  void whateverComesInGetsAnAnswer() throws Exception {
    long seed = 5;
    Random random = new Random(seed);
    byte[][] requests = {
      Messages.encodeRegister(Samples.executor("3", 2)),
      Messages.encodePublish(
          new Messages.Publication("1", Samples.slabs(1), List.of(Samples.output(0, 1)))),
      Messages.encodeLocate(new Messages.LocateRequest(0, 5)),
      Messages.encodePeers(List.of("1", "2")),
      {},
      {1},
      {1, 99}
    };
    for (int round = 0; round < 2_000; round++) {
      for (byte[] request : requests) {
        byte[] mutated = request.clone();
        if (mutated.length > 2) {
          mutated[1 + random.nextInt(mutated.length - 1)] = (byte) random.nextInt(256);
        }
        byte[] answer = service.answer(mutated);
        assertEquals(Messages.VERSION, answer[0], "seed=" + seed);
        service.receive(mutated);
      }
    }
  }
}
