package io.rdmashuffle.jobs;

import java.util.List;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.SparkSession;

/** TPC-H query 3 without its limit: two joins, an aggregation and a total sort. */
public final class TpchQ3 implements Job {
  private static final long serialVersionUID = 1;
  private static final String QUERY =
      """
      SELECT l_orderkey, sum(l_extendedprice * (1 - l_discount)) AS revenue,
             o_orderdate, o_shippriority
      FROM customer, orders, lineitem
      WHERE c_mktsegment = 'BUILDING' AND c_custkey = o_custkey AND l_orderkey = o_orderkey
        AND o_orderdate < DATE '1995-03-15' AND l_shipdate > DATE '1995-03-15'
      GROUP BY l_orderkey, o_orderdate, o_shippriority
      ORDER BY revenue DESC, o_orderdate, l_orderkey
      """;

  @Override
  public String name() {
    return "sql";
  }

  @Override
  public String describe(JobInput input) {
    return "TPC-H query 3 at scale %s over Parquet".formatted(input.scale());
  }

  @Override
  public void prepare(SparkSession spark, JobInput input) {
    TpchTables.register(spark, input);
  }

  @Override
  public ResultDigest run(SparkSession spark, JobInput input) {
    // A broadcast would leave nothing to shuffle.
    spark.conf().set("spark.sql.autoBroadcastJoinThreshold", "-1");
    spark.conf().set("spark.sql.shuffle.partitions", "16");
    RecordHash hash = new RecordHash(true);
    for (Row row : spark.sql(QUERY).collectAsList()) {
      hash.add(row.toString());
    }
    return ResultDigest.ordered(List.of(hash.toDigest(0)));
  }
}
