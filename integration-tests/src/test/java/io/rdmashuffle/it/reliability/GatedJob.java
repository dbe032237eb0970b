package io.rdmashuffle.it.reliability;

import io.rdmashuffle.harness.Gate;
import io.rdmashuffle.harness.Lineage;
import io.rdmashuffle.harness.LocalCluster;
import java.io.Serializable;
import java.util.Iterator;
import java.util.List;
import java.util.SplittableRandom;
import java.util.stream.IntStream;
import org.apache.spark.HashPartitioner;
import org.apache.spark.SparkEnv;
import org.apache.spark.TaskContext;
import org.apache.spark.api.java.JavaPairRDD;
import org.apache.spark.api.java.JavaRDD;
import org.apache.spark.util.TaskCompletionListener;
import scala.Tuple2;

/**
 * A shuffle between two executors whose tasks wait at a gate, at a step of the way, and leave a
 * mark there when what follows is done. Marks bear the number of the executor.
 */
final class GatedJob implements Serializable {
  private static final long serialVersionUID = 1L;

  /** Where tasks wait. */
  enum Step {
    /** Map tasks have their records, and are about to write and publish them. */
    PUBLISH,
    /** Reduce tasks know which executors hold map outputs, and are about to ask where they lie. */
    LOCATE,
    /** Reduce tasks have read one record, and most blocks are still to be fetched. */
    READ
  }

  private static final int TASKS = 2;
  private static final int RECORDS = 400;
  private static final int RECORD_BYTES = 500;

  private final Step step;
  private final Gate gate;

  GatedJob(Step step, Gate gate) {
    this.step = step;
    this.gate = gate;
  }

  /** Sum of what was moved; the same for every step. */
  long run(LocalCluster cluster) {
    JavaPairRDD<Integer, byte[]> moved =
        cluster
            .java()
            .parallelize(List.of(0, 1), TASKS)
            .mapPartitionsToPair(this::written)
            .partitionBy(new HashPartitioner(TASKS));
    int shuffleId = Lineage.shuffleOf(moved.rdd());
    // Evaluated in this order: the gate's partition, then the shuffle's.
    JavaRDD<Integer> before =
        cluster
            .java()
            .parallelize(List.of(0, 1), TASKS)
            .mapPartitions(part -> atLocate(shuffleId, part));
    return before.zipPartitions(moved, this::read).reduce(Long::sum);
  }

  /** What {@link #run} gives. */
  static long expected() {
    long sum = 0;
    for (int map = 0; map < TASKS; map++) {
      Iterator<Tuple2<Integer, byte[]>> records = records(map);
      while (records.hasNext()) {
        sum += value(records.next());
      }
    }
    return sum;
  }

  private Iterator<Tuple2<Integer, byte[]>> written(Iterator<Integer> maps) {
    if (step == Step.PUBLISH) {
      int executor = executor();
      TaskContext.get()
          .addTaskCompletionListener((TaskCompletionListener) ended -> gate.leave(executor));
      gate.pass(executor);
    }
    return records(maps.next());
  }

  private Iterator<Integer> atLocate(int shuffleId, Iterator<Integer> part) {
    if (step == Step.LOCATE) {
      int partition = TaskContext.getPartitionId();
      SparkEnv.get()
          .mapOutputTracker()
          .getMapSizesByExecutorId(shuffleId, 0, Integer.MAX_VALUE, partition, partition + 1);
      gate.pass(executor());
    }
    return part;
  }

  private Iterator<Long> read(Iterator<Integer> unused, Iterator<Tuple2<Integer, byte[]>> records) {
    long sum = 0;
    for (boolean isFirst = true; records.hasNext(); isFirst = false) {
      sum += value(records.next());
      if (isFirst && step == Step.READ) {
        gate.pass(executor());
      }
    }
    if (step != Step.PUBLISH) {
      gate.leave(executor());
    }
    return List.of(sum).iterator();
  }

  private static int executor() {
    return Integer.parseInt(SparkEnv.get().executorId());
  }

  private static Iterator<Tuple2<Integer, byte[]>> records(int map) {
    SplittableRandom random = new SplittableRandom(map);
    return IntStream.range(0, RECORDS)
        .mapToObj(
            i -> {
              byte[] record = new byte[RECORD_BYTES];
              random.nextBytes(record);
              return new Tuple2<>(i, record);
            })
        .iterator();
  }

  private static long value(Tuple2<Integer, byte[]> record) {
    long value = record._1();
    for (byte b : record._2()) {
      value = value * 31 + b;
    }
    return value;
  }
}
