// SPDX-License-Identifier: BSD-3-Clause
/* Devices are found again in earlier refreshes by their UUID, or those of a process by its own. */
#include "view/tui/page_device.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/num.h"

/* ---- one device ------------------------------------------------------------------------------ */

/* Of a device that several processes have: its own busy time, in the proportions of theirs. */
static void read_shared(struct page_device *v, const struct snapshot *snap,
			const struct snapshot_host *h)
{
	const uint64_t unknown_ns = num_add(h->sum.unknown_ns, h->sum.unwatched_ns);
	const uint64_t busy_ns = num_sub(v->wall_ns, num_add(h->sum.idle_ns, unknown_ns));
	uint64_t ns[DEVICE_PARTS] = { 0 }, all_ns;

	for (size_t i = 0; i < h->members.n; i++) {
		const struct snapshot_member *m = &h->members.v[i];
		const struct snapshot_device *s = snapshot_device(snap, m->process, m->device);

		if (s)
			num_add_each(ns, device_bar_read(s).ns, DEVICE_PARTS);
	}
	all_ns = ns[DEVICE_PART_COMPUTE] + ns[DEVICE_PART_COPY] + ns[DEVICE_PART_COMM];
	v->ns[DEVICE_PART_COPY] = num_scale(busy_ns, ns[DEVICE_PART_COPY], all_ns);
	v->ns[DEVICE_PART_COMM] = num_scale(busy_ns, ns[DEVICE_PART_COMM], all_ns);
	v->ns[DEVICE_PART_COMPUTE] = busy_ns - v->ns[DEVICE_PART_COPY] - v->ns[DEVICE_PART_COMM];
	v->ns[DEVICE_PART_UNKNOWN] = unknown_ns;
	v->ns[DEVICE_PART_IDLE] = h->sum.idle_ns;
}

/* The only member of the host's device; NULL: there are more, or others were on it. */
static const struct snapshot_device *only_one(const struct snapshot *snap,
					      const struct snapshot_host *h)
{
	return snapshot_host_is_shared(h) || !h->members.n ? NULL :
		       snapshot_device(snap, h->members.v[0].process, h->members.v[0].device);
}

static void read_parts(struct page_device *v, const struct snapshot *snap,
		       const struct snapshot_host *h)
{
	v->s = only_one(snap, h);
	v->wall_ns = h->sum.close_ns - h->sum.open_ns;
	if (!v->s) {
		read_shared(v, snap, h);
		return;
	}
	memcpy(v->ns, device_bar_read(v->s).ns, sizeof(v->ns));
	v->wall_ns = device_bar_wall_ns(v->s);
}

static void read_note(struct page_device *v, const struct snapshot_host *h)
{
	size_t users = 0;

	for (size_t i = 0; h && i < h->members.n; i++)
		users += h->members.v[i].share.owned_ns > 0;
	if (h && h->sum.unwatched_ns)
		snprintf(v->note.s, sizeof(v->note.s), "others use it");
	else if (users > 1)
		snprintf(v->note.s, sizeof(v->note.s), "%zu processes", users);
}

static void read_samples(struct page_device *v)
{
	double mean;

	if (v->sampled && samples_mean(v->sampled, SAMPLE_USED_BYTES, &mean))
		v->used_bytes = (uint64_t)mean;
	if (v->sampled && samples_mean(v->sampled, SAMPLE_TOTAL_BYTES, &mean))
		v->total_bytes = (uint64_t)mean;
}

/* ---- all of them ----------------------------------------------------------------------------- */

static int add_host(struct page_devices *list, const struct snapshot *snap,
		    const struct snapshot_host *h)
{
	const struct snapshot_device *first =
		h->members.n ? snapshot_device(snap, h->members.v[0].process,
					       h->members.v[0].device) : NULL;
	struct page_device *v;

	if (h->sum.close_ns <= h->sum.open_ns)
		return 0;
	v = VEC_PUSH(&list->all);
	if (!v)
		return -ENOMEM;
	v->sampled = samples_find(&snap->samples, h->uuid);
	v->number = v->last = v->sampled ? v->sampled->number : first ? first->number : 0;
	snprintf(v->uuid, sizeof(v->uuid), "%s", h->uuid);
	if (!*h->uuid && h->members.n) {
		v->process = h->members.v[0].process;
		v->device = h->members.v[0].device;
		v->is_process = true;
	}
	read_parts(v, snap, h);
	read_note(v, h);
	read_samples(v);
	return 0;
}

/* One that no watched process uses: NVML's samples are all that is known. */
static int add_sampled(struct page_devices *list, const struct snapshot *snap,
		       const struct sampled_device *d)
{
	struct page_device *v;

	for (size_t i = 0; i < snap->hosts.n; i++)
		if (sampled_device_is(d, snap->hosts.v[i].uuid))
			return 0;
	if (!d->sampled_ns || (!d->idle_ns && !d->used_ns))
		return 0;
	v = VEC_PUSH(&list->all);
	if (!v)
		return -ENOMEM;
	v->sampled = d;
	v->number = v->last = d->number;
	snprintf(v->uuid, sizeof(v->uuid), "%s", d->uuid);
	v->wall_ns = d->sampled_ns;
	v->ns[DEVICE_PART_IDLE] = d->idle_ns;
	v->ns[DEVICE_PART_UNKNOWN] = num_sub(d->sampled_ns, d->idle_ns);
	snprintf(v->note.s, sizeof(v->note.s), "%s", d->used_ns ? "others use it" : "not used");
	read_samples(v);
	return 0;
}

static int compare_devices(const void *a, const void *b)
{
	const struct page_device *x = a, *y = b;

	return num_compare(x->number, y->number);
}

