// SPDX-License-Identifier: BSD-3-Clause
/* The rules of share_spec.h, a nanosecond at a time. */
#include "lib/share_spec.h"

#include <stdlib.h>
#include <string.h>

#include "base/num.h"

typedef uint8_t moment[SHARE_SPEC_MEMBERS];	/* of each member, bit 1 << state for each it is in */

/* What each did at each nanosecond of [open, close); the caller frees it. */
static moment *paint(const struct share_spec_span *spans, size_t n, uint64_t open_ns, uint64_t close_ns)
{
	moment *at = calloc(close_ns - open_ns + 1, sizeof(*at));

	if (!at)
		abort();
	for (size_t i = 0; i < n; i++) {
		uint64_t from = num_max(spans[i].span.start_ns, open_ns);
		uint64_t to = num_min(spans[i].span.end_ns, close_ns);

		for (uint64_t ns = from; ns < to; ns++)
			at[ns - open_ns][spans[i].member] |= (uint8_t)(1u << spans[i].span.state);
	}
	return at;
}

static bool others_at(const struct share_spec_change *changes, size_t n, uint64_t ns)
{
	bool present = false;

	for (size_t i = 0; i < n; i++)
		if (changes[i].at_ns <= ns)
			present = changes[i].present;
	return present;
}

void share_spec(const struct share_spec_span *spans, size_t n,
		const struct share_spec_change *changes, size_t n_changes, struct share_spec *out)
{
	moment *at = paint(spans, n, out->sum.open_ns, out->sum.close_ns);

	struct share_member since[SHARE_SPEC_MEMBERS] = { 0 };
	bool has_run[SHARE_SPEC_MEMBERS] = { false };

	memset(out->member, 0, sizeof(out->member));
	out->sum.shared_ns = out->sum.unknown_ns = out->sum.unwatched_ns = out->sum.idle_ns = 0;
	for (uint64_t ns = out->sum.open_ns; ns < out->sum.close_ns; ns++) {
		const uint8_t *now = at[ns - out->sum.open_ns];
		size_t running = 0, owner = 0, unseen = 0;

		for (size_t m = 0; m < SHARE_SPEC_MEMBERS; m++)
			unseen += now[m] >> SHARE_UNSEEN & 1;
		for (size_t m = 0; m < SHARE_SPEC_MEMBERS; m++)
			if (now[m] >> SHARE_RUNS & 1) {
				running++;
				owner = m;
			}
		if (running == 1)
			out->member[owner].owned_ns++;
		else if (running)
			out->sum.shared_ns++;
		else if (unseen)
			out->sum.unknown_ns++;
		else if (others_at(changes, n_changes, ns))
			out->sum.unwatched_ns++;
		else
			out->sum.idle_ns++;
		for (size_t m = 0; running && m < SHARE_SPEC_MEMBERS; m++)
			out->member[m].waited_ns += now[m] >> SHARE_WAITS & 1;
		for (size_t m = 0; m < SHARE_SPEC_MEMBERS; m++) {
			if (now[m] >> SHARE_RUNS & 1) {
				out->member[m].gaps_ns += since[m].gaps_ns;
				out->member[m].gaps_idle_ns += since[m].gaps_idle_ns;
				since[m] = (struct share_member){ 0 };
				has_run[m] = true;
			} else if (has_run[m] && !(now[m] >> SHARE_UNSEEN & 1)) {
				since[m].gaps_ns++;
				since[m].gaps_idle_ns += !running && !unseen &&
					!others_at(changes, n_changes, ns);
			}
		}
	}
	free(at);
}
