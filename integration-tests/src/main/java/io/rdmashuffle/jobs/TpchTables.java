package io.rdmashuffle.jobs;

import io.trino.tpch.CustomerGenerator;
import io.trino.tpch.LineItemGenerator;
import io.trino.tpch.OrderGenerator;
import java.math.BigDecimal;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Date;
import java.time.LocalDate;
import java.util.Iterator;
import java.util.List;
import java.util.function.Function;
import java.util.stream.IntStream;
import java.util.stream.StreamSupport;
import org.apache.spark.api.java.JavaRDD;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.api.java.function.FlatMapFunction;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.RowFactory;
import org.apache.spark.sql.SaveMode;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.types.StructType;

/** The TPC-H tables a query needs, as Parquet; written once per scale. */
final class TpchTables {
  private static final int PARTS = 4;
  private static final String MONEY = "decimal(15,2)";

  private TpchTables() {}

  /** Writes what is missing and registers the views customer, orders and lineitem. */
  static void register(SparkSession spark, JobInput input) {
    double scale = input.scale();
    Path dir = Path.of(input.dataDir(), "tpch-" + scale);
    table(
        spark,
        dir.resolve("customer"),
        "c_custkey bigint, c_name string, c_mktsegment string, c_acctbal " + MONEY,
        part ->
            rows(
                new CustomerGenerator(scale, part, PARTS),
                c ->
                    RowFactory.create(
                        c.getCustomerKey(),
                        c.getName(),
                        c.getMarketSegment(),
                        money(c.getAccountBalanceInCents()))));
    table(
        spark,
        dir.resolve("orders"),
        "o_orderkey bigint, o_custkey bigint, o_orderdate date, o_shippriority int, o_totalprice "
            + MONEY
            + ", o_comment string",
        part ->
            rows(
                new OrderGenerator(scale, part, PARTS),
                o ->
                    RowFactory.create(
                        o.getOrderKey(),
                        o.getCustomerKey(),
                        date(o.getOrderDate()),
                        o.getShipPriority(),
                        money(o.getTotalPriceInCents()),
                        o.getComment())));
    table(
        spark,
        dir.resolve("lineitem"),
        "l_orderkey bigint, l_linenumber int, l_quantity bigint, l_extendedprice "
            + MONEY
            + ", l_discount "
            + MONEY
            + ", l_shipdate date, l_shipmode string, l_comment string",
        part ->
            rows(
                new LineItemGenerator(scale, part, PARTS),
                l ->
                    RowFactory.create(
                        l.getOrderKey(),
                        l.getLineNumber(),
                        l.getQuantity(),
                        money(l.getExtendedPriceInCents()),
                        money(l.getDiscountPercent()),
                        date(l.getShipDate()),
                        l.getShipMode(),
                        l.getComment())));
  }

  private static void table(
      SparkSession spark, Path dir, String columns, FlatMapFunction<Integer, Row> generator) {
    if (!Files.exists(dir.resolve("_SUCCESS"))) {
      List<Integer> parts = IntStream.rangeClosed(1, PARTS).boxed().toList();
      JavaRDD<Row> rows =
          JavaSparkContext.fromSparkContext(spark.sparkContext())
              .parallelize(parts, PARTS)
              .flatMap(generator);
      spark
          .createDataFrame(rows, StructType.fromDDL(columns))
          .write()
          .mode(SaveMode.Overwrite)
          .parquet(dir.toString());
    }
    spark.read().parquet(dir.toString()).createOrReplaceTempView(dir.getFileName().toString());
  }

  private static <T> Iterator<Row> rows(Iterable<T> entities, Function<T, Row> toRow) {
    return StreamSupport.stream(entities.spliterator(), false).map(toRow).iterator();
  }

  private static BigDecimal money(long cents) {
    return BigDecimal.valueOf(cents, 2);
  }

  private static Date date(int epochDay) {
    return Date.valueOf(LocalDate.ofEpochDay(epochDay));
  }
}
