package io.rdmashuffle.store.model;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.rdmashuffle.store.model.ProtocolModel.Service;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * No order of steps delivers a stale word, and leaving out any part of the protocol makes one that
 * does. All orders are tried, not some.
 */
final class ProtocolModelTest {
  private static final int MAX_STATES = 1_000_000;

  private static Explorer.Result explore(
      Layout layout, Service service, int outputs, int readers, Flaw... flaws) {
    ProtocolModel model = new ProtocolModel(layout, service, Set.of(flaws), outputs, readers);
    return new Explorer<>(model, MAX_STATES).explore();
  }

  private static Stream<Arguments> cases() {
    return Stream.of(Layout.values())
        .flatMap(l -> Stream.of(Service.values()).map(s -> Arguments.of(l, s)));
  }

  @ParameterizedTest
  @MethodSource("cases")
  void noOrderOfStepsDeliversAStaleWord(Layout layout, Service service) {
    Explorer.Result result = explore(layout, service, 6, 1);
    assertEquals(List.of(), result.counterexample());
    System.out.printf(
        "%s %s: %d states, %d steps%n", layout, service, result.states(), result.steps());
    assertTrue(result.states() > 1000, "so few states cannot be all of them: " + result);
  }

  /** Two readers meet only in the quarantine, so that is where two could differ from one. */
  @Test
  void aSecondReaderChangesNothing() {
    Explorer.Result result = explore(Layout.SWAPPED, Service.OVERLAPPING, 3, 2);
    System.out.printf("2 readers: %d states, %d steps%n", result.states(), result.steps());
    assertEquals(List.of(), result.counterexample());
  }

  @ParameterizedTest
  @EnumSource(Flaw.class)
  void everyPartOfTheProtocolIsNeeded(Flaw flaw) {
    Service service =
        flaw == Flaw.READS_OUTLAST_QUARANTINE ? Service.OVERLAPPING : Service.IN_ORDER;
    boolean isFound =
        Stream.of(Layout.values())
            .anyMatch(layout -> !explore(layout, service, 3, 1, flaw).isSafe());
    assertTrue(isFound, flaw + " goes unnoticed");
  }

  @Test
  void theQuarantineDoesNotReplaceTheFence() {
    assertFalse(explore(Layout.IN_PLACE, Service.OVERLAPPING, 3, 1, Flaw.NO_FENCE).isSafe());
  }
}
