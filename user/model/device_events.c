// SPDX-License-Identifier: BSD-3-Clause
/*
 * Device activity, by way of the join, into its books and the facts; and threads' activity while
 * devices idled: every call goes into its thread's timeline, every gap of a book is divided by
 * the timeline of the thread that launched.
 */
#include "model/consumers.h"

#include <errno.h>
#include <string.h>

#include "base/num.h"
#include "ledger/host_devices.h"
#include "model/shared.h"

#define TIMELINE_CHUNKS 65536	/* of all threads */
#define SAMPLED_CHUNKS 8192	/* the same, of time off the CPU */
#define EARLY_THREADS_MAX 4096	/* of one process */
#define ORIGINS_MAX 32768	/* of calls of one process; more are unknown here */
#define STREAMS_MAX 4096	/* handles of one process; more are unknown */

/* ---- calls ---------------------------------------------------------------------------------- */

/* As much of the time that the event was late as is in the span. */
static void set_late(struct timeline_span *span, const struct event *ev)
{
	uint64_t start = span->start_ns, end = span->end_ns;

	if (!event_late(ev, &start, &end))
		return;
	span->late_ns = end - start;
	span->after_late_ns = span->end_ns - end;
	span->late_why = ev->call.late_why;
}

static bool is_call(const struct timeline_span *span)
{
	return span->bucket < CLASS_END && span->bucket != CLASS_OTHER &&
	       span->start_ns < span->end_ns;
}

static struct launch_call call_of(const struct process *p, const struct timeline_span *span)
{
	struct launch_call call = { .start_ns = span->start_ns, .end_ns = span->end_ns,
				    .func = span->func, .class = span->bucket,
				    .captured = span->captured, .stream = span->stream };

	if (span->stack) {
		call.stack = p->origins.stacks.v[span->stack];
		call.op = p->origins.scopes.v[span->stack].op;
		call.module = p->origins.scopes.v[span->stack].module;
	}
	return call;
}

static uint16_t stream_number(struct process *p, const struct event *ev)
{
	const uint64_t handle = ev->call.stream;
	struct map_slot *slot;

	if (!(ev->has & HAS_STREAM))
		return LAUNCH_STREAM_UNKNOWN;
	if (handle < LAUNCH_STREAM_DEFAULTS)
		return (uint16_t)(1 + handle);
	if (handle == p->last_stream)
		return (uint16_t)p->last_number;
	slot = p->streams.n < STREAMS_MAX ? map_put(&p->streams, handle, NULL) :
					    map_find(&p->streams, handle);
	if (!slot)
		return LAUNCH_STREAM_UNKNOWN;
	if (!slot->value)
		slot->value = LAUNCH_STREAM_DEFAULTS + p->streams.n;
	p->last_stream = handle;
	p->last_number = slot->value;
	return (uint16_t)slot->value;
}

/* The place is made in both lists, or (0) in neither. */
static size_t add_origin(struct call_origins *o, uint64_t stack, const struct call_scopes *scopes)
{
	uint64_t *id = VEC_PUSH(&o->stacks);
	struct call_scopes *of = id ? VEC_PUSH(&o->scopes) : NULL;

	if (!of) {
		o->stacks.n -= id != NULL;
		return 0;
	}
	*id = stack;
	*of = *scopes;
	return o->stacks.n - 1;
}

/* Of a call's stack, operator and module. 0: it has none; also where there is no room for more. */
static uint16_t origin_number(struct call_origins *o, const struct event_call *call)
{
	const struct call_scopes scopes = { call->op, call->module };
	const uint64_t id = call->stack;
	struct map_slot *slot;
	uint64_t key;

	if (!id && !scopes.op && !scopes.module)
		return 0;
	if (id == o->last_stack && !memcmp(&scopes, &o->last_scopes, sizeof(scopes)))
		return o->last;
	if (!o->stacks.n)
		add_origin(o, 0, &(struct call_scopes){ 0 });	/* number 0 */
	key = id ^ map_hash(scopes.op ^ map_hash(scopes.module));
	slot = o->stacks.n < ORIGINS_MAX ? map_put(&o->numbers, key, NULL) :
					   map_find(&o->numbers, key);
	if (!slot)
		return 0;
	if (!slot->value)
		slot->value = add_origin(o, id, &scopes);
	o->last_stack = id;
	o->last_scopes = scopes;
	o->last = (uint16_t)slot->value;
	return o->last;
}

