/** Deterministic jobs whose results can be compared to the last record. */
package io.rdmashuffle.jobs;
