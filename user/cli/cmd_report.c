// SPDX-License-Identifier: BSD-3-Clause
/* `gpuprof report FILE`: a capture becomes a model, and that is printed as any other. */
#include <errno.h>
#include <linux/capability.h>
#include <string.h>

#include "base/log.h"
#include "host/caps.h"
#include "base/exit.h"
#include "cli/lines.h"
#include "view/report.h"
#include "cli/verbs.h"
#include "capture/capture.h"
#include "view/view.h"

static int push(void *model, const struct event *ev)
{
	return model_push(model, ev);
}

static int explain_state(const struct capture_reader *r, const char *path)
{
	struct capture_counts n = capture_counts(r);

	switch (capture_state(r)) {
	case CAPTURE_COMPLETE:
		return EXIT_OK;
	case CAPTURE_CUT:
		log_warn("%s is incomplete: it ends without its end mark, so the recorder was "
			 "killed or the file was cut; %llu blocks were read", path,
			 (unsigned long long)n.blocks);
		return EXIT_PARTIAL;
	case CAPTURE_GROWING:
		log_warn("%s is still being recorded: this is what it holds so far, %llu blocks",
			 path, (unsigned long long)n.blocks);
		return EXIT_PARTIAL;
	default:
		log_warn("%s is damaged: %llu blocks with at least %llu events were skipped, "
			 "%llu blocks were read", path,
			 (unsigned long long)n.bad_blocks,
			 (unsigned long long)n.bad_events,
			 (unsigned long long)n.blocks);
		return EXIT_PARTIAL;
	}
}

int report_model(const struct options *o, const struct model *m, uint64_t now_ns,
		 const struct report_state *how)
{
	struct snapshot *snap = snapshot_take(m, now_ns);
	int lines = snap && o->lines ? lines_find(&snap->stacks) : 0;
	int rc = snap ? report_print(&o->report, snap, how) : EXIT_FAIL;

	if (!snap)
		log_error("cannot report: out of memory");
	snapshot_free(snap);
	return rc ? rc : lines;
}

int judge_model(const struct options *o, const struct model *m)
{
	struct snapshot *snap = snapshot_take(m, 0);
	int rc = snap ? report_judge(&o->report, snap) : EXIT_FAIL;

	snapshot_free(snap);
	return rc;
}

static int report_capture(const struct options *o, struct capture_reader *r, struct model *m)
{
	struct report_state how = { 0 };
	struct consumers consumers;
	int state, rc, err;

	err = model_use_consumers(m, view_consumers(&consumers));
	if (!err)
		err = capture_read(r, &(struct event_sink){ push, m });
	if (!err)
		err = model_finish(m);
	if (err) {
		log_error("cannot read %s: %s", o->args[0], strerror(-err));
		return EXIT_FAIL;
	}
	state = explain_state(r, o->args[0]);
	how.incomplete = state != EXIT_OK;
	rc = report_model(o, m, 0, &how);
	return rc ? rc : state;
}

/* Before anything of the capture is read. Source lines are in files of those who built the
 * target. */
static void drop_privileges(const struct options *o)
{
	caps_drop_others((o->lines ? 1ull << CAP_DAC_READ_SEARCH : 0) |
			 caps_of_output(o->report.output));
}

int verb_report(const struct options *o)
{
	struct capture_reader *r;
	struct model *m;
	int rc = report_check(&o->report);

	if (rc)
		return rc;
	r = capture_open(o->args[0]);
	if (!r)
		return EXIT_FAIL;
	drop_privileges(o);
	m = model_new(capture_funcs(r));
	if (m && o->report.by == CALLS_BY_LAUNCH)
		model_use_launches(m);
	if (m)
		rc = report_capture(o, r, m);
	else
		log_error("cannot read %s: %s", o->args[0], strerror(errno));
	model_free(m);
	capture_free(r);
	return m ? rc : EXIT_FAIL;
}
