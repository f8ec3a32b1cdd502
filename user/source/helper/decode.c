// SPDX-License-Identifier: BSD-3-Clause
/*
 * Each kind of record is a row: its minimal length and its handler. Records with a device's time
 * wait. Names are bounded by bytes: later ones are "[other]".
 */
#include "source/helper/decode.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/num.h"
#include "base/vec.h"
#include "event/event.h"
#include "gpuprof/cuda_numbers.h"
#include "gpuprof/ring.h"
#include "source/helper/clock.h"

/* ---- names: an array by number, each text on its own ----------------------------------------- */

#define HELPER_NAMES_BYTES (8u << 20)

struct helper_names {
	VEC(struct helper_name {
		char *text;	/* NULL: it never came */
		uint64_t hash;	/* event_text_hash */
	}) all;			/* of number i + 1 */
	size_t bytes;
};

/* id: from 1; the text is copied, and replaces an older one. 0 or -ENOMEM. */

static int helper_names_take(struct helper_names *n, uint32_t id, const char *text, size_t len)
{
	struct helper_name *name;

	while (n->all.n < id)
		if (!VEC_PUSH(&n->all))
			return -ENOMEM;
	name = &n->all.v[id - 1];
	n->bytes -= name->text ? strlen(name->text) : 0;
	free(name->text);
	name->text = n->bytes + len > HELPER_NAMES_BYTES ? strdup("[other]") : strndup(text, len);
	if (!name->text)
		return -ENOMEM;
	name->hash = event_text_hash(name->text);
	n->bytes += strlen(name->text);
	return 0;
}

static const char *helper_names_get(const struct helper_names *n, uint32_t id)
{
	return id && id <= n->all.n ? n->all.v[id - 1].text : NULL;
}

static uint64_t helper_names_hash(const struct helper_names *n, uint32_t id)
{
	return id && id <= n->all.n ? n->all.v[id - 1].hash : 0;
}

static void helper_names_free(struct helper_names *n)
{
	for (size_t i = 0; i < n->all.n; i++)
		free(n->all.v[i].text);
	VEC_FREE(&n->all);
}

/* ---- fields to fields; CUPTI's numbers of directions and of memory by tables ----------------- */

#define ON_HOST 0x7fffffffu	/* the device of a graph that begins there */

/* Only works have no time, as far as the helper looks. A lost record of a call counts as if a
 * work's was lost. */
static uint16_t helper_work_unseen_of(const struct gp_ring_loss *loss)
{
	const uint32_t memory = 1u << GP_RING_MEMORY;

	if (loss->cause == GP_LOSS_NO_TIME)
		return UNSEEN_OF_WORKS;
	return (uint16_t)((loss->kinds & memory ? UNSEEN_OF_MEMORY : 0) |
			  (loss->kinds & ~memory ? UNSEEN_OF_WORKS : 0));
}

static void helper_work_kernel(const struct gp_ring_kernel *k, struct work *out)
{
	*out = (struct work){
		.kind = WORK_KIND_KERNEL, .registers = k->registers, .launch_type = k->launch_type,
		.has = (k->has & GP_KERNEL_HAS_GRAPH ? WORK_HAS_GRAPH : 0) |
		       (k->has & GP_KERNEL_HAS_CLUSTER ? WORK_HAS_CLUSTER : 0) |
		       (k->has & GP_KERNEL_HAS_MAX_CLUSTERS ? WORK_HAS_MAX_CLUSTERS : 0),
		.device = k->device, .context = k->context, .stream = k->stream,
		.correlation = k->correlation, .graph = k->graph, .graph_node = k->graph_node,
		.static_shared = k->static_shared, .dynamic_shared = k->dynamic_shared,
		.shared_executed = k->shared_executed, .local_per_thread = k->local_per_thread,
		.max_active_clusters = k->max_active_clusters };
	memcpy(out->grid, k->grid, sizeof(k->grid));
	memcpy(out->block, k->block, sizeof(k->block));
	memcpy(out->cluster, k->cluster, sizeof(k->cluster));
}

