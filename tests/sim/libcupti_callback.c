// SPDX-License-Identifier: BSD-3-Clause
/*
 * libcupti.so.13, the simulated CUPTI: its one subscriber, who is called when a node comes into a graph.
 * A callback runs where the node is made, in the application's thread and call.
 */
#include <pthread.h>
#include <stdbool.h>

#include "libcupti.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct {
	cupti_callback_fn callback; /* NULL: there is none */
	void *ctx;
	bool created, cloned;
} subscriber;

int cuptiSubscribe(void **out, cupti_callback_fn callback, void *ctx)
{
	int result = out && callback ? cupti_enter(1) : CUPTI_ERROR_INVALID_PARAMETER;

	if (result)
		return result;
	pthread_mutex_lock(&lock);
	if (subscriber.callback || cupti_faults()->busy) {
		result = CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED;
	} else {
		*out = &subscriber;
		subscriber.ctx = ctx;
		__atomic_store_n(&subscriber.callback, callback, __ATOMIC_RELEASE);
	}
	pthread_mutex_unlock(&lock);
	return result;
}

/* With the lock held. */
static bool is_subscriber(const void *whose)
{
	return whose == &subscriber && subscriber.callback;
}

int cuptiUnsubscribe(void *whose)
{
	bool is;

	pthread_mutex_lock(&lock);
	is = is_subscriber(whose);
	if (is) {
		subscriber.created = subscriber.cloned = false;
		__atomic_store_n(&subscriber.callback, NULL, __ATOMIC_RELEASE);
	}
	pthread_mutex_unlock(&lock);
	cupti_listen();
	return is ? CUPTI_SUCCESS : CUPTI_ERROR_INVALID_PARAMETER;
}

int cuptiEnableCallback(uint32_t enable, void *whose, int domain, uint32_t cbid)
{
	bool *which = domain != DOMAIN_RESOURCE ? NULL :
		      cbid == RESOURCE_NODE_CREATED ? &subscriber.created :
		      cbid == RESOURCE_NODE_CLONED ? &subscriber.cloned : NULL;
	bool is;

	if (cupti_faults()->deaf)
		return CUPTI_ERROR_NOT_INITIALIZED;
	pthread_mutex_lock(&lock);
	is = which && is_subscriber(whose);
	if (is)
		__atomic_store_n(which, enable, __ATOMIC_RELAXED);
	pthread_mutex_unlock(&lock);
	cupti_listen();
	return is ? CUPTI_SUCCESS : CUPTI_ERROR_INVALID_PARAMETER;
}

/* Both callbacks that there are; of other domains nothing ever happens. */
int cuptiEnableDomain(uint32_t enable, void *whose, int domain)
{
	bool is;

	pthread_mutex_lock(&lock);
	is = is_subscriber(whose);
	if (is && domain == DOMAIN_RESOURCE)
		subscriber.created = subscriber.cloned = enable;
	pthread_mutex_unlock(&lock);
	cupti_listen();
	return is ? CUPTI_SUCCESS : CUPTI_ERROR_INVALID_PARAMETER;
}

void cupti_callback_forget(void)
{
	pthread_mutex_lock(&lock);
	subscriber.created = subscriber.cloned = false;
	__atomic_store_n(&subscriber.callback, NULL, __ATOMIC_RELEASE);
	pthread_mutex_unlock(&lock);
}

bool cupti_callback_is_any(void)
{
	return __atomic_load_n(&subscriber.callback, __ATOMIC_ACQUIRE) &&
	       (subscriber.created || subscriber.cloned);
}

/* Handles of nodes are their numbers: nothing follows them. */
void cupti_callback_node(const struct gpusim_trace_node *node)
{
	cupti_callback_fn callback = __atomic_load_n(&subscriber.callback, __ATOMIC_ACQUIRE);
	const struct cupti_graph_data graph = {
		.node = (void *)(uintptr_t)node->node,
		.original_node = (void *)(uintptr_t)node->original
	};
	const struct cupti_resource_data data = { .descriptor = (void *)&graph };

	if (callback && (node->original ? subscriber.cloned : subscriber.created))
		callback(subscriber.ctx, DOMAIN_RESOURCE,
			 node->original ? RESOURCE_NODE_CLONED : RESOURCE_NODE_CREATED, &data);
}

int cuptiGetGraphNodeId(void *node, uint64_t *id)
{
	if (!node || !id)
		return CUPTI_ERROR_INVALID_PARAMETER;
	*id = (uint64_t)(uintptr_t)node;
	return CUPTI_SUCCESS;
}
