// SPDX-License-Identifier: BSD-3-Clause
/*
 * `gpuprof doctor`: what works on this host, what does not, what to do; with -p, why a process
 * shows nothing. Each check is a row; all of them are run, whatever fails. Sample:
 *
 *   ok    kernel                   6.18.4 x86_64
 *   less  CAP_SYS_PTRACE           missing: cannot read what other users' processes map
 *   FAIL  kernel BTF               missing: needs a kernel with CONFIG_DEBUG_INFO_BTF
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/capability.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/types.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/exit.h"
#include "base/io.h"
#include "base/str.h"
#include "base/units.h"
#include "base/version.h"
#include "catalog/catalog.h"
#include "cli/options.h"
#include "cli/verbs.h"
#include "elf/elf.h"
#include "gpuprof/event.h"
#include "gpuprof/row.h"
#include "host/caps.h"
#include "host/identity.h"
#include "host/proc.h"
#include "inject/injectable.h"
#include "probe/attach.h"
#include "probe/loader.h"
#include "probe/plan.h"
#include "session/helper_source.h"
#include "session/nvml_source.h"
#include "session/targets.h"
#include "source/bpf/ring.h"
#include "source/helper/ring_reader.h"
#include "target/target.h"
#include "target/target_watch.h"
#include "view/output.h"

struct doctor {
	const struct options *o;
	uint64_t step_ns;	/* the cost that single-stepping adds to a hit; 0: unknown */
	bool returns_kill;	/* processes under seccomp */
	bool probes;		/* can be attached here */
	struct strbuf out;
	int rc;			/* the first thing that keeps gpuprof from working */
};

enum verdict { GOOD, WORSE, BAD };

__attribute__((format(printf, 4, 5)))
static void doctor_say(struct doctor *d, enum verdict v, const char *what, const char *fmt, ...)
{
	static const char *const words[] = { [GOOD] = "ok", [WORSE] = "less", [BAD] = "FAIL" };
	char *detail = NULL;
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vasprintf(&detail, fmt, ap);
	va_end(ap);
	strbuf_addf(&d->out, "%-5s %-24s ", words[v], what);
	for (int i = 0; i < n; i++)	/* paths of others, on our user's terminal */
		strbuf_addch(&d->out, (unsigned char)detail[i] < ' ' ? '?' : detail[i]);
	strbuf_addch(&d->out, '\n');
	if (n >= 0)
		free(detail);
}

/* Keeps the first exit code. */
static void doctor_fail(struct doctor *d, int exit_code)
{
	d->rc = d->rc ? d->rc : exit_code;
}

/* ---- the host ------------------------------------------------------------------------------ */

static void check_kernel(struct doctor *d)
{
	struct utsname un = { 0 };

	uname(&un);
	doctor_say(d, GOOD, "kernel", "%s %s", un.release, un.machine);
	if (access("/sys/kernel/btf/vmlinux", R_OK)) {
		doctor_say(d, BAD, "kernel BTF",
			   "missing: needs a kernel with CONFIG_DEBUG_INFO_BTF, and /sys mounted");
		doctor_fail(d, EXIT_UNSUPPORTED);
		return;
	}
	doctor_say(d, GOOD, "kernel BTF", "/sys/kernel/btf/vmlinux");
}

/* A file of one line into line; false: it is not there. */
static bool read_line(const char *path, char *line, size_t size)
{
	char *text = io_read_file(path, 4096, NULL);

	if (!text)
		return false;
	snprintf(line, size, "%.*s", (int)strcspn(text, "\n"), text);
	free(text);
	return true;
}

/* "none [integrity] confidentiality": the one in brackets. */
static void check_lockdown(struct doctor *d)
{
	char line[128];

	if (!read_line("/sys/kernel/security/lockdown", line, sizeof(line)))
		return;		/* a kernel without it, or securityfs is not mounted */
	if (strstr(line, "[confidentiality]"))
		doctor_say(d, BAD, "lockdown", "%s: BPF may not read memory; boot without "
			   "lockdown=confidentiality", line);
	else
		doctor_say(d, GOOD, "lockdown", "%s", line);
}

