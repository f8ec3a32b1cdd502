// SPDX-License-Identifier: BSD-3-Clause
/*
 * CUPTI itself names no client before 13.0, and then only to who subscribes for good. The callback
 * runs on the application's threads, inside the calls that make graphs: no lock, no allocation, one
 * record.
 */
#include "helper/cupti_client.h"

#include <link.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "gpuprof/work.h"
#include "helper/clock.h"

/* ---- other clients -------------------------------------------------------------------------- */

/* The first that is loaded, the likeliest first: a tool's own library before a framework's. */
static const struct {
	const char *library;	/* how its file's name begins */
	const char *name;
} clients[] = {
	{ "libToolsInjection", "probably Nsight Systems" },
	{ "libcuda-injection", "probably Nsight Compute" },
	{ "libhpcrun", "probably HPCToolkit" },
	{ "libparcagpu", "probably parcagpu" },
	{ "libtorch_cpu.so", "probably torch.profiler" },
	{ "xla_cuda_plugin", "probably JAX's profiler" },
	{ "libtensorflow", "probably TensorFlow's profiler" },
};
#define N_CLIENTS (sizeof(clients) / sizeof(clients[0]))

#define LIBCUPTI "libcupti.so"

static int on_object(struct dl_phdr_info *info, size_t size, void *ctx)
{
	const char *slash = info->dlpi_name ? strrchr(info->dlpi_name, '/') : NULL;
	size_t *best = ctx;

	(void)size;
	for (size_t i = 0; slash && i < *best; i++)
		if (!strncmp(slash + 1, clients[i].library, strlen(clients[i].library)))
			*best = i;
	return 0;
}

const char *cupti_client_name(void)
{
	size_t best = N_CLIENTS;

	dl_iterate_phdr(on_object, &best);
	return best < N_CLIENTS ? clients[best].name : "another CUPTI client";
}

/* ---- who may come --------------------------------------------------------------------------- */

struct visit {
	unsigned long long loads;	/* of objects, ever */
	size_t best;
	bool linked;
};

/* Relocated where the loader does that. */
static const char *strings_of(const struct dl_phdr_info *info, const ElfW(Dyn) *dynamic)
{
	for (; dynamic->d_tag != DT_NULL; dynamic++)
		if (dynamic->d_tag == DT_STRTAB)
			return (const char *)(dynamic->d_un.d_ptr < info->dlpi_addr ?
					      dynamic->d_un.d_ptr + info->dlpi_addr :
					      dynamic->d_un.d_ptr);
	return NULL;
}

static bool needs_cupti(const struct dl_phdr_info *info)
{
	for (unsigned int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Dyn) *d = (const void *)(info->dlpi_addr + info->dlpi_phdr[i].p_vaddr);
		const char *strings = info->dlpi_phdr[i].p_type == PT_DYNAMIC ?
				      strings_of(info, d) : NULL;

		for (; strings && d->d_tag != DT_NULL; d++)
			if (d->d_tag == DT_NEEDED &&
			    !strncmp(strings + d->d_un.d_val, LIBCUPTI, strlen(LIBCUPTI)))
				return true;
	}
	return false;
}

static int on_visit(struct dl_phdr_info *info, size_t size, void *ctx)
{
	struct visit *v = ctx;

	if (info->dlpi_adds == v->loads)
		return 1;	/* nothing was loaded since the last time */
	v->linked |= needs_cupti(info);
	return on_object(info, size, &v->best);
}

static int on_loads(struct dl_phdr_info *info, size_t size, void *ctx)
{
	(void)size;
	*(unsigned long long *)ctx = info->dlpi_adds;
	return 1;
}

const char *cupti_client_expected(void)
{
	static struct visit last = { .best = N_CLIENTS };
	unsigned long long loads = 0;

	/* Before, so that what comes meanwhile is looked at the next time. */
	dl_iterate_phdr(on_loads, &loads);
	dl_iterate_phdr(on_visit, &last);
	last.loads = loads;
	return last.best < N_CLIENTS ? clients[last.best].name :
	       last.linked ? "what is linked with libcupti" : NULL;
}