static bool are_alike(const struct page_device *a, const struct page_device *b)
{
	return device_parts_are_alike(a->ns, a->wall_ns, b->ns, b->wall_ns) &&
	       !strcmp(a->note.s, b->note.s);
}

static void fold(struct page_devices *v)
{
	size_t kept = 0;

	for (size_t i = 0; i < v->all.n; i++) {
		struct page_device *before = kept ? &v->all.v[kept - 1] : NULL;

		if (before && v->all.v[i].number == before->last + 1 &&
		    are_alike(before, &v->all.v[i])) {
			before->alike++;
			before->last = v->all.v[i].number;
		} else {
			v->all.v[kept++] = v->all.v[i];
		}
	}
	v->all.n = kept;
}

int page_devices_read(struct page_devices *v, const struct snapshot *snap)
{
	int err = 0;

	for (size_t i = 0; i < snap->hosts.n && !err; i++)
		err = add_host(v, snap, &snap->hosts.v[i]);
	for (size_t i = 0; i < snap->samples.all.n && !err; i++)
		err = add_sampled(v, snap, snap->samples.all.v[i]);
	if (v->all.n)
		qsort(v->all.v, v->all.n, sizeof(v->all.v[0]), compare_devices);
	fold(v);
	return err;
}

int page_devices_read_process(struct page_devices *v, const struct snapshot *snap,
			      uint32_t process)
{
	for (size_t i = 0; i < snap->devices.n; i++) {
		const struct snapshot_device *s = &snap->devices.v[i];
		struct page_device *d;

		if (s->process != process || s->sum.close_ns <= s->sum.open_ns)
			continue;
		d = VEC_PUSH(&v->all);
		if (!d)
			return -ENOMEM;
		*d = (struct page_device){ .number = s->number, .last = s->number, .s = s,
					   .process = process, .device = s->device,
					   .is_process = true };
		memcpy(d->ns, device_bar_read(s).ns, sizeof(d->ns));
		d->wall_ns = device_bar_wall_ns(s);
	}
	if (v->all.n)
		qsort(v->all.v, v->all.n, sizeof(v->all.v[0]), compare_devices);
	return 0;
}

/* ---- history --------------------------------------------------------------------------------- */

/* What it did in another refresh; false: it was not there. */
static bool read_then(const struct page_device *v, const struct snapshot *snap,
		      struct page_device *then)
{
	*then = (struct page_device){ 0 };
	for (size_t i = 0; !v->is_process && i < snap->hosts.n; i++)
		if (!strcmp(snap->hosts.v[i].uuid, v->uuid)) {
			read_parts(then, snap, &snap->hosts.v[i]);
			return then->wall_ns;
		}
	if (v->is_process) {
		const struct snapshot_device *s = snapshot_device(snap, v->process, v->device);

		if (!s)
			return false;
		memcpy(then->ns, device_bar_read(s).ns, sizeof(then->ns));
		then->wall_ns = device_bar_wall_ns(s);
	}
	return then->wall_ns;
}

/* Calls add for each column, at its left the refresh before; those there were none of are blank. */
static void each_refresh(struct drawing *g, const struct page_device *v, size_t width,
			 void (*add)(struct screen_line *l, const struct page_device *then))
{
	const struct history *h = g->d->history;
	const size_t have = num_sub(h->all.n, g->l->back);

	for (size_t i = 0; i < width; i++) {
		const size_t ago = width - 1 - i;
		struct page_device then;

		if (ago < have && read_then(v, history_at(h, g->l->back + ago), &then))
			add(&g->line, &then);
		else
			strbuf_addch(&g->line.text, ' ');
	}
}

static void add_busy(struct screen_line *l, const struct page_device *then)
{
	const uint64_t idle_ns = then->ns[DEVICE_PART_IDLE];
	const uint64_t unknown_ns = then->ns[DEVICE_PART_UNKNOWN];

	line_add_level(l, &(struct strip_time){ .idle_ns = idle_ns, .unknown_ns = unknown_ns,
		       .busy_ns = num_sub(then->wall_ns, idle_ns + unknown_ns) }, then->wall_ns);
}

static void add_part(struct screen_line *l, const struct page_device *then)
{
	unsigned int most = DEVICE_PART_COMPUTE;

	for (unsigned int i = 0; i <= DEVICE_PART_COMM; i++)
		if (then->ns[i] > then->ns[most])
			most = i;
	/* an eighth of the time is not hardly any */
	if (then->ns[most] * 8 < then->wall_ns)
		most = then->ns[DEVICE_PART_UNKNOWN] > then->ns[DEVICE_PART_IDLE] ?
			       DEVICE_PART_UNKNOWN : DEVICE_PART_IDLE;
	line_add_glyph(l, &device_parts[most]);
}

void page_add_history(struct drawing *g, const struct page_device *v, size_t width)
{
	each_refresh(g, v, width, add_busy);
}

void page_add_history_parts(struct drawing *g, const struct page_device *v, size_t width)
{
	each_refresh(g, v, width, add_part);
}

/* ---- figures --------------------------------------------------------------------------------- */

const char *page_busy_text(const uint64_t ns[DEVICE_PARTS], uint64_t wall_ns, char *text,
			   size_t size)
{
	const uint64_t unknown_ns = ns[DEVICE_PART_UNKNOWN];
	const uint64_t busy_ns = num_sub(wall_ns, ns[DEVICE_PART_IDLE] + unknown_ns);

	if (!wall_ns || unknown_ns > wall_ns / 2)
		snprintf(text, size, "?");
	else
		snprintf(text, size, "%s%.0f %%", unknown_ns * 100 >= wall_ns ? ">" : "",
			 100 * num_ratio(busy_ns, wall_ns));
	return text;
}