/* The namespaces of this process. */
static void check_namespaces(struct doctor *d)
{
	char line[128] = "";
	unsigned long from = 0, to = 0, length = 0;

	if (!proc_pids_are_hosts())
		doctor_say(d, BAD, "container",
			   "in a pid namespace of its own, where BPF's pids mean "
			   "nothing: run gpuprof on the host, or the container with --pid=host");
	if (read_line("/proc/self/uid_map", line, sizeof(line)) &&
	    sscanf(line, "%lu %lu %lu", &from, &to, &length) == 3 && length < UINT32_MAX)
		doctor_say(d, BAD, "user namespace", "its capabilities do not count on the host: "
			   "run gpuprof outside of it, as root");
}

static void check_capabilities(struct doctor *d)
{
	for (size_t i = 0; i < caps_n_needs; i++) {
		const struct caps_need *need = &caps_needs[i];
		bool have = caps_have(need->bit);

		doctor_say(d, have ? GOOD : need->required ? BAD : WORSE, need->name, "%s%s%s",
			   have ? "" : "missing: ", have ? "to " : "cannot ", need->why);
	}
	if (caps_missing())
		doctor_fail(d, EXIT_PERMISSION);
}

static const char *const returns_texts[] = {
	[GP_RETURNS_ALL] = "harmless to processes under seccomp",
	[GP_RETURNS_NO_SECCOMP] =
		"would kill processes under seccomp on this kernel: of these, calls "
		"are counted, their times are not known",
	[GP_RETURNS_NONE] = "would kill processes under seccomp on this kernel, and this kind of "
			    "probes cannot spare those: calls are counted, no times are known",
};

static void check_off_cpu(struct doctor *d, const struct loader_facts *facts)
{
	if (!facts->off_cpu)
		doctor_say(d, WORSE, "off-CPU", "this kernel refuses the scheduler's hooks: why "
			   "threads do not run is not known (-v shows what it refuses)");
	else if (!facts->knows_interrupts)
		doctor_say(d, WORSE, "off-CPU",
			"known, but an interrupt cannot be told from the thread "
			"in whose time it comes: who woke a thread has a ? (CONFIG_KALLSYMS_ALL)");
	else
		doctor_say(d, GOOD, "off-CPU",
			   "why threads do not run, and who wakes them, is known");
}

static void check_probes(struct doctor *d)
{
	struct loader_options lo = { .way = (enum loader_way)d->o->session.attach,
				     .ring_bytes = d->o->session.ring_bytes, .off_cpu = true };
	unsigned int n_rows = 0;	/* of tier 0 */
	struct loader_facts facts;
	struct loader *l;

	if (lo.way == WAY_NONE) {
		doctor_say(d, WORSE, "probes", "not wanted: --attach none");
		return;
	}
	l = loader_new(&lo);
	if (!l) {
		doctor_say(d, BAD, "probes", "cannot be attached; the message on stderr says why");
		doctor_fail(d, errno == EPERM ? EXIT_PERMISSION : EXIT_UNSUPPORTED);
		return;
	}
	facts = loader_facts(l);
	doctor_say(d, GOOD, "probes",
		   "%s links; a recorded call costs its thread %" PRIu64 " ns here",
		   loader_way_name(facts.way), facts.call_cost_ns);
	doctor_say(d, GOOD, "ring memory", "%" PRIu64 " KiB", d->o->session.ring_bytes / 1024);
	d->probes = true;
	d->step_ns = facts.step_cost_ns;
	d->returns_kill = facts.returns != GP_RETURNS_ALL;
	doctor_say(d, d->returns_kill ? WORSE : GOOD, "return probes", "%s",
		   returns_texts[facts.returns]);
	check_off_cpu(d, &facts);
	for (unsigned int i = 1; i < catalog_n_rows(); i++)
		n_rows += catalog_row(i)->tier == 0;
	if (facts.probes_max)
		doctor_say(d, WORSE, "functions", "the best %zu of %u at a time: launches, waits, "
			   "copies, collectives, memory (Linux 6.6: all)",
			   facts.probes_max, n_rows);
	loader_free(l);
}

