// SPDX-License-Identifier: BSD-3-Clause
/* One device after the other in a list, found by (process, ordinal). */
#include "ledger/devices.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/num.h"

#define WAITING_WORKS 262144	/* of all books; 64 bytes each */

#define DEVICES_OVER UINT64_MAX	/* now_ns: all is settled, to its end (share_book_is_over) */

struct device {
	struct device_state state;	/* for readers */
	struct device_book *book;	/* NULL: it stands for ended processes */
	struct device *next, *newest;	/* of its process; newest: only of the first */
	uint64_t open_ns;
	/* of ended processes, whose books are gone; open_ns is 0. NULL: it has a book */
	struct device_sum *past;
};

struct devices {
	VEC(struct device *) all;
	struct map by_process;		/* process << 32 | device -> struct device */
	struct map first;		/* process -> its first device */
	struct device *last;		/* that was found; NULL: none */
	struct kernels_budget kernels;
	struct device_room waiting;
	const uint64_t *bins_start_ns;	/* NULL: devices have none */
	size_t bins_left;		/* so many more may */
	struct host_devices hosts;
	struct devices_divide crowded;	/* divide NULL: unknown */
	struct device_counts dropped;	/* of books that are no more */
};

static uint64_t device_key(uint32_t process, uint32_t device)
{
	return (uint64_t)process << 32 | device;
}

struct devices *devices_new(void)
{
	struct devices *d = calloc(1, sizeof(*d));

	if (!d)
		return NULL;
	d->kernels.left_bytes = KERNELS_BUDGET_BYTES;
	d->waiting.left = WAITING_WORKS;
	return d;
}

static void free_device(struct device *s)
{
	rows_free(&s->state.kernels.rows);
	lanes_free(&s->state.lanes);
	device_book_free(s->book);
	free(s->past);
	stalls_free(&s->state.stalls);
	strip_free(&s->state.strip);
	bins_free(s->state.bins);
	free(s);
}

void devices_free(struct devices *d)
{
	if (!d)
		return;
	for (size_t i = 0; i < d->all.n; i++)
		free_device(d->all.v[i]);
	VEC_FREE(&d->all);
	map_free(&d->by_process);
	map_free(&d->first);
	host_devices_free(&d->hosts);
	free(d);
}

void devices_use_bins(struct devices *d, const uint64_t *session_start_ns)
{
	d->bins_start_ns = session_start_ns;
	d->bins_left = BINS_BOOKS;
}

static bool is_last(const struct devices *d, uint32_t process, uint32_t device)
{
	return d->last && d->last->state.process == process && d->last->state.device == device;
}

bool devices_have(const struct devices *d, uint32_t process, uint32_t device)
{
	return is_last(d, process, device) || map_find(&d->by_process, device_key(process, device));
}

/* The first of a process's devices; the others follow by `next`, in order. NULL: it has none. */
static struct device *first_of(const struct devices *d, uint32_t process)
{
	return map_pointer(&d->first, process);
}

static bool add_to_process(struct devices *d, struct device *s, uint32_t process)
{
	struct map_slot *slot = map_put(&d->first, process, NULL);
	struct device *first = slot ? (struct device *)(uintptr_t)slot->value : NULL;

	if (!slot)
		return false;
	if (first)
		first->newest = first->newest->next = s;
	else
		slot->value = (uintptr_t)(s->newest = s);
	return true;
}

/* open_ns NULL: without a book. NULL: out of memory. */
static struct device *add_device(struct devices *d, uint32_t process, uint32_t pid,
				 uint32_t number, const uint64_t *open_ns)
{
	struct map_slot *slot = map_put(&d->by_process, device_key(process, number), NULL);
	struct device *s = slot ? VEC_NEW(&d->all) : NULL;

	if (s && open_ns) {
		s->book = device_book_new(*open_ns, &d->waiting, &s->state.lanes);
		s->open_ns = s->state.strip.open_ns = *open_ns;
		if (d->bins_left)
			s->state.bins = bins_new(*d->bins_start_ns);
		d->bins_left -= s->state.bins != NULL;
	} else if (s) {
		s->past = calloc(1, sizeof(*s->past));
	}
	if (!s || (!s->book && !s->past) || !add_to_process(d, s, process)) {
		if (s) {
			d->all.n--;
			free_device(s);
		}
		map_del(&d->by_process, device_key(process, number));
		return NULL;
	}
	s->state.process = s->state.member.process = process;
	s->state.pid = s->state.member.pid = pid;
	s->state.device = s->state.ordinal = s->state.member.device = number;
	s->state.member.name = s->state.name;
	s->state.member.book = s->book;
	slot->value = (uintptr_t)s;
	return s;
}

