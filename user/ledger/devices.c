// SPDX-License-Identifier: BSD-3-Clause
/* One device after the other in a list, found by (pid, ordinal). */
#include "ledger/devices.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/num.h"
#include "ledger/devices_state.h"

#define WAITING_WORKS 262144	/* of all books; 56 bytes each */

unsigned int device_bucket_row(unsigned int bucket)
{
	return bucket >= DEVICE_PAGEABLE && bucket < DEVICE_BUCKETS_END ?
	       bucket - DEVICE_PAGEABLE + DEVICE_COPIES : bucket;
}

const char *device_bucket_name(unsigned int bucket)
{
	static const char *const names[DEVICE_BUCKETS_END] = {
		[DEVICE_GRAPHS] = "graph",
		[DEVICE_COPIES + COPY_H2H] = "copy-h2h", [DEVICE_COPIES + COPY_H2D] = "copy-h2d",
		[DEVICE_COPIES + COPY_D2H] = "copy-d2h", [DEVICE_COPIES + COPY_D2D] = "copy-d2d",
		[DEVICE_COPIES + COPY_DEFAULT] = "copy", [DEVICE_COPIES_PEER] = "copy-p2p",
		[DEVICE_SETS] = "set",
	};

	bucket = device_bucket_row(bucket);
	if (bucket < DEVICE_GRAPHS)
		return kernel_class_name(bucket);
	return bucket < DEVICE_BUCKETS_END ? names[bucket] : "?";
}

