// SPDX-License-Identifier: BSD-3-Clause
/* See the header. Nothing is asked where there is nothing to bring. */
#include "session/bring.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <unistd.h>

#include "base/log.h"
#include "base/time.h"
#include "session/bring_whom.h"
#include "base/exit.h"
#include "source/helper/life.h"
#include "source/helper/ring_reader.h"
#include "inject/process.h"
#include "target/target.h"

/* Said, not asked: who started it with the helper wanted it to be watched. */
static void say_first_time(uint32_t pid)
{
	struct gp_ring_head head;

	if (!ring_reader_peek((pid_t)pid, &head) && head.state == GP_HELPER_VIRGIN &&
	    !helper_is_confined(&head, (pid_t)pid))
		log_info("the helper in process %u begins for the first time: CUPTI may stall launches for "
			 "seconds, once", pid);
}

static bool is_answered(void)
{
	char line[16] = "";

	fflush(stderr);
	return fgets(line, sizeof(line), stdin) && (*line == 'y' || *line == 'Y');
}

static int ask(uint32_t pid, size_t others)
{
	char more[32] = "";

	if (others)
		snprintf(more, sizeof(more), " and %zu more", others);
	if (!isatty(STDIN_FILENO) || !isatty(STDERR_FILENO)) {
		log_error("--inject would load the helper into process %u%s, whose launches may then stall "
			  "for seconds; give --yes, as nobody can be asked here", pid, more);
		return EXIT_USAGE;
	}
	fprintf(stderr, "gpuprof: this loads the helper into process %u%s by ptrace. It stays there, asleep, "
			"after gpuprof.\nWhen it begins to measure, CUPTI may stall the process's launches "
			"for seconds, once. Go on? [y/N] ", pid, more);
	if (is_answered())
		return EXIT_OK;
	log_error("nothing was done: it was not answered with y");
	return EXIT_FAIL;
}

/* Who cannot be seen is refused, which needs no answer. */
static bool wants_answer(const struct bring_one *one)
{
	return bring_is_for(one) && !(one->is_unknown && target_is_hidden(one->pid));
}

int bring_ask(const struct session_options *o)
{
	struct bring_whom whom;
	size_t lacking = 0;
	uint32_t first = 0;

	if (!o->inject || o->yes)
		return EXIT_OK;
	if (bring_whom_read(&whom, o)) {
		bring_whom_free(&whom);
		log_error("cannot look for processes to bring the helper into: out of memory");
		return EXIT_FAIL;
	}
	for (size_t i = 0; i < whom.v.n; i++)
		if (wants_answer(&whom.v.v[i]) && !lacking++)
			first = (uint32_t)whom.v.v[i].pid;
	bring_whom_free(&whom);
	return lacking ? ask(first, lacking - 1) : EXIT_OK;
}

/* Who is named must have it; of what is below, some may not. */
static int bring_one(const struct bring_one *one)
{
	struct inject_outcome out;
	int err = inject_process(one->pid, one->is_named ? LOG_ERROR : LOG_WARN, &out);

	if (!err)
		log_info("the helper is in process %d; its thread %d was stopped for %.1f ms", one->pid, out.tid,
			 (double)out.stopped_ns / (double)NS_PER_MS);
	return err;
}

struct group {			/* told in one line */
	size_t n;
	pid_t first;
};

static void join(struct group *g, const struct bring_one *one, bool is_in)
{
	if (is_in && !g->n++)
		g->first = one->pid;
}

/* " and 3 more". */
static void count_others(const struct group *g, char out[32])
{
	*out = '\0';
	if (g->n > 1)
		snprintf(out, 32, " and %zu more", g->n - 1);
}

/* Why some have none: of what is below, most never use CUDA. */
static void say_others(const struct bring_whom *whom)
{
	struct group without = { 0 }, copies = { 0 };
	char more[32];

	for (size_t i = 0; i < whom->v.n; i++) {
		const struct bring_one *one = &whom->v.v[i];

		join(&without, one, one->is_named && !one->is_unknown && !one->has_helper && !one->cuda_at);
		join(&copies, one, one->is_copy && !one->has_helper);
	}
	count_others(&without, more);
	if (without.n)
		log_info("no CUDA (libcuda) is loaded yet in process %d%s: the helper is only in those of -p, and below "
			 "them, that have it", without.first, more);
	count_others(&copies, more);
	if (copies.n)
		log_info("process %d%s was forked with CUDA loaded, and is left without the helper; if it uses a device "
			 "itself, name it: -p %d", copies.first, more, copies.first);
}

/* 0: some process has it. */
static int bring_all(const struct bring_whom *whom, const struct session_options *o)
{
	int err = 0, last = 0;
	bool any = false;

	for (size_t i = 0; i < whom->v.n; i++) {
		const struct bring_one *one = &whom->v.v[i];

		any |= one->has_helper;
		if (!bring_is_for(one))
			continue;
		err = bring_one(one);
		if (err < 0 && (one->is_named || err == -ENOMEM))
			return err;
		any |= err >= 0;
		last = err < 0 ? err : last;
	}
	if (any) {
		say_others(whom);
		return 0;
	}
	if (last)
		log_error("no process of -p has the helper, nor one below them");
	return last ? last : bring_one(&(struct bring_one){ .pid = (pid_t)o->pids[0], .is_named = true });
}

int bring_helpers(const struct session_options *o)
{
	struct bring_whom whom;
	int err;

	for (size_t i = 0; !o->inject && i < o->n_pids; i++)
		say_first_time(o->pids[i]);
	if (!o->inject || !o->n_pids)
		return 0;
	err = bring_whom_read(&whom, o);
	if (!err)
		err = bring_all(&whom, o);
	bring_whom_free(&whom);
	return err < 0 ? err : 0;
}
