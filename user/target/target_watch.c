// SPDX-License-Identifier: BSD-3-Clause
/*
 * Mappings, execs, forks and exits from now on, by perf's side-band records. Owns the order of
 * events in time, the processes that a watch follows, and when a process has exited. Must not
 * know the purpose of a watch, nor open the files that are mapped.
 */
#include "target/target_watch.h"

#include <errno.h>
#include <linux/capability.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#include "base/io.h"
#include "base/log.h"
#include "base/map.h"
#include "base/num.h"
#include "base/time.h"
#include "base/vec.h"
#include "host/caps.h"
#include "target/target.h"

/* ---- one perf ring and its records ---------------------------------------------------------- */

/*
 * perf's ring buffer (perf_event_open(2)) and the layout of its side-band records. Every record
 * ends with the sample_id that open_event requests, which is one u64: the time.
 */

#define PERF_RING_RECORD_MAX 65536	/* header.size is 16 bits */

struct perf_ring {
	struct perf_event_mmap_page *page;	/* NULL: not mapped */
	const char *data;
	size_t size;			/* of data: a power of two */
	size_t mapped;
};

/* A decoded record; ev.text is owned by the record. */
struct perf_record {
	struct target_event ev;
	pid_t tid;		/* the thread it happened to; EXIT: tid == ev.pid is the leader */
	uint64_t order;		/* arrival: breaks ties of time */
	bool of_thread;		/* FORK: of a thread */
};

/* Maps the ring of a perf event with about `pages` pages (a power of two), fewer if the limit on
 * locked memory requires it. 0 or -errno. */
static int perf_ring_map(struct perf_ring *ring, int fd, size_t pages)
{
	size_t page_size = (size_t)sysconf(_SC_PAGESIZE);

	for (; pages; pages /= 2) {
		size_t mapped = (pages + 1) * page_size;
		/* Writable: else the kernel overwrites records that were not read yet. */
		void *at = mmap(NULL, mapped, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

		if (at != MAP_FAILED) {
			ring->page = at;
			ring->data = (const char *)at + page_size;
			ring->size = pages * page_size;
			ring->mapped = mapped;
			return 0;
		}
		if (errno != EPERM && errno != ENOMEM)
			break;
	}
	/* Here EPERM is the limit on locked memory, not a missing right. */
	return errno == EPERM ? -ENOBUFS : -errno;
}

struct task_body {		/* FORK, EXIT */
	struct perf_event_header header;
	uint32_t pid, ppid, tid, ptid;
	uint64_t time;
};

struct mmap2_body {
	struct perf_event_header header;
	uint32_t pid, tid;
	uint64_t addr, len, pgoff;
	uint32_t maj, min;
	uint64_t ino, ino_generation;
	uint32_t prot, flags;
	char filename[];
};

struct comm_body {
	struct perf_event_header header;
	uint32_t pid, tid;
	char comm[];
};

struct lost_body {
	struct perf_event_header header;
	uint64_t id, lost;
};

/* The string of a record's variable part, which must end before the time. */
static int take_text(const struct perf_event_header *header, size_t at, const char **text)
{
	const char *s = (const char *)header + at;
	size_t max = header->size - at - sizeof(uint64_t);

	if (!memchr(s, '\0', max))
		return 0;
	*text = strdup(s);
	return *text ? 1 : -ENOMEM;
}

static int decode_task(const void *raw, struct perf_record *out)
{
	const struct task_body *body = raw;
	bool fork = body->header.type == PERF_RECORD_FORK;

	out->ev.kind = fork ? TARGET_FORK : TARGET_EXIT;
	out->ev.pid = (pid_t)(fork ? body->ppid : body->pid);
	out->ev.child = fork ? (pid_t)body->pid : 0;
	out->tid = (pid_t)body->tid;
	out->of_thread = fork && body->pid == body->ppid;
	return 1;
}

static int decode_mmap2(const void *raw, struct perf_record *out)
{
	const struct mmap2_body *body = raw;
	const char *name = body->filename;

	/* The build id of a newer kernel's record would take ino's place; it was not requested. */
	if (body->header.misc & PERF_RECORD_MISC_MMAP_BUILD_ID)
		return 0;
	if (!body->ino || *name == '[' || !strncmp(name, "//anon", 6))
		return 0;
	out->ev.kind = TARGET_MMAP;
	out->ev.pid = (pid_t)body->pid;
	out->ev.start = body->addr;
	out->ev.len = body->len;
	out->ev.ino = body->ino;
	if (body->ino_generation)
		out->ev.file = map_hash(map_hash(map_hash((uint64_t)body->maj << 32 | body->min) ^
						 body->ino) ^ body->ino_generation);
	out->tid = (pid_t)body->tid;
	return take_text(raw, sizeof(*body), &out->ev.text);
}

static int decode_comm(const void *raw, struct perf_record *out)
{
	const struct comm_body *body = raw;

	if (!(body->header.misc & PERF_RECORD_MISC_COMM_EXEC))
		return 0;	/* only a new name */
	out->ev.kind = TARGET_EXEC;
	out->ev.pid = (pid_t)body->pid;
	out->tid = (pid_t)body->tid;
	return take_text(raw, sizeof(*body), &out->ev.text);
}

static int decode_lost(const void *raw, struct perf_record *out)
{
	const struct lost_body *body = raw;

	out->ev.kind = TARGET_MISSED;
	out->ev.missed = body->lost;
	return 1;
}

static const struct {
	uint32_t type;
	size_t size;		/* without text and time */
	int (*decode)(const void *raw, struct perf_record *out);
} kinds[] = {
	{ PERF_RECORD_FORK, sizeof(struct task_body), decode_task },
	{ PERF_RECORD_EXIT, sizeof(struct task_body), decode_task },
	{ PERF_RECORD_MMAP2, sizeof(struct mmap2_body), decode_mmap2 },
	{ PERF_RECORD_COMM, sizeof(struct comm_body), decode_comm },
	{ PERF_RECORD_LOST, sizeof(struct lost_body), decode_lost },
};

/* Pure: decodes the record in raw (header.size bytes, aligned). 1, 0: nothing that matters
 * (also: shorter than it must be), -ENOMEM. */
static int perf_ring_decode(const void *raw, struct perf_record *out)
{
	const struct perf_event_header *header = raw;

	*out = (struct perf_record){ 0 };
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		if (kinds[i].type != header->type)
			continue;
		if (header->size < kinds[i].size + sizeof(uint64_t))
			return 0;
		memcpy(&out->ev.time_ns, (const char *)raw + header->size - sizeof(uint64_t),
		       sizeof(uint64_t));
		return kinds[i].decode(raw, out);
	}
	return 0;
}

