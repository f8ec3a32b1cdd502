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
#include <link.h>
#include <linux/bpf.h>
#include <linux/capability.h>
#include <linux/filter.h>
#include <linux/perf_event.h>
#include <linux/seccomp.h>
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
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/io.h"
#include "base/log.h"
#include "base/num.h"
#include "base/time.h"
#include "base/vec.h"
#include "catalog/catalog.h"
#include "catalog/gemms.h"
#include "gpuprof.skel.h"
#include "gpuprof/control.h"
#include "gpuprof/row.h"
#include "host/caps.h"
#include "host/proc.h"
#include "probe/loader_read.h"

/* ---- what the programs write ----------------------------------------------------------------- */

static int loader_open_iterator(struct bpf_program *prog, const struct bpf_iter_attach_opts *opts)
{
	struct bpf_link *link = bpf_program__attach_iter(prog, opts);
	int fd;

	if (!link)
		return -errno;
	fd = bpf_iter_create(bpf_link__fd(link));
	bpf_link__destroy(link);
	return fd;
}

/* Records of one size, as an iterator writes them: each goes to fn. 0 or -errno. */
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

struct regs_reader {
	loader_regs_fn fn;
	void *ctx;
};

static void on_regs(void *ctx, const void *rec, size_t len)
{
	const struct regs_reader *r = ctx;

	(void)len;
	r->fn(r->ctx, rec);
}

static int read_regs(struct gpuprof_bpf *skel, const uint32_t *pids, size_t n, loader_regs_fn fn,
		     void *ctx)
{
	struct regs_reader r = { fn, ctx };
	uint32_t yes = 1;
	int err = 0;

	for (size_t i = 0; i < n && !err; i++)
		err = bpf_map_update_elem(bpf_map__fd(skel->maps.looked_at), &pids[i], &yes,
					  BPF_ANY);
	return err ? err : read_records(skel->progs.task_regs, sizeof(struct gp_thread_regs),
					on_regs, &r);
}

int loader_read_regs(const uint32_t *pids, size_t n, loader_regs_fn fn, void *ctx)
{
	struct bpf_program *prog;
	struct gpuprof_bpf *skel;
	struct bpf_map *map;
	int err;

	if (!proc_pids_are_hosts())
		return -ENOTSUP;
	libbpf_set_print(NULL);
	skel = gpuprof_bpf__open();
	if (!skel)
		return -errno;
	/* Rings and stores of other programs are not made: the largest takes 8 MiB. */
	for (prog = NULL; (prog = bpf_object__next_program(skel->obj, prog));)
		bpf_program__set_autoload(prog, prog == skel->progs.task_regs);
	for (map = NULL; (map = bpf_object__next_map(skel->obj, map));)
		bpf_map__set_autocreate(map, map == skel->maps.looked_at ||
					map == skel->maps.regs_buf ||
					map == skel->maps.threads || bpf_map__is_internal(map));
	err = gpuprof_bpf__load(skel);
	if (!err)
		err = read_regs(skel, pids, n, fn, ctx);
	gpuprof_bpf__destroy(skel);
	return err;
}

/*
 * ---- links -------------------------------------------------------------------------------------
 *
 * The raw BPF_LINK_CREATE call for uprobe multi and session links, with the kernel's attribute
 * layout written out. Debian 12's linux/bpf.h does not know them and libbpf 1.4 fills their
 * attributes for one of the two only.
 */

#define LINK_UPROBE_MULTI 48	/* BPF_TRACE_UPROBE_MULTI, Linux 6.6 */
#define LINK_UPROBE_SESSION 57	/* BPF_TRACE_UPROBE_SESSION, Linux 6.13 */

#define CMD_LINK_CREATE 28
#define UPROBE_MULTI_RETURN 1
#define CLOSERS_MAX 16
/* So many functions at a time: closing their events takes up to 0.1 s each (5.15: entry and
 * return). */
#define PERF_PROBES_MAX 32

struct link_attr {		/* bpf_attr.link_create with uprobe_multi */
	uint32_t prog_fd, target_fd, attach_type, flags;
	uint64_t path, offsets, ref_ctr_offsets, cookies;
	uint32_t cnt, uflags, pid, pad;
};
_Static_assert(sizeof(struct link_attr) == 64, "bpf_attr.link_create.uprobe_multi");

