// SPDX-License-Identifier: BSD-3-Clause
/* See the header. Of a process that is not meant, only what its selectors need is read. */
#include "target/selection.h"

#include <errno.h>
#include <unistd.h>

#include "base/map.h"
#include "target/target.h"

#define NAMED_MAX 4

struct pass {
	struct selection *out;
	const struct selector *selector;
	bool below;
};

/* Kept: the matching processes and, to find their descendants, the parent of each. */
static int keep(struct pass *pass, struct proc *p, const struct proc_stat *stat)
{
	int rc = selector_matches(pass->selector, p);
	struct selected *e;

	pass->out->denied += rc == -EACCES || rc == -EPERM;
	if (rc == -ENOMEM)
		return rc;
	if (rc != 1 && !pass->below)
		return 0;
	e = VEC_PUSH(&pass->out->all);
	if (!e)
		return -ENOMEM;
	*e = (struct selected){ .pid = p->pid, .parent = stat->ppid, .matches = rc == 1 };
	e->chosen = e->matches;
	pass->out->matches += e->matches;
	memcpy(e->comm, stat->comm, sizeof(e->comm));
	return 0;
}

static int visit(void *ctx, pid_t pid)
{
	struct proc_stat stat;
	const char *text;
	struct proc p;
	int err = 0;

	text = proc_open(&p, pid) ? NULL : proc_read(&p, PROC_STAT, NULL);
	if (text && !proc_parse_stat(text, &stat) && !stat.kernel && stat.state != 'Z' &&
	    pid != getpid())
		err = keep(ctx, &p, &stat);
	proc_close(&p);
	return err;
}

/* Until a walk finds no new process: pids are not in the order of birth. */
static int choose_below(struct selection *s)
{
	struct map chosen = { 0 };
	size_t before;
	int err = 0;

	do {
		before = chosen.n;
		for (size_t i = 0; i < s->all.n && !err; i++) {
			struct selected *e = &s->all.v[i];

			e->chosen |= map_find(&chosen, (uint64_t)e->parent) != NULL;
			if (e->chosen && !map_put(&chosen, (uint64_t)e->pid, NULL))
				err = -ENOMEM;
		}
	} while (!err && chosen.n != before);
	map_free(&chosen);
	return err;
}

int selection_find(struct selection *out, const struct selector *s, bool below)
{
	struct pass pass = { .out = out, .selector = s, .below = below };
	int err = target_each_pid(visit, &pass);
	size_t kept = 0;

	if (!err && below && out->matches)
		err = choose_below(out);
	for (size_t i = 0; i < out->all.n; i++)
		if (out->all.v[i].chosen)
			out->all.v[kept++] = out->all.v[i];
	out->all.n = kept;
	return err;
}

void selection_describe(const struct selection *found, const struct selector *s, struct strbuf *out)
{
	size_t below = found->all.n - found->matches, named = 0;

	if (!found->matches)
		strbuf_addstr(out, "no process matches ");
	else
		strbuf_addf(out, "%zu process%s ", found->matches,
			    found->matches == 1 ? " matches" : "es match");
	selector_describe(s, out);
	for (size_t i = 0; i < found->all.n && named < NAMED_MAX; i++)
		if (found->all.v[i].matches)
			strbuf_addf(out, "%s %d (%s)", named++ ? "," : ":", found->all.v[i].pid,
				    found->all.v[i].comm);
	if (found->matches > named)
		strbuf_addstr(out, ", ...");
	if (below)
		strbuf_addf(out, "; %zu below", below);
}
