/*
 * The natives that the classes of DiSNI 2.1 declare. Creations throw IOException, since Java turns
 * a negative result into a null object; what is declared to return a status returns -errno.
 */
#define _GNU_SOURCE
#include "objects.h"

#include <errno.h>
#include <sched.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#define DISNI_VERSION 32

#define DISPATCHER(type, name) \
	JNIEXPORT type JNICALL Java_com_ibm_disni_verbs_impl_NativeDispatcher__1##name

/* READs and SENDs use only what lies within the 72 bytes that DiSNI writes of a work request. */
_Static_assert(offsetof(struct ibv_send_wr, wr.rdma.remote_addr) == 40, "send work request");
_Static_assert(offsetof(struct ibv_send_wr, wr.rdma.rkey) == 48, "send work request");
_Static_assert(sizeof(struct ibv_sge) == 16, "scatter/gather element");
_Static_assert(sizeof(struct ibv_recv_wr) == 32, "receive work request");
_Static_assert(sizeof(struct ibv_wc) == 48, "work completion");

static void *pointer(jlong address)
{
	return (void *)(uintptr_t)address;
}

static void throw_io(JNIEnv *env, const char *operation, int negative)
{
	char reason[128];
	char message[256];
	jclass io_exception = (*env)->FindClass(env, "java/io/IOException");

	if (!io_exception)
		return;
	snprintf(message, sizeof(message), "%s: %s (errno %d)", operation,
		 strerror_r(-negative, reason, sizeof(reason)), -negative);
	(*env)->ThrowNew(env, io_exception, message);
}

static jlong handle_or_throw(JNIEnv *env, const char *operation, int64_t result)
{
	if (result < 0)
		throw_io(env, operation, (int)result);
	return result;
}

static void zero_or_throw(JNIEnv *env, const char *operation, int result)
{
	if (result)
		throw_io(env, operation, result);
}

static struct rdma_cm_id *id_or_throw(JNIEnv *env, const char *operation, jlong handle)
{
	struct cm_id *record = handle_get(KIND_CM_ID, handle);

	if (!record) {
		throw_io(env, operation, -EBADF);
		return NULL;
	}
	errno = 0;
	return record->id;
}

/* --- connection manager ------------------------------------------------------------------- */

DISPATCHER(jlong, createEventChannel)(JNIEnv *env, jobject self)
{
	return handle_or_throw(env, "rdma_create_event_channel", event_channel_create());
}

DISPATCHER(jint, destroyEventChannel)(JNIEnv *env, jobject self, jlong channel)
{
	return event_channel_destroy(channel);
}

DISPATCHER(jlong, createId)(JNIEnv *env, jobject self, jlong channel, jshort port_space)
{
	return handle_or_throw(env, "rdma_create_id", cm_id_create(channel, port_space));
}

DISPATCHER(jint, destroyCmId)(JNIEnv *env, jobject self, jlong id)
{
	return cm_id_destroy(id);
}

DISPATCHER(jint, destroyEp)(JNIEnv *env, jobject self, jlong id)
{
	qp_destroy(id); /* -EBADF: it had none */
	return cm_id_destroy(id);
}

DISPATCHER(void, bindAddr)(JNIEnv *env, jobject self, jlong handle, jlong address)
{
	struct rdma_cm_id *id = id_or_throw(env, "rdma_bind_addr", handle);

	if (id)
		zero_or_throw(env, "rdma_bind_addr",
			      negative_errno(rdma_bind_addr(id, pointer(address))));
}

DISPATCHER(void, listen)(JNIEnv *env, jobject self, jlong handle, jint backlog)
{
	struct rdma_cm_id *id = id_or_throw(env, "rdma_listen", handle);

	if (id)
		zero_or_throw(env, "rdma_listen", negative_errno(rdma_listen(id, backlog)));
}

DISPATCHER(void, resolveAddr)
(JNIEnv *env, jobject self, jlong handle, jlong source, jlong destination, jint timeout_ms)
{
	struct rdma_cm_id *id = id_or_throw(env, "rdma_resolve_addr", handle);

	if (id)
		zero_or_throw(env, "rdma_resolve_addr",
			      negative_errno(rdma_resolve_addr(id, pointer(source),
							       pointer(destination), timeout_ms)));
}

DISPATCHER(void, resolveRoute)(JNIEnv *env, jobject self, jlong handle, jint timeout_ms)
{
	struct rdma_cm_id *id = id_or_throw(env, "rdma_resolve_route", handle);

	if (id)
		zero_or_throw(env, "rdma_resolve_route",
			      negative_errno(rdma_resolve_route(id, timeout_ms)));
}