static const struct {
	uint8_t dir, known;
} directions[] = {
	[GP_COPY_HTOD] = { COPY_H2D, 1 }, [GP_COPY_DTOH] = { COPY_D2H, 1 },
	[GP_COPY_HTOA] = { COPY_H2D, 1 }, [GP_COPY_ATOH] = { COPY_D2H, 1 },
	[GP_COPY_ATOA] = { COPY_D2D, 1 }, [GP_COPY_ATOD] = { COPY_D2D, 1 },
	[GP_COPY_DTOA] = { COPY_D2D, 1 }, [GP_COPY_DTOD] = { COPY_D2D, 1 },
	[GP_COPY_HTOH] = { COPY_H2H, 1 }, [GP_COPY_PTOP] = { COPY_D2D, 1 },
};

static const uint8_t host_kinds[] = {
	[GP_KIND_PAGEABLE] = MEMORY_PAGEABLE, [GP_KIND_PINNED] = MEMORY_PINNED,
};

static uint8_t host_memory(const struct gp_ring_copy *c)
{
	uint8_t host = c->copy_kind == GP_COPY_HTOD ? c->from_kind :
		       c->copy_kind == GP_COPY_DTOH ? c->to_kind : 0;

	return host < sizeof(host_kinds) ? host_kinds[host] : MEMORY_UNKNOWN;
}

static void helper_work_copy(const struct gp_ring_copy *c, bool is_set, struct work *out)
{
	bool known = c->copy_kind < sizeof(directions) / sizeof(directions[0]) &&
		     directions[c->copy_kind].known;

	*out = (struct work){
		.kind = is_set ? WORK_KIND_SET : c->is_peer ? WORK_KIND_PEER : WORK_KIND_COPY,
		.has = WORK_HAS_GRAPH | (known && !is_set ? WORK_HAS_DIR : 0),
		.dir = known ? directions[c->copy_kind].dir : 0,
		.memory = is_set ? MEMORY_UNKNOWN : host_memory(c),
		.device = c->device, .context = c->context, .stream = c->stream,
		.correlation = c->correlation, .graph = c->graph, .graph_node = c->graph_node,
		.bytes = c->bytes, .peer_from = c->peer_from, .peer_to = c->peer_to };
}

static void helper_work_graph(const struct gp_ring_graph *g, struct work *out)
{
	*out = (struct work){ .kind = WORK_KIND_GRAPH, .has = WORK_HAS_GRAPH, .device = g->device,
			      .context = g->context, .stream = g->stream,
			      .correlation = g->correlation, .graph = g->graph };
}

/* Of which device the contexts are that works had, and which devices there are. Start zeroed. */
#define HELPER_CONTEXTS_MAX 64
struct helper_contexts {
	unsigned int n, devices;
	uint32_t device;	/* the last one that came */
	struct {
		uint32_t context, device;
	} v[HELPER_CONTEXTS_MAX];
};

static void helper_contexts_note(struct helper_contexts *c, uint32_t context, uint32_t device)
{
	for (unsigned int i = 0; i < c->n; i++)
		if (c->v[i].context == context)
			return;
	if (c->n == HELPER_CONTEXTS_MAX)
		return;
	c->v[c->n].context = context;
	c->v[c->n++].device = device;
}

/* A graph that begins on the host has no device of its own: that of its context, or the only one
 * there is. False: not known. */
static bool helper_contexts_device(struct helper_contexts *c, struct work *graph)
{
	if (graph->device != ON_HOST) {
		helper_contexts_note(c, graph->context, graph->device);
		return true;
	}
	for (unsigned int i = 0; i < c->n; i++)
		if (c->v[i].context == graph->context) {
			graph->device = c->v[i].device;
			return true;
		}
	graph->device = c->device;
	return c->devices == 1;
}

static void format_uuid(char *out, const uint8_t u[16])
{
	snprintf(out, DEVICE_UUID_LEN + 1, "GPU-%02x%02x%02x%02x-%02x%02x-%02x%02x-%02x%02x-"
		 "%02x%02x%02x%02x%02x%02x", u[0], u[1], u[2], u[3], u[4], u[5], u[6], u[7], u[8],
		 u[9], u[10], u[11], u[12], u[13], u[14], u[15]);
}

