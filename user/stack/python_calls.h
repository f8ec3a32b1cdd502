/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The Python functions of stacks of calls: code objects, by the ids of the records that brought
 * them. Private to the room.
 */
#ifndef STACK_PYTHON_CALLS_H
#define STACK_PYTHON_CALLS_H

#include "base/map.h"
#include "base/str.h"
#include "base/vec.h"
#include "gpuprof/python.h"
#include "stack/python_code.h"
#include "stack/python_runtime.h"

struct python_function {
	const char *file, *name;	/* the pool's; NULL: could not be read */
	struct python_lines lines;
};

struct python_functions {	/* start zeroed; python_functions_free */
	VEC(struct python_function) all;	/* number - 1 */
	struct map by_id;
	size_t line_bytes;
};

/* One record. 0 (also of an object that is known, or over the limits), -EINVAL: malformed;
 * -ENOMEM. */
int python_functions_take(struct python_functions *f, const struct gp_python_code *rec, size_t len,
			  struct strpool *names);
static inline void python_functions_free(struct python_functions *f)
{
	for (size_t i = 0; i < f->all.n; i++)
		free(f->all.v[i].lines.table);
	VEC_FREE(&f->all);
	map_free(&f->by_id);
}

/* NULL: it is not known. */
static inline const struct python_function *
python_functions_find(const struct python_functions *f, uint64_t id)
{
	const struct map_slot *slot = map_find(&f->by_id, id);

	return slot && slot->value ? &f->all.v[slot->value - 1] : NULL;
}

/* What BPF needs to walk a runtime's frames. False: it cannot. */
bool python_describe(const struct python_runtime *rt, struct gp_python *out);

#endif
