/** Real jobs over RDMA verbs on soft-RoCE devices; run them in {@code bin/rxe-vm --pair}. */
package io.rdmashuffle.it.rxe;
