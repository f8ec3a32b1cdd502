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

struct pairs {
	struct meta_pair *v;
	size_t n;
	struct strpool *pool;
};

static struct cell *add(struct pairs *p, const char *key, uint8_t type)
{
	struct meta_pair *pair = &p->v[p->n++];

	*pair = (struct meta_pair){ .key = key, .type = type };
	return &pair->value;
}

static void add_text(struct pairs *p, const char *key, const char *text)
{
	struct cell *c = add(p, key, CELL_TEXT);

	c->s = text ? strpool_add(p->pool, text) : NULL;
	c->known = c->s != NULL;
}

/* ISO 8601, UTC: "2026-11-21T12:22:11.123456789Z"; null when the wall clock is not known. */
static void add_time(struct pairs *p, const char *key, const struct model *m, uint64_t ns)
{
	uint64_t offset = model_fact_number(m, "wall_offset_ns");
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
static void add_unseen(struct pairs *p, const struct model *m)
{
	const char *dear = model_fact(m, "too_dear"), *refused = model_fact(m, "refused");
	struct strbuf both = STRBUF_INIT;

	strbuf_addf(&both, "%s%s%s", dear ? dear : "", dear && refused ? "," : "",
		    refused ? refused : "");
	add_text(p, "not_seen", both.len ? both.s : NULL);
	strbuf_free(&both);
}

/* Null while the session goes on: the kernel's counters are read at its end. */
static void add_reached(struct pairs *p, const struct model *m)
{
	struct cell *c = add(p, "launches_reached_driver", CELL_INT);

	if (model_fact(m, counter_name(COUNTER_REACHED)))
		cell_u(c, model_fact_number(m, counter_name(COUNTER_REACHED)));
}

static void add_cost(struct pairs *p, const struct summary *s)
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
static void add_nested(struct pairs *p, const struct own_cost *cost)
{
	struct cell *c = add(p, "own_cost_nested", CELL_INT);

	if (!cost->calls_only)
		cell_u(c, cost->nested);
}

static void add_fact_number(struct pairs *p, const char *key, const struct model *m)
{
	struct cell *c = add(p, key, CELL_INT);

	if (model_fact(m, key))
		cell_u(c, model_fact_number(m, key));
}

/* Of all processes. Of calls then nothing is known, not even how many. */
static uint64_t unarmed_ns(const struct summary *s)
{
	uint64_t ns = 0;

	for (size_t i = 0; i < model_processes(s->model); i++)
		ns = num_add(ns, model_unarmed_ns(s->model, i, s->start_ns, s->now_ns));
	return ns;
}

size_t summary_meta(struct meta_pair *v, const struct summary *s, const char *verdict,
		    struct strpool *pool)
{
	const struct model *m = s->model;
	const char *version = model_fact(m, "version");
	struct pairs p = { .v = v, .pool = pool };
	struct model_counts counts;

	model_counts(m, &counts);
	add_text(&p, "host", model_fact(m, "host"));
	add_time(&p, "start", m, s->start_ns);
	add_time(&p, "end", m, s->now_ns);
	cell_u(add(&p, "duration_ns", CELL_NS), s->now_ns - s->start_ns);
	add_text(&p, "version", version ? version : version_text());
	add_text(&p, "kernel", model_fact(m, "kernel"));
	add_text(&p, "attach", model_fact(m, "attach"));
	add_fact_number(&p, "functions_probed", m);
	add_fact_number(&p, "functions_left_out", m);
	cell_u(add(&p, "complete", CELL_BOOL), !s->incomplete);
	cell_u(add(&p, "events", CELL_INT), s->events);
	cell_u(add(&p, "lost", CELL_INT), s->lost);
	cell_u(add(&p, "unarmed_ns", CELL_NS), unarmed_ns(s));
	cell_u(add(&p, "own_cost_calls", CELL_INT), s->cost.calls);
	add_nested(&p, &s->cost);
	add_cost(&p, s);
	add_text(&p, "return_probes", model_fact(m, "returns"));
	cell_u(add(&p, "entry_only_calls", CELL_INT), summary_entries(m));
	add_text(&p, "single_stepped", model_fact(m, "stepped"));
	add_unseen(&p, m);
	add_text(&p, "launch", model_fact(m, "launch"));
	add_reached(&p, m);
	cell_u(add(&p, "clock_uncertainty_ns", CELL_NS), counts.clock_error_ns);
	add_text(&p, "sources", model_fact(m, "sources"));
	add_text(&p, "nvml", model_fact(m, "nvml"));
	add_text(&p, "nvml_missing", model_fact(m, "nvml_missing"));
	add_text(&p, "verdict", *verdict ? verdict : NULL);
	return p.n;
}
