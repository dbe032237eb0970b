#define _GNU_SOURCE
#include "objects.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

static pthread_mutex_t objects_lock = PTHREAD_MUTEX_INITIALIZER;

int negative_errno(int ret)
{
	if (ret == 0)
		return 0;
	if (ret > 0)
		return -ret;
	return errno ? -errno : -EIO;
}

static int last_errno(void)
{
	return errno ? -errno : -EIO;
}

int wait_readable(int fd, int timeout_ms)
{
	struct pollfd poll_fd = { .fd = fd, .events = POLLIN };
	int ret = poll(&poll_fd, 1, timeout_ms);

	if (ret < 0)
		return errno == EINTR ? 0 : -errno;
	return ret;
}

static int set_nonblocking(int fd)
{
	int flags = fcntl(fd, F_GETFL);

	if (flags < 0 || fcntl(fd, F_SETFL, flags | O_NONBLOCK) < 0)
		return last_errno();
	return 0;
}

int64_t event_channel_create(void)
{
	struct rdma_event_channel *channel;
	int64_t ret;

	errno = 0;
	channel = rdma_create_event_channel();
	if (!channel)
		return last_errno();
	ret = set_nonblocking(channel->fd);
	if (ret)
		goto err_destroy_channel;
	ret = handle_open(KIND_CHANNEL, channel);
	if (ret < 0)
		goto err_destroy_channel;
	return ret;

err_destroy_channel:
	rdma_destroy_event_channel(channel);
	return ret;
}

int event_channel_destroy(int64_t handle)
{
	struct rdma_event_channel *channel = handle_close(KIND_CHANNEL, handle);

	if (!channel)
		return -EBADF;
	rdma_destroy_event_channel(channel);
	return 0;
}

/* Gives a librdmacm id a record and a handle; the id stays the caller's on failure. */
static int64_t adopt_id(struct rdma_cm_id *id)
{
	struct cm_id *record = calloc(1, sizeof(*record));

	if (!record)
		return -ENOMEM;
	record->id = id;
	record->handle = handle_open(KIND_CM_ID, record);
	if (record->handle < 0) {
		int64_t ret = record->handle;

		free(record);
		return ret;
	}
	id->context = record;
	return record->handle;
}

int64_t cm_id_create(int64_t channel_handle, int port_space)
{
	struct rdma_event_channel *channel = handle_get(KIND_CHANNEL, channel_handle);
	struct rdma_cm_id *id;
	int64_t ret;

	if (!channel)
		return -EBADF;
	errno = 0;
	if (rdma_create_id(channel, &id, NULL, port_space))
		return last_errno();
	ret = adopt_id(id);
	if (ret < 0)
		rdma_destroy_id(id);
	return ret;
}

int cm_id_destroy(int64_t handle)
{
	struct cm_id *record = handle_close(KIND_CM_ID, handle);
	int ret;

	if (!record)
		return -EBADF;
	errno = 0;
	ret = negative_errno(rdma_destroy_id(record->id));
	free(record);
	return ret;
}

static void copy_event(const struct rdma_cm_event *event, struct cm_event *out)
{
	const struct rdma_conn_param *conn = &event->param.conn;
	struct cm_id *listener = event->listen_id ? event->listen_id->context : NULL;
	struct cm_id *record = event->id ? event->id->context : NULL;

	memset(out, 0, sizeof(*out));
	out->listen_id = listener ? listener->handle : 0;
	out->id = record ? record->handle : 0;
	out->event = event->event;
	out->status = event->status;
	switch (event->event) {
	case RDMA_CM_EVENT_CONNECT_REQUEST:
	case RDMA_CM_EVENT_CONNECT_RESPONSE:
	case RDMA_CM_EVENT_ESTABLISHED:
	case RDMA_CM_EVENT_REJECTED:
	case RDMA_CM_EVENT_DISCONNECTED:
		out->responder_resources = conn->responder_resources;
		out->initiator_depth = conn->initiator_depth;
		if (conn->private_data && conn->private_data_len) {
			out->private_data_len = conn->private_data_len;
			memcpy(out->private_data, conn->private_data, conn->private_data_len);
		}
		break;
	default:
		break;
	}
}

int cm_event_next(int64_t channel_handle, struct cm_event *out)
{
	struct rdma_event_channel *channel = handle_get(KIND_CHANNEL, channel_handle);
	struct rdma_cm_id *orphan = NULL;
	struct rdma_cm_event *event;

	if (!channel)
		return -EBADF;
	errno = 0;
	if (rdma_get_cm_event(channel, &event))
		return last_errno();
	if (event->event == RDMA_CM_EVENT_CONNECT_REQUEST) {
		/* The new id came with the listener's context. */
		int64_t handle = adopt_id(event->id);

		if (handle < 0) {
			event->id->context = NULL;
			orphan = event->id;
		}
	}
	copy_event(event, out);
	/*
	 * At once: DiSNI's acknowledgement does not say which event it means, and destroying an
	 * id waits for those that are not acknowledged.
	 */
	rdma_ack_cm_event(event);
	if (orphan) {
		rdma_destroy_id(orphan);
		return -ENOMEM;
	}
	return out->event;
}

int64_t cm_id_context(int64_t handle)
{
	struct cm_id *record = handle_get(KIND_CM_ID, handle);

	if (!record)
		return -EBADF;
	if (!record->id->verbs)
		return -ENODEV;
	/* Contexts belong to librdmacm and live as long as the process uses the device. */
	return handle_of(KIND_CONTEXT, record->id->verbs);
}