/* Without memory for it the thread's last calls seem to have none. */
static void note_record(struct model *m, struct thread *t, const struct event *ev)
{
	struct process *p = t ? NULL : processes_find(m, ev->process);
	struct map_slot *slot;

	if (t)
		t->record_ns = num_max(t->record_ns, ev->end_ns);
	if (!p || p->early_records.n >= EARLY_THREADS_MAX)
		return;
	slot = map_put(&p->early_records, ev->tid, NULL);
	if (slot)
		slot->value = num_max(slot->value, ev->end_ns);
}

int device_push_api(struct model *m, const struct event *ev)
{
	struct thread *t = m->threads.n ? threads_find(m, ev->process, ev->tid) : NULL;
	const uint64_t moment_ns = launch_moment(ev->start_ns, ev->end_ns);
	struct launch_call call = { .class = CLASS_OTHER };
	struct timeline_span span;

	note_record(m, t, ev);
	if (!t || !timeline_reach(&t->timeline, moment_ns, &span)) {
		if (t)
			t->records_wait = true;
		return join_push_api(m->join, ev, NULL);
	}
	if (span.start_ns <= moment_ns && is_call(&span))
		call = call_of(t->process, &span);
	return join_push_api(m->join, ev, &call);
}

void device_note_call(struct model *m, struct thread *t, const struct event *ev,
		     const struct noted_call *call)
{
	const struct book *b = &t->book;
	uint64_t start = num_min(num_max(ev->start_ns, call->cursor_ns), b->cursor);
	struct timeline_span span;

	if (ev->kind == EVENT_GONE)
		start = b->cursor;
	if (b->last_gap != CLASS_OTHER)
		timeline_add(&t->timeline, &m->timelines, &(struct timeline_span){
			.start_ns = num_max(call->cursor_ns, b->base), .end_ns = start,
			.bucket = b->last_gap, .func = TIMELINE_NO_FUNC });
	/* Once: one with two records has come before, as ENTER. */
	if ((ev->kind == EVENT_CALL || ev->kind == EVENT_OPEN) && ev->start_ns < b->stop)
		unseen_note_call(m, t, &(struct interval){ start, b->cursor }, call->class);
	if (call->class == CLASS_OTHER)
		return;
	t->open_stream = stream_number(t->process, ev);
	span = (struct timeline_span){
		.start_ns = start, .end_ns = b->cursor, .bucket = call->class, .func = ev->func,
		.stream = t->open_stream, .captured = call->captured,
		.large = ev->has & HAS_BYTES && ev->call.bytes >= TIMELINE_LARGE_BYTES,
		.stack = origin_number(&t->process->origins, &ev->call) };
	set_late(&span, ev);
	timeline_add(&t->timeline, &m->timelines, &span);
	if (__builtin_expect(t->records_wait, 0) && is_call(&span)) {
		const struct launch_call met = call_of(t->process, &span);

		t->records_wait = join_push_call(m->join, t->process->info.process, t->tid, &met);
	}
}

/* ---- calls that wait for devices ------------------------------------------------------------- */

static bool waits(unsigned int class)
{
	return class == CLASS_SYNC || class == CLASS_COPY || class == CLASS_FREE;
}

/* A call that began before its probes is a span for each time that it was seen in it. */
static bool find_wait(const struct thread *t, uint64_t ns, struct join_wait *out)
{
	struct timeline_span span, next;

	if (!timeline_find(&t->timeline, ns, &span) || !is_call(&span) || !waits(span.bucket))
		return false;
	*out = (struct join_wait){ span.start_ns, span.end_ns, t->tid, span.stream };
	while (timeline_find(&t->timeline, out->end_ns, &next) &&
	       next.start_ns == out->end_ns && next.func == span.func)
		out->end_ns = next.end_ns;
	return true;
}

/* For join_use_waits. */
static bool next_wait(void *model, uint32_t process, uint64_t ns, size_t *at,
		      struct join_wait *out)
{
	const struct model *m = model;

	while (*at < m->threads.n) {
		const struct thread *t = m->threads.v[(*at)++];
		struct thread_call open;

		if (t->process->info.process != process || !t->has_book)
			continue;
		open = thread_open_call(t);
		if (open.is_open && !t->ended && waits(m->funcs->v[open.func].class)) {
			*out = (struct join_wait){ open.start_ns, UINT64_MAX, t->tid,
						   t->open_stream };
			return true;
		}
		if (find_wait(t, ns, out))
			return true;
	}
	return false;
}

/* ---- threads off the CPU, estimated ---------------------------------------------------------- */

