// SPDX-License-Identifier: BSD-3-Clause
/*
 * Loads the BPF object in the best way this kernel offers, and keeps its links. A way is offered
 * only when its programs load and a probe on ourselves attaches: some kernels load programs that
 * they then refuse to attach.
 */
#include "probe/loader.h"

#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <linux/bpf.h>
#include <linux/capability.h>
#include <linux/perf_event.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/io.h"
#include "base/log.h"
#include "base/vec.h"
#include "catalog/catalog.h"
#include "gpuprof.skel.h"
#include "gpuprof/control.h"
#include "gpuprof/row.h"
#include "host/caps.h"
#include "host/proc.h"
#include "probe/loader_read.h"
#include "probe/selftest.h"

/*
 * ---- links -------------------------------------------------------------------------------------
 *
 * The raw BPF_LINK_CREATE call for uprobe multi and session links, with the kernel's attribute
 * layout written out. Debian 12's linux/bpf.h does not know them and libbpf 1.4 fills their
 * attributes for one of the two only.
 */

#define LINK_UPROBE_MULTI 48	/* BPF_TRACE_UPROBE_MULTI, Linux 6.6 */
#define LINK_UPROBE_SESSION 57	/* BPF_TRACE_UPROBE_SESSION, Linux 6.13 */

/*
 * One uprobe or uretprobe as a perf event, and the link that runs a BPF program for it with a
 * cookie (Linux 5.15). The breakpoint lives as long as the event's fd. Closing that takes some
 * 100 ms, one after the other in the whole system, as the kernel waits for all tasks under a lock
 * of its tracing; closing the link is quick, and from then on nothing runs for the probe.
 */

struct uprobe_perf {
	const char *path;
	uint64_t offset;
	bool is_return;
	pid_t pid;		/* 0: all processes */
};

/* Closes fds in the background, for kinds whose close takes long. */
struct close_later;

#define CMD_LINK_CREATE 28
#define UPROBE_MULTI_RETURN 1
#define CLOSERS_MAX 16

struct link_attr {		/* bpf_attr.link_create with uprobe_multi */
	uint32_t prog_fd;
	uint32_t target_fd;
	uint32_t attach_type;
	uint32_t flags;
	uint64_t path;
	uint64_t offsets;
	uint64_t ref_ctr_offsets;
	uint64_t cookies;
	uint32_t cnt;
	uint32_t uflags;
	uint32_t pid;
	uint32_t pad;
};
_Static_assert(sizeof(struct link_attr) == 64, "bpf_attr.link_create.uprobe_multi");

/* A link's fd or -errno. */
static int link_uprobes(int prog_fd, unsigned int attach_type, bool is_return,
		 const struct loader_probes *p)
{
	struct link_attr attr = {
		.prog_fd = (uint32_t)prog_fd,
		.attach_type = attach_type,
		.path = (uintptr_t)p->path,
		.offsets = (uintptr_t)p->offsets,
		.cookies = (uintptr_t)p->rows,
		.cnt = (uint32_t)p->n,
		.uflags = is_return ? UPROBE_MULTI_RETURN : 0,
		.pid = (uint32_t)p->pid,
	};
	/* 60: the kernel refuses non-zero bytes that it does not know, not a shorter struct. */
	int fd = (int)syscall(SYS_bpf, CMD_LINK_CREATE, &attr, 60);

	return fd < 0 ? -errno : fd;
}

struct closing {
	int *fds;
	size_t n;
	atomic_size_t next;
};

static void *close_links(void *arg)
{
	struct closing *c = arg;

	for (size_t i; (i = atomic_fetch_add(&c->next, 1)) < c->n;)
		close(c->fds[i]);
	return NULL;
}

/*
 * Closes links, some at once: each close waits for all CPUs to leave the probes (30 to 70 ms), and
 * waits overlap. Returns when all are off.
 */
static void link_close_all(int *fds, size_t n)
{
	struct closing c = { .fds = fds, .n = n };
	pthread_t helpers[CLOSERS_MAX];
	size_t started = 0;

	/* One fewer than links: this thread closes, too. A helper that does not start is not
	 * missed. */
	while (started + 1 < n && started < CLOSERS_MAX &&
	       !pthread_create(&helpers[started], NULL, close_links, &c))
		started++;
	close_links(&c);
	while (started)
		pthread_join(helpers[--started], NULL);
}

/* ---- uprobe perf --------------------------------------------------------------------------- */

