#include "handles.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#define INDEX_BITS 20
#define KIND_BITS 4
#define CHUNK_BITS 10
#define CHUNK_SIZE (1 << CHUNK_BITS)
#define CHUNKS (1 << (INDEX_BITS - CHUNK_BITS))
#define NO_SLOT UINT32_MAX

struct slot {
	_Atomic int64_t handle; /* 0: free */
	void *_Atomic object;
	uint32_t generation;
	uint32_t next_free;
};

/* Chunks are allocated once and never move or go, so that a lookup needs no lock. */
static struct slot *_Atomic chunks[CHUNKS];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static uint32_t used; /* slots handed out at least once; guarded by lock */
static uint32_t free_list = NO_SLOT; /* guarded by lock */

static struct slot *slot_at(uint32_t index)
{
	struct slot *chunk = atomic_load_explicit(&chunks[index >> CHUNK_BITS],
						  memory_order_acquire);

	return chunk ? &chunk[index & (CHUNK_SIZE - 1)] : NULL;
}

static struct slot *slot_of(enum handle_kind kind, int64_t handle)
{
	if (handle <= 0 || ((handle >> INDEX_BITS) & ((1 << KIND_BITS) - 1)) != kind)
		return NULL;
	return slot_at(handle & ((1 << INDEX_BITS) - 1));
}

static int64_t take_slot(void)
{
	uint32_t index = free_list;

	if (index != NO_SLOT) {
		free_list = slot_at(index)->next_free;
		return index;
	}
	if (used == (1u << INDEX_BITS))
		return -ENOMEM;
	if (!slot_at(used)) {
		struct slot *chunk = calloc(CHUNK_SIZE, sizeof(*chunk));

		if (!chunk)
			return -ENOMEM;
		atomic_store_explicit(&chunks[used >> CHUNK_BITS], chunk, memory_order_release);
	}
	return used++;
}

static int64_t open_locked(enum handle_kind kind, void *object)
{
	int64_t index = take_slot();
	struct slot *slot;
	int64_t handle;

	if (index < 0)
		return index;
	slot = slot_at(index);
	if (++slot->generation == 0)
		slot->generation = 1;
	handle = (int64_t)slot->generation << (INDEX_BITS + KIND_BITS) |
		 (int64_t)kind << INDEX_BITS | index;
	atomic_store_explicit(&slot->object, object, memory_order_relaxed);
	atomic_store_explicit(&slot->handle, handle, memory_order_release);
	return handle;
}

int64_t handle_open(enum handle_kind kind, void *object)
{
	int64_t handle;

	pthread_mutex_lock(&lock);
	handle = open_locked(kind, object);
	pthread_mutex_unlock(&lock);
	return handle;
}

void *handle_get(enum handle_kind kind, int64_t handle)
{
	struct slot *slot = slot_of(kind, handle);

	if (!slot || atomic_load_explicit(&slot->handle, memory_order_acquire) != handle)
		return NULL;
	return atomic_load_explicit(&slot->object, memory_order_relaxed);
}

void *handle_close(enum handle_kind kind, int64_t handle)
{
	struct slot *slot = slot_of(kind, handle);
	void *object = NULL;

	if (!slot)
		return NULL;
	pthread_mutex_lock(&lock);
	if (atomic_load_explicit(&slot->handle, memory_order_relaxed) == handle) {
		object = atomic_load_explicit(&slot->object, memory_order_relaxed);
		atomic_store_explicit(&slot->handle, 0, memory_order_release);
		slot->next_free = free_list;
		free_list = handle & ((1 << INDEX_BITS) - 1);
	}
	pthread_mutex_unlock(&lock);
	return object;
}

int64_t handle_of(enum handle_kind kind, void *object)
{
	int64_t handle = 0;
	uint32_t i;

	pthread_mutex_lock(&lock);
	for (i = 0; i < used && !handle; i++) {
		struct slot *slot = slot_at(i);
		int64_t found = atomic_load_explicit(&slot->handle, memory_order_relaxed);

		if (found && slot_of(kind, found) == slot &&
		    atomic_load_explicit(&slot->object, memory_order_relaxed) == object)
			handle = found;
	}
	if (!handle)
		handle = open_locked(kind, object);
	pthread_mutex_unlock(&lock);
	return handle;
}