/* A link's fd or -errno. */
static int link_uprobes(int prog_fd, unsigned int attach_type, bool is_return,
			const struct loader_probes *p)
{
	struct link_attr attr = {
		.prog_fd = (uint32_t)prog_fd, .attach_type = attach_type,
		.path = (uintptr_t)p->path, .offsets = (uintptr_t)p->offsets,
		.ref_ctr_offsets = (uintptr_t)p->semaphores,
		.cookies = (uintptr_t)p->rows, .cnt = (uint32_t)p->n,
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

/*
 * ---- uprobe perf -------------------------------------------------------------------------------
 *
 * One uprobe or uretprobe as a perf event, and the link that runs a BPF program for it with a
 * cookie (Linux 5.15). The breakpoint lives as long as the event's fd. Closing that takes some
 * 100 ms, one after the other in the whole system, as the kernel waits for all tasks under a lock
 * of its tracing; closing the link is quick, and from then on nothing runs for the probe.
 */

#define SEMAPHORE_SHIFT 32		/* PERF_UPROBE_REF_CTR_OFFSET_SHIFT of the kernel */
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
static int uprobe_perf_open(const struct loader_probes *p, size_t i, bool is_return)
{
	int type = read_number(PMU "type"), bit = read_number(PMU "format/retprobe");
	struct perf_event_attr attr = {
		.size = PERF_ATTR_SIZE_VER1,	/* up to config2: nothing that 5.15 does not know */
		.type = (uint32_t)type,
		.config1 = (uintptr_t)p->path,
		.config2 = p->offsets[i],
	};
	/* Without a process an event is a CPU's. That only matters to its samples: the program runs
	 * for each hit on any CPU. */
	int cpu = p->pid ? -1 : sched_getcpu(), fd;

	if (type < 0 || bit < 0 || bit > 63)
		return -ENODEV;
	attr.config = (uint64_t)is_return << bit;
	if (p->semaphores)
		attr.config |= p->semaphores[i] << SEMAPHORE_SHIFT;
	fd = (int)syscall(SYS_perf_event_open, &attr, p->pid ? p->pid : -1, cpu, -1,
			  PERF_FLAG_FD_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

/* fds that are closed in the background: a thread for each batch, of which there are few. */
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
	struct loader_fds links[GP_GROUPS];	/* of the uprobes */
	struct closer {			/* of a generation of a group that is taken off */
		pthread_t thread;
		bool running;
		struct loader_fds links;
		uint64_t *gone_ns;	/* set once they are gone, unless there are new ones */
		uint64_t before_ns;	/* what it was */
	} closers[GP_GROUPS * GP_GENERATIONS];
	unsigned int generation[GP_GROUPS];	/* of links that are made now */
	struct loader_fds events;	/* WAY_PERF: the events that links belong to */
	struct close_later *closing;	/* events whose links are gone */
	struct gp_counts before;	/* counted by the calibration */
	uint64_t call_cost_ns, nested_cost_ns, step_cost_ns;	/* see loader_facts */
	uint8_t returns;		/* GP_RETURNS_* */
};

/* The requirements of a way of attaching beside those of all ways. */
struct loader_needs {
	const char *what;		/* "uprobe multi links" */
	const char *since;		/* the Linux that brought it: "6.6" */
	bool admin;			/* CAP_SYS_ADMIN */
};

static const struct {
	const char *name;
	struct loader_needs needs;
	unsigned int probes_max;	/* see loader_facts */
	unsigned int attach_type;	/* that programs are loaded for; 0: links of perf events */
} ways[] = {
	[WAY_AUTO] = { .name = "auto" },
	[WAY_SESSION] = {
		.name = "session", .attach_type = LINK_UPROBE_SESSION,
		.needs = { .what = "uprobe session links", .since = "6.13" },
	},
	[WAY_MULTI] = {
		.name = "multi", .attach_type = LINK_UPROBE_MULTI,
		.needs = { .what = "uprobe multi links", .since = "6.6" },
	},
	[WAY_PERF] = {
		.name = "perf", .probes_max = PERF_PROBES_MAX,
		.needs = { .what = "uprobe events with BPF cookies", .since = "5.15",
			   .admin = true },
	},
};

const char *loader_way_name(enum loader_way way)
{
	return ways[way].name;
}

/* ---- why BPF programs cannot be loaded or attached here, as well as can be known ------------ */

/* Errors that no other way of attaching would mend. */
static const struct reason {
	int err;
	const char *text;
} reasons[] = {
	{ EPERM, "the kernel denies it although no capability is missing; check kernel lockdown, "
		 "LSM policy and user namespaces" },
	{ ENOMEM, "out of memory; give a smaller --ring-size" },
	{ EMFILE, "too many open files; raise the limit (ulimit -n)" },
};

static const struct reason *final_reason(int err)
{
	for (size_t i = 0; i < sizeof(reasons) / sizeof(reasons[0]); i++)
		if (err == -reasons[i].err)
			return &reasons[i];
	return NULL;
}

/* "6.12.1-amd64" is older than "6.13". */
static bool is_older(const char *release, const char *since)
{
	unsigned int is[2] = { 0 }, wants[2] = { 0 };

	sscanf(release, "%u.%u", &is[0], &is[1]);
	sscanf(since, "%u.%u", &wants[0], &wants[1]);
	return is[0] < wants[0] || (is[0] == wants[0] && is[1] < wants[1]);
}

/* Logs why no way worked; `last` was tried last, as the only one unless `all`. The errno to return:
 * EPERM, ENOTSUP, ... */
static int loader_why(int err, const struct loader_needs *last, bool all)
{
	const struct reason *reason = final_reason(err);
	const struct caps_need *cap = caps_missing();
	struct utsname un = { 0 };

	uname(&un);
	if (cap) {
		log_error("cannot load BPF programs: %s is missing (needed to %s); run as root or "
			  "with sudo", cap->name, cap->why);
		return EPERM;
	}
	if ((err == -EACCES || err == -EPERM) && last->admin && !caps_have(CAP_SYS_ADMIN)) {
		log_error("cannot attach: CAP_SYS_ADMIN is missing (needed for %s, the only way to "
			  "probe that %s); run as root or with sudo", last->what,
			  all ? "this kernel has" : "was asked for");
		return EPERM;
	}
	if (access("/proc/self/maps", R_OK)) {
		log_error("cannot attach: procfs is not mounted on /proc, which has the processes "
			  "and their libraries; mount -t proc proc /proc");
		return ENOTSUP;
	}
	if (access("/sys/kernel/btf/vmlinux", R_OK)) {
		log_error("cannot load BPF programs: kernel %s has no BTF "
			  "(/sys/kernel/btf/vmlinux); use one with CONFIG_DEBUG_INFO_BTF, or "
			  "measure without probes (--attach none)", un.release);
		return ENOTSUP;
	}
	if (reason) {
		log_error("cannot load BPF programs: %s", reason->text);
		return reason->err;
	}
	if (!is_older(un.release, last->since))
		log_error("cannot attach: kernel %s should have %s and refuses them (%s); -v shows "
			  "what it refuses, please report it", un.release, last->what,
			  strerror(-err));
	else
		log_error("cannot attach: kernel %s lacks %s, which came with Linux %s (%s)%s",
			  un.release, last->what, last->since, strerror(-err),
			  all ? "; probes need that kernel or a later one, --attach none does "
				"without" : "; --attach auto takes the best way that there is");
	return ENOTSUP;
}

/*
 * ---- from probes of a file to links ------------------------------------------------------------
 *
 * Which programs stand for a call in each way, the content of their cookies, and the order in
 * which they are attached. Knows nothing of files beyond a path.
 */

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

/* The programs of a call that is followed to its return, in the order they are attached: a
 * session's, on entries and returns; else returns first: an entry seen without its return would
 * look like a call that hangs. */
static size_t choose_programs(const struct loader *l, struct bpf_program *progs[2])
{
	const struct gpuprof_bpf *skel = l->skel;

	progs[0] = l->way == WAY_SESSION ? skel->progs.call_session : skel->progs.call_return;
	progs[1] = skel->progs.call_entry;
	return l->way == WAY_SESSION ? 1 : 2;
}

/* A session may ready a return before its program refuses that: entries have a link without. */
static unsigned int entry_type(const struct loader *l)
{
	return l->way == WAY_SESSION ? LINK_UPROBE_MULTI : ways[l->way].attach_type;
}

static int add_perf_links(struct loader *l, int prog_fd, bool is_return,
			  const struct loader_probes *p)
{
	int err = 0;

	for (size_t i = 0; i < p->n && !err; i++) {
		LIBBPF_OPTS(bpf_link_create_opts, opts, .perf_event.bpf_cookie = p->rows[i]);
		int event_fd = uprobe_perf_open(p, i, is_return), fd;

		err = keep_fd(&l->events, event_fd);
		if (err)
			break;
		fd = bpf_link_create(prog_fd, event_fd, BPF_PERF_EVENT, &opts);
		err = keep_fd(&l->links[p->group], fd < 0 ? -errno : fd);
	}
	return err;
}

/* Links at all of these probes (rows are cookies here). 0 or -errno: then none was added. */
static int attach_links(struct loader *l, const struct loader_probes *p)
{
	struct loader_fds *links = &l->links[p->group];
	size_t before = links->n, events = l->events.n, n;
	unsigned int type = p->is_entry_only ? entry_type(l) : ways[l->way].attach_type;
	struct bpf_program *progs[2] = { l->skel->progs.call_entry };
	int err = 0;

	n = p->is_entry_only ? 1 : choose_programs(l, progs);
	for (size_t i = 0; i < n && !err; i++) {
		bool is_return = progs[i] == l->skel->progs.call_return;
		int prog_fd = bpf_program__fd(progs[i]);

		if (is_return && l->returns == GP_RETURNS_NONE)
			continue;
		err = type ? keep_fd(links, link_uprobes(prog_fd, type, is_return, p)) :
			     add_perf_links(l, prog_fd, is_return, p);
	}
	if (!err)
		return 0;
	link_close_all(links->v + before, links->n - before);
	links->n = before;
	close_later_add(&l->closing, l->events.v + events, l->events.n - events);
	l->events.n = events;
	return err;
}

/* ---- groups of links that are taken off ------------------------------------------------------ */

#define QUIET_NS (20 * NS_PER_MS)	/* most launches that have begun return by then */

static void *close_quiet(void *arg)
{
	struct closer *c = arg;
	struct timespec wait = { .tv_nsec = QUIET_NS };

	while (nanosleep(&wait, &wait) && errno == EINTR)
		;
	link_close_all(c->links.v, c->links.n);
	__atomic_compare_exchange_n(c->gone_ns, &c->before_ns, time_now_ns(), false,
				    __ATOMIC_RELEASE, __ATOMIC_RELAXED);
	return NULL;
}

static void wait_for_closer(struct closer *c)
{
	if (c->running)
		pthread_join(c->thread, NULL);
	c->running = false;
	VEC_FREE(&c->links);
}

static unsigned int generation_of(const struct loader *l, unsigned int group)
{
	return group * GP_GENERATIONS + l->generation[group];
}

void loader_detach_group(struct loader *l, unsigned int group)
{
	unsigned int generation = generation_of(l, group);
	struct closer *c = &l->closers[generation];

	if (!l->links[group].n)
		return;
	__atomic_or_fetch(&l->skel->bss->quiet, 1ull << generation, __ATOMIC_RELEASE);
	*c = (struct closer){ .links = l->links[group],
			      .gone_ns = (uint64_t *)&l->skel->bss->gone_ns[group],
			      .before_ns = l->skel->bss->gone_ns[group] };
	l->links[group] = (struct loader_fds){ 0 };
	l->generation[group] ^= 1;
	c->running = !pthread_create(&c->thread, NULL, close_quiet, c);
	if (!c->running)
		close_quiet(c);
}

static void detach_probes(struct loader *l)
{
	struct loader_fds all = { 0 };

	for (unsigned int i = 0; i < GP_GROUPS * GP_GENERATIONS; i++)
		wait_for_closer(&l->closers[i]);
	for (unsigned int i = 0; i < GP_GROUPS; i++) {
		for (size_t k = 0; k < l->links[i].n; k++)
			keep_fd(&all, l->links[i].v[k]);	/* else it is closed, alone */
		VEC_FREE(&l->links[i]);
	}
	link_close_all(all.v, all.n);
	VEC_FREE(&all);
	close_later_add(&l->closing, l->events.v, l->events.n);
	VEC_FREE(&l->events);
}

/* The bits of the cookies of links of this group. Links of the generation that goes still end the
 * calls that they began. */
static uint64_t begin_generation(struct loader *l, unsigned int group)
{
	unsigned int generation = generation_of(l, group);

	if (!l->links[group].n) {
		wait_for_closer(&l->closers[generation]);	/* it went long ago */
		__atomic_store_n(&l->skel->bss->gone_ns[group], time_now_ns(), __ATOMIC_RELEASE);
		__atomic_and_fetch(&l->skel->bss->quiet, ~(1ull << generation), __ATOMIC_RELEASE);
	}
	return (uint64_t)generation << GP_COOKIE_GENERATION_SHIFT;
}

int loader_attach(struct loader *l, const struct loader_probes *p)
{
	uint64_t flags = p->pid ? GP_COOKIE_FILTERED : p->waits ? GP_COOKIE_WAITING : 0;
	uint64_t *cookies = calloc(p->n, sizeof(*cookies));
	struct loader_probes with_cookies = *p;
	int err;

	if (!cookies)
		return -ENOMEM;
	if (p->group)
		flags |= begin_generation(l, p->group);
	for (size_t i = 0; i < p->n; i++)
		cookies[i] = p->rows[i] | flags;
	with_cookies.rows = cookies;
	err = attach_links(l, &with_cookies);
	free(cookies);
	return err;
}

/*
 * ---- self-test ---------------------------------------------------------------------------------
 *
 * Functions of our own, probed as the target's will be: does a way attach here, and what does a
 * call cost? Reads its times off the thread's clock, not off the records.
 *
 * Do return probes kill processes under seccomp here? On x86-64 a probed function returns by a
 * system call from Linux 6.11 on, which filters did not know before 6.14 (and the fixes of 6.12
 * and 6.13); a filter kills for unknown calls. So a child of ours installs a filter that denies
 * all it does not need, or the strict mode, and calls a probed function.
 */

#define BATCHES 33
#define TRIAL_CALLS 3			/* the first hit may change how the next ones are taken */

/* A child's report; a child without one was killed. */
enum word { WORD_LIVES = 'l', WORD_NO_SECCOMP = 'n', WORD_NO_RETURN = 'r' };

/* Probed: they return where they return to. With calls = 1 the first calls itself, nested. */
uintptr_t loader_probe_me(uintptr_t calls);
uintptr_t loader_step_me(uintptr_t unused);

/* write(2) and exit_group(2) of whatever architecture; nothing else. */
static int confine_by_filter(void)
{
	struct sock_filter deny[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_write, 2, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_exit_group, 1, 0),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog prog = { .len = sizeof(deny) / sizeof(deny[0]), .filter = deny };

	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &prog);
}

static int confine_strictly(void)
{
	return prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT);
}

static const struct trial {
	const char *name;
	int (*confine)(void);
	long exit_call;		/* the only one the mode allows */
} trials[] = {
	{ "a filter", confine_by_filter, SYS_exit_group },
	{ "the strict mode", confine_strictly, SYS_exit },
};

/* Always from one place, so that the address it returns to is the same but for a return probe. */
static __attribute__((noinline)) uintptr_t call_me(void)
{
	uintptr_t to = loader_probe_me(0);

	__asm__ volatile("" : "+r"(to));
	return to;
}

/* The child: nothing here may need a system call that is denied. */
static _Noreturn void be_confined(const struct trial *t, int parent, uintptr_t bare)
{
	char word = WORD_LIVES;

	prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);	/* its death leaves no core */
	if (read(parent, &word, 1) != 1)
		_exit(1);
	word = t->confine() ? WORD_NO_SECCOMP : WORD_LIVES;
	for (int i = 0; i < TRIAL_CALLS; i++)
		if (call_me() == bare && word == WORD_LIVES)
			word = WORD_NO_RETURN;
	if (write(parent, &word, 1) != 1)
		word = 0;
	for (;;)
		syscall(t->exit_call, 0);
}