static struct idle_thread as_idle(const struct thread *t)
{
	return (struct idle_thread){ &t->timeline, t->book.cursor, (uint8_t)book_now(&t->book),
				     &t->process->unarmed, &t->sampled.spans,
				     t->process->origins.stacks.v };
}

static int push_sched(struct model *m, const struct event *ev)
{
	struct thread *t = threads_find(m, ev->process, ev->tid);
	struct idle_thread who;

	if (!t || !t->has_book)
		return CONSUMER_ENDS;
	who = as_idle(t);
	t->stopped_ns = ev->sched.last == OFF_STOPPED ? ev->end_ns : 0;
	return sampled_add(&t->sampled, &m->sampled, &who, ev) ? 0 : -EINVAL;
}

/* ---- gaps ----------------------------------------------------------------------------------- */

struct dividing {
	const struct model *m;
	uint32_t process;
	uint64_t *ns;
	struct stalls *stalls;
};

/* A part of a gap in which all that the devices did is seen. */
static int divide_seen(void *ctx, const struct device_gap *gap)
{
	const struct dividing *d = ctx;
	const struct thread *t = gap->ended_by && gap->ended_by->has_launch ?
				 threads_find(d->m, d->process, gap->ended_by->launch_tid) : NULL;
	uint64_t part[IDLE_CAUSES] = { 0 };
	struct idle_thread who;

	if (!t || !t->has_book || !t->drives) {
		idle_divide(gap, NULL, d->ns);
		return 0;
	}
	who = as_idle(t);
	idle_divide(gap, &who, part);
	for (unsigned int i = 0; i < IDLE_CAUSES; i++)
		d->ns[i] += part[i];
	return d->stalls ? stalls_add(d->stalls, gap, &who, part) : 0;
}

static int divide(void *ctx, uint32_t process, const struct device_gap *gap, uint64_t *ns,
		  struct stalls *stalls)
{
	struct dividing d = { ctx, process, ns, stalls };
	const struct process *p = processes_find(d.m, process);

	return p ? unseen_divide(&p->unseen, gap, ns, divide_seen, &d) : divide_seen(&d, gap);
}

static uint64_t exit_ns(void *model, uint32_t process)
{
	const struct process *p = processes_find(model, process);

	return p ? p->info.exit_ns : 0;
}

static const struct unseen *unseen_of(void *model, uint32_t process)
{
	const struct process *p = processes_find(model, process);

	return p ? &p->unseen : NULL;
}

/* Without delay: threads' activity is known up to the watermark of calls. */
static int divide_early(void *ctx, uint32_t process, const struct device_gap *gap, uint64_t *ns,
			struct stalls *stalls)
{
	const struct model *m = ctx;

	if (gap->end_ns <= m->watermark_ns)
		return divide(ctx, process, gap, ns, stalls);
	ns[IDLE_UNKNOWN] += gap->end_ns - gap->start_ns;
	return 0;
}

/* ---- works ---------------------------------------------------------------------------------- */

/* A book of a device opens with the session or with its process: earlier time is not in it. */
static uint64_t open_ns(const struct model *m, uint32_t process, uint32_t device)
{
	const struct process *p;

	if (devices_have(m->devices, process, device))
		return 0;
	p = processes_find(m, process);
	return num_max(m->session.start_ns, p ? p->info.start_ns : 0);
}

/* One device more than there may be: the event was not received. */
static bool is_beyond_limit(struct model *m, const struct event *ev, uint32_t device)
{
	if (devices_count(m->devices) < MODEL_DEVICES_MAX ||
	    devices_have(m->devices, ev->process, device))
		return false;
	m->counts.received[ev->kind]--;
	m->counts.unfollowed[ev->kind]++;
	return true;
}

/* Works of a launch go to the call that made it, too. */
static int note_works(struct model *m, uint32_t process, const struct launch_call *call,
		      uint64_t n, uint64_t ns)
{
	struct process *p = processes_find(m, process);

	if (!p || call->class == CLASS_OTHER)
		return 0;
	return call_cache_add_works(&p->works_cache, &p->info.calls, call, n, ns);
}

static int on_work(void *state, const struct event *work, const struct launch *launch)
{
	struct model *m = state;
	int err;

	if (is_beyond_limit(m, work, work->work.device))
		return 0;
	err = devices_push_work(m->devices, work, launch,
				open_ns(m, work->process, work->work.device));
	return err || !launch ? err : note_works(m, work->process, &launch->call, 1,
						 work->end_ns - work->start_ns);
}

