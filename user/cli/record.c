// SPDX-License-Identifier: BSD-3-Clause
/* `gpuprof record`: measure and keep everything in a capture file. */
#include <inttypes.h>
#include <stdio.h>

#include "base/log.h"
#include "cli/exit.h"
#include "cli/print.h"
#include "cli/session.h"
#include "cli/verbs.h"
#include "view/table.h"

static void say_kept(const char *path, const struct capture_stats *st)
{
	struct strbuf size = STRBUF_INIT;

	format_bytes(&size, st->file_bytes);
	log_info("kept %" PRIu64 " events in %s (%s); gpuprof report %s", st->events, path, size.s,
		 path);
	strbuf_free(&size);
}

int verb_record(const struct options *o)
{
	const char *path = o->output ? o->output : "gpuprof.gpr";
	struct session_plan plan = { .o = o, .capture_path = path };
	struct session_outcome out;
	int rc = session_run(&plan, &out);

	if (out.capture.blocks)
		say_kept(path, &out.capture);
	if (!rc && out.model)
		rc = print_loss(o, out.model);
	return session_end(&out, rc);
}
