// SPDX-License-Identifier: BSD-3-Clause
/* Differences of readings; bins as bpf/tally.bpf.h makes them. */
#include "source/bpf/tallied.h"

#include <errno.h>
#include <stdlib.h>

#include "base/num.h"

/* The lowest value that falls into a bin; bin <= GP_BINS. */
static uint64_t bin_floor(unsigned int bin)
{
	unsigned int octave = bin >> GP_BIN_BITS, sub = bin & ((1 << GP_BIN_BITS) - 1);

	if (!octave)
		return sub;
	return (uint64_t)((1 << GP_BIN_BITS) + sub) << (octave - 1);
}

static void push(struct tallied *t, const struct event *ev)
{
	if (!t->err)
		t->err = t->sink.push(t->sink.ctx, ev);
}

/* The largest time since the last reading: exact when it is a new record, else the end of the
 * highest bin that grew. */
static uint64_t new_max(const struct gp_tally *last, const struct gp_tally *now)
{
	if (now->max_ns > last->max_ns)
		return now->max_ns;
	for (unsigned int i = GP_BINS; i-- > 0;)
		if (now->bins[i] != last->bins[i])
			return num_min(bin_floor(i + 1) - 1, now->max_ns);
	return 0;
}

/* Calls that were not followed to their return. */
static void push_entries(struct tallied *t, const struct gp_tally_key *key, uint64_t n)
{
	struct event ev = { .kind = EVENT_TALLY, .pid = key->pid, .func = (uint16_t)key->row };

	TALLY_PROCESS_NS(&ev) = key->process_ns;
	TALLY_CALLS(&ev) = n;
	if (n)
		push(t, &ev);
}

/* For each process another number of the row's. */
static uint64_t map_key(const struct gp_tally_key *key)
{
	return map_hash((uint64_t)key->pid << 32 | key->row) ^ map_hash(key->process_ns);
}

void tallied_read(struct tallied *t, const struct gp_tally_key *key, const struct gp_tally *now,
		  bool timed)
{
	struct map_slot *slot = map_put(&t->last, map_key(key), NULL);
	struct event ev = { .kind = EVENT_TALLY, .has = timed ? HAS_END : 0, .pid = key->pid,
			    .func = (uint16_t)key->row };
	struct gp_tally *last;

	if (slot && !slot->value)
		slot->value = (uintptr_t)calloc(1, sizeof(*last));
	last = slot ? (struct gp_tally *)(uintptr_t)slot->value : NULL;
	if (!last) {
		t->err = t->err ? t->err : -ENOMEM;
		return;
	}
	push_entries(t, key, now->entries - last->entries);
	TALLY_PROCESS_NS(&ev) = key->process_ns;
	TALLY_CALLS(&ev) = now->count - last->count;
	TALLY_TOTAL_NS(&ev) = now->total_ns - last->total_ns;
	TALLY_ERRORS(&ev) = now->errors - last->errors;
	TALLY_MAX_NS(&ev) = new_max(last, now);
	if (TALLY_CALLS(&ev))
		push(t, &ev);
	ev.has = 0;
	ev.entity = 0;
	ev.stream = 0;
	ev.kind = EVENT_BIN;
	for (unsigned int i = 0; timed && i < GP_BINS; i++) {
		ev.start_ns = bin_floor(i);
		ev.end_ns = bin_floor(i + 1);
		ev.bytes = now->bins[i] - last->bins[i];
		if (ev.bytes)
			push(t, &ev);
	}
	*last = *now;
}

void tallied_free(struct tallied *t)
{
	map_free_each(&t->last, free);
}
