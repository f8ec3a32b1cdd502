// SPDX-License-Identifier: BSD-3-Clause
/*
 * Mappings, execs, forks and exits from now on, by perf's side-band records. Owns the order of
 * events in time, the processes that a watch follows, and when a process has exited. Must not
 * know the purpose of a watch, nor open the files that are mapped.
 */
#include "target/target_watch.h"

#include <errno.h>
#include <linux/capability.h>
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
#include "target/target_family.h"
#include "target/target_walk.h"

/*
 * perf's ring buffer (perf_event_open(2)) and the layout of its side-band records. Owns the
 * memory barriers and the wrap; knows nothing of processes or of who listens.
 *
 * Every record ends with the sample_id that perf_ring_fill_attr requests, which is one u64: the
 * time.
 */

/* The perf events of one watch, one for each CPU, and their rings. */

struct perf_cpu {
	int id;
	int fd;			/* the event that owns the ring; -1: none, the CPU is off */
	struct perf_ring ring;
};

struct perf_set {
	VEC(struct perf_cpu) cpus;
	int epoll_fd;		/* the caller's; gets every event */
};

/* Requests the records that perf_ring_next understands, stamped with CLOCK_MONOTONIC. */
static void perf_ring_fill_attr(struct perf_event_attr *attr)
{
	*attr = (struct perf_event_attr){
		.size = sizeof(*attr),
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
}

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

static void perf_ring_unmap(struct perf_ring *ring)
{
	if (ring->page)
		munmap(ring->page, ring->mapped);
	*ring = (struct perf_ring){ 0 };
}

/* ---- records ------------------------------------------------------------------------------ */

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

int perf_ring_decode(const void *raw, struct perf_record *out)
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

/* ---- the ring ----------------------------------------------------------------------------- */

static void copy_out(const struct perf_ring *ring, uint64_t at, void *to, size_t len)
{
	size_t from = at & (ring->size - 1), first = ring->size - from;

	if (first > len)
		first = len;
	memcpy(to, ring->data + from, first);
	memcpy((char *)to + first, ring->data, len - first);
}

int perf_ring_next(struct perf_ring *ring, void *raw, struct perf_record *out)
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

/* ---- target perf --------------------------------------------------------------------------- */

/*
 * Opens the perf events that watch the host. Owns file descriptors, rings and the messages for
 * refusals; must not know the meaning of records, nor which processes matter.
 *
 * An event of a CPU costs only its records, an event of a thread costs that thread a microsecond
 * each time it is switched in and out. So processes are watched through the whole host. That
 * takes CAP_PERFMON, and so do the probes that a watch is for.
 */

#define PAGES_MAX 128		/* of a ring */
#define PAGES_MIN 8
#define PAGES_ALL 4096		/* of all rings: 16 MiB on a host with many CPUs */

/* ---- messages ----------------------------------------------------------------------------- */

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

static void log_refused(int err)
{
	log_error("cannot watch what the processes of this host will map: %s; %s", strerror(err),
		  advice(err));
}

/* ---- perf events -------------------------------------------------------------------------- */

static int add_fd(struct perf_set *set, int fd)
{
	struct epoll_event ev = { .events = EPOLLIN, .data.fd = fd };

	return epoll_ctl(set->epoll_fd, EPOLL_CTL_ADD, fd, &ev) ? -errno : 0;
}

static size_t ring_pages(const struct perf_set *set)
{
	size_t pages = PAGES_MAX;

	while (pages > PAGES_MIN && pages * set->cpus.n > PAGES_ALL)
		pages /= 2;
	return pages;
}

/* Of everybody on that CPU. 0 or -errno; ENODEV: the CPU is off. */
static int open_event(struct perf_set *set, struct perf_cpu *cpu)
{
	struct perf_event_attr attr;
	int rc;

	perf_ring_fill_attr(&attr);
	cpu->fd = (int)syscall(SYS_perf_event_open, &attr, -1, cpu->id, -1, PERF_FLAG_FD_CLOEXEC);
	if (cpu->fd < 0)
		return -errno;
	rc = perf_ring_map(&cpu->ring, cpu->fd, ring_pages(set));
	return rc ? rc : add_fd(set, cpu->fd);
}

/* An event on every CPU. CPUs that are switched on later are not seen. */
static int open_events(struct perf_set *set)
{
	for (size_t i = 0; i < set->cpus.n; i++) {
		int rc = open_event(set, &set->cpus.v[i]);

		if (rc && rc != -ENODEV)
			return rc;
	}
	return 0;
}

/* "0-3,8" */
static int list_cpus(struct perf_set *set)
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
			cpu = VEC_PUSH(&set->cpus);
			if (!cpu)
				break;
			cpu->id = (int)first;
			cpu->fd = -1;
		}
		p = *end == ',' ? end + 1 : "";
	}
	free(text);
	return cpu ? 0 : -ENOMEM;
}

