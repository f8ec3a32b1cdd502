// SPDX-License-Identifier: BSD-3-Clause
/* The table `findings`: a row for each finding of findings/findings.h, with the advice of words. */
#include "findings/findings.h"

#include "view/view.h"
#include "view/words.h"

enum { SEVERITY, FINDING, PID, DEVICE, MIG, SHARE, GAIN, CAUSE, EVIDENCE, ADVICE, NEXT, TID,
       FUNCTION, COUNT, EACH, WHERE, N_COLUMNS };

static const struct column columns[N_COLUMNS] = {
	[SEVERITY] = { "severity", NULL, CELL_TEXT, 0, ROLE_LABEL, "high, medium, low" },
	[FINDING] = { "finding", NULL, CELL_TEXT, 0, ROLE_KEY, "name of the rule" },
	[PID] = COLUMN_PID,
	[DEVICE] = COLUMN_DEVICE,
	[MIG] = COLUMN_MIG,
	[SHARE] = { "share", NULL, CELL_SHARE, 0, ROLE_SHARE, "of the wall clock that is lost" },
	[GAIN] = { "gain_bound", "gain at most", CELL_SHARE, 0, ROLE_SHARE,
		"of the wall clock that removing it saves at most" },
	[CAUSE] = { "cause", NULL, CELL_PROSE, 0, ROLE_LABEL, "what is wrong, in a sentence" },
	[EVIDENCE] = { "evidence", NULL, CELL_PROSE, 0, ROLE_LABEL, "figures that show it" },
	/* wide: in md it is a column only with --wide; text prints it below the row */
	[ADVICE] = { "advice", NULL, CELL_PROSE, 1, ROLE_LABEL,
		"how one fixes it, in short (more: gpuprof help FINDING)" },
	[NEXT] = { "next", NULL, CELL_COMMAND, 0, ROLE_LABEL,
		"command that looks closer, where one can be run" },
	[TID] = { "tid", NULL, CELL_ID, 1, ROLE_LABEL, "thread that most of it is of" },
	[FUNCTION] = { "function", NULL, CELL_TEXT, 1, ROLE_LABEL, "call that most of it is in" },
	[COUNT] = { "count", NULL, CELL_INT, 1, ROLE_SUM, "times that it happened" },
	[EACH] = { "each_ns", NULL, CELL_NS, 1, ROLE_MEAN, "mean time of one" },
	[WHERE] = { "where", NULL, CELL_TEXT, COLUMN_RARE, ROLE_LABEL,
		"function of the program that most of it is in: caller < function (needs stacks)" },
};

/* NULL: there is none. */
static const char *advice_of(const char *name)
{
	const struct word *w = word_of_finding(name);

	return !w ? NULL : w->fix ? w->fix : w->cuda;
}

static void add_row(struct table *t, const struct finding *f)
{
	struct cell *row = table_row(t);

	if (f->pid)
		cell_u(&row[PID], f->pid);
	if (f->device != FINDING_NO_DEVICE)
		view_put_device(&row[DEVICE], &row[MIG], f->device);
	if (f->has_share) {
		cell_d(&row[SHARE], f->share);
		cell_d(&row[GAIN], f->gain_bound);
	}
	if (f->tid)
		cell_u(&row[TID], f->tid);
	cell_s(t, &row[FUNCTION], f->function);
	if (f->times)
		cell_u(&row[COUNT], f->times);
	if (f->each_ns)
		cell_u(&row[EACH], f->each_ns);
	if (f->where_caller)
		cell_f(t, &row[WHERE], "%s < %s", f->where_caller, f->where);
	else
		cell_s(t, &row[WHERE], f->where);
	cell_s(t, &row[SEVERITY], finding_severity(f));
	cell_s(t, &row[FINDING], f->name);
	cell_s(t, &row[CAUSE], f->cause.s);
	cell_s(t, &row[EVIDENCE], f->evidence.s);
	cell_s(t, &row[ADVICE], f->advice ? f->advice : advice_of(f->name));
	cell_s(t, &row[NEXT], *f->next.s ? f->next.s : NULL);
}

static void fill(struct table *t, const struct view_query *q)
{
	struct findings f = { 0 };

	t->failed |= findings_read(&f, q->snapshot) < 0;
	for (size_t i = 0; i < f.all.n; i++)
		add_row(t, &f.all.v[i]);
	findings_free(&f);
}

const struct view view_findings = {
	.name = "findings",
	.help = "an avoidable loss, its cause, evidence and bound",
	.columns = columns, .n_columns = N_COLUMNS,
	.never_null = "severity finding cause evidence",
	.shown = VIEW_WITH_DEVICES,
	.fill = fill,
};