static void check_watch(struct doctor *d)
{
	struct target_watch *w = target_watch_new(getpid());

	doctor_say(d, w ? GOOD : WORSE, "watching processes", "libraries loaded later are %sseen",
		   w ? "" : "not ");
	target_watch_free(w);
}

/* Limits and settings that matter without the privilege to exceed them. */
static void check_limits(struct doctor *d)
{
	struct rlimit files, locked;
	char line[64];

	if (!getrlimit(RLIMIT_NOFILE, &files))
		doctor_say(d, files.rlim_max < 4096 ? WORSE : GOOD, "open files",
			"at most %llu (ulimit -Hn); a link or two for each library, one for each "
			"CPU", (unsigned long long)files.rlim_max);
	if (!getrlimit(RLIMIT_MEMLOCK, &locked) && locked.rlim_max < 1 << 20)
		doctor_say(d, WORSE, "locked memory", "at most %llu KiB (ulimit -Hl): less room "
			   "for events of processes", (unsigned long long)locked.rlim_max / 1024);
	if (!caps_have(CAP_PERFMON) &&
	    read_line("/proc/sys/kernel/perf_event_paranoid", line, sizeof(line)))
		doctor_say(d, WORSE, "perf_event_paranoid", "%s, and CAP_PERFMON is missing", line);
	if (read_line("/proc/sys/kernel/yama/ptrace_scope", line, sizeof(line)) && *line != '0' &&
	    !caps_have(CAP_SYS_PTRACE))
		doctor_say(d, WORSE, "yama ptrace_scope", "%s, and CAP_SYS_PTRACE is missing: only "
			   "gpuprof's own children can be read", line);
}

/* Is there an NVML, does it respond, and what does it support? */
static void check_nvml(struct doctor *d)
{
	struct nvml *n = nvml_start(nvml_load);
	struct nvml_status st;

	if (!n) {
		doctor_say(d, WORSE, "NVML", "cannot be asked: %s", strerror(errno));
		return;
	}
	nvml_ask(n, &st);
	if (st.state == NVML_STARTING)
		doctor_say(d, WORSE, "NVML", "does not answer for %u s while %s; nvidia-smi would "
			   "hang as well; dmesg may tell why", NVML_ASK_S, st.doing);
	else if (st.state == NVML_FAILED)
		doctor_say(d, WORSE, "NVML", "%s: how active devices are, who else is on them and "
			   "their faults are not known", st.why);
	else if (*st.why)
		doctor_say(d, WORSE, "NVML", "driver %s, %u device%s; %s", st.driver, st.devices,
			   st.devices == 1 ? "" : "s", st.why);
	else
		doctor_say(d, GOOD, "NVML", "driver %s, %u device%s, %s%s", st.driver, st.devices,
			   st.devices == 1 ? "" : "s",
			   st.gpm ? "activity by GPM" :
				     "without their activity (GPM, from Hopper on)",
			   st.pids_are_hosts ? "" : ", without processes (in a pid namespace)");
	nvml_ask_end(n);
}

static void doctor_host(struct doctor *d)
{
	check_kernel(d);
	check_lockdown(d);
	check_namespaces(d);
	check_capabilities(d);
	check_probes(d);
	check_watch(d);
	check_limits(d);
	check_nvml(d);
}

/* ---- a process: its helper ----------------------------------------------------------------- */

/*
 * What can be seen of one process, and why nothing is: its kind, where it runs, its mappings,
 * its calls. Each reason comes with a remedy. The process may end at any step.
 */