static void helper_work_device(const struct gp_ring_device *d, struct device_facts *out)
{
	*out = (struct device_facts){
		.device = d->device, .cc_major = d->cc_major, .cc_minor = d->cc_minor,
		.multiprocessors = d->multiprocessors, .warp_threads = d->warp_threads,
		.threads_per_sm = d->threads_per_sm, .blocks_per_sm = d->blocks_per_sm,
		.registers_per_sm = d->registers_per_sm, .shared_per_sm = d->shared_per_sm,
		.shared_per_block = d->shared_per_block, .shared_reserved = d->shared_reserved,
		.memory_bytes = d->memory_bytes };
	format_uuid(out->uuid, d->uuid);
}

static void helper_fill_memory(const struct gp_ring_memory *m, struct event *ev)
{
	static const uint8_t kinds[] = {
		[GP_KIND_PINNED] = MEMORY_KIND_PINNED, [GP_KIND_DEVICE] = MEMORY_KIND_DEVICE,
		[GP_KIND_ARRAY] = MEMORY_KIND_ARRAY, [GP_KIND_MANAGED] = MEMORY_KIND_MANAGED,
		[GP_KIND_DEVICE_STATIC] = MEMORY_KIND_STATIC,
		[GP_KIND_MANAGED_STATIC] = MEMORY_KIND_STATIC,
	};

	ev->kind = EVENT_MEMORY;
	ev->has = HAS_BYTES;
	ev->memory.op = m->what == GP_MEMORY_ALLOC ? MEMORY_ALLOC : MEMORY_FREE;
	ev->memory.kind = m->kind < sizeof(kinds) ? kinds[m->kind] : MEMORY_KIND_UNKNOWN;
	if (ev->memory.kind == MEMORY_KIND_DEVICE && m->is_async)
		ev->memory.kind = MEMORY_KIND_POOL;
	ev->memory.device = m->device;
	ev->memory.address = m->address;
	ev->memory.bytes = m->bytes;
}

_Static_assert(RANGE_PUSH == GP_RANGE_PUSH && RANGE_POP == GP_RANGE_POP &&
	       RANGE_START == GP_RANGE_START && RANGE_END == GP_RANGE_END &&
	       RANGE_MARK == GP_RANGE_MARK, "the ring's numbers are the event's");

#define WAITING_MAX 65536	/* records; more go out by the readings there are */
#define NAMES_MAX 65536u
#define TEXT_MAX 4096u
#define TORN_NS 100000ull
#define AHEAD_NS 1000000000ull	/* clocks that are read one after the other differ by less */
#define LONGEST_NS (1000ull * 3600 * 1000000000)	/* no work takes 1,000 hours */

struct waiting {		/* one that has a device's time */
	uint64_t start, end;	/* the device's */
	uint32_t name;
	uint16_t kind;		/* GP_RING_* */
	uint32_t tid;		/* of a call: the host's; 0: not known yet */
	union {
		struct work work;
		struct gp_ring_api api;
		struct gp_ring_memory memory;
	};
};

struct helper_decoder {
	uint32_t pid;
	int64_t offset_ns;
	uint64_t now_ns;	/* UINT64_MAX: not known */
	/* the host's time of the latest reading, of the one before */
	uint64_t read_ns, complete_ns;
	uint64_t known_ns;	/* see helper_decoder_known_ns */
	uint64_t bad;		/* works without possible times that the latest reading follows */
	uint16_t bad_of;	/* UNSEEN_OF_* */
	struct helper_threads *threads;
	struct helper_clock clock;
	struct helper_contexts contexts;
	VEC(struct waiting) waiting;
	struct helper_names names;
	struct helper_counts counts;
};

struct helper_decoder *helper_decoder_new(pid_t pid, int64_t clock_offset_ns,
					  struct helper_threads *threads)
{
	struct helper_decoder *d = calloc(1, sizeof(*d));

	if (!d)
		return NULL;
	d->pid = (uint32_t)pid;
	d->offset_ns = clock_offset_ns;
	d->threads = threads;
	d->now_ns = UINT64_MAX;
	return d;
}