static void copy_out(const struct perf_ring *ring, uint64_t at, void *to, size_t len)
{
	size_t from = at & (ring->size - 1), first = num_min(ring->size - from, len);

	memcpy(to, ring->data + from, first);
	memcpy((char *)to + first, ring->data, len - first);
}

/*
 * Takes the next record that matters out of the ring; raw is PERF_RING_RECORD_MAX bytes of scratch,
 * aligned for u64. 1: *out is filled, 0: the ring is empty, -ENOMEM.
 */
static int perf_ring_next(struct perf_ring *ring, void *raw, struct perf_record *out)
{
	/* Acquire: the records are written before head moves past them. */
	uint64_t head = __atomic_load_n(&ring->page->data_head, __ATOMIC_ACQUIRE);
	uint64_t tail = ring->page->data_tail;
	struct perf_event_header header;
	int rc = 0;

	while (!rc && head - tail >= sizeof(header)) {
		copy_out(ring, tail, &header, sizeof(header));
		if (header.size < sizeof(header) || header.size > head - tail) {
			tail = head;	/* the rest cannot be separated */
			*out = (struct perf_record){ .ev = {
				.kind = TARGET_MISSED, .missed = 1, .time_ns = time_now_ns(),
			} };
			rc = 1;
			break;
		}
		copy_out(ring, tail, raw, header.size);
		tail += header.size;
		rc = perf_ring_decode(raw, out);
	}
	/* Release: the kernel reuses the space only after it was copied. */
	__atomic_store_n(&ring->page->data_tail, tail, __ATOMIC_RELEASE);
	return rc;
}

/* ---- the processes that are followed -------------------------------------------------------- */

/*
 * Of a watch of the whole host: roots, and all below them, by fork and exit events, and by /proc
 * where some were lost. A reused number is another process.
 */
struct target_family {
	struct map root_of;	/* member -> its root */
	struct map known_ns;	/* member -> CLOCK_MONOTONIC: it had begun by then */
};

/* A process that begins so long after a member was known has reused its number; procfs has
 * starts to 10 ms. */
