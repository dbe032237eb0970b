package io.rdmashuffle.spark.resolve;

import io.rdmashuffle.store.BlockStore;
import io.rdmashuffle.store.MapOutput;
import io.rdmashuffle.store.OutputLayout;
import java.util.ArrayList;
import java.util.List;

/** A store without a driver to tell; notes what it would be told. */
final class FakeMemoryOutputs implements MemoryOutputs {
  final List<String> told = new ArrayList<>();
  boolean keepsFiles;
  private final BlockStore store;

  FakeMemoryOutputs(BlockStore store) {
    this.store = store;
  }

  @Override
  public BlockStore store() {
    return store;
  }

  @Override
  public boolean onReceived(MapOutput output) {
    told.add("memory " + output.shuffleId() + " " + output.mapTaskId());
    return keepsFiles;
  }

  @Override
  public void onReceivedInFiles(OutputLayout layout) {
    told.add("files " + layout.shuffleId() + " " + layout.mapTaskId() + " " + layout.length());
  }

  @Override
  public boolean writeFiles(MapOutput output) {
    return false;
  }
}