/* sysfs' description of the kernel's uprobe events, and two system calls. */

#define PMU "/sys/bus/event_source/devices/uprobe/"

/* The number in a file of sysfs ("8", "config:0"). -1: there is none. */
static int read_number(const char *path)
{
	char *text = io_read_file(path, 64, NULL), *digits;
	int n = -1;

	digits = text ? text + strcspn(text, "0123456789") : NULL;
	if (digits && *digits)
		n = (int)strtol(digits, NULL, 10);
	free(text);
	return n;
}

/* An event's fd or -errno: EACCES (without CAP_SYS_ADMIN), -524 (an instruction that cannot be
 * probed), ESRCH, ENODEV (this kernel has no such events). */
static int uprobe_perf_open(const struct uprobe_perf *probe)
{
	int type = read_number(PMU "type"), bit = read_number(PMU "format/retprobe");
	struct perf_event_attr attr = {
		.size = PERF_ATTR_SIZE_VER1,	/* up to config2: nothing that 5.15 does not know */
		.type = (uint32_t)type,
		.config1 = (uintptr_t)probe->path,
		.config2 = probe->offset,
	};
	/* Without a process an event is a CPU's. That only matters to its samples: the program runs
	 * for each hit on any CPU. */
	int cpu = probe->pid ? -1 : sched_getcpu(), fd;

	if (type < 0 || bit < 0 || bit > 63)
		return -ENODEV;
	attr.config = (uint64_t)probe->is_return << bit;
	fd = (int)syscall(SYS_perf_event_open, &attr, probe->pid ? probe->pid : -1, cpu, -1,
			  PERF_FLAG_FD_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

/* a link's fd or -errno */
static int uprobe_perf_link(int prog_fd, int event_fd, uint64_t cookie)
{
	LIBBPF_OPTS(bpf_link_create_opts, opts, .perf_event.bpf_cookie = cookie);
	int fd = bpf_link_create(prog_fd, event_fd, BPF_PERF_EVENT, &opts);

	return fd < 0 ? -errno : fd;
}

/* ---- close later --------------------------------------------------------------------------- */

/* A thread for each batch; they are few. */

struct close_later {
	struct close_later *next;
	pthread_t thread;
	size_t n;
	int fds[];
};

static void close_all(const int *fds, size_t n)
{
	for (size_t i = 0; i < n; i++)
		close(fds[i]);
}

static void *close_batch(void *arg)
{
	const struct close_later *batch = arg;
	sigset_t all;

	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, NULL);
	close_all(batch->fds, batch->n);
	return NULL;
}

/* Takes the fds (not the array): they are closed one after the other by a thread of their own, or,
 * if there is none to be had, before this returns. *c: NULL at first. One caller at a time. */
static void close_later_add(struct close_later **c, const int *fds, size_t n)
{
	struct close_later *batch;

	if (!n)
		return;
	batch = malloc(sizeof(*batch) + n * sizeof(*fds));
	if (batch) {
		batch->next = *c;
		batch->n = n;
		memcpy(batch->fds, fds, n * sizeof(*fds));
	}
	if (batch && !pthread_create(&batch->thread, NULL, close_batch, batch)) {
		*c = batch;
		return;
	}
	free(batch);
	close_all(fds, n);
}

/* until all are closed; then *c is NULL */
static void close_later_wait(struct close_later **c)
{
	while (*c) {
		struct close_later *batch = *c;

		*c = batch->next;
		pthread_join(batch->thread, NULL);
		free(batch);
	}
}

/* ---- loader ---------------------------------------------------------------------------------- */

struct loader_fds {
	int *v;
	size_t n, cap;
};

struct loader {
	struct gpuprof_bpf *skel;
	enum loader_way way;
	bool off_cpu;
	struct loader_fds links;	/* of the uprobes */
	struct loader_fds events;	/* WAY_PERF: the events that links belong to */
	struct close_later *closing;	/* events whose links are gone */
	struct gp_counts before;	/* counted by the calibration */
	struct selftest_costs costs;
	uint8_t returns;		/* GP_RETURNS_* */
};

/* One program on the entries or on the returns of a file's functions; or, of a session, on both. */
struct loader_leg {
	struct bpf_program *prog;
	bool is_return;
};

/* The requirements of a way of attaching beside those of all ways. */
struct loader_needs {
	const char *what;		/* "uprobe multi links" */
	const char *since;		/* the Linux that brought it: "6.6" */
	unsigned int capability;	/* CAP_*; 0: none */
	const char *capability_name;
};

/* How links are made: one of these for each enum loader_way. */
struct loader_links {
	const char *name;
	struct loader_needs needs;
	unsigned int probes_max;	/* see loader_facts */
	unsigned int attach_type;	/* the attach type its programs are loaded for */
	/* The programs of a call that is followed to its return, in the order they are attached. */
	size_t (*legs)(const struct gpuprof_bpf *skel, struct loader_leg legs[2]);
	/* Links for one leg at all of these probes (rows are cookies here), kept in l->links. 0 or
	 * -errno; after an error some may be there. */
	int (*add)(struct loader *l, const struct loader_leg *leg, const struct loader_probes *p);
};

/* ---- loader why ---------------------------------------------------------------------------- */

/* Why BPF programs cannot be loaded or attached here, as well as can be known, in one line. */

/* Errors that no other way of attaching would mend. */
static const struct {
	int err;
	const char *text;
} reasons[] = {
	{ EPERM, "the kernel denies it although no capability is missing; check kernel lockdown, "
		 "LSM policy and user namespaces" },
	{ ENOMEM, "out of memory; give a smaller --ring-size" },
	{ EMFILE, "too many open files; raise the limit (ulimit -n)" },
};

static bool loader_why_final(int err)
{
	for (size_t i = 0; i < sizeof(reasons) / sizeof(reasons[0]); i++)
		if (err == -reasons[i].err)
			return true;
	return false;
}

/* "6.12.1-amd64" is older than "6.13". */
static bool is_older(const char *release, const char *since)
{
	unsigned int is[2] = { 0 }, wants[2] = { 0 };

	sscanf(release, "%u.%u", &is[0], &is[1]);
	sscanf(since, "%u.%u", &wants[0], &wants[1]);
	return is[0] < wants[0] || (is[0] == wants[0] && is[1] < wants[1]);
}

static int why_kernel(int err, const struct loader_needs *last, bool all, const char *release)
{
	if (!is_older(release, last->since))
		log_error("cannot attach: kernel %s should have %s and refuses them (%s); -v says "
			  "what it refuses, please report it", release, last->what, strerror(-err));
	else
		log_error("cannot attach: kernel %s lacks %s, which came with Linux %s (%s)%s",
			  release, last->what, last->since, strerror(-err),
			  all ? "; probes need that kernel or a later one, --attach none does "
				"without" :
				"; --attach auto takes the best way that there is");
	return ENOTSUP;
}

/* Logs why no way worked; `last` was tried last, as the only one unless `all`. The errno to return:
 * EPERM, ENOTSUP, ... */
static int loader_why(int err, const struct loader_needs *last, bool all)
{
	const struct caps_need *cap = caps_missing();
	struct utsname un = { 0 };

	uname(&un);
	if (cap) {
		log_error("cannot load BPF programs: %s is missing (needed to %s); run as root or "
			  "with sudo", cap->name, cap->why);
		return EPERM;
	}
	if ((err == -EACCES || err == -EPERM) && last->capability && !caps_have(last->capability)) {
		log_error("cannot attach: %s is missing (needed for %s, the only way to probe that "
			  "%s); run as root or with sudo", last->capability_name, last->what,
			  all ? "this kernel has" : "was asked for");
		return EPERM;
	}
	if (access("/proc/self/maps", R_OK)) {
		log_error("cannot attach: procfs is not mounted on /proc, and it tells who runs "
			  "and what they use; "
			  "mount -t proc proc /proc");
		return ENOTSUP;
	}
	if (access("/sys/kernel/btf/vmlinux", R_OK)) {
		log_error(
			"cannot load BPF programs: kernel %s has no BTF "
			"(/sys/kernel/btf/vmlinux); use one with CONFIG_DEBUG_INFO_BTF, or measure "
			"without probes (--attach none)",
			un.release);
		return ENOTSUP;
	}
	for (size_t i = 0; i < sizeof(reasons) / sizeof(reasons[0]); i++) {
		if (err != -reasons[i].err)
			continue;
		log_error("cannot load BPF programs: %s", reasons[i].text);
		return reasons[i].err;
	}
	return why_kernel(err, last, all, un.release);
}

/* BPF sees the host's pids; inside a namespace no pid that we or a user know is one of those. */
static bool loader_why_not_here(void)
{
	if (proc_pids_are_hosts())
		return false;
	log_error("cannot profile from inside a container: it has pids of its own; run gpuprof on "
		  "the host, or the container with --pid=host");
	return true;
}

/* ---- loader links -------------------------------------------------------------------------- */

/*
 * From probes of a file to links of the kernel: which programs stand for a call in each way, the
 * content of their cookies, and the order in which they are attached. Knows nothing of files
 * beyond a path.
 */

/* So many functions at a time: closing their events takes up to 0.1 s each (5.15: entry and
 * return). */
#define PERF_PROBES_MAX 32

static int keep_fd(struct loader_fds *fds, int fd)
{
	int *slot;

	if (fd < 0)
		return fd;
	slot = VEC_PUSH(fds);
	if (!slot) {
		close(fd);
		return -ENOMEM;
	}
	*slot = fd;
	return 0;
}

static size_t session_legs(const struct gpuprof_bpf *skel, struct loader_leg legs[2])
{
	legs[0] = (struct loader_leg){ .prog = skel->progs.call_session };
	return 1;
}

static int session_add(struct loader *l, const struct loader_leg *leg,
		       const struct loader_probes *p)
{
	return keep_fd(&l->links,
		       link_uprobes(bpf_program__fd(leg->prog), LINK_UPROBE_SESSION, false, p));
}

/* Returns first: an entry seen without its return would look like a call that hangs. */
static size_t pair_legs(const struct gpuprof_bpf *skel, struct loader_leg legs[2])
{
	legs[0] = (struct loader_leg){ .prog = skel->progs.call_return, .is_return = true };
	legs[1] = (struct loader_leg){ .prog = skel->progs.call_entry };
	return 2;
}

static int multi_add(struct loader *l, const struct loader_leg *leg, const struct loader_probes *p)
{
	return keep_fd(&l->links, link_uprobes(bpf_program__fd(leg->prog), LINK_UPROBE_MULTI,
					 leg->is_return, p));
}

static int perf_add_one(struct loader *l, int prog_fd, const struct uprobe_perf *probe,
			uint64_t cookie)
{
	int event_fd = uprobe_perf_open(probe), err;

	err = keep_fd(&l->events, event_fd);
	return err ? err : keep_fd(&l->links, uprobe_perf_link(prog_fd, event_fd, cookie));
}

static int perf_add(struct loader *l, const struct loader_leg *leg, const struct loader_probes *p)
{
	struct uprobe_perf probe = { .path = p->path, .is_return = leg->is_return, .pid = p->pid };
	int err = 0;

	for (size_t i = 0; i < p->n && !err; i++) {
		probe.offset = p->offsets[i];
		err = perf_add_one(l, bpf_program__fd(leg->prog), &probe, p->rows[i]);
	}
	return err;
}

static const struct loader_links ways[] = {
	[WAY_AUTO] = { .name = "auto" },
	[WAY_SESSION] = {
		.name = "session", .needs = { .what = "uprobe session links", .since = "6.13" },
		.attach_type = LINK_UPROBE_SESSION, .legs = session_legs, .add = session_add,
	},
	[WAY_MULTI] = {
		.name = "multi", .needs = { .what = "uprobe multi links", .since = "6.6" },
		.attach_type = LINK_UPROBE_MULTI, .legs = pair_legs, .add = multi_add,
	},
	[WAY_PERF] = {
		.name = "perf", .probes_max = PERF_PROBES_MAX, .legs = pair_legs, .add = perf_add,
		.needs = { .what = "uprobe events with BPF cookies", .since = "5.15",
			   .capability = CAP_SYS_ADMIN, .capability_name = "CAP_SYS_ADMIN" },
	},
};

static const struct loader_links *loader_links_of(enum loader_way way)
{
	return &ways[way];
}

const char *loader_way_name(enum loader_way way)
{
	return ways[way].name;
}

static void choose(struct bpf_program *prog, unsigned int attach_type)
{
	bpf_program__set_autoload(prog, true);
	bpf_program__set_expected_attach_type(prog, attach_type);
}

static void loader_choose_programs(const struct loader *l)
{
	const struct loader_links *way = &ways[l->way];
	struct loader_leg legs[2];

	for (size_t i = way->legs(l->skel, legs); i--;)
		choose(legs[i].prog, way->attach_type);
}

/* The cookies of one file's links. */
static uint64_t *make_cookies(const struct loader_probes *p)
{
	uint64_t flags = p->pid ? GP_COOKIE_FILTERED : p->waits ? GP_COOKIE_WAITING : 0;
	uint64_t *cookies = calloc(p->n, sizeof(*cookies));

	for (size_t i = 0; cookies && i < p->n; i++)
		cookies[i] = p->rows[i] | flags;
	return cookies;
}

static void drop_from(struct loader *l, size_t links, size_t events)
{
	link_close_all(l->links.v + links, l->links.n - links);
	l->links.n = links;
	close_later_add(&l->closing, l->events.v + events, l->events.n - events);
	l->events.n = events;
}

static int attach_links(struct loader *l, const struct loader_probes *p)
{
	const struct loader_links *way = &ways[l->way];
	struct loader_leg legs[2];
	size_t n = way->legs(l->skel, legs);
	size_t links = l->links.n, events = l->events.n;
	int err = 0;

	for (size_t i = 0; i < n && !err; i++)
		if (!legs[i].is_return || l->returns != GP_RETURNS_NONE)
			err = way->add(l, &legs[i], p);
	if (err)
		drop_from(l, links, events);
	return err;
}

int loader_attach(struct loader *l, const struct loader_probes *p)
{
	uint64_t *cookies = make_cookies(p);
	struct loader_probes with_cookies = *p;
	int err;

	if (!cookies)
		return -ENOMEM;
	with_cookies.rows = cookies;
	err = attach_links(l, &with_cookies);
	free(cookies);
	return err;
}

/* ---- loader sched -------------------------------------------------------------------------- */

/* The scheduler's hooks: which of them this kernel can have. */

/* Where the kernel counts how often interrupts were disabled (in 7.x it does), that count has
 * the bits in which it counted the hard interrupts and NMIs that it is in, and these have
 * others. */
#define IN_INTERRUPT 0x00ff0100u
#define IN_INTERRUPT_MOVED 0x1f000100u

static uint32_t bits_in_interrupt(const struct btf *kernel)
{
	return btf__find_by_name_kind(kernel, "local_interrupt_disable_state", BTF_KIND_VAR) < 0 ?
		       IN_INTERRUPT : IN_INTERRUPT_MOVED;
}

#if defined(__x86_64__)
/* May programs refer to this variable? BTF lists it, but kernels without CONFIG_KALLSYMS_ALL
 * know no address, and refuse to load such programs. */
static bool has_variable(const struct btf *kernel, const char *name)
{
	int id = btf__find_by_name_kind(kernel, name, BTF_KIND_VAR), fd;
	const struct bpf_insn code[] = {
		{ .code = BPF_LD | BPF_DW, .dst_reg = BPF_REG_1,	/* BPF_IMM is 0 */
		  .src_reg = BPF_PSEUDO_BTF_ID, .imm = id },
		{ .code = 0 },
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0 },
		{ .code = BPF_JMP | BPF_EXIT },
	};

	fd = id < 0 ? -1 : bpf_prog_load(BPF_PROG_TYPE_RAW_TRACEPOINT, NULL, "GPL", code,
					 sizeof(code) / sizeof(code[0]), NULL);
	if (fd < 0)
		return false;
	close(fd);
	return true;
}

