// SPDX-License-Identifier: BSD-3-Clause
/*
 * Each kind of record is a row: its minimal length and its handler. Records with a device's time
 * wait. Names are bounded by bytes: later ones are "[other]".
 */
#include "source/helper/decode.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/io.h"
#include "base/map.h"
#include "base/num.h"
#include "base/vec.h"
#include "gpuprof/cuda_numbers.h"
#include "gpuprof/ring.h"
#include "host/proc.h"
#include "source/helper/clock.h"

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

static void helper_work_copy(const struct gp_ring_copy *c, bool is_set, struct work *out)
{
	bool known = c->copy_kind < sizeof(directions) / sizeof(directions[0]) &&
		     directions[c->copy_kind].known;
	uint8_t host = c->copy_kind == GP_COPY_HTOD ? c->from_kind :
		       c->copy_kind == GP_COPY_DTOH ? c->to_kind : 0;

	*out = (struct work){
		.kind = is_set ? WORK_KIND_SET : c->is_peer ? WORK_KIND_PEER : WORK_KIND_COPY,
		.has = WORK_HAS_GRAPH | (known && !is_set ? WORK_HAS_DIR : 0),
		.dir = known ? directions[c->copy_kind].dir : 0,
		.memory = is_set || host >= sizeof(host_kinds) ? MEMORY_UNKNOWN : host_kinds[host],
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

/* ---- threads: their files are read when a walk of /proc/PID/task meets them first ------------*/

#define TASKS_MAX 65536		/* looked at in a walk */

struct helper_threads {
	pid_t pid;
	bool own_numbers;	/* the process lives in a pid namespace */
	bool looked_again;	/* since the last look */
	uint64_t now_ns, walk;
	uint64_t guessed;
	VEC(struct helper_thread) all;
	/* -> index + 1; of a number that was used again, the newest */
	struct map by_tid, by_own;
};

struct helper_threads *helper_threads_new(pid_t pid, pid_t own_pid)
{
	struct helper_threads *t = calloc(1, sizeof(*t));

	if (!t)
		return NULL;
	t->pid = pid;
	t->own_numbers = pid != own_pid;
	return t;
}

void helper_threads_free(struct helper_threads *t)
{
	if (!t)
		return;
	VEC_FREE(&t->all);
	map_free(&t->by_tid);
	map_free(&t->by_own);
	free(t);
}

static struct helper_thread *thread_at(const struct helper_threads *t, const struct map *by,
				       uint32_t number)
{
	const struct map_slot *slot = map_find(by, number);

	return slot && slot->value ? &t->all.v[slot->value - 1] : NULL;
}

static int add_thread(struct helper_threads *t, const struct helper_thread *thread)
{
	struct map_slot *slot = map_put(&t->by_tid, thread->tid, NULL);
	struct helper_thread *at = slot ? VEC_PUSH(&t->all) : NULL;

	if (!at)
		return -ENOMEM;
	*at = *thread;
	slot->value = t->all.n;
	slot = map_put(&t->by_own, thread->own_tid, NULL);
	if (!slot)
		return -ENOMEM;
	slot->value = t->all.n;
	return 0;
}

int helper_threads_add(struct helper_threads *t, const struct helper_thread *thread)
{
	const struct helper_thread *had = thread_at(t, &t->by_tid, thread->tid);

	if (t->all.n >= HELPER_THREADS_MAX || (had && had->own_tid == thread->own_tid))
		return 0;
	return add_thread(t, thread);
}

static char *read_file(int tasks, uint32_t tid, const char *name)
{
	char path[40], *text;
	size_t len;
	int fd;

	snprintf(path, sizeof(path), "%u/%s", tid, name);
	fd = openat(tasks, path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return NULL;
	text = io_read_start(fd, 16384, &len);
	io_close(&fd);
	return text;
}

/* False: it has just ended. */
static bool read_thread(const struct helper_threads *t, int tasks, uint32_t tid,
			struct helper_thread *out)
{
	char *stat = read_file(tasks, tid, "stat");
	char *status = t->own_numbers ? read_file(tasks, tid, "status") : NULL;
	struct proc_stat s;
	bool ok = stat && !proc_parse_stat(stat, &s) && (status || !t->own_numbers);

	if (ok) {
		*out = (struct helper_thread){ .tid = tid, .own_tid = tid, .birth_ns = s.start_ns };
		memcpy(out->comm, s.comm, sizeof(out->comm));
		if (status && proc_inner_pid(status))
			out->own_tid = proc_inner_pid(status);
	}
	free(stat);
	free(status);
	return ok;
}

static int walk(struct helper_threads *t)
{
	const struct dirent *entry;
	char path[40];
	int err = 0;
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%d/task", t->pid);
	dir = opendir(path);
	if (!dir)
		return 0;
	t->walk++;
	for (int i = 0; i < TASKS_MAX && !err && (entry = readdir(dir)); i++) {
		uint32_t tid = (uint32_t)strtoul(entry->d_name, NULL, 10);
		struct helper_thread *thread = tid ? thread_at(t, &t->by_tid, tid) : NULL, is_new;

		if (thread && !thread->gone_ns) {
			thread->walk = t->walk;
		} else if (tid && t->all.n < HELPER_THREADS_MAX &&
			   read_thread(t, dirfd(dir), tid, &is_new)) {
			is_new.walk = t->walk;
			err = add_thread(t, &is_new);
		}
	}
	closedir(dir);
	return err;
}

int helper_threads_look(struct helper_threads *t, uint64_t now_ns)
{
	uint64_t before_ns = t->now_ns, before = t->walk;
	int err = walk(t);

	t->now_ns = now_ns;
	t->looked_again = false;
	for (size_t i = 0; i < t->all.n && t->walk != before; i++) {
		struct helper_thread *thread = &t->all.v[i];

		if (!thread->gone_ns && thread->walk && thread->walk <= before)
			thread->gone_ns = before_ns;
	}
	return err;
}

/* The thread that a number in a record means, or NULL. Reads the threads again for an unknown
 * one, but at most once after each helper_threads_look. In the host's own numbers a thread that
 * was never seen is believed, as long as they are few. Valid until the next call. */
static const struct helper_thread *helper_threads_find(struct helper_threads *t, uint32_t own_tid)
{
	const struct helper_thread *thread = thread_at(t, &t->by_own, own_tid);

	if (!thread && !t->looked_again) {
		t->looked_again = true;
		walk(t);
		thread = thread_at(t, &t->by_own, own_tid);
	}
	if (thread)
		return thread;
	if (t->own_numbers || !own_tid || own_tid > INT32_MAX ||
	    t->guessed >= HELPER_THREADS_GUESSED || t->all.n >= HELPER_THREADS_MAX)
		return NULL;
	t->guessed++;
	if (add_thread(t, &(struct helper_thread){ .tid = own_tid, .own_tid = own_tid }))
		return NULL;
	return &t->all.v[t->all.n - 1];
}

const struct helper_thread *helper_threads_of(const struct helper_threads *t, uint32_t tid)
{
	return thread_at(t, &t->by_tid, tid);
}

_Static_assert(RANGE_PUSH == GP_RANGE_PUSH && RANGE_POP == GP_RANGE_POP &&
	       RANGE_START == GP_RANGE_START && RANGE_END == GP_RANGE_END &&
	       RANGE_MARK == GP_RANGE_MARK && RANGE_LEAVE == GP_RANGE_LEAVE,
	       "the ring's numbers are the event's");

#define WAITING_MAX 65536	/* records; more go out by the readings there are */
#define NUMBERS_RIGHTLY 130101u	/* CUPTI 13.1 Update 1; before 13.0 numbers were below 100 */
#define NAMES_MAX 65536u
#define NAMES_BYTES (8u << 20)
#define TEXT_MAX 4096u
#define AHEAD_NS 1000000000ull	/* clocks that are read one after the other differ by less */
#define EARLY_NS 1000000000ull	/* no work began so long before the helper was awake */
#define LONGEST_NS (1000ull * 3600 * 1000000000)	/* no work takes 1,000 hours */

struct waiting {		/* one that has a device's time */
	uint64_t start, end;	/* the device's */
	uint64_t since;		/* so many readings had come */
	uint32_t name;
	uint16_t kind;		/* GP_RING_* */
	uint32_t tid;		/* of a call: the host's; 0: not known yet */
	union {
		struct work work;
		struct gp_ring_api api;
		struct gp_ring_memory memory;
	};
};

struct name {
	char *text;		/* NULL: it never came */
	uint64_t hash;		/* event_text_hash */
};

struct helper_decoder {
	uint32_t pid;
	int64_t offset_ns;
	uint64_t now_ns;	/* UINT64_MAX: not known */
	uint64_t wall_ns;	/* CLOCK_REALTIME - CLOCK_MONOTONIC; 0: not known */
	uint64_t decided;	/* readings */
	uint64_t complete_ns, known_ns;	/* see struct helper_progress */
	uint64_t bad;	/* works without possible times that the latest reading follows */
	uint64_t bad_since_ns;	/* the reading that came before the first of them */
	uint16_t bad_of;	/* UNSEEN_OF_* */
	/* Between them CUPTI was disabled, the last time; works that seem to have gone on. */
	uint64_t off_ns, on_ns, cut, cut_since_ns;
	bool misnumbers;	/* CUPTI gives graphs' works wrong correlations */
	uint64_t awake_ns;	/* since when the helper is, or was; else since it was loaded */
	struct helper_threads *threads;
	struct helper_clock clock;
	struct helper_contexts contexts;
	VEC(struct waiting) waiting;
	VEC(struct name) names;	/* of number i + 1 */
	size_t name_bytes;
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

void helper_decoder_now(struct helper_decoder *d, uint64_t now_ns, uint64_t wall_ns)
{
	d->now_ns = now_ns ? now_ns : UINT64_MAX;
	d->wall_ns = now_ns && wall_ns ? wall_ns - now_ns : 0;
}

void helper_decoder_head(struct helper_decoder *d, const struct gp_ring_head *head)
{
	const uint64_t since_ns = (head->state == GP_HELPER_AWAKE ? head->state_ns :
								      head->start_ns) -
				  (uint64_t)d->offset_ns;

	if ((head->state == GP_HELPER_AWAKE || !d->awake_ns) && since_ns <= d->now_ns)
		d->awake_ns = since_ns;
	d->misnumbers = head->cupti_version && head->cupti_version < NUMBERS_RIGHTLY &&
			head->sessions > 1;
}

void helper_decoder_free(struct helper_decoder *d)
{
	if (!d)
		return;
	for (size_t i = 0; i < d->names.n; i++)
		free(d->names.v[i].text);
	VEC_FREE(&d->names);
	VEC_FREE(&d->waiting);
	free(d);
}

/* ---- what goes out ------------------------------------------------------------------------- */

static struct name name_of(const struct helper_decoder *d, uint32_t id)
{
	return id && id <= d->names.n ? d->names.v[id - 1] : (struct name){ 0 };
}

static bool is_to_come(const struct helper_decoder *d, uint64_t ns)
{
	return ns > num_add(d->now_ns, AHEAD_NS);
}

/* 0: none. */
static uint32_t host_tid(const struct helper_decoder *d, uint32_t own_tid)
{
	const struct helper_thread *t;

	if (!d->threads)
		return own_tid;
	t = helper_threads_find(d->threads, own_tid);
	return t ? t->tid : 0;
}

/* A work without a time counts as an invalid one. */
static int push_invalid(struct helper_decoder *d, const struct waiting *w,
			const struct event_sink *sink)
{
	d->counts.invalid++;
	if (w->kind == GP_RING_API || w->kind == GP_RING_MEMORY)
		return 0;
	d->counts.works++;
	return sink->push(sink->ctx, &(struct event){ .kind = EVENT_WORK, .pid = d->pid,
						      .start_ns = 1, .work = w->work });
}

/* Of a time that cannot be: it is of since the reading before it, or memory is incomplete then. */
static int push_bad(struct helper_decoder *d, const struct waiting *w,
		    const struct event_sink *sink)
{
	const struct helper_clock_reading *before = helper_clock_reading(&d->clock, w->since);
	const uint64_t since_ns = before ? before->before_ns : 0;

	if (w->kind != GP_RING_API) {
		d->bad_since_ns = d->bad ? num_min(d->bad_since_ns, since_ns) : since_ns;
		d->bad++;
		d->bad_of |= w->kind == GP_RING_MEMORY ? UNSEEN_OF_MEMORY : UNSEEN_OF_WORKS;
	}
	return push_invalid(d, w, sink);
}

static bool is_in_break(const struct helper_decoder *d, const struct waiting *w)
{
	const struct helper_clock_reading *next = helper_clock_reading(&d->clock, w->since + 1);

	return next && next->joined == CLOCK_BROKEN;
}

/* The clock was set or replaced while it ran: nothing is known of a device in the time in which it
 * may have run. That of the break itself is pushed once. */
static int push_unplaced(struct helper_decoder *d, const struct waiting *w,
			 const struct helper_span *may, const struct event_sink *sink)
{
	const struct event ev = {
		.kind = EVENT_UNSEEN, .pid = d->pid, .unseen.why = UNSEEN_UNKNOWN,
		.unseen.of = w->kind == GP_RING_MEMORY ? UNSEEN_OF_MEMORY : UNSEEN_OF_WORKS,
		.start_ns = may->start_ns, .end_ns = may->end_ns };
	int err = 0;

	if (is_to_come(d, may->end_ns) || (!may->end_ns && !is_in_break(d, w)))
		return push_bad(d, w, sink);
	d->counts.unplaced++;
	if (w->kind != GP_RING_API && ev.start_ns < ev.end_ns)
		err = sink->push(sink->ctx, &ev);
	return err ? err : push_invalid(d, w, sink);
}

/* In flight when CUPTI was disabled: it comes when it is enabled again, with the end of that. */
static bool is_stale(const struct helper_decoder *d, const struct waiting *w,
		     const struct helper_span *span)
{
	return w->kind != GP_RING_API && w->kind != GP_RING_MEMORY &&
	       num_add(span->start_ns, EARLY_NS) < d->awake_ns;
}

/* As above, while it was awake: one that seems to have gone on. The first began at cut_since_ns. */
static bool is_cut(struct helper_decoder *d, const struct waiting *w,
		   const struct helper_span *span)
{
	if (w->kind == GP_RING_API || w->kind == GP_RING_MEMORY || span->start_ns >= d->on_ns ||
	    span->end_ns <= d->off_ns)
		return false;
	d->cut_since_ns = num_min(d->cut++ ? d->cut_since_ns : d->off_ns, span->start_ns);
	return true;
}

static int push_one(struct helper_decoder *d, struct waiting *w, const struct event_sink *sink)
{
	struct event ev = { .pid = d->pid };
	struct helper_span span;
	struct name name;

	if (!helper_clock_place(&d->clock, w->start, w->end, w->since, &span))
		return push_unplaced(d, w, &span, sink);
	if (is_to_come(d, span.end_ns))
		return push_bad(d, w, sink);
	if (is_stale(d, w, &span) || is_cut(d, w, &span))
		return push_invalid(d, w, sink);
	ev.start_ns = span.start_ns;
	ev.end_ns = span.end_ns;
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
		name = name_of(d, w->name);
		ev.work.name = name.text;
		ev.work.name_hash = name.hash;
		ev.work.error_ns = span.error_ns;
		d->counts.works++;
		d->counts.no_launch += !!(ev.work.has & WORK_HAS_NO_LAUNCH);
	}
	return sink->push(sink->ctx, &ev);
}

static int push_when_bad(struct helper_decoder *d, uint64_t now_ns, const struct event_sink *sink)
{
	const struct event ev = { .kind = EVENT_UNSEEN, .pid = d->pid, .unseen.why = UNSEEN_LOST,
				  .unseen.of = d->bad_of, .unseen.count = d->bad,
				  .start_ns = d->bad_since_ns, .end_ns = now_ns };

	if (!d->bad || now_ns < ev.start_ns)
		return 0;
	d->bad = d->bad_of = 0;
	return sink->push(sink->ctx, &ev);
}

/* They ran until then at least. After that their time is known to be unknown. */
static int push_when_cut(struct helper_decoder *d, const struct event_sink *sink)
{
	const struct event ev = { .kind = EVENT_UNSEEN, .pid = d->pid, .unseen.why = UNSEEN_LOST,
				  .unseen.of = UNSEEN_OF_WORKS, .unseen.count = d->cut,
				  .start_ns = d->cut_since_ns, .end_ns = d->off_ns };

	if (!d->cut)
		return 0;
	d->cut = 0;
	return sink->push(sink->ctx, &ev);
}

/* A later reading changes its time no more: it ended before the next one after it came, or that
 * was long ago. */
static bool is_settled(const struct helper_decoder *d, const struct waiting *w)
{
	const struct helper_clock_reading *next = helper_clock_reading(&d->clock, w->since + 1);

	return w->since + 2 <= d->decided ||
	       (w->since + 1 <= d->decided && next && w->end <= next->device);
}

static int push_settled(struct helper_decoder *d, bool all, const struct event_sink *sink)
{
	size_t kept = 0;
	int err = 0;

	for (size_t i = 0; i < d->waiting.n; i++) {
		struct waiting *w = &d->waiting.v[i];

		if (!err && (all || is_settled(d, w)))
			err = push_one(d, w, sink);
		else
			d->waiting.v[kept++] = *w;
	}
	d->waiting.n = kept;
	return err;
}

/* Readings from number `from` on are decided: where the clock was set or replaced between two of
 * them, works may be anywhere. */
static int push_breaks(struct helper_decoder *d, uint64_t from, const struct event_sink *sink)
{
	int err = 0;

	for (uint64_t i = num_max(from, 2); i <= d->decided && !err; i++) {
		const struct helper_clock_reading *a = helper_clock_reading(&d->clock, i - 1);
		const struct helper_clock_reading *b = helper_clock_reading(&d->clock, i);

		if (b->joined == CLOCK_BROKEN)
			err = sink->push(sink->ctx, &(struct event){
				.kind = EVENT_UNSEEN, .pid = d->pid, .unseen.why = UNSEEN_UNKNOWN,
				.start_ns = a->before_ns, .end_ns = b->after_ns });
	}
	return err;
}

/* Pushes what the readings decide. */
static int push_decided(struct helper_decoder *d, bool all, const struct event_sink *sink)
{
	const uint64_t decided = helper_clock_decided(&d->clock), from = d->decided + 1;
	const struct helper_clock_reading *last = helper_clock_reading(&d->clock, decided);
	const struct helper_clock_reading *before;
	int err;

	d->decided = decided;
	before = decided ? helper_clock_reading(&d->clock, decided - 1) : NULL;
	d->complete_ns = before ? before->before_ns : 0;
	err = push_settled(d, all, sink);
	if (!err)
		err = push_when_cut(d, sink);
	if (!err)
		err = push_breaks(d, from, sink);
	d->counts.clock_steps = d->clock.steps;
	d->counts.clock_replaced = d->clock.replaced;
	d->counts.tick_ps = d->clock.tick_ps;
	return err || !last ? err : push_when_bad(d, last->after_ns, sink);
}

static int refuse(struct helper_decoder *d)
{
	d->counts.invalid++;
	return 0;
}

/* ---- input --------------------------------------------------------------------------------- */

struct record {			/* of the least length of its kind */
	uint16_t kind;		/* GP_RING_* */
	size_t len;
	const void *payload;
};

static int take_clock(struct helper_decoder *d, const struct record *rec,
		      const struct event_sink *sink)
{
	struct gp_ring_clock reading;

	memcpy(&reading, rec->payload, sizeof(reading));
	reading.host_before_ns -= (uint64_t)d->offset_ns;
	reading.host_after_ns -= (uint64_t)d->offset_ns;
	if (is_to_come(d, reading.host_after_ns) ||
	    !helper_clock_add(&d->clock, &reading, d->wall_ns))
		return refuse(d);
	d->known_ns = num_max(d->known_ns, reading.host_before_ns);
	return push_decided(d, false, sink);
}

/* Numbers come in order; one that is missing (its record had no room) has no text. The text is
 * copied, and replaces an older one. */
static int take_name(struct helper_decoder *d, const struct record *rec,
		     const struct event_sink *sink)
{
	struct gp_ring_name name;
	struct name *to;
	size_t len;

	(void)sink;
	memcpy(&name, rec->payload, sizeof(name));
	if (!name.id || name.id > NAMES_MAX || name.bytes > rec->len - sizeof(name))
		return refuse(d);
	while (d->names.n < name.id)
		if (!VEC_PUSH(&d->names))
			return -ENOMEM;
	to = &d->names.v[name.id - 1];
	d->name_bytes -= to->text ? strlen(to->text) : 0;
	free(to->text);
	len = num_min(name.bytes, TEXT_MAX);
	to->text = d->name_bytes + len > NAMES_BYTES ? strdup("[other]") :
		   strndup((const char *)rec->payload + sizeof(name), len);
	if (!to->text)
		return -ENOMEM;
	to->hash = event_text_hash(to->text);
	d->name_bytes += strlen(to->text);
	return 0;
}

static int take_device(struct helper_decoder *d, const struct record *rec,
		       const struct event_sink *sink)
{
	struct gp_ring_device in;
	const uint8_t *u = in.uuid;
	struct event ev = { .kind = EVENT_DEVICE, .pid = d->pid };

	memcpy(&in, rec->payload, sizeof(in));
	d->contexts.devices += !d->contexts.devices || d->contexts.device != in.device;
	d->contexts.device = in.device;
	ev.device.name = name_of(d, in.name).text;
	ev.device.facts = (struct device_facts){
		.device = in.device, .cc_major = in.cc_major, .cc_minor = in.cc_minor,
		.multiprocessors = in.multiprocessors, .warp_threads = in.warp_threads,
		.threads_per_sm = in.threads_per_sm, .blocks_per_sm = in.blocks_per_sm,
		.registers_per_sm = in.registers_per_sm, .shared_per_sm = in.shared_per_sm,
		.shared_per_block = in.shared_per_block, .shared_reserved = in.shared_reserved,
		.memory_bytes = in.memory_bytes };
	snprintf(ev.device.facts.uuid, sizeof(ev.device.facts.uuid),
		 "GPU-%02x%02x%02x%02x-%02x%02x-%02x%02x-%02x%02x-%02x%02x%02x%02x%02x%02x",
		 u[0], u[1], u[2], u[3], u[4], u[5], u[6], u[7], u[8], u[9], u[10], u[11], u[12],
		 u[13], u[14], u[15]);
	return sink->push(sink->ctx, &ev);
}

static int take_loss(struct helper_decoder *d, const struct record *rec,
		     const struct event_sink *sink)
{
	struct gp_ring_loss loss;
	struct event ev = { .kind = EVENT_UNSEEN, .pid = d->pid };
	bool is_unseen;

	memcpy(&loss, rec->payload, sizeof(loss));
	is_unseen = loss.cause == GP_LOSS_UNSEEN || loss.cause == GP_LOSS_RENEWED;
	d->counts.dropped = num_add(d->counts.dropped, loss.count);
	if (loss.cause == GP_LOSS_NO_TIME)
		d->counts.no_time = num_add(d->counts.no_time, loss.count);
	ev.start_ns = loss.since_ns ? loss.since_ns - (uint64_t)d->offset_ns : 0;
	ev.end_ns = loss.until_ns - (uint64_t)d->offset_ns;
	if (!loss.until_ns || ev.end_ns < ev.start_ns)
		return refuse(d);
	ev.unseen.why = is_unseen ? UNSEEN_UNKNOWN : UNSEEN_LOST;
	ev.unseen.of = helper_work_unseen_of(&loss);
	if (loss.cause == GP_LOSS_RENEWED) {
		d->off_ns = ev.start_ns;
		d->on_ns = ev.end_ns;
	}
	ev.unseen.count = loss.count;
	if (is_unseen)
		d->known_ns = num_max(d->known_ns, ev.end_ns);
	return sink->push(sink->ctx, &ev);
}

static int wait_for_clock(struct helper_decoder *d, struct waiting *w,
			  const struct event_sink *sink)
{
	struct waiting *slot;
	int err = 0;

	w->since = d->clock.total;
	if (d->misnumbers && w->kind != GP_RING_API && w->kind != GP_RING_MEMORY &&
	    w->work.has & WORK_HAS_GRAPH && w->work.graph) {
		w->work.has |= WORK_HAS_NO_LAUNCH;
		w->work.correlation = 0;
	}
	if (!w->start || w->end < w->start || w->end - w->start > LONGEST_NS)
		return push_bad(d, w, sink);
	if (d->waiting.n == WAITING_MAX)
		err = push_settled(d, true, sink);
	slot = err ? NULL : VEC_PUSH(&d->waiting);
	if (!slot)
		return err ? err : -ENOMEM;
	*slot = *w;
	return 0;
}

static int take_kernel(struct helper_decoder *d, const struct record *rec,
		       const struct event_sink *sink)
{
	struct gp_ring_kernel k;
	struct waiting w;

	memcpy(&k, rec->payload, sizeof(k));
	w = (struct waiting){ k.start, k.end, .name = k.name, .kind = GP_RING_KERNEL };
	helper_work_kernel(&k, &w.work);
	helper_contexts_note(&d->contexts, k.context, k.device);
	return wait_for_clock(d, &w, sink);
}

static int take_copy(struct helper_decoder *d, const struct record *rec,
		     const struct event_sink *sink)
{
	struct gp_ring_copy c;
	struct waiting w;

	memcpy(&c, rec->payload, sizeof(c));
	w = (struct waiting){ c.start, c.end, .kind = GP_RING_COPY };
	helper_work_copy(&c, rec->kind == GP_RING_SET, &w.work);
	helper_contexts_note(&d->contexts, c.context, c.device);
	return wait_for_clock(d, &w, sink);
}

static int take_graph(struct helper_decoder *d, const struct record *rec,
		      const struct event_sink *sink)
{
	struct gp_ring_graph g;
	struct waiting w;

	memcpy(&g, rec->payload, sizeof(g));
	w = (struct waiting){ g.start, g.end, .kind = GP_RING_GRAPH };
	helper_work_graph(&g, &w.work);
	if (!helper_contexts_device(&d->contexts, &w.work))
		return push_bad(d, &w, sink);
	return wait_for_clock(d, &w, sink);
}

static int take_api(struct helper_decoder *d, const struct record *rec,
		    const struct event_sink *sink)
{
	struct waiting w = { .kind = GP_RING_API };

	memcpy(&w.api, rec->payload, sizeof(w.api));
	if (w.api.cbid >= FUNCS_MAX || w.api.domain > UINT8_MAX)
		return refuse(d);
	w.tid = host_tid(d, w.api.tid);	/* now, since the thread may end meanwhile */
	w.start = w.api.start;
	w.end = w.api.end;
	return wait_for_clock(d, &w, sink);
}

/* Of the host's clock already. One whose name was lost is a range still. */
static int take_range(struct helper_decoder *d, const struct record *rec,
		      const struct event_sink *sink)
{
	struct gp_ring_range r;
	struct event ev = { .kind = EVENT_RANGE, .pid = d->pid };

	memcpy(&r, rec->payload, sizeof(r));
	ev.start_ns = r.time_ns - (uint64_t)d->offset_ns;
	if (!r.what || r.what >= RANGE_WHAT_END || !r.time_ns || is_to_come(d, ev.start_ns))
		return refuse(d);
	ev.range.what = (uint8_t)r.what;
	ev.tid = host_tid(d, r.tid);
	d->counts.no_thread += !ev.tid;
	ev.range.id = r.id;
	ev.range.name = name_of(d, r.name).text;
	ev.range.domain = name_of(d, r.domain).text;
	return sink->push(sink->ctx, &ev);
}

/* Of the host's clock already. */
static int take_node(struct helper_decoder *d, const struct record *rec,
		     const struct event_sink *sink)
{
	struct gp_ring_node n;
	struct event ev = { .kind = EVENT_NODE, .pid = d->pid };

	memcpy(&n, rec->payload, sizeof(n));
	ev.start_ns = n.time_ns - (uint64_t)d->offset_ns;
	if (!n.node || n.node == n.original || !n.time_ns || is_to_come(d, ev.start_ns))
		return refuse(d);
	ev.tid = host_tid(d, n.tid);
	d->counts.no_thread += !ev.tid;
	ev.node.id = n.node;
	ev.node.original = n.original;
	return sink->push(sink->ctx, &ev);
}

static int take_memory(struct helper_decoder *d, const struct record *rec,
		       const struct event_sink *sink)
{
	struct waiting w = { .kind = GP_RING_MEMORY };

	memcpy(&w.memory, rec->payload, sizeof(w.memory));
	w.start = w.end = w.memory.time;
	if (w.memory.what != GP_MEMORY_ALLOC && w.memory.what != GP_MEMORY_FREE)
		w.start = 0;
	return wait_for_clock(d, &w, sink);
}

static const struct {
	size_t least;			/* 0: a kind of a later version */
	int (*take)(struct helper_decoder *d, const struct record *rec,
		    const struct event_sink *sink);	/* NULL: the record is of no use */
} kinds[GP_RING_KINDS] = {
	[GP_RING_CLOCK] = { sizeof(struct gp_ring_clock), take_clock },
	[GP_RING_NAME_IS] = { sizeof(struct gp_ring_name), take_name },
	[GP_RING_DEVICE] = { sizeof(struct gp_ring_device), take_device },
	[GP_RING_CONTEXT] = { sizeof(struct gp_ring_context), NULL },
	[GP_RING_KERNEL] = { sizeof(struct gp_ring_kernel), take_kernel },
	[GP_RING_COPY] = { sizeof(struct gp_ring_copy), take_copy },
	[GP_RING_SET] = { sizeof(struct gp_ring_copy), take_copy },
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
	const struct record rec = { kind, len, payload };

	d->counts.received++;
	if (kind >= GP_RING_KINDS || !kinds[kind].least) {
		d->counts.unknown++;
		return 0;
	}
	if (len < kinds[kind].least)
		return refuse(d);
	return kinds[kind].take ? kinds[kind].take(d, &rec, sink) : 0;
}

int helper_decode_end(struct helper_decoder *d, const struct event_sink *sink)
{
	helper_clock_end(&d->clock);
	return push_decided(d, true, sink);
}

struct helper_progress helper_decoder_progress(const struct helper_decoder *d)
{
	return (struct helper_progress){ d->complete_ns, d->known_ns, d->counts };
}