/*
 * Opens the events for everybody on this host. Start with the set zeroed but for epoll_fd; close it
 * also after a failure. 0 or -errno, logged.
 */
static int perf_set_open(struct perf_set *set)
{
	int rc = list_cpus(set);

	if (!rc)
		rc = open_events(set);
	if (rc)
		log_refused(-rc);
	return rc;
}

static void perf_set_close(struct perf_set *set)
{
	for (size_t i = 0; i < set->cpus.n; i++) {
		perf_ring_unmap(&set->cpus.v[i].ring);
		io_close(&set->cpus.v[i].fd);
	}
	VEC_FREE(&set->cpus);
}

/* ---- target watch ---------------------------------------------------------------------------- */

#define ROUNDS_MAX 16		/* of draining, for events that arrive meanwhile */
#define LEAVE_MIN_NS (5 * NS_PER_MS)
#define LEAVE_MAX_NS NS_PER_SEC
#define MISSED_MIN_NS NS_PER_SEC	/* from one search for missed events to the next */
/* and so many times the search's duration, in which the rings fill */
#define MISSED_SHARE 4

struct leaving {		/* its first thread has ended, perhaps not its last */
	pid_t pid, root;
	uint64_t time_ns;	/* of the last thread's end so far */
};

struct target_watch {
	pid_t pid;		/* -1: all */
	struct target_family family;	/* to pick from the whole host */
	struct perf_set perf;
	VEC(struct perf_record) held;
	VEC(struct leaving) leaving;
	uint64_t leave_ns;	/* until the next look at `leaving` */
	uint64_t missed;	/* events, not reported yet */
	uint64_t missed_since_ns, missed_next_ns;	/* not reported before */
	uint64_t order;
	int timer_fd;
	void *raw;
};

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
	w->perf.epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	w->timer_fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
	if (w->perf.epoll_fd < 0 || w->timer_fd < 0) {
		rc = -errno;
		log_error("cannot wait for events: %s; raise the limit of open files (ulimit -n)",
			  strerror(-rc));
		return rc;
	}
	rc = epoll_ctl(w->perf.epoll_fd, EPOLL_CTL_ADD, w->timer_fd,
		       &(struct epoll_event){ .events = EPOLLIN, .data.fd = w->timer_fd });
	if (rc)
		return -errno;
	rc = perf_set_open(&w->perf);
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
	w->perf.epoll_fd = w->timer_fd = -1;
	rc = start(w);
	if (!rc)
		return w;
	target_watch_free(w);
	errno = -rc;
	return NULL;
}

int target_watch_fd(const struct target_watch *w)
{
	return w->perf.epoll_fd;
}