/* Can a program detect that it runs in an interrupt? */
static bool knows_interrupts(const struct btf *kernel)
{
	return has_variable(kernel, "__preempt_count") || has_variable(kernel, "pcpu_hot");
}
#else
/* It is with each thread. */
static bool knows_interrupts(const struct btf *kernel)
{
	(void)kernel;
	return true;
}
#endif

/* The scheduler's hooks, as far as this kernel has them; between open and load. */
static void loader_choose_sched(const struct gpuprof_bpf *skel)
{
	struct btf *kernel = btf__load_vmlinux_btf();
	bool knows = kernel && knows_interrupts(kernel);

	if (knows)
		skel->rodata->in_interrupt = bits_in_interrupt(kernel);
	btf__free(kernel);
	bpf_program__set_autoload(skel->progs.off_switch, true);
	bpf_program__set_autoload(knows ? skel->progs.off_waking : skel->progs.off_waking_any,
				  true);
	bpf_program__set_autoload(skel->progs.task_off, true);
}

#define STACK_RING_BYTES (8u << 20)
#define STACKS_SENT 32768u
#define STACK_PROCESSES 16384u
#define MANY_EVENTS 16		/* as many take long enough to wonder at */

/* The verifier's log comes as one text of many lines. */
static int print_libbpf(enum libbpf_print_level level, const char *fmt, va_list ap)
{
	char *text, *line, *rest;

	/* Failures here are expected while ways are tried; loader_new reports the relevant one. */
	if (log_threshold < LOG_DEBUG || level == LIBBPF_DEBUG)
		return 0;
	if (vasprintf(&text, fmt, ap) < 0)
		return 0;
	for (rest = text; (line = strsep(&rest, "\n"));)
		if (*line)
			log_debug("libbpf: %s", line);
	free(text);
	return 0;
}

