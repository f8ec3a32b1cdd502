// SPDX-License-Identifier: BSD-3-Clause
/*
 * Ways of attaching in which only a few functions can be probed at a time: what is wished for at
 * the start is collected, so that the best of all files is chosen; files that come later share what
 * is left. Owns the choice and its order in time; what is best is plan_core.c's.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>

#include "base/io.h"
#include "probe/attach_internal.h"
#include "probe/plan_core.h"

/* Of what is planned for n files, leaves the best that can still be had: once and for all. */
static int choose(struct attach *a, struct known *k, size_t n)
{
	struct plan **plans = calloc(n ? n : 1, sizeof(struct plan *));
	bool runs = false;
	int err;

	if (!plans)
		return -ENOMEM;
	for (size_t i = 0; i < a->known.n; i++)
		runs |= a->known.v[i].plan->has_runtime;
	for (size_t i = 0; i < n; i++) {
		plans[i] = k[i].plan;
		if (!runs)	/* then what is for processes without a runtime is for all */
			plans[i]->n = plans[i]->n_all;
	}
	err = plan_keep_core(plans, n, a->few.max - a->few.used);
	for (size_t i = 0; i < n && !err; i++) {
		a->few.used += k[i].plan->n;
		k[i].chosen = true;
	}
	free(plans);
	return err;
}

/* Two processes use one file: probes for each would be as many again. */
static int wish(struct attach *a, size_t index, const struct attach_for *to)
{
	struct known *k = &a->known.v[index];
	struct wish *w = VEC_PUSH(&a->few.wishes);

	if (!w)
		return -ENOMEM;
	*w = (struct wish){ index, to->pid };
	if (k->fd >= 0) {
		a->handed_over = true;
		return 0;
	}
	k->fd = fcntl(to->fd, F_DUPFD_CLOEXEC, 0);
	return k->fd < 0 ? -errno : 0;
}

static int fulfil(struct attach *a, const struct wish *w)
{
	struct known *k = &a->known.v[w->index];
	pid_t pid = a->handed_over ? 0 : w->pid;
	struct attach_result result = k->info.result;
	int err = attach_claim(a, w->index, PART_FIRST, pid);

	if (err == 1)
		err = attach_links(a, k, PART_FIRST, &(struct attach_for){ k->fd, pid }, &result);
	if (!pid)
		io_close(&k->fd);
	return err == -ESRCH ? 0 : err;		/* it has just ended; whoever watches it says so */
}

int attach_begin(struct attach *a)
{
	int err;

	if (!a->few.waits)
		return 0;
	a->few.waits = false;
	map_free(&a->done);
	err = choose(a, a->known.v, a->known.n);
	for (size_t i = 0; i < a->few.wishes.n && !err; i++)
		err = fulfil(a, &a->few.wishes.v[i]);
	VEC_FREE(&a->few.wishes);
	return err;
}

int attach_few(struct attach *a, size_t index, const struct attach_for *to,
	       struct attach_result *result)
{
	struct known *k = &a->known.v[index];
	bool again = k->fd >= 0;	/* as in wish */
	int err = 0;

	if (a->few.waits || again) {
		result->probes = (unsigned int)k->plan->n;
		return a->few.waits ? wish(a, index, to) : attach_hand_over(a);
	}
	if (!k->chosen)
		err = choose(a, k, 1);
	return err ? err : attach_links(a, k, PART_FIRST, to, result);
}
