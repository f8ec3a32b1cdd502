// SPDX-License-Identifier: BSD-3-Clause
/* The table `findings`: a row for each finding of findings/findings.h. */
#include "findings/findings.h"

#include <errno.h>

#include "view/view.h"

enum { SEVERITY, FINDING, PID, DEVICE, SHARE, GAIN, CAUSE, EVIDENCE, NEXT, N_COLUMNS };

static const struct column columns[N_COLUMNS] = {
	[SEVERITY] = { "severity", NULL, CELL_TEXT, 0, ROLE_LABEL,
		"high, medium, low" },
	[FINDING] = { "finding", NULL, CELL_TEXT, 0, ROLE_KEY,
		"name of the rule" },
	[PID] = { "pid", NULL, CELL_ID, 0, ROLE_KEY,
		"process id on the host" },
	[DEVICE] = { "device", NULL, CELL_DEVICE, 0, ROLE_KEY,
		"number of the device on the host; 0:1 is instance 1 of GPU 0" },
	[SHARE] = { "share", NULL, CELL_SHARE, 0, ROLE_SHARE,
		"of the wall clock that is lost" },
	[GAIN] = { "gain_bound", "gain at most", CELL_SHARE, 0, ROLE_SHARE,
		"of the wall clock that removing it saves at most" },
	[CAUSE] = { "cause", NULL, CELL_PROSE, 0, ROLE_LABEL,
		"what is wrong, in a sentence" },
	[EVIDENCE] = { "evidence", NULL, CELL_PROSE, 0, ROLE_LABEL,
		"figures that show it" },
	[NEXT] = { "next", NULL, CELL_COMMAND, 0, ROLE_LABEL,
		"command that looks closer" },
};

static int add_row(struct table *t, const struct finding *f)
{
	struct cell *row = table_row(t);
	int err;

	if (!row)
		return -ENOMEM;
	if (f->pid)
		cell_u(&row[PID], f->pid);
	if (f->device != FINDING_NO_DEVICE)
		cell_u(&row[DEVICE], f->device);
	if (f->has_share) {
		cell_d(&row[SHARE], f->share);
		cell_d(&row[GAIN], f->gain_bound);
	}
	err = cell_s(t, &row[SEVERITY], finding_severity(f));
	if (!err)
		err = cell_s(t, &row[FINDING], f->name);
	if (!err)
		err = cell_s(t, &row[CAUSE], f->cause.s);
	if (!err)
		err = cell_s(t, &row[EVIDENCE], f->evidence.s);
	return err ? err : cell_s(t, &row[NEXT], f->next.s);
}

static int fill(struct table *t, const struct view_query *q)
{
	struct findings f = { 0 };
	int err = findings_read(&f, q->snapshot);

	for (size_t i = 0; !err && i < f.all.n; i++)
		err = add_row(t, &f.all.v[i]);
	findings_free(&f);
	return err;
}

const struct view view_findings = {
	.name = "findings",
	.help = "an avoidable loss, its cause, evidence and bound",
	.columns = columns,
	.n_columns = N_COLUMNS,
	.shown = VIEW_WITH_DEVICES,
	.fill = fill,
};
