// SPDX-License-Identifier: BSD-3-Clause
/* See the header. */
#include "cli/chosen.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/vec.h"
#include "cli/exit.h"
#include "probe/selection.h"
#include "probe/target.h"

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

struct family {
	const struct chosen *named;
	VEC(uint32_t) all;
};

static bool is_named(const struct chosen *c, uint32_t pid)
{
	for (size_t i = 0; i < c->n; i++)
		if (c->pids[i] == pid)
			return true;
	return false;
}

/* One that is below two of those that are named is met twice. */
static int add_member(void *ctx, pid_t pid)
{
	struct family *f = ctx;
	uint32_t *added;

	if (is_named(f->named, (uint32_t)pid) ||
	    is_named(&(struct chosen){ .pids = f->all.v, .n = f->all.n }, (uint32_t)pid))
		return 0;
	added = VEC_PUSH(&f->all);
	if (!added)
		return -ENOMEM;
	*added = (uint32_t)pid;
	return 0;
}

static int find_family(struct family *f)
{
	struct target_tree *tree = target_tree_read();
	int err = tree ? 0 : -errno;
	uint32_t *own;

	for (size_t i = 0; !err && i < f->named->n; i++)
		err = target_tree_each_below(tree, (pid_t)f->named->pids[i], add_member, f);
	target_tree_free(tree);
	if (err)
		return err;
	own = reallocarray(f->all.v, f->all.n + f->named->n + 1, sizeof(*own));
	if (!own)
		return -ENOMEM;
	f->all.v = own;
	memmove(own + f->named->n, own, f->all.n * sizeof(*own));
	memcpy(own, f->named->pids, f->named->n * sizeof(*own));
	return 0;
}

int chosen_add_below(struct chosen *c)
{
	struct family f = { .named = c };
	int err = find_family(&f);

	if (err) {
		log_error("cannot list the processes below: %s", strerror(-err));
		VEC_FREE(&f.all);
		return EXIT_FAIL;
	}
	free(c->own);
	c->pids = c->own = f.all.v;
	c->n += f.all.n;
	return 0;
}

void chosen_free(struct chosen *c)
{
	free(c->own);
	c->own = NULL;
}
