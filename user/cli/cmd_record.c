// SPDX-License-Identifier: BSD-3-Clause
/* `gpuprof record`: measure and keep everything in a capture file. */
#include <inttypes.h>
#include <stdio.h>

#include "base/log.h"
#include "base/exit.h"
#include "view/report.h"
#include "session/session.h"
#include "cli/verbs.h"
#include "view/table.h"

static void say_kept(const struct capture_sink_stats *st)
{
	struct strbuf size = STRBUF_INIT;

	format_bytes(&size, st->last.file_bytes);
	if (st->files == 1)
		log_info("kept %" PRIu64 " records in %s (%s); gpuprof report %s", st->events,
			 st->last_path, size.s, st->last_path);
	else
		log_info("kept %" PRIu64 " records in %" PRIu64 " files; the last %" PRIu64
			 " are left, %s to %s", st->events, st->files, st->files - st->removed,
			 st->first_path, st->last_path);
	strbuf_free(&size);
}

/* A flight recorder names its file when it writes it. */
static void say_held(const struct options *o, const struct capture_sink_stats *st)
{
	if (!st->files && o->session.on == ON_SIGNAL)
		log_info("nothing was kept: no SIGUSR1 came");
}

int verb_record(const struct options *o)
{
	const char *path = o->report.output ? o->report.output : "gpuprof.gpr";
	struct session_plan plan = { .o = &o->session, .capture_path = path };
	struct session *s = session_open(&plan);
	const struct capture_sink_stats *kept;
	int rc;

	if (!s)
		return EXIT_FAIL;
	while (session_step(s))
		;
	rc = session_stop(s);
	kept = session_kept(s);
	if (session_model(s) && o->session.before_ns && !rc)
		say_held(o, kept);
	else if (!o->session.before_ns && kept->events)
		say_kept(kept);
	if (!rc)
		rc = judge_model(o, session_model(s));
	return session_close(s, rc);
}
