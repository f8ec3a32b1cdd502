// SPDX-License-Identifier: BSD-3-Clause
/* `gpuprof record`: measure and keep everything in a capture file. */
#include <inttypes.h>

#include "base/log.h"
#include "base/exit.h"
#include "base/str.h"
#include "base/units.h"
#include "session/session.h"
#include "cli/progress.h"
#include "cli/verbs.h"

static void say_kept(const struct capture_sink_stats *st)
{
	struct strbuf path = STRBUF_INIT;

	strbuf_add_shell_path(&path, st->last_path);
	if (st->files == 1)
		log_info("kept %" PRIu64 " records in %s (%s); gpuprof report %s", st->events,
			 st->last_path, bytes_text(st->last.file_bytes).s, path.s);
	else
		log_info("kept %" PRIu64 " records in %" PRIu64 " files; the last %" PRIu64
			 " are left, %s to %s", st->events, st->files, st->files - st->removed,
			 st->first_path, st->last_path);
	strbuf_free(&path);
}

int verb_record(const struct options *o)
{
	const char *path = o->report.output ? o->report.output : "gpuprof.gpr";
	struct session_plan plan = { .o = &o->session, .capture_path = path };
	const struct capture_sink_stats *kept;
	struct progress progress;
	struct session *s;
	int rc;

	progress_begin(&progress, o);
	s = session_open(&plan);
	if (!s)
		return EXIT_FAIL;
	while (session_step(s))
		progress_show(&progress, s);
	progress_end(&progress);
	rc = session_stop(s);
	kept = session_kept(s);
	/* A flight recorder names its file when it writes it. */
	if (!o->session.before_ns && kept->events)
		say_kept(kept);
	else if (session_model(s) && o->session.before_ns && !rc && !kept->files &&
		 o->session.on == ON_SIGNAL)
		log_info("nothing was kept: no SIGUSR1 came");
	if (!rc)
		rc = judge_model(o, session_model(s));
	return session_close(s, rc);
}
