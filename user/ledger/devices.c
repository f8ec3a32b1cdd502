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
	bool was_wanted;		/* at a cut */
	uint64_t open_ns;
	uint64_t unspent_ns;		/* it waited for others before the cut, and was not yet
					 * queued */
	struct device_sum past;		/* of ended processes, whose books are gone; open_ns is 0 */
};

struct devices {
	VEC(struct device *) all;
	struct map by_process;		/* process << 32 | device -> struct device */
	struct device *last;		/* that was found; NULL: none */
	struct kernels_budget kernels;
	struct device_room waiting;
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

	if (d)
		d->kernels.left_bytes = KERNELS_BUDGET_BYTES;
	if (d)
		d->waiting.left = WAITING_WORKS;
	return d;
}

static void free_device(struct device *s)
{
	rows_free(&s->state.kernels.rows);
	lanes_free(&s->state.lanes);
	device_book_free(s->book);
	stalls_free(&s->state.stalls);
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
	host_devices_free(&d->hosts);
	free(d);
}

static bool is_last(const struct devices *d, uint32_t process, uint32_t device)
{
	return d->last && d->last->state.process == process && d->last->state.device == device;
}

bool devices_have(const struct devices *d, uint32_t process, uint32_t device)
{
	return is_last(d, process, device) || map_find(&d->by_process, device_key(process, device));
}

const struct device_state *devices_find(const struct devices *d, uint32_t process, uint32_t device)
{
	const struct map_slot *slot = map_find(&d->by_process, device_key(process, device));

	return slot ? (const void *)(uintptr_t)slot->value : NULL;
}

static int on_pushed(void *lanes, const struct device_work *work)
{
	return lanes_submit(lanes, work);
}

static int on_begun(void *lanes, const struct device_work *work)
{
	return lanes_begin(lanes, work);
}

/* Without a book yet. NULL: out of memory. */
static struct device *add_device(struct devices *d, uint32_t process, uint32_t pid,
				 uint32_t number)
{
	struct map_slot *slot = map_put(&d->by_process, device_key(process, number), NULL);
	struct device *s = slot ? calloc(1, sizeof(*s)) : NULL, **at = s ? VEC_PUSH(&d->all) : NULL;

	if (!at) {
		if (slot)
			map_del(&d->by_process, device_key(process, number));
		free(s);
		return NULL;
	}
	s->state.process = s->state.member.process = process;
	s->state.pid = s->state.member.pid = pid;
	s->state.device = s->state.ordinal = s->state.member.device = number;
	s->state.member.name = s->state.name;
	*at = s;
	slot->value = (uintptr_t)s;
	return s;
}

static struct device *find_or_make(struct devices *d, const struct event *ev, uint32_t device,
				   uint64_t open_ns)
{
	const struct map_slot *slot = map_find(&d->by_process, device_key(ev->process, device));
	struct device_book *book;
	struct device *s;

	if (slot)
		return (void *)(uintptr_t)slot->value;
	book = device_book_new(open_ns, &d->waiting);
	s = book ? add_device(d, ev->process, ev->pid, device) : NULL;
	if (!s) {
		device_book_free(book);
		return NULL;
	}
	s->book = s->state.member.book = book;
	s->open_ns = open_ns;
	device_book_watch(book, &(struct device_watch){ on_pushed, on_begun, &s->state.lanes });
	return s;
}

static struct device *find(struct devices *d, const struct event *ev, uint32_t device,
			   uint64_t open_ns)
{
	if (!is_last(d, ev->process, device))
		d->last = find_or_make(d, ev, device, open_ns);
	return d->last;
}

/* ---- works ---------------------------------------------------------------------------------- */

static void count_copy(struct copy_stats *c, const struct event *ev)
{
	c->count++;
	c->bytes += ev->work.bytes;
	c->total_ns += ev->end_ns - ev->start_ns;
}

static int count_kernel(struct devices *d, struct device *s, struct kernel_stats *k,
			const struct event *ev, const struct launch *launch)
{
	uint64_t queue_ns;

	if (!launch)
		return kernels_add(&s->state.kernels, &d->kernels, k, ev, NULL);
	queue_ns = ev->start_ns > launch->end_ns ? ev->start_ns - launch->end_ns : 0;
	return kernels_add(&s->state.kernels, &d->kernels, k, ev, &queue_ns);
}

