// SPDX-License-Identifier: BSD-3-Clause
/*
 * Any command line is accepted or refused with exit code 2, and what was accepted keeps the
 * promises of options.h. The input is the words, each ended by a newline.
 * Refusals are the rule here: run with -close_fd_mask=2.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/exit.h"
#include "cli/option_row.h"
#include "view/render.h"
#include "view/view.h"

#define WORDS_MAX 64

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(int ok)
{
	if (!ok)
		abort();
}

static void check_accepted(const struct options *o)
{
	check(o->verb && o->n_args <= o->verb->max_args);
	if (o->help)
		return;
	check(!o->verb->has_targets ||
	      !!o->session.n_pids + !!o->session.all + !!o->session.cmd + !!o->session.selector == 1);
	check(!o->session.cmd || o->session.cmd[0]);
	check(o->session.n_pids <= OPTIONS_PIDS_MAX);
	for (size_t i = 0; i < o->session.n_pids; i++)
		check(o->session.pids[i] != 0);
	check(o->session.ring_bytes >= 65536 && !(o->session.ring_bytes & (o->session.ring_bytes - 1)));
	check(o->report.max_loss >= 0 && o->report.max_loss <= 1);
	check(o->report.format >= 0 && o->report.format < FORMAT_END);
	check(!o->interval_ns || o->interval_ns >= 250000000);
	check(o->report.format < FORMAT_TABLES || o->report.by == CALLS_BY_STACK);
	check(o->session.on >= ON_UNSET && o->session.on <= ON_SIGNAL);
	check(!o->session.max_bytes || o->session.max_bytes >= 65536);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = malloc(size + 1), *rest = text, *argv[WORDS_MAX + 2] = { (char *)"gpuprof" };
	struct options o;
	int argc = 1, rc;

	if (!text)
		return 0;
	if (size)
		memcpy(text, data, size);
	text[size] = '\0';
	while (argc <= WORDS_MAX && rest) {
		char *word = strsep(&rest, "\n");

		if (*word || rest)
			argv[argc++] = word;
	}
	rc = options_parse(&o, argc, argv);
	check(rc == EXIT_OK || rc == EXIT_USAGE);
	if (!rc)
		check_accepted(&o);
	options_free(&o);
	free(text);
	return 0;
}
