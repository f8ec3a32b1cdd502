// SPDX-License-Identifier: BSD-3-Clause
/* No verb: a report of each interval on standard output, until the targets end or Ctrl-C. */
#include "base/exit.h"
#include "view/report.h"
#include "session/session.h"
#include "cli/verbs.h"
#include "view/view.h"

struct interval_reports {
	const struct options *o;
	unsigned int printed;
	int rc;			/* of printing */
};

static void print_interval(struct interval_reports *iv, const struct model *m, uint64_t now_ns)
{
	struct report_state state = { .again = iv->printed++ > 0, .unjudged = true };

	iv->rc = report_model(iv->o, m, now_ns, &state);
}

/* The rest, since the last whole interval, also when an error ended the session. */
static void print_rest(struct interval_reports *iv, const struct model *m)
{
	if (!iv->rc && !(iv->o->session.count && iv->printed >= iv->o->session.count))
		print_interval(iv, m, 0);
	if (!iv->rc)
		iv->rc = judge_model(iv->o, m);
}

int verb_watch(const struct options *o)
{
	struct interval_reports iv = { .o = o };
	struct consumers consumers;
	struct session_plan plan = { .o = &o->session, .capture_path = o->capture,
				     .output = o->report.output,
				     .by_launch = o->report.by == CALLS_BY_LAUNCH,
				     .consumers = view_consumers(&consumers),
				     .interval_ns = o->interval_ns };
	enum session_step step;
	struct session *s;
	int rc = report_check(&o->report);

	if (rc)
		return rc;
	options_warn_stacks(o);
	s = session_open(&plan);
	if (!s)
		return EXIT_FAIL;
	while (!iv.rc && (step = session_step(s)))
		if (step == SESSION_INTERVAL)
			print_interval(&iv, session_model(s), session_interval_end(s));
	rc = session_stop(s);
	if (session_model(s))
		print_rest(&iv, session_model(s));
	return session_close(s, rc ? rc : iv.rc);
}