#define OTHER_NS (100 * NS_PER_MS)

static void target_family_forget(struct target_family *f, pid_t pid)
{
	map_del(&f->root_of, (uint64_t)pid);
	map_del(&f->known_ns, (uint64_t)pid);
}

static void target_family_free(struct target_family *f)
{
	map_free(&f->root_of);
	map_free(&f->known_ns);
}

/* 0: it is not followed. */
static pid_t target_family_root(const struct target_family *f, pid_t pid)
{
	const struct map_slot *slot = map_find(&f->root_of, (uint64_t)pid);

	return slot ? (pid_t)slot->value : 0;
}

/* Follows pid, which had begun by known_ns. 0 or -ENOMEM. */
static int target_family_add(struct target_family *f, pid_t pid, pid_t root, uint64_t known_ns)
{
	struct map_slot *of = map_put(&f->root_of, (uint64_t)pid, NULL);
	struct map_slot *known = map_put(&f->known_ns, (uint64_t)pid, NULL);

	if (!of || !known) {
		target_family_forget(f, pid);
		return -ENOMEM;
	}
	of->value = (uint64_t)root;
	known->value = known_ns;
	return 0;
}

/* Another process was created with this number: a member that was known before has exited. */
static void target_family_note_other(struct target_family *f, pid_t pid, uint64_t made_ns)
{
	const struct map_slot *known = map_find(&f->known_ns, (uint64_t)pid);

	if (known && known->value < made_ns)
		target_family_forget(f, pid);
}

struct joining {
	struct target_family *f;
	pid_t root;
	VEC(pid_t) new;		/* whose children are to be looked for */
};

static int join(void *ctx, pid_t pid)
{
	struct joining *j = ctx;
	pid_t *slot;

	if (target_family_root(j->f, pid))
		return 0;
	slot = VEC_PUSH(&j->new);
	if (!slot)
		return -ENOMEM;
	*slot = pid;
	return target_family_add(j->f, pid, j->root, time_now_ns());
}

/* Follows pid and its present descendants; the caller gets events of children born meanwhile. 0 or
 * -ENOMEM. The children of each are less to read than /proc; where the kernel does not list them
 * that is read. */
static int target_family_add_root(struct target_family *f, pid_t pid)
{
	struct joining j = { .f = f, .root = pid };
	int err = target_family_add(f, pid, pid, time_now_ns());

	if (!err)
		err = target_each_child(pid, join, &j);
	for (size_t i = 0; i < j.new.n && err != -ENOMEM && err != -ENOENT; i++)
		err = target_each_child(j.new.v[i], join, &j);
	if (err == -ENOENT)
		err = target_each_descendant(pid, join, &j);
	VEC_FREE(&j.new);
	return err == -ENOMEM ? err : 0;
}

struct look {
	struct target_family *f;
	const struct target_tree *tree;
	VEC(pid_t) members;	/* that were before */
	struct map link_of;	/* process -> its struct target_link */
};

static int list_members(struct look *k)
{
	const struct map *all = &k->f->root_of;

	for (size_t i = 0; i < k->tree->links.n; i++) {
		const struct target_link *l = &k->tree->links.v[i];
		struct map_slot *slot = map_put(&k->link_of, (uint64_t)l->pid, NULL);

		if (!slot)
			return -ENOMEM;
		slot->value = (uintptr_t)l;
	}
	for (size_t i = 0; i < all->cap; i++) {
		pid_t *member = all->slot[i].used ? VEC_PUSH(&k->members) : NULL;

		if (!member && all->slot[i].used)
			return -ENOMEM;
		if (member)
			*member = (pid_t)all->slot[i].key;
	}
	return 0;
}

static void report_exits(struct look *k, void (*ended)(void *, pid_t, pid_t, bool), void *ctx)
{
	for (size_t i = 0; i < k->members.n; i++) {
		pid_t pid = k->members.v[i], root = target_family_root(k->f, pid);
		const struct map_slot *known = map_find(&k->f->known_ns, (uint64_t)pid);
		const struct target_link *l = map_pointer(&k->link_of, (uint64_t)pid);
		bool is_other = l && known && l->start_ns > known->value + OTHER_NS;

		if (l && !is_other && !l->has_ended)
			continue;
		if (is_other)
			target_family_forget(k->f, pid);
		ended(ctx, pid, root, is_other);
	}
}