/* Without stacks the programs' way to these maps is dead code. */
static void configure_stacks(struct gpuprof_bpf *skel, uint32_t bytes)
{
	struct bpf_map *maps[] = { skel->maps.stacks, skel->maps.copies, skel->maps.sent };

	for (size_t i = 0; i < sizeof(maps) / sizeof(maps[0]); i++)
		bpf_map__set_autocreate(maps[i], bytes);
	skel->rodata->stack_bytes = bytes;
	if (!bytes)
		return;
	bpf_map__set_max_entries(skel->maps.stacks, STACK_RING_BYTES);
	bpf_map__set_max_entries(skel->maps.sent, STACKS_SENT);
	bpf_map__set_max_entries(skel->maps.code, STACK_PROCESSES);
}

static void configure(struct loader *l, const struct loader_options *o)
{
	struct gpuprof_bpf *skel = l->skel;
	struct bpf_program *always[] = { skel->progs.task_fork, skel->progs.task_exec,
					 skel->progs.task_exit, skel->progs.task_states,
					 skel->progs.task_files,
					 skel->progs.task_regs };

	for (size_t i = 0; i < sizeof(always) / sizeof(always[0]); i++)
		bpf_program__set_autoload(always[i], true);
	if (l->off_cpu)
		loader_choose_sched(skel);
	loader_choose_programs(l);
	bpf_map__set_max_entries(skel->maps.calls, (uint32_t)o->ring_bytes);
	configure_stacks(skel, o->stack_bytes);
	skel->rodata->follow_all = o->follow_all;
	skel->rodata->follow_children = o->follow_children;
	skel->rodata->wake_bytes = o->ring_bytes / 4;
	for (unsigned int i = 0; i < catalog_n_rows(); i++)
		if (catalog_row(i))
			catalog_wire_row(catalog_row(i), (struct gp_row *)&skel->rodata->rows[i]);
}

