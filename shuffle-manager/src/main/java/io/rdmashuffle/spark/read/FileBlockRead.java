package io.rdmashuffle.spark.read;

import io.rdmashuffle.spark.FallbackReason;
import io.rdmashuffle.store.IndexBlock;
import io.rdmashuffle.store.IndexHeader;
import io.rdmashuffle.store.IndexLocation;
import io.rdmashuffle.store.ReceiveBuffer;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.WritableByteChannel;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.apache.spark.network.buffer.ManagedBuffer;
import org.apache.spark.network.shuffle.DownloadFile;
import org.apache.spark.network.shuffle.DownloadFileManager;
import org.apache.spark.network.shuffle.DownloadFileWritableChannel;
import org.apache.spark.network.util.TransportConf;

/**
 * One block that Spark wants in a file, since it is larger than {@code
 * spark.network.maxRemoteBlockSizeFetchToMem}: read in windows, each of which is written out before
 * the next is asked for, so that a block of any size takes little memory. Behind the data of each
 * window comes the generation of the index block, as in a {@link DataGroup}.
 *
 * <p>Runs on a thread that may wait for reads and for the disk.
 */
final class FileBlockRead implements Runnable {
  /** Enough to keep a wire busy between two writes, little enough to have one for each task. */
  static final long WINDOW_BYTES = 8L << 20;

  /** The block cannot be read one-sided. */
  private static final class RefusedException extends Exception {
    private static final long serialVersionUID = 1;
    private final FallbackReason reason;

    RefusedException(FallbackReason reason, String detail) {
      super(detail);
      this.reason = reason;
    }
  }

  private final FetchRequest request;
  private final int block;
  private final TransportConf conf;
  private final String name;

  FileBlockRead(FetchRequest request, int block, TransportConf conf) {
    this.request = request;
    this.block = block;
    this.conf = conf;
    name = request.blocks().name(block);
  }

  @Override
  public void run() {
    DownloadFileManager files = request.source().files();
    DownloadFile file = null;
    ManagedBuffer data = null;
    try {
      file = files.createTempFile(conf);
      data = readTo(file);
    } catch (RefusedException e) {
      refuse(e.reason, e.getMessage());
    } catch (Throwable e) { // of the file or the heap: TCP would meet the same
      request.source().listener().onBlockFetchFailure(name, e);
    }
    if (data != null) {
      request.services().accounting().onBlockRead(request.link().way(), data.size());
      request.source().listener().onBlockFetchSuccess(name, data);
    }
    if (file != null && (data == null || !files.registerTempFileToClean(file))) {
      file.delete();
    }
  }

  private ManagedBuffer readTo(DownloadFile file) throws IOException, RefusedException {
    try (DownloadFileWritableChannel channel = file.openForWriting()) {
      copyTo(channel);
      return channel.closeAndRead();
    }
  }

  private void copyTo(WritableByteChannel channel) throws IOException, RefusedException {
    RequestedBlocks blocks = request.blocks();
    IndexBlock index = request.index(block);
    PieceQueue pieces = new PieceQueue(request, block);
    index.forEachPiece(blocks.startPartition(block), blocks.endPartition(block), pieces);
    if (pieces.obstacle() != null) {
      throw new RefusedException(pieces.obstacle(), FetchRequest.detailOf(pieces.obstacle()));
    }
    BlockChecksums checksums =
        request.services().verifiesChecksums() && !pieces.isEmpty()
            ? new BlockChecksums(index, blocks.startPartition(block), blocks.endPartition(block))
            : null;
    while (!pieces.isEmpty()) {
      copyWindow(pieces, checksums, channel);
    }
    if (checksums != null && !checksums.isIntact()) {
      throw new RefusedException(FallbackReason.CHECKSUM_MISMATCH, "");
    }
  }

  private void copyWindow(PieceQueue pieces, BlockChecksums checksums, WritableByteChannel channel)
      throws IOException, RefusedException {
    Window window = new Window();
    ReadGroup reads = request.newGroup(window);
    pieces.fill(reads, request.fullBytes(WINDOW_BYTES));
    long dataBytes = reads.totalBytes();
    IndexLocation location = request.location(block);
    reads.add(
        request.record().slab(location.slabId()),
        (long) location.offset() + IndexHeader.GENERATION_POSITION,
        Long.BYTES);
    request.submit(reads);
    ReceiveBuffer buffer = window.await();
    try {
      if (Buffers.longAt(buffer, dataBytes) != location.generation()) {
        request.dropIndex(block);
        throw new RefusedException(FallbackReason.STALE, DataGroup.DETAIL_OF_STALE);
      }
      for (ByteBuffer bytes : Buffers.slices(buffer, 0, dataBytes)) {
        if (checksums != null) {
          checksums.accept(bytes);
        }
        while (bytes.hasRemaining()) {
          channel.write(bytes);
        }
      }
    } finally {
      buffer.release();
    }
  }

  private void refuse(FallbackReason reason, String detail) {
    if (reason == FallbackReason.CHECKSUM_MISMATCH) {
      request.refetch(block);
      return;
    }
    FallbackCollector refused = request.newCollector();
    refused.add(name, reason, detail);
    refused.flush();
  }

  /** Reads that this thread waits for. They end by themselves, each step within its deadline. */
  private final class Window implements ReadGroup.Outcome {
    private final CompletableFuture<ReceiveBuffer> result = new CompletableFuture<>();

    @Override
    public void onRead(ReceiveBuffer buffer) {
      request.onReadSucceeded();
      if (!result.complete(buffer)) {
        buffer.release(); // nobody waits any more
      }
    }

    @Override
    public void onFailure(ReadGroup.Failure failure) {
      request.onReadFailed(failure);
      result.completeExceptionally(new RefusedException(failure.reason(), failure.detail()));
    }

    @Override
    public void onError(Throwable error) {
      result.completeExceptionally(error);
    }

    ReceiveBuffer await() throws RefusedException {
      FallbackReason reason = FallbackReason.READ_TIMEOUT;
      String detail = "the read did not end";
      try {
        return result.get(request.services().longestRequest().toNanos(), TimeUnit.NANOSECONDS);
      } catch (ExecutionException e) {
        if (e.getCause() instanceof RefusedException refused) {
          throw refused;
        }
        throw new IllegalStateException(e.getCause());
      } catch (TimeoutException e) {
        detail = "the read did not end within " + request.services().longestRequest();
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        reason = FallbackReason.READ_FAILED;
        detail = "the plugin is being stopped";
      }
      RefusedException given = new RefusedException(reason, detail);
      if (!result.completeExceptionally(given) && !result.isCompletedExceptionally()) {
        return result.join();
      }
      throw given;
    }
  }
}