void helper_decoder_now(struct helper_decoder *d, uint64_t now_ns)
{
	d->now_ns = now_ns ? now_ns : UINT64_MAX;
}

uint64_t helper_decoder_known_ns(const struct helper_decoder *d)
{
	return d->known_ns;
}

uint64_t helper_decoder_complete_ns(const struct helper_decoder *d)
{
	return d->complete_ns;
}

void helper_decoder_free(struct helper_decoder *d)
{
	if (!d)
		return;
	helper_names_free(&d->names);
	VEC_FREE(&d->waiting);
	free(d);
}

/* ---- what goes out ------------------------------------------------------------------------- */

static const char *name_of(struct helper_decoder *d, uint32_t id)
{
	return helper_names_get(&d->names, id);
}

static bool is_to_come(const struct helper_decoder *d, uint64_t ns)
{
	return ns > num_add(d->now_ns, AHEAD_NS);
}

/* 0: none. */
static uint32_t host_tid(const struct helper_decoder *d, uint32_t own_tid)
{
	const struct helper_thread *t = d->threads ? helper_threads_find(d->threads, own_tid) :
						     NULL;

	return !d->threads ? own_tid : t ? t->tid : 0;
}

/* The clock was set while it ran: by a slew no length changes by more than that, and the
 * readings'. */
static bool is_torn(const struct waiting *w, uint64_t host_ns)
{
	uint64_t ns = w->end - w->start, apart = ns > host_ns ? ns - host_ns : host_ns - ns;

	return apart > ns / 1000 + TORN_NS;
}

/* Records of an unknown time: a work counts as an invalid one, memory is marked incomplete. */
static int push_bad(struct helper_decoder *d, const struct waiting *w,
		    const struct event_sink *sink)
{
	d->counts.invalid++;
	if (w->kind == GP_RING_API)
		return 0;
	d->bad++;
	d->bad_of |= w->kind == GP_RING_MEMORY ? UNSEEN_OF_MEMORY : UNSEEN_OF_WORKS;
	if (w->kind == GP_RING_MEMORY)
		return 0;
	d->counts.works++;
	return sink->push(sink->ctx, &(struct event){ .kind = EVENT_WORK, .pid = d->pid,
						      .start_ns = 1, .work = w->work });
}

static int push_one(struct helper_decoder *d, struct waiting *w, const struct event_sink *sink)
{
	struct event ev = { .pid = d->pid };
	uint64_t error_ns, ignored;

	if (!helper_clock_host(&d->clock, w->start, &ev.start_ns, &error_ns) ||
	    !helper_clock_host(&d->clock, w->end, &ev.end_ns, &ignored) ||
	    ev.end_ns < ev.start_ns || is_to_come(d, ev.end_ns) ||
	    is_torn(w, ev.end_ns - ev.start_ns))
		return push_bad(d, w, sink);
	if (w->kind == GP_RING_API) {
		ev.kind = EVENT_API;
		ev.has = HAS_RESULT | HAS_END;
		ev.tid = w->tid ? w->tid : host_tid(d, w->api.tid);
		d->counts.no_thread += !ev.tid;
		ev.api = (struct event_api){ w->api.cbid, w->api.correlation,
					     (int32_t)w->api.result, (uint8_t)w->api.domain, 0 };
	} else if (w->kind == GP_RING_MEMORY) {
		helper_fill_memory(&w->memory, &ev);
	} else {
		ev.kind = EVENT_WORK;
		ev.work = w->work;
		ev.work.name = name_of(d, w->name);
		ev.work.name_hash = helper_names_hash(&d->names, w->name);
		ev.work.error_ns = num_max(error_ns, ignored);
		d->counts.works++;
	}
	return sink->push(sink->ctx, &ev);
}

/* The clock was set since the reading before: works in between may be anywhere there. */
static int push_step(const struct helper_decoder *d, uint64_t now_ns, const struct event_sink *sink)
{
	const struct event ev = { .kind = EVENT_UNSEEN, .pid = d->pid, .unseen.why = UNSEEN_UNKNOWN,
				  .start_ns = d->complete_ns, .end_ns = now_ns };

	return now_ns > ev.start_ns ? sink->push(sink->ctx, &ev) : 0;
}