/* ---- our subscription ----------------------------------------------------------------------- */

static struct subscription {
	struct helper_ring *ring;
	const struct cupti *cupti;
	void *subscriber;
	bool held;
	bool wanted;		/* as it was asked for last */
	bool without;		/* it is wanted and not to be had */
	bool forgotten;		/* in a forked child */
} subscription;

static void on_callback(void *ctx, int domain, uint32_t cbid, const void *data)
{
	const struct cupti_resource *resource = data;
	struct subscription *s = ctx;
	struct gp_ring_node node = { .time_ns = clock_now_ns() };

	if (s->forgotten || domain != CUPTI_DOMAIN_RESOURCE || !resource || !resource->graph ||
	    s->cupti->node_id(resource->graph->node, &node.node))
		return;
	if (cbid == CUPTI_NODE_CLONED &&
	    (s->cupti->node_id(resource->graph->original, &node.original) || !node.original))
		return;
	node.tid = (uint32_t)syscall(SYS_gettid);
	helper_ring_send(s->ring, GP_RING_NODE, &node, sizeof(node));
}

void subscribe_open(struct helper_ring *r)
{
	subscription = (struct subscription){ .ring = r };
}

/* Why it is not to be had, for people. */
static void set_reason(const char *what, const char *why)
{
	struct gp_ring_head *head = subscription.ring->head;

	snprintf(head->unsubscribed, sizeof(head->unsubscribed), "%s%s%s", what, *why ? ": " : "",
		 why);
}

static void set_reason_code(const struct cupti *c, const char *what, int code)
{
	const char *text = "";

	if (c->result_string && c->result_string(code, &text))
		text = "";
	set_reason(what, text);
}

static const char *who_may_come(const struct cupti *c)
{
	const char *name = cupti_client_expected();

	return name ? name : c->was_mapped ? "what has loaded libcupti" : NULL;
}

static void release(const struct cupti *c)
{
	if (subscription.held)
		c->unsubscribe(subscription.subscriber);
	subscription.held = false;
	__atomic_store_n(&subscription.ring->head->subscribed_ns, 0, __ATOMIC_RELAXED);
}

/* Without all of what it is for it is not kept. */
static void take(const struct cupti *c)
{
	static const uint32_t wanted[] = { CUPTI_NODE_CREATED, CUPTI_NODE_CLONED };
	int code;

	if (!c->subscribe || !c->unsubscribe || !c->enable_callback || !c->node_id) {
		set_reason("this CUPTI has no callbacks for graphs", "");
		return;
	}
	subscription.cupti = c;
	code = c->subscribe(&subscription.subscriber, on_callback, &subscription);
	if (code) {
		set_reason_code(c, "cuptiSubscribe failed", code);
		return;
	}
	subscription.held = true;
	for (size_t i = 0; i < sizeof(wanted) / sizeof(wanted[0]) && !code; i++)
		code = c->enable_callback(1, subscription.subscriber, CUPTI_DOMAIN_RESOURCE,
					  wanted[i]);
	if (code) {
		set_reason_code(c, "cuptiEnableCallback failed", code);
		release(c);
		return;
	}
	*subscription.ring->head->unsubscribed = '\0';
	__atomic_store_n(&subscription.ring->head->subscribed_ns, clock_now_ns(), __ATOMIC_RELAXED);
}

void subscribe_follow(const struct cupti *c, bool wanted)
{
	const char *who = wanted && !subscription.without ? who_may_come(c) : NULL;

	if (wanted && !subscription.wanted)
		*subscription.ring->head->unsubscribed = '\0';
	subscription.wanted = wanted;
	if (!wanted || who)
		release(c);
	if (who)
		set_reason("CUPTI is left free for another client", who);
	else if (wanted && !subscription.held && !subscription.without)
		take(c);
	subscription.without = wanted && !subscription.held;
}

bool subscribe_is_held(void)
{
	return subscription.held;
}

void subscribe_forget(void)
{
	subscription.forgotten = true;
	subscription.held = false;
}