static struct device *find(struct devices *d, const struct event *ev, uint32_t device,
			   uint64_t open_ns)
{
	if (is_last(d, ev->process, device))
		return d->last;
	d->last = map_pointer(&d->by_process, device_key(ev->process, device));
	if (!d->last)
		d->last = add_device(d, ev->process, ev->pid, device, &open_ns);
	return d->last;
}

/* ---- works ---------------------------------------------------------------------------------- */

static void count_copy(struct copy_stats *c, const struct event *ev)
{
	c->count++;
	c->bytes += ev->work.bytes;
	c->total_ns += ev->end_ns - ev->start_ns;
}

/* Which bucket and state, and the statistics of copies; *kernel: its row. 0 or -ENOMEM. */
static int classify(struct devices *d, struct device *s, const struct event *ev,
		    struct device_work *out, struct kernel_stats **kernel)
{
	const struct work *w = &ev->work;
	unsigned int dir = w->kind == WORK_KIND_PEER ? COPY_DEFAULT + 1 :
			   w->has & WORK_HAS_DIR && w->dir < COPY_DEFAULT ? w->dir : COPY_DEFAULT;

	switch (w->kind) {
	case WORK_KIND_KERNEL:
		*kernel = kernels_find(&s->state.kernels, &d->kernels, ev);
		if (!*kernel)
			return -ENOMEM;
		out->bucket = (uint8_t)(DEVICE_KERNELS + (*kernel)->class);
		out->state = (*kernel)->class == KERNEL_COMM ? WORK_COMM : WORK_COMPUTE;
		return 0;
	case WORK_KIND_GRAPH:
		out->bucket = DEVICE_GRAPHS;
		out->state = WORK_COMPUTE;
		return 0;
	case WORK_KIND_SET:
		out->bucket = DEVICE_SETS;
		out->state = WORK_SET;
		count_copy(&s->state.sets, ev);
		return 0;
	default:
		out->bucket = (uint8_t)(DEVICE_COPIES + dir);
		if (w->memory == MEMORY_PAGEABLE && dir <= COPY_DEFAULT)
			out->bucket = (uint8_t)(DEVICE_PAGEABLE + dir);
		out->state = WORK_COPY;
		count_copy(&s->state.copies[dir][w->memory > MEMORY_PINNED ? 0 : w->memory], ev);
		return 0;
	}
}

/* ---- idle time ------------------------------------------------------------------------------ */

struct dividing {
	const struct devices_divide *by;	/* NULL: the threads' activity is not known yet */
	const struct device *device;
	struct host_member *share;		/* gets the gap, too; NULL: a reading */
	struct device_idle to;
	int err;
};

static bool has_bins(const struct dividing *d)
{
	return d->to.bins && *d->to.bins;
}

static uint64_t unknown_so_far(const struct dividing *d)
{
	const bool *other = d->by ? d->by->other_is_unknown : NULL;

	return idle_unknown_ns(d->to.ns) + (other && *other ? d->to.ns[IDLE_OTHER] : 0);
}

