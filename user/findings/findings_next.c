// SPDX-License-Identifier: BSD-3-Clause
/*
 * In the texts of the table, %r is the capture, %w the target to measure and for how long, %p which
 * process that runs, %d the device, %f the filter, %c a command that is started.
 */
#include "findings/findings_next.h"

#include <regex.h>
#include <stdio.h>
#include <string.h>

#include "base/utf8.h"
#include "event/device_number.h"

#define COMMAND_MAX 400		/* longer ones would fill the screen */

/* ---- what a capture holds -------------------------------------------------------------------- */

/* names: the filter of the command; NULL: it has none, and rows without a name are shown, too. */

static bool keeps_callers(const struct next_target *w, const regex_t *names)
{
	const struct snapshot_process *p = snapshot_process(w->snap, w->process);
	const struct funcs *funcs = w->snap->funcs;

	for (size_t i = 0; p && i < call_stats_count(&p->calls); i++) {
		const struct call_key *key = &call_stats_at(&p->calls, i)->key;

		if (key->stack && key->func < funcs->n &&
		    !regexec(names, funcs->v[key->func].name, 0, NULL, 0))
			return true;
	}
	return false;
}

static bool keeps_offcpu(const struct next_target *w, const regex_t *names)
{
	const struct offcpu *o = w->snap->offcpu;

	(void)names;
	for (size_t i = 0; i < offcpu_count(o); i++)
		if (offcpu_at(o, i)->key.process == w->process)
			return true;
	return false;
}

static bool keeps_kernels(const struct next_target *w, const regex_t *names)
{
	const struct snapshot_device *s = snapshot_device(w->snap, w->process, w->ordinal);

	for (size_t i = 0; s && i < kernels_count(&s->kernels); i++) {
		const char *name = kernels_at(&s->kernels, i)->name;

		if (!names || (name && !regexec(names, name, 0, NULL, 0)))
			return true;
	}
	return false;
}

static bool keeps_threads(const struct next_target *w, const regex_t *names)
{
	const struct snapshot *snap = w->snap;

	(void)names;
	for (size_t i = 0; i < snap->threads.n; i++)
		if (snap->threads.v[i].has_book &&
		    snap->processes.v[snap->threads.v[i].process].process == w->process)
			return true;
	return false;
}

static bool keeps_users(const struct next_target *w, const regex_t *names)
{
	(void)names;
	return snapshot_process(w->snap, w->process) && w->snap->devices.n;
}

static bool keeps_allocators(const struct next_target *w, const regex_t *names)
{
	const struct snapshot_process *p = snapshot_process(w->snap, w->process);

	(void)names;
	for (size_t i = 0; p && i < p->memory.n; i++)
		if (p->memory.v[i].key.by_stack && p->memory.v[i].key.stack)
			return true;
	return false;
}

/* ---- the commands ---------------------------------------------------------------------------- */

static const struct {
	const char *kept;	/* arguments of report; NULL: not in a capture */
	bool (*keeps)(const struct next_target *w, const regex_t *names);
	const char *probed;	/* the command that shows most */
	bool needs_probes;
	const char *runs;	/* without them, of a process that runs; NULL: there is none */
} steps[NEXT_KINDS] = {
	[NEXT_CALLERS] = { "--by stack --table calls --filter %f", keeps_callers,
			   "stat --stacks --by stack --table calls --filter %f %w", true,
			   "stacks %p" },
	[NEXT_WAITING] = { "--wide --table offcpu", keeps_offcpu,
			   "stat --stacks --wide --table offcpu %w", true, "stacks %p" },
	[NEXT_STACKS] = { "--table threads", keeps_threads, "stacks %p", false, NULL },
	[NEXT_COMM] = { "--table kernels --filter %f", keeps_kernels,
			"stat --table kernels --filter %f %w", false, NULL },
	[NEXT_THREADS] = { "--table threads", keeps_threads, "stat --table threads %w", false,
			   NULL },
	[NEXT_SMALL] = { "--table kernels --sort count", keeps_kernels,
			 "stat --table kernels --sort count %w", false, NULL },
	[NEXT_QUEUED] = { "--table kernels --sort queue_p99_ns", keeps_kernels,
			  "stat --table kernels --sort queue_p99_ns %w", false, NULL },
	[NEXT_DEVICE] = { "--table processes,devices", keeps_users,
			  "stat --table processes,devices -d 10s --gpu %d", true,
			  "stat --table processes,devices %w" },
	[NEXT_MEMORY] = { "--by stack --table memory", keeps_allocators,
			  "stat --stacks --by stack --table memory %w", true, NULL },
	[NEXT_INJECT] = { NULL, NULL, "stat --inject %w", false, NULL },
	[NEXT_RESTART] = { NULL, NULL, "stat -- %c", false, NULL },
	[NEXT_DOCTOR] = { NULL, NULL, "doctor %p", false, NULL },
	[NEXT_UNPROBED] = { NULL, NULL, "stat --attach none %w", false, NULL },
	[NEXT_HOST] = { NULL, NULL, "doctor", false, NULL },
};

