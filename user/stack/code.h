/* SPDX-License-Identifier: BSD-3-Clause */
/* Where a process has code, for the ids of its stacks. Private to the room. */
#ifndef STACK_CODE_H
#define STACK_CODE_H

#include "base/map.h"
#include "gpuprof/control.h"
#include "stack/maps.h"

/* Fills a zeroed one, but for epoch and python. Between the libraries of a range there is also
 * memory whose addresses stand on stacks: the bits leave it out. */
void stack_describe_code(const struct stack_modules *ms, struct gp_code *code);

/* Alike for the same mappings, never 0. */
static inline uint64_t stack_modules_hash(const struct stack_modules *ms)
{
	uint64_t h = 0;

	for (size_t i = 0; i < ms->module.n; i++) {
		const struct stack_module *m = &ms->module.v[i];
		const struct stack_file *f = &ms->file.v[m->file];

		h = map_hash(h ^ m->start);
		h = map_hash(h ^ m->end);
		h = map_hash(h ^ f->dev << 32 ^ f->ino);
	}
	return h | 1;
}

#endif
