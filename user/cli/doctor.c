// SPDX-License-Identifier: BSD-3-Clause
/*
 * `gpuprof doctor`: what works on this host, what does not, what to do; with -p, what a process
 * maps that can be probed. Each check is a row; all of them are run, whatever fails.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/io.h"
#include "base/log.h"
#include "base/str.h"
#include "cli/exit.h"
#include "cli/out.h"
#include "cli/verbs.h"
#include "cli/version.h"
#include "elf/elf.h"
#include "probe/caps.h"
#include "probe/catalog.h"
#include "probe/loader.h"
#include "probe/plan.h"
#include "probe/target.h"
#include "view/table.h"

struct doctor {
	const struct options *o;
	uint64_t step_ns;	/* what single-stepping adds to a hit; 0: not known */
	bool returns_kill;	/* processes under seccomp */
	struct strbuf out;
	int rc;			/* the first thing that keeps gpuprof from working */
};

enum verdict { GOOD, WORSE, BAD };

static void say(struct doctor *d, enum verdict v, const char *what, const char *detail)
{
	static const char *const words[] = { [GOOD] = "ok", [WORSE] = "less", [BAD] = "FAIL" };

	strbuf_addf(&d->out, "%-5s %-24s %s\n", words[v], what, detail);
}

static void check_kernel(struct doctor *d)
{
	struct utsname un = { 0 };
	char line[300];

	uname(&un);
	snprintf(line, sizeof(line), "%s %s", un.release, un.machine);
	say(d, GOOD, "kernel", line);
	if (access("/sys/kernel/btf/vmlinux", R_OK)) {
		say(d, BAD, "kernel BTF", "missing: needs a kernel with CONFIG_DEBUG_INFO_BTF");
		d->rc = d->rc ? d->rc : EXIT_UNSUPPORTED;
		return;
	}
	say(d, GOOD, "kernel BTF", "/sys/kernel/btf/vmlinux");
}

static void check_capabilities(struct doctor *d)
{
	char line[128];

	for (size_t i = 0; i < caps_n_needs; i++) {
		const struct caps_need *need = &caps_needs[i];
		bool have = caps_have(need->bit);

		snprintf(line, sizeof(line), "%s%s%s", have ? "" : "missing: ",
			 have ? "to " : "cannot ", need->why);
		say(d, have ? GOOD : need->required ? BAD : WORSE, need->name, line);
	}
	if (caps_missing())
		d->rc = d->rc ? d->rc : EXIT_PERMISSION;
}

static const char *const returns_texts[] = {
	[GP_RETURNS_ALL] = "harmless to processes under seccomp",
	[GP_RETURNS_NO_SECCOMP] = "would kill processes under seccomp on this kernel: of these, calls "
				  "are counted, their times are not known",
	[GP_RETURNS_NONE] = "would kill processes under seccomp on this kernel, and this kind of "
			    "probes cannot spare those: calls are counted, no times are known",
};

static void check_probes(struct doctor *d)
{
	struct loader_options lo = { .way = (enum loader_way)d->o->attach, .ring_bytes = 1 << 16 };
	struct loader *l = loader_new(&lo);
	char line[128];

	if (!l) {
		say(d, BAD, "probes", "cannot be attached; the message on stderr says why");
		d->rc = d->rc ? d->rc : errno == EPERM ? EXIT_PERMISSION : EXIT_UNSUPPORTED;
		return;
	}
	snprintf(line, sizeof(line), "%s links; a recorded call costs its thread %" PRIu64 " ns here",
		 loader_way_name(loader_way(l)), loader_call_cost_ns(l));
	say(d, GOOD, "probes", line);
	d->step_ns = loader_step_cost_ns(l);
	d->returns_kill = loader_returns(l) != GP_RETURNS_ALL;
	say(d, d->returns_kill ? WORSE : GOOD, "return probes", returns_texts[loader_returns(l)]);
	loader_free(l);
}

static void check_watch(struct doctor *d)
{
	struct target_watch *w = target_watch_new(getpid());

	if (w) {
		say(d, GOOD, "watching processes", "libraries loaded later are seen");
	} else {
		say(d, WORSE, "watching processes", "libraries loaded later are not seen");
	}
	target_watch_free(w);
}

/* ---- a process ------------------------------------------------------------------------------ */