static void unfollow(struct loader *l, pid_t pid)
{
	bpf_map_delete_elem(bpf_map__fd(l->skel->maps.pids), &pid);
}

/* Probes the child, releases it and reads its report. 0 or -errno of attaching. */
static int attend(struct loader *l, struct loader_probes *p, int child, char *word)
{
	int err = loader_follow(l, p->pid);

	if (!err)
		err = loader_attach(l, p);
	if (!err && (send(child, "g", 1, MSG_NOSIGNAL) != 1 || recv(child, word, 1, 0) != 1))
		*word = 0;
	return err;
}

/* The child exits in any case: on request, or when its parent's end of the pipe is closed. */
static int run_trial(struct loader *l, const struct trial *t, struct loader_probes *p, char *word)
{
	uintptr_t bare = call_me();
	int ends[2], err;

	*word = 0;
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends))
		return 0;
	p->pid = fork();
	if (!p->pid) {
		close(ends[0]);
		be_confined(t, ends[1], bare);
	}
	close(ends[1]);
	err = p->pid > 0 ? attend(l, p, ends[0], word) : 0;
	close(ends[0]);
	if (p->pid > 0)
		waitpid(p->pid, NULL, 0);	/* fails where SIGCHLD is ignored: as well */
	unfollow(l, p->pid);	/* its records are in the rings before anything reads them */
	return err;
}

