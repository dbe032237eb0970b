/*
 * The natives of io.rdmashuffle.transport.verbs.VerbsExt: what DiSNI has no call for. Each returns
 * a negative errno on failure, and Java throws. Addresses of buffers are passed as numbers.
 */
#define _GNU_SOURCE
#include "objects.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#ifndef RDMASHUFFLE_ABI
#error "RDMASHUFFLE_ABI ties the library to the classes; build with build.sh"
#endif

#define EXT(type, name) \
	JNIEXPORT type JNICALL Java_io_rdmashuffle_transport_verbs_VerbsExt_##name

/* What VerbsExt reads of these structs by offset. */
_Static_assert(offsetof(struct cm_event, listen_id) == 0, "event layout");
_Static_assert(offsetof(struct cm_event, id) == 8, "event layout");
_Static_assert(offsetof(struct cm_event, event) == 16, "event layout");
_Static_assert(offsetof(struct cm_event, status) == 20, "event layout");
_Static_assert(offsetof(struct cm_event, responder_resources) == 24, "event layout");
_Static_assert(offsetof(struct cm_event, initiator_depth) == 28, "event layout");
_Static_assert(offsetof(struct cm_event, private_data_len) == 32, "event layout");
_Static_assert(offsetof(struct cm_event, private_data) == 36, "event layout");
_Static_assert(sizeof(struct cm_event) <= 296, "event layout");
_Static_assert(sizeof(struct ibv_wc) == 48, "work completion");
_Static_assert(offsetof(struct ibv_wc, status) == 8, "work completion");
_Static_assert(offsetof(struct ibv_wc, vendor_err) == 16, "work completion");

/* One read as Java writes it. */
struct read {
	uint64_t remote_address;
	uint64_t local_address;
	uint32_t length;
	uint32_t remote_key;
	uint32_t local_key;
	uint32_t reserved;
};

_Static_assert(sizeof(struct read) == 32, "read layout");

/* Work requests linked once; a post rewrites addresses, keys and lengths in place. */
struct chain {
	int capacity;
	struct ibv_send_wr *requests;
	struct ibv_sge *targets;
};

static void *pointer(jlong address)
{
	return (void *)(uintptr_t)address;
}

static int failure(void)
{
	return errno ? -errno : -EIO;
}

static struct rdma_cm_id *id_of(jlong handle)
{
	struct cm_id *record = handle_get(KIND_CM_ID, handle);

	errno = 0;
	return record ? record->id : NULL;
}

/* --- library, buffers, limits, texts --------------------------------------------------------- */

EXT(jstring, abi)(JNIEnv *env, jclass self)
{
	return (*env)->NewStringUTF(env, RDMASHUFFLE_ABI);
}

EXT(jlong, bufferAddress)(JNIEnv *env, jclass self, jobject buffer)
{
	return (jlong)(uintptr_t)(*env)->GetDirectBufferAddress(env, buffer);
}

EXT(jlong, memlockLimit)(JNIEnv *env, jclass self)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_MEMLOCK, &limit))
		return failure();
	return limit.rlim_cur == RLIM_INFINITY ? INT64_MAX : (jlong)limit.rlim_cur;
}

EXT(jstring, errnoText)(JNIEnv *env, jclass self, jint number)
{
	char text[128];

	return (*env)->NewStringUTF(env, strerror_r(number, text, sizeof(text)));
}

EXT(jstring, statusText)(JNIEnv *env, jclass self, jint status)
{
	return (*env)->NewStringUTF(env, ibv_wc_status_str(status));
}

EXT(jstring, asyncEventText)(JNIEnv *env, jclass self, jint event)
{
	return (*env)->NewStringUTF(env, ibv_event_type_str(event));
}

/* --- devices ---------------------------------------------------------------------------------- */

