// SPDX-License-Identifier: BSD-3-Clause
/* An array by number, each text on its own. */
#include "source/helper/helper_names.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "event/event.h"

int helper_names_take(struct helper_names *n, uint32_t id, const char *text, size_t len)
{
	struct helper_name *name;

	while (n->all.n < id)
		if (!VEC_PUSH(&n->all))
			return -ENOMEM;
	name = &n->all.v[id - 1];
	n->bytes -= name->text ? strlen(name->text) : 0;
	free(name->text);
	name->text = n->bytes + len > HELPER_NAMES_BYTES ? strdup("[other]") : strndup(text, len);
	if (!name->text)
		return -ENOMEM;
	name->hash = event_text_hash(name->text);
	n->bytes += strlen(name->text);
	return 0;
}

const char *helper_names_get(const struct helper_names *n, uint32_t id)
{
	return id && id <= n->all.n ? n->all.v[id - 1].text : NULL;
}

uint64_t helper_names_hash(const struct helper_names *n, uint32_t id)
{
	return id && id <= n->all.n ? n->all.v[id - 1].hash : 0;
}

void helper_names_free(struct helper_names *n)
{
	for (size_t i = 0; i < n->all.n; i++)
		free(n->all.v[i].text);
	VEC_FREE(&n->all);
}
