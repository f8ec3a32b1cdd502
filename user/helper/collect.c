// SPDX-License-Identifier: BSD-3-Clause
/*
 * CUPTI completes a buffer on a thread of its own or on whichever thread flushes; a lock keeps two
 * such apart. No thread of the application waits for it but where CUPTI lets it complete a buffer
 * itself.
 */
#include "helper/collect.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "gpuprof/ring.h"
#include "gpuprof/work.h"
#include "helper/buffers.h"
#include "helper/calls_wanted.h"
#include "helper/clock.h"
#include "helper/names.h"

#define CLOCK_TRIES 20
#define KEPT_NS 10000000000ull	/* longer than kernels mostly take, which withhold a buffer */
#define KEPT_EVERY_NS 1000000000ull
#define GRAPH_NODES_MAX 20000000ull	/* less than CUPTI's 250 buffers of 100,000 */

/* ---- which calls ---------------------------------------------------------------------------- */

/*
 * Single functions where CUPTI can choose (12.5), since the whole of an API is mostly chatter;
 * before, all of the runtime and of the driver, by which programs launch too. A library refuses
 * numbers that are newer than itself, so single refusals mean nothing; one that refuses all of them
 * cannot choose.
 */
#define NUMBER(n) n,
static const uint16_t runtime[] = { CALLS_WANTED_RUNTIME(NUMBER) };
static const uint16_t driver[] = { CALLS_WANTED_DRIVER(NUMBER) };
static const uint16_t runtime_others[] = { CALLS_OTHERS_RUNTIME(NUMBER) };
static const uint16_t driver_others[] = { CALLS_OTHERS_DRIVER(NUMBER) };

#define N(list) (sizeof(list) / sizeof((list)[0]))

/* Returns how many it took. */
static size_t choose(int (*one)(uint32_t cbid, uint8_t enable), const uint16_t *cbids, size_t n,
		     uint8_t on)
{
	size_t taken = 0;

	for (size_t i = 0; one && i < n; i++)
		taken += one(cbids[i], on) == CUPTI_OK;
	return taken;
}

static size_t choose_wanted(const struct cupti *c, uint8_t on)
{
	return choose(c->enable_runtime_api, runtime, N(runtime), on) +
	       choose(c->enable_driver_api, driver, N(driver), on);
}

static void choose_others(const struct cupti *c, uint8_t on)
{
	choose(c->enable_runtime_api, runtime_others, N(runtime_others), on);
	choose(c->enable_driver_api, driver_others, N(driver_others), on);
}

/* others: also functions that launch nothing and do not wait (GP_RING_WANT_ALL_CALLS). How it is
 * done: GP_CALLS_*; or, negative, CUPTI's code, *what: the function that failed. */
static int calls_enable(const struct cupti *c, bool others, const char **what)
{
	int code;

	*what = "cuptiActivityEnable";
	if (choose_wanted(c, 1)) {
		if (others)
			choose_others(c, 1);
		return GP_CALLS_SINGLE;
	}
	code = c->enable(CUPTI_RUNTIME);
	if (!code)
		code = c->enable(CUPTI_DRIVER);
	return code ? -code : GP_CALLS_WHOLE;
}

static void calls_disable(const struct cupti *c)
{
	if (choose_wanted(c, 0)) {
		choose_others(c, 0);
		return;
	}
	c->disable(CUPTI_RUNTIME);
	c->disable(CUPTI_DRIVER);
}

/* ---- our subscription ----------------------------------------------------------------------- */

/*
 * Our subscription to CUPTI, while a reader wants it: then the nodes of graphs are sent as they
 * are made. CUPTI has one subscriber, and a profiler that is refused once may stay without
 * events for good: so we do not subscribe where another client may come (cupti_client_expected),
 * and unsubscribe when such a library is loaded. The ring's head has the reason why a reader's
 * wish was refused. The callback runs on the application's threads, inside the calls that make
 * graphs: no lock, no allocation, one record.
 */
static struct subscription {
	struct helper_ring *ring;
	const struct cupti *cupti;
	void *subscriber;
	bool held;
	bool wanted;		/* the latest request */
	bool without;		/* it is wanted and not to be had */
	bool forgotten;		/* in a forked child */
} subscription;

static void on_graph_node(void *ctx, int domain, uint32_t cbid, const void *data)
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