static void say_none(struct doctor *d, pid_t pid)
{
	struct subject s;
	int err = subject_read(&s, pid);

	if (!err && !s.helper && *s.risk)
		doctor_say(d, WORSE, "device times", "not known: no helper in it: %s", s.risk);
	else if (!err && !s.helper)
		doctor_say(d, WORSE, "device times", "not known: no helper in it; gpuprof stat "
			   "--inject -p %d brings one%s, or start it with gpuprof env",
			   pid, s.filtered ? ", if its seccomp filter lets that pass" : "");
	else if (err == -ENOTSUP)
		doctor_say(d, WORSE, "device times",
			   "not known: no helper in it, and none can be brought in: %s", s.why);
	else
		doctor_say(d, WORSE, "device times", "not known: no helper in it%s", err ? "" :
			   " any more: its ring was closed");
}

static void say_working(struct doctor *d, const struct gp_ring_head *head)
{
	const char *state = head->state == GP_HELPER_AWAKE ? "awake" : "asleep";

	if (head->kept_bytes)
		doctor_say(d, WORSE, "device times",
			   "by its helper, which is %s, but CUPTI has kept %" PRIu64
			   " bytes of records for more than 10 s: a kernel runs as long, or works "
			   "are missing", state, head->kept_bytes);
	else
		doctor_say(d, GOOD, "device times", "by its helper, which is %s", state);
}

static void say_state(struct doctor *d, const struct gp_ring_head *head)
{
	switch (head->state) {
	case GP_HELPER_YIELDED:
		doctor_say(d, WORSE, "device times", "not known now: another client uses CUPTI: %s",
			   head->occupant);
		break;
	case GP_HELPER_FAILED:
		doctor_say(d, WORSE, "device times",
			   "not known: its helper could not start CUPTI: %s%s", head->reason,
			   helper_advice(head->reason));
		break;
	case GP_HELPER_VIRGIN:
		doctor_say(d, GOOD, "device times", "by its helper, which has not begun; as it "
			   "does, CUPTI may stall launches for seconds, once");
		break;
	default:
		say_working(d, head);
		break;
	}
}

/* Are device times of a process that uses CUDA known? Has it a helper, could it have one? */
static void doctor_helper(struct doctor *d, pid_t pid)
{
	struct gp_ring_head head;
	int err = ring_reader_peek(pid, &head);

	if (!err)
		say_state(d, &head);
	else if (err == -EPROTO)
		doctor_say(d, WORSE, "device times", "not known: its helper is of another version "
			   "of gpuprof; start it anew with this one");
	else if (err == -ENOENT)
		say_none(d, pid);
	else
		doctor_say(d, WORSE, "device times",
			   "not known: its helper cannot be looked at: %s", strerror(-err));
}

#define COUNT_MS 1000	/* how long its calls are counted */
#define READ_MS 10
#define RING_BYTES (4u << 20)	/* more than 5 million calls a second fill in READ_MS */

struct look {			/* at one process */
	struct doctor *d;
	pid_t pid;
	unsigned int probed;	/* functions that are probed by default */
	unsigned int further;	/* functions that --tier 1 adds */
	unsigned int unseen;	/* functions that cannot be probed */
	bool has_runtime, has_driver;
};

/* ---- its kind ------------------------------------------------------------------------------- */

/* Is the program of another machine, or of 32 bits? CUDA has neither here. */
static bool is_foreign(pid_t pid)
{
	unsigned char mine[20] = { 0 }, theirs[20] = { 0 };
	char path[40];
	int me = open("/proc/self/exe", O_RDONLY | O_CLOEXEC), it;
	bool foreign;

	snprintf(path, sizeof(path), "/proc/%d/exe", pid);
	it = open(path, O_RDONLY | O_CLOEXEC);
	foreign = me >= 0 && it >= 0 && pread(me, mine, 20, 0) == 20 &&
		  pread(it, theirs, 20, 0) == 20 && !memcmp(theirs, "\177ELF", 4) &&
		  (mine[4] != theirs[4] || memcmp(mine + 18, theirs + 18, 2));
	io_close(&me);
	io_close(&it);
	return foreign;
}