static int on_called(void *state, uint32_t process, uint32_t correlation,
		     const struct launch *launch)
{
	struct model *m = state;

	devices_push_call(m->devices, process, correlation, launch);
	return note_works(m, process, &launch->call, launch->works, launch->works_ns);
}

static int on_horizon(void *state, uint32_t process, uint64_t horizon_ns)
{
	struct model *m = state;
	struct process *p = processes_find(m, process);
	int err;

	if (m->session.stop_ns)
		horizon_ns = num_min(horizon_ns, m->session.stop_ns);
	err = devices_settle(m->devices, process, horizon_ns, &m->divide);
	/* Gaps that have ended are divided: they are final. */
	if (!err && p)
		unseen_drop_before(&p->unseen,
				   devices_idle_since(m->devices, process,
						      num_sub(horizon_ns, JOIN_WINDOW_NS)));
	return err;
}

static int push_sample(struct model *m, const struct event *ev)
{
	uint64_t until_ns = m->session.stop_ns ? m->session.stop_ns : UINT64_MAX;
	struct sampled_device *d;
	int err = samples_push(&m->samples, ev, m->session.start_ns, until_ns, &d);

	if (err || ev->kind != EVENT_SAMPLE)
		return err;
	/* Devices are read up to where works are known; other users are known up to a second
	 * later. */
	return host_devices_sample(devices_hosts(m->devices), d, ev->start_ns, !m->intervals);
}

static int push_watermark(struct model *m, const struct event *ev)
{
	struct devices_divide by = m->divide;

	by.waits = !m->intervals;
	if (ev->end_ns <= JOIN_WINDOW_NS)
		return 0;
	return host_devices_settle_all(devices_hosts(m->devices), ev->end_ns - JOIN_WINDOW_NS,
				       &by);
}

/* ---- the consumer ---------------------------------------------------------------------------- */

static int init(void *state, struct model *m)
{
	(void)state;
	m->timelines.left = TIMELINE_CHUNKS;
	m->sampled.left = SAMPLED_CHUNKS;
	m->divide = (struct devices_divide){ .divide = divide, .exit_ns = exit_ns,
					     .unseen = unseen_of,
					     .other_is_unknown = &m->without_probes, .ctx = m };
	m->devices = devices_new();
	if (!m->devices)
		return -ENOMEM;
	devices_when_crowded(m->devices, &(struct devices_divide){
		.divide = divide_early, .exit_ns = exit_ns, .unseen = unseen_of,
		.other_is_unknown = &m->without_probes, .ctx = m });
	join_use_waits(m->join, next_wait);
	return 0;
}

static int on_event(void *state, const struct event *ev)
{
	struct model *m = state;
	int err;

	switch (ev->kind) {
	case EVENT_DEVICE:
		if (is_beyond_limit(m, ev, ev->device.facts.device))
			return 0;
		err = devices_push_facts(m->devices, ev,
					 open_ns(m, ev->process, ev->device.facts.device));
		if (err != -EINVAL)
			model_see_time(m, ev->end_ns);
		return err;
	case EVENT_SCHED: return push_sched(m, ev);
	case EVENT_WATERMARK: return push_watermark(state, ev);
	default: return push_sample(state, ev);
	}
}

static int finish(void *state)
{
	const struct model *m = state;

	return m->session.stop_ns ?
	       devices_settle(m->devices, DEVICES_OF_ALL, m->session.stop_ns, &m->divide) : 0;
}

static int settle(void *state, struct process *p, bool *done)
{
	const struct model *m = state;

	return devices_finish(m->devices, p->info.process, &m->divide, done);
}

static int fold(void *state, struct process *p, struct process *into)
{
	const struct model *m = state;

	return devices_fold(m->devices, p->info.process, into->info.process, &m->divide);
}

static void free_state(void *state)
{
	struct model *m = state;

	devices_free(m->devices);
	samples_free(&m->samples);
}

const struct consumer devices_consumer = {
	.kinds = 1ull << EVENT_DEVICE | 1ull << EVENT_WATERMARK | 1ull << EVENT_SAMPLE |
		 1ull << EVENT_USER | 1ull << EVENT_FAULT | 1ull << EVENT_SCHED,
	.init = init,
	.on_event = on_event,
	.on_work = on_work,
	.on_called = on_called,
	.on_horizon = on_horizon,
	.finish = finish,
	.settle = settle,
	.fold = fold,
	.free = free_state,
};