/* Of the unknown time it is known where nothing was seen; the rest lies evenly in what was. */
static int add_to_strip(const struct dividing *d, const struct device_gap *gap,
			uint64_t unknown_ns)
{
	const struct unseen *unseen = NULL;
	uint64_t seen_ns = gap->end_ns - gap->start_ns, at;
	struct interval hit;
	int err = 0;

	if (unknown_ns && d->by && d->by->unseen)
		unseen = d->by->unseen(d->by->ctx, d->device->state.process);
	for (at = gap->start_ns; unseen_next(unseen, at, gap->end_ns, &hit); at = hit.end) {
		seen_ns -= hit.end - hit.start;
		unknown_ns = num_sub(unknown_ns, hit.end - hit.start);
	}
	for (at = gap->start_ns; at < gap->end_ns && !err; at = hit.end) {
		uint64_t ns, unknown;

		if (!unseen_next(unseen, at, gap->end_ns, &hit))
			hit = (struct interval){ gap->end_ns, gap->end_ns };
		ns = hit.start - at;
		unknown = num_scale(unknown_ns, ns, seen_ns);
		err = strip_add(d->to.strip, at, hit.start, unknown);
		if (!err)
			err = strip_add(d->to.strip, hit.start, hit.end, hit.end - hit.start);
		seen_ns -= ns;
		unknown_ns -= unknown;
	}
	return err;
}

/* Of what is left of each cause: `rest` nanoseconds, as they are in ns if that is there. */
static void take_parts(uint64_t ns[IDLE_CAUSES], uint64_t left[IDLE_CAUSES], uint64_t rest)
{
	for (unsigned int i = 0; i < IDLE_CAUSES; i++) {
		ns[i] = num_min(ns[i], num_min(left[i], rest));
		left[i] -= ns[i];
		rest -= ns[i];
	}
	for (unsigned int i = 0; rest && i < IDLE_CAUSES; i++) {
		const uint64_t more = num_min(left[i], rest);

		ns[i] += more;
		left[i] -= more;
		rest -= more;
	}
}

/* One after the other, all in one bin. */
static void add_causes(struct bins *b, const uint64_t ns[IDLE_CAUSES], uint64_t at)
{
	for (unsigned int i = 0; i < IDLE_CAUSES; at += ns[i++])
		bins_add(b, DEVICE_BUCKETS + i, at, at + ns[i]);
}

/* A gap over several bins is divided in each, so that its causes are where they were. before: idle
 * times without the gap. */
static int add_to_bins(const struct dividing *d, const struct device_gap *gap,
		       const uint64_t before[IDLE_CAUSES])
{
	struct bins *bins = *d->to.bins;
	uint64_t left[IDLE_CAUSES];
	int err = 0;

	for (unsigned int i = 0; i < IDLE_CAUSES; i++)
		left[i] = d->to.ns[i] - before[i];
	bins_reach(bins, gap->end_ns);
	if (gap->end_ns <= bins_end(bins, gap->start_ns)) {
		add_causes(bins, left, gap->start_ns);
		return 0;
	}
	for (uint64_t at = gap->start_ns, end; at < gap->end_ns && !err; at = end) {
		const struct device_gap part = { at, num_min(bins_end(bins, at), gap->end_ns),
						 gap->ended_by };
		uint64_t ns[IDLE_CAUSES] = { 0 };

		end = part.end_ns;
		if (d->by)
			err = d->by->divide(d->by->ctx, d->device->state.process, &part, ns, NULL);
		take_parts(ns, left, end - at);
		add_causes(bins, ns, at);
	}
	return err;
}

static void on_owned(void *ctx, unsigned int bucket, uint64_t from, uint64_t to)
{
	bins_add(*((const struct dividing *)ctx)->to.bins, bucket, from, to);
}

static void on_gap(void *ctx, const struct device_gap *gap)
{
	struct dividing *d = ctx;
	const struct device_idle *to = &d->to;
	const uint64_t queued_ns = to->ns[IDLE_QUEUED], unknown_ns = unknown_so_far(d);
	const uint64_t ns = gap->end_ns - gap->start_ns;
	bool first = gap->start_ns <= d->device->open_ns;	/* earlier time is in no book */
	uint64_t before[IDLE_CAUSES];
	int err = 0;

	if (has_bins(d))
		memcpy(before, to->ns, sizeof(before));

	if (first && to->stalls && gap->ended_by)
		to->stalls->before_ns += ns;
	if (d->by)
		err = d->by->divide(d->by->ctx, d->device->state.process, gap, to->ns,
				    first ? NULL : to->stalls);
	else
		to->ns[IDLE_UNKNOWN] += ns;
	if (!err && to->strip)
		err = add_to_strip(d, gap, unknown_so_far(d) - unknown_ns);
	if (!err && has_bins(d))
		err = add_to_bins(d, gap, before);
	if (!err && d->share)
		err = host_device_gap(d->share, gap, to->ns[IDLE_QUEUED] - queued_ns, d->by);
	d->err = d->err ? d->err : err;
}