/* "docker 0123456789ab, pid 7 there" */
static void say_container(struct doctor *d, struct proc *p)
{
	struct identity_room room;
	struct identity id;

	if (identity_room_init(&room))
		return;
	identity_read(&room, p, &id);
	if (*id.container || *id.ns_pid)
		doctor_say(d, GOOD, "container", "%s%s%s%s%s",
			   *id.runtime ? id.runtime : "of its own", *id.container ? " " : "",
			   id.container, *id.ns_pid ? ", pid there: " : "", id.ns_pid);
	if (*id.devices)
		doctor_say(d, GOOD, "devices", "%s (%s)", id.devices, id.devices_source);
	identity_room_free(&room);
}

static void say_seccomp(struct doctor *d, struct proc *p)
{
	if (!proc_status_number(proc_read(p, PROC_STATUS, NULL), "Seccomp"))
		return;
	if (d->returns_kill)
		doctor_say(d, WORSE, "seccomp",
			   "it has a filter: its calls are counted, their times are not known");
	else
		doctor_say(d, GOOD, "seccomp", "it has a filter, which does not mind probes here");
}

/* ---- its mappings --------------------------------------------------------------------------- */

static const struct outcome {
	uint8_t bit;
	uint8_t verdict;
	bool costs;		/* the reason is followed by the cost of a step */
	const char *what, *why;
} outcomes[] = {
	{ PLAN_TOO_DEAR, WORSE, true, "not seen", "single-stepping them would add to each call" },
	{ PLAN_REFUSED, WORSE, false, "not seen", "the kernel cannot probe how they begin" },
	{ PLAN_STEPPED, GOOD, true, "dear to probe", "single-stepped, which adds to each call" },
};

/* "cuFoo, cuBar: single-stepped, which adds to each call 16.1 us" */
static void report_outcome(struct doctor *d, const struct outcome *f, const struct plan *plan)
{
	struct strbuf line = STRBUF_INIT;

	for (unsigned int row = 1; row < catalog_n_rows(); row++)
		if (plan->outcome[row] & f->bit)
			strbuf_addf(&line, "%s%s", line.len ? ", " : "", catalog_row(row)->name);
	if (line.len) {
		strbuf_addf(&line, ": %s", f->why);
		if (f->costs)
			strbuf_addf(&line, " %s", ns_text(d->step_ns).s);
		doctor_say(d, f->verdict, f->what, "%s", line.s);
	}
	strbuf_free(&line);
}

/* "/opt/lib/libcudart.so.13: 163 functions, 80 more with --tier 1" */
static void say_file(struct look *look, const char *path, const struct plan *plan, const char *held)
{
	unsigned int further = 0, probed;
	char what[40];

	for (size_t i = 0; i < plan_size(plan); i++)
		further += catalog_row((unsigned int)plan->rows[i])->tier != 0;
	probed = (unsigned int)plan_size(plan) - further;
	snprintf(what, sizeof(what), "functions of %s", held);
	doctor_say(look->d, probed ? GOOD : WORSE, what, "%s: %u%s%u with --tier 1", path, probed,
		   probed ? " functions, and " : " without being asked for, ", further);
	look->probed += probed;
	look->further += further;
	for (unsigned int row = 1; row < catalog_n_rows(); row++)
		look->unseen += (plan->outcome[row] & (PLAN_TOO_DEAR | PLAN_REFUSED)) &&
				!catalog_row(row)->tier;
	for (size_t i = 0; i < sizeof(outcomes) / sizeof(outcomes[0]); i++)
		report_outcome(look->d, &outcomes[i], plan);
}

