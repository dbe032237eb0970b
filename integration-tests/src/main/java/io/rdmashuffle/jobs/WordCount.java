package io.rdmashuffle.jobs;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.apache.spark.api.java.JavaPairRDD;
import org.apache.spark.sql.SparkSession;
import scala.Tuple2;

/** Counts words in real text: an aggregation with map-side combine. */
public final class WordCount implements Job {
  private static final long serialVersionUID = 1;

  @Override
  public String name() {
    return "wordcount";
  }

  @Override
  public String describe(JobInput input) {
    return "word count over %,d text files".formatted(input.texts().size());
  }

  @Override
  public ResultDigest run(SparkSession spark, JobInput input) {
    JavaPairRDD<String, Long> counts =
        TextCorpus.files(spark, input)
            .flatMapToPair(
                file -> {
                  List<Tuple2<String, Long>> words = new ArrayList<>();
                  TextCorpus.words(file, word -> words.add(new Tuple2<>(word, 1L)));
                  return words.iterator();
                })
            .reduceByKey(Long::sum, TextCorpus.partitions());
    return Digests.multiset(
        counts.map(pair -> pair._1() + '\t' + pair._2()),
        line -> line.getBytes(StandardCharsets.UTF_8));
  }
}
