/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The tables of design §9 that a snapshot can fill: each is a const description (its columns,
 * the order of its rows, where it is shown) and a function that adds its rows. A new table is a
 * file with one and a line in view.c; where the ledger does not keep its rows the file has a
 * consumer of events, too (facts/consumer.h). A cell with an unknown value is left unknown,
 * never zero.
 */
#ifndef VIEW_VIEW_H
#define VIEW_VIEW_H

#include "event/device_number.h"
#include "model/snapshot.h"
#include "view/table.h"

enum calls_by { CALLS_BY_FUNCTION, CALLS_BY_LAUNCH, CALLS_BY_RESULT, CALLS_BY_STACK };

struct view_query {
	const struct snapshot *snapshot;
	enum calls_by by;
	bool hides_stacks;	/* nothing that it prints has a column of stacks */
	double prune;		/* of the table gemm: rows with less of a share are left out */
};

/* In a report for which no tables were named. WITH_DEVICES: if it has rows, or device times are
 * known. */
enum view_shown { VIEW_ALWAYS, VIEW_WITH_DEVICES, VIEW_WITH_ROWS, VIEW_WHEN_ASKED };

struct view {
	const char *name;
	const char *help;		/* the meaning of a row */
	const struct column *columns;
	uint8_t n_columns;
	uint8_t n_columns_by_launch;	/* with CALLS_BY_LAUNCH; 0: the same */
	uint8_t shown;			/* enum view_shown */
	bool shows_stacks;
	/* columns that are known in every row, separated by blanks; NULL: none */
	const char *never_null;
	const struct consumer *consumer;	/* keeps its rows; NULL: the ledger does */
	const char *sort;		/* column; NULL: rows stay as fill adds them */
	void (*fill)(struct table *t, const struct view_query *q);	/* or sets t->failed */
};

extern const struct view *const view_list[];	/* in the order of a report; NULL ends it */

/* The consumers of all tables, which a model needs so that its snapshots can fill them. */
const struct consumers *view_consumers(struct consumers *list);

static inline unsigned int view_columns(const struct view *v, enum calls_by by)
{
	return by == CALLS_BY_LAUNCH && v->n_columns_by_launch ? v->n_columns_by_launch :
	       v->n_columns;
}

struct table *view_fill(const struct view *v, const struct view_query *q);	/* NULL + errno */

/* The name of a process, or NULL: unknown. The cell of its number stays unknown where it
 * stands for many that exited (MODEL_PAST_PID): then the name has their number. */
const char *view_comm(const struct snapshot *snap, uint32_t process);

static inline void view_put_pid(struct cell *cell, uint32_t pid)
{
	if (pid != MODEL_PAST_PID)
		cell_u(cell, pid);
}

/* The cells of COLUMN_DEVICE and COLUMN_MIG. */
static inline void view_put_device(struct cell *device, struct cell *mig, uint32_t number)
{
	cell_u(device, number);
	if (device_number_is_instance(number))
		cell_u(mig, device_number_place(number));
}

extern const struct view view_calls, view_copies, view_devices, view_events, view_findings,
	view_gemm, view_kernels, view_lanes, view_ledger, view_lines, view_memory, view_modules,
	view_offcpu, view_ops, view_processes, view_ranges, view_threads;

#endif