static int test_self(struct loader *l, const struct loader_options *o)
{
	int err = selftest_run(l, o->returns_kill, &l->costs);

	return err ? err : loader_counts(l, &l->before);
}

static int try_way(struct loader *l, const struct loader_options *o, enum loader_way way)
{
	int err;

	l->skel = gpuprof_bpf__open();
	if (!l->skel)
		return -errno;
	l->way = way;
	configure(l, o);
	err = gpuprof_bpf__load(l->skel);
	if (!err)
		err = test_self(l, o);
	if (!err)
		err = gpuprof_bpf__attach(l->skel);
	if (!err)
		return 0;
	log_debug("attach way %s does not work here: %s", loader_way_name(way), strerror(-err));
	gpuprof_bpf__destroy(l->skel);
	l->skel = NULL;
	return err;
}

/* 0 or -errno; o->way is the way tried last. */
static int try_each_way(struct loader *l, struct loader_options *o)
{
	static const enum loader_way best_first[] = { WAY_SESSION, WAY_MULTI, WAY_PERF };
	int err;

	if (o->way != WAY_AUTO)
		return try_way(l, o, o->way);
	for (size_t i = 0; i < sizeof(best_first) / sizeof(best_first[0]); i++) {
		o->way = best_first[i];
		err = try_way(l, o, o->way);
		if (!err || loader_why_final(err))
			break;
	}
	return err;
}

