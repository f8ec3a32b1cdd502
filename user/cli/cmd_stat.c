// SPDX-License-Identifier: BSD-3-Clause
/* `gpuprof stat`: measure, then print one report; with --capture also keep it. */
#include <string.h>

#include "base/exit.h"
#include "base/log.h"
#include "view/html_moments.h"
#include "view/report.h"
#include "session/session.h"
#include "cli/progress.h"
#include "cli/verbs.h"
#include "view/view.h"

static bool nothing_matched(const struct model *m)
{
	struct model_counts counts;

	model_counts(m, &counts);
	return !counts.received[EVENT_PROCESS] && !counts.received[EVENT_CALL];
}

int verb_stat(const struct options *o)
{
	struct consumers consumers;
	struct session_plan plan = { .o = &o->session, .capture_path = o->capture,
				     .output = o->report.output,
				     .by_launch = o->report.by == CALLS_BY_LAUNCH,
				     .has_bins = report_has_page(&o->report),
				     .consumers = view_consumers(&consumers) };
	/* Which name a pattern (%) becomes is not known here. */
	const bool is_named = o->capture && !strchr(o->capture, '%');
	const struct report_state how = { .capture = is_named ? o->capture : NULL };
	int rc = report_check(&o->report), printed;
	struct progress progress;
	struct session *s;

	if (rc)
		return rc;
	if (plan.has_bins)
		consumers.v[consumers.n++] = &html_moments_consumer;
	options_warn_stacks(o);
	progress_begin(&progress, o);
	s = session_open(&plan);
	if (!s)
		return EXIT_FAIL;
	while (session_step(s))
		progress_show(&progress, s);
	progress_end(&progress);
	rc = session_stop(s);
	/* Data measured before an error is printed all the same. */
	if (session_model(s)) {
		printed = report_interval(o, session_model(s), 0, NULL, &how);
		rc = rc ? rc : printed;
		if (!rc && o->session.selector && nothing_matched(session_model(s))) {
			log_error("no process that matches used CUDA or NCCL meanwhile");
			rc = EXIT_FAIL;
		}
	}
	return session_close(s, rc);
}
