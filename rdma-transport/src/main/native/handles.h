/*
 * Native objects as Java sees them: a 64-bit handle made of table index, kind and generation.
 *
 * A handle is never 0 and never negative. A handle whose object is gone, or that is of another
 * kind, resolves to NULL, so that a stale Java object costs an error code and not the process.
 */
#ifndef RDMASHUFFLE_HANDLES_H
#define RDMASHUFFLE_HANDLES_H

#include <stdint.h>

enum handle_kind {
	KIND_CHANNEL = 1,
	KIND_CM_ID,
	KIND_CONTEXT,
	KIND_PD,
	KIND_COMP_CHANNEL,
	KIND_CQ,
	KIND_QP,
	KIND_MR,
	KIND_CHAIN,
};

/* Returns a handle > 0, or -ENOMEM. object must not be NULL. */
int64_t handle_open(enum handle_kind kind, void *object);

/* Returns the object, or NULL. Takes no lock. */
void *handle_get(enum handle_kind kind, int64_t handle);

/* Forgets the handle and returns its object: NULL for whoever comes second. */
void *handle_close(enum handle_kind kind, int64_t handle);

/* Returns the handle of an object that has one, or opens one: for objects without an owner. */
int64_t handle_of(enum handle_kind kind, void *object);

#endif
