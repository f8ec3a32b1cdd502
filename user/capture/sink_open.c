// SPDX-License-Identifier: BSD-3-Clause
/* Checks the limits, finds the values of the pattern, chooses the sink. */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>

#include "base/log.h"
#include "base/str.h"
#include "capture/capture_sink.h"
#include "host/identity.h"

/* ---- patterns of names: pure ----------------------------------------------------------------- */

#define VALUE_MAX 64	/* of a value; a name has 255 bytes */

struct pattern_value {
	char letter;
	const char *text;	/* NULL: unknown */
};

static const char letters[] = "hprjt%";

/* The first letter after a % that has no meaning ('%' for a trailing %); 0: none. */
static char pattern_unknown(const char *pattern)
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

/* Appends the name. 0, or the letter whose value is missing from the n or unknown. */
static char pattern_expand(struct strbuf *out, const char *pattern,
			   const struct pattern_value *values, size_t n)
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
		log_error("use either --max-files or --before");
	else if (plan->max_files && !plan->max_bytes)
		log_error("option '--max-files' needs '--max-size': when a file is full");
	else
		return 0;
	return -EINVAL;
}

/* ---- names ---------------------------------------------------------------------------------- */


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
	char pid[16], start[32] = "", missing;
	struct identity id = { .rank = "" };
	time_t now = time(NULL);
	struct utsname host;
	struct tm tm;

	if (read_identity(target, &id)) {
		log_error("cannot name a file after %s: %s", pattern, strerror(ENOMEM));
		return -ENOMEM;
	}
	snprintf(pid, sizeof(pid), "%d", target);
	if (localtime_r(&now, &tm))
		strftime(start, sizeof(start), "%Y%m%d-%H%M%S", &tm);
	missing = pattern_expand(out, pattern, (const struct pattern_value[]){
		{ 'h', uname(&host) ? NULL : host.nodename },
		{ 'p', target ? pid : NULL },
		{ 'r', *id.rank ? id.rank : NULL },
		{ 'j', *id.job ? id.job : NULL },
		{ 't', *start ? start : NULL },
	}, 5);
	if (missing)
		explain(pattern, missing, target);
	else if (out->failed)
		log_error("cannot name a file after %s: %s", pattern, strerror(ENOMEM));
	return missing || out->failed ? -EINVAL : 0;
}

struct capture_sink *capture_sink_open(const struct capture_sink_plan *plan,
				       const struct funcs *funcs)
{
	struct strbuf path = STRBUF_INIT;
	struct capture_sink *k = NULL;

	if (!expand(&path, plan->pattern, plan->target))
		k = plan->before_ns ? capture_recorder_new(plan, path.s, funcs) :
				      capture_set_new(plan, path.s, funcs);
	strbuf_free(&path);
	return k;
}
