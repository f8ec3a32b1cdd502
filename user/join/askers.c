// SPDX-License-Identifier: BSD-3-Clause
#include "join/askers.h"

#include <errno.h>
#include <stdlib.h>

#include "base/num.h"

#define CAP_FIRST 16

static int note(struct askers *a, uint32_t tid, uint64_t ns)
{
	const struct askers_change *last =
		a->changes.n ? RING_AT(&a->changes, a->changes.n - 1) : NULL;

	if (last ? last->tid == tid : !tid)
		return 0;
	ns = last ? num_max(ns, last->ns) : ns;
	if (a->changes.n >= ASKERS_HISTORY_MAX)
		RING_DROP(&a->changes);
	if (a->changes.n == a->changes.cap && RING_GROW(&a->changes, CAP_FIRST))
		return -ENOMEM;
	*RING_AT(&a->changes, a->changes.n++) = (struct askers_change){ ns, tid };
	return 0;
}

int askers_begin(struct askers *a, uint32_t tid, uint64_t ns)
{
	if (!a->n)
		a->tid = tid;
	a->several |= a->tid != tid;
	a->n++;
	return note(a, a->several ? 0 : a->tid, ns);
}

int askers_end(struct askers *a, uint64_t ns)
{
	if (a->n)
		a->n--;
	if (a->n)
		return 0;
	a->several = 0;
	return note(a, 0, ns);
}

uint32_t askers_at(const struct askers *a, uint64_t ns)
{
	size_t low = 0, high = a->changes.n;

	while (low < high) {
		const size_t middle = low + (high - low) / 2;

		if (RING_AT(&a->changes, middle)->ns <= ns)
			low = middle + 1;
		else
			high = middle;
	}
	return low ? RING_AT(&a->changes, low - 1)->tid : 0;
}

void askers_settle(struct askers *a, uint64_t ns)
{
	while (a->changes.n > 1 && RING_AT(&a->changes, 1)->ns <= ns)
		RING_DROP(&a->changes);
}

void askers_free(struct askers *a)
{
	RING_FREE(&a->changes);
	*a = (struct askers){ 0 };
}
