// SPDX-License-Identifier: BSD-3-Clause
/* The table `findings`: what findings/findings.h found, a row each. */
#include "findings/findings.h"

#include <errno.h>

#include "view/views.h"

enum { SEVERITY, FINDING, PID, DEVICE, SHARE, GAIN, CAUSE, EVIDENCE, NEXT, N_COLUMNS };

static const struct column columns[N_COLUMNS] = {
	[SEVERITY] = { "severity", NULL, CELL_TEXT, 0 },
	[FINDING] = { "finding", NULL, CELL_TEXT, 0 },
	[PID] = { "pid", NULL, CELL_ID, 0 },
	[DEVICE] = { "device", NULL, CELL_DEVICE, 0 },
	[SHARE] = { "share", NULL, CELL_SHARE, 0 },
	[GAIN] = { "gain_bound", "gain at most", CELL_SHARE, 0 },
	[CAUSE] = { "cause", NULL, CELL_PROSE, 0 },
	[EVIDENCE] = { "evidence", NULL, CELL_PROSE, 0 },
	[NEXT] = { "next", NULL, CELL_COMMAND, 0 },
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

struct table *view_findings(const struct model *m, uint64_t now_ns)
{
	struct table *t = table_new("findings", columns, N_COLUMNS);
	struct findings f = { 0 };
	int err = t ? findings_read(&f, m, now_ns) : -ENOMEM;

	for (size_t i = 0; !err && i < f.all.n; i++)
		err = add_row(t, &f.all.v[i]);
	findings_free(&f);
	return table_done(t, err);
}
