// SPDX-License-Identifier: BSD-3-Clause
/*
 * perf's ring buffer (perf_event_open(2)) and the layout of its side-band records. Owns the
 * memory barriers and the wrap; knows nothing of processes or of who listens.
 *
 * Every record ends with the sample_id that perf_ring_fill_attr asks for, which is one u64: the
 * time.
 */
#include "target/perf_ring.h"

#include <errno.h>
#include <linux/capability.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/io.h"
#include "base/log.h"
#include "base/map.h"
#include "base/time.h"
#include "host/caps.h"

/* Asks for the records that perf_ring_next understands, stamped with CLOCK_MONOTONIC. */
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
		/* Writable: else the kernel overwrites what was not read yet. */
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

	/* The build id of a newer kernel's record would take ino's place; it was not asked for. */
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
			tail = head;	/* the rest cannot be told apart */
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
 * Opens the perf events that watch the host. Owns file descriptors, rings and the words for what
 * was refused; must not know what the records mean, nor which processes matter.
 *
 * An event of a CPU costs nobody anything but what it tells, an event of a thread costs that one
 * a microsecond each time it is switched in and out. So processes are watched through the whole
 * host. That takes CAP_PERFMON, and so do the probes that a watch is for.
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
	log_error("cannot watch what the processes of this host will map: %s; %s", strerror(err), advice(err));
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

int perf_set_open(struct perf_set *set)
{
	int rc = list_cpus(set);

	if (!rc)
		rc = open_events(set);
	if (rc)
		log_refused(-rc);
	return rc;
}

void perf_set_close(struct perf_set *set)
{
	for (size_t i = 0; i < set->cpus.n; i++) {
		perf_ring_unmap(&set->cpus.v[i].ring);
		io_close(&set->cpus.v[i].fd);
	}
	VEC_FREE(&set->cpus);
}
