package io.rdmashuffle.transport;

import java.io.File;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** How tests start a program of the tests in a process of its own. */
public final class ChildJvm {
  private ChildJvm() {}

  /**
   * The command, which runs in any directory.
   *
   * @param options of the JVM
   * @param main whose {@code main} runs, with the class path of this process
   */
  public static List<String> command(List<String> options, Class<?> main, String... arguments) {
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.addAll(options);
    command.add("-cp");
    command.add(
        Stream.of(System.getProperty("java.class.path").split(File.pathSeparator, -1))
            .map(part -> new File(part).getAbsolutePath())
            .collect(Collectors.joining(File.pathSeparator)));
    command.add(main.getName());
    command.addAll(List.of(arguments));
    return command;
  }
}
