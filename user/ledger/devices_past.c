// SPDX-License-Identifier: BSD-3-Clause
/*
 * What is over: the interval that a cut ends, and devices of processes that are no more, which are dropped
 * there or become part of one that stands for many. Knows nothing of how works are booked.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/num.h"
#include "ledger/devices_state.h"

static void add_counts(struct device_counts *to, const struct device_book *book)
{
	struct device_counts c;

	device_book_counts(book, &c);
	to->invalid += c.invalid;
	to->late += c.late;
	to->late_ns = num_add(to->late_ns, c.late_ns);
}

static void cut(struct devices *d, struct device_state *s, const struct devices_divide *by)
{
	uint64_t idle_since = device_book_idle_since(s->book), waited;

	if (!devices_read_waited(s, DEVICES_SETTLED, NULL, &waited))
		s->unspent_ns = waited - num_min(waited, s->idle_ns[IDLE_QUEUED]);
	device_book_cut(s->book);
	/* A gap that the interval lay in is no time in which it ran. Without memory it is all idle. */
	if (s->host && device_book_idle_since(s->book) > idle_since)
		(void)host_device_idle(s, device_book_idle_since(s->book), by);
	kernels_cut(&s->kernels, &d->kernels);
	lanes_cut(&s->lanes);
	losses_free(&s->losses);
	memset(s->idle_ns, 0, sizeof(s->idle_ns));
	memset(s->copies, 0, sizeof(s->copies));
	memset(&s->sets, 0, sizeof(s->sets));
}

static void drop(struct devices *d, struct device_state *s)
{
	if (!s->past)
		add_counts(&d->dropped, s->book);
	map_del(&d->by_process, device_key(s->pid, s->device));
	host_devices_leave(&d->hosts, s);
	kernels_drop(&s->kernels, &d->kernels);
	device_state_free(s);
}

void devices_cut(struct devices *d, const struct devices_divide *by,
		 bool (*keep)(const void *ctx, uint32_t pid), const void *ctx)
{
	size_t kept = 0;

	for (size_t i = 0; i < d->all.n; i++)
		if (!d->all.v[i]->past)
			cut(d, d->all.v[i], by);
	host_devices_cut(&d->hosts);
	for (size_t i = 0; i < d->all.n; i++) {
		struct device_state *s = d->all.v[i];
		bool wanted = keep(ctx, s->pid);

		if (s->past || (s->was_wanted && !wanted)) {
			drop(d, s);
			continue;
		}
		s->was_wanted = wanted;
		d->all.v[kept++] = s;
	}
	d->all.n = kept;
	d->last = NULL;
}

/* ---- what becomes part of another ------------------------------------------------------------- */

/* All without a UUID are alike if the processes number them so. */
static bool is_heir(const struct device_state *heir, const struct device_state *s, uint32_t into)
{
	if (!heir->past || heir->pid != into)
		return false;
	if (s->has_facts || heir->has_facts)
		return s->has_facts && heir->has_facts && !strcmp(s->facts.uuid, heir->facts.uuid);
	return heir->past->ordinal == s->device;
}

static struct device_state *make_heir(struct devices *d, const struct device_state *s, uint32_t into)
{
	struct device_state *heir = calloc(1, sizeof(*heir)), **at = NULL;
	struct map_slot *slot = NULL;
	uint32_t number = 0;

	if (heir)
		heir->past = calloc(1, sizeof(*heir->past));
	while (map_find(&d->by_process, device_key(into, number)))
		number++;
	if (heir && heir->past)
		slot = map_put(&d->by_process, device_key(into, number), NULL);
	if (slot)
		at = VEC_PUSH(&d->all);
	if (!at) {
		if (slot)
			map_del(&d->by_process, device_key(into, number));
		if (heir)
			device_state_free(heir);
		return NULL;
	}
	heir->pid = into;
	heir->device = number;
	heir->past->ordinal = s->device;
	heir->has_facts = s->has_facts;
	heir->facts = s->facts;
	memcpy(heir->name, s->name, sizeof(heir->name));
	slot->value = (uintptr_t)heir;
	*at = heir;
	return heir;
}

static struct device_state *find_heir(struct devices *d, const struct device_state *s, uint32_t into)
{
	for (size_t i = 0; i < d->all.n; i++)
		if (is_heir(d->all.v[i], s, into))
			return d->all.v[i];
	return make_heir(d, s, into);
}

