// SPDX-License-Identifier: BSD-3-Clause
/* Each source's own come in order, so a record is of the first call that fits: where nothing is missing of
 * either, however uncertain the clocks are; else of the nearest. */
#include "facts/memory_pair.h"

#include <stdlib.h>

#include "base/num.h"

#define NEAR_STEPS 64	/* so far a call is looked for, of an address that comes again and again */

uint64_t memory_moment(const struct memory_act *a)
{
	return a->op == MEMORY_ALLOC ? a->end_ns : a->start_ns;
}

static int by_moment(const void *a, const void *b)
{
	const struct memory_act *x = a, *y = b;
	int order = num_compare(memory_moment(x), memory_moment(y));

	return order ? order : num_compare(x->address, y->address);
}

static int by_address(const void *a, const void *b)
{
	const struct memory_act *x = a, *y = b;
	int order = num_compare(x->address, y->address);

	return order ? order : num_compare(memory_moment(x), memory_moment(y));
}

static bool is_same(const struct memory_act *call, const struct memory_act *record)
{
	return !call->is_record && call->op == record->op &&
	       record->start_ns + MEMORY_SLACK_NS >= call->start_ns &&
	       record->start_ns <= num_add(call->end_ns, MEMORY_SLACK_NS);
}

/* The record has it better, but for who asked. */
static void merge(struct memory_act *call, struct memory_act *record)
{
	record->stack = record->stack ? record->stack : call->stack;
	if (!record->has_bytes && call->has_bytes) {
		record->bytes = call->bytes;
		record->has_bytes = true;
	}
	record->told = true;
	call->op = MEMORY_OP_END;
}

/* Of one address, in the order of time. Each source's own are in order, so the first call that fits
 * is the record's. */
static void pair_run(struct memory_act *run, size_t n)
{
	size_t from = 0;

	for (size_t i = 0; i < n; i++) {
		if (!run[i].is_record)
			continue;
		while (from < n && num_add(run[from].end_ns, 2 * MEMORY_SLACK_NS) < run[i].start_ns)
			from++;
		for (size_t k = from; k < n && memory_moment(&run[k]) <= num_add(run[i].start_ns,
				     num_add(run[k].end_ns - run[k].start_ns, 2 * MEMORY_SLACK_NS)); k++)
			if (run[k].op != MEMORY_OP_END && is_same(&run[k], &run[i])) {
				merge(&run[k], &run[i]);
				break;
			}
	}
}

/* Are there as many calls as records of each? Or none at all of either. */
static bool is_whole(const struct memory_act *run, size_t n)
{
	size_t calls[MEMORY_OP_END] = { 0 }, records[MEMORY_OP_END] = { 0 };

	for (size_t i = 0; i < n; i++)
		(run[i].is_record ? records : calls)[run[i].op]++;
	return calls[MEMORY_ALLOC] == records[MEMORY_ALLOC] && calls[MEMORY_FREE] == records[MEMORY_FREE];
}

static uint64_t apart(const struct memory_act *call, const struct memory_act *record)
{
	uint64_t at = record->start_ns;

	return at < call->start_ns ? call->start_ns - at : at > call->end_ns ? at - call->end_ns : 0;
}

/* Calls of one address do not overlap, so it is the next or the one before, of those that have none. */
static struct memory_act *nearest(struct memory_act *run, size_t n, size_t at)
{
	struct memory_act *best = NULL;

	for (size_t k = at, steps = 0; k-- > 0 && !best && steps < NEAR_STEPS; steps++)
		best = is_same(&run[k], &run[at]) ? &run[k] : NULL;
	for (size_t k = at + 1; k < n && k - at <= NEAR_STEPS; k++) {
		if (!is_same(&run[k], &run[at]))
			continue;
		return best && apart(best, &run[at]) <= apart(&run[k], &run[at]) ? best : &run[k];
	}
	return best;
}

static void pair_nearest(struct memory_act *run, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		struct memory_act *call = run[i].is_record ? nearest(run, n, i) : NULL;

		if (call)
			merge(call, &run[i]);
	}
}

size_t memory_pair(struct memory_act *acts, size_t n)
{
	size_t kept = 0, run;

	qsort(acts, n, sizeof(*acts), by_address);
	for (size_t i = 0; i < n; i += run) {
		for (run = 1; i + run < n && acts[i + run].address == acts[i].address; run++)
			;
		(is_whole(&acts[i], run) ? pair_run : pair_nearest)(&acts[i], run);
	}
	for (size_t i = 0; i < n; i++)
		if (acts[i].op != MEMORY_OP_END)
			acts[kept++] = acts[i];
	qsort(acts, kept, sizeof(*acts), by_moment);
	return kept;
}