static int look_at_elf(struct look *look, struct elf_file *ef, const char *path)
{
	const struct plan_rules rules = { .tier = CATALOG_TIERS - 1, .step_ns = look->d->step_ns,
					  .step_limit_ns = look->d->o->session.step_limit_ns };
	struct plan *plan = calloc(1, sizeof(*plan));
	const uint32_t libraries = plan_libraries(ef, path);
	struct strbuf held = STRBUF_INIT;
	int err = plan ? plan_file(plan, ef, path, &rules, NULL) : -ENOMEM;

	for (unsigned int i = 0; i < CATALOG_LIBRARIES; i++) {
		if (!(libraries & 1u << i) || catalog_library(i)->rows->asks)
			continue;
		strbuf_addf(&held, "%s%s", held.len ? "," : "", catalog_library(i)->name);
		look->has_runtime |= !strcmp(catalog_library(i)->name, "cudart");
		look->has_driver |= !strcmp(catalog_library(i)->name, "cuda");
	}
	if (!err && held.len)
		say_file(look, path, plan, held.s);
	strbuf_free(&held);
	free(plan);
	return err;
}

static int look_at_file(void *ctx, const struct target_file *file)
{
	struct elf_file *ef = elf_file_open(file->fd, file->path);
	int err = ef ? look_at_elf(ctx, ef, file->path) : 0;

	if (ef)
		elf_file_close(ef);
	return err == -ENOMEM ? err : 0;
}

/* ---- whether it calls ------------------------------------------------------------------------ */

struct count {
	struct attach *attach;
	pid_t pid;
	uint64_t calls, by_row[GP_ROWS_MAX];
	unsigned int probes, left_out;	/* functions */
};

static int attach_one(void *ctx, const struct target_file *file)
{
	struct count *c = ctx;
	struct attach_result result;

	return attach_file(c->attach, file, c->pid, &result);
}

/* A function that may block counts by its record at entry: a call may outlast our look. */
static int add_record(void *ctx, const void *data, size_t len)
{
	const struct gp_call *rec = data;
	struct count *c = ctx;
	const struct catalog_row *row = len < sizeof(*rec) ? NULL : catalog_row(rec->row);

	if (row && rec->pid == (uint32_t)c->pid && rec->kind == (row->two ? GP_ENTER : GP_CALL)) {
		c->calls++;
		c->by_row[rec->row]++;
	}
	return 0;
}

static int read_calls(struct ring *ring, struct count *c)
{
	int more = 1;

	for (int ms = 0; ms < COUNT_MS && more >= 0; ms += READ_MS) {
		usleep(READ_MS * 1000);
		more = ring_consume(ring, ring_produced(ring), add_record, c);
	}
	return more < 0 ? more : 0;
}

/* The calls that begin within COUNT_MS. 0 or -errno, logged. */
static int count_calls(const struct doctor *d, struct count *c)
{
	struct loader_options lo = { .way = (enum loader_way)d->o->session.attach,
				     .ring_bytes = RING_BYTES };
	struct loader *l = loader_new(&lo);
	struct ring *ring = l ? ring_open(loader_facts(l).calls_fd) : NULL;
	int err = ring ? loader_follow(l, c->pid) : -errno;

	c->attach = err ? NULL : attach_new(l, &(struct plan_rules){ 0 });
	if (!err && !c->attach)
		err = -ENOMEM;
	if (c->attach) {
		err = target_each_file(c->pid, attach_one, c);
		err = err ? err : attach_begin(c->attach);
		for (size_t i = 0; i < attach_count(c->attach); i++) {
			c->probes += attach_get(c->attach, i)->result.probes;
			c->left_out += attach_get(c->attach, i)->result.left_out;
		}
		if (!err)
			err = read_calls(ring, c);
		loader_detach(l);
	}
	attach_free(c->attach);
	ring_close(ring);
	loader_free(l);
	return err;
}

