// SPDX-License-Identifier: BSD-3-Clause
/*
 * Loads the BPF object in the best way this kernel offers, and keeps its links. A way counts as
 * offered only when its programs load and a probe on ourselves attaches: some kernels load what
 * they then refuse to attach.
 */
#include "probe/loader.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <link.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "base/time.h"
#include "base/vec.h"
#include "gpuprof.skel.h"
#include "probe/catalog.h"
#include "probe/loader_why.h"
#include "probe/uprobe_link.h"

struct loader {
	struct gpuprof_bpf *skel;
	enum loader_way way;
	enum loader_detail detail;
	VEC(int) links;			/* of the uprobes */
	VEC(struct gp_tally_key) slots;	/* DETAIL_COUNT: what each one counts */
	struct gp_counts before;	/* counted by the calibration */
	uint64_t call_cost_ns, nested_cost_ns;
};

static const char *const way_names[] = {
	[WAY_AUTO] = "auto", [WAY_SESSION] = "session", [WAY_MULTI] = "multi",
};

const char *loader_way_name(enum loader_way way)
{
	return way_names[way];
}

static int print_libbpf(enum libbpf_print_level level, const char *fmt, va_list ap)
{
	char line[1024];

	/* What fails here is expected while ways are tried; loader_new says what matters. */
	if (log_threshold < LOG_DEBUG || level == LIBBPF_DEBUG)
		return 0;
	vsnprintf(line, sizeof(line), fmt, ap);
	line[strcspn(line, "\n")] = '\0';
	log_debug("libbpf: %s", line);
	return 0;
}

static void configure(struct gpuprof_bpf *skel, const struct loader_options *o, enum loader_way way)
{
	struct bpf_program *always[] = { skel->progs.task_fork, skel->progs.task_exec,
					 skel->progs.task_exit, skel->progs.task_states,
					 skel->progs.task_files };

	for (size_t i = 0; i < sizeof(always) / sizeof(always[0]); i++)
		bpf_program__set_autoload(always[i], true);
	bool count = o->detail == DETAIL_COUNT;

	bpf_program__set_autoload(skel->progs.count_entry, count);
	bpf_program__set_autoload(skel->progs.count_slot, count);
	bpf_program__set_autoload(skel->progs.call_session, !count && way == WAY_SESSION);
	bpf_program__set_autoload(skel->progs.call_entry, !count && way == WAY_MULTI);
	bpf_program__set_autoload(skel->progs.call_return, !count && way == WAY_MULTI);
	bpf_program__set_expected_attach_type(skel->progs.count_entry, LINK_UPROBE_MULTI);
	bpf_program__set_expected_attach_type(skel->progs.count_slot, LINK_UPROBE_MULTI);
	bpf_program__set_expected_attach_type(skel->progs.call_session, LINK_UPROBE_SESSION);
	bpf_program__set_expected_attach_type(skel->progs.call_entry, LINK_UPROBE_MULTI);
	bpf_program__set_expected_attach_type(skel->progs.call_return, LINK_UPROBE_MULTI);
	bpf_map__set_max_entries(skel->maps.calls, (uint32_t)o->ring_bytes);
	skel->rodata->record_calls = o->detail == DETAIL_CALL;
	skel->rodata->follow_all = o->follow_all;
	skel->rodata->follow_children = o->follow_children;
	skel->rodata->wake_bytes = o->ring_bytes / 4;
	for (unsigned int i = 0; i < catalog_n_rows(); i++)
		if (catalog_row(i))
			catalog_wire_row(catalog_row(i), (struct gp_row *)&skel->rodata->rows[i]);
}

/* What the self-test and the calibration probe: begins like the functions of the real libraries
 * (a push on x86-64), whatever the compiler would make of it. */
void loader_probe_me(void);
__asm__(".text\n.globl loader_probe_me\n.type loader_probe_me, %function\nloader_probe_me:\n"
#if defined(__x86_64__)
	"push %rbp\npop %rbp\nret\n"
#else
	"nop\nret\n"
#endif
	".size loader_probe_me, . - loader_probe_me\n");

/* The file offset of loader_probe_me in this executable, stripped or not. */
static int find_me(struct dl_phdr_info *info, size_t size, void *ctx)
{
	uint64_t vaddr = (uintptr_t)loader_probe_me - info->dlpi_addr, *offset = ctx;

	(void)size;
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *ph = &info->dlpi_phdr[i];

		if (ph->p_type == PT_LOAD && vaddr >= ph->p_vaddr &&
		    vaddr < ph->p_vaddr + ph->p_filesz)
			*offset = vaddr - ph->p_vaddr + ph->p_offset;
	}
	return 1;		/* the executable comes first; look no further */
}

/* What one call of loader_probe_me takes, in ns: the least of some batches. Few calls, so that
 * their records fit the smallest ring; whoever reads the rings begins behind them. */