/* A kernel that refuses the scheduler's hooks may have all else. */
static int try_ways(struct loader *l, struct loader_options *o)
{
	enum loader_way asked = o->way;
	int err;

	l->off_cpu = o->off_cpu;
	err = try_each_way(l, o);
	if (!err || !l->off_cpu || loader_why_final(err))
		return err;
	l->off_cpu = false;
	o->way = asked;
	err = try_each_way(l, o);
	if (!err)
		log_warn("this kernel refuses the scheduler's hooks: why threads are off the CPU "
			 "is not "
			 "known; -v says what it refuses");
	return err;
}

struct loader *loader_new(const struct loader_options *o)
{
	struct loader *l = calloc(1, sizeof(*l));
	struct loader_options tried = *o;
	int err;

	if (!l)
		return NULL;
	if (loader_why_not_here()) {
		free(l);
		errno = ENOTSUP;
		return NULL;
	}
	libbpf_set_print(print_libbpf);
	err = try_ways(l, &tried);
	if (!err)
		return l;
	err = loader_why(err, &loader_links_of(tried.way)->needs, o->way == WAY_AUTO);
	close_later_wait(&l->closing);
	free(l);
	errno = err;
	return NULL;
}

void loader_detach(struct loader *l)
{
	link_close_all(l->links.v, l->links.n);
	VEC_FREE(&l->links);
	if (l->events.n >= MANY_EVENTS)
		log_info("taking %zu probes off, which this kernel does one by one", l->events.n);
	close_later_add(&l->closing, l->events.v, l->events.n);
	VEC_FREE(&l->events);
	/* After the probes: until they are off, a thread that ends must be seen. */
	gpuprof_bpf__detach(l->skel);
}

