package io.rdmashuffle.bench;

import io.rdmashuffle.harness.ClusterSpec;

/** One of the applications that are compared. */
record Side(String label, ClusterSpec spec) {}
