// SPDX-License-Identifier: BSD-3-Clause
/* Why the tables may be empty, as a fact for the report: by what was met while the session ran. */
#include "session/session_blind.h"
#include "host/proc.h"

/* Is it stopped, now? Then that is why, whatever was probed. */
static bool stopped_empty(struct session *s, pid_t pid)
{
	struct strbuf by = STRBUF_INIT;
	struct proc_stat stat;
	bool is = proc_stat_of(pid, &stat) && proc_add_stopped(&by, pid, stat.state);

	if (is)
		session_fact(s, "no_calls", "process %d (%s) is %s", pid, stat.comm, by.s);
	strbuf_free(&by);
	return is;
}

static bool any_is_stopped(struct session *s)
{
	const struct session_options *o = s->plan->o;

	for (size_t i = 0; i < o->n_pids; i++)
		if (stopped_empty(s, (pid_t)o->pids[i]))
			return true;
	for (size_t i = 0; i < s->chosen.n; i++)
		if (stopped_empty(s, s->chosen.v[i]))
			return true;
	return false;
}

static void blind_empty(struct session *s)
{
	struct helpers_status st;
	bool any = false;

	if (s->closed.n) {
		session_fact(s, "no_calls", "there are no probes, and CUDA could not load the helper in process %d (%s): "
			     "%s", s->closed.first, s->closed.comm, closed_why(s, s->closed.first));
		return;
	}
	for (size_t i = 0; s->helpers && i < helpers_count(s->helpers); i++) {
		helpers_status(s->helpers, i, &st);
		any |= st.head.tag != 0;
	}
	session_fact(s, "no_calls", any ? "there are no probes, and CUPTI told the helper of none" :
		     "there are no probes, and no helper was loaded, which CUDA (or NVTX) does where it is used");
}

void session_empty(struct session *s)
{
	unsigned int probes = 0, left_out = 0;
	size_t files = s->blind ? 0 : attach_count(s->attach);

	if (any_is_stopped(s))
		return;
	if (s->blind) {
		blind_empty(s);
		return;
	}
	for (size_t i = 0; i < files; i++) {
		const struct attach_result *r = &attach_get(s->attach, i)->result;

		probes += r->probes;
		left_out += r->too_dear + r->refused;
	}
	if (probes)
		session_fact(s, "no_calls", "%u functions in %zu file%s%s were probed, none was called and "
			     "no thread was in one", probes, files, files > 1 ? "s" : "",
			     s->plan->o->cmd ? " that it uses or might load" : "");
	else if (left_out)
		session_fact(s, "no_calls", "none of the %u functions that were found can be probed here",
			     left_out);
	else if (worker_missed(s->worker))
		session_fact(s, "no_calls", "what mapped a CUDA or NCCL library had ended before it could be "
			     "probed; with `--` before the command that is done first");
	else
		session_fact(s, "no_calls", "no CUDA or NCCL library was mapped%s", s->plan->o->tier ? "" :
			     " (what cublas and cudnn do alone needs --tier 1)");
}
