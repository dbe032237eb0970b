/**
 * One-sided reads over verbs: InfiniBand, RoCE and iWARP, through DiSNI and a native library of our
 * own.
 *
 * <p>{@link io.rdmashuffle.transport.verbs.VerbsTransports} is the way in. It defines the rest of
 * this package and DiSNI a second time in a class loader of its own, since the library is carried
 * in the jar and only a class loader can say where a library lies without a user's setting.
 */
package io.rdmashuffle.transport.verbs;