static const struct fate {
	uint8_t bit;
	uint8_t verdict;
	bool costs;		/* the reason is followed by what a step costs */
	const char *what, *why;
} fates[] = {
	{ PLAN_TOO_DEAR, WORSE, true, "not seen", "single-stepping them would add to each call" },
	{ PLAN_REFUSED, WORSE, false, "not seen", "the kernel cannot probe how they begin" },
	{ PLAN_STEPPED, GOOD, true, "dear to probe", "single-stepped, which adds to each call" },
};

/* "cuFoo, cuBar: single-stepped, which adds to each call 16.1 us" */
static void say_fate(struct doctor *d, const struct fate *f, const struct plan *plan)
{
	struct strbuf line = STRBUF_INIT;

	for (unsigned int row = 1; row < catalog_n_rows(); row++)
		if (plan->fate[row] & f->bit)
			strbuf_addf(&line, "%s%s", line.len ? ", " : "", catalog_row(row)->name);
	if (line.len) {
		strbuf_addf(&line, ": %s", f->why);
		if (f->costs) {
			strbuf_addch(&line, ' ');
			format_ns(&line, d->step_ns);
		}
		say(d, f->verdict, f->what, line.s);
	}
	strbuf_free(&line);
}

/* What a session would leave out of the file, and what would cost it more, by name. */
static void say_fates(struct doctor *d, struct elf_file *ef, const char *path)
{
	const struct plan_rules rules = { .tier = CATALOG_TIERS - 1, .step_ns = d->step_ns };
	struct plan *plan = calloc(1, sizeof(*plan));

	if (plan && !plan_file(plan, ef, path, &rules))
		for (size_t i = 0; i < sizeof(fates) / sizeof(fates[0]); i++)
			say_fate(d, &fates[i], plan);
	free(plan);
}

static int list_file(void *ctx, const struct target_file *file)
{
	struct elf_file *ef = elf_file_open(file->fd, file->path);
	struct doctor *d = ctx;
	bool held = false;
	char what[40];

	for (unsigned int i = 0; ef && i < CATALOG_LIBRARIES; i++) {
		if (!plan_holds(ef, file->path, i))
			continue;
		snprintf(what, sizeof(what), "functions of %s", catalog_library(i)->name);
		say(d, GOOD, what, file->path);
		held = true;
	}
	if (held)
		say_fates(d, ef, file->path);
	elf_file_close(ef);
	return 0;
}

static void check_seccomp(struct doctor *d, pid_t pid)
{
	static const char field[] = "\nSeccomp:";
	char path[40], *status;
	const char *mode;

	snprintf(path, sizeof(path), "/proc/%d/status", pid);
	status = io_read_file(path, 1 << 16, NULL);
	mode = status ? strstr(status, field) : NULL;
	if (mode && strtoul(mode + strlen(field), NULL, 10))
		say(d, d->returns_kill ? WORSE : GOOD, "seccomp", d->returns_kill ?
		    "it has a filter: its calls are counted, their times are not known" :
		    "it has a filter, which does not mind probes here");
	free(status);
}

static void check_process(struct doctor *d, pid_t pid)
{
	struct target_process p;
	char line[320];
	size_t before;
	int err = target_process_read(pid, &p);

	if (err) {
		log_error("cannot look at process %d: %s", pid, strerror(-err));
		d->rc = d->rc ? d->rc : EXIT_FAIL;
		return;
	}
	snprintf(line, sizeof(line), "%d (%s), %u threads", pid, p.comm, p.threads);
	say(d, GOOD, "process", line);
	check_seccomp(d, pid);
	before = d->out.len;
	err = target_each_file(pid, list_file, d);
	if (err) {
		snprintf(line, sizeof(line), "what it maps cannot be read: %s", strerror(-err));
		say(d, BAD, "process", line);
		d->rc = d->rc ? d->rc : EXIT_PERMISSION;
	} else if (d->out.len == before) {
		say(d, WORSE, "libraries", "it maps no CUDA or NCCL library (yet): its table is empty");
	}
}

int verb_doctor(const struct options *o)
{
	struct doctor d = { .o = o, .out = STRBUF_INIT };
	int rc;

	strbuf_addf(&d.out, "gpuprof %s\n", version_text());
	check_kernel(&d);
	check_capabilities(&d);
	check_probes(&d);
	check_watch(&d);
	for (size_t i = 0; i < o->n_pids; i++)
		check_process(&d, (pid_t)o->pids[i]);
	rc = out_write(NULL, &d.out);
	strbuf_free(&d.out);
	return d.rc ? d.rc : rc;
}
