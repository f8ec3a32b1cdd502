// SPDX-License-Identifier: BSD-3-Clause
/*
 * In the texts of the table, %w is the target to measure and for how long, %p which process that
 * runs, %d the device, %f the filter, %c a command that is started.
 */
#include "findings/findings_next.h"

#include <stdio.h>
#include <string.h>

#include "event/device_number.h"

#define PLAIN "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.+-"
#define COMMAND_MAX 100		/* longer ones are not copied by anybody */

static const struct {
	const char *probed;	/* the command that shows most */
	bool needs_probes;
	const char *runs;	/* without them, of a process that runs; NULL: there is none */
} steps[NEXT_KINDS] = {
	[NEXT_CALLERS] = { "stat --stacks --by stack --filter %f %w", true, "stacks %p" },
	[NEXT_WAITING] = { "stat --stacks --wide --table offcpu %w", true, "stacks %p" },
	[NEXT_STACKS] = { "stacks %p", false, NULL },
	[NEXT_COMM] = { "stat --table kernels --filter nccl %w", false, NULL },
	[NEXT_THREADS] = { "stat --table threads %w", false, NULL },
	[NEXT_SMALL] = { "stat --table kernels --sort count %w", false, NULL },
	[NEXT_QUEUED] = { "stat --table kernels --sort queue_p99_ns %w", false, NULL },
	[NEXT_DEVICE] = { "stat --table processes,devices -d 10s --gpu %d", true,
			  "stat --table processes,devices %w" },
	[NEXT_MEMORY] = { "stat --stacks --by stack --table memory %w", true, NULL },
	[NEXT_INJECT] = { "stat --inject %w", false, NULL },
	[NEXT_RESTART] = { "stat -- %c", false, NULL },
	[NEXT_DOCTOR] = { "doctor %p", false, NULL },
	[NEXT_UNPROBED] = { "stat --attach none %w", false, NULL },
	[NEXT_HOST] = { "doctor", false, NULL },
};

static bool is_plain(const char *text)
{
	return *text && !text[strspn(text, PLAIN)];
}

bool next_is_typed(const char *command)
{
	size_t plain = strspn(command, PLAIN "/=:,@ ");

	return plain && plain <= COMMAND_MAX && !command[plain];
}

struct next_target next_of(const struct snapshot *snap, uint32_t process, uint32_t device)
{
	const char *blind = snapshot_fact(snap, "without_probes"),
		   *command = snapshot_fact(snap, "command");
	const struct snapshot_process *p = snapshot_process(snap, process);
	const struct snapshot_device *d = snapshot_device(snap, process, device);
	struct next_target target = {
		.pid = p ? p->pid : d ? d->pid : 0, .device = d ? d->number : device,
		.command = command && !next_is_typed(command) ? "CMD" : command,
		.probes = !blind || !strncmp(blind, "--attach none", 13),
		.sudo = snapshot_fact(snap, "sudo"),
		.ended = p && p->has_ended,
	};

	if (p && is_plain(p->comm))
		snprintf(target.name, sizeof(target.name), "%s", p->comm);
	return target;
}

/* One that runs, or its name, for when it runs again. */
static void add_process(struct strbuf *out, const struct next_target *w)
{
	if (w->ended && *w->name)
		strbuf_addf(out, "--name %s", w->name);
	else
		strbuf_addf(out, "-p %u", w->pid);
}

static void add_target(struct strbuf *out, const struct next_target *w)
{
	if (w->ended && (w->command || !w->probes)) {
		strbuf_addf(out, "-- %s", w->command ? w->command : "CMD");
		return;
	}
	strbuf_addstr(out, "-d 10s ");
	add_process(out, w);
}

static void add_step(struct strbuf *out, const char *text, const struct next_target *w,
		     const char *filter)
{
	const char *quote = is_plain(filter) ? "" : "'";	/* one word for a shell */

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
			add_process(out, w);
			break;
		case 'c':
			strbuf_addstr(out, w->command ? w->command : "CMD");
			break;
		case 'd':
			/* as --gpu has it */
			strbuf_addf(out, "%u", device_number_gpu(w->device));
			break;
		default:
			strbuf_addf(out, "%s%s%s", quote, filter, quote);
			break;
		}
	}
}

void next_add(struct strbuf *out, enum next what, const struct next_target *target,
	      const char *filter)
{
	bool denied = steps[what].needs_probes && !target->probes;
	const char *instead = denied && !target->ended ? steps[what].runs : NULL;
	struct next_target w = *target;

	/* A command that has not been started by sudo yet is its user's. */
	bool sudo = target->sudo && (what != NEXT_RESTART || target->command);

	strbuf_addstr(out, sudo || (denied && !instead) ? "sudo gpuprof " : "gpuprof ");
	w.probes &= what != NEXT_UNPROBED;	/* only of a process that runs, or a command */
	add_step(out, instead ? instead : steps[what].probed, &w, filter ? filter : ".");
}
