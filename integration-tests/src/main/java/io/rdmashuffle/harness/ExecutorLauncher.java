package io.rdmashuffle.harness;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;

/**
 * Starts each executor of a cluster in its own way, although Spark has one setting for all: the
 * {@code JAVA_HOME} they get holds a script that looks at the executor's number.
 */
public final class ExecutorLauncher {
  private static final String JAVA = System.getProperty("java.home") + "/bin/java";

  private final Map<Integer, List<String>> commands = new TreeMap<>();
  private List<String> otherwise = List.of(JAVA);

  /** An executor with an RDMA device of its own. */
  public ExecutorLauncher withDevice(int executor, String device) {
    commands.put(executor, javaWithDevice(device));
    return this;
  }

  /** The device of executors of which nothing else is said. */
  public ExecutorLauncher withDefaultDevice(String device) {
    otherwise = javaWithDevice(device);
    return this;
  }

  private static List<String> javaWithDevice(String device) {
    return List.of(JAVA, "-Dspark.shuffle.rdma.device=" + device);
  }

  /** An executor that may not lock more memory, and has no privilege to do so all the same. */
  public ExecutorLauncher withMemlock(int executor, long bytes) {
    commands.put(
        executor,
        List.of(
            "prlimit",
            "--memlock=" + bytes + ":" + bytes,
            "setpriv",
            "--bounding-set=-ipc_lock",
            "--inh-caps=-ipc_lock",
            JAVA));
    return this;
  }

  /**
   * Executors of which nothing else is said, each in a memory control group (version 1) of its own.
   *
   * @param parent the group below which theirs are made; the caller removes all of them
   */
  public ExecutorLauncher withDefaultContainer(Path parent, long bytes) {
    String enter =
        "g=%s/$$ && mkdir $g && echo %d > $g/memory.limit_in_bytes && echo $$ > $g/cgroup.procs"
            .formatted(parent, bytes);
    otherwise = List.of("bash", "-c", enter + " && exec \"$@\"", "bash", JAVA);
    return this;
  }

  /** Writes the script; gives the setting that has Spark use it. */
  public Map<String, String> install(Path directory) throws IOException {
    StringBuilder script = new StringBuilder("#!/bin/bash\n");
    script.append("for word; do [ \"$last\" != --executor-id ] || id=$word; last=$word; done\n");
    script.append("case $id in\n");
    commands.forEach((executor, words) -> script.append(branch(executor.toString(), words)));
    script.append(branch("*", otherwise)).append("esac\n");
    Path java = directory.resolve("bin/java");
    Files.createDirectories(java.getParent());
    Files.write(java, script.toString().getBytes(StandardCharsets.UTF_8));
    Files.setPosixFilePermissions(java, PosixFilePermissions.fromString("rwxr-xr-x"));
    return Map.of("spark.executorEnv.JAVA_HOME", directory.toString());
  }

  private static String branch(String executor, List<String> words) {
    return words.stream()
        .map(word -> "'" + word + "'")
        .collect(Collectors.joining(" ", executor + ") exec ", " \"$@\" ;;\n"));
  }
}