/* Works and memory whose times are not known are of since the reading before. */
static int push_when_bad(struct helper_decoder *d, uint64_t now_ns, const struct event_sink *sink)
{
	const struct event ev = { .kind = EVENT_UNSEEN, .pid = d->pid, .unseen.why = UNSEEN_LOST,
				  .unseen.of = d->bad_of, .unseen.count = d->bad,
				  .start_ns = d->complete_ns,
				  .end_ns = now_ns };

	if (!d->bad || now_ns < ev.start_ns)
		return 0;
	d->bad = d->bad_of = 0;
	return sink->push(sink->ctx, &ev);
}

/* All that ended before the clock is settled, or everything. */
static int push_settled(struct helper_decoder *d, uint64_t settled, const struct event_sink *sink)
{
	size_t kept = 0;
	int err = 0;

	for (size_t i = 0; i < d->waiting.n; i++) {
		struct waiting *w = &d->waiting.v[i];

		if (!err && w->end <= settled)
			err = push_one(d, w, sink);
		else
			d->waiting.v[kept++] = *w;
	}
	d->waiting.n = kept;
	return err;
}

static int refuse(struct helper_decoder *d)
{
	d->counts.invalid++;
	return 0;
}

/* ---- input --------------------------------------------------------------------------------- */

static int take_clock(struct helper_decoder *d, const void *payload, size_t len,
		      const struct event_sink *sink)
{
	struct gp_ring_clock reading;
	int err;

	(void)len;
	memcpy(&reading, payload, sizeof(reading));
	reading.host_before_ns -= (uint64_t)d->offset_ns;
	reading.host_after_ns -= (uint64_t)d->offset_ns;
	if (is_to_come(d, reading.host_after_ns) || !helper_clock_add(&d->clock, &reading))
		return refuse(d);
	d->complete_ns = d->read_ns;
	d->read_ns = reading.host_before_ns;
	d->known_ns = num_max(d->known_ns, d->read_ns);
	err = push_settled(d, helper_clock_settled(&d->clock), sink);
	if (!err && d->clock.steps != d->counts.clock_steps)
		err = push_step(d, reading.host_after_ns, sink);
	d->counts.clock_steps = d->clock.steps;
	return err ? err : push_when_bad(d, reading.host_after_ns, sink);
}

/* Numbers come in order; one that is missing (its record had no room) has no text. */
static int take_name(struct helper_decoder *d, const void *payload, size_t len,
		     const struct event_sink *sink)
{
	struct gp_ring_name name;

	(void)sink;
	memcpy(&name, payload, sizeof(name));
	if (!name.id || name.id > NAMES_MAX || name.bytes > len - sizeof(name))
		return refuse(d);
	return helper_names_take(&d->names, name.id, (const char *)payload + sizeof(name),
				 num_min(name.bytes, TEXT_MAX));
}

static int take_device(struct helper_decoder *d, const void *payload, size_t len,
		       const struct event_sink *sink)
{
	struct gp_ring_device in;
	struct device_facts facts;

	(void)len;
	memcpy(&in, payload, sizeof(in));
	helper_work_device(&in, &facts);
	d->contexts.devices += !d->contexts.devices || d->contexts.device != in.device;
	d->contexts.device = in.device;
	return sink->push(sink->ctx, &(struct event){ .kind = EVENT_DEVICE, .pid = d->pid,
						      .device = { name_of(d, in.name), facts } });
}

