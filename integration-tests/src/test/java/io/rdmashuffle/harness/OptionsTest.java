package io.rdmashuffle.harness;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;

class OptionsTest {
  @Test
  void takesValuesFlagsAndRepeatedSettings() {
    Options options = parse("--conf", "a=1", "--quick", "--conf", "b=x=y", "--size", "3");
    assertTrue(options.has("--quick"));
    assertEquals(Map.of("a", "1", "b", "x=y"), options.settings("--conf"));
    assertEquals(3.0, options.number("--size", 1));
  }

  @Test
  void namesWhatIsUnknown() {
    assertTrue(messageOf("--sise", "3").contains("'--sise'"));
  }

  @Test
  void namesWhatLacksItsValue() {
    assertTrue(messageOf("--size").contains("--size needs a value"));
  }

  @Test
  void saysWhatItExpectedOfANumber() {
    Options options = parse("--size", "many");
    IllegalArgumentException e =
        assertThrows(IllegalArgumentException.class, () -> options.number("--size", 1));
    assertEquals("--size: expected a number above 0, found 'many'", e.getMessage());
  }

  private static String messageOf(String... args) {
    return assertThrows(IllegalArgumentException.class, () -> parse(args)).getMessage();
  }

  private static Options parse(String... args) {
    return Options.parse(args, Set.of("--conf", "--size"), Set.of("--quick"));
  }
}
