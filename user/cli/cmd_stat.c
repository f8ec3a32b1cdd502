// SPDX-License-Identifier: BSD-3-Clause
/* `gpuprof stat`: measure, then print one report; with --capture also keep it. */
#include "base/exit.h"
#include "cli/lines.h"
#include "view/report.h"
#include "session/session.h"
#include "cli/verbs.h"
#include "view/view.h"

int verb_stat(const struct options *o)
{
	struct session_plan plan = { .o = &o->session, .capture_path = o->capture,
				     .output = o->report.output,
				     .by_launch = o->report.by == CALLS_BY_LAUNCH };
	struct session_outcome out;
	int rc = report_check(&o->report), printed, lines;

	if (rc)
		return rc;
	options_warn_stacks(o);
	rc = session_run(&plan, &out);
	/* What was measured before an error is printed all the same. */
	if (out.started) {
		lines = o->lines ? lines_find(out.model) : 0;
		printed = report_print(&o->report, out.model, NULL);
		rc = rc ? rc : printed ? printed : lines;
	}
	return session_end(&out, rc);
}