/* Nothing in it ends the line or changes how the terminal shows it. */
static bool is_one_line(const char *text)
{
	while (*text) {
		int32_t code = utf8_next(&text);

		if (code < 0 || utf8_is_unsafe(code))
			return false;
	}
	return true;
}

bool next_is_typed(const char *command)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				    "0123456789/._+-=,:@% ";
	const char *s = command;

	if (!*s || strlen(s) > COMMAND_MAX || !is_one_line(s))
		return false;
	while (*s) {
		if (*s == '\'') {
			s = strchr(s + 1, '\'');
			if (!s)
				return false;
		} else if (*s == '\\' && s[1] == '\'') {
			s++;
		} else if (!strchr(plain, *s)) {
			return false;
		}
		s++;
	}
	return true;
}

struct next_target next_of(const struct snapshot *snap, uint32_t process, uint32_t device)
{
	const char *blind = snapshot_fact(snap, "without_probes"),
		   *command = snapshot_fact(snap, "command");
	const struct snapshot_process *p = snapshot_process(snap, process);
	const struct snapshot_device *d = snapshot_device(snap, process, device);

	return (struct next_target){
		.snap = snap, .process = process, .ordinal = device,
		.pid = p ? p->pid : d ? d->pid : 0, .device = d ? d->number : device,
		.command = command && next_is_typed(command) && strcmp(command, "CMD") ? command :
											 NULL,
		.probes = !blind || !strncmp(blind, "--attach none", 13),
		.sudo = snapshot_fact(snap, "sudo"),
		.ended = p && (p->has_ended || p->is_gone),
	};
}

/* A process that has ended is measured again by its command only. */
static bool is_possible(const char *text, const struct next_target *w)
{
	if (strstr(text, "%p"))
		return !w->ended;
	if (strstr(text, "%w"))
		return !w->ended || w->command;
	return !strstr(text, "%c") || w->command;
}

static void add_target(struct strbuf *out, const struct next_target *w)
{
	if (w->ended)
		strbuf_addf(out, "-- %s", w->command);
	else
		strbuf_addf(out, "-d 10s -p %u", w->pid);
}

static void add_step(struct strbuf *out, const char *text, const struct next_target *w,
		     const char *filter)
{
	for (; *text; text++) {
		if (*text != '%') {
			strbuf_addch(out, *text);
			continue;
		}
		switch (*++text) {
		case 'w':
			add_target(out, w);
			break;
		case 'p':
			strbuf_addf(out, "-p %u", w->pid);
			break;
		case 'c':
			strbuf_addstr(out, w->command);
			break;
		case 'd':
			/* as --gpu has it */
			strbuf_addf(out, "%u", device_number_gpu(w->device));
			break;
		default:
			strbuf_add_shell(out, filter);
			break;
		}
	}
}

/* Whether `report` of the capture would show a row. */
static bool is_kept(enum next what, const struct next_target *w, const char *filter)
{
	const bool is_filtered = steps[what].kept && strstr(steps[what].kept, "%f");
	regex_t names;
	bool kept;

	if (what == NEXT_STACKS && !w->ended)	/* the process has more */
		return false;
	if (!w->snap || !w->snap->capture || !is_one_line(w->snap->capture) || !steps[what].kept ||
	    regcomp(&names, filter, REG_EXTENDED | REG_NOSUB))
		return false;
	kept = steps[what].keeps(w, is_filtered ? &names : NULL);
	regfree(&names);
	return kept;
}

static void add_report(struct strbuf *out, enum next what, const struct next_target *w,
		       const char *filter)
{
	const char *part = snapshot_fact(w->snap, "part_options");

	strbuf_addstr(out, "gpuprof report ");
	strbuf_add_shell_path(out, w->snap->capture);
	strbuf_addf(out, "%s%s ", part ? " " : "", part ? part : "");
	add_step(out, steps[what].kept, w, filter);
}

void next_add(struct strbuf *out, enum next what, const struct next_target *target,
	      const char *filter)
{
	bool denied = steps[what].needs_probes && !target->probes;
	const char *instead = denied && !target->ended ? steps[what].runs : NULL;
	const char *measured = instead ? instead : steps[what].probed;

	filter = filter ? filter : ".";
	if (is_kept(what, target, filter)) {
		add_report(out, what, target, filter);
		return;
	}
	if (!is_possible(measured, target))
		return;
	strbuf_addstr(out, target->sudo || (denied && !instead) ? "sudo gpuprof " : "gpuprof ");
	add_step(out, measured, target, filter);
}