static uint64_t time_calls(void)
{
	enum { BATCHES = 5, CALLS = 64 };
	uint64_t best = UINT64_MAX;

	for (int b = 0; b < BATCHES; b++) {
		uint64_t start = time_now_ns(), ns;

		for (int i = 0; i < CALLS; i++)
			loader_probe_me();
		ns = (time_now_ns() - start) / CALLS;
		best = ns < best ? ns : best;
	}
	return best;
}

static uint64_t more_than(uint64_t bare, uint64_t probed)
{
	return probed > bare ? probed - bare : 0;
}

/* Probes ourselves: does this way attach, and what does a call cost that is recorded, and one
 * that is hit in vain (as nested ones are; here, because we are not followed at first)? */
static int self_test(struct loader *l)
{
	uint64_t offset = 0, row = catalog_first_row(0), bare;
	uint32_t me = (uint32_t)getpid();
	struct loader_probes p = { .path = "/proc/self/exe", .offsets = &offset, .rows = &row,
				   .n = 1, .pid = getpid() };
	int err;

	dl_iterate_phdr(find_me, &offset);
	bare = time_calls();
	err = loader_attach(l, &p);
	if (!err) {
		l->nested_cost_ns = more_than(bare, time_calls());
		err = loader_follow(l, getpid());
	}
	if (!err)
		l->call_cost_ns = more_than(bare, time_calls());
	loader_detach(l);
	bpf_map_delete_elem(bpf_map__fd(l->skel->maps.pids), &me);
	return err ? err : loader_counts(l, &l->before);
}

static int try_way(struct loader *l, const struct loader_options *o, enum loader_way way)
{
	int err;

	l->skel = gpuprof_bpf__open();
	if (!l->skel)
		return -errno;
	l->way = o->detail == DETAIL_COUNT ? WAY_MULTI : way;	/* entries need no session */
	l->detail = o->detail;
	configure(l->skel, o, way);
	err = gpuprof_bpf__load(l->skel);
	if (!err)
		err = self_test(l);
	if (!err)
		err = gpuprof_bpf__attach(l->skel);
	if (!err)
		return 0;
	log_debug("attach way %s does not work here: %s", loader_way_name(way), strerror(-err));
	gpuprof_bpf__destroy(l->skel);
	l->skel = NULL;
	return err;
}

struct loader *loader_new(const struct loader_options *o)
{
	static const enum loader_way order[] = { WAY_SESSION, WAY_MULTI };
	struct loader *l = calloc(1, sizeof(*l));
	int err = -ENOTSUP;

	if (!l)
		return NULL;
	if (loader_why_not_here()) {
		free(l);
		errno = ENOTSUP;
		return NULL;
	}
	libbpf_set_print(print_libbpf);
	for (size_t i = 0; i < sizeof(order) / sizeof(order[0]); i++) {
		if (o->way != WAY_AUTO && o->way != order[i])
			continue;
		err = try_way(l, o, order[i]);
		if (!err)
			return l;
		if (loader_why_final(err))
			break;
	}
	err = loader_why(err);
	free(l);
	errno = err;
	return NULL;
}

void loader_detach(struct loader *l)
{
	link_close_all(l->links.v, l->links.n);
	VEC_FREE(&l->links);
	/* After the probes: until they are off, a thread that ends must be seen. */
	gpuprof_bpf__detach(l->skel);
}

void loader_free(struct loader *l)
{
	if (!l)
		return;
	loader_detach(l);
	VEC_FREE(&l->slots);
	gpuprof_bpf__destroy(l->skel);
	free(l);
}

enum loader_way loader_way(const struct loader *l)
{
	return l->way;
}

int loader_calls_fd(const struct loader *l)
{
	return bpf_map__fd(l->skel->maps.calls);
}

int loader_tasks_fd(const struct loader *l)
{
	return bpf_map__fd(l->skel->maps.tasks);
}

int loader_follow(struct loader *l, pid_t pid)
{
	uint32_t key = (uint32_t)pid, parent = 0;

	return bpf_map_update_elem(bpf_map__fd(l->skel->maps.pids), &key, &parent, BPF_ANY);
}

static int add_link(struct loader *l, struct bpf_program *prog, unsigned int type, bool is_return,
		    const struct loader_probes *p)
{
	int fd = link_uprobes(bpf_program__fd(prog), type, is_return, p), *slot;

	if (fd < 0)
		return fd;
	slot = VEC_PUSH(&l->links);
	if (!slot) {
		close(fd);
		return -ENOMEM;
	}
	*slot = fd;
	return 0;
}

