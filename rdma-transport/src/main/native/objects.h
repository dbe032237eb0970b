/* The objects behind handles, and the operations that both JNI files need. */
#ifndef RDMASHUFFLE_OBJECTS_H
#define RDMASHUFFLE_OBJECTS_H

#include "handles.h"

#include <infiniband/verbs.h>
#include <jni.h>
#include <rdma/rdma_cma.h>
#include <stdbool.h>

#define MAX_PRIVATE_DATA 255

/* A connection-manager event, copied out so that the original can be acknowledged at once. */
struct cm_event {
	int64_t listen_id;
	int64_t id;
	int32_t event;
	int32_t status;
	int32_t responder_resources;
	int32_t initiator_depth;
	int32_t private_data_len;
	uint8_t private_data[MAX_PRIVATE_DATA + 1];
};

struct cm_id {
	struct rdma_cm_id *id;
	int64_t handle;
	int64_t qp; /* handle of the id's queue pair, 0 if none */
};

/* Destroyed with its last completion queue, since DiSNI destroys the channel first. */
struct comp_channel {
	struct ibv_comp_channel *channel;
	int refs; /* creator + completion queues; guarded by objects_lock */
};

struct completion_queue {
	struct ibv_cq *cq;
	struct comp_channel *channel;
};

/* All of these return a handle, 0, or a negative errno. */
int64_t event_channel_create(void);
int event_channel_destroy(int64_t channel);
int64_t cm_id_create(int64_t channel, int port_space);
int cm_id_destroy(int64_t id);
/* Takes one event without waiting: the event's number, or -EAGAIN when there is none. */
int cm_event_next(int64_t channel, struct cm_event *out);
int64_t cm_id_context(int64_t id);
int64_t qp_create(int64_t id, int64_t pd, struct ibv_qp_init_attr *attr, int64_t send_cq,
		  int64_t recv_cq);
int qp_destroy(int64_t id);
int64_t pd_alloc(int64_t context);
int pd_dealloc(int64_t pd);
int64_t comp_channel_create(int64_t context);
int comp_channel_destroy(int64_t channel);
int64_t cq_create(int64_t context, int64_t channel, int entries, int vector);
int cq_destroy(int64_t cq);
int64_t mr_register(int64_t pd, uint64_t address, uint64_t length, int access,
		    struct ibv_mr **out);
int mr_deregister(int64_t mr);

/* Waits with the meaning of poll(2): 1 readable, 0 time is up or interrupted, or -errno. */
int wait_readable(int fd, int timeout_ms);

/* A non-zero return of a verbs call as a negative errno: some return it, some set errno. */
int negative_errno(int ret);

#endif