/* Which bucket and state, and the statistics beside the book. 0 or -ENOMEM. */
static int classify(struct devices *d, struct device *s, const struct event *ev,
		    const struct launch *launch, struct device_work *out)
{
	const struct work *w = &ev->work;
	unsigned int dir = w->kind == WORK_KIND_PEER ? COPY_DEFAULT + 1 :
			   w->has & WORK_HAS_DIR && w->dir < COPY_DEFAULT ? w->dir : COPY_DEFAULT;
	struct kernel_stats *k;

	switch (w->kind) {
	case WORK_KIND_KERNEL:
		k = kernels_find(&s->state.kernels, &d->kernels, ev);
		if (!k)
			return -ENOMEM;
		out->bucket = (uint8_t)(DEVICE_KERNELS + k->class);
		out->state = k->class == KERNEL_COMM ? WORK_COMM : WORK_COMPUTE;
		return count_kernel(d, s, k, ev, launch);
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
	uint64_t *ns;
	struct stalls *stalls;
	int err;
};

static int divide(const struct dividing *d, const struct device_gap *gap)
{
	bool first = gap->start_ns <= d->device->open_ns;	/* earlier time is in no book */

	if (first && d->stalls && gap->ended_by)
		d->stalls->before_ns += gap->end_ns - gap->start_ns;
	if (d->by)
		return d->by->divide(d->by->ctx, d->device->state.process, gap, d->ns,
				     first ? NULL : d->stalls);
	d->ns[IDLE_UNKNOWN] += gap->end_ns - gap->start_ns;
	return 0;
}

static void on_gap(void *ctx, const struct device_gap *gap)
{
	struct dividing *d = ctx;
	uint64_t queued_ns = d->ns[IDLE_QUEUED];
	int err = divide(d, gap);

	if (!err && d->share)
		err = host_device_gap(d->share, gap, d->ns[IDLE_QUEUED] - queued_ns, d->by);
	d->err = d->err ? d->err : err;
}

static int settle_one(struct devices *d, struct device *s, uint64_t horizon_ns,
		       const struct devices_divide *by)
{
	struct dividing dividing = {
		by, s, &s->state.member, s->state.idle_ns, &s->state.stalls, 0
	};
	int err = s->state.member.host || !s->book ?
			  0 :
			  host_devices_join(&d->hosts, &s->state.member, NULL,
					    device_book_settled(s->book));

	if (err || !s->book)
		return err;
	err = device_book_settle(s->book,
				 num_min(horizon_ns, host_member_end(&s->state.member, by)), on_gap,
				 &dividing);
	if (!err)
		err = dividing.err;
	if (!err)
		lanes_settle(&s->state.lanes, device_book_settled(s->book));
	return err ? err : host_device_settled(&s->state.member);
}

static int settle_crowded(struct devices *d, struct device *s)
{
	return settle_one(d, s, device_book_crowded(s->book),
			  d->crowded.divide ? &d->crowded : NULL);
}

void devices_when_crowded(struct devices *d, const struct devices_divide *by)
{
	d->crowded = *by;
}

int devices_settle(struct devices *d, uint32_t process, uint64_t horizon_ns,
		   const struct devices_divide *by)
{
	int err = 0;

	for (size_t i = 0; i < d->all.n && !err; i++)
		if (d->all.v[i]->state.process == process)
			err = settle_one(d, d->all.v[i], horizon_ns, by);
	return err;
}

int devices_settle_all(struct devices *d, uint64_t horizon_ns, const struct devices_divide *by)
{
	int err = 0;

	for (size_t i = 0; i < d->all.n && !err; i++)
		err = settle_one(d, d->all.v[i], horizon_ns, by);
	return err;
}

uint64_t devices_idle_since(const struct devices *d, uint32_t process, uint64_t now_ns)
{
	for (size_t i = 0; i < d->all.n; i++)
		if (d->all.v[i]->state.process == process)
			now_ns = num_min(now_ns, device_book_idle_since(d->all.v[i]->book));
	return now_ns;
}

/* Nothing that its own book does not know yet can be a time in which it waited. */
static bool has_waited_all(const struct device *s, uint64_t now_ns)
{
	return now_ns == DEVICES_SETTLED || now_ns == DEVICES_OVER ||
	       (!device_book_waiting(s->book) &&
		share_book_is_over(s->state.member.host->book, s->state.member.number));
}

static int read_waited(const struct device *s, uint64_t now_ns, const struct devices_divide *by,
		       uint64_t *waited_ns)
{
	const struct host_member *member = &s->state.member;
	const struct host_device *host = member->host;
	struct share_book *shared;

	*waited_ns = s->unspent_ns;
	if (!host || host->members.n < 2)
		return 0;
	if (has_waited_all(s, now_ns)) {
		*waited_ns += share_book_member(host->book, member->number).waited_ns;
		return 0;
	}
	shared = host_device_read(host, now_ns, by);
	if (!shared)
		return -errno;
	*waited_ns += share_book_member(shared, member->number).waited_ns;
	share_book_free(shared);
	return 0;
}

/* The time it was queued while another process ran on the device is charged to that process. */
static int divide_queued(const struct device *s, uint64_t now_ns,
			 const struct devices_divide *by, uint64_t idle_ns[IDLE_CAUSES])
{
	uint64_t waited;
	int err = read_waited(s, now_ns, by, &waited);

	if (err)
		return err;
	waited = num_min(waited, idle_ns[IDLE_QUEUED]);
	idle_ns[IDLE_QUEUED] -= waited;
	idle_ns[IDLE_OTHER_PROCESS] += waited;
	return 0;
}

int devices_read(const struct device_state *state, uint64_t now_ns, const struct devices_divide *by,
		 struct device_sum *sum, uint64_t idle_ns[IDLE_CAUSES], struct stalls *stalls)
{
	const struct device *s = (const struct device *)state;
	struct dividing dividing = { by, s, NULL, idle_ns, stalls, 0 };
	int err = stalls ? stalls_copy(stalls, &s->state.stalls) : 0;

	memcpy(idle_ns, s->state.idle_ns, sizeof(s->state.idle_ns));
	if (!s->book) {
		*sum = s->past;
		return err;
	}
	if (!err && now_ns == DEVICES_SETTLED)
		device_book_read_settled(s->book, sum, on_gap, &dividing);
	else if (!err)
		err = device_book_read(s->book,
				       num_min(now_ns, host_member_end(&s->state.member, by)), sum,
				       on_gap, &dividing);
	if (!err)
		err = dividing.err;
	return err ? err : divide_queued(s, now_ns, by, idle_ns);
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
	uint64_t since_ns = launch->start_ns - num_min(launch->start_ns, JOIN_SKEW_NS);
	struct device_work of = { .id = correlation };

	set_launch(&of, launch);
	for (size_t i = 0; i < d->all.n; i++)
		if (d->all.v[i]->state.process == process && d->all.v[i]->book)
			device_book_call(d->all.v[i]->book, &of, since_ns);
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
	int err = s ? classify(d, s, ev, launch, &work) : -ENOMEM;

	if (launch)
		set_launch(&work, launch);
	if (!err && device_book_full(s->book))
		err = settle_crowded(d, s);
	return err ? err : device_book_push(s->book, &work);
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
	struct device_counts c;

	device_book_counts(book, &c);
	to->invalid += c.invalid;
	to->late += c.late;
	to->late_ns = num_add(to->late_ns, c.late_ns);
}

static void cut(struct devices *d, struct device *s, const struct devices_divide *by)
{
	uint64_t idle_since = device_book_idle_since(s->book), waited;

	if (!read_waited(s, DEVICES_SETTLED, NULL, &waited))
		s->unspent_ns = waited - num_min(waited, s->state.idle_ns[IDLE_QUEUED]);
	device_book_cut(s->book);
	/* A gap that the interval lay in is no time in which it ran. Without memory it is all
	 * idle. */
	if (s->state.member.host && device_book_idle_since(s->book) > idle_since)
		(void)host_device_idle(&s->state.member, device_book_idle_since(s->book), by);
	kernels_cut(&s->state.kernels, &d->kernels);
	lanes_cut(&s->state.lanes);
	stalls_free(&s->state.stalls);
	memset(s->state.idle_ns, 0, sizeof(s->state.idle_ns));
	memset(s->state.copies, 0, sizeof(s->state.copies));
	memset(&s->state.sets, 0, sizeof(s->state.sets));
}

static void drop(struct devices *d, struct device *s)
{
	if (s->book)
		add_counts(&d->dropped, s->book);
	map_del(&d->by_process, device_key(s->state.process, s->state.device));
	host_devices_leave(&d->hosts, &s->state.member);
	kernels_drop(&s->state.kernels, &d->kernels);
	free_device(s);
}

void devices_cut(struct devices *d, const struct devices_divide *by,
		 bool (*keep)(const void *ctx, uint32_t process), const void *ctx)
{
	size_t kept = 0;

	for (size_t i = 0; i < d->all.n; i++)
		if (d->all.v[i]->book)
			cut(d, d->all.v[i], by);
	host_devices_cut(&d->hosts);
	for (size_t i = 0; i < d->all.n; i++) {
		struct device *s = d->all.v[i];
		bool wanted = keep(ctx, s->state.process);

		if (!s->book || (s->was_wanted && !wanted)) {
			drop(d, s);
			continue;
		}
		s->was_wanted = wanted;
		d->all.v[kept++] = s;
	}
	d->all.n = kept;
	d->last = NULL;
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

static struct device *make_successor(struct devices *d, const struct device *s, uint32_t into)
{
	uint32_t number = 0;
	struct device *successor;

	while (map_find(&d->by_process, device_key(into, number)))
		number++;
	successor = add_device(d, into, into, number);
	if (!successor)
		return NULL;
	successor->state.ordinal = s->state.device;
	successor->state.has_facts = s->state.has_facts;
	successor->state.facts = s->state.facts;
	memcpy(successor->state.name, s->state.name, sizeof(successor->state.name));
	return successor;
}

static struct device *find_successor(struct devices *d, const struct device *s, uint32_t into)
{
	for (size_t i = 0; i < d->all.n; i++)
		if (is_successor(d->all.v[i], s, into))
			return d->all.v[i];
	return make_successor(d, s, into);
}

const struct device_state *devices_successor(struct devices *d, uint32_t process, uint32_t device,
					uint32_t into)
{
	const struct device *s = (const struct device *)devices_find(d, process, device);
	const struct device *successor = s ? find_successor(d, s, into) : NULL;

	errno = s ? ENOMEM : ENOENT;
	return successor ? &successor->state : NULL;
}

static void add_copies(struct copy_stats *to, const struct copy_stats *from)
{
	to->count += from->count;
	to->bytes += from->bytes;
	to->total_ns += from->total_ns;
}

static int add_book(struct device *successor, const struct device *s,
		    const struct devices_divide *by)
{
	uint64_t idle_ns[IDLE_CAUSES];
	struct device_sum *to = &successor->past, sum;
	int err = devices_read(&s->state, DEVICES_OVER, by, &sum, idle_ns, NULL);

	to->close_ns += sum.close_ns - sum.open_ns;
	to->idle_ns += sum.idle_ns;
	for (unsigned int i = 0; i < DEVICE_BUCKETS; i++) {
		to->owned_ns[i] += sum.owned_ns[i];
		to->busy_ns[i] += sum.busy_ns[i];
		to->works[i] += sum.works[i];
	}
	for (unsigned int i = 0; i < IDLE_CAUSES; i++)
		successor->state.idle_ns[i] += idle_ns[i];
	return err;
}

static void hand_over_host(struct devices *d, struct device *s, struct device *successor)
{
	if (successor->state.member.host == s->state.member.host)
		host_devices_leave_to(&d->hosts, &s->state.member, &successor->state.member);
	else
		host_devices_leave(&d->hosts, &s->state.member);
}

/* It is not waited for: it will never do anything. */
static int join_host(struct devices *d, const struct device *s, struct device *successor)
{
	int err;

	if (successor->state.member.host || !s->state.member.host || !s->state.member.host->uuid[0])
		return 0;
	err = host_devices_join(&d->hosts, &successor->state.member, s->state.member.host->uuid,
				s->open_ns);
	if (!err)
		share_book_settle(successor->state.member.host->book,
				  successor->state.member.number,
				  UINT64_MAX);
	return err;
}

static int fold(struct devices *d, struct device *s, uint32_t into, const struct devices_divide *by)
{
	struct device *successor = find_successor(d, s, into);
	int err = successor ? add_book(successor, s, by) : -ENOMEM;

	if (!err)
		err = kernels_merge(&successor->state.kernels, &d->kernels, &s->state.kernels);
	if (!err)
		err = lanes_merge(&successor->state.lanes, &s->state.lanes);
	if (!err)
		err = join_host(d, s, successor);
	if (err)
		return err;
	for (unsigned int dir = 0; dir < COPY_DEFAULT + 2; dir++)
		for (unsigned int memory = 0; memory < 3; memory++)
			add_copies(&successor->state.copies[dir][memory],
				   &s->state.copies[dir][memory]);
	add_copies(&successor->state.sets, &s->state.sets);
	if (s->state.member.host)
		hand_over_host(d, s, successor);
	drop(d, s);
	return 0;
}

static bool is_over(const struct device *s)
{
	return !s->state.member.host ||
	       share_book_is_over(s->state.member.host->book, s->state.member.number);
}

static void trim(struct device *s)
{
	device_book_trim(s->book);
	lanes_trim(&s->state.lanes);
	rows_trim(&s->state.stalls.rows);
	rows_trim(&s->state.kernels.rows);
}

int devices_finish(struct devices *d, uint32_t process, const struct devices_divide *by, bool *done)
{
	int err = 0;

	*done = true;
	for (size_t i = 0; i < d->all.n && !err; i++) {
		struct device *s = d->all.v[i];

		if (s->state.process != process)
			continue;
		err = settle_one(d, s, UINT64_MAX, by);
		if (!err && s->state.member.host)
			err = host_device_idle(&s->state.member, device_book_settled(s->book), by);
		trim(s);
		*done &= is_over(s);
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