int64_t qp_create(int64_t id_handle, int64_t pd_handle, struct ibv_qp_init_attr *attr,
		  int64_t send_cq_handle, int64_t recv_cq_handle)
{
	struct cm_id *record = handle_get(KIND_CM_ID, id_handle);
	struct ibv_pd *pd = handle_get(KIND_PD, pd_handle);
	struct completion_queue *send_cq = handle_get(KIND_CQ, send_cq_handle);
	struct completion_queue *recv_cq = handle_get(KIND_CQ, recv_cq_handle);
	int64_t ret;

	if (!record || !pd || !send_cq || !recv_cq)
		return -EBADF;
	attr->send_cq = send_cq->cq;
	attr->recv_cq = recv_cq->cq;
	errno = 0;
	if (rdma_create_qp(record->id, pd, attr))
		return last_errno();
	ret = handle_open(KIND_QP, record->id->qp);
	if (ret < 0)
		goto err_destroy_qp;
	record->qp = ret;
	return ret;

err_destroy_qp:
	rdma_destroy_qp(record->id);
	return ret;
}

int qp_destroy(int64_t id_handle)
{
	struct cm_id *record = handle_get(KIND_CM_ID, id_handle);

	if (!record || !record->qp)
		return -EBADF;
	handle_close(KIND_QP, record->qp);
	record->qp = 0;
	rdma_destroy_qp(record->id);
	return 0;
}

int64_t pd_alloc(int64_t context_handle)
{
	struct ibv_context *context = handle_get(KIND_CONTEXT, context_handle);
	struct ibv_pd *pd;
	int64_t ret;

	if (!context)
		return -EBADF;
	errno = 0;
	pd = ibv_alloc_pd(context);
	if (!pd)
		return last_errno();
	ret = handle_open(KIND_PD, pd);
	if (ret < 0)
		ibv_dealloc_pd(pd);
	return ret;
}

int pd_dealloc(int64_t handle)
{
	struct ibv_pd *pd = handle_close(KIND_PD, handle);

	if (!pd)
		return -EBADF;
	return negative_errno(ibv_dealloc_pd(pd));
}

int64_t comp_channel_create(int64_t context_handle)
{
	struct ibv_context *context = handle_get(KIND_CONTEXT, context_handle);
	struct comp_channel *record;
	int64_t ret;

	if (!context)
		return -EBADF;
	record = calloc(1, sizeof(*record));
	if (!record)
		return -ENOMEM;
	record->refs = 1;
	errno = 0;
	record->channel = ibv_create_comp_channel(context);
	if (!record->channel) {
		ret = last_errno();
		goto err_free;
	}
	ret = set_nonblocking(record->channel->fd);
	if (ret)
		goto err_destroy_channel;
	ret = handle_open(KIND_COMP_CHANNEL, record);
	if (ret < 0)
		goto err_destroy_channel;
	return ret;

err_destroy_channel:
	ibv_destroy_comp_channel(record->channel);
err_free:
	free(record);
	return ret;
}

static int comp_channel_release(struct comp_channel *record)
{
	int ret = 0;
	bool last;

	pthread_mutex_lock(&objects_lock);
	last = --record->refs == 0;
	pthread_mutex_unlock(&objects_lock);
	if (last) {
		ret = negative_errno(ibv_destroy_comp_channel(record->channel));
		free(record);
	}
	return ret;
}

int comp_channel_destroy(int64_t handle)
{
	struct comp_channel *record = handle_close(KIND_COMP_CHANNEL, handle);

	return record ? comp_channel_release(record) : -EBADF;
}

int64_t cq_create(int64_t context_handle, int64_t channel_handle, int entries, int vector)
{
	struct ibv_context *context = handle_get(KIND_CONTEXT, context_handle);
	struct comp_channel *channel = handle_get(KIND_COMP_CHANNEL, channel_handle);
	struct completion_queue *record;
	int64_t ret;

	if (!context || !channel)
		return -EBADF;
	record = calloc(1, sizeof(*record));
	if (!record)
		return -ENOMEM;
	errno = 0;
	record->cq = ibv_create_cq(context, entries, record, channel->channel, vector);
	if (!record->cq) {
		ret = last_errno();
		goto err_free;
	}
	ret = handle_open(KIND_CQ, record);
	if (ret < 0)
		goto err_destroy_cq;
	record->channel = channel;
	pthread_mutex_lock(&objects_lock);
	channel->refs++;
	pthread_mutex_unlock(&objects_lock);
	return ret;

err_destroy_cq:
	ibv_destroy_cq(record->cq);
err_free:
	free(record);
	return ret;
}

int cq_destroy(int64_t handle)
{
	struct completion_queue *record = handle_close(KIND_CQ, handle);
	int ret;

	if (!record)
		return -EBADF;
	ret = negative_errno(ibv_destroy_cq(record->cq));
	comp_channel_release(record->channel);
	free(record);
	return ret;
}

int64_t mr_register(int64_t pd_handle, uint64_t address, uint64_t length, int access,
		    struct ibv_mr **out)
{
	struct ibv_pd *pd = handle_get(KIND_PD, pd_handle);
	struct ibv_mr *mr;
	int64_t ret;

	if (!pd)
		return -EBADF;
	errno = 0;
	mr = ibv_reg_mr(pd, (void *)(uintptr_t)address, length, access);
	if (!mr)
		return last_errno();
	ret = handle_open(KIND_MR, mr);
	if (ret < 0) {
		ibv_dereg_mr(mr);
		return ret;
	}
	*out = mr;
	return ret;
}

int mr_deregister(int64_t handle)
{
	struct ibv_mr *mr = handle_close(KIND_MR, handle);

	if (!mr)
		return -EBADF;
	return negative_errno(ibv_dereg_mr(mr));
}