void target_watch_free(struct target_watch *w)
{
	if (!w)
		return;
	perf_set_close(&w->perf);
	for (size_t i = 0; i < w->held.n; i++)
		free((char *)w->held.v[i].ev.text);
	VEC_FREE(&w->held);
	VEC_FREE(&w->leaving);
	target_family_free(&w->family);
	if (w->perf.epoll_fd >= 0)
		close(w->perf.epoll_fd);
	if (w->timer_fd >= 0)
		close(w->timer_fd);
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
		n = epoll_wait(w->perf.epoll_fd, ev, 64, 0);
		for (int i = 0; i < n; i++) {
			if (ev[i].data.fd == w->timer_fd && read(w->timer_fd, &ticks, 8) == 8)
				continue;
			if (ev[i].events & (EPOLLHUP | EPOLLERR))
				epoll_ctl(w->perf.epoll_fd, EPOLL_CTL_DEL, ev[i].data.fd, NULL);
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

struct listener {
	void (*fn)(void *ctx, const struct target_event *ev);
	void *ctx;
};

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
static bool finish_leaving(struct target_watch *w, struct leaving *l, const struct listener *to)
{
	struct target_event ev = { .kind = TARGET_EXIT, .pid = l->pid, .root = l->root,
				   .time_ns = l->time_ns };

	if (!target_process_ended(l->pid))
		return false;
	forget_leaving(w, l);
	target_family_forget(&w->family, ev.pid);
	to->fn(to->ctx, &ev);
	return true;
}

static struct leaving *begin_leaving(struct target_watch *w, pid_t pid, pid_t root)
{
	struct leaving *l = VEC_PUSH(&w->leaving);

	if (l)
		*l = (struct leaving){ .pid = pid, .root = root };
	w->leave_ns = LEAVE_MIN_NS;
	return l;
}

/*
 * A process ends with its last thread, and its first thread may go before: by pthread_exit in
 * main, or because another thread called exec and takes its place.
 */
static void handle_exit(struct target_watch *w, const struct perf_record *rec,
			const struct listener *to)
{
	struct leaving *l = find_leaving(w, rec->ev.pid);

	if (!l && rec->tid == rec->ev.pid)
		l = begin_leaving(w, rec->ev.pid, rec->ev.root);
	if (!l)
		return;
	l->time_ns = rec->ev.time_ns;
	finish_leaving(w, l, to);
}

struct lost_ends {
	struct target_watch *w;
	const struct listener *to;
};

/* Its earlier events may wait in a ring: so its exit is reported after the next reading. */
static void on_lost_end(void *ctx, pid_t pid, pid_t root, bool is_other)
{
	const struct lost_ends *e = ctx;
	struct target_event ev = { .kind = TARGET_EXIT, .pid = pid, .root = root,
				   .time_ns = time_now_ns() };
	struct leaving *l = find_leaving(e->w, pid);

	if (is_other) {
		if (l)
			forget_leaving(e->w, l);
		e->to->fn(e->to->ctx, &ev);
	} else if (!l) {
		l = begin_leaving(e->w, pid, root);
		if (l)
			l->time_ns = ev.time_ns;
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

static void note_missed(struct target_watch *w, const struct target_event *ev)
{
	if (!w->missed)
		w->missed_since_ns = ev->time_ns;
	w->missed += ev->missed;
}

static void deliver(struct target_watch *w, struct perf_record *rec, const struct listener *to)
{
	struct leaving *l;

	if (rec->ev.kind == TARGET_MISSED) {
		note_missed(w, &rec->ev);
		return;
	}
	if (rec->of_thread || !follows(w, rec))
		return;
	if (rec->ev.kind == TARGET_EXIT) {
		handle_exit(w, rec, to);
		return;
	}
	l = rec->ev.kind == TARGET_EXEC ? find_leaving(w, rec->ev.pid) : NULL;
	if (l)
		forget_leaving(w, l);
	to->fn(to->ctx, &rec->ev);
}

/* Delivers what happened before cutoff; the rest stays held. */
static void deliver_held(struct target_watch *w, uint64_t cutoff_ns, const struct listener *to)
{
	size_t done = 0;

	if (w->held.n)
		qsort(w->held.v, w->held.n, sizeof(w->held.v[0]), compare_records);
	for (; done < w->held.n && w->held.v[done].ev.time_ns <= cutoff_ns; done++) {
		deliver(w, &w->held.v[done], to);
		free((char *)w->held.v[done].ev.text);
	}
	VEC_DROP_FIRST(&w->held, done);
}

static void check_leaving(struct target_watch *w, const struct listener *to)
{
	for (size_t i = 0; i < w->leaving.n;)
		i += !finish_leaving(w, &w->leaving.v[i], to);
}

/*
 * The receiver examines every process, and others' activity may fill the rings of all CPUs again
 * and again: so all is reported together, and not at once again.
 */
static void report_missed(struct target_watch *w, const struct listener *to)
{
	uint64_t begin_ns = time_now_ns(), took_ns;
	struct target_event ev = { .kind = TARGET_MISSED, .missed = w->missed,
				   .time_ns = w->missed_since_ns };

	if (!w->missed || begin_ns < w->missed_next_ns)
		return;
	w->missed = 0;
	if (w->pid > 0)
		target_family_read(&w->family, on_lost_end, &(struct lost_ends){ w, to });
	to->fn(to->ctx, &ev);
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
	struct listener to = { .fn = fn, .ctx = ctx };
	int rc = 0;

	clear_readiness(w);
	for (int round = 0; round < ROUNDS_MAX && (!round || w->held.n); round++) {
		uint64_t cutoff_ns = time_now_ns();

		for (size_t i = 0; i < w->perf.cpus.n && !rc; i++)
			rc = drain(w, &w->perf.cpus.v[i]);
		deliver_held(w, rc ? UINT64_MAX : cutoff_ns, &to);
	}
	check_leaving(w, &to);
	report_missed(w, &to);
	set_next(w);
	return rc;
}
