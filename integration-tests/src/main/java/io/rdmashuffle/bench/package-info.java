/**
 * Benchmarks: the plugin and the sort shuffle side by side in one run, ratios of what they need.
 */
package io.rdmashuffle.bench;