DISPATCHER(jint, getCmEvent)
(JNIEnv *env, jobject self, jlong handle, jlong listen_address, jlong client_address,
 jint timeout_ms)
{
	struct rdma_event_channel *channel = handle_get(KIND_CHANNEL, handle);
	struct cm_event event;
	int ret = channel ? wait_readable(channel->fd, timeout_ms) : -EBADF;

	if (ret > 0)
		ret = cm_event_next(handle, &event);
	else if (ret == 0)
		return -1;
	if (ret < 0) {
		/* The caller cannot tell an error from "none" and tries again: not in a hot loop. */
		struct timespec pause = { .tv_nsec = 10 * 1000 * 1000 };

		if (ret != -EAGAIN)
			nanosleep(&pause, NULL);
		return -1;
	}
	memcpy(pointer(listen_address), &event.listen_id, sizeof(event.listen_id));
	memcpy(pointer(client_address), &event.id, sizeof(event.id));
	return ret;
}

DISPATCHER(jint, ackCmEvent)(JNIEnv *env, jobject self, jint event)
{
	return 0; /* getCmEvent did it */
}

DISPATCHER(void, connect)
(JNIEnv *env, jobject self, jlong handle, jint retry, jint rnr_retry, jlong private_data,
 jbyte private_data_len)
{
	struct rdma_cm_id *id = id_or_throw(env, "rdma_connect", handle);
	struct rdma_conn_param param = {
		.private_data = pointer(private_data),
		.private_data_len = private_data ? (uint8_t)private_data_len : 0,
		.responder_resources = RDMA_MAX_RESP_RES,
		.initiator_depth = RDMA_MAX_INIT_DEPTH,
		.retry_count = retry,
		.rnr_retry_count = rnr_retry,
	};

	if (id)
		zero_or_throw(env, "rdma_connect", negative_errno(rdma_connect(id, &param)));
}

DISPATCHER(void, accept)(JNIEnv *env, jobject self, jlong handle, jint retry, jint rnr_retry)
{
	struct rdma_cm_id *id = id_or_throw(env, "rdma_accept", handle);
	struct rdma_conn_param param = {
		.responder_resources = RDMA_MAX_RESP_RES,
		.initiator_depth = RDMA_MAX_INIT_DEPTH,
		.retry_count = retry,
		.rnr_retry_count = rnr_retry,
	};

	if (id)
		zero_or_throw(env, "rdma_accept", negative_errno(rdma_accept(id, &param)));
}

DISPATCHER(jint, disconnect)(JNIEnv *env, jobject self, jlong handle)
{
	struct cm_id *record = handle_get(KIND_CM_ID, handle);

	if (!record)
		return -EBADF;
	errno = 0;
	return negative_errno(rdma_disconnect(record->id));
}

static int copy_address(const struct sockaddr *address, jlong out)
{
	if (address->sa_family != AF_INET)
		return -EAFNOSUPPORT; /* DiSNI knows IPv4 only */
	memcpy(pointer(out), address, sizeof(struct sockaddr_in));
	return 0;
}

DISPATCHER(jint, getSrcAddr)(JNIEnv *env, jobject self, jlong handle, jlong out)
{
	struct cm_id *record = handle_get(KIND_CM_ID, handle);

	return record ? copy_address(rdma_get_local_addr(record->id), out) : -EBADF;
}

DISPATCHER(jint, getDstAddr)(JNIEnv *env, jobject self, jlong handle, jlong out)
{
	struct cm_id *record = handle_get(KIND_CM_ID, handle);

	return record ? copy_address(rdma_get_peer_addr(record->id), out) : -EBADF;
}

/* --- queue pairs -------------------------------------------------------------------------- */

DISPATCHER(jlong, createQP)
(JNIEnv *env, jobject self, jlong id, jlong pd, jlong send_cq, jlong recv_cq, jint qp_type,
 jint max_send_wr, jint max_recv_wr, jint max_inline)
{
	struct ibv_qp_init_attr attr = {
		.cap = {
			.max_send_wr = max_send_wr,
			.max_recv_wr = max_recv_wr,
			.max_send_sge = 1, /* DiSNI does not say; a read has one target here */
			.max_recv_sge = 1,
			.max_inline_data = max_inline,
		},
		.qp_type = qp_type,
	};

	return handle_or_throw(env, "rdma_create_qp", qp_create(id, pd, &attr, send_cq, recv_cq));
}

/* DiSNI passes the connection-manager id here, not the queue pair. */
DISPATCHER(jint, destroyQP)(JNIEnv *env, jobject self, jlong id)
{
	return qp_destroy(id);
}

DISPATCHER(jint, modifyQP)(JNIEnv *env, jobject self, jlong qp, jlong attr)
{
	throw_io(env, "ibv_modify_qp: DiSNI passes no attributes", -ENOTSUP);
	return -ENOTSUP;
}

