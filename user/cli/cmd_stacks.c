// SPDX-License-Identifier: BSD-3-Clause
/*
 * `gpuprof stacks`: one snapshot of every thread of some processes, then its print. A partial
 * snapshot is printed also when a process is gone or denies it; the exit code shows it.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>

#include "base/log.h"
#include "base/time.h"
#include "session/targets.h"
#include "host/caps.h"
#include "base/exit.h"
#include "view/output.h"
#include "cli/verbs.h"
#include "base/version.h"
#include "inject/injectable.h"
#include "host/identity.h"
#include "host/proc.h"
#include "target/target.h"
#include "view/stacks.h"
#include "view/stacks_screen.h"

#define META_PAIRS 7

struct facts {			/* texts that meta points to */
	struct meta_pair pair[META_PAIRS];
	size_t n;
	struct utsname un;
	char start[64], end[64];
};

static void add_text(struct facts *f, const char *key, const char *text)
{
	f->pair[f->n++] = (struct meta_pair){ .key = key, .type = CELL_TEXT,
					 .value = { .known = *text != '\0', .s = text } };
}

/* ISO 8601, UTC, as in every report's meta. */
static void format_time(char *text, size_t size, uint64_t wall_ns)
{
	time_t s = (time_t)(wall_ns / NS_PER_SEC);
	struct tm tm;
	size_t n;

	*text = '\0';
	if (!gmtime_r(&s, &tm))
		return;
	n = strftime(text, size, "%Y-%m-%dT%H:%M:%S", &tm);
	snprintf(text + n, size - n, ".%09uZ", (unsigned int)(wall_ns % NS_PER_SEC));
}

/* found: from a selector; it may have exited since. */
static int add_process(struct stack_snapshot *s, uint32_t pid, bool found)
{
	int err = stack_snapshot_add(s, (pid_t)pid);

	if (err == -ESRCH && found)
		return EXIT_OK;
	if (err == -ESRCH && target_is_hidden((pid_t)pid)) {
		log_error("cannot look at process %u: it is " DENIED_HIDDEN, pid);
		return EXIT_PERMISSION;
	}
	switch (err) {
	case 0:
		return EXIT_OK;
	case -EACCES: case -EPERM:
		log_error("cannot read the memory of process %u: permission denied; %s", pid,
			  denied_reading());
		return EXIT_PERMISSION;
	case -ESRCH:
		log_error("cannot look at process %u: there is no such process; give the pid of a "
			  "running one (not of a thread)", pid);
		return EXIT_FAIL;
	default:
		log_error("cannot look at process %u: %s", pid, strerror(-err));
		return EXIT_FAIL;
	}
}

/* Has it a library of CUDA or NCCL? Others have a rank because they inherited the variable. */
static bool maps_cuda(pid_t pid)
{
	static const char *const libraries[] = { "/libcuda", "/libnccl" };

	return proc_maps_any(pid, libraries, 2);
}

static int64_t read_rank(struct identity_room *room, pid_t pid)
{
	struct identity id;
	struct proc proc;
	int64_t rank = -1;

	if (!maps_cuda(pid))
		return rank;
	if (!proc_open(&proc, pid)) {
		identity_read(room, &proc, &id);
		if (*id.rank)
			rank = strtoll(id.rank, NULL, 10);
	}
	proc_close(&proc);
	return rank;
}

/* Of several with one rank, as a training and its workers, the oldest has it. */
static void drop_workers(struct stacks_process *v, size_t n)
{
	for (size_t i = 0; i < n; i++)
		for (size_t k = 0; k < n; k++)
			if (v[i].rank >= 0 && v[i].rank == v[k].rank && v[i].pid < v[k].pid)
				v[k].rank = -1;
}

