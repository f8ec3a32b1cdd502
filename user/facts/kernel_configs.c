// SPDX-License-Identifier: BSD-3-Clause
/* A row of a graph's kernel moves when its call becomes known. */
#include "facts/kernel_configs.h"

#include <errno.h>
#include <string.h>

#include "base/num.h"

_Static_assert(sizeof(struct kernel_config_key) == 80, "no padding");

static uint64_t other_name(void)
{
	return event_text_hash(KERNEL_CONFIGS_OTHER);
}

static void other_key(void *key)
{
	const struct kernel_config_key *k = key;

	*(struct kernel_config_key *)key = (struct kernel_config_key){
		.process = k->process, .pid = k->pid, .device = k->device,
		.name = other_name() };
}

/* Of those that are left, none is longer than what the shortest leave, nor the other way round. */
static void bound_times(void *from, const void *earlier)
{
	struct kernel_config *c = from;
	const struct kernel_config *less = earlier;
	const uint64_t others = c->count - !!c->count;

	if (c->max_ns <= less->max_ns)
		c->max_ns = num_min(c->max_ns, num_sub(c->total_ns, num_mul(others, c->min_ns)));
	if (c->min_ns >= less->min_ns)
		c->min_ns = num_max(c->min_ns, num_sub(c->total_ns, num_mul(others, c->max_ns)));
}

static const struct rows_type type = {
	ROWS_OF(struct kernel_config), ROWS_SUMS(struct kernel_config, count, total_ns),
	ROWS_TEXTS(struct kernel_config, name, name), .drops_empty = true,
	.max = KERNEL_CONFIGS_MAX, .other = other_key, .subtract = bound_times,
};

static int add(struct rows *rows, const struct kernel_config *from)
{
	bool is_new;
	struct kernel_config *row = rows_get(rows, &type, &from->key, &is_new);
	bool is_other = row && row->key.name == other_name();
	const char *name = is_other ? KERNEL_CONFIGS_OTHER : from->name;

	if (!row)
		return -ENOMEM;
	if (is_new) {
		row->min_ns = UINT64_MAX;
		row->name = name ? strdup(name) : NULL;
		if (name && !row->name)
			return -ENOMEM;
	}
	row->count += from->count;
	row->total_ns += from->total_ns;
	row->min_ns = num_min(row->min_ns, from->min_ns);
	row->max_ns = num_max(row->max_ns, from->max_ns);
	if (!is_other)
		row->last = from->last;
	return 0;
}

static void set_call(struct kernel_config_key *key, enum graph_evidence evidence,
		     const struct captured_call *call)
{
	key->evidence = evidence;
	key->tid = call ? call->tid : 0;
	key->range = call ? call->range : 0;
	key->func = call ? call->func : 0;
}

int kernel_configs_add(struct kernel_configs *kc, const struct event *kernel,
		       enum graph_evidence evidence, const struct captured_call *call)
{
	bool is_range_pending = evidence == EVIDENCE_ORDER && !call->settled;
	uint64_t ns = kernel->end_ns - kernel->start_ns;
	struct kernel_config one = {
		.key = {
			.process = kernel->process, .pid = kernel->pid,
			.device = kernel->work.device,
			.node = evidence == EVIDENCE_PENDING ? kernel->work.graph_node : 0,
			.name = kernel->work.name_hash ? kernel->work.name_hash :
							 event_text_hash(kernel->work.name),
		},
		.name = (char *)kernel->work.name,
		.count = 1, .total_ns = ns, .min_ns = ns, .max_ns = ns,
	};

	kernel_launch_of(&one.last, &kernel->work);
	memcpy(one.key.grid, one.last.grid, sizeof(one.key.grid));
	memcpy(one.key.block, one.last.block, sizeof(one.key.block));
	set_call(&one.key, evidence, call);
	if (is_range_pending)
		one.key.open_ns = num_middle(call->start_ns, call->end_ns);
	return add(evidence == EVIDENCE_PENDING || is_range_pending ? &kc->pending : &kc->rows,
		   &one);
}

int kernel_configs_resolve(struct kernel_configs *kc, kernel_configs_find_fn find, void *ctx)
{
	struct rows all = kc->pending;
	int err = 0;

	kc->pending = (struct rows){ 0 };
	for (size_t i = 0; i < all.n && !err; i++) {
		struct kernel_config row = *(const struct kernel_config *)all.v[i];
		const struct captured_call *call = NULL;
		enum graph_evidence evidence = find(ctx, &row, &call);

		if (evidence != EVIDENCE_PENDING) {
			set_call(&row.key, evidence, call);
			row.key.node = row.key.open_ns = 0;
		}
		err = add(evidence == EVIDENCE_PENDING ? &kc->pending : &kc->rows, &row);
	}
	rows_free(&all);
	return err;
}