EXT(jint, presentDevices)(JNIEnv *env, jclass self, jobjectArray names)
{
	jsize capacity = (*env)->GetArrayLength(env, names);
	struct ibv_device **devices;
	int count = 0;
	int i;

	errno = 0;
	devices = ibv_get_device_list(&count);
	if (!devices)
		return failure();
	for (i = 0; i < count && i < capacity; i++) {
		jstring name = (*env)->NewStringUTF(env, ibv_get_device_name(devices[i]));

		if (!name)
			break; /* out of memory: thrown on return */
		(*env)->SetObjectArrayElement(env, names, i, name);
		(*env)->DeleteLocalRef(env, name);
	}
	ibv_free_device_list(devices);
	return i;
}

EXT(jint, openDevices)(JNIEnv *env, jclass self, jlongArray handles)
{
	jsize capacity = (*env)->GetArrayLength(env, handles);
	struct ibv_context **contexts;
	int count = 0;
	int ret = 0;
	int i;

	errno = 0;
	contexts = rdma_get_devices(&count);
	if (!contexts)
		return failure();
	for (i = 0; i < count && i < capacity; i++) {
		jlong handle = handle_of(KIND_CONTEXT, contexts[i]);

		if (handle < 0) {
			ret = (int)handle;
			goto out_free_devices;
		}
		(*env)->SetLongArrayRegion(env, handles, i, 1, &handle);
	}
	ret = i;
out_free_devices:
	rdma_free_devices(contexts); /* the list; the contexts stay librdmacm's */
	return ret;
}

EXT(jstring, deviceName)(JNIEnv *env, jclass self, jlong handle)
{
	struct ibv_context *context = handle_get(KIND_CONTEXT, handle);

	return context ? (*env)->NewStringUTF(env, ibv_get_device_name(context->device)) : NULL;
}

EXT(jint, queryDevice)(JNIEnv *env, jclass self, jlong handle, jlongArray out)
{
	struct ibv_context *context = handle_get(KIND_CONTEXT, handle);
	struct ibv_device_attr attr;
	jlong values[12];

	if (!context)
		return -EBADF;
	errno = 0;
	if (ibv_query_device(context, &attr))
		return failure();
	values[0] = attr.max_mr_size;
	values[1] = attr.max_mr;
	values[2] = attr.max_qp;
	values[3] = attr.max_qp_wr;
	values[4] = attr.max_sge;
	values[5] = attr.max_cqe;
	values[6] = attr.max_qp_rd_atom;
	values[7] = attr.max_qp_init_rd_atom;
	values[8] = attr.phys_port_cnt;
	values[9] = context->device->transport_type;
	values[10] = context->num_comp_vectors;
	values[11] = attr.vendor_id;
	(*env)->SetLongArrayRegion(env, out, 0, 12, values);
	return 0;
}

EXT(jint, queryPort)(JNIEnv *env, jclass self, jlong handle, jint port, jlongArray out)
{
	struct ibv_context *context = handle_get(KIND_CONTEXT, handle);
	struct ibv_port_attr attr;
	jlong values[8];

	if (!context)
		return -EBADF;
	errno = 0;
	if (ibv_query_port(context, port, &attr))
		return failure();
	values[0] = attr.state;
	values[1] = attr.max_msg_sz;
	values[2] = attr.link_layer;
	values[3] = attr.gid_tbl_len;
	values[4] = attr.active_speed;
	values[5] = attr.active_width;
	values[6] = attr.active_mtu;
	values[7] = attr.phys_state;
	(*env)->SetLongArrayRegion(env, out, 0, 8, values);
	return 0;
}

/* Returns the type of the entry: enum ibv_gid_type. */
EXT(jint, queryGid)(JNIEnv *env, jclass self, jlong handle, jint port, jint index, jbyteArray out)
{
	struct ibv_context *context = handle_get(KIND_CONTEXT, handle);
	struct ibv_gid_entry entry;
	int ret;

	if (!context)
		return -EBADF;
	ret = negative_errno(ibv_query_gid_ex(context, port, index, &entry, 0));
	if (ret)
		return ret;
	(*env)->SetByteArrayRegion(env, out, 0, 16, (const jbyte *)entry.gid.raw);
	return entry.gid_type;
}

