// SPDX-License-Identifier: BSD-3-Clause
/* Why the tables may be empty, as a fact for the report: by what was met while the session ran. */
#include "cli/session_internal.h"

static void blind_empty(struct session *s)
{
	struct helpers_status st;
	bool any = false;

	for (size_t i = 0; s->helpers && i < helpers_count(s->helpers); i++) {
		helpers_status(s->helpers, i, &st);
		any |= st.head.tag != 0;
	}
	session_fact(s, "no_calls", any ? "there are no probes, and CUPTI told the helper of none" :
		     "there are no probes, and no process used CUDA (or NVTX), which loads the helper");
}

void session_empty(struct session *s)
{
	unsigned int probes = 0, left_out = 0;
	size_t files = s->blind ? 0 : attach_count(s->attach);

	if (s->blind) {
		blind_empty(s);
		return;
	}
	for (size_t i = 0; i < files; i++) {
		const struct attach_result *r = &attach_get(s->attach, i)->result;

		probes += r->probes;
		left_out += r->stepped + r->refused;
	}
	if (probes)
		session_fact(s, "no_calls", "%u functions in %zu file%s%s were probed, none was called and "
			     "no thread was in one", probes, files, files > 1 ? "s" : "",
			     s->plan->o->cmd ? " that it uses or might load" : "");
	else if (left_out)
		session_fact(s, "no_calls", "none of the %u functions that were found can be probed here",
			     left_out);
	else
		session_fact(s, "no_calls", "no CUDA or NCCL library was mapped%s", s->plan->o->tier ? "" :
			     " (what cublas and cudnn do alone needs --tier 1)");
}
