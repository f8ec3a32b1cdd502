// SPDX-License-Identifier: BSD-3-Clause
/* Looked through from the front: there are few. */
#include "base/pairs.h"

#include <errno.h>
#include <stdint.h>
#include <string.h>

#include "base/vec.h"

static struct pair *find(const struct pairs *p, const char *key)
{
	for (size_t i = 0; i < p->n; i++)
		if (!strncmp(p->v[i].key, key, PAIRS_TEXT_MAX))
			return &p->v[i];
	return NULL;
}

static int replace(char **at, const char *text)
{
	char *copy = strndup(text, PAIRS_TEXT_MAX);

	if (!copy)
		return -ENOMEM;
	free(*at);
	*at = copy;
	return 0;
}

int pairs_set(struct pairs *p, const char *key, const char *value, size_t max)
{
	struct pair *pair = find(p, key);

	if (pair)
		return replace(&pair->value, value);
	if (p->n >= max)
		return -ENOSPC;
	pair = VEC_PUSH(p);
	if (!pair)
		return -ENOMEM;
	if (!replace(&pair->key, key) && !replace(&pair->value, value))
		return 0;
	free(pair->key);
	p->n--;
	return -ENOMEM;
}

int pairs_copy(struct pairs *to, const struct pairs *from)
{
	int err = 0;

	for (size_t i = 0; i < from->n && !err; i++)
		err = pairs_set(to, from->v[i].key, from->v[i].value, SIZE_MAX);
	return err;
}

const char *pairs_get(const struct pairs *p, const char *key)
{
	const struct pair *pair = find(p, key);

	return pair ? pair->value : NULL;
}

void pairs_free(struct pairs *p)
{
	for (size_t i = 0; i < p->n; i++) {
		free(p->v[i].key);
		free(p->v[i].value);
	}
	VEC_FREE(p);
}