const struct device_state *devices_heir(struct devices *d, uint32_t pid, uint32_t device, uint32_t into)
{
	const struct device_state *s = devices_find(d, pid, device);

	errno = ENOENT;
	return s ? find_heir(d, s, into) : NULL;
}

static void add_copies(struct copy_stats *to, const struct copy_stats *from)
{
	to->count += from->count;
	to->bytes += from->bytes;
	to->total_ns += from->total_ns;
}

static int add_book(struct device_state *heir, const struct device_state *s,
		    const struct devices_divide *by)
{
	uint64_t idle_ns[IDLE_CAUSES];
	struct device_sum *to = &heir->past->sum, sum;
	int err = devices_read(s, DEVICES_OVER, by, &sum, idle_ns, NULL);

	to->close_ns += sum.close_ns - sum.open_ns;
	to->idle_ns += sum.idle_ns;
	for (unsigned int i = 0; i < DEVICE_BUCKETS; i++) {
		to->owned_ns[i] += sum.owned_ns[i];
		to->busy_ns[i] += sum.busy_ns[i];
		to->works[i] += sum.works[i];
	}
	for (unsigned int i = 0; i < IDLE_CAUSES; i++)
		heir->idle_ns[i] += idle_ns[i];
	return err;
}

static void hand_over_host(struct devices *d, struct device_state *s, struct device_state *heir)
{
	if (heir->host == s->host)
		host_devices_leave_to(&d->hosts, s, heir);
	else
		host_devices_leave(&d->hosts, s);
}

/* Nobody waits for it any more: it will never do anything. */
static int join_host(struct devices *d, const struct device_state *s, struct device_state *heir)
{
	int err;

	if (heir->host || !s->host || !s->host->uuid[0])
		return 0;
	err = host_devices_join(&d->hosts, heir, s->host->uuid, s->open_ns);
	if (!err)
		share_book_settle(heir->host->book, heir->member, UINT64_MAX);
	return err;
}

static int fold(struct devices *d, struct device_state *s, uint32_t into, const struct devices_divide *by)
{
	struct device_state *heir = find_heir(d, s, into);
	int err = heir ? add_book(heir, s, by) : -ENOMEM;

	if (!err)
		err = kernels_merge(&heir->kernels, &d->kernels, &s->kernels);
	if (!err)
		err = lanes_merge(&heir->lanes, &s->lanes);
	if (!err)
		err = join_host(d, s, heir);
	if (err)
		return err;
	for (unsigned int dir = 0; dir < COPY_DEFAULT + 2; dir++)
		for (unsigned int memory = 0; memory < 3; memory++)
			add_copies(&heir->copies[dir][memory], &s->copies[dir][memory]);
	add_copies(&heir->sets, &s->sets);
	if (s->host)
		hand_over_host(d, s, heir);
	drop(d, s);
	return 0;
}

static bool is_over(const struct device_state *s)
{
	return !s->host || share_book_is_over(s->host->book, s->member);
}

static void trim(struct device_state *s)
{
	device_book_trim(s->book);
	lanes_trim(&s->lanes);
	VEC_TRIM(&s->losses.all);
	kernels_trim(&s->kernels);
}

int devices_finish(struct devices *d, uint32_t pid, const struct devices_divide *by, bool *done)
{
	int err = 0;

	*done = true;
	for (size_t i = 0; i < d->all.n && !err; i++) {
		struct device_state *s = d->all.v[i];

		if (s->pid != pid)
			continue;
		err = devices_settle_one(d, s, UINT64_MAX, by);
		if (!err && s->host)
			err = host_device_idle(s, device_book_settled(s->book), by);
		trim(s);
		*done &= is_over(s);
	}
	return err;
}

int devices_fold(struct devices *d, uint32_t pid, uint32_t into, const struct devices_divide *by)
{
	size_t kept = 0, n = d->all.n;
	int err = 0;

	for (size_t i = 0; i < n; i++) {
		struct device_state *s = d->all.v[i];

		bool stays = s->pid != pid || err;

		if (!stays)
			err = fold(d, s, into, by);
		if (stays || err)
			d->all.v[kept++] = s;
	}
	/* Heirs that were made meanwhile stand at the end. */
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
		if (!d->all.v[i]->past)
			add_counts(out, d->all.v[i]->book);
	out->late_ns = num_add(out->late_ns, host_devices_late_ns(&d->hosts));
}
