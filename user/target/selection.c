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

static bool is_meant(const struct proc_stat *stat, pid_t pid)
{
	return !stat->kernel && stat->state != 'Z' && pid != getpid();
}

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
	if (text && !proc_parse_stat(text, &stat) && is_meant(&stat, pid))
		err = keep(ctx, &p, &stat);
	proc_close(&p);
	return err;
}

/* Until a walk finds no new process: pids are not in the order of birth. */
static int choose_below(struct selection *s)
{
	struct map chosen = { 0 };
	bool more = true;
	int err = 0;

	for (size_t i = 0; i < s->all.n && !err; i++)
		if (s->all.v[i].chosen && !map_put(&chosen, (uint64_t)s->all.v[i].pid, NULL))
			err = -ENOMEM;
	while (more && !err) {
		more = false;
		for (size_t i = 0; i < s->all.n && !err; i++) {
			struct selected *e = &s->all.v[i];

			if (e->chosen || !map_find(&chosen, (uint64_t)e->parent))
				continue;
			e->chosen = more = true;
			if (!map_put(&chosen, (uint64_t)e->pid, NULL))
				err = -ENOMEM;
		}
	}
	map_free(&chosen);
	return err;
}

static void drop_others(struct selection *s)
{
	size_t kept = 0;

	for (size_t i = 0; i < s->all.n; i++)
		if (s->all.v[i].chosen)
			s->all.v[kept++] = s->all.v[i];
	s->all.n = kept;
}

int selection_find(struct selection *out, const struct selector *s, bool below)
{
	struct pass pass = { .out = out, .selector = s, .below = below };
	int err = target_each_pid(visit, &pass);

	if (!err && below && out->matches)
		err = choose_below(out);
	drop_others(out);
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