DISPATCHER(jint, getQpNum)(JNIEnv *env, jobject self, jlong handle)
{
	struct ibv_qp *qp = handle_get(KIND_QP, handle);

	if (!qp) {
		throw_io(env, "queue pair number", -EBADF);
		return -EBADF;
	}
	return qp->qp_num;
}

DISPATCHER(void, postSend)(JNIEnv *env, jobject self, jlong handle, jlong first)
{
	struct ibv_qp *qp = handle_get(KIND_QP, handle);
	struct ibv_send_wr *bad;

	errno = 0;
	zero_or_throw(env, "ibv_post_send",
		      qp ? negative_errno(ibv_post_send(qp, pointer(first), &bad)) : -EBADF);
}

DISPATCHER(void, postRecv)(JNIEnv *env, jobject self, jlong handle, jlong first)
{
	struct ibv_qp *qp = handle_get(KIND_QP, handle);
	struct ibv_recv_wr *bad;

	errno = 0;
	zero_or_throw(env, "ibv_post_recv",
		      qp ? negative_errno(ibv_post_recv(qp, pointer(first), &bad)) : -EBADF);
}

/* --- completion queues -------------------------------------------------------------------- */

DISPATCHER(jlong, createCompChannel)(JNIEnv *env, jobject self, jlong context)
{
	return handle_or_throw(env, "ibv_create_comp_channel", comp_channel_create(context));
}

DISPATCHER(jint, destroyCompChannel)(JNIEnv *env, jobject self, jlong channel)
{
	return comp_channel_destroy(channel);
}

DISPATCHER(jlong, createCQ)
(JNIEnv *env, jobject self, jlong context, jlong channel, jint entries, jint vector)
{
	return handle_or_throw(env, "ibv_create_cq", cq_create(context, channel, entries, vector));
}

DISPATCHER(jint, destroyCQ)(JNIEnv *env, jobject self, jlong cq)
{
	return cq_destroy(cq);
}

DISPATCHER(jint, getCqEvent)(JNIEnv *env, jobject self, jlong handle, jint timeout_ms)
{
	struct comp_channel *record = handle_get(KIND_COMP_CHANNEL, handle);
	struct ibv_cq *cq;
	void *context;
	int ret;

	if (!record) {
		throw_io(env, "ibv_get_cq_event", -EBADF);
		return -EBADF;
	}
	ret = wait_readable(record->channel->fd, timeout_ms);
	if (ret < 0)
		throw_io(env, "ibv_get_cq_event", ret);
	if (ret <= 0)
		return -1;
	return ibv_get_cq_event(record->channel, &cq, &context) ? -1 : 0;
}

DISPATCHER(jint, ackCqEvent)(JNIEnv *env, jobject self, jlong handle, jint events)
{
	struct completion_queue *record = handle_get(KIND_CQ, handle);

	if (!record)
		return -EBADF;
	ibv_ack_cq_events(record->cq, events);
	return 0;
}

DISPATCHER(jint, pollCQ)(JNIEnv *env, jobject self, jlong handle, jint count, jlong out)
{
	struct completion_queue *record = handle_get(KIND_CQ, handle);

	return record ? ibv_poll_cq(record->cq, count, pointer(out)) : -EBADF;
}

DISPATCHER(jint, reqNotifyCQ)(JNIEnv *env, jobject self, jlong handle, jint solicited_only)
{
	struct completion_queue *record = handle_get(KIND_CQ, handle);

	errno = 0;
	return record ? negative_errno(ibv_req_notify_cq(record->cq, solicited_only)) : -EBADF;
}

/* --- protection domains and memory regions ------------------------------------------------- */

DISPATCHER(jlong, allocPd)(JNIEnv *env, jobject self, jlong context)
{
	return handle_or_throw(env, "ibv_alloc_pd", pd_alloc(context));
}

DISPATCHER(jint, deallocPd)(JNIEnv *env, jobject self, jlong pd)
{
	return pd_dealloc(pd);
}

DISPATCHER(jint, getPdHandle)(JNIEnv *env, jobject self, jlong handle)
{
	struct ibv_pd *pd = handle_get(KIND_PD, handle);

	if (!pd) {
		throw_io(env, "protection domain", -EBADF);
		return -EBADF;
	}
	return pd->handle;
}