/* The cookies of one file's links. DETAIL_COUNT with a process filter: a slot for each probe. */
static uint64_t *make_cookies(struct loader *l, const struct loader_probes *p, bool slots)
{
	uint64_t flags = p->pid ? GP_COOKIE_FILTERED : p->waits ? GP_COOKIE_WAITING : 0;
	uint64_t *cookies = calloc(p->n, sizeof(*cookies));

	for (size_t i = 0; cookies && i < p->n; i++) {
		struct gp_tally_key *key = slots ? VEC_PUSH(&l->slots) : NULL;

		cookies[i] = p->rows[i] | flags;
		if (!slots)
			continue;
		if (!key) {
			free(cookies);
			return NULL;
		}
		*key = (struct gp_tally_key){ .pid = (uint32_t)p->pid, .row = (uint32_t)p->rows[i] };
		cookies[i] = (l->slots.n - 1) | flags;
	}
	return cookies;
}

static int attach_links(struct loader *l, const struct loader_probes *p, bool slots)
{
	int err;

	if (l->detail == DETAIL_COUNT)
		return add_link(l, slots ? l->skel->progs.count_slot : l->skel->progs.count_entry,
				LINK_UPROBE_MULTI, false, p);
	if (l->way == WAY_SESSION)
		return add_link(l, l->skel->progs.call_session, LINK_UPROBE_SESSION, false, p);
	/* Returns first: an entry seen without its return would look like a call that hangs. */
	err = add_link(l, l->skel->progs.call_return, LINK_UPROBE_MULTI, true, p);
	if (err)
		return err;
	err = add_link(l, l->skel->progs.call_entry, LINK_UPROBE_MULTI, false, p);
	if (err)
		close(l->links.v[--l->links.n]);
	return err;
}

int loader_attach(struct loader *l, const struct loader_probes *p)
{
	bool slots = l->detail == DETAIL_COUNT && p->pid && l->slots.n + p->n <= GP_SLOTS_MAX;
	uint64_t *cookies = make_cookies(l, p, slots);
	struct loader_probes with_cookies = *p;
	int err;

	if (!cookies)
		return -ENOMEM;
	with_cookies.rows = cookies;
	err = attach_links(l, &with_cookies, slots);
	free(cookies);
	return err;
}

void loader_hand_over(struct loader *l)
{
	__atomic_store_n(&l->skel->bss->handed_over, 1, __ATOMIC_RELEASE);
}

/* What a task iterator writes, to read from. -errno. */
static int open_iterator(struct bpf_program *prog, const struct bpf_iter_attach_opts *opts)
{
	struct bpf_link *link = bpf_program__attach_iter(prog, opts);
	int fd;

	if (!link)
		return -errno;
	fd = bpf_iter_create(bpf_link__fd(link));
	bpf_link__destroy(link);
	return fd;
}

int loader_each_state(struct loader *l, void (*fn)(void *, const void *, size_t), void *ctx)
{
	struct { struct gp_call head; uint64_t words[GP_WORDS_LARGE]; } rec[32];
	int fd = open_iterator(l->skel->progs.task_states, NULL), err;
	size_t have = 0;
	ssize_t n;

	if (fd < 0)
		return fd;
	while ((n = read(fd, (char *)rec + have, sizeof(rec) - have)) != 0) {
		if (n < 0 && (errno == EINTR || errno == EAGAIN))
			continue;
		if (n < 0)
			break;
		have += (size_t)n;
		for (size_t i = 0; i < have / sizeof(rec[0]); i++)
			if (rec[i].head.pid != (uint32_t)getpid())	/* the calibration's */
				fn(ctx, &rec[i], sizeof(rec[i]));
		memmove(rec, (char *)rec + have / sizeof(rec[0]) * sizeof(rec[0]),
			have % sizeof(rec[0]));
		have %= sizeof(rec[0]);
	}
	err = n < 0 ? -errno : 0;
	close(fd);
	return err;
}

uint64_t loader_call_cost_ns(const struct loader *l)
{
	return l->call_cost_ns;
}

int loader_open_mappings(const struct loader *l, pid_t pid)
{
	union bpf_iter_link_info of = { .task.pid = (uint32_t)pid };
	struct bpf_iter_attach_opts opts;

	memset(&opts, 0, sizeof(opts));		/* libbpf refuses padding that is not 0 */
	opts.sz = sizeof(opts);
	opts.link_info = &of;
	opts.link_info_len = sizeof(of);
	return open_iterator(l->skel->progs.task_files, &opts);
}

int loader_each_tally(const struct loader *l, tally_fn fn, void *ctx)
{
	const struct tally_slots slots = { .map_fd = bpf_map__fd(l->skel->maps.slots),
					   .keys = l->slots.v, .n = l->slots.n };

	return tally_each(bpf_map__fd(l->skel->maps.tallies), &slots,
			  &(struct tally_sink){ fn, ctx });
}

uint64_t loader_nested_cost_ns(const struct loader *l)
{
	return l->nested_cost_ns;
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