/* Until a pass finds no new process: pids are not in the order of birth. */
static int add_below(struct look *k)
{
	uint64_t now_ns = time_now_ns();
	size_t before;
	int err = 0;

	do {
		before = k->f->root_of.n;
		for (size_t i = 0; i < k->tree->links.n && !err; i++) {
			const struct target_link *l = &k->tree->links.v[i];
			pid_t root = target_family_root(k->f, l->parent);

			if (root && !target_family_root(k->f, l->pid))
				err = target_family_add(k->f, l->pid, root, now_ns);
		}
	} while (!err && k->f->root_of.n != before);
	return err;
}

/*
 * After forks and exits were lost. Processes below a member are followed; `ended` is called for
 * each member that does not exist any more. is_other: another process has its number, and it is
 * forgotten; else the caller is to check, for it may only be its first thread that has exited. 0
 * or -errno.
 */
static int target_family_read(struct target_family *f,
			      void (*ended)(void *ctx, pid_t pid, pid_t root, bool is_other),
			      void *ctx)
{
	struct target_tree *tree = target_tree_read();
	struct look k = { .f = f, .tree = tree };
	int err = tree ? list_members(&k) : -errno;

	if (!err)
		report_exits(&k, ended, ctx);
	if (!err)
		err = add_below(&k);
	VEC_FREE(&k.members);
	map_free(&k.link_of);
	target_tree_free(tree);
	return err;
}

/* ---- the watch ------------------------------------------------------------------------------ */

#define ROUNDS_MAX 16		/* of draining, for events that arrive meanwhile */
#define LEAVE_MIN_NS (5 * NS_PER_MS)
#define LEAVE_MAX_NS NS_PER_SEC
#define MISSED_MIN_NS NS_PER_SEC	/* from one search for missed events to the next */
/* and so many times the search's duration, in which the rings fill */
#define MISSED_SHARE 4

struct perf_cpu {
	int id;
	int fd;			/* the event that owns the ring; -1: none, the CPU is off */
	struct perf_ring ring;
};

struct leaving {		/* its first thread has ended, perhaps not its last */
	pid_t pid, root;
	uint64_t time_ns;	/* of the last thread's end so far */
};

struct target_watch {
	pid_t pid;		/* -1: all */
	struct target_family family;	/* to pick from the whole host */
	VEC(struct perf_cpu) cpus;
	int epoll_fd;
	VEC(struct perf_record) held;
	VEC(struct leaving) leaving;
	uint64_t leave_ns;	/* until the next look at `leaving` */
	uint64_t missed;	/* events, not reported yet */
	uint64_t missed_since_ns, missed_next_ns;	/* not reported before */
	uint64_t order;
	int timer_fd;
	void *raw;
	/* of the present reading */
	void (*fn)(void *ctx, const struct target_event *ev);
	void *ctx;
};

/* ---- perf events ---------------------------------------------------------------------------- */

/*
 * An event of a CPU costs only its records, an event of a thread costs that thread a microsecond
 * each time it is switched in and out. So processes are watched through the whole host. That
 * takes CAP_PERFMON, and so do the probes that a watch is for.
 */

#define PAGES_MAX 128		/* of a ring */
#define PAGES_MIN 8
#define PAGES_ALL 4096		/* of all rings: 16 MiB on a host with many CPUs */

static const char *advice(int err)
{
	switch (err) {
	case EACCES:
	case EPERM:
		if (caps_have(CAP_PERFMON) || caps_have(CAP_SYS_ADMIN))
			return "a seccomp filter or a security module forbids perf_event_open here";
		return "needs CAP_PERFMON, which this process lacks";
	case EMFILE:
		return "raise the limit of open files (ulimit -n)";
	case ENOBUFS:
		return "raise kernel.perf_event_mlock_kb or run with CAP_IPC_LOCK";
	default:
		return "run gpuprof doctor";
	}
}

static int add_fd(struct target_watch *w, int fd)
{
	struct epoll_event ev = { .events = EPOLLIN, .data.fd = fd };

	return epoll_ctl(w->epoll_fd, EPOLL_CTL_ADD, fd, &ev) ? -errno : 0;
}

/* The records of all threads on that CPU that perf_ring_next understands, stamped with
 * CLOCK_MONOTONIC. 0 or -errno; ENODEV: the CPU is off. */