static void subscribe_open(struct helper_ring *r)
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

static void release_subscription(const struct cupti *c)
{
	if (subscription.held)
		c->unsubscribe(subscription.subscriber);
	subscription.held = false;
	__atomic_store_n(&subscription.ring->head->subscribed_ns, 0, __ATOMIC_RELAXED);
}

/* Without all the callbacks it needs the subscription is not kept. */
static void take_subscription(const struct cupti *c)
{
	static const uint32_t wanted[] = { CUPTI_NODE_CREATED, CUPTI_NODE_CLONED };
	int code;

	if (!c->subscribe || !c->unsubscribe || !c->enable_callback || !c->node_id) {
		set_reason("this CUPTI has no callbacks for graphs", "");
		return;
	}
	subscription.cupti = c;
	code = c->subscribe(&subscription.subscriber, on_graph_node, &subscription);
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
		release_subscription(c);
		return;
	}
	*subscription.ring->head->unsubscribed = '\0';
	__atomic_store_n(&subscription.ring->head->subscribed_ns, clock_now_ns(), __ATOMIC_RELAXED);
}

/* Subscribes, keeps the subscription or gives it up; to be called again while it is wanted.
 * After giving it up, or failing to get it, the helper does not try again as long as the wish
 * lasts. */
static void subscribe_follow(const struct cupti *c, bool wanted)
{
	const char *who = wanted && !subscription.without ? who_may_come(c) : NULL;

	if (wanted && !subscription.wanted)
		*subscription.ring->head->unsubscribed = '\0';
	subscription.wanted = wanted;
	if (!wanted || who)
		release_subscription(c);
	if (who)
		set_reason("CUPTI is left free for another client", who);
	else if (wanted && !subscription.held && !subscription.without)
		take_subscription(c);
	subscription.without = wanted && !subscription.held;
}

static bool subscribe_is_held(void)
{
	return subscription.held;
}

/* In a forked child: callbacks are ignored. */
static void subscribe_forget(void)
{
	subscription.forgotten = true;
	subscription.held = false;
}

/* ---- records -------------------------------------------------------------------------------- */

/* Which of our kinds each of CUPTI's gives. */
static const struct kind {
	uint8_t cupti;
	uint8_t ours;
	bool needed;		/* without it the others are not worth having */
} kinds_of[] = {
	{ CUPTI_KERNEL, GP_RING_KERNEL, true }, { CUPTI_MEMCPY, GP_RING_COPY, true },
	{ CUPTI_MEMCPY_PEER, GP_RING_COPY, true }, { CUPTI_MEMSET, GP_RING_SET, true },
	{ CUPTI_MEMORY2, GP_RING_MEMORY, false },
};
#define N_KINDS (sizeof(kinds_of) / sizeof(kinds_of[0]))

static struct collector {
	pthread_mutex_t lock;
	struct helper_ring *ring;
	const struct cupti *cupti;	/* NULL: never armed */
	struct record_sizes sizes;
	struct buffers buffers;
	struct names *names;
	uint64_t refused;		/* of buffers.refused, already sent */
	uint64_t enabled;		/* bits of CUPTI's kinds */
	uint32_t calls;			/* GP_CALLS_*; 0: none */
	bool all_calls;			/* of these, also those that launch nothing */
	uint64_t arrivals;		/* buffers that CUPTI requested or returned */
	/* records of nodes since all was enabled; before it is renewed */
	uint64_t nodes, nodes_max;
	uint64_t nodes_lost;		/* of them without times */
	/* it was; that did not help, so graphs are recorded whole */
	bool renewed, whole;
	uint64_t flushed_ns;		/* began: records lost now are later than that */
	uint64_t kept_at_ns;		/* when CUPTI's unreturned buffers were checked */
	bool forgotten;			/* in a forked child */
} collector = { .lock = PTHREAD_MUTEX_INITIALIZER };

int collect_open(struct helper_ring *r, struct names *names)
{
	const char *most = getenv("GPUPROF_GRAPH_NODES");

	collector.nodes_max = most ? strtoull(most, NULL, 10) : 0;
	if (!collector.nodes_max)
		collector.nodes_max = GRAPH_NODES_MAX;
	collector.ring = r;
	collector.names = names;
	subscribe_open(r);
	return collector.buffers.memory ? 0 : buffers_open(&collector.buffers);
}

/* ---- records -------------------------------------------------------------------------------- */