static int take_loss(struct helper_decoder *d, const void *payload, size_t len,
		     const struct event_sink *sink)
{
	struct gp_ring_loss loss;
	struct event ev = { .kind = EVENT_UNSEEN, .pid = d->pid };

	(void)len;
	memcpy(&loss, payload, sizeof(loss));
	d->counts.dropped = num_add(d->counts.dropped, loss.count);
	if (loss.cause == GP_LOSS_NO_TIME)
		d->counts.no_time = num_add(d->counts.no_time, loss.count);
	ev.start_ns = loss.since_ns ? loss.since_ns - (uint64_t)d->offset_ns : 0;
	ev.end_ns = loss.until_ns - (uint64_t)d->offset_ns;
	if (!loss.until_ns || ev.end_ns < ev.start_ns)
		return refuse(d);
	ev.unseen.why = loss.cause == GP_LOSS_UNSEEN ? UNSEEN_UNKNOWN : UNSEEN_LOST;
	ev.unseen.of = helper_work_unseen_of(&loss);
	ev.unseen.count = loss.count;
	if (loss.cause == GP_LOSS_UNSEEN)
		d->known_ns = num_max(d->known_ns, ev.end_ns);
	return sink->push(sink->ctx, &ev);
}

static int wait_for_clock(struct helper_decoder *d, const struct waiting *w,
			  const struct event_sink *sink)
{
	struct waiting *slot;
	int err = 0;

	if (!w->start || w->end < w->start || w->end - w->start > LONGEST_NS)
		return push_bad(d, w, sink);
	if (d->waiting.n == WAITING_MAX)
		err = push_settled(d, UINT64_MAX, sink);
	slot = err ? NULL : VEC_PUSH(&d->waiting);
	if (!slot)
		return err ? err : -ENOMEM;
	*slot = *w;
	return 0;
}

static int take_kernel(struct helper_decoder *d, const void *payload, size_t len,
		       const struct event_sink *sink)
{
	struct gp_ring_kernel k;
	struct waiting w = { .kind = GP_RING_KERNEL };

	(void)len;
	memcpy(&k, payload, sizeof(k));
	w.start = k.start;
	w.end = k.end;
	w.name = k.name;
	helper_work_kernel(&k, &w.work);
	helper_contexts_note(&d->contexts, k.context, k.device);
	return wait_for_clock(d, &w, sink);
}

static int take_copy(struct helper_decoder *d, const void *payload, bool is_set,
		     const struct event_sink *sink)
{
	struct gp_ring_copy c;
	struct waiting w = { .kind = GP_RING_COPY };

	memcpy(&c, payload, sizeof(c));
	w.start = c.start;
	w.end = c.end;
	helper_work_copy(&c, is_set, &w.work);
	helper_contexts_note(&d->contexts, c.context, c.device);
	return wait_for_clock(d, &w, sink);
}

static int take_a_copy(struct helper_decoder *d, const void *payload, size_t len,
		       const struct event_sink *sink)
{
	(void)len;
	return take_copy(d, payload, false, sink);
}

static int take_a_set(struct helper_decoder *d, const void *payload, size_t len,
		      const struct event_sink *sink)
{
	(void)len;
	return take_copy(d, payload, true, sink);
}

static int take_graph(struct helper_decoder *d, const void *payload, size_t len,
		      const struct event_sink *sink)
{
	struct gp_ring_graph g;
	struct waiting w = { .kind = GP_RING_GRAPH };

	(void)len;
	memcpy(&g, payload, sizeof(g));
	d->counts.whole_graphs++;
	w.start = g.start;
	w.end = g.end;
	helper_work_graph(&g, &w.work);
	if (!helper_contexts_device(&d->contexts, &w.work))
		return push_bad(d, &w, sink);
	return wait_for_clock(d, &w, sink);
}

static int take_api(struct helper_decoder *d, const void *payload, size_t len,
		    const struct event_sink *sink)
{
	struct waiting w = { .kind = GP_RING_API };

	(void)len;
	memcpy(&w.api, payload, sizeof(w.api));
	if (w.api.cbid >= FUNCS_MAX || w.api.domain > UINT8_MAX)
		return refuse(d);
	w.tid = host_tid(d, w.api.tid);	/* now, since the thread may end meanwhile */
	w.start = w.api.start;
	w.end = w.api.end;
	return wait_for_clock(d, &w, sink);
}

