// SPDX-License-Identifier: BSD-3-Clause
/* See the header. */
#include "session/target_list.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/vec.h"
#include "base/exit.h"
#include "target/selection.h"
#include "target/target.h"

static int copy(struct target_list *c, const struct selection *found)
{
	c->own = calloc(found->all.n + 1, sizeof(*c->own));
	if (!c->own) {
		log_error("cannot list processes: out of memory");
		return EXIT_FAIL;
	}
	c->pids = c->own;
	c->n = found->all.n;
	c->n_named = 0;
	for (size_t i = 0; i < c->n; i++)
		c->own[i] = (uint32_t)found->all.v[i].pid;
	return 0;
}

int target_list_find(struct target_list *c, const struct session_options *o)
{
	struct selection found = { .denied = 0 };
	struct strbuf sb = STRBUF_INIT;
	int err, rc = EXIT_FAIL;

	*c = (struct target_list){ .pids = o->pids, .n = o->n_pids, .n_named = o->n_pids };
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

struct family {
	VEC(uint32_t) all;
	size_t n_named;
};

/* One that is below two of those that are named is met twice. */
static int add_member(void *ctx, pid_t pid)
{
	struct family *f = ctx;
	uint32_t *added;

	for (size_t i = 0; i < f->all.n; i++)
		if (f->all.v[i] == (uint32_t)pid)
			return 0;
	added = VEC_PUSH(&f->all);
	if (!added)
		return -ENOMEM;
	*added = (uint32_t)pid;
	return 0;
}

static int find_family(struct family *f, const struct target_list *named)
{
	struct target_tree *tree = target_tree_read();
	int err = tree ? 0 : -errno;

	for (size_t i = 0; !err && i < named->n; i++)
		err = add_member(f, (pid_t)named->pids[i]);
	f->n_named = f->all.n;
	for (size_t i = 0; !err && i < named->n; i++)
		err = target_tree_each_below(tree, (pid_t)named->pids[i], add_member, f);
	target_tree_free(tree);
	return err;
}

int target_list_add_children(struct target_list *c)
{
	struct family f = { .n_named = 0 };
	int err = find_family(&f, c);

	if (err) {
		log_error("cannot list the processes below: %s", strerror(-err));
		VEC_FREE(&f.all);
		return EXIT_FAIL;
	}
	free(c->own);
	*c = (struct target_list){ f.all.v, f.all.n, f.n_named, f.all.v };
	return 0;
}

void target_list_free(struct target_list *c)
{
	free(c->own);
	c->own = NULL;
}