static void send_loss(uint32_t cause, uint64_t count, uint32_t kinds)
{
	struct gp_ring_loss loss = { .cause = cause, .count = count, .kinds = kinds,
				     .since_ns = collector.flushed_ns, .until_ns = clock_now_ns() };

	if (count)
		helper_ring_send(collector.ring, GP_RING_LOSS, &loss, sizeof(loss));
}

static uint32_t count_node(uint32_t graph, bool has_time)
{
	collector.nodes += graph != 0;
	collector.nodes_lost += graph && !has_time;
	return has_time ? 0 : GP_LOSS_NO_TIME;
}

/* Sends one record. Returns the reason it was lost, or 0. */
static uint32_t on_record(const void *rec, uint32_t kind)
{
	size_t bytes = kind < CUPTI_KINDS ? collector.sizes.bytes[kind] : 0;
	union record out;

	if (!record_read(kind, rec, bytes, &out))
		return GP_LOSS_UNKNOWN;
	switch (kind) {
	case CUPTI_KERNEL:
		if (count_node(out.kernel.graph, out.kernel.start || out.kernel.end))
			return GP_LOSS_NO_TIME;
		out.kernel.name = names_of(collector.names, collector.ring,
					   record_kernel_name(rec, bytes));
		helper_ring_send(collector.ring, GP_RING_KERNEL, &out.kernel, sizeof(out.kernel));
		break;
	case CUPTI_MEMCPY:
	case CUPTI_MEMCPY_PEER:
	case CUPTI_MEMSET:
		if (count_node(out.copy.graph, out.copy.start || out.copy.end))
			return GP_LOSS_NO_TIME;
		helper_ring_send(collector.ring, kind == CUPTI_MEMSET ? GP_RING_SET : GP_RING_COPY,
				 &out.copy, sizeof(out.copy));
		break;
	case CUPTI_GRAPH_TRACE:
		helper_ring_send(collector.ring, GP_RING_GRAPH, &out.graph, sizeof(out.graph));
		break;
	case CUPTI_MEMORY2:
		helper_ring_send(collector.ring, GP_RING_MEMORY, &out.memory, sizeof(out.memory));
		break;
	default:
		helper_ring_send(collector.ring, GP_RING_API, &out.api, sizeof(out.api));
	}
	return 0;
}

static void on_request(uint8_t **buffer, size_t *bytes, size_t *max_records)
{
	__atomic_fetch_add(&collector.arrivals, 1, __ATOMIC_RELAXED);
	*buffer = buffers_take(&collector.buffers,
			       __atomic_load_n(&collector.flushed_ns, __ATOMIC_RELAXED));
	*bytes = BUFFER_BYTES;
	*max_records = 0;	/* as many as fit */
}

/* The kinds that cannot be read; 0: among them an unknown one. */
static uint32_t add_unread(uint32_t kinds, bool first, uint32_t kind)
{
	static const uint8_t sent_as[CUPTI_KINDS] = {
		[CUPTI_KERNEL] = GP_RING_KERNEL, [CUPTI_MEMCPY] = GP_RING_COPY,
		[CUPTI_MEMCPY_PEER] = GP_RING_COPY, [CUPTI_MEMSET] = GP_RING_SET,
		[CUPTI_GRAPH_TRACE] = GP_RING_GRAPH, [CUPTI_MEMORY2] = GP_RING_MEMORY,
		[CUPTI_RUNTIME] = GP_RING_API, [CUPTI_DRIVER] = GP_RING_API,
	};
	uint32_t sent = kind < CUPTI_KINDS ? sent_as[kind] : 0;

	return sent && (first || kinds) ? kinds | 1u << sent : 0;
}

static void walk(uint8_t *buffer, size_t valid_bytes)
{
	uint64_t lost[GP_LOSS_UNKNOWN + 1] = { 0 };
	uint32_t cause, unread = 0;
	void *rec = NULL;
	uint32_t kind;

	while (!collector.cupti->next(buffer, valid_bytes, &rec)) {
		memcpy(&kind, rec, sizeof(kind));
		cause = on_record(rec, kind);
		if (cause == GP_LOSS_UNKNOWN)
			unread = add_unread(unread, !lost[cause], kind);
		lost[cause]++;
	}
	send_loss(GP_LOSS_NO_TIME, lost[GP_LOSS_NO_TIME], 0);
	send_loss(GP_LOSS_UNKNOWN, lost[GP_LOSS_UNKNOWN], unread);
}

