/**
 * The protocol that keeps stale reads from being delivered, as a small state machine, and an
 * explorer that visits every state of it.
 */
package io.rdmashuffle.store.model;
