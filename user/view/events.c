// SPDX-License-Identifier: BSD-3-Clause
/*
 * The table `events`: the sources' counts beside the events received, and their errors. Reads a
 * snapshot.
 */
#include <string.h>

#include "base/num.h"
#include "view/view.h"

enum { SOURCE, KIND, HITS, RECEIVED, LOST, MATCHED, ORPHAN, LATE, SKEW, INVALID, N_COLUMNS };

static const struct column columns[N_COLUMNS] = {
	[SOURCE] = { "source", NULL, CELL_TEXT, 0, ROLE_KEY, "where the records come from" },
	[KIND] = { "kind", NULL, CELL_TEXT, 0, ROLE_KEY, "kind of record" },
	[HITS] = { "hits", NULL, CELL_INT, 0, ROLE_SUM,
		"times that the source had something to record" },
	[RECEIVED] = { "received", NULL, CELL_INT, 0, ROLE_SUM, "records that arrived" },
	[LOST] = { "lost", NULL, CELL_INT, 0, ROLE_SUM,
		"hits without a record: hits = received + lost" },
	[MATCHED] = { "matched", NULL, CELL_INT, 0, ROLE_SUM, "works that met their launch" },
	[ORPHAN] = { "orphan", NULL, CELL_INT, 0, ROLE_SUM, "works without a launch" },
	[LATE] = { "late", NULL, CELL_INT, 0, ROLE_SUM,
		"records of time that is booked already, of before the session or after it" },
	[SKEW] = { "skew", NULL, CELL_INT, 0, ROLE_SUM,
		"works that began up to 1 ms before their launch; kept" },
	[INVALID] = { "invalid", NULL, CELL_INT, 0, ROLE_SUM,
		"records whose times are impossible; not used" },
};

/* The enum event_kind that a reading counts; 0: something else that a source counts. */
static unsigned int kind_of(const struct model_reading *r)
{
	for (unsigned int kind = 1; kind < EVENT_KIND_END; kind++)
		if (!strcmp(r->kind, event_kind_name(kind)))
			return kind;
	return 0;
}

static size_t readings_of(const struct snapshot *snap, unsigned int kind)
{
	size_t n = 0;

	for (size_t i = 0; i < snap->readings.n; i++)
		n += kind_of(&snap->readings.v[i]) == kind;
	return n;
}

static void fill_kind(struct table *t, struct cell *row, const struct model_counts *c,
		      unsigned int kind)
{
	if (kind == EVENT_WORK) {
		cell_u(&row[MATCHED], c->matched);
		cell_u(&row[ORPHAN], c->orphan);
	} else if (kind == EVENT_API) {
		cell_u(&row[MATCHED], c->met);
		cell_u(&row[LOST], c->unmet_lost);
		cell_u(&row[ORPHAN], c->launches - c->met - c->awaited - c->unmet_lost);
	} else if (kind == EVENT_RANGE) {
		cell_u(&row[ORPHAN], c->unplaced);
	} else if (kind == EVENT_MEMORY) {
		cell_u(&row[LOST], c->unseen_frees);
	}
	cell_u(&row[LATE], c->late[kind]);
	cell_u(&row[SKEW], c->skew[kind]);
	cell_u(&row[INVALID], c->invalid[kind]);
	cell_s(t, &row[KIND], event_kind_name(kind));
}

static void add_reading(struct table *t, const struct snapshot *snap, const struct model_reading *r)
{
	const struct model_counts *c = &snap->counts;
	struct cell *row = table_row(t);
	unsigned int kind = kind_of(r);
	bool alone = kind && readings_of(snap, kind) == 1;
	uint64_t received = alone ? c->received[kind] : r->received;

	/* Sent by the source but not here (a damaged capture): lost on the way. Here but not in
	 * the source's reading (which was taken before): a hit as well. */
	cell_u(&row[HITS], num_add(r->hits, num_sub(received, r->received)));
	cell_u(&row[RECEIVED], received);
	cell_u(&row[LOST], num_add(r->lost, num_sub(r->received, received)));
	cell_s(t, &row[SOURCE], r->source);
	if (alone)
		fill_kind(t, row, c, kind);
	else
		cell_s(t, &row[KIND], r->kind);
}

/* Kinds that arrived and that no source counts: their hits are not known. */
static void add_uncounted(struct table *t, const struct snapshot *snap, unsigned int kind)
{
	const struct model_counts *c = &snap->counts;
	struct cell *row;

	if ((!c->received[kind] && !c->unfollowed[kind]) || readings_of(snap, kind))
		return;
	row = table_row(t);
	cell_u(&row[RECEIVED], c->received[kind]);
	fill_kind(t, row, c, kind);
	if (c->unfollowed[kind])
		cell_u(&row[LOST], c->unfollowed[kind]);
}

/* The outcome of launches, which are no events. */
static void add_launches(struct table *t, const char *kind, uint64_t received, uint64_t lost)
{
	struct cell *row;

	if (!received && !lost)
		return;
	row = table_row(t);
	cell_u(&row[HITS], received + lost);
	cell_u(&row[RECEIVED], received);
	cell_u(&row[LOST], lost);
	cell_s(t, &row[SOURCE], "helper");
	cell_s(t, &row[KIND], kind);
}

static void fill(struct table *t, const struct view_query *q)
{
	static const uint8_t kinds[] = {
		EVENT_CALL, EVENT_ENTER, EVENT_OPEN, EVENT_THREAD, EVENT_EXIT, EVENT_FORK,
		EVENT_PROCESS, EVENT_TAIL, EVENT_UNARMED, EVENT_INSIDE, EVENT_LEFT, EVENT_GONE,
		EVENT_WORK, EVENT_API, EVENT_RANGE, EVENT_OFF,
		EVENT_UNSEEN, EVENT_MEMORY, EVENT_SAMPLE, EVENT_USER, EVENT_FAULT, EVENT_CUPTI_CALL,
		EVENT_NODE, EVENT_SCHED,
	};
	const struct snapshot *snap = q->snapshot;

	for (size_t i = 0; i < snap->readings.n; i++)
		add_reading(t, snap, &snap->readings.v[i]);
	for (size_t i = 0; i < sizeof(kinds); i++)
		add_uncounted(t, snap, kinds[i]);
	/* Launches while no helper recorded. */
	add_launches(t, "captured", snap->counts.captured, 0);
	/* Their device activity is in the next file, if anywhere. */
	if (snapshot_fact(snap, "goes_on"))
		add_launches(t, "goes_on", snap->counts.awaited, 0);
	add_launches(t, "untold", 0, snap->counts.unrecorded + snap->counts.missing);
}

const struct view view_events = {
	.name = "events",
	.help = "a source and kind of records: how many came, how many were lost",
	.columns = columns, .n_columns = N_COLUMNS,
	.never_null = "kind received",
	.fill = fill,
};
