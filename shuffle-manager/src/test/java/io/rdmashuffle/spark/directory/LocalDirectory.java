package io.rdmashuffle.spark.directory;

import java.time.Duration;
import java.util.Arrays;

/** A driver's directory in this process, for tests of those who use it. */
public final class LocalDirectory {
  private final Directory directory = new Directory(DirectoryLimits.defaults());

  /** The directory as the driver sees it. */
  public Directory driver() {
    return directory;
  }

  /** The answer to a registration that was cut short, which is logged as refused. */
  public byte[] answerHalfOf(ExecutorRecord registration) {
    byte[] message = Messages.encodeRegister(registration);
    return new DirectoryService(directory).answer(Arrays.copyOf(message, message.length - 1));
  }

  /** The client of an executor; asks again at once for what was not there. */
  public DirectoryClient client(String executorId) {
    return new DirectoryClient(
        new FakeChannel(directory),
        executorId,
        new ClientSettings(Duration.ofSeconds(10), Duration.ZERO, 64L << 20, 100));
  }
}