static void say_calls(struct look *look)
{
	struct count c = { .pid = look->pid };
	int err = count_calls(look->d, &c);
	uint32_t most = 0;

	for (uint32_t row = 1; row < GP_ROWS_MAX; row++)
		if (c.by_row[row] > c.by_row[most])
			most = row;
	if (c.left_out)
		doctor_say(look->d, WORSE, "functions", "%u of %u can be probed at a time",
			   c.probes, c.probes + c.left_out);
	if (err)
		doctor_say(look->d, WORSE, "calls", "cannot be counted: %s", strerror(-err));
	else if (!c.calls)
		doctor_say(look->d, WORSE, "calls",
			   "none began within 1 s: it waits in one, or does not use "
			   "the GPU now; gpuprof stacks -p %d shows where it is", look->pid);
	else
		doctor_say(look->d, GOOD, "calls", "%s began within 1 s, most of them of %s",
			   count_text(c.calls).s,
			   catalog_row(most) ? catalog_row(most)->name : "?");
}

/* ---- why there is nothing -------------------------------------------------------------------- */

struct users {
	unsigned int n;
	pid_t first;
};

static int is_user(void *ctx, const struct target_file *file)
{
	(void)ctx;
	return catalog_has_tier(str_basename(file->path), CATALOG_TIERS - 1);
}

static int count_user(void *ctx, pid_t pid)
{
	struct users *u = ctx;

	if (target_each_file(pid, is_user, NULL) > 0 && !u->n++)
		u->first = pid;
	return 0;
}

static void say_no_library(struct look *look)
{
	struct users below = { 0 };

	target_each_descendant(look->pid, count_user, &below);
	if (below.n)
		doctor_say(look->d, GOOD, "libraries", "none here; %u process%s below it map%s "
			   "one, as %d: -p %d measures them, too",
			   below.n, below.n > 1 ? "es" : "", below.n > 1 ? "" : "s", below.first,
			   look->pid);
	else
		doctor_say(look->d, WORSE, "libraries",
			"it maps no CUDA or NCCL library (yet), and no "
			"process below it does: its table is empty; is it the process you mean?");
}

/* The conclusion from the rows above. */
static void conclude(struct look *look)
{
	struct doctor *d = look->d;

	if (!look->probed && !look->further && !look->unseen) {
		say_no_library(look);
		return;
	}
	if (look->has_driver && !look->has_runtime)
		doctor_say(d, WORSE, "runtime",
			   "no libcudart, and no copy with symbols in the program (it "
			   "may be stripped): what it does is seen as calls of the driver");
	if (!look->probed && look->further)
		doctor_say(d, WORSE, "tables", "empty but with --tier 1: only routines above the "
			   "runtime and the driver are mapped");
	else if (!look->probed)
		doctor_say(d, WORSE, "tables", "empty: none of its functions can be probed here");
	else if (d->probes)
		say_calls(look);
	if (look->probed)
		doctor_helper(d, look->pid);
}

static void look_at_maps(struct look *look)
{
	int err = target_each_file(look->pid, look_at_file, look);

	if (!err) {
		conclude(look);
	} else if (err == -ESRCH) {
		doctor_say(look->d, BAD, "process", "it has ended meanwhile");
		doctor_fail(look->d, EXIT_FAIL);
	} else {
		doctor_say(look->d, BAD, "process", "what it maps cannot be read: %s; %s",
			   strerror(-err), denied_reading());
		doctor_fail(look->d, EXIT_PERMISSION);
	}
}

/* A process that makes no calls whatever it maps; true: it can map nothing either. */
static bool say_lifeless(struct doctor *d, struct proc *p)
{
	const char *text = proc_read(p, PROC_STAT, NULL);
	struct strbuf stopped = STRBUF_INIT;
	struct proc_stat stat;

	if (!text || proc_parse_stat(text, &stat))
		return false;
	if (stat.kernel)
		doctor_say(d, WORSE, "process", "a thread of the kernel: it calls no library");
	else if (stat.state == 'Z' || stat.state == 'X')
		doctor_say(d, WORSE, "process", "a zombie: it has ended, and its parent %d has not "
			   "asked how", stat.ppid);
	else if (proc_add_stopped(&stopped, p->pid, stat.state))
		doctor_say(d, WORSE, "process", "%s", stopped.s);
	strbuf_free(&stopped);
	return stat.kernel || stat.state == 'Z' || stat.state == 'X';
}