/* Do processes under seccomp survive return probes? 1, 0 (no, or unknown) or -errno of
 * attaching. Leaves links. */
static int test_returns(struct loader *l, struct loader_probes probes)
{
	for (size_t i = 0; i < sizeof(trials) / sizeof(trials[0]); i++) {
		char word;
		int err = run_trial(l, &trials[i], &probes, &word);

		if (err)
			return err;
		if (word != WORD_LIVES && word != WORD_NO_SECCOMP) {
			log_debug("a child under %s %s", trials[i].name, word == WORD_NO_RETURN ?
				  "met no return probe" : "did not live through a return probe");
			return 0;
		}
	}
	return 1;
}

#define FUNCTION(name, code)                                                                    \
	__asm__(".text\n.globl " name "\n.type " name ", %function\n" name ":\n" code            \
		".size " name ", . - " name "\n")

/* Begins with an instruction that every kernel emulates (of x86-64 as the functions of the real
 * libraries do; arm64 steps nop up to 6.12), whatever the compiler would make of it; and one whose
 * first instruction the kernel single-steps. Both return where they return to. */
#if defined(__x86_64__)
FUNCTION("loader_probe_me", "push %rbp\ntest %rdi, %rdi\njz 1f\nxor %edi, %edi\n"
			    "call loader_probe_me\n1: mov 8(%rsp), %rax\npop %rbp\nret\n");
