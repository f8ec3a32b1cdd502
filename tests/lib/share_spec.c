// SPDX-License-Identifier: BSD-3-Clause
/* The rules of share_spec.h, a nanosecond at a time. */
#include "lib/share_spec.h"

#include <string.h>

static bool does(const struct share_spec_span *spans, size_t n, size_t member, uint64_t ns,
		 unsigned int state)
{
	for (size_t i = 0; i < n; i++)
		if (spans[i].member == member && spans[i].span.state == state &&
		    spans[i].span.start_ns <= ns && ns < spans[i].span.end_ns)
			return true;
	return false;
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
	memset(out->member, 0, sizeof(out->member));
	out->sum.shared_ns = out->sum.unknown_ns = out->sum.unwatched_ns = out->sum.idle_ns = 0;
	for (uint64_t ns = out->sum.open_ns; ns < out->sum.close_ns; ns++) {
		size_t running = 0, owner = 0, unseen = 0;

		for (size_t m = 0; m < SHARE_SPEC_MEMBERS; m++)
			unseen += does(spans, n, m, ns, SHARE_UNSEEN);
		for (size_t m = 0; m < SHARE_SPEC_MEMBERS; m++)
			if (does(spans, n, m, ns, SHARE_RUNS)) {
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
			out->member[m].waited_ns += does(spans, n, m, ns, SHARE_WAITS);
	}
}