EXT(jint, asyncFd)(JNIEnv *env, jclass self, jlong handle)
{
	struct ibv_context *context = handle_get(KIND_CONTEXT, handle);
	int flags;

	if (!context)
		return -EBADF;
	errno = 0;
	flags = fcntl(context->async_fd, F_GETFL);
	if (flags < 0 || fcntl(context->async_fd, F_SETFL, flags | O_NONBLOCK) < 0)
		return failure();
	return context->async_fd;
}

/* Takes one event of the device: its type, or -EAGAIN. */
EXT(jint, nextAsyncEvent)(JNIEnv *env, jclass self, jlong handle)
{
	struct ibv_context *context = handle_get(KIND_CONTEXT, handle);
	struct ibv_async_event event;

	if (!context)
		return -EBADF;
	errno = 0;
	if (ibv_get_async_event(context, &event))
		return failure();
	/* At once, since destroying the object it is about waits for it. */
	ibv_ack_async_event(&event);
	return event.event_type;
}

/* --- connection manager ----------------------------------------------------------------------- */

EXT(jlong, createId)(JNIEnv *env, jclass self, jlong channel)
{
	return cm_id_create(channel, RDMA_PS_TCP);
}

EXT(jint, destroyId)(JNIEnv *env, jclass self, jlong id)
{
	return cm_id_destroy(id);
}

EXT(jint, channelFd)(JNIEnv *env, jclass self, jlong handle)
{
	struct rdma_event_channel *channel = handle_get(KIND_CHANNEL, handle);

	return channel ? channel->fd : -EBADF;
}

EXT(jint, nextCmEvent)(JNIEnv *env, jclass self, jlong channel, jlong out)
{
	return cm_event_next(channel, pointer(out));
}

EXT(jlong, contextOf)(JNIEnv *env, jclass self, jlong id)
{
	return cm_id_context(id);
}

EXT(jint, portOf)(JNIEnv *env, jclass self, jlong handle)
{
	struct rdma_cm_id *id = id_of(handle);

	return id ? id->port_num : -EBADF;
}

EXT(jint, ipPortOf)(JNIEnv *env, jclass self, jlong handle)
{
	struct rdma_cm_id *id = id_of(handle);

	return id ? ntohs(rdma_get_src_port(id)) : -EBADF;
}

/* ip: 4 or 16 bytes in network order. */
static int fill_address(JNIEnv *env, jbyteArray ip, jint port, struct sockaddr_storage *out)
{
	memset(out, 0, sizeof(*out));
	if ((*env)->GetArrayLength(env, ip) == 4) {
		struct sockaddr_in *in = (struct sockaddr_in *)out;

		in->sin_family = AF_INET;
		in->sin_port = htons(port);
		(*env)->GetByteArrayRegion(env, ip, 0, 4, (jbyte *)&in->sin_addr);
		return 0;
	}
	if ((*env)->GetArrayLength(env, ip) == 16) {
		struct sockaddr_in6 *in6 = (struct sockaddr_in6 *)out;

		in6->sin6_family = AF_INET6;
		in6->sin6_port = htons(port);
		(*env)->GetByteArrayRegion(env, ip, 0, 16, (jbyte *)&in6->sin6_addr);
		return 0;
	}
	return -EAFNOSUPPORT;
}

EXT(jint, bind)(JNIEnv *env, jclass self, jlong handle, jbyteArray ip, jint port)
{
	struct sockaddr_storage address;
	struct rdma_cm_id *id = id_of(handle);
	int ret;

	if (!id)
		return -EBADF;
	ret = fill_address(env, ip, port, &address);
	if (ret)
		return ret;
	return negative_errno(rdma_bind_addr(id, (struct sockaddr *)&address));
}