static int open_event(struct target_watch *w, struct perf_cpu *cpu, size_t pages)
{
	struct perf_event_attr attr = {
		.size = sizeof(attr),
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_DUMMY,
		.sample_type = PERF_SAMPLE_TIME,
		.sample_id_all = 1,
		.use_clockid = 1,
		.clockid = CLOCK_MONOTONIC,
		.mmap = 1,		/* executable mappings; mmap_data would add the others */
		.mmap2 = 1,
		.comm = 1,
		.comm_exec = 1,
		.task = 1,
		.watermark = 1,
		.wakeup_watermark = 1,	/* bytes: each record wakes */
		.exclude_kernel = 1,	/* else perf_event_paranoid 2 refuses users their own */
		.exclude_hv = 1,
	};
	int rc;

	cpu->fd = (int)syscall(SYS_perf_event_open, &attr, -1, cpu->id, -1, PERF_FLAG_FD_CLOEXEC);
	if (cpu->fd < 0)
		return -errno;
	rc = perf_ring_map(&cpu->ring, cpu->fd, pages);
	return rc ? rc : add_fd(w, cpu->fd);
}

/* "0-3,8" */
static int list_cpus(struct target_watch *w)
{
	char *text = io_read_file("/sys/devices/system/cpu/online", 65536, NULL);
	const char *p = text ? text : "0";
	struct perf_cpu *cpu = NULL;
	char *end;

	while (*p >= '0' && *p <= '9') {
		long first = strtol(p, &end, 10), last = first;

		if (*end == '-')
			last = strtol(end + 1, &end, 10);
		for (; first <= last && first < 65536; first++) {
			cpu = VEC_PUSH(&w->cpus);
			if (!cpu)
				break;
			*cpu = (struct perf_cpu){ .id = (int)first, .fd = -1 };
		}
		p = *end == ',' ? end + 1 : "";
	}
	free(text);
	return cpu ? 0 : -ENOMEM;
}

/* An event on every CPU; CPUs that are switched on later are not seen. 0 or -errno, logged. */
static int open_events(struct target_watch *w)
{
	size_t pages = PAGES_MAX;
	int rc = list_cpus(w);

	while (pages > PAGES_MIN && pages * w->cpus.n > PAGES_ALL)
		pages /= 2;
	for (size_t i = 0; i < w->cpus.n && !rc; i++) {
		rc = open_event(w, &w->cpus.v[i], pages);
		rc = rc == -ENODEV ? 0 : rc;
	}
	if (rc)
		log_error("cannot watch what the processes of this host will map: %s; %s",
			  strerror(-rc), advice(-rc));
	return rc;
}

/* ---- life --------------------------------------------------------------------------------- */

static void set_timer(struct target_watch *w, uint64_t ns)
{
	struct itimerspec in = {
		.it_value = { (time_t)(ns / NS_PER_SEC), (long)(ns % NS_PER_SEC) },
	};

	timerfd_settime(w->timer_fd, 0, &in, NULL);
}

int target_watch_add(struct target_watch *w, pid_t pid)
{
	if (w->pid < 0)
		return -EINVAL;
	return target_process_ended(pid) ? -ESRCH : target_family_add_root(&w->family, pid);
}

static int start(struct target_watch *w)
{
	int rc;

	w->raw = malloc(PERF_RING_RECORD_MAX);
	if (!w->raw)
		return -ENOMEM;
	w->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	w->timer_fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
	if (w->epoll_fd < 0 || w->timer_fd < 0) {
		rc = -errno;
		log_error("cannot wait for events: %s; raise the limit of open files (ulimit -n)",
			  strerror(-rc));
		return rc;
	}
	rc = add_fd(w, w->timer_fd);
	if (!rc)
		rc = open_events(w);
	if (!rc && w->pid > 0)
		rc = target_watch_add(w, w->pid);
	/*
	 * Polling a perf event takes its readiness away, and adding our epoll fd to another polls.
	 * Whatever happened until then must be read: so the first wait returns at once.
	 */
	set_timer(w, 1);
	return rc;
}

struct target_watch *target_watch_new(pid_t pid)
{
	struct target_watch *w = calloc(1, sizeof(*w));
	int rc;

	if (!w)
		return NULL;
	w->pid = pid > 0 ? pid : -1;
	w->epoll_fd = w->timer_fd = -1;
	rc = start(w);
	if (!rc)
		return w;
	target_watch_free(w);
	errno = -rc;
	return NULL;
}

int target_watch_fd(const struct target_watch *w)
{
	return w->epoll_fd;
}