const char *device_state_name(unsigned int bucket)
{
	if (bucket == DEVICE_KERNELS + KERNEL_COMM)
		return "comm";
	if (bucket <= DEVICE_GRAPHS)
		return "compute";
	return bucket == DEVICE_SETS ? "set" : "copy";
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

void device_state_free(struct device_state *s)
{
	kernels_free(&s->kernels);
	lanes_free(&s->lanes);
	device_book_free(s->book);
	losses_free(&s->losses);
	free(s->past);
	free(s);
}

void devices_free(struct devices *d)
{
	if (!d)
		return;
	for (size_t i = 0; i < d->all.n; i++)
		device_state_free(d->all.v[i]);
	VEC_FREE(&d->all);
	map_free(&d->by_process);
	host_devices_free(&d->hosts);
	free(d);
}

static bool is_last(const struct devices *d, uint32_t pid, uint32_t device)
{
	return d->last && d->last->pid == pid && d->last->device == device;
}

bool devices_have(const struct devices *d, uint32_t pid, uint32_t device)
{
	return is_last(d, pid, device) || map_find(&d->by_process, device_key(pid, device));
}

const struct device_state *devices_find(const struct devices *d, uint32_t pid, uint32_t device)
{
	const struct map_slot *slot = map_find(&d->by_process, device_key(pid, device));

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

static struct device_state *find_or_make(struct devices *d, uint32_t pid, uint32_t device,
					 uint64_t open_ns)
{
	const uint64_t key = device_key(pid, device);
	struct map_slot *slot = map_put(&d->by_process, key, NULL);
	struct device_state *s = slot ? (void *)(uintptr_t)slot->value : NULL, **at;

	if (!slot || s)
		return s;
	s = calloc(1, sizeof(*s));
	if (s)
		s->book = device_book_new(open_ns, &d->waiting);
	at = s && s->book ? VEC_PUSH(&d->all) : NULL;
	if (!at) {
		if (s)
			device_state_free(s);
		map_del(&d->by_process, key);
		return NULL;
	}
	s->pid = pid;
	s->device = device;
	device_book_watch(s->book, &(struct device_watch){ on_pushed, on_begun, &s->lanes });
	s->open_ns = open_ns;
	*at = s;
	slot->value = (uintptr_t)s;
	return s;
}

static struct device_state *find(struct devices *d, uint32_t pid, uint32_t device,
				 uint64_t open_ns)
{
	if (!is_last(d, pid, device))
		d->last = find_or_make(d, pid, device, open_ns);
	return d->last;
}

/* ---- works ---------------------------------------------------------------------------------- */

static void count_copy(struct copy_stats *c, const struct event *ev)
{
	c->count++;
	c->bytes += ev->work.bytes;
	c->total_ns += ev->end_ns - ev->start_ns;
}

static int count_kernel(struct devices *d, struct device_state *s, struct kernel_stats *k,
			const struct event *ev, const struct launch *launch)
{
	uint64_t queue_ns;

	if (!launch)
		return kernels_add(&s->kernels, &d->kernels, k, ev, NULL);
	queue_ns = ev->start_ns > launch->end_ns ? ev->start_ns - launch->end_ns : 0;
	return kernels_add(&s->kernels, &d->kernels, k, ev, &queue_ns);
}

/* Which bucket and state, and the statistics beside the book. 0 or -ENOMEM. */
static int classify(struct devices *d, struct device_state *s, const struct event *ev,
		    const struct launch *launch, struct device_work *out)
{
	const struct work *w = &ev->work;
	unsigned int dir = w->kind == WORK_KIND_PEER ? COPY_DEFAULT + 1 :
			   w->has & WORK_HAS_DIR && w->dir < COPY_DEFAULT ? w->dir : COPY_DEFAULT;
	struct kernel_stats *k;

	switch (w->kind) {
	case WORK_KIND_KERNEL:
		k = kernels_find(&s->kernels, &d->kernels, ev);
		if (!k)
			return -ENOMEM;
		out->bucket = (uint16_t)(DEVICE_KERNELS + k->class);
		out->state = k->class == KERNEL_COMM ? WORK_COMM : WORK_COMPUTE;
		return count_kernel(d, s, k, ev, launch);
	case WORK_KIND_GRAPH:
		out->bucket = DEVICE_GRAPHS;
		out->state = WORK_COMPUTE;
		return 0;
	case WORK_KIND_SET:
		out->bucket = DEVICE_SETS;
		out->state = WORK_SET;
		count_copy(&s->sets, ev);
		return 0;
	default:
		out->bucket = (uint16_t)(DEVICE_COPIES + dir);
		if (w->memory == MEMORY_PAGEABLE && dir <= COPY_DEFAULT)
			out->bucket = (uint16_t)(DEVICE_PAGEABLE + dir);
		out->state = WORK_COPY;
		count_copy(&s->copies[dir][w->memory > MEMORY_PINNED ? 0 : w->memory], ev);
		return 0;
	}
}

/* ---- idle time ------------------------------------------------------------------------------ */

struct dividing {
	const struct devices_divide *by;	/* NULL: what the threads did is not known yet */
	const struct device_state *state;
	struct device_state *tell;		/* whose host's book takes part; NULL: nobody's */
	uint64_t *ns;
	struct losses *losses;
	int err;
};

static int divide(const struct dividing *d, const struct device_gap *gap)
{
	bool first = gap->start_ns <= d->state->open_ns;	/* what was before is in no book */

	if (first && d->losses && gap->ended_by)
		d->losses->before_ns += gap->end_ns - gap->start_ns;
	if (d->by)
		return d->by->divide(d->by->ctx, d->state->pid, gap, d->ns, first ? NULL : d->losses);
	d->ns[IDLE_UNKNOWN] += gap->end_ns - gap->start_ns;
	return 0;
}

static void on_gap(void *ctx, const struct device_gap *gap)
{
	struct dividing *d = ctx;
	uint64_t queued_ns = d->ns[IDLE_QUEUED];
	int err = divide(d, gap);

	if (!err && d->tell)
		err = host_device_gap(d->tell, gap, d->ns[IDLE_QUEUED] - queued_ns, d->by);
	d->err = d->err ? d->err : err;
}

uint64_t devices_end(const struct device_state *s, const struct devices_divide *by)
{
	uint64_t exit_ns = by && by->exit_ns ? by->exit_ns(by->ctx, s->pid) : 0;

	return exit_ns ? num_max(exit_ns, device_book_last(s->book)) : UINT64_MAX;
}

int devices_settle_one(struct devices *d, struct device_state *s, uint64_t horizon_ns,
		       const struct devices_divide *by)
{
	struct dividing dividing = { by, s, s, s->idle_ns, &s->losses, 0 };
	int err = s->host || s->past ? 0 : host_devices_join(&d->hosts, s, NULL, device_book_settled(s->book));

	if (err || s->past)
		return err;
	err = device_book_settle(s->book, num_min(horizon_ns, devices_end(s, by)), on_gap, &dividing);
	if (!err)
		err = dividing.err;
	if (!err)
		lanes_settle(&s->lanes, device_book_settled(s->book));
	return err ? err : host_device_settled(s);
}

static int settle_crowded(struct devices *d, struct device_state *s)
{
	return devices_settle_one(d, s, device_book_crowded(s->book), d->crowded.divide ? &d->crowded : NULL);
}

void devices_when_crowded(struct devices *d, const struct devices_divide *by)
{
	d->crowded = *by;
}

int devices_settle(struct devices *d, uint32_t pid, uint64_t horizon_ns,
		   const struct devices_divide *by)
{
	int err = 0;

	for (size_t i = 0; i < d->all.n && !err; i++)
		if (d->all.v[i]->pid == pid)
			err = devices_settle_one(d, d->all.v[i], horizon_ns, by);
	return err;
}

int devices_settle_all(struct devices *d, uint64_t horizon_ns, const struct devices_divide *by)
{
	int err = 0;

	for (size_t i = 0; i < d->all.n && !err; i++)
		err = devices_settle_one(d, d->all.v[i], horizon_ns, by);
	return err;
}

uint64_t devices_idle_since(const struct devices *d, uint32_t pid, uint64_t now_ns)
{
	for (size_t i = 0; i < d->all.n; i++)
		if (d->all.v[i]->pid == pid)
			now_ns = num_min(now_ns, device_book_idle_since(d->all.v[i]->book));
	return now_ns;
}

int devices_settle_hosts(struct devices *d, uint64_t horizon_ns, const struct devices_divide *by)
{
	return host_devices_settle_all(&d->hosts, horizon_ns, by);
}

/* Nothing that its own book does not know yet can be a time in which it waited. */
static bool has_waited_all(const struct device_state *s, uint64_t now_ns)
{
	return now_ns == DEVICES_SETTLED || now_ns == DEVICES_OVER ||
	       (!device_book_waiting(s->book) && share_book_is_over(s->host->book, s->member));
}

int devices_read_waited(const struct device_state *s, uint64_t now_ns,
			const struct devices_divide *by, uint64_t *waited_ns)
{
	struct share_book *shared;

	*waited_ns = s->unspent_ns;
	if (!s->host || s->host->members.n < 2)
		return 0;
	if (has_waited_all(s, now_ns)) {
		*waited_ns += share_book_member(s->host->book, s->member).waited_ns;
		return 0;
	}
	shared = host_device_read(s->host, now_ns, by);
	if (!shared)
		return -errno;
	*waited_ns += share_book_member(shared, s->member).waited_ns;
	share_book_free(shared);
	return 0;
}

/* What it was queued while another process ran on the device is that one's doing. */
static int divide_queued(const struct device_state *s, uint64_t now_ns,
			 const struct devices_divide *by, uint64_t idle_ns[IDLE_CAUSES])
{
	uint64_t waited;
	int err = devices_read_waited(s, now_ns, by, &waited);

	if (err)
		return err;
	waited = num_min(waited, idle_ns[IDLE_QUEUED]);
	idle_ns[IDLE_QUEUED] -= waited;
	idle_ns[IDLE_OTHER_PROCESS] += waited;
	return 0;
}

int devices_read(const struct device_state *s, uint64_t now_ns, const struct devices_divide *by,
		 struct device_sum *sum, uint64_t idle_ns[IDLE_CAUSES], struct losses *losses)
{
	struct dividing dividing = { by, s, NULL, idle_ns, losses, 0 };
	int err = losses ? losses_copy(losses, &s->losses) : 0;

	memcpy(idle_ns, s->idle_ns, sizeof(s->idle_ns));
	if (s->past) {
		*sum = s->past->sum;
		return err;
	}
	if (!err && now_ns == DEVICES_SETTLED)
		device_book_read_settled(s->book, sum, on_gap, &dividing);
	else if (!err)
		err = device_book_read(s->book, num_min(now_ns, devices_end(s, by)), sum, on_gap,
				       &dividing);
	if (!err)
		err = dividing.err;
	return err ? err : divide_queued(s, now_ns, by, idle_ns);
}

/* ---- what comes in -------------------------------------------------------------------------- */

int devices_push_work(struct devices *d, const struct event *ev, const struct launch *launch,
		      uint64_t open_ns)
{
	struct device_state *s = find(d, ev->pid, ev->work.device, open_ns);
	struct device_work work = {
		.start_ns = ev->start_ns, .end_ns = ev->end_ns,
		.lane = (uint64_t)ev->work.context << 32 | ev->work.stream,
		.id = ev->work.correlation,
	};
	int err = s ? classify(d, s, ev, launch, &work) : -ENOMEM;

	if (launch) {
		work.has_launch = true;
		work.launch_tid = launch->tid;
		work.launch_start_ns = launch->start_ns;
		work.launch_end_ns = launch->end_ns;
	}
	if (!err && device_book_full(s->book))
		err = settle_crowded(d, s);
	return err ? err : device_book_push(s->book, &work);
}

int devices_push_facts(struct devices *d, const struct event *ev, uint64_t open_ns)
{
	struct device_state *s = find(d, ev->pid, ev->device.facts.device, open_ns);

	if (!s)
		return -ENOMEM;
	s->facts = ev->device.facts;
	s->has_facts = true;
	snprintf(s->name, sizeof(s->name), "%s", ev->device.name ? ev->device.name : "");
	return host_devices_join(&d->hosts, s, s->facts.uuid, s->open_ns);
}

int devices_sample(struct devices *d, const struct sampled_device *sampled, uint64_t from_ns, bool wait)
{
	return host_devices_sample(&d->hosts, sampled, from_ns, wait);
}

/* ---- reading -------------------------------------------------------------------------------- */

size_t devices_hosts(const struct devices *d)
{
	return d->hosts.all.n;
}

const struct host_device *devices_host(const struct devices *d, size_t i)
{
	return d->hosts.all.v[i];
}

size_t devices_count(const struct devices *d)
{
	return d->all.n;
}

const struct device_state *devices_get(const struct devices *d, size_t i)
{
	return d->all.v[i];
}