EXT(jint, resolve)
(JNIEnv *env, jclass self, jlong handle, jbyteArray ip, jint port, jint timeout_ms)
{
	struct sockaddr_storage address;
	struct rdma_cm_id *id = id_of(handle);
	int ret;

	if (!id)
		return -EBADF;
	ret = fill_address(env, ip, port, &address);
	if (ret)
		return ret;
	return negative_errno(
		rdma_resolve_addr(id, NULL, (struct sockaddr *)&address, timeout_ms));
}

static int set_byte_option(jlong handle, int option, jint value)
{
	struct rdma_cm_id *id = id_of(handle);
	uint8_t byte = value;

	if (!id)
		return -EBADF;
	return negative_errno(rdma_set_option(id, RDMA_OPTION_ID, option, &byte, sizeof(byte)));
}

EXT(jint, setTypeOfService)(JNIEnv *env, jclass self, jlong id, jint value)
{
	return set_byte_option(id, RDMA_OPTION_ID_TOS, value);
}

EXT(jint, setAckTimeout)(JNIEnv *env, jclass self, jlong id, jint exponent)
{
	return set_byte_option(id, RDMA_OPTION_ID_ACK_TIMEOUT, exponent);
}

static int copy_private_data(JNIEnv *env, jbyteArray data, uint8_t *out)
{
	jsize length = data ? (*env)->GetArrayLength(env, data) : 0;

	if (length > MAX_PRIVATE_DATA)
		return -EINVAL;
	if (length)
		(*env)->GetByteArrayRegion(env, data, 0, length, (jbyte *)out);
	return length;
}

typedef int (*conn_call)(struct rdma_cm_id *id, struct rdma_conn_param *param);

static int call_with_param(JNIEnv *env, conn_call call, jlong handle, jbyteArray data,
			   jint responder_resources, jint initiator_depth, jint retry,
			   jint rnr_retry)
{
	uint8_t private_data[MAX_PRIVATE_DATA];
	struct rdma_cm_id *id = id_of(handle);
	struct rdma_conn_param param = {
		.private_data = private_data,
		.responder_resources = responder_resources,
		.initiator_depth = initiator_depth,
		.retry_count = retry,
		.rnr_retry_count = rnr_retry,
	};
	int length;

	if (!id)
		return -EBADF;
	length = copy_private_data(env, data, private_data);
	if (length < 0)
		return length;
	param.private_data_len = length;
	return negative_errno(call(id, &param));
}

EXT(jint, connect)
(JNIEnv *env, jclass self, jlong id, jbyteArray data, jint responder_resources,
 jint initiator_depth, jint retry, jint rnr_retry)
{
	return call_with_param(env, rdma_connect, id, data, responder_resources, initiator_depth,
			       retry, rnr_retry);
}

EXT(jint, accept)
(JNIEnv *env, jclass self, jlong id, jbyteArray data, jint responder_resources,
 jint initiator_depth, jint rnr_retry)
{
	return call_with_param(env, rdma_accept, id, data, responder_resources, initiator_depth, 0,
			       rnr_retry);
}

EXT(jint, reject)(JNIEnv *env, jclass self, jlong handle, jbyteArray data)
{
	uint8_t private_data[MAX_PRIVATE_DATA];
	struct rdma_cm_id *id = id_of(handle);
	int length;

	if (!id)
		return -EBADF;
	length = copy_private_data(env, data, private_data);
	if (length < 0)
		return length;
	return negative_errno(rdma_reject(id, private_data, length));
}

/* --- queue pairs and completions --------------------------------------------------------------- */

