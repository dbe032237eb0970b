package io.rdmashuffle.bench;

import java.io.Serializable;
import java.util.List;

/** Shuffle blocks that lie in one executor. */
record BlockSet(String host, int port, String executorId, List<String> ids, long meanBytes)
    implements Serializable {
  BlockSet {
    ids = List.copyOf(ids);
  }
}
