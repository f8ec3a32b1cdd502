// SPDX-License-Identifier: BSD-3-Clause
/* See the header. */
#include "cli/chosen.h"

#include <stdlib.h>

#include "base/log.h"
#include "cli/exit.h"
#include "probe/selection.h"

static int copy(struct chosen *c, const struct selection *found)
{
	c->own = calloc(found->all.n + 1, sizeof(*c->own));
	if (!c->own) {
		log_error("cannot list processes: out of memory");
		return EXIT_FAIL;
	}
	c->pids = c->own;
	for (size_t i = 0; i < found->all.n; i++)
		c->own[c->n++] = (uint32_t)found->all.v[i].pid;
	return 0;
}

int chosen_find(struct chosen *c, const struct options *o)
{
	struct selection found = { .denied = 0 };
	struct strbuf sb = STRBUF_INIT;
	int err, rc = EXIT_FAIL;

	*c = (struct chosen){ .pids = o->pids, .n = o->n_pids };
	if (!o->selector)
		return 0;
	err = selection_find(&found, o->selector, !o->isolate);
	selection_describe(&found, o->selector, &sb);
	if (err)
		log_error("cannot list processes: %s", strerror(-err));
	else if (!found.matches)
		log_error("%s; gpuprof doctor says what can be measured", sb.s);
	else
		rc = copy(c, &found);
	if (!rc)
		log_info("%s", sb.s);
	strbuf_free(&sb);
	selection_free(&found);
	return rc;
}

void chosen_free(struct chosen *c)
{
	free(c->own);
	c->own = NULL;
}
