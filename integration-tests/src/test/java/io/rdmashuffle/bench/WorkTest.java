package io.rdmashuffle.bench;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.List;
import org.junit.jupiter.api.Test;

class WorkTest {
  private static final String WRITER = "io.rdmashuffle.spark.write.DirectShuffleWriter.insert";

  @Test
  void theInnermostPartOfAShuffleDecides() {
    assertEquals(
        Work.COMPRESS,
        Work.of(
            List.of(
                "net.jpountz.lz4.LZ4JNI.LZ4_compress_limitedOutput",
                "net.jpountz.lz4.LZ4JNICompressor.compress",
                "net.jpountz.lz4.LZ4BlockOutputStream.flushBufferedData",
                "io.rdmashuffle.spark.write.SortedRecords.writePartition")));
    assertEquals(
        Work.WRITE,
        Work.of(
            List.of(
                "java.io.FileOutputStream.writeBytes",
                "org.apache.spark.storage.TimeTrackingOutputStream.write",
                "net.jpountz.lz4.LZ4BlockOutputStream.flushBufferedData",
                "org.apache.spark.shuffle.sort.ShuffleExternalSorter.writeSortedFile")));
  }

  @Test
  void readingACompressedStreamIsDecompression() {
    assertEquals(
        Work.DECOMPRESS,
        Work.of(
            List.of(
                "net.jpountz.xxhash.XXHash32JavaUnsafe.hash",
                "net.jpountz.lz4.LZ4BlockInputStream.refill",
                "org.apache.spark.sql.execution.UnsafeRowSerializerInstance$$anon$2.next")));
  }

  @Test
  void whatTheJobDoesInsideTheWritersLoopIsTheJobs() {
    assertEquals(
        Work.OTHER,
        Work.of(
            List.of(
                "java.util.SplittableRandom.nextBytes",
                "io.rdmashuffle.jobs.RowRepartition.generate",
                WRITER)));
    assertEquals(
        Work.OTHER,
        Work.of(
            List.of(
                "org.apache.spark.sql.catalyst.expressions.XXH64.hashLong",
                "org.apache.spark.sql.execution.WholeStageCodegenEvaluatorFactory$1.hasNext",
                WRITER)));
  }

  @Test
  void anIteratorOfTheShuffleIsTheShuffles() {
    assertEquals(
        Work.DESERIALIZE,
        Work.of(List.of("io.rdmashuffle.spark.read.RecordIterator.next", WRITER)));
    assertEquals(
        Work.FETCH,
        Work.of(List.of("org.apache.spark.storage.ShuffleBlockFetcherIterator.next", WRITER)));
  }

  @Test
  void readingATaskOrWritingALogLineIsNotTheShuffles() {
    assertEquals(
        Work.OTHER,
        Work.of(
            List.of(
                "java.io.ObjectInputStream.readObject0",
                "org.apache.spark.serializer.JavaDeserializationStream.readObject",
                "org.apache.spark.serializer.JavaSerializerInstance.deserialize",
                "org.apache.spark.executor.Executor$TaskRunner.run")));
    assertEquals(
        Work.DESERIALIZE,
        Work.of(
            List.of(
                "java.io.ObjectInputStream.readObject0",
                "org.apache.spark.serializer.JavaDeserializationStream.readObject",
                "org.apache.spark.serializer.DeserializationStream.readKey")));
    assertEquals(
        Work.OTHER,
        Work.of(
            List.of(
                "java.io.FileOutputStream.writeBytes",
                "org.apache.logging.log4j.core.appender.OutputStreamManager.flush",
                WRITER)));
  }

  @Test
  void bothShufflesSortAlike() {
    String radixSort = "org.apache.spark.util.collection.unsafe.sort.RadixSort.sort";
    assertEquals(
        Work.SORT, Work.of(List.of(radixSort, "io.rdmashuffle.spark.write.RecordPages.sorted")));
    assertEquals(
        Work.SORT,
        Work.of(
            List.of(
                radixSort,
                "org.apache.spark.shuffle.sort.ShuffleInMemorySorter.getSortedIterator")));
  }

  @Test
  void whatNobodyKnowsIsOther() {
    assertEquals(Work.OTHER, Work.of(List.of("com.example.Anything.run")));
    assertEquals(Work.OTHER, Work.of(List.of()));
  }
}