static struct device_sink sink_of(struct dividing *d)
{
	return (struct device_sink){ on_gap, has_bins(d) ? on_owned : NULL, d };
}

/* over: nothing more will come. */
static int settle_one(struct devices *d, struct device *s, uint64_t horizon_ns,
		      const struct devices_divide *by, bool over)
{
	struct host_member *member = &s->state.member;
	struct dividing dividing = {
		by, s, member,
		{ s->state.idle_ns, &s->state.stalls, &s->state.strip, &s->state.bins }, 0 };
	const struct device_sink sink = sink_of(&dividing);
	int err = 0;

	if (!s->book)
		return 0;
	if (!member->host)
		err = host_devices_join(&d->hosts, member, NULL,
					device_book_progress(s->book).settled_ns);
	if (!err)
		err = device_book_settle_to(s->book,
					    num_min(horizon_ns, host_member_end(member, by)),
					    &sink);
	if (!err)
		err = dividing.err;
	return err ? err : host_device_settled(member, over ? by : NULL);
}

void devices_when_crowded(struct devices *d, const struct devices_divide *by)
{
	d->crowded = *by;
}

int devices_settle(struct devices *d, uint32_t process, uint64_t horizon_ns,
		   const struct devices_divide *by)
{
	int err = 0;

	if (process == DEVICES_OF_ALL)
		for (size_t i = 0; i < d->all.n && !err; i++)
			err = settle_one(d, d->all.v[i], horizon_ns, by, false);
	else
		for (struct device *s = first_of(d, process); s && !err; s = s->next)
			err = settle_one(d, s, horizon_ns, by, false);
	return err;
}

uint64_t devices_idle_since(const struct devices *d, uint32_t process, uint64_t now_ns)
{
	for (const struct device *s = first_of(d, process); s; s = s->next)
		now_ns = num_min(now_ns, device_book_progress(s->book).idle_since_ns);
	return now_ns;
}

/* How long it was queued while another process ran on the device. */
static int read_waited(const struct device *s, uint64_t now_ns, const struct devices_divide *by,
		       uint64_t *waited_ns)
{
	const struct host_member *member = &s->state.member;
	const struct host_device *host = member->host;
	struct share_book *shared;

	*waited_ns = 0;
	if (!host || host->members.n < 2)
		return 0;
	/* Nothing that its own book does not know yet can be a time in which it waited. */
	if (now_ns == DEVICE_BOOK_SETTLED || now_ns == DEVICES_OVER ||
	    (!device_book_progress(s->book).waiting &&
	     share_book_is_over(host->book, member->number))) {
		*waited_ns = share_book_member(host->book, member->number).waited_ns;
		return 0;
	}
	if (by->waited_ns) {
		*waited_ns = *by->waited_ns;
		return 0;
	}
	shared = host_device_read(host, now_ns, by);
	if (!shared)
		return -errno;
	*waited_ns = share_book_member(shared, member->number).waited_ns;
	share_book_free(shared);
	return 0;
}

int devices_read(const struct device_state *state, uint64_t now_ns, const struct devices_divide *by,
		 struct device_sum *sum, const struct device_idle *idle)
{
	const struct device *s = (const struct device *)state;
	struct dividing dividing = { by, s, NULL, *idle, 0 };
	int err = idle->stalls ? stalls_copy(idle->stalls, &state->stalls) : 0;
	struct device_sink sink;
	uint64_t waited_ns = 0;

