// SPDX-License-Identifier: BSD-3-Clause
/* Checks the limits, finds the values of the pattern, chooses the sink. */
#include "capture/sink_open.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>

#include "base/log.h"
#include "capture/capture_recorder.h"
#include "capture/capture_set.h"
#include "host/identity.h"

#define HOLD_BYTES (64ull << 20)	/* of memory, without --max-size */

/* ---- patterns of names: pure ----------------------------------------------------------------- */

#define VALUE_MAX 64	/* of a value; a name has 255 bytes */

static const char letters[] = "hprjt%";

char pattern_unknown(const char *pattern)
{
	for (; *pattern; pattern++) {
		if (*pattern != '%')
			continue;
		pattern++;
		if (!*pattern)
			return '%';
		if (!strchr(letters, *pattern))
			return *pattern;
	}
	return 0;
}

/* A value with a slash, or one that is "..", would name a file elsewhere. */
static void add_value(struct strbuf *out, const char *text)
{
	for (size_t i = 0; i < VALUE_MAX && text[i]; i++) {
		bool plain = isalnum((unsigned char)text[i]) || text[i] == '-' || text[i] == '_' ||
			     (text[i] == '.' && i);

		strbuf_addch(out, plain ? text[i] : '_');
	}
}

char pattern_expand(struct strbuf *out, const char *pattern, const struct pattern_value *values,
		    size_t n)
{
	for (; *pattern; pattern++) {
		const char *text = NULL;

		if (*pattern != '%' || pattern[1] == '%' || !pattern[1]) {
			strbuf_addch(out, *pattern);
			pattern += *pattern == '%' && pattern[1];
			continue;
		}
		pattern++;
		for (size_t i = 0; i < n && !text; i++)
			if (values[i].letter == *pattern)
				text = values[i].text;
		if (!text)
			return *pattern;
		add_value(out, text);
	}
	return 0;
}

/* ---- the plan ------------------------------------------------------------------------------- */

int capture_sink_plan_check(const struct capture_sink_plan *plan)
{
	const char *pattern = plan->pattern;
	char unknown = pattern_unknown(pattern);

	if (!strcmp(pattern, "-"))
		log_error("a capture cannot go to standard output: it is cut back after a failed "
			  "write and locked while it grows; give a file's name");
	else if (unknown == '%')
		log_error("'%s' ends in %%; give %%%% for a percent sign", pattern);
	else if (unknown)
		log_error("'%%%c' in '%s' means nothing; give %%h, %%p, %%r, %%j, %%t or %%%%",
			  unknown, pattern);
	else if (plan->on != ON_UNSET && !plan->before_ns)
		log_error("option '--on' needs '--before': how much to hold until then");
	else if (plan->max_files && plan->before_ns)
		log_error("options '--max-files' and '--before' exclude each other; give one of "
			  "them");
	else if (plan->max_files && !plan->max_bytes)
		log_error("option '--max-files' needs '--max-size': when a file is full");
	else
		return 0;
	return -EINVAL;
}

/* ---- names ---------------------------------------------------------------------------------- */

struct target_values {
	struct identity id;
	char pid[16], start[32];
	struct utsname host;
};

static int read_identity(pid_t target, struct identity *out)
{
	struct identity_room room;
	struct proc p;
	int err;

	if (!target)
		return 0;
	err = identity_room_init(&room);
	if (!err && !proc_open(&p, target)) {
		identity_read(&room, &p, out);
		proc_close(&p);
	}
	identity_room_free(&room);
	return err;
}

static void explain(const char *pattern, char letter, pid_t target)
{
	if (!target)
		log_error("'%%%c' in '%s' is of one process; give -p PID or -- CMD", letter,
			  pattern);
	else if (letter == 'r' || letter == 'j')
		log_error("'%%%c' in '%s' is not known: process %d has no %s or the like in its "
			  "environment; leave it out, or take %%p", letter, pattern, target,
			  letter == 'j' ? "SLURM_JOB_ID" : "RANK");
	else
		log_error("'%%%c' in '%s' is not known; leave it out, or take %%p", letter,
			  pattern);
}

static int expand(struct strbuf *out, const char *pattern, pid_t target)
{
	struct target_values t = { .pid = "" };
	time_t now = time(NULL);
	struct tm tm;
	char missing;

	if (read_identity(target, &t.id)) {
		log_error("cannot name a file after %s: %s", pattern, strerror(ENOMEM));
		return -ENOMEM;
	}
	snprintf(t.pid, sizeof(t.pid), "%d", target);
	if (localtime_r(&now, &tm))
		strftime(t.start, sizeof(t.start), "%Y%m%d-%H%M%S", &tm);
	missing = pattern_expand(out, pattern, (const struct pattern_value[]){
		{ 'h', uname(&t.host) ? NULL : t.host.nodename },
		{ 'p', target ? t.pid : NULL },
		{ 'r', *t.id.rank ? t.id.rank : NULL },
		{ 'j', *t.id.job ? t.id.job : NULL },
		{ 't', *t.start ? t.start : NULL },
	}, 5);
	if (missing)
		explain(pattern, missing, target);
	else if (out->failed)
		log_error("cannot name a file after %s: %s", pattern, strerror(ENOMEM));
	return missing || out->failed ? -EINVAL : 0;
}

/* ---- the sink ----------------------------------------------------------------------------- */

static struct capture_sink *open_path(const struct capture_sink_plan *plan, const char *path,
				      const struct funcs *funcs)
{
	if (plan->before_ns)
		return capture_recorder_new(&(struct capture_recorder_plan){
			.path = path, .before_ns = plan->before_ns, .at_end = plan->on != ON_SIGNAL,
			.max_bytes = plan->max_bytes ? plan->max_bytes : HOLD_BYTES }, funcs);
	return capture_set_new(&(struct capture_set_plan){
		.path = path, .max_bytes = plan->max_bytes, .max_files = plan->max_files }, funcs);
}

struct capture_sink *capture_sink_open(const struct capture_sink_plan *plan,
				       const struct funcs *funcs)
{
	struct strbuf path = STRBUF_INIT;
	struct capture_sink *k = NULL;

	if (!expand(&path, plan->pattern, plan->target))
		k = open_path(plan, path.s, funcs);
	strbuf_free(&path);
	return k;
}
