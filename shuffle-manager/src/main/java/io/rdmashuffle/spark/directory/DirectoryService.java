package io.rdmashuffle.spark.directory;

import io.rdmashuffle.spark.directory.DirectoryException.Reason;
import io.rdmashuffle.transport.LogLimit;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Answers messages from a {@link Directory}. Never throws: whatever goes wrong becomes an answer.
 * Thread-safe, never blocks.
 */
final class DirectoryService {
  private static final Logger LOG = LoggerFactory.getLogger(DirectoryService.class);

  // Well below spark.rpc.message.maxSize; the client asks again for what did not fit.
  private static final long MAX_PEERS_ANSWER_BYTES = 4L << 20;

  private static final long MAX_CACHED_PAGE_BYTES = 64L << 20;

  // Smaller pages are made faster than they are worth keeping.
  private static final int MIN_CACHED_PAGE_BYTES = 4_096;

  private final Directory directory;
  private final LogLimit logLimit = new LogLimit(Duration.ofMinutes(1));
  private final PageCache pages = new PageCache(MAX_CACHED_PAGE_BYTES);

  DirectoryService(Directory directory) {
    this.directory = directory;
  }

  /** The answer to a request. */
  byte[] answer(byte[] request) {
    try {
      return dispatch(request);
    } catch (DirectoryMessageException e) {
      logRefusal("message", e);
      return Messages.encodeFailed(new DirectoryException(Reason.INCOMPATIBLE, e.getMessage(), e));
    } catch (DirectoryException e) {
      return Messages.encodeFailed(e);
    } catch (RuntimeException e) {
      LOG.error("The shuffle directory failed to answer", e);
      return Messages.encodeFailed(new DirectoryException(Reason.REFUSED, "failed: " + e, e));
    }
  }

  /** Takes a message without an answer; only reports are. */
  void receive(byte[] message) {
    try {
      Messages.Report report = Messages.decodeReport(message);
      directory.report(report.executorId(), report.sequence(), report.counters());
    } catch (DirectoryMessageException e) {
      logRefusal("report", e);
    } catch (RuntimeException e) {
      LOG.error("The shuffle directory failed to take a report", e);
    }
  }

  /** Anybody may be able to send to the driver. */
  private void logRefusal(String what, DirectoryMessageException cause) {
    long leftOut = logLimit.admit();
    if (leftOut >= 0) {
      LOG.warn(
          "Refused a {} to the shuffle directory: {} ({} more since the last such line; there is"
              + " one a minute at most)",
          what,
          cause.getMessage(),
          leftOut);
    }
  }

  private byte[] dispatch(byte[] request) throws DirectoryMessageException, DirectoryException {
    byte type = new MessageReader(request).type();
    return switch (type) {
      case Messages.REGISTER -> {
        directory.register(Messages.decodeRegister(request));
        yield Messages.acknowledged();
      }
      case Messages.PUBLISH -> publish(Messages.decodePublish(request));
      case Messages.LOCATE -> locate(Messages.decodeLocate(request));
      case Messages.PEERS -> peers(Messages.decodePeers(request));
      case Messages.HELD ->
          Messages.encodeDropped(directory.droppedOf(Messages.decodeHeld(request)));
      default -> throw new DirectoryMessageException("message type=" + type + " is no request");
    };
  }

  private byte[] publish(Messages.Publication publication) throws DirectoryException {
    directory.addSlabs(publication.executorId(), publication.slabs());
    for (OutputRecord output : publication.outputs()) {
      directory.publish(publication.executorId(), output);
    }
    return Messages.acknowledged();
  }

  private byte[] locate(Messages.LocateRequest request) throws DirectoryException {
    int shuffleId = request.shuffleId();
    int from = request.fromPosition();
    Optional<Directory.Stamp> stamp = directory.stamp(shuffleId);
    if (stamp.isEmpty()) {
      return Messages.noShuffle();
    }
    byte[] cached = pages.get(shuffleId, from, stamp.get());
    if (cached != null) {
      return cached;
    }
    Optional<LocatePage> page = directory.locate(shuffleId, from);
    if (page.isEmpty()) {
      return Messages.noShuffle();
    }
    byte[] encoded = Messages.encodePage(page.get());
    if (encoded.length >= MIN_CACHED_PAGE_BYTES) {
      pages.put(shuffleId, from, stamp.get(), encoded);
    }
    return encoded;
  }

  private byte[] peers(List<String> executorIds) {
    List<Optional<PeerRecord>> answers = new ArrayList<>();
    long bytes = 0;
    for (String executorId : executorIds) {
      Optional<PeerRecord> peer = directory.peer(executorId);
      bytes += peer.map(p -> p.executor().heapBytes()).orElse(0L);
      if (bytes > MAX_PEERS_ANSWER_BYTES && !answers.isEmpty()) {
        break;
      }
      answers.add(peer);
    }
    return Messages.encodePeersAnswer(answers);
  }
}