	memcpy(idle->ns, state->idle_ns, sizeof(state->idle_ns));
	if (!err && idle->strip)
		err = strip_copy(idle->strip, &state->strip);
	if (idle->bins)
		*idle->bins = state->bins ? bins_copy(state->bins) : NULL;
	if (!err && idle->bins && state->bins && !*idle->bins)
		err = -ENOMEM;
	sink = sink_of(&dividing);
	if (!s->book) {
		*sum = *s->past;
		return err;
	}
	if (!err)
		err = device_book_read_to(s->book,
					  num_min(now_ns, host_member_end(&s->state.member, by)),
					  sum, &sink);
	if (!err)
		err = dividing.err;
	if (!err && idle->strip)
		idle->strip->close_ns = sum->close_ns;
	if (!err)
		err = read_waited(s, now_ns, by, &waited_ns);
	/* That time is charged to the other process. */
	waited_ns = num_min(waited_ns, idle->ns[IDLE_QUEUED]);
	idle->ns[IDLE_QUEUED] -= waited_ns;
	idle->ns[IDLE_OTHER_PROCESS] += waited_ns;
	return err;
}

static uint64_t sum_of(const uint64_t *parts, size_t n)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < n; i++)
		sum += parts[i];
	return sum;
}

/* That another process ran while this one was queued may be known later than the queued time. */
static void subtract_idle(uint64_t ns[IDLE_CAUSES], uint64_t earlier_ns[IDLE_CAUSES])
{
	uint64_t other_ns = num_sub(ns[IDLE_OTHER_PROCESS], earlier_ns[IDLE_OTHER_PROCESS]);

	ns[IDLE_QUEUED] += ns[IDLE_OTHER_PROCESS];
	earlier_ns[IDLE_QUEUED] += earlier_ns[IDLE_OTHER_PROCESS];
	ns[IDLE_OTHER_PROCESS] = earlier_ns[IDLE_OTHER_PROCESS] = 0;
	num_subtract_parts(ns, earlier_ns, IDLE_CAUSES);
	ns[IDLE_OTHER_PROCESS] = num_min(other_ns, ns[IDLE_QUEUED]);
	ns[IDLE_QUEUED] -= ns[IDLE_OTHER_PROCESS];
}

uint64_t devices_subtract(struct device_sum *from, uint64_t idle_ns[IDLE_CAUSES],
			  const struct device_sum *earlier, const uint64_t earlier_ns[IDLE_CAUSES])
{
	uint64_t now[DEVICE_BUCKETS + 1], before[DEVICE_BUCKETS + 1], late_ns, wall_ns;
	uint64_t idle_before_ns[IDLE_CAUSES];

	num_sub_each(from->busy_ns, earlier->busy_ns, DEVICE_BUCKETS);
	num_sub_each(from->works, earlier->works, DEVICE_BUCKETS);
	memcpy(now, from->owned_ns, sizeof(from->owned_ns));
	memcpy(before, earlier->owned_ns, sizeof(earlier->owned_ns));
	now[DEVICE_BUCKETS] = from->idle_ns;
	before[DEVICE_BUCKETS] = earlier->idle_ns;
	late_ns = num_subtract_parts(now, before, DEVICE_BUCKETS + 1);
	memcpy(from->owned_ns, now, sizeof(from->owned_ns));
	from->idle_ns = now[DEVICE_BUCKETS];
	/* That a gap is known by its cause only now is not late: it was `open`. */
	memcpy(idle_before_ns, earlier_ns, sizeof(idle_before_ns));
	subtract_idle(idle_ns, idle_before_ns);
	num_reduce_parts(idle_ns, IDLE_CAUSES,
			 num_sub(sum_of(idle_ns, IDLE_CAUSES), from->idle_ns));
	wall_ns = sum_of(now, DEVICE_BUCKETS + 1);
	if (from->open_ns)
		from->open_ns = from->close_ns - wall_ns;
	else
		from->close_ns = wall_ns;
	return late_ns;
}

/* ---- input --------------------------------------------------------------------------------- */

/* A difference of two times, as far as it goes. */
static int32_t to_int32(uint64_t ns)
{
	const int64_t n = (int64_t)ns;

	return n > INT32_MAX ? INT32_MAX : n < INT32_MIN ? INT32_MIN : (int32_t)n;
}

static void set_launch(struct device_work *work, const struct launch *launch)
{
	work->has_launch = true;
	work->launch_tid = launch->tid;
	work->launch_start_ns = launch->start_ns;
	work->launch_end_ns = launch->end_ns;
	work->call_class = launch->call.class;
	if (launch->call.class == CLASS_OTHER)
		return;
	work->call_before_ns = to_int32(launch->start_ns - launch->call.start_ns);
	work->call_after_ns = to_int32(launch->call.end_ns - launch->end_ns);
}

