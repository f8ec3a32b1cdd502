// SPDX-License-Identifier: BSD-3-Clause
/* From a session's facts to what gpuprof cost, and from there to the buckets of a thread. */
#include "model/own_cost.h"

#include <string.h>

#include "base/num.h"
#include "event/names.h"

static bool has_name(const char *list, const char *name)
{
	size_t len = strlen(name);

	while (list) {
		if (!strncmp(list, name, len) && (!list[len] || list[len] == ','))
			return true;
		list = strchr(list, ',');
		list = list ? list + 1 : NULL;
	}
	return false;
}

/* One function's calls have many rows. */
static void count_calls(struct own_cost *c, const struct snapshot *snap)
{
	const char *list = snapshot_fact(snap, "stepped");
	const struct funcs *funcs = snap->funcs;

	for (size_t i = 0; i < snap->processes.n; i++) {
		const struct call_stats *ts = &snap->processes.v[i].calls;

		for (size_t k = 0; k < call_stats_count(ts); k++) {
			const struct call_stat *t = call_stats_at(ts, k);

			c->calls = num_add(c->calls, t->count);
			if (list && has_name(list, funcs->v[t->key.func].name))
				c->stepped = num_add(c->stepped, t->count);
		}
	}
}

static void count_ops(struct own_cost *c, const struct ops *ops)
{
	for (size_t i = 0; i < ops_count(ops); i++) {
		const struct op_row *row = ops_at(ops, i);

		c->ops = num_add(c->ops, num_sub(row->count, row->bound));
		c->entries = num_add(c->entries, row->bound);
	}
}

struct own_cost own_cost_read(const struct snapshot *snap)
{
	bool is_first = snap->since_ns == snap->session.start_ns;
	const char *nested = counter_name(COUNTER_NESTED);
	struct own_cost c = {
		.call_ns = snapshot_fact_number(snap, "cost_per_hit_ns"),
		.nested = is_first ? snapshot_fact_number(snap, nested) : 0,
		.silent = is_first ? snapshot_fact_number(snap, counter_name(COUNTER_SILENT)) : 0,
		.nested_ns = snapshot_fact_number(snap, "cost_per_nested_ns"),
		.step_ns = snapshot_fact_number(snap, "cost_per_step_ns"),
	};

	c.calls_only = c.nested_ns && !(is_first && snapshot_fact(snap, nested));
	count_calls(&c, snap);
	count_ops(&c, snap->ops);
	c.calls = num_sub(c.calls, snap->counts.cupti_calls);	/* no probe saw these */
	/* As many in each call as in those of the whole capture. */
	if (snapshot_fact(snap, "part")) {
		const double part = num_ratio(c.calls, snap->counts.received[EVENT_CALL]);

		c.nested = (uint64_t)((double)c.nested * part);
		c.silent = (uint64_t)((double)c.silent * part);
	}
	return c;
}

static uint64_t more_ns(const struct own_cost *c)
{
	return num_add(num_mul(c->nested, c->nested_ns), num_mul(c->stepped, c->step_ns));
}

uint64_t own_cost_ns(const struct own_cost *c)
{
	const uint64_t halves = num_add(num_mul(2, num_add(c->calls, c->ops)), c->entries);

	return num_add(num_mul(halves, c->call_ns) / 2,
		       num_add(num_mul(c->silent, c->nested_ns), more_ns(c)));
}

static void take(struct book_sum *sum, unsigned int class, uint64_t ns)
{
	ns = num_min(ns, num_sub(sum->ns[class], sum->blocked_ns[class]));
	sum->ns[class] -= ns;
	sum->own_ns[class] += ns;
	sum->ns[BUCKET_GPUPROF] += ns;
}

void own_cost_take(const struct own_cost *c, struct book_sum *sum)
{
	uint64_t around_ns = 0, each_ns = c->calls ? more_ns(c) / c->calls : 0;

	for (unsigned int i = 0; i < CLASS_END; i++) {
		uint64_t call_ns = num_mul(sum->calls[i], c->call_ns), inside_ns = call_ns / 2;

		if (i == CLASS_OTHER)	/* calls that are seen at their entry only, too */
			inside_ns = 0;
		else
			take(sum, i, num_add(inside_ns, num_mul(sum->calls[i], each_ns)));
		around_ns = num_add(around_ns, call_ns - inside_ns);
	}
	take(sum, CLASS_OTHER, around_ns);
}