void target_watch_free(struct target_watch *w)
{
	if (!w)
		return;
	for (size_t i = 0; i < w->cpus.n; i++) {
		struct perf_cpu *cpu = &w->cpus.v[i];

		if (cpu->ring.page)
			munmap(cpu->ring.page, cpu->ring.mapped);
		io_close(&cpu->fd);
	}
	for (size_t i = 0; i < w->held.n; i++)
		free((char *)w->held.v[i].ev.text);
	VEC_FREE(&w->cpus);
	VEC_FREE(&w->held);
	VEC_FREE(&w->leaving);
	target_family_free(&w->family);
	io_close(&w->epoll_fd);
	io_close(&w->timer_fd);
	free(w->raw);
	free(w);
}

/* ---- reading ------------------------------------------------------------------------------ */

/* An event of a CPU that was switched off may stay readable for ever; the rings are drained
 * anyway. */
static void clear_readiness(struct target_watch *w)
{
	struct epoll_event ev[64];
	uint64_t ticks;
	int n;

	do {
		n = epoll_wait(w->epoll_fd, ev, 64, 0);
		for (int i = 0; i < n; i++) {
			if (ev[i].data.fd == w->timer_fd && read(w->timer_fd, &ticks, 8) == 8)
				continue;
			if (ev[i].events & (EPOLLHUP | EPOLLERR))
				epoll_ctl(w->epoll_fd, EPOLL_CTL_DEL, ev[i].data.fd, NULL);
		}
	} while (n == 64);
}

static int drain(struct target_watch *w, struct perf_cpu *cpu)
{
	struct perf_record rec, *slot;
	int rc = 0;

	while (cpu->ring.page && rc >= 0 && (rc = perf_ring_next(&cpu->ring, w->raw, &rec)) > 0) {
		rec.order = w->order++;
		slot = VEC_PUSH(&w->held);
		if (slot) {
			*slot = rec;
			continue;
		}
		free((char *)rec.ev.text);
		rc = -ENOMEM;
	}
	return rc;
}

static int compare_records(const void *a, const void *b)
{
	const struct perf_record *x = a, *y = b;
	int c = num_compare(x->ev.time_ns, y->ev.time_ns);

	return c ? c : num_compare(x->order, y->order);
}

static struct leaving *find_leaving(struct target_watch *w, pid_t pid)
{
	for (size_t i = 0; i < w->leaving.n; i++)
		if (w->leaving.v[i].pid == pid)
			return &w->leaving.v[i];
	return NULL;
}

static void forget_leaving(struct target_watch *w, struct leaving *l)
{
	*l = w->leaving.v[--w->leaving.n];
}

/* True: the process of l has exited, this was reported, and l is forgotten. */
static bool finish_leaving(struct target_watch *w, struct leaving *l)
{
	struct target_event ev = { .kind = TARGET_EXIT, .pid = l->pid, .root = l->root,
				   .time_ns = l->time_ns };

	if (!target_process_ended(l->pid))
		return false;
	forget_leaving(w, l);
	target_family_forget(&w->family, ev.pid);
	w->fn(w->ctx, &ev);
	return true;
}

static struct leaving *begin_leaving(struct target_watch *w, const struct target_event *ev)
{
	struct leaving *l = VEC_PUSH(&w->leaving);

	if (l)
		*l = (struct leaving){ ev->pid, ev->root, ev->time_ns };
	w->leave_ns = LEAVE_MIN_NS;
	return l;
}

/*
 * A process ends with its last thread, and its first thread may go before: by pthread_exit in
 * main, or because another thread called exec and takes its place.
 */
static void handle_exit(struct target_watch *w, const struct perf_record *rec)
{
	struct leaving *l = find_leaving(w, rec->ev.pid);

	if (l)
		l->time_ns = rec->ev.time_ns;
	else if (rec->tid == rec->ev.pid)
		l = begin_leaving(w, &rec->ev);
	if (l)
		finish_leaving(w, l);
}

/* Its earlier events may wait in a ring: so its exit is reported after the next reading. */
static void on_lost_end(void *ctx, pid_t pid, pid_t root, bool is_other)
{
	struct target_watch *w = ctx;
	struct target_event ev = { .kind = TARGET_EXIT, .pid = pid, .root = root,
				   .time_ns = time_now_ns() };
	struct leaving *l = find_leaving(w, pid);

	if (is_other) {
		if (l)
			forget_leaving(w, l);
		w->fn(w->ctx, &ev);
	} else if (!l) {
		begin_leaving(w, &ev);
	}
}

