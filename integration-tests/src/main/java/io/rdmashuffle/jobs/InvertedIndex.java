package io.rdmashuffle.jobs;

import java.nio.charset.StandardCharsets;
import java.util.LinkedHashSet;
import java.util.Set;
import java.util.TreeSet;
import org.apache.spark.api.java.JavaPairRDD;
import org.apache.spark.sql.SparkSession;
import scala.Tuple2;

/** For each word of real text the files it is in: a grouping without map-side combine. */
public final class InvertedIndex implements Job {
  private static final long serialVersionUID = 1;

  @Override
  public String name() {
    return "index";
  }

  @Override
  public String describe(JobInput input) {
    return "inverted index over %,d text files".formatted(input.texts().size());
  }

  @Override
  public ResultDigest run(SparkSession spark, JobInput input) {
    JavaPairRDD<String, Iterable<String>> index =
        TextCorpus.files(spark, input)
            .flatMapToPair(
                file -> {
                  Set<String> words = new LinkedHashSet<>();
                  TextCorpus.words(file, words::add);
                  return words.stream().map(word -> new Tuple2<>(word, file)).iterator();
                })
            .groupByKey(TextCorpus.partitions());
    // The order of files within a word is the order of arrival; the result is the sorted list.
    return Digests.multiset(
        index.map(
            entry -> {
              Set<String> files = new TreeSet<>();
              entry._2().forEach(files::add);
              return entry._1() + '\t' + String.join("\t", files);
            }),
        line -> line.getBytes(StandardCharsets.UTF_8));
  }
}