FUNCTION("loader_step_me", "mov (%rsp), %rax\nret\n");
#else
FUNCTION("loader_probe_me", "b 1f\n1: stp x29, x30, [sp, #-16]!\ncbz x0, 2f\nmov x0, #0\n"
			    "bl loader_probe_me\n2: ldp x29, x30, [sp], #16\nmov x0, x30\nret\n");
FUNCTION("loader_step_me", "mov x0, x30\nret\n");
#endif

struct place {
	uintptr_t address;
	uint64_t offset;
};

static int find_place(struct dl_phdr_info *info, size_t size, void *ctx)
{
	struct place *place = ctx;
	uint64_t vaddr = place->address - info->dlpi_addr;

	(void)size;
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *ph = &info->dlpi_phdr[i];

		if (ph->p_type == PT_LOAD && vaddr >= ph->p_vaddr &&
		    vaddr < ph->p_vaddr + ph->p_filesz)
			place->offset = vaddr - ph->p_vaddr + ph->p_offset;
	}
	return 1;		/* the executable comes first; look no further */
}

/* The file offset of a function in this executable, stripped or not. */
static uint64_t offset_of(uintptr_t (*fn)(uintptr_t))
{
	struct place place = { .address = (uintptr_t)fn };

	dl_iterate_phdr(find_place, &place);
	return place.offset;
}

