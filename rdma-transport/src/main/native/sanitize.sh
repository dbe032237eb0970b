#!/bin/sh
# Runs tests that need a device against a library with address and undefined-behaviour checks, and
# with the JVM's checks of JNI calls. Run it after mvn -DskipTests package; it puts the plain
# library back.
#
# usage: sanitize.sh [TEST_CLASS]     (default VerbsFaultTest)
set -eu

here=$(cd "$(dirname "$0")" && pwd)
module=$(cd "$here/../../.." && pwd)
root=$(cd "$module/.." && pwd)
test=${1:-VerbsFaultTest}
java_home=$(java -XshowSettings:properties -version 2>&1 | sed -n 's/^ *java.home = //p')
build() {
    "$here/build.sh" "$module/target/classes" "$module/target/generated-sources/native-abi" \
        "$java_home" "$1"
}

built=$root/integration-tests/target
class_path=$built/test-tools/junit-console.jar:$module/target/classes:$module/target/test-classes
class_path=$class_path:$root/conf/target/classes:$root/shuffle-manager/target/rdma-shuffle.jar
class_path="$class_path:$built/spark-home/jars/*"

trap 'build ""' EXIT
build "-fsanitize=address,undefined -fno-omit-frame-pointer -g"
cd "$root"
# The JVM handles its own faults, and the collector of leaks does not understand its heap.
bin/rxe-vm -- env \
    LD_PRELOAD="$(gcc -print-file-name=libasan.so)" \
    ASAN_OPTIONS=detect_leaks=0:handle_segv=0:handle_sigill=0:handle_sigfpe=0 \
    UBSAN_OPTIONS=print_stacktrace=1 \
    java -Xcheck:jni -Xmx1g -XX:TieredStopAtLevel=1 -cp "$class_path" \
    org.junit.platform.console.ConsoleLauncher execute --disable-banner \
    "--select-class=io.rdmashuffle.transport.verbs.$test" --fail-if-no-tests
