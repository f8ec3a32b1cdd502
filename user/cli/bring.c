// SPDX-License-Identifier: BSD-3-Clause
/* See the header. Nothing is asked where there is nothing to bring. */
#include "cli/bring.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <unistd.h>

#include "base/log.h"
#include "base/time.h"
#include "cli/exit.h"
#include "event/helper_caged.h"
#include "event/helper_source.h"
#include "inject/process.h"

static bool has_helper(pid_t pid)
{
	struct gp_ring_head head;

	return helper_source_peek(pid, &head) != -ENOENT;	/* what else is wrong is said later */
}

/* Said, not asked: who started it with the helper wanted it to be watched. */
static void say_first_time(uint32_t pid)
{
	struct gp_ring_head head;

	if (!helper_source_peek((pid_t)pid, &head) && head.state == GP_HELPER_VIRGIN &&
	    !helper_is_caged(&head, (pid_t)pid))
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

int bring_ask(const struct options *o)
{
	size_t lacking = 0;
	uint32_t first = 0;

	for (size_t i = 0; o->inject && !o->yes && i < o->n_pids; i++) {
		if (has_helper((pid_t)o->pids[i]))
			continue;
		if (!lacking++)
			first = o->pids[i];
	}
	return lacking ? ask(first, lacking - 1) : EXIT_OK;
}

int bring_helpers(const struct options *o)
{
	int err = 0;

	for (size_t i = 0; !o->inject && i < o->n_pids; i++)
		say_first_time(o->pids[i]);
	for (size_t i = 0; o->inject && i < o->n_pids && err >= 0; i++) {
		struct inject_outcome out;

		err = inject_process((pid_t)o->pids[i], &out);
		if (!err)
			log_info("the helper is in process %u; its thread %d was stopped for %.1f ms",
				 o->pids[i], out.tid, (double)out.stopped_ns / (double)NS_PER_MS);
	}
	return err < 0 ? err : 0;
}