struct timing {
	uintptr_t (*fn)(uintptr_t calls);
	uintptr_t nested;	/* its argument */
	unsigned int calls;	/* of a batch */
};

static int compare_ns(const void *a, const void *b)
{
	return num_compare(*(const uint64_t *)a, *(const uint64_t *)b);
}

/* The CPU time of one call in ns: the lower quartile of some batches, since what runs beside makes
 * some of them dearer, and the least is luck. */
static uint64_t time_calls(const struct timing *t)
{
	uint64_t ns[BATCHES];

	for (int b = 0; b < BATCHES; b++) {
		uint64_t start_ns = time_thread_cpu_ns();

		for (unsigned int i = 0; i < t->calls; i++)
			t->fn(t->nested);
		ns[b] = (time_thread_cpu_ns() - start_ns) / t->calls;
	}
	qsort(ns, BATCHES, sizeof(*ns), compare_ns);
	return ns[BATCHES / 4];
}

/* So few that their records fill less of the ring than wakes a reader; readers begin behind
 * them. */
static unsigned int batch_calls(const struct loader *l)
{
	enum { CALLS_MAX = 32, TIMINGS = 2, RECORD_BYTES = 128 };
	uint64_t room = l->skel->rodata->wake_bytes / (TIMINGS * BATCHES * RECORD_BYTES);

	return (unsigned int)num_max(num_min(room, CALLS_MAX), 1);
}

/* A function whose first instruction is single-stepped: while nothing is followed, what it costs
 * beside another is the step. */
static int calibrate(struct loader *l, const struct loader_probes *p)
{
	const struct timing one = { loader_probe_me, 0, batch_calls(l) },
			    two = { loader_probe_me, 1, one.calls },
			    stepped = { loader_step_me, 0, 1 };
	const uint64_t bare_one = time_calls(&one), bare_two = time_calls(&two);
	int err = loader_attach(l, p);

	if (err)
		return err;
	l->step_cost_ns = num_sub(time_calls(&stepped), time_calls(&(struct timing){
		loader_probe_me, 0, stepped.calls }));
	l->step_cost_ns = num_max(l->step_cost_ns, 1);	/* 0: it could not be measured */
	err = loader_follow(l, getpid());
	if (err)
		return err;
	l->call_cost_ns = num_sub(time_calls(&one), bare_one);
	l->nested_cost_ns = num_sub(num_sub(time_calls(&two), bare_two), l->call_cost_ns);
	return 0;
}

static void set_returns(struct loader *l, uint8_t returns)
{
	l->returns = returns;
	l->skel->bss->returns = returns;
}

/*
 * Sets the returns that are followed and the costs. returns_kill: as if return probes killed
 * processes under seccomp. 0 or -errno. Leaves no link and no state of ours.
 */