static void on_complete(void *context, uint32_t stream, uint8_t *buffer, size_t bytes,
			size_t valid_bytes)
{
	(void)context;
	(void)stream;
	(void)bytes;
	__atomic_fetch_add(&collector.arrivals, 1, __ATOMIC_RELAXED);
	if (!buffer || collector.forgotten || buffers_is_waste(&collector.buffers, buffer))
		return;		/* counted when it was given out */
	pthread_mutex_lock(&collector.lock);
	if (valid_bytes && valid_bytes <= BUFFER_BYTES)
		walk(buffer, valid_bytes);
	pthread_mutex_unlock(&collector.lock);
	buffers_give(&collector.buffers, buffer, valid_bytes);
}

/* ---- arming and draining -------------------------------------------------------------------- */

static void on_callback(void *ctx, int domain, uint32_t cbid, const void *data)
{
	(void)ctx;
	(void)domain;
	(void)cbid;
	(void)data;
}

int collect_is_occupied(const struct cupti *c)
{
	void *subscriber;
	int code;

	if (!c->subscribe || !c->unsubscribe || subscribe_is_held())
		return 0;
	code = c->subscribe(&subscriber, on_callback, NULL);
	if (!code)
		c->unsubscribe(subscriber);
	return code == CUPTI_BUSY;
}

static int enable_calls(bool all, const char **what)
{
	int how;

	if (collector.calls && (collector.all_calls || !all))
		return 0;
	how = calls_enable(collector.cupti, all, what);
	if (how < 0)
		return -how;
	collector.calls = (uint32_t)how;
	collector.all_calls = all;
	__atomic_store_n(&collector.ring->head->calls, collector.calls, __ATOMIC_RELAXED);
	return 0;
}

/* Nodes or whole graphs: CUPTI records one or the other. One that cannot record whole ones records
 * nodes. */
static void choose_graphs(uint32_t kinds)
{
	const uint64_t bit = 1ull << CUPTI_GRAPH_TRACE;
	bool whole = kinds >> GP_RING_GRAPH & 1 &&
		     (collector.whole || !(kinds & GP_RING_WANT_NODES));

	if (whole && !(collector.enabled & bit) && !collector.cupti->enable(CUPTI_GRAPH_TRACE))
		collector.enabled |= bit;
	if (!whole && collector.enabled & bit && !collector.cupti->disable(CUPTI_GRAPH_TRACE))
		collector.enabled &= ~bit;
}

static int enable(uint32_t kinds, const char **what)
{
	*what = "cuptiActivityEnable";
	subscribe_follow(collector.cupti, kinds & GP_RING_WANT_SUBSCRIBED);
	for (size_t i = 0; i < N_KINDS; i++) {
		uint64_t bit = 1ull << kinds_of[i].cupti;
		int code;

		if (!(kinds >> kinds_of[i].ours & 1) || collector.enabled & bit)
			continue;
		code = collector.cupti->enable(kinds_of[i].cupti);
		if (code && kinds_of[i].needed)
			return code;
		collector.enabled |= code ? 0 : bit;
	}
	choose_graphs(kinds);
	return kinds >> GP_RING_API & 1 ? enable_calls(kinds & GP_RING_WANT_ALL_CALLS, what) : 0;
}

int collect_arm(const struct cupti *c, uint32_t kinds, const char **what)
{
	int code;

	collector.cupti = c;
	*what = "cuptiActivityRegisterCallbacks";
	code = c->register_callbacks(on_request, on_complete);
	if (code)
		return code;
	collector.flushed_ns = clock_now_ns();
	if (c->set_thread_id_type)
		c->set_thread_id_type(CUPTI_THREAD_ID_SYSTEM);
	records_measure(c->next, &collector.sizes);
	collector.ring->head->kernel_bytes = collector.sizes.bytes[CUPTI_KERNEL];
	code = enable(kinds, what);
	if (code)
		collect_drain(0);
	return code;
}

void collect_more(uint32_t kinds)
{
	const char *what;

	enable(kinds, &what);
}

void collect_unseen(uint64_t since_ns, uint64_t until_ns)
{
	struct gp_ring_loss loss = { .cause = GP_LOSS_UNSEEN, .since_ns = since_ns,
				     .until_ns = until_ns };

	helper_ring_send(collector.ring, GP_RING_LOSS, &loss, sizeof(loss));
}