/* Of the host's clock already. One whose name was lost is a range still. */
static int take_range(struct helper_decoder *d, const void *payload, size_t len,
		      const struct event_sink *sink)
{
	struct gp_ring_range r;
	struct event ev = { .kind = EVENT_RANGE, .pid = d->pid };

	(void)len;
	memcpy(&r, payload, sizeof(r));
	ev.start_ns = r.time_ns - (uint64_t)d->offset_ns;
	if (!r.what || r.what >= RANGE_WHAT_END || !r.time_ns || is_to_come(d, ev.start_ns))
		return refuse(d);
	ev.range.what = (uint8_t)r.what;
	ev.tid = host_tid(d, r.tid);
	d->counts.no_thread += !ev.tid;
	ev.range.id = r.id;
	ev.range.name = name_of(d, r.name);
	ev.range.domain = name_of(d, r.domain);
	return sink->push(sink->ctx, &ev);
}

/* Of the host's clock already. */
static int take_node(struct helper_decoder *d, const void *payload, size_t len,
		     const struct event_sink *sink)
{
	struct gp_ring_node n;
	struct event ev = { .kind = EVENT_NODE, .pid = d->pid };

	(void)len;
	memcpy(&n, payload, sizeof(n));
	ev.start_ns = n.time_ns - (uint64_t)d->offset_ns;
	if (!n.node || n.node == n.original || !n.time_ns || is_to_come(d, ev.start_ns))
		return refuse(d);
	ev.tid = host_tid(d, n.tid);
	d->counts.no_thread += !ev.tid;
	ev.node.id = n.node;
	ev.node.original = n.original;
	return sink->push(sink->ctx, &ev);
}

static int take_memory(struct helper_decoder *d, const void *payload, size_t len,
		       const struct event_sink *sink)
{
	struct waiting w = { .kind = GP_RING_MEMORY };

	(void)len;
	memcpy(&w.memory, payload, sizeof(w.memory));
	w.start = w.end = w.memory.time;
	if (w.memory.what != GP_MEMORY_ALLOC && w.memory.what != GP_MEMORY_FREE)
		w.start = 0;
	return wait_for_clock(d, &w, sink);
}

static int take_nothing(struct helper_decoder *d, const void *payload, size_t len,
			const struct event_sink *sink)
{
	(void)d;
	(void)payload;
	(void)len;
	(void)sink;
	return 0;
}

static const struct {
	size_t least;
	int (*take)(struct helper_decoder *d, const void *payload, size_t len,
		    const struct event_sink *sink);
} kinds[GP_RING_KINDS] = {
	[GP_RING_CLOCK] = { sizeof(struct gp_ring_clock), take_clock },
	[GP_RING_NAME_IS] = { sizeof(struct gp_ring_name), take_name },
	[GP_RING_DEVICE] = { sizeof(struct gp_ring_device), take_device },
	[GP_RING_CONTEXT] = { sizeof(struct gp_ring_context), take_nothing },
	[GP_RING_KERNEL] = { sizeof(struct gp_ring_kernel), take_kernel },
	[GP_RING_COPY] = { sizeof(struct gp_ring_copy), take_a_copy },
	[GP_RING_SET] = { sizeof(struct gp_ring_copy), take_a_set },
	[GP_RING_GRAPH] = { sizeof(struct gp_ring_graph), take_graph },
	[GP_RING_API] = { sizeof(struct gp_ring_api), take_api },
	[GP_RING_RANGE] = { sizeof(struct gp_ring_range), take_range },
	[GP_RING_MEMORY] = { sizeof(struct gp_ring_memory), take_memory },
	[GP_RING_NODE] = { sizeof(struct gp_ring_node), take_node },
	[GP_RING_LOSS] = { sizeof(struct gp_ring_loss), take_loss },
};

int helper_decode(struct helper_decoder *d, uint16_t kind, const void *payload, size_t len,
		  const struct event_sink *sink)
{
	d->counts.received++;
	if (kind >= GP_RING_KINDS || !kinds[kind].take) {
		d->counts.unknown++;
		return 0;
	}
	if (len < kinds[kind].least)
		return refuse(d);
	return kinds[kind].take(d, payload, len, sink);
}

int helper_decode_end(struct helper_decoder *d, const struct event_sink *sink)
{
	return push_settled(d, UINT64_MAX, sink);
}

void helper_decoder_counts(const struct helper_decoder *d, struct helper_counts *out)
{
	*out = d->counts;
}
