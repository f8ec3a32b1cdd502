// SPDX-License-Identifier: BSD-3-Clause
/* Two lines. Of what is measured only the options are known: no process was looked at yet. */
#include "cli/progress.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "base/num.h"
#include "base/str.h"
#include "base/time.h"
#include "base/units.h"

static void add_targets(struct strbuf *out, const struct session_options *o)
{
	if (o->cmd)
		strbuf_addf(out, "'%s'", o->cmd[0]);
	else if (o->n_pids == 1)
		strbuf_addf(out, "process %u", o->pids[0]);
	else if (o->n_pids)
		strbuf_addf(out, "%zu processes", o->n_pids);
	else if (o->selector)
		strbuf_addstr(out, "matching processes");
	else
		strbuf_addstr(out, "all processes");
	if (o->n_pids && !o->isolate)
		strbuf_addf(out, " and %s children", o->n_pids > 1 ? "their" : "its");
}

void progress_begin(struct progress *p, const struct options *o)
{
	struct strbuf text = STRBUF_INIT;

	*p = (struct progress){ .o = o, .start_ns = time_now_ns() };
	if (o->quiet || !isatty(STDERR_FILENO))
		return;
	p->at_ns = p->start_ns;
	add_targets(&text, &o->session);
	if (o->session.duration_ns)
		strbuf_addf(&text, " for %s", ns_text(o->session.duration_ns).s);
	if (o->session.cmd)
		log_info("measuring %s%s; Ctrl-C is passed on", text.s,
			 o->session.duration_ns ? "" : " until it ends");
	else
		log_info("measuring %s; Ctrl-C ends it", text.s);
	strbuf_free(&text);
}

void progress_show(struct progress *p, const struct session *s)
{
	const uint64_t now_ns = time_now_ns();
	const struct model *m = session_model(s);
	struct model_counts counts;
	uint64_t events = 0;

	if (!p->at_ns || p->o->session.cmd || !m || now_ns - p->at_ns < NS_PER_SEC)
		return;
	p->at_ns = now_ns;
	model_counts(m, &counts);
	for (unsigned int i = 0; i < EVENT_KIND_END; i++)
		events = num_add(events, counts.received[i]);
	log_status("%llu s, %s events%s", (now_ns - p->start_ns) / NS_PER_SEC,
		   count_text(events).s, counts.lost ? ", some lost" : "");
}

void progress_end(const struct progress *p)
{
	if (p->at_ns)
		log_status("%s", "");
}
