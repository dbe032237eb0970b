# shellcheck shell=bash
# Shared by bin/demo, bin/test and bin/bench: says what it does, installs what is missing, builds.

ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)

say() { printf '%s\n' "$*"; }

die() {
  printf '%s: %s\n' "$(basename "$0")" "$*" >&2
  exit 1
}

# try_install PACKAGE... : installs Debian packages if this user can; says what it could not do.
try_install() {
  if ! command -v apt-get >/dev/null; then
    say "  no apt-get here; please install: $*"
    return 1
  fi
  if [ "$(id -u)" -ne 0 ]; then
    say "  not root; please run: apt-get install $*"
    return 1
  fi
  say "  installing: $*"
  if DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends "$@" \
    >"$ROOT/target/apt.log" 2>&1; then
    return 0
  fi
  # The package lists of a fresh machine are empty or old.
  if apt-get update -q >"$ROOT/target/apt.log" 2>&1 &&
    DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends "$@" \
      >>"$ROOT/target/apt.log" 2>&1; then
    return 0
  fi
  say "  could not install $* (see target/apt.log)"
  return 1
}

java_major() {
  "${JAVA_HOME:+$JAVA_HOME/bin/}java" -version 2>&1 | sed -n 's/.*version "\([0-9]*\).*/\1/p' | head -1
}

# What the build cannot do without, and what it can.
prepare_machine() {
  mkdir -p "$ROOT/target"
  if ! command -v javac >/dev/null && [ -z "${JAVA_HOME:-}" ]; then
    try_install openjdk-17-jdk-headless || die "needs a JDK 17 or newer, found none"
  fi
  local major
  major=$(java_major)
  [ "${major:-0}" -ge 17 ] || die "needs Java 17 or newer, found '${major:-none}'; set JAVA_HOME"
  command -v mvn >/dev/null || try_install maven || die "needs Maven 3.8 or newer, found none"

  local missing=()
  command -v gcc >/dev/null || missing+=(gcc libc6-dev)
  [ -e /usr/include/infiniband/verbs.h ] || missing+=(libibverbs-dev)
  [ -e /usr/include/rdma/rdma_cma.h ] || missing+=(librdmacm-dev)
  if [ "${#missing[@]}" -gt 0 ] && ! try_install "${missing[@]}"; then
    say "  going on without the native library: RDMA verbs will be unavailable, the rest works"
  fi
}

# build : compiles everything into jars without running tests.
build() {
  say "Building (the first time downloads Spark; log: target/build.log)"
  mkdir -p "$ROOT/target"
  (cd "$ROOT" && exec mvn -B -ntp -DskipTests package) >"$ROOT/target/build.log" 2>&1 &
  local pid=$!
  watch_log "$pid" "$ROOT/target/build.log"
  if ! wait "$pid"; then
    grep -m 20 '^\[ERROR\]' "$ROOT/target/build.log" >&2
    die "the build failed; see target/build.log"
  fi
}

# watch_log PID FILE : shows which module Maven is at until the process ends.
watch_log() {
  local shown='' now
  while kill -0 "$1" 2>/dev/null; do
    now=$(sed -n 's/^\[INFO\] Building \(.*\) \[\(.*\)\]$/\2 \1/p' "$2" | tail -1)
    if [ "$now" != "$shown" ]; then
      say "  $now"
      shown=$now
    fi
    sleep 1
  done
}

# The Spark that the harness runs on: the one of the build, unless use_spark chose another.
spark_home="$ROOT/integration-tests/target/spark-home"
scala_binary=2.13

# use_spark VERSION SCALA : takes that one from now on; its jars are fetched once.
use_spark() {
  spark_home="$ROOT/integration-tests/target/spark/$1-$2"
  scala_binary=$2
  [ ! -d "$spark_home/jars" ] || return 0
  rm -rf "$spark_home/jars.part"
  mvn -B -ntp -q -f "$ROOT/integration-tests/spark-home/pom.xml" dependency:copy-dependencies \
    "-Dspark.version=$1" "-Dscala.binary=$2" -DincludeScope=runtime \
    "-DoutputDirectory=$spark_home/jars.part" || return 1
  mv "$spark_home/jars.part" "$spark_home/jars"
}

# java_home_of MAJOR : prints where that Java is installed; fails where it is not.
java_home_of() {
  local home
  for home in /usr/lib/jvm/*; do
    if [ -x "$home/bin/java" ] && [[ ${home##*/} =~ (^|[^0-9])$1([^0-9]|$) ]]; then
      printf '%s\n' "$home"
      return 0
    fi
  done
  return 1
}

# spark_jvm ARG... : runs Java with what Spark's local-cluster and our harness need.
spark_jvm() {
  local module="$ROOT/integration-tests/target"
  export SPARK_HOME="$spark_home" SPARK_SCALA_VERSION="$scala_binary"
  export SPARK_LOCAL_IP="${SPARK_LOCAL_IP:-127.0.0.1}"
  local opens=() package
  for package in java.lang java.lang.invoke java.lang.reflect java.io java.net java.nio java.util \
    java.util.concurrent java.util.concurrent.atomic jdk.internal.ref sun.nio.ch sun.nio.cs \
    sun.security.action sun.util.calendar; do
    opens+=("--add-opens=java.base/$package=ALL-UNNAMED")
  done
  mkdir -p "$module/harness"
  "${JAVA_HOME:+$JAVA_HOME/bin/}java" "${opens[@]}" \
    -Djdk.reflect.useDirectMethodHandle=false \
    -Dharness.plugin.jar="$ROOT/shuffle-manager/target/rdma-shuffle.jar" \
    -Dharness.user.jars="$module/user-jars" \
    -Dharness.dir="$module/harness" \
    -Dharness.terminal="$([ -t 1 ] && echo true || echo false)" \
    -Dharness.log="$module/harness/$(basename "$0").log" \
    -Dlog4j2.configurationFile="$ROOT/integration-tests/src/main/conf/log4j2.properties" \
    "$@"
}

# run_main CLASS ARG... : runs one of our main classes.
run_main() {
  local module="$ROOT/integration-tests/target"
  spark_jvm -Xmx1g \
    -cp "$module/user-jars/*:$spark_home/jars/*:$ROOT/shuffle-manager/target/rdma-shuffle.jar" \
    "$@"
}

# run_tests CLASS_PATH ARG... : runs JUnit without Maven on what is built. After the class path come
# the plugin's jar, which brings DiSNI, and Spark.
run_tests() {
  local class_path=$1 module="$ROOT/integration-tests/target"
  shift
  [ -e "$module/test-tools/junit-console.jar" ] ||
    die "nothing is built; run mvn -DskipTests package"
  class_path="$module/test-tools/junit-console.jar:$class_path"
  class_path+=":$ROOT/shuffle-manager/target/rdma-shuffle.jar:$spark_home/jars/*"
  class_path+=":$module/user-jars/*"
  spark_jvm -Xmx1g -XX:TieredStopAtLevel=1 -XX:+UseSerialGC -XX:-UsePerfData -cp "$class_path" \
    "-Dtest.nightly=${nightly:-false}" \
    org.junit.platform.console.ConsoleLauncher execute --disable-banner \
    --fail-if-no-tests "$@"
}