static int selftest_run(struct loader *l, bool returns_kill)
{
	uint64_t offsets[] = { offset_of(loader_probe_me), offset_of(loader_step_me) };
	uint64_t rows[] = { catalog_first_row(0), catalog_first_row(0) };
	struct loader_probes p = { .path = "/proc/self/exe", .offsets = offsets, .rows = rows,
				   .n = 2, .pid = getpid() };
	int harmless, err, me;

	set_returns(l, GP_RETURNS_ALL);	/* whatever another way came to */
	harmless = returns_kill ? 0 : test_returns(l, p);
	/* A return that cannot be refused call by call is not probed at all: the kernel readies it
	 * in every process that meets the probe. */
	if (harmless <= 0)
		set_returns(l, l->way == WAY_SESSION ? GP_RETURNS_NO_SECCOMP : GP_RETURNS_NONE);
	detach_probes(l);	/* a link with another's filter has the kernel ready the return */
	err = harmless < 0 ? harmless : calibrate(l, &p);
	loader_detach(l);
	/* Nothing more is sent of this thread. */
	me = (int)syscall(SYS_pidfd_open, getpid(), 0);
	if (me >= 0)
		bpf_map_delete_elem(bpf_map__fd(l->skel->maps.threads), &me);
	io_close(&me);
	unfollow(l, getpid());
	return err;
}

/* ---- the scheduler's hooks ------------------------------------------------------------------ */

/* Where the kernel counts how often interrupts were disabled (in 7.x it does), that count has
 * the bits in which it counted the hard interrupts and NMIs that it is in, and these have
 * others. */
#define IN_INTERRUPT 0x00ff0100u
#define IN_INTERRUPT_MOVED 0x1f000100u

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
		skel->rodata->in_interrupt =
			btf__find_by_name_kind(kernel, "local_interrupt_disable_state",
					       BTF_KIND_VAR) < 0 ? IN_INTERRUPT :
								   IN_INTERRUPT_MOVED;
	btf__free(kernel);
	bpf_program__set_autoload(skel->progs.off_switch, true);
	bpf_program__set_autoload(knows ? skel->progs.off_waking : skel->progs.off_waking_any,
				  true);
	bpf_program__set_autoload(skel->progs.task_off, true);
}

#define STACK_RING_BYTES (8u << 20)
#define STACKS_SENT 32768u
#define STACK_PROCESSES 16384u
#define TYPES_KNOWN 65536u
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

static void create_maps(struct bpf_map *const *maps, size_t n, bool wanted)
{
	for (size_t i = 0; i < n; i++)
		bpf_map__set_autocreate(maps[i], wanted);
}

/* Without stacks the programs' way to these maps is dead code. */
static void configure_stacks(struct gpuprof_bpf *skel, uint32_t bytes)
{
	struct bpf_map *maps[] = { skel->maps.stacks, skel->maps.copies, skel->maps.pythons,
				   skel->maps.askers, skel->maps.sent };

	create_maps(maps, sizeof(maps) / sizeof(maps[0]), bytes);
	skel->rodata->stack_bytes = bytes;
	if (!bytes)
		return;
	bpf_map__set_max_entries(skel->maps.stacks, STACK_RING_BYTES);
	bpf_map__set_max_entries(skel->maps.sent, STACKS_SENT);
	bpf_map__set_max_entries(skel->maps.code, STACK_PROCESSES);
	bpf_map__set_max_entries(skel->maps.askers, STACK_PROCESSES);
}

/* The same of operators. */
static void configure_ops(struct gpuprof_bpf *skel, bool follow, bool shapes)
{
	struct bpf_map *maps[] = { skel->maps.ops, skel->maps.op_buf, skel->maps.types,
				   skel->maps.named };

	create_maps(maps, sizeof(maps) / sizeof(maps[0]), follow);
	skel->rodata->follow_ops = follow;
	skel->rodata->follow_shapes = follow && shapes;
	if (!follow)
		return;
	for (unsigned int i = 0; i < GP_GEMM_ROWS; i++)
		*(struct gp_gemm_row *)&skel->rodata->gemms[i] = gemm_wire_row(i);
	bpf_map__set_max_entries(skel->maps.types, TYPES_KNOWN);
	bpf_map__set_max_entries(skel->maps.named, TYPES_KNOWN);
	bpf_program__set_autoload(skel->progs.task_ops, true);
}

/* The program of probes without returns. */
static void configure_entries(const struct loader *l)
{
	struct gpuprof_bpf *skel = l->skel;

	bpf_program__set_autoload(skel->progs.call_entry, true);
	bpf_program__set_expected_attach_type(skel->progs.call_entry, entry_type(l));
}

