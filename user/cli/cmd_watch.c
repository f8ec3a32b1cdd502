// SPDX-License-Identifier: BSD-3-Clause
/* No verb: the live view; or a report of each interval on standard output, until the targets end or
 * Ctrl-C. */
#include "base/exit.h"
#include "base/log.h"
#include "base/time.h"
#include "view/report.h"
#include "session/session.h"
#include "cli/progress.h"
#include "host/caps.h"
#include "cli/verbs.h"
#include "view/render.h"
#include "view/tui/terminal.h"
#include "view/view.h"

/* Unless --interval was given; the first ends so soon after the start, so that one sees that it
 * works. */
#define INTERVAL_NS (5 * NS_PER_SEC)
#define FIRST_INTERVAL_NS NS_PER_SEC

struct interval_reports {
	const struct options *o;
	struct snapshot *last;	/* as the last interval ended; NULL: none has */
	unsigned int printed;
	int rc;			/* of printing */
};

static void print_interval(struct interval_reports *iv, const struct model *m, uint64_t now_ns)
{
	struct report_state state = { .again = iv->printed++ > 0, .unjudged = true };

	iv->rc = report_interval(iv->o, m, now_ns, iv->last, &state);
}

static void end_interval(struct interval_reports *iv, const struct model *m, uint64_t now_ns)
{
	print_interval(iv, m, now_ns);
	snapshot_free(iv->last);
	iv->last = snapshot_take(m, now_ns);
	if (iv->last || iv->rc)
		return;
	log_error("cannot report: out of memory");
	iv->rc = EXIT_FAIL;
}

/* Nothing was asked for that only reports have. */
static bool wants_view(const struct options *o)
{
	const struct report_options *r = &o->report;

	return !o->session.cmd && !o->interval_ns && !o->session.count && !o->quiet && !r->tables &&
	       !r->sort && !r->filter && !r->top && !r->wide && !r->full &&
	       r->format == FORMAT_TEXT && r->by == CALLS_BY_FUNCTION;
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
	struct progress progress;
	struct session *s;
	struct model *m;
	int rc;

	if (o->bare && caps_missing())
		return print_start();
	if (wants_view(o) && terminal_is_there())
		return verb_top(o);
	rc = report_check(&o->report);
	if (rc)
		return rc;
	if (!o->interval_ns) {
		plan.interval_ns = INTERVAL_NS;
		plan.first_interval_at_ns = o->session.count ? 0 :
					    time_now_ns() + FIRST_INTERVAL_NS;
	}
	options_warn_stacks(o);
	progress_begin(&progress, o);
	s = session_open(&plan);
	if (!s)
		return EXIT_FAIL;
	while (!iv.rc && (step = session_step(s)))
		if (step == SESSION_INTERVAL)
			end_interval(&iv, session_model(s), session_interval_end(s));
	rc = session_stop(s);
	m = session_model(s);
	/* The rest, since the last whole interval, also when an error ended the session. */
	if (m && !iv.rc && !(o->session.count && iv.printed >= o->session.count))
		print_interval(&iv, m, 0);
	if (m && !iv.rc)
		iv.rc = judge_model(o, m);
	snapshot_free(iv.last);
	return session_close(s, rc ? rc : iv.rc);
}