/* after doctor_host */
static void doctor_process(struct doctor *d, pid_t pid)
{
	struct look look = { .d = d, .pid = pid };
	struct target_process t;
	struct proc p;
	int err = target_process_read(pid, &t);

	if (err && target_is_hidden(pid)) {
		doctor_say(d, BAD, "process", "%d is " DENIED_HIDDEN, pid);
		doctor_fail(d, EXIT_PERMISSION);
		return;
	}
	if (err) {
		doctor_say(d, BAD, "process", "%d cannot be looked at: %s", pid, err == -ESRCH ?
			   "there is none of this number (a thread's is none)" : strerror(-err));
		doctor_fail(d, EXIT_FAIL);
		return;
	}
	doctor_say(d, GOOD, "process", "%d (%s), %u thread%s", pid, t.comm, t.threads,
		   t.threads == 1 ? "" : "s");
	err = proc_open(&p, pid);
	if (!err) {
		say_container(d, &p);
		say_seccomp(d, &p);
	}
	if (is_foreign(pid))
		doctor_say(d, WORSE, "architecture", "a program of another machine or of 32 bits: "
			   "CUDA has no library for it here");
	if (err || !say_lifeless(d, &p))
		look_at_maps(&look);
	proc_close(&p);
}

/* ---- verb ---------------------------------------------------------------------------------- */

/* What can be done here, what cannot and what would change that. */
static void add_conclusion(struct strbuf *out, const struct doctor *d)
{
	const struct caps_need *missing = caps_missing();

	if (d->probes)
		strbuf_addstr(out,
			      "Every process can be measured: gpuprof -p PID, or -- CMD. Device "
			      "times are known of CMD,\nof what was started with the variables of "
			      "gpuprof env, and of others with --inject.\n");
	else if (missing)
		strbuf_addf(out,
			    "Commands of yours can be measured, without probes: gpuprof stat -- "
			    "CMD. For processes that\nrun already: sudo gpuprof -p PID (%s is "
			    "missing).\n", missing->name);
	else
		strbuf_addstr(out, "Probes do not work here, as FAIL says below. Commands can be "
				   "measured without them:\ngpuprof stat -- CMD.\n");
	strbuf_addch(out, '\n');
}

static void add_next(struct doctor *d, const struct target_list *chosen)
{
	strbuf_addf(&d->out, "\nnext   %sgpuprof stat -d 10s -p ", d->probes ? "" : "sudo ");
	for (size_t i = 0; i < chosen->n; i++)
		strbuf_addf(&d->out, "%s%u", i ? "," : "", chosen->pids[i]);
	strbuf_addch(&d->out, '\n');
}

int verb_doctor(const struct options *o)
{
	struct doctor d = { .o = o, .out = STRBUF_INIT };
	struct strbuf all = STRBUF_INIT;
	struct target_list chosen;
	int rc;

	d.rc = target_list_find(&chosen, &o->session);
	doctor_host(&d);
	for (size_t i = 0; i < chosen.n; i++)
		doctor_process(&d, (pid_t)chosen.pids[i]);
	if (chosen.n)
		add_next(&d, &chosen);
	target_list_free(&chosen);
	strbuf_addf(&all, "gpuprof %s\n", version_text());
	add_conclusion(&all, &d);
	strbuf_addstr(&all, d.out.s);
	all.failed |= d.out.failed;
	rc = output_write(NULL, &all);
	strbuf_free(&all);
	strbuf_free(&d.out);
	return d.rc ? d.rc : rc;
}