void loader_free(struct loader *l)
{
	if (!l)
		return;
	loader_detach(l);
	gpuprof_bpf__destroy(l->skel);
	close_later_wait(&l->closing);
	free(l);
}

struct loader_facts loader_facts(const struct loader *l)
{
	return (struct loader_facts){
		.way = l->way,
		.probes_max = loader_links_of(l->way)->probes_max,
		.calls_fd = bpf_map__fd(l->skel->maps.calls),
		.tasks_fd = bpf_map__fd(l->skel->maps.tasks),
		.stacks_fd = l->skel->rodata->stack_bytes ? bpf_map__fd(l->skel->maps.stacks) : -1,
		.call_cost_ns = l->costs.call_ns,
		.nested_cost_ns = l->costs.nested_ns,
		.step_cost_ns = l->costs.step_ns,
		.returns = l->returns,
		.off_cpu = l->off_cpu,
		.knows_interrupts = l->off_cpu && bpf_program__autoload(l->skel->progs.off_waking),
	};
}

int loader_follow(struct loader *l, pid_t pid)
{
	uint32_t key = (uint32_t)pid, parent = 0;

	return bpf_map_update_elem(bpf_map__fd(l->skel->maps.pids), &key, &parent, BPF_ANY);
}

void loader_unfollow(struct loader *l, pid_t pid)
{
	uint32_t key = (uint32_t)pid;

	bpf_map_delete_elem(bpf_map__fd(l->skel->maps.pids), &key);
}

void loader_forget_thread(struct loader *l, int pidfd)
{
	bpf_map_delete_elem(bpf_map__fd(l->skel->maps.threads), &pidfd);
}

void loader_set_returns(struct loader *l, unsigned int returns)
{
	l->returns = (uint8_t)returns;
	l->skel->bss->returns = l->returns;
}

bool loader_follows(const struct loader *l, pid_t pid)
{
	uint32_t key = (uint32_t)pid, parent;

	return !bpf_map_lookup_elem(bpf_map__fd(l->skel->maps.pids), &key, &parent);
}

void loader_hand_over(struct loader *l)
{
	__atomic_store_n(&l->skel->bss->handed_over, 1, __ATOMIC_RELEASE);
}

void loader_set_code(struct loader *l, pid_t pid, const struct gp_code *code)
{
	int fd = bpf_map__fd(l->skel->maps.code);
	uint32_t key = (uint32_t)pid;

	/* A process without a place has longer ids, and more of them. */
	if (code)
		bpf_map_update_elem(fd, &key, code, BPF_ANY);
	else
		bpf_map_delete_elem(fd, &key);
}

/* ---- loader read --------------------------------------------------------------------------- */

/* Data that the programs keep for us: states of threads, mappings and counters. */

/* Records of one size, as an iterator writes them: each goes to fn. */
static int read_records(struct bpf_program *prog, size_t size,
			void (*fn)(void *, const void *, size_t), void *ctx)
{
	uint64_t buf[1024];
	int fd = loader_open_iterator(prog, NULL), err;
	char *at = (char *)buf;
	size_t have = 0;
	ssize_t n;

	if (fd < 0)
		return fd;
	while ((n = read(fd, at + have, sizeof(buf) - have)) != 0) {
		size_t used = 0;

		if (n < 0 && (errno == EINTR || errno == EAGAIN))
			continue;
		if (n < 0)
			break;
		for (have += (size_t)n; have - used >= size; used += size)
			fn(ctx, at + used, size);
		have -= used;
		memmove(at, at + used, have);
	}
	err = n < 0 ? -errno : 0;
	close(fd);
	return err;
}