/* 0 or -ENOMEM. */
static int add_screen(struct strbuf *out, const struct options *o, const struct stack_snapshot *s,
		      const struct target_list *chosen)
{
	struct stacks_process *all = calloc(chosen->n + 1, sizeof(*all));
	const struct stacks_shape shape = { o->all_threads, report_is_colored(&o->report) };
	struct identity_room room;
	int err = identity_room_init(&room);

	if (!all)
		err = -ENOMEM;
	for (size_t i = 0; !err && i < chosen->n; i++)
		all[i] = (struct stacks_process){ (pid_t)chosen->pids[i],
						  read_rank(&room, (pid_t)chosen->pids[i]) };
	drop_workers(all, !err ? chosen->n : 0);
	if (!err)
		err = stacks_screen_add(out, s, all, chosen->n, &shape);
	identity_room_free(&room);
	free(all);
	return err;
}

static int print(const struct options *o, const struct stack_snapshot *s,
		 const struct target_list *chosen, uint64_t start_ns, int rc)
{
	struct facts f = { .n = 0 };
	struct meta meta = { .v = f.pair, .n = META_PAIRS };
	struct strbuf out = STRBUF_INIT;
	int written;

	uname(&f.un);
	format_time(f.start, sizeof(f.start), start_ns);
	format_time(f.end, sizeof(f.end), time_wall_ns());
	add_text(&f, "host", f.un.nodename);
	add_text(&f, "start", f.start);
	add_text(&f, "end", f.end);
	add_text(&f, "version", version_text());
	add_text(&f, "kernel", f.un.release);
	f.pair[f.n++] = (struct meta_pair){ .key = "complete", .type = CELL_BOOL,
					    .value = { .known = 1, .u = rc == EXIT_OK } };
	add_text(&f, "sources", stack_snapshot_regs_error(s) ? "procfs" : "bpf,procfs");
	if (o->report.format == FORMAT_TEXT && !o->report.full)
		out.failed = add_screen(&out, o, s, chosen) != 0;
	else
		out.failed = view_stacks(&out, s, &meta, (enum format)o->report.format,
					 report_is_colored(&o->report)) != 0;
	written = output_write(o->report.output, &out);
	strbuf_free(&out);
	return rc ? rc : written;
}

/* The data read without BPF, and why. */
static void warn_degraded(int err)
{
	const char *why;

	if (!proc_pids_are_hosts())
		why = "gpuprof is in a pid namespace, and BPF knows the host's pids; run it there "
		      "for more";
	else if (err == -EMFILE || err == -ENFILE)
		why = "too many open files for BPF; raise their limit (ulimit -n) for more";
	else if (err == -EPERM || err == -EACCES || err == -ENOSYS)
		why = "BPF is not permitted or not there; CAP_BPF and CAP_PERFMON give more";
	else /* without them libbpf reports another error */
		why = "BPF does not work; gpuprof doctor, or a higher limit of open files and "
		      "memory (ulimit -n, ulimit -l), may tell why";
	log_info("stacks come from /proc alone, and some will be short: %s", why);
}

static int show(const struct options *o, const struct target_list *chosen)
{
	uint64_t start_ns = time_wall_ns();
	struct stack_snapshot *s = stack_snapshot_new(chosen->pids, chosen->n, NULL);
	int rc = EXIT_OK;

	if (!s) {
		log_error("cannot look at processes: %s", strerror(errno));
		return EXIT_FAIL;
	}
	if (stack_snapshot_regs_error(s))
		warn_degraded(stack_snapshot_regs_error(s));
	for (size_t i = 0; i < chosen->n; i++) {
		int err = add_process(s, chosen->pids[i], i >= chosen->n_named);

		rc = rc ? rc : err;
	}
	if (stack_snapshot_threads(s))
		rc = print(o, s, chosen, start_ns, rc);
	stack_snapshot_free(s);
	return rc;
}

int verb_stacks(const struct options *o)
{
	struct target_list chosen;
	int rc;

	caps_drop_others(caps_of_work() | caps_of_output(o->report.output));
	rc = target_list_find(&chosen, &o->session);
	if (!rc && !chosen.n) {
		log_error("'stacks' needs a process; give it with -p PID, or --name and the like");
		rc = EXIT_USAGE;
	}
	if (!rc && !o->session.selector && !o->session.isolate)
		rc = target_list_add_children(&chosen);
	if (!rc)
		rc = show(o, &chosen);
	target_list_free(&chosen);
	return rc;
}