/* The root of a watched process. */
static bool follows(struct target_watch *w, struct perf_record *rec)
{
	if (w->pid < 0)
		return true;
	rec->ev.root = target_family_root(&w->family, rec->ev.pid);
	if (rec->ev.kind == TARGET_FORK && rec->ev.root)
		target_family_add(&w->family, rec->ev.child, rec->ev.root, rec->ev.time_ns);
	else if (rec->ev.kind == TARGET_FORK)
		target_family_note_other(&w->family, rec->ev.child, rec->ev.time_ns);
	return rec->ev.root;
}

static void deliver(struct target_watch *w, struct perf_record *rec)
{
	struct leaving *l;

	if (rec->ev.kind == TARGET_MISSED) {
		if (!w->missed)
			w->missed_since_ns = rec->ev.time_ns;
		w->missed += rec->ev.missed;
		return;
	}
	if (rec->of_thread || !follows(w, rec))
		return;
	if (rec->ev.kind == TARGET_EXIT) {
		handle_exit(w, rec);
		return;
	}
	l = rec->ev.kind == TARGET_EXEC ? find_leaving(w, rec->ev.pid) : NULL;
	if (l)
		forget_leaving(w, l);
	w->fn(w->ctx, &rec->ev);
}

/* Delivers what happened before cutoff; the rest stays held. */
static void deliver_held(struct target_watch *w, uint64_t cutoff_ns)
{
	size_t done = 0;

	if (w->held.n)
		qsort(w->held.v, w->held.n, sizeof(w->held.v[0]), compare_records);
	for (; done < w->held.n && w->held.v[done].ev.time_ns <= cutoff_ns; done++) {
		deliver(w, &w->held.v[done]);
		free((char *)w->held.v[done].ev.text);
	}
	VEC_DROP_FIRST(&w->held, done);
}

/*
 * The receiver examines every process, and others' activity may fill the rings of all CPUs again
 * and again: so all is reported together, and not at once again.
 */
static void report_missed(struct target_watch *w)
{
	uint64_t begin_ns = time_now_ns(), took_ns;
	struct target_event ev = { .kind = TARGET_MISSED, .missed = w->missed,
				   .time_ns = w->missed_since_ns };

	if (!w->missed || begin_ns < w->missed_next_ns)
		return;
	w->missed = 0;
	if (w->pid > 0)
		target_family_read(&w->family, on_lost_end, w);
	w->fn(w->ctx, &ev);
	took_ns = time_now_ns() - begin_ns;
	w->missed_next_ns = begin_ns + took_ns + num_max(MISSED_MIN_NS, MISSED_SHARE * took_ns);
}

/* For events that wait here, of which no ring has a record. */
static void set_next(struct target_watch *w)
{
	uint64_t now_ns = time_now_ns(), ns = UINT64_MAX;

	if (w->leaving.n) {
		ns = w->leave_ns;
		if (w->leave_ns < LEAVE_MAX_NS)
			w->leave_ns *= 2;
	}
	if (w->missed)
		ns = num_min(ns, w->missed_next_ns > now_ns ? w->missed_next_ns - now_ns : 1);
	if (w->held.n)
		ns = 1;
	if (ns != UINT64_MAX)
		set_timer(w, ns);
}

/*
 * Rings are drained one after the other, so an event newer than the start of a round may have an
 * older one in a ring already passed: it waits for the next round. So a fork, which is recorded
 * before its child runs, comes before all events of the child.
 */
int target_watch_read(struct target_watch *w,
		      void (*fn)(void *ctx, const struct target_event *ev), void *ctx)
{
	int rc = 0;

	w->fn = fn;
	w->ctx = ctx;
	clear_readiness(w);
	for (int round = 0; round < ROUNDS_MAX && (!round || w->held.n); round++) {
		uint64_t cutoff_ns = time_now_ns();

		for (size_t i = 0; i < w->cpus.n && !rc; i++)
			rc = drain(w, &w->cpus.v[i]);
		deliver_held(w, rc ? UINT64_MAX : cutoff_ns);
	}
	for (size_t i = 0; i < w->leaving.n;)
		i += !finish_leaving(w, &w->leaving.v[i]);
	report_missed(w);
	set_next(w);
	return rc;
}