EXT(jint, queryQp)(JNIEnv *env, jclass self, jlong handle, jintArray out)
{
	struct ibv_qp *qp = handle_get(KIND_QP, handle);
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr attr;
	jint values[7];
	int ret;

	if (!qp)
		return -EBADF;
	memset(&init, 0, sizeof(init));
	memset(&attr, 0, sizeof(attr));
	errno = 0;
	ret = negative_errno(ibv_query_qp(qp, &attr,
					  IBV_QP_STATE | IBV_QP_CAP | IBV_QP_MAX_QP_RD_ATOMIC |
						  IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT |
						  IBV_QP_PATH_MTU,
					  &init));
	if (ret)
		return ret;
	values[0] = attr.qp_state;
	values[1] = init.cap.max_send_wr;
	values[2] = init.cap.max_send_sge;
	values[3] = attr.max_rd_atomic;
	values[4] = attr.timeout;
	values[5] = attr.retry_cnt;
	values[6] = attr.path_mtu;
	(*env)->SetIntArrayRegion(env, out, 0, 7, values);
	return 0;
}

EXT(jlong, createChain)(JNIEnv *env, jclass self, jint capacity)
{
	struct chain *chain;
	int64_t ret = -ENOMEM;
	int i;

	if (capacity < 1)
		return -EINVAL;
	chain = calloc(1, sizeof(*chain));
	if (!chain)
		return ret;
	chain->capacity = capacity;
	chain->requests = calloc(capacity, sizeof(*chain->requests));
	if (!chain->requests)
		goto err_free_chain;
	chain->targets = calloc(capacity, sizeof(*chain->targets));
	if (!chain->targets)
		goto err_free_requests;
	for (i = 0; i < capacity; i++) {
		struct ibv_send_wr *request = &chain->requests[i];

		request->opcode = IBV_WR_RDMA_READ;
		request->sg_list = &chain->targets[i];
		request->num_sge = 1;
		request->next = i + 1 < capacity ? request + 1 : NULL;
	}
	ret = handle_open(KIND_CHAIN, chain);
	if (ret < 0)
		goto err_free_targets;
	return ret;

err_free_targets:
	free(chain->targets);
err_free_requests:
	free(chain->requests);
err_free_chain:
	free(chain);
	return ret;
}

EXT(jint, destroyChain)(JNIEnv *env, jclass self, jlong handle)
{
	struct chain *chain = handle_close(KIND_CHAIN, handle);

	if (!chain)
		return -EBADF;
	free(chain->targets);
	free(chain->requests);
	free(chain);
	return 0;
}

/*
 * Posts count reads, written by Java at address, with one doorbell; only the last is signaled.
 * Request i gets the work request id first_wr_id + i. After a failure some may have been posted:
 * the queue pair must be destroyed.
 */
EXT(jint, postReads)
(JNIEnv *env, jclass self, jlong qp_handle, jlong chain_handle, jlong address, jint count,
 jlong first_wr_id)
{
	struct chain *chain = handle_get(KIND_CHAIN, chain_handle);
	struct ibv_qp *qp = handle_get(KIND_QP, qp_handle);
	const struct read *reads = pointer(address);
	struct ibv_send_wr *last;
	struct ibv_send_wr *next;
	struct ibv_send_wr *bad;
	int ret;
	int i;

	if (!qp || !chain)
		return -EBADF;
	if (count < 1 || count > chain->capacity)
		return -EINVAL;
	for (i = 0; i < count; i++) {
		struct ibv_send_wr *request = &chain->requests[i];

		request->wr_id = (uint64_t)first_wr_id + i;
		request->wr.rdma.remote_addr = reads[i].remote_address;
		request->wr.rdma.rkey = reads[i].remote_key;
		chain->targets[i].addr = reads[i].local_address;
		chain->targets[i].length = reads[i].length;
		chain->targets[i].lkey = reads[i].local_key;
	}
	last = &chain->requests[count - 1];
	next = last->next;
	last->next = NULL;
	last->send_flags = IBV_SEND_SIGNALED;
	errno = 0;
	ret = negative_errno(ibv_post_send(qp, chain->requests, &bad));
	last->send_flags = 0;
	last->next = next;
	return ret;
}

EXT(jint, pollCq)(JNIEnv *env, jclass self, jlong handle, jint count, jlong out)
{
	struct completion_queue *record = handle_get(KIND_CQ, handle);

	return record ? ibv_poll_cq(record->cq, count, pointer(out)) : -EBADF;
}