void devices_push_call(struct devices *d, uint32_t process, uint32_t correlation,
		       const struct launch *launch)
{
	uint64_t since_ns = num_sub(launch->start_ns, JOIN_SKEW_NS);
	struct device_work of = { .id = correlation };

	set_launch(&of, launch);
	for (struct device *s = first_of(d, process); s; s = s->next)
		if (s->book)
			device_book_call(s->book, &of, since_ns);
}

int devices_push_work(struct devices *d, const struct event *ev, const struct launch *launch,
		      uint64_t open_ns)
{
	struct device *s = find(d, ev, ev->work.device, open_ns);
	struct device_work work = {
		.start_ns = ev->start_ns, .end_ns = ev->end_ns,
		.lane = (uint64_t)ev->work.context << 32 | ev->work.stream,
		.id = ev->work.correlation,
	};
	struct kernel_stats *kernel = NULL;
	int err = s ? classify(d, s, ev, &work, &kernel) : -ENOMEM;
	uint64_t until_ns = err ? 0 : device_book_crowded(s->book);
	uint64_t queue_ns = launch ? num_sub(ev->start_ns, launch->end_ns) : 0;

	if (launch)
		set_launch(&work, launch);
	if (until_ns)
		err = settle_one(d, s, until_ns, d->crowded.divide ? &d->crowded : NULL, false);
	if (!err)
		err = device_book_push(s->book, &work);
	/* Only now: until here the kernel's row is on its way into the cache. */
	if (!err && kernel)
		err = kernels_add(&s->state.kernels, &d->kernels, kernel, ev,
				  launch ? &queue_ns : NULL);
	return err;
}

int devices_push_facts(struct devices *d, const struct event *ev, uint64_t open_ns)
{
	struct device *s = find(d, ev, ev->device.facts.device, open_ns);

	if (!s)
		return -ENOMEM;
	s->state.facts = ev->device.facts;
	s->state.has_facts = true;
	snprintf(s->state.name, sizeof(s->state.name), "%s",
		 ev->device.name ? ev->device.name : "");
	return host_devices_join(&d->hosts, &s->state.member, s->state.facts.uuid, s->open_ns);
}

static void add_counts(struct device_counts *to, const struct device_book *book)
{
	const struct device_counts c = device_book_progress(book).counts;

	to->invalid += c.invalid;
	to->late += c.late;
	to->late_ns = num_add(to->late_ns, c.late_ns);
}

/* ---- what becomes part of another ------------------------------------------------------------ */

/* All without a UUID are alike if the processes number them so. */
static bool is_successor(const struct device *successor, const struct device *s, uint32_t into)
{
	if (successor->book || successor->state.process != into)
		return false;
	if (s->state.has_facts || successor->state.has_facts)
		return s->state.has_facts && successor->state.has_facts &&
		       !strcmp(s->state.facts.uuid, successor->state.facts.uuid);
	return successor->state.ordinal == s->state.device;
}

/* Found or made; NULL: out of memory. */
static struct device *find_successor(struct devices *d, const struct device *s, uint32_t into)
{
	struct device *successor;
	uint32_t number = 0;

	for (size_t i = 0; i < d->all.n; i++)
		if (is_successor(d->all.v[i], s, into))
			return d->all.v[i];
	while (map_find(&d->by_process, device_key(into, number)))
		number++;
	successor = add_device(d, into, into, number, NULL);
	if (!successor)
		return NULL;
	successor->state.ordinal = s->state.device;
	successor->state.has_facts = s->state.has_facts;
	successor->state.facts = s->state.facts;
	memcpy(successor->state.name, s->state.name, sizeof(successor->state.name));
	return successor;
}

const struct device_state *devices_successor(struct devices *d, uint32_t process, uint32_t device,
					uint32_t into)
{
	const struct device *s = map_pointer(&d->by_process, device_key(process, device));
	const struct device *successor = s ? find_successor(d, s, into) : NULL;

	errno = s ? ENOMEM : ENOENT;
	return successor ? &successor->state : NULL;
}