struct state_reader {
	void (*fn)(void *ctx, const void *rec, size_t len);
	void *ctx;
};

static void on_state(void *ctx, const void *rec, size_t len)
{
	const struct state_reader *r = ctx;

	if (((const struct gp_call *)rec)->pid != (uint32_t)getpid())	/* the calibration's */
		r->fn(r->ctx, rec, len);
}

int loader_each_state(struct loader *l, void (*fn)(void *, const void *, size_t), void *ctx)
{
	struct state_reader r = { fn, ctx };

	return read_records(l->skel->progs.task_states, sizeof(struct loader_state), on_state, &r);
}

int loader_each_off(struct loader *l, void (*fn)(void *, const void *, size_t), void *ctx)
{
	if (!l->off_cpu)
		return 0;
	return read_records(l->skel->progs.task_off, sizeof(struct gp_off), fn, ctx);
}

int loader_open_mappings(const struct loader *l, pid_t pid)
{
	union bpf_iter_link_info of = { .task.pid = (uint32_t)pid };
	struct bpf_iter_attach_opts opts;

	memset(&opts, 0, sizeof(opts));		/* libbpf refuses padding that is not 0 */
	opts.sz = sizeof(opts);
	opts.link_info = &of;
	opts.link_info_len = sizeof(of);
	return loader_open_iterator(l->skel->progs.task_files, &opts);
}

int loader_counts(const struct loader *l, struct gp_counts *sum)
{
	enum { FIELDS = sizeof(*sum) / sizeof(uint64_t) };
	const uint64_t *before = (const uint64_t *)&l->before;
	int n_cpus = libbpf_num_possible_cpus(), err;
	uint64_t *per_cpu, *out = (uint64_t *)sum;
	uint32_t zero = 0;

	if (n_cpus < 0)
		return n_cpus;
	per_cpu = calloc((size_t)n_cpus, sizeof(*sum));
	if (!per_cpu)
		return -ENOMEM;
	err = bpf_map_lookup_elem(bpf_map__fd(l->skel->maps.counts), &zero, per_cpu);
	for (size_t i = 0; i < FIELDS; i++) {
		uint64_t total = 0;

		for (size_t cpu = 0; !err && cpu < (size_t)n_cpus; cpu++)
			total += per_cpu[cpu * FIELDS + i];
		out[i] = total - before[i];
	}
	free(per_cpu);
	return err;
}

/* ---- loader seed --------------------------------------------------------------------------- */

/* Small wrappers of maps and links; see the header. Knows nothing of stacks. */

static int read_regs(struct loader *l, loader_regs_fn fn, void *ctx)
{
	int fd = loader_open_iterator(l->skel->progs.task_regs, NULL), err;

	if (fd < 0)
		return fd;
	err = loader_regs_each(fd, fn, ctx);
	close(fd);
	return err;
}

int loader_look(struct loader *l, const uint32_t *pids, size_t n, loader_regs_fn fn, void *ctx)
{
	int map = bpf_map__fd(l->skel->maps.looked_at), err = 0;
	uint32_t yes = 1;

	if (!proc_pids_are_hosts())
		return -ENOTSUP;
	for (size_t i = 0; i < n && !err; i++)
		err = bpf_map_update_elem(map, &pids[i], &yes, BPF_ANY);
	if (!err)
		err = read_regs(l, fn, ctx);
	for (size_t i = 0; i < n; i++)
		bpf_map_delete_elem(map, &pids[i]);
	return err;
}

int loader_mark_in_flight(struct loader *l, uint32_t tid)
{
	uint32_t yes = 1;

	return bpf_map_update_elem(bpf_map__fd(l->skel->maps.in_flight), &tid, &yes, BPF_ANY);
}

bool loader_is_in_flight(struct loader *l, uint32_t tid)
{
	uint32_t yes;

	return !bpf_map_lookup_elem(bpf_map__fd(l->skel->maps.in_flight), &tid, &yes);
}

void loader_forget_in_flight(struct loader *l, uint32_t tid)
{
	bpf_map_delete_elem(bpf_map__fd(l->skel->maps.in_flight), &tid);
}
