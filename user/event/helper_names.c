// SPDX-License-Identifier: BSD-3-Clause
/* An array by number, each text on its own. */
#include "event/helper_names.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int helper_names_take(struct helper_names *n, uint32_t id, const char *text, size_t len)
{
	char **name;

	while (n->all.n < id)
		if (!VEC_PUSH(&n->all))
			return -ENOMEM;
	name = &n->all.v[id - 1];
	n->bytes -= *name ? strlen(*name) : 0;
	free(*name);
	*name = n->bytes + len > HELPER_NAMES_BYTES ? strdup("[other]") : strndup(text, len);
	if (!*name)
		return -ENOMEM;
	n->bytes += strlen(*name);
	return 0;
}

const char *helper_names_get(const struct helper_names *n, uint32_t id)
{
	return id && id <= n->all.n ? n->all.v[id - 1] : NULL;
}

void helper_names_free(struct helper_names *n)
{
	for (size_t i = 0; i < n->all.n; i++)
		free(n->all.v[i]);
	VEC_FREE(&n->all);
}
