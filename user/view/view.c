// SPDX-License-Identifier: BSD-3-Clause
/* The list of tables, and what each does alike. */
#include "view/view.h"

#include <errno.h>

const struct view *const view_list[] = {
	&view_findings, &view_ledger, &view_devices, &view_kernels, &view_lanes, &view_copies,
	&view_ranges, &view_memory, &view_calls, &view_processes, &view_threads, &view_events,
	&view_offcpu, &view_lines, &view_ops, &view_modules, &view_gemm,
	NULL,
};

const struct consumers *view_consumers(struct consumers *list)
{
	list->n = 0;
	for (size_t i = 0; view_list[i]; i++)
		if (view_list[i]->consumer)
			list->v[list->n++] = view_list[i]->consumer;
	return list;
}

struct table *view_fill(const struct view *v, const struct view_query *q)
{
	struct table *t = table_new(v->name, v->columns, view_columns(v, q->by));

	if (!t)
		return NULL;
	v->fill(t, q);
	if (v->sort)
		table_sort(t, v->sort);
	if (!t->failed)
		return t;
	table_free(t);
	errno = ENOMEM;
	return NULL;
}

const char *view_comm(const struct snapshot *snap, uint32_t process)
{
	const struct snapshot_process *p = snapshot_process(snap, process);

	return p && p->comm[0] ? p->comm : NULL;
}
