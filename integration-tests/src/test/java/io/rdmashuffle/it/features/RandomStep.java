package io.rdmashuffle.it.features;

import java.util.List;
import java.util.SplittableRandom;
import java.util.stream.StreamSupport;
import org.apache.spark.HashPartitioner;
import org.apache.spark.api.java.JavaPairRDD;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.rdd.ShuffledRDD;
import org.apache.spark.serializer.JavaSerializer;
import org.apache.spark.serializer.KryoSerializer;
import org.apache.spark.serializer.Serializer;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.RowFactory;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructType;
import scala.Tuple2;
import scala.reflect.ClassTag;
import scala.reflect.ClassTag$;

/** One operation that shuffles. What it gives, order aside, depends on its input alone. */
enum RandomStep {
  MOVE_WITH_JAVA {
    @Override
    JavaPairRDD<Integer, String> apply(
        SparkSession spark, JavaPairRDD<Integer, String> in, int partitions) {
      return moved(in, partitions, new JavaSerializer(spark.sparkContext().getConf()));
    }
  },
  MOVE_WITH_KRYO {
    @Override
    JavaPairRDD<Integer, String> apply(
        SparkSession spark, JavaPairRDD<Integer, String> in, int partitions) {
      return moved(in, partitions, new KryoSerializer(spark.sparkContext().getConf()));
    }
  },
  REDUCE {
    @Override
    JavaPairRDD<Integer, String> apply(
        SparkSession spark, JavaPairRDD<Integer, String> in, int partitions) {
      return in.reduceByKey(RandomStep::greater, partitions);
    }
  },
  GROUP {
    @Override
    JavaPairRDD<Integer, String> apply(
        SparkSession spark, JavaPairRDD<Integer, String> in, int partitions) {
      return in.groupByKey(partitions).mapValues(RandomStep::summary);
    }
  },
  SORT {
    @Override
    JavaPairRDD<Integer, String> apply(
        SparkSession spark, JavaPairRDD<Integer, String> in, int partitions) {
      return in.sortByKey(true, partitions);
    }
  },
  SORT_WITHIN {
    @Override
    JavaPairRDD<Integer, String> apply(
        SparkSession spark, JavaPairRDD<Integer, String> in, int partitions) {
      return in.repartitionAndSortWithinPartitions(new HashPartitioner(partitions));
    }
  },
  SPREAD {
    @Override
    JavaPairRDD<Integer, String> apply(
        SparkSession spark, JavaPairRDD<Integer, String> in, int partitions) {
      return in.repartition(partitions);
    }
  },
  DISTINCT {
    @Override
    JavaPairRDD<Integer, String> apply(
        SparkSession spark, JavaPairRDD<Integer, String> in, int partitions) {
      return in.distinct(partitions);
    }
  },
  JOIN {
    @Override
    JavaPairRDD<Integer, String> apply(
        SparkSession spark, JavaPairRDD<Integer, String> in, int partitions) {
      return in.join(in.reduceByKey(RandomStep::greater, 3), partitions)
          .mapValues(both -> both._1() + both._2().length());
    }
  },
  COGROUP {
    @Override
    JavaPairRDD<Integer, String> apply(
        SparkSession spark, JavaPairRDD<Integer, String> in, int partitions) {
      return in.cogroup(in.filter(pair -> pair._1() % 2 == 0), partitions)
          .mapValues(both -> summary(both._1()) + '/' + summary(both._2()));
    }
  },
  SQL_AGGREGATE {
    @Override
    JavaPairRDD<Integer, String> apply(
        SparkSession spark, JavaPairRDD<Integer, String> in, int partitions) {
      table(spark, in, partitions);
      return pairs(spark, "SELECT k, concat(count(v), '-', max(v), '-', min(v)) FROM t GROUP BY k");
    }
  },
  SQL_JOIN {
    @Override
    JavaPairRDD<Integer, String> apply(
        SparkSession spark, JavaPairRDD<Integer, String> in, int partitions) {
      table(spark, in, partitions);
      return pairs(
          spark,
          "SELECT /*+ MERGE(a) */ t.k, concat(t.v, a.m) FROM t JOIN"
              + " (SELECT k, max(length(v)) AS m FROM t GROUP BY k) a ON t.k = a.k");
    }
  },
  SQL_WINDOW {
    @Override
    JavaPairRDD<Integer, String> apply(
        SparkSession spark, JavaPairRDD<Integer, String> in, int partitions) {
      table(spark, in, partitions);
      return pairs(
          spark,
          "SELECT k, concat(v, '#', rank() OVER (PARTITION BY pmod(k, 7) ORDER BY k, v)) FROM t");
    }
  };

  private static final ClassTag<Integer> INTEGER = ClassTag$.MODULE$.apply(Integer.class);
  private static final ClassTag<String> STRING = ClassTag$.MODULE$.apply(String.class);
  private static final StructType PAIR =
      new StructType().add("k", DataTypes.IntegerType).add("v", DataTypes.StringType);

  abstract JavaPairRDD<Integer, String> apply(
      SparkSession spark, JavaPairRDD<Integer, String> in, int partitions);

  static RandomStep pick(SplittableRandom random) {
    return values()[random.nextInt(values().length)];
  }

  private static JavaPairRDD<Integer, String> moved(
      JavaPairRDD<Integer, String> in, int partitions, Serializer serializer) {
    return JavaPairRDD.fromRDD(
        new ShuffledRDD<Integer, String, String>(
                in.rdd(), new HashPartitioner(partitions), INTEGER, STRING, STRING)
            .setSerializer(serializer),
        INTEGER,
        STRING);
  }

  private static String greater(String a, String b) {
    return a.compareTo(b) >= 0 ? a : b;
  }

  /** Of values that have no order of their own. */
  private static String summary(Iterable<String> values) {
    List<String> sorted = StreamSupport.stream(values.spliterator(), false).sorted().toList();
    return sorted.size() + ":" + Integer.toHexString(sorted.hashCode());
  }

  private static void table(SparkSession spark, JavaPairRDD<Integer, String> in, int partitions) {
    spark.conf().set("spark.sql.shuffle.partitions", Integer.toString(partitions));
    spark
        .createDataFrame(in.map(pair -> RowFactory.create(pair._1(), pair._2())), PAIR)
        .createOrReplaceTempView("t");
  }

  private static JavaPairRDD<Integer, String> pairs(SparkSession spark, String sql) {
    return spark
        .sql(sql)
        .toJavaRDD()
        .mapToPair((Row row) -> new Tuple2<>(row.getInt(0), row.getString(1)));
  }

  /** The input of a job: the same records whoever makes them. */
  static JavaPairRDD<Integer, String> source(JavaSparkContext context, RandomInput input) {
    return context
        .parallelize(input.partitions(), input.partitions().size())
        .flatMapToPair(partition -> input.records(partition).iterator());
  }
}
