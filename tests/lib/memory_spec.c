// SPDX-License-Identifier: BSD-3-Clause
/* The rules of memory_spec.h: every act looks for its other half in the whole list. */
#include "lib/memory_spec.h"

#include <string.h>

/* Which act allocated what is freed here; n: none. */
static size_t freed_by(const struct memory_act *acts, size_t n, size_t i)
{
	for (size_t k = i; k-- > 0;)
		if (acts[k].address == acts[i].address)
			return acts[k].op == MEMORY_ALLOC ? k : n;
	return n;
}

void memory_spec(const struct memory_act *acts, size_t n,
		 struct memory_sums out[MEMORY_SPEC_DEVICES][MEMORY_KIND_END])
{
	memset(out, 0, sizeof(struct memory_sums[MEMORY_SPEC_DEVICES][MEMORY_KIND_END]));
	for (size_t i = 0; i < n; i++) {
		struct memory_sums *s = &out[acts[i].device][acts[i].kind];
		size_t other = acts[i].op == MEMORY_FREE ? freed_by(acts, n, i) : n;

		if (acts[i].op == MEMORY_ALLOC) {
			s->allocs++;
			s->live_bytes += acts[i].bytes;
		} else if (other < n) {
			s = &out[acts[other].device][acts[other].kind];
			s->frees++;
			s->live_bytes -= acts[other].bytes;
		} else {
			s->frees_before++;
		}
		if (s->live_bytes > s->peak_bytes)
			s->peak_bytes = s->live_bytes;
	}
}
