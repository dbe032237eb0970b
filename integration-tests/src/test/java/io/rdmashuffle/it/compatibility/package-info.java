/** Makes {@code docs/compatibility.md} from the reports of tests on each Spark. */
package io.rdmashuffle.it.compatibility;