DISPATCHER(jlong, regMr)
(JNIEnv *env, jobject self, jlong pd, jlong address, jint length, jint access, jlong lkey,
 jlong rkey, jlong number)
{
	struct ibv_mr *mr;
	int64_t handle;

	if (length < 0) {
		throw_io(env, "ibv_reg_mr", -EINVAL);
		return -EINVAL;
	}
	handle = handle_or_throw(env, "ibv_reg_mr", mr_register(pd, address, length, access, &mr));
	if (handle > 0) {
		memcpy(pointer(lkey), &mr->lkey, sizeof(mr->lkey));
		memcpy(pointer(rkey), &mr->rkey, sizeof(mr->rkey));
		memcpy(pointer(number), &mr->handle, sizeof(mr->handle));
	}
	return handle;
}

DISPATCHER(void, deregMr)(JNIEnv *env, jobject self, jlong mr)
{
	zero_or_throw(env, "ibv_dereg_mr", mr_deregister(mr));
}

DISPATCHER(jint, queryOdpSupport)(JNIEnv *env, jobject self, jlong handle)
{
	struct ibv_context *context = handle_get(KIND_CONTEXT, handle);
	struct ibv_device_attr_ex attr = { 0 };

	if (!context)
		return -EBADF;
	errno = 0;
	if (ibv_query_device_ex(context, NULL, &attr))
		return errno ? -errno : -EIO;
	return attr.odp_caps.per_transport_caps.rc_odp_caps;
}

DISPATCHER(jint, expPrefetchMr)
(JNIEnv *env, jobject self, jlong handle, jlong address, jint length)
{
	struct ibv_mr *mr = handle_get(KIND_MR, handle);
	struct ibv_sge sge;

	if (!mr)
		return -EBADF;
	sge.addr = address;
	sge.length = length;
	sge.lkey = mr->lkey;
	return negative_errno(
		ibv_advise_mr(mr->pd, IBV_ADVISE_MR_ADVICE_PREFETCH_WRITE, 0, &sge, 1));
}

/* --- device contexts ----------------------------------------------------------------------- */

DISPATCHER(jlong, getContext)(JNIEnv *env, jobject self, jlong id)
{
	return cm_id_context(id); /* negative for an id that is bound to no device */
}

DISPATCHER(jint, getContextFd)(JNIEnv *env, jobject self, jlong handle)
{
	struct ibv_context *context = handle_get(KIND_CONTEXT, handle);

	return context ? context->cmd_fd : -EBADF;
}

DISPATCHER(jint, getContextNumCompVectors)(JNIEnv *env, jobject self, jlong handle)
{
	struct ibv_context *context = handle_get(KIND_CONTEXT, handle);

	return context ? context->num_comp_vectors : -EBADF;
}

/* --- versions and sizes --------------------------------------------------------------------- */

DISPATCHER(jint, getVersion)(JNIEnv *env, jobject self)
{
	return DISNI_VERSION;
}

DISPATCHER(jint, getSockAddrInSize)(JNIEnv *env, jobject self)
{
	return sizeof(struct sockaddr_in);
}

DISPATCHER(jint, getIbvRecvWRSize)(JNIEnv *env, jobject self)
{
	return sizeof(struct ibv_recv_wr);
}

DISPATCHER(jint, getIbvSendWRSize)(JNIEnv *env, jobject self)
{
	return sizeof(struct ibv_send_wr);
}

DISPATCHER(jint, getIbvWCSize)(JNIEnv *env, jobject self)
{
	return sizeof(struct ibv_wc);
}

DISPATCHER(jint, getIbvSgeSize)(JNIEnv *env, jobject self)
{
	return sizeof(struct ibv_sge);
}

DISPATCHER(jint, getRemoteAddressOffset)(JNIEnv *env, jobject self)
{
	return offsetof(struct ibv_send_wr, wr.rdma.remote_addr);
}

DISPATCHER(jint, getRKeyOffset)(JNIEnv *env, jobject self)
{
	return offsetof(struct ibv_send_wr, wr.rdma.rkey);
}

/* --- processor affinity ---------------------------------------------------------------------- */

JNIEXPORT void JNICALL
Java_com_ibm_disni_util_NativeAffinity__1setAffinity(JNIEnv *env, jclass self, jlong mask)
{
	cpu_set_t cpus;
	int i;

	CPU_ZERO(&cpus);
	for (i = 0; i < 64; i++)
		if ((uint64_t)mask >> i & 1)
			CPU_SET(i, &cpus);
	sched_setaffinity(0, sizeof(cpus), &cpus);
}

JNIEXPORT jlong JNICALL
Java_com_ibm_disni_util_NativeAffinity__1getAffinity(JNIEnv *env, jclass self)
{
	cpu_set_t cpus;
	uint64_t mask = 0;
	int i;

	if (sched_getaffinity(0, sizeof(cpus), &cpus))
		return 0;
	for (i = 0; i < 64; i++)
		if (CPU_ISSET(i, &cpus))
			mask |= (uint64_t)1 << i;
	return mask;
}
