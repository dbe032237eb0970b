/** Whether the plugin's jar links with the Spark that runs the tests, without running its code. */
package io.rdmashuffle.it.linkage;