static int add_book(struct device *successor, const struct device *s,
		    const struct devices_divide *by)
{
	uint64_t idle_ns[IDLE_CAUSES];
	struct device_sum *to = successor->past, sum;
	int err = devices_read(&s->state, DEVICES_OVER, by, &sum,
			       &(struct device_idle){ .ns = idle_ns });

	to->close_ns += sum.close_ns - sum.open_ns;
	to->idle_ns += sum.idle_ns;
	num_add_each(to->owned_ns, sum.owned_ns, DEVICE_BUCKETS);
	num_add_each(to->busy_ns, sum.busy_ns, DEVICE_BUCKETS);
	num_add_each(to->works, sum.works, DEVICE_BUCKETS);
	num_add_each(successor->state.idle_ns, idle_ns, IDLE_CAUSES);
	return err;
}

static int fold(struct devices *d, struct device *s, uint32_t into, const struct devices_divide *by)
{
	struct device *successor = find_successor(d, s, into);
	const struct host_device *host = s->state.member.host;
	int err = successor ? add_book(successor, s, by) : -ENOMEM;

	if (!err)
		err = kernels_merge(&successor->state.kernels, &d->kernels, &s->state.kernels);
	if (!err)
		err = lanes_merge(&successor->state.lanes, &s->state.lanes);
	if (!err && host && host->uuid[0])
		err = host_devices_join(&d->hosts, &successor->state.member, host->uuid,
					s->open_ns);
	if (err)
		return err;
	num_add_each((uint64_t *)successor->state.copies, (const uint64_t *)s->state.copies,
		     sizeof(s->state.copies) / sizeof(uint64_t));
	num_add_each((uint64_t *)&successor->state.sets, (const uint64_t *)&s->state.sets,
		     sizeof(s->state.sets) / sizeof(uint64_t));
	host_devices_leave(&d->hosts, &s->state.member, &successor->state.member);
	if (s->book)
		add_counts(&d->dropped, s->book);
	map_del(&d->by_process, device_key(s->state.process, s->state.device));
	kernels_drop(&s->state.kernels, &d->kernels);
	d->bins_left += s->state.bins != NULL;
	free_device(s);
	return 0;
}

int devices_finish(struct devices *d, uint32_t process, const struct devices_divide *by, bool *done)
{
	int err = 0;

	*done = true;
	for (struct device *s = first_of(d, process); s && !err; s = s->next) {
		const struct host_member *member = &s->state.member;

		err = settle_one(d, s, UINT64_MAX, by, true);
		device_book_trim(s->book);
		rows_trim(&s->state.stalls.rows);
		rows_trim(&s->state.kernels.rows);
		*done &= !member->host || share_book_is_over(member->host->book, member->number);
	}
	return err;
}

int devices_fold(struct devices *d, uint32_t process, uint32_t into,
		 const struct devices_divide *by)
{
	size_t kept = 0, n = d->all.n;
	int err = 0;

	for (size_t i = 0; i < n; i++) {
		struct device *s = d->all.v[i];
		bool stays = s->state.process != process || err;

		if (!stays)
			err = fold(d, s, into, by);
		if (stays || err)
			d->all.v[kept++] = s;
	}
	/* Successors that were made meanwhile stand at the end. */
	while (n < d->all.n)
		d->all.v[kept++] = d->all.v[n++];
	d->all.n = kept;
	d->last = NULL;
	map_del(&d->first, process);
	return err;
}

size_t devices_names_left(const struct devices *d)
{
	return d->kernels.left_bytes;
}

void devices_counts(const struct devices *d, struct device_counts *out)
{
	*out = d->dropped;
	for (size_t i = 0; i < d->all.n; i++)
		if (d->all.v[i]->book)
			add_counts(out, d->all.v[i]->book);
	out->late_ns = num_add(out->late_ns, host_devices_late_ns(&d->hosts));
}

/* ---- reading -------------------------------------------------------------------------------- */

struct host_devices *devices_hosts(struct devices *d)
{
	return &d->hosts;
}

size_t devices_count(const struct devices *d)
{
	return d->all.n;
}

const struct device_state *devices_get(const struct devices *d, size_t i)
{
	return &d->all.v[i]->state;
}
