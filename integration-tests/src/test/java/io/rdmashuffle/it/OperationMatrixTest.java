package io.rdmashuffle.it;

import static org.junit.jupiter.api.Assertions.assertAll;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;
import static org.junit.jupiter.api.DynamicContainer.dynamicContainer;
import static org.junit.jupiter.api.DynamicTest.dynamicTest;

import io.rdmashuffle.harness.ClusterSpec;
import io.rdmashuffle.harness.LocalCluster;
import io.rdmashuffle.harness.PluginTotals;
import io.rdmashuffle.harness.ShuffleMode;
import io.rdmashuffle.jobs.ResultDigest;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicContainer;
import org.junit.jupiter.api.DynamicNode;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.TestFactory;

/**
 * Every operation, with every pair of serializer and codec, gives what the sort shuffle gives.
 *
 * <p>Applications are slow to start, so each combination has one, and in each some operations bring
 * the other serializer. What the sort shuffle gives depends on neither, so it runs once.
 */
@Feature("RDD and SQL: every operation, with each serializer and codec")
@Tag("slow")
class OperationMatrixTest {
  private static final String JAVA = "org.apache.spark.serializer.JavaSerializer";
  private static final String KRYO = "org.apache.spark.serializer.KryoSerializer";

  private final Map<String, ResultDigest> expected = new HashMap<>();
  private LocalCluster cluster;

  @TestFactory
  Stream<DynamicContainer> resultsEqualTheSortShuffle() {
    List<Operation> kinds = Operations.kinds();
    List<Operation> all = new ArrayList<>(kinds);
    all.addAll(Operations.shapes());
    return Stream.of(
        reference(all),
        plugin("java, lz4", JAVA, "lz4", all),
        plugin("kryo, zstd", KRYO, "zstd", kinds),
        plugin("java, snappy", JAVA, "snappy", kinds),
        plugin("kryo, uncompressed", KRYO, "", all));
  }

  private DynamicContainer reference(List<Operation> operations) {
    return container(
        "sort shuffle",
        ClusterSpec.forTests("matrix-sort", ShuffleMode.SORT),
        operations,
        operation -> expected.put(operation.name(), operation.run(cluster.spark())),
        Optional.empty());
  }

  private DynamicContainer plugin(
      String name, String serializer, String codec, List<Operation> operations) {
    ClusterSpec spec =
        ClusterSpec.forTests("matrix-plugin", ShuffleMode.PLUGIN)
            .with("spark.serializer", serializer);
    spec =
        codec.isEmpty()
            ? spec.with("spark.shuffle.compress", "false")
            : spec.with("spark.io.compression.codec", codec);
    return container(
        "plugin with " + name,
        spec,
        operations,
        this::assertSameAsSort,
        Optional.of(
            dynamicTest(
                "every remote byte came one-sided", () -> onCluster(this::assertOneSided))));
  }

  private DynamicContainer container(
      String name,
      ClusterSpec spec,
      List<Operation> operations,
      Consumer<Operation> check,
      Optional<DynamicTest> last) {
    List<DynamicNode> tests = new ArrayList<>();
    tests.add(
        dynamicTest(
            "starts",
            () ->
                cluster =
                    LocalCluster.start(spec.with("spark.kryoserializer.buffer.max", "256m"))));
    operations.forEach(
        operation ->
            tests.add(
                dynamicTest(operation.name(), () -> onCluster(() -> check.accept(operation)))));
    last.ifPresent(tests::add);
    tests.add(dynamicTest("stops", this::stop));
    return dynamicContainer(name, tests);
  }

  /** An application that did not start is one failure, not one for each operation. */
  private void onCluster(Runnable check) {
    assumeTrue(cluster != null, "no application");
    check.run();
  }

  private void assertSameAsSort(Operation operation) {
    ResultDigest result = operation.run(cluster.spark());
    assertEquals(
        Optional.empty(), result.differenceFrom(expected.get(operation.name())), operation.name());
  }

  private void assertOneSided() {
    PluginTotals totals = cluster.totals();
    assertAll(
        () -> assertEquals(cluster.metrics().remoteBytes(), totals.allBytes(), "all bytes"),
        () -> assertEquals(cluster.metrics().remoteBlocks(), blocks(totals), "all blocks"),
        () -> assertTrue(totals.bytes("shm") > 0, "shared memory"),
        () -> assertEquals(0, totals.bytes("tcp"), () -> "tcp, because " + totals.fallbacks()));
  }

  private static long blocks(PluginTotals totals) {
    return totals.blocks().values().stream().mapToLong(Long::longValue).sum();
  }

  private void stop() {
    if (cluster != null) {
      cluster.close();
    }
    cluster = null;
  }
}
