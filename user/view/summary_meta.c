// SPDX-License-Identifier: BSD-3-Clause
/*
 * `meta` of a report: the same facts as the header line and footer, for programs. Keys never
 * change their meaning; what is not known is null.
 */
#include <stdio.h>
#include <time.h>

#include "base/num.h"
#include "base/time.h"
#include "view/summary.h"
#include "base/version.h"
#include "event/names.h"

struct filling {
	struct meta_pair *v;
	size_t n;
	struct strpool *pool;
};

static struct cell *add(struct filling *p, const char *key, uint8_t type)
{
	struct meta_pair *pair = &p->v[p->n++];

	*pair = (struct meta_pair){ .key = key, .type = type };
	return &pair->value;
}

static void add_text(struct filling *p, const char *key, const char *text)
{
	struct cell *c = add(p, key, CELL_TEXT);

	c->s = text ? strpool_add(p->pool, text) : NULL;
	c->known = c->s != NULL;
}

/* ISO 8601, UTC: "2026-11-21T12:22:11.123456789Z"; null when the wall clock is not known. */
static void add_time(struct filling *p, const char *key, const struct snapshot *snap, uint64_t ns)
{
	uint64_t offset = snapshot_fact_number(snap, "wall_offset_ns");
	uint64_t wall = num_add(ns, offset);
	time_t s = (time_t)(wall / NS_PER_SEC);
	char text[64];
	struct tm tm;
	size_t n;

	if (!offset || !gmtime_r(&s, &tm)) {
		add_text(p, key, NULL);
		return;
	}
	n = strftime(text, 40, "%Y-%m-%dT%H:%M:%S", &tm);
	snprintf(text + n, sizeof(text) - n, ".%09uZ", (unsigned int)(wall % NS_PER_SEC));
	add_text(p, key, text);
}

/* Functions of probed libraries whose calls are not seen, whyever. */
static void add_unseen(struct filling *p, const struct snapshot *snap)
{
	const char *dear = snapshot_fact(snap, "too_dear"), *refused = snapshot_fact(snap, "refused");
	struct strbuf both = STRBUF_INIT;

	strbuf_addf(&both, "%s%s%s", dear ? dear : "", dear && refused ? "," : "",
		    refused ? refused : "");
	add_text(p, "not_seen", both.len ? both.s : NULL);
	strbuf_free(&both);
}

/* Null while the session goes on: the kernel's counters are read at its end. */
static void add_reached(struct filling *p, const struct snapshot *snap)
{
	struct cell *c = add(p, "launches_reached_driver", CELL_INT);

	if (snapshot_fact(snap, counter_name(COUNTER_REACHED)))
		cell_u(c, snapshot_fact_number(snap, counter_name(COUNTER_REACHED)));
}

static void add_cost(struct filling *p, const struct summary *s)
{
	struct cell *ns = add(p, "own_cost_ns", CELL_NS);
	struct cell *share = add(p, "own_cost_share", CELL_SHARE);

	if (!s->cost.call_ns)
		return;
	cell_u(ns, own_cost_ns(&s->cost));
	if (s->thread_ns)
		cell_d(share, summary_cost_share(s));
}

/* Null where it is not known, though it is part of what gpuprof cost. */
static void add_nested(struct filling *p, const struct own_cost *cost)
{
	struct cell *c = add(p, "own_cost_nested", CELL_INT);

	if (!cost->calls_only)
		cell_u(c, cost->nested);
}

static void add_fact_number(struct filling *p, const char *key, const struct snapshot *snap)
{
	struct cell *c = add(p, key, CELL_INT);

	if (snapshot_fact(snap, key))
		cell_u(c, snapshot_fact_number(snap, key));
}

/* Of all processes. Of calls then nothing is known, not even how many. */
static uint64_t unarmed_ns(const struct summary *s)
{
	uint64_t ns = 0;

	for (size_t i = 0; i < s->snap->processes.n; i++)
		ns = num_add(ns, s->snap->processes.v[i].unarmed_ns);
	return ns;
}

size_t summary_meta(struct meta_pair *v, const struct summary *s, const char *verdict,
		    struct strpool *pool)
{
	const struct snapshot *snap = s->snap;
	const char *version = snapshot_fact(snap, "version");
	struct filling p = { .v = v, .pool = pool };

	add_text(&p, "host", snapshot_fact(snap, "host"));
	add_time(&p, "start", snap, s->start_ns);
	add_time(&p, "end", snap, s->now_ns);
	cell_u(add(&p, "duration_ns", CELL_NS), s->now_ns - s->start_ns);
	add_text(&p, "version", version ? version : version_text());
	add_text(&p, "kernel", snapshot_fact(snap, "kernel"));
	add_text(&p, "attach", snapshot_fact(snap, "attach"));
	add_fact_number(&p, "functions_probed", snap);
	add_fact_number(&p, "functions_left_out", snap);
	cell_u(add(&p, "complete", CELL_BOOL), !s->incomplete);
	cell_u(add(&p, "events", CELL_INT), s->events);
	cell_u(add(&p, "lost", CELL_INT), s->lost);
	cell_u(add(&p, "unarmed_ns", CELL_NS), unarmed_ns(s));
	cell_u(add(&p, "own_cost_calls", CELL_INT), s->cost.calls);
	add_nested(&p, &s->cost);
	add_cost(&p, s);
	add_text(&p, "return_probes", snapshot_fact(snap, "returns"));
	cell_u(add(&p, "entry_only_calls", CELL_INT), summary_entries(snap));
	add_text(&p, "single_stepped", snapshot_fact(snap, "stepped"));
	add_unseen(&p, snap);
	add_text(&p, "launch", snapshot_fact(snap, "launch"));
	add_reached(&p, snap);
	cell_u(add(&p, "clock_uncertainty_ns", CELL_NS), snap->counts.clock_error_ns);
	add_text(&p, "sources", snapshot_fact(snap, "sources"));
	add_text(&p, "nvml", snapshot_fact(snap, "nvml"));
	add_text(&p, "nvml_missing", snapshot_fact(snap, "nvml_missing"));
	add_text(&p, "verdict", *verdict ? verdict : NULL);
	return p.n;
}
