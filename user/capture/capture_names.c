// SPDX-License-Identifier: BSD-3-Clause
/* Interns the functions that a capture names. Knows nothing of rows or files. */
#include "capture/capture_names.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

static uint64_t hash_func(const struct func *f)
{
	uint64_t h = XXH64(f->library, strlen(f->library) + 1, f->class | f->two << 8);

	return XXH64(f->name, strlen(f->name), h);
}

static bool is_same(const struct func *a, const struct func *b)
{
	return a->class == b->class && a->two == b->two && !strcmp(a->name, b->name) &&
	       !strcmp(a->library, b->library);
}

int capture_names_find(struct capture_names *n, const struct func *f)
{
	uint64_t hash = hash_func(f);
	struct map_slot *slot = map_find(&n->by_hash, hash);
	struct func *to = &n->funcs.v[n->funcs.n];

	/* Two functions of one hash are made on purpose; the second has no place. */
	if (slot)
		return is_same(&n->funcs.v[slot->value], f) ? (int)slot->value : NAMES_FULL;
	if (n->funcs.n == FUNCS_MAX)
		return NAMES_FULL;
	*to = (struct func){ strdup(f->name), strdup(f->library), f->class, f->two };
	slot = map_put(&n->by_hash, hash, NULL);
	if (!slot || !to->name || !to->library) {
		free((char *)to->name);
		free((char *)to->library);
		*to = (struct func){ .name = NULL };
		map_del(&n->by_hash, hash);
		return -ENOMEM;
	}
	slot->value = n->funcs.n;
	return (int)n->funcs.n++;
}

void capture_names_free(struct capture_names *n)
{
	for (size_t i = 0; i < n->funcs.n; i++) {
		free((char *)n->funcs.v[i].name);
		free((char *)n->funcs.v[i].library);
	}
	map_free(&n->by_hash);
	n->funcs.n = 0;
}