static struct buffers_kept note_kept(uint64_t before_ns)
{
	struct buffers_kept kept = buffers_kept(&collector.buffers, before_ns);
	struct gp_ring_head *head = collector.ring->head;

	__atomic_store_n(&head->kept_since_ns, kept.since_ns, __ATOMIC_RELAXED);
	__atomic_store_n(&head->kept_bytes, kept.bytes, __ATOMIC_RELAXED);
	return kept;
}

void collect_note_kept(uint64_t before_ns)
{
	if (collector.buffers.memory && !collector.forgotten)
		note_kept(before_ns);
}

static void lose_kept(void)
{
	uint64_t now_ns = clock_now_ns();
	struct buffers_kept kept = note_kept(now_ns);
	struct gp_ring_loss loss = { .cause = GP_LOSS_KEPT, .since_ns = kept.since_ns,
				     .until_ns = now_ns };

	if (kept.bytes)
		helper_ring_send(collector.ring, GP_RING_LOSS, &loss, sizeof(loss));
}

void collect_flush(uint32_t flag)
{
	uint64_t refused = __atomic_load_n(&collector.buffers.refused, __ATOMIC_RELAXED);
	uint64_t now_ns = clock_now_ns();
	size_t dropped = 0;

	collector.cupti->flush_all(flag);
	if (collector.cupti->dropped(NULL, 0, &dropped))
		dropped = 0;
	pthread_mutex_lock(&collector.lock);
	send_loss(GP_LOSS_DROPPED, dropped, 0);
	send_loss(GP_LOSS_BUFFERS, refused - collector.refused, 0);
	collector.refused = refused;
	__atomic_store_n(&collector.flushed_ns, now_ns, __ATOMIC_RELAXED);
	pthread_mutex_unlock(&collector.lock);
	if (now_ns - collector.kept_at_ns < KEPT_EVERY_NS)
		return;
	collector.kept_at_ns = now_ns;
	collect_note_kept(now_ns - KEPT_NS);
}

static void disable_works(void)
{
	for (uint32_t kind = 0; kind < CUPTI_KINDS; kind++)
		if (collector.enabled >> kind & 1)
			collector.cupti->disable(kind);
	collector.enabled = 0;
}

void collect_renew(uint32_t kinds)
{
	const char *what;
	uint64_t since_ns;

	if (!collector.nodes_lost && collector.nodes < collector.nodes_max)
		return;
	collector.whole |= collector.renewed && collector.nodes_lost &&
			   collector.nodes < collector.nodes_max / 2;
	since_ns = clock_now_ns();
	disable_works();
	collect_flush(0);
	enable(kinds, &what);
	collect_unseen(since_ns, clock_now_ns());
	collector.renewed = true;
	collector.nodes = collector.nodes_lost = 0;
}

void collect_drain(uint32_t flag)
{
	disable_works();
	if (collector.calls)
		calls_disable(collector.cupti);
	collector.calls = 0;
	collector.all_calls = false;
	subscribe_follow(collector.cupti, false);
	collect_flush(flag);
	if (flag & CUPTI_FLUSH_FORCED)
		lose_kept();
}

uint64_t collect_arrivals(void)
{
	return __atomic_load_n(&collector.arrivals, __ATOMIC_RELAXED);
}

void collect_stand_down(void)
{
	collector.enabled = 0;
	collector.calls = 0;
	collector.all_calls = false;
}

void collect_forget(void)
{
	subscribe_forget();
	collector.forgotten = true;	/* the lock may be held by a thread that is not here */
}

/* ---- readers -------------------------------------------------------------------------------- */

void collect_clock(void)
{
	struct gp_ring_clock best = { .host_after_ns = UINT64_MAX };

	for (int i = 0; i < CLOCK_TRIES; i++) {
		struct gp_ring_clock c = { .host_before_ns = clock_now_ns() };

		if (collector.cupti->timestamp(&c.device_ns))
			return;
		c.host_after_ns = clock_now_ns();
		if (c.host_after_ns - c.host_before_ns < best.host_after_ns - best.host_before_ns)
			best = c;
	}
	helper_ring_send(collector.ring, GP_RING_CLOCK, &best, sizeof(best));
}