EXT(jint, requestNotification)(JNIEnv *env, jclass self, jlong handle)
{
	struct completion_queue *record = handle_get(KIND_CQ, handle);

	errno = 0;
	return record ? negative_errno(ibv_req_notify_cq(record->cq, 0)) : -EBADF;
}

EXT(jint, compChannelFd)(JNIEnv *env, jclass self, jlong handle)
{
	struct comp_channel *record = handle_get(KIND_COMP_CHANNEL, handle);

	return record ? record->channel->fd : -EBADF;
}

/* Takes and acknowledges the events that are there, without waiting; returns how many. */
EXT(jint, takeCqEvents)(JNIEnv *env, jclass self, jlong handle)
{
	struct comp_channel *record = handle_get(KIND_COMP_CHANNEL, handle);
	struct ibv_cq *cq;
	void *context;
	int count = 0;

	if (!record)
		return -EBADF;
	while (!ibv_get_cq_event(record->channel, &cq, &context)) {
		ibv_ack_cq_events(cq, 1);
		count++;
	}
	return count;
}

/* --- memory regions ----------------------------------------------------------------------------- */

EXT(jlong, registerMemory)
(JNIEnv *env, jclass self, jlong pd, jlong address, jlong length, jint access, jintArray keys)
{
	struct ibv_mr *mr;
	int64_t handle = mr_register(pd, address, length, access, &mr);
	jint values[2];

	if (handle < 0)
		return handle;
	values[0] = (jint)mr->lkey;
	values[1] = (jint)mr->rkey;
	(*env)->SetIntArrayRegion(env, keys, 0, 2, values);
	return handle;
}

EXT(jint, deregisterMemory)(JNIEnv *env, jclass self, jlong mr)
{
	return mr_deregister(mr);
}

EXT(jint, probeRegistration)(JNIEnv *env, jclass self, jlong pd, jlong length)
{
	struct ibv_mr *mr;
	int64_t handle;
	void *memory;
	int ret = 0;

	errno = 0;
	memory = mmap(NULL, length, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (memory == MAP_FAILED)
		return failure();
	handle = mr_register(pd, (uintptr_t)memory, length, IBV_ACCESS_REMOTE_READ, &mr);
	if (handle < 0)
		ret = (int)handle;
	else
		ret = mr_deregister(handle);
	munmap(memory, length);
	return ret;
}

/* --- waiting -------------------------------------------------------------------------------------- */

EXT(jint, createEventFd)(JNIEnv *env, jclass self)
{
	int fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);

	return fd < 0 ? failure() : fd;
}

EXT(jint, closeFd)(JNIEnv *env, jclass self, jint fd)
{
	return close(fd) ? failure() : 0;
}

EXT(jint, signal)(JNIEnv *env, jclass self, jint fd)
{
	uint64_t one = 1;

	/* EAGAIN: the counter is full, so the waiter will wake anyway. */
	return write(fd, &one, sizeof(one)) < 0 && errno != EAGAIN ? failure() : 0;
}

EXT(jint, clearSignal)(JNIEnv *env, jclass self, jint fd)
{
	uint64_t count;

	return read(fd, &count, sizeof(count)) < 0 && errno != EAGAIN ? failure() : 0;
}

/* Waits until one of the descriptors (-1: none) is readable: bit i for descriptor i, 0: time is up. */
EXT(jint, waitReadable)
(JNIEnv *env, jclass self, jint fd0, jint fd1, jint fd2, jint timeout_ms)
{
	struct pollfd fds[3] = {
		{ .fd = fd0, .events = POLLIN },
		{ .fd = fd1, .events = POLLIN },
		{ .fd = fd2, .events = POLLIN },
	};
	int ready = 0;
	int i;

	if (poll(fds, 3, timeout_ms) < 0)
		return errno == EINTR ? 0 : failure();
	for (i = 0; i < 3; i++)
		if (fds[i].revents)
			ready |= 1 << i;
	return ready;
}