static void configure(struct loader *l, const struct loader_options *o)
{
	struct gpuprof_bpf *skel = l->skel;
	struct bpf_program *always[] = { skel->progs.task_fork, skel->progs.task_exec,
					 skel->progs.task_exit, skel->progs.task_states,
					 skel->progs.task_files, skel->progs.task_regs };
	struct bpf_program *calls[2];
	size_t n = choose_programs(l, calls);

	for (size_t i = 0; i < sizeof(always) / sizeof(always[0]); i++)
		bpf_program__set_autoload(always[i], true);
	if (l->off_cpu)
		loader_choose_sched(skel);
	for (size_t i = 0; i < n; i++) {
		bpf_program__set_autoload(calls[i], true);
		bpf_program__set_expected_attach_type(calls[i], ways[l->way].attach_type);
	}
	configure_ops(skel, o->ops, o->shapes);
	if (o->ops || o->marks)
		configure_entries(l);
	bpf_map__set_max_entries(skel->maps.calls, (uint32_t)o->ring_bytes);
	configure_stacks(skel, o->stack_bytes);
	skel->rodata->all_stacks = o->all_stacks;
	skel->rodata->follow_all = o->follow_all;
	skel->rodata->follow_children = o->follow_children;
	skel->rodata->wake_bytes = o->ring_bytes / 4;
	for (unsigned int i = 0; i < catalog_n_rows(); i++)
		if (catalog_row(i))
			catalog_wire_row(catalog_row(i), (struct gp_row *)&skel->rodata->rows[i]);
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
		err = selftest_run(l, o->returns_kill);
	if (!err)
		err = loader_counts(l, &l->before);
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
		if (!err || final_reason(err))
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
	if (!err || !l->off_cpu || final_reason(err))
		return err;
	l->off_cpu = false;
	o->way = asked;
	err = try_each_way(l, o);
	if (!err)
		log_warn("this kernel refuses the scheduler's hooks: why threads are off the CPU "
			 "is not known; -v shows what it refuses");
	return err;
}

struct loader *loader_new(const struct loader_options *o)
{
	struct loader *l = calloc(1, sizeof(*l));
	struct loader_options tried = *o;
	int err;

	if (!l)
		return NULL;
	libbpf_set_print(print_libbpf);
	/* BPF sees the host's pids; inside a namespace no pid that we or a user know is one of
	 * those. */
	if (proc_pids_are_hosts()) {
		err = try_ways(l, &tried);
		if (!err)
			return l;
		err = loader_why(err, &ways[tried.way].needs, o->way == WAY_AUTO);
	} else {
		log_error("cannot profile from inside a container: it has pids of its own; run "
			  "gpuprof on the host, or the container with --pid=host");
		err = ENOTSUP;
	}
	close_later_wait(&l->closing);
	free(l);
	errno = err;
	return NULL;
}

void loader_detach(struct loader *l)
{
	if (l->events.n >= MANY_EVENTS)
		log_info("taking %zu probes off, which this kernel does one by one", l->events.n);
	detach_probes(l);
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
		.probes_max = ways[l->way].probes_max,
		.calls_fd = bpf_map__fd(l->skel->maps.calls),
		.tasks_fd = bpf_map__fd(l->skel->maps.tasks),
		.stacks_fd = l->skel->rodata->stack_bytes ? bpf_map__fd(l->skel->maps.stacks) : -1,
		.call_cost_ns = l->call_cost_ns,
		.nested_cost_ns = l->nested_cost_ns,
		.step_cost_ns = l->step_cost_ns,
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

bool loader_follows(const struct loader *l, pid_t pid)
{
	uint32_t key = (uint32_t)pid, parent;

	return !bpf_map_lookup_elem(bpf_map__fd(l->skel->maps.pids), &key, &parent);
}

void loader_hand_over(struct loader *l)
{
	__atomic_store_n(&l->skel->bss->handed_over, 1, __ATOMIC_RELEASE);
}

unsigned int loader_layout(struct loader *l, const struct gp_layout *layout)
{
	struct gp_layout *known = (struct gp_layout *)l->skel->bss->layouts;

	for (unsigned int i = 1; i < GP_LAYOUTS; i++) {
		if (!known[i].types)
			known[i] = *layout;	/* no probe refers to it yet */
		if (!memcmp(&known[i], layout, sizeof(*layout)))
			return i;
	}
	return 0;
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

/* ---- what the programs keep ----------------------------------------------------------------- */

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

int loader_each_op(struct loader *l, void (*fn)(void *, const void *, size_t), void *ctx)
{
	if (!l->skel->rodata->follow_ops)
		return 0;
	return read_records(l->skel->progs.task_ops, sizeof(struct gp_op), fn, ctx);
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

int loader_look(struct loader *l, const uint32_t *pids, size_t n, loader_regs_fn fn, void *ctx)
{
	int err;

	if (!proc_pids_are_hosts())
		return -ENOTSUP;
	err = read_regs(l->skel, pids, n, fn, ctx);
	for (size_t i = 0; i < n; i++)
		bpf_map_delete_elem(bpf_map__fd(l->skel->maps.looked_at), &pids[i]);
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
