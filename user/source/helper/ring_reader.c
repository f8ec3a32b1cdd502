// SPDX-License-Identifier: BSD-3-Clause
/*
 * A name proves little: a file of FUSE can have that of a ring, and opening, reading or closing
 * it would wait for its server. So a descriptor is first held as a path, which calls no file
 * system; a file in memory is then opened anew. The file cannot shrink under us: the seals are
 * checked before it is mapped.
 */
#include "source/helper/ring_reader.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/futex.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/io.h"
#include "base/num.h"
#include "gpuprof/ring.h"
#include "host/proc.h"

/* ---- whose ring it is ------------------------------------------------------------------------ */

#define TICK_NS 10000000ull	/* of procfs, in which it began */

int ring_owner_read(pid_t pid, struct ring_owner *out)
{
	struct proc_stat stat;
	uint32_t inner = 0;
	const char *text;
	struct proc p;
	int err = proc_open(&p, pid);

	*out = (struct ring_owner){ 0 };
	text = err ? NULL : proc_read(&p, PROC_STATUS, NULL);
	if (text) {
		inner = proc_inner_pid(text);
		out->own_pid = inner ? inner : (uint32_t)pid;
	}
	/* Its number may be another's, too. The ring's clock may be another one. */
	if (inner && !proc_clock_offset_ns(pid)) {
		text = proc_read(&p, PROC_STAT, NULL);
		if (text && !proc_parse_stat(text, &stat))
			out->born_ns = stat.start_ns;
	}
	proc_close(&p);
	return err == -ESRCH ? err : 0;
}

/* ---- looking for one ------------------------------------------------------------------------- */

#define RING_LINK "/memfd:" GP_RING_NAME
#define FIRST_NS 5000000ull
#define SOON_NS 40000000ull	/* at most, in the first SOON_FOR_NS */
#define SOON_FOR_NS (5 * MAX_NS)
#define MAX_NS 1000000000ull
#define SOON_COUNTED_NS 200000000ull	/* then, though descriptors are as many as before */
#define RARE_NS (10 * MAX_NS)	/* where a ring is unlikely */
#define UNCOUNTED_NS (60 * MAX_NS)	/* the same, though descriptors are as many as before */
#define BEGIN_COST 8		/* in descriptors */
#define FETCH_COST 8

static bool is_ring_link(int dir_fd, const char *name)
{
	char link[sizeof(RING_LINK)];
	ssize_t n = readlinkat(dir_fd, name, link, sizeof(link) - 1);

	return n == sizeof(link) - 1 && !memcmp(link, RING_LINK, sizeof(link) - 1);
}

static bool is_new(const struct ring_search *s, uint64_t now_ns)
{
	return !s->since_ns || now_ns - s->since_ns < SOON_FOR_NS;
}

/* Has it as many descriptors as in the last round, which found none and was a moment ago? The ring
 * may have replaced one, such as that of a library being loaded, and the process may wait for us.
 * Before Linux 6.2 the directory's size is 0, and this is not known. */
static bool is_as_before(struct ring_search *s, const char *path, uint64_t now_ns)
{
	struct stat st;
	const uint64_t fds = stat(path, &st) ? 0 : (uint64_t)st.st_size;
	const uint64_t most_ns = s->is_unlikely	  ? UNCOUNTED_NS :
				 is_new(s, now_ns) ? SOON_COUNTED_NS :
						     MAX_NS;

	if (fds && fds == s->fds && now_ns - s->counted_ns < most_ns)
		return true;
	s->fds = fds;
	s->counted_ns = now_ns;
	return false;
}

static int begin(struct ring_search *s, pid_t pid, uint64_t now_ns, unsigned int *left)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/fd", pid);
	--*left;
	if (is_as_before(s, path, now_ns))
		return -ENOENT;
	*left -= (unsigned int)num_min(*left, BEGIN_COST);
	s->dir = opendir(path);
	if (s->dir)
		return 0;
	return errno == ENOENT ? -ESRCH : errno == EACCES ? -EPERM : -errno;
}

/* Calls no file system. */
static bool look(int fd, struct statx *out)
{
	return !statx(fd, "", AT_EMPTY_PATH | AT_STATX_DONT_SYNC, STATX_INO, out);
}

static bool are_on_one_device(const struct statx *a, const struct statx *b)
{
	return a->stx_dev_major == b->stx_dev_major && a->stx_dev_minor == b->stx_dev_minor;
}

/* Takes path_fd. Only memory of small pages, as memfds are made of, is opened: of huge ones there
 * may be none left to give. A file with a lease is not waited for. */
static int open_memory(int path_fd)
{
	int own = memfd_create("gpuprof", MFD_CLOEXEC), fd = -1, err = ENOENT;
	struct statx a, b;
	char path[64];

	if (own >= 0 && look(path_fd, &a) && look(own, &b) && are_on_one_device(&a, &b)) {
		snprintf(path, sizeof(path), "/proc/self/fd/%d", path_fd);
		fd = open(path, O_RDWR | O_NONBLOCK | O_CLOEXEC);
		err = errno;
	}
	io_close(&own);
	io_close(&path_fd);
	return fd < 0 ? -err : fd;
}

/* The entry's name is a ring's. 1, 0: it is none, or no more; or -errno. */
static int fetch(const struct ring_search *s, pid_t pid, const char *name, struct ring_found *out)
{
	int path_fd;

	*out = (struct ring_found){ .number = atoi(name), .fd = -1,
				      .pidfd = (int)syscall(SYS_pidfd_open, pid, 0) };
	if (out->pidfd < 0)
		return -errno;
	path_fd = openat(dirfd(s->dir), name, O_PATH | O_CLOEXEC);
	out->fd = path_fd < 0 ? -errno : open_memory(path_fd);
	if (out->fd >= 0)
		return 1;
	io_close(&out->pidfd);
	return out->fd == -ENOENT ? 0 : out->fd;
}

/* Between this round and the next one. */
static uint64_t next_ns(struct ring_search *s, uint64_t now_ns)
{
	const uint64_t twice_ns = num_max(s->every_ns * 2, FIRST_NS);

	if (s->is_unlikely)
		return s->has_calls ? MAX_NS : RARE_NS;
	if (!s->since_ns)
		s->since_ns = now_ns;
	return num_min(twice_ns, is_new(s, now_ns) ? SOON_NS : MAX_NS);
}

int ring_search(struct ring_search *s, pid_t pid, uint64_t now_ns, unsigned int *left,
		struct ring_found *out)
{
	const struct dirent *entry;
	int err = s->dir || !*left ? 0 : begin(s, pid, now_ns, left);

	while (!err && *left) {
		--*left;
		entry = readdir(s->dir);
		if (!entry) {
			err = -ENOENT;
		} else if (is_ring_link(dirfd(s->dir), entry->d_name)) {
			err = fetch(s, pid, entry->d_name, out);
			s->fds = 0;
			*left -= (unsigned int)num_min(*left, FETCH_COST);
		}
	}
	if (err && err != 1)
		ring_search_stop(s);
	if (err) {
		s->every_ns = next_ns(s, now_ns);
		s->at_ns = now_ns + s->every_ns;
	}
	return err;
}

#define FDS_MAX (1u << 20)	/* looked at in one process */
#define READ_MAX GP_RING_BYTES_MAX	/* bytes at a time */
#define LEFT_IN_ORDER 0		/* a slot's lease when its reader has left */
#define LEFT_STUCK 1
#define SEALS (F_SEAL_SHRINK | F_SEAL_GROW)

struct ring_reader {
	int fd;
	struct gp_ring_head *head;
	size_t map_bytes;
	uint64_t ring_bytes;
	char *data;
	struct gp_ring_slot *slot;
	uint32_t me;
	uint64_t read;
	uint64_t noted;		/* up to there the next reading goes; 0: up to the end */
	bool begun;		/* the helper has taken notice of us */
	uint64_t lease_ns;	/* the end of our lease, as renewed last */
	uint64_t lapse_ns;	/* of one that was renewed too late; 0: none was */
	uint64_t lost[GP_RING_KINDS];	/* when we took it */
	bool broken;
	uint64_t copy[GP_RING_RECORD_MAX / 8];
};

/* ---- finding -------------------------------------------------------------------------------- */

/* The size that the file really has, or 0 if it is none that cannot shrink. */
static uint64_t sealed_size(int fd)
{
	struct stat st;
	int seals = fcntl(fd, F_GET_SEALS);

	if (seals < 0 || (seals & SEALS) != SEALS || fstat(fd, &st) || !S_ISREG(st.st_mode) ||
	    st.st_size < (off_t)GP_RING_HEAD_BYTES)
		return 0;
	return (uint64_t)st.st_size;
}

/* 0, -EBADMSG or -EPROTO: it is no ring, or of an unknown version. A file without seals is no
 * memory of its own: reading it could take for ever. */
static int read_head(int fd, struct gp_ring_head *out)
{
	if (!sealed_size(fd) || pread(fd, out, sizeof(*out), 0) != sizeof(*out) ||
	    out->tag != GP_RING_TAG)
		return -EBADMSG;
	return out->version == GP_RING_VERSION ? 0 : -EPROTO;
}

static void end_texts(struct gp_ring_head *head)
{
	head->reason[sizeof(head->reason) - 1] = '\0';
	head->occupant[sizeof(head->occupant) - 1] = '\0';
	head->chained[sizeof(head->chained) - 1] = '\0';
	head->unsubscribed[sizeof(head->unsubscribed) - 1] = '\0';
}

int ring_reader_peek_at(int fd, const struct ring_owner *owner, struct gp_ring_head *out)
{
	int err = read_head(fd, out);

	if (err)
		return err;
	end_texts(out);
	return !owner->own_pid || (out->pid == owner->own_pid &&
				   out->start_ns + TICK_NS >= owner->born_ns) ? 0 : -ESRCH;
}

int ring_reader_find(pid_t pid)
{
	struct ring_search search = { .dir = NULL };
	struct ring_found found = { .fd = -1 };
	struct ring_owner owner;
	struct gp_ring_head head;
	unsigned int left = FDS_MAX;
	int err = ring_owner_read(pid, &owner);

	if (err)
		return err;
	while ((err = ring_search(&search, pid, 0, &left, &found)) == 1) {
		io_close(&found.pidfd);
		if (ring_reader_peek_at(found.fd, &owner, &head) != -ESRCH)
			break;
		io_close(&found.fd);
	}
	ring_search_stop(&search);
	return err == 1 ? found.fd : err ? err : -ENOENT;
}

/* ---- opening -------------------------------------------------------------------------------- */

/* 0 or -errno; the sizes are taken from this one reading of the head. */
static int map_file(struct ring_reader *s, pid_t own_pid)
{
	uint64_t size = sealed_size(s->fd), offset;
	struct gp_ring_head head;
	int err = read_head(s->fd, &head);

	if (err)
		return err;
	if (head.pid != (uint32_t)own_pid)
		return -ESRCH;
	offset = head.data_offset;
	s->ring_bytes = head.ring_bytes;
	if (head.slots != GP_RING_SLOTS || s->ring_bytes < GP_RING_BYTES_MIN ||
	    s->ring_bytes > GP_RING_BYTES_MAX || s->ring_bytes & (s->ring_bytes - 1) ||
	    offset < GP_RING_HEAD_BYTES || offset > (1u << 20) || offset & 7 ||
	    size < offset + GP_RING_SLOTS * s->ring_bytes)
		return -EBADMSG;
	s->map_bytes = offset + GP_RING_SLOTS * s->ring_bytes;
	s->head = mmap(NULL, s->map_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, s->fd, 0);
	if (s->head == MAP_FAILED) {
		s->head = NULL;
		return -errno;
	}
	s->data = (char *)s->head + offset;
	return 0;
}

/* Its owner, if it may be taken from: none, or one whose lease ended long ago. A helper that
 * sleeps frees no slots. */
static bool may_take(const struct gp_ring_slot *slot, uint64_t now_ns, uint32_t *owner)
{
	uint64_t lease_ns = __atomic_load_n(&slot->lease_ns, __ATOMIC_ACQUIRE);

	*owner = __atomic_load_n(&slot->owner, __ATOMIC_ACQUIRE);
	return !*owner ||
	       (lease_ns && now_ns > lease_ns && now_ns - lease_ns > GP_RING_ABANDONED_NS);
}

/* A reader that left the slot in order has read up to a record that a stopped thread may still
 * be writing: if it were passed over, it would be written late, into another record. So we go on
 * from there. */
static bool goes_on_from(struct ring_reader *s)
{
	if (__atomic_load_n(&s->slot->lease_ns, __ATOMIC_ACQUIRE) != LEFT_IN_ORDER)
		return false;
	s->read = __atomic_load_n(&s->slot->read, __ATOMIC_ACQUIRE);
	if (!(s->read & 7) && ring_reader_read(s, NULL, NULL) >= 0)
		return true;
	s->broken = false;
	return false;
}

static int take_slot(struct ring_reader *s, uint32_t kinds, uint64_t now_ns)
{
	bool goes_on;

	while (!s->me)
		if (getrandom(&s->me, sizeof(s->me), 0) < 0)
			return -errno;
	for (int i = 0; i < GP_RING_SLOTS && !s->slot; i++) {
		uint32_t owner;

		if (may_take(&s->head->slot[i], now_ns, &owner) &&
		    __atomic_compare_exchange_n(&s->head->slot[i].owner, &owner, s->me, false,
						__ATOMIC_ACQ_REL, __ATOMIC_RELAXED)) {
			s->slot = &s->head->slot[i];
			s->data += (size_t)i * s->ring_bytes;
		}
	}
	if (!s->slot)
		return -EUSERS;
	goes_on = goes_on_from(s);
	/* It has run out, so no records come yet; if we die now the slot is free in a while. */
	__atomic_store_n(&s->slot->lease_ns, now_ns, __ATOMIC_RELEASE);
	if (!goes_on) {
		/* The slot's previous reader may have left stamps. Clear it first: the helper may
		 * still write for that reader, and a record that is cleared after we begin to wait
		 * for it never comes. Untouched pages stay so: they would be ours. */
		if (fallocate(s->fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
			      s->data - (char *)s->head, (off_t)s->ring_bytes))
			return -errno;
		s->read = __atomic_load_n(&s->slot->written, __ATOMIC_ACQUIRE) & ~7ull;
	}
	for (int k = 0; k < GP_RING_KINDS; k++)
		s->lost[k] = __atomic_load_n(&s->slot->lost[k], __ATOMIC_RELAXED);
	__atomic_store_n(&s->slot->read, s->read, __ATOMIC_RELEASE);
	__atomic_store_n(&s->slot->kinds, kinds, __ATOMIC_RELEASE);
	return 0;
}

static void wake(struct ring_reader *s)
{
	__atomic_fetch_add(&s->head->wake, 1, __ATOMIC_RELEASE);
	syscall(SYS_futex, &s->head->wake, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}

struct ring_reader *ring_reader_open(int fd, pid_t own_pid, uint32_t kinds, uint64_t now_ns)
{
	struct ring_reader *s = calloc(1, sizeof(*s));
	int err;

	if (!s) {
		io_close(&fd);
		return NULL;
	}
	s->fd = fd;
	err = map_file(s, own_pid);
	if (!err)
		err = take_slot(s, kinds, now_ns);
	if (!err)
		return s;
	ring_reader_close(s);
	errno = -err;
	return NULL;
}

void ring_reader_close(struct ring_reader *s)
{
	bool is_stuck;
	uint32_t me;

	if (!s)
		return;
	me = s->me;
	/* It may be another's by now, and the lease that one's. */
	if (s->slot && __atomic_load_n(&s->slot->owner, __ATOMIC_ACQUIRE) == me) {
		/* The awaited record may never come: the next reader is not to wait for it. */
		is_stuck = s->broken || (!s->begun && s->read != __atomic_load_n(&s->slot->written,
										 __ATOMIC_ACQUIRE));
		__atomic_store_n(&s->slot->lease_ns, is_stuck ? LEFT_STUCK : LEFT_IN_ORDER,
				 __ATOMIC_RELEASE);
		__atomic_compare_exchange_n(&s->slot->owner, &me, 0, false, __ATOMIC_RELEASE,
					    __ATOMIC_RELAXED);
	}
	if (s->head)
		munmap(s->head, s->map_bytes);
	close(s->fd);
	free(s);
}

int ring_reader_renew(struct ring_reader *s, uint64_t now_ns)
{
	uint64_t lease_ns;
	bool was_renewed;

	if (__atomic_load_n(&s->slot->owner, __ATOMIC_ACQUIRE) != s->me)
		return -ESTALE;
	lease_ns = __atomic_exchange_n(&s->slot->lease_ns, now_ns + GP_RING_LEASE_NS,
				       __ATOMIC_ACQ_REL);
	was_renewed = s->lease_ns;	/* else it ran out as the slot was claimed */
	s->lease_ns = now_ns + GP_RING_LEASE_NS;
	if (lease_ns > now_ns)
		return 0;
	if (was_renewed && !s->lapse_ns)
		s->lapse_ns = lease_ns;
	wake(s);		/* it sleeps if there was no reader until now */
	return 0;
}

uint64_t ring_reader_lapse_ns(const struct ring_reader *s, uint64_t until_ns)
{
	return s->lapse_ns || s->lease_ns >= until_ns ? s->lapse_ns : s->lease_ns;
}

void ring_reader_want(struct ring_reader *s, uint32_t kinds)
{
	if (__atomic_load_n(&s->slot->kinds, __ATOMIC_RELAXED) == kinds)
		return;
	__atomic_store_n(&s->slot->kinds, kinds, __ATOMIC_RELEASE);
	wake(s);
}

bool ring_reader_is_alone(const struct ring_reader *s)
{
	for (size_t i = 0; i < GP_RING_SLOTS; i++)
		if (&s->head->slot[i] != s->slot &&
		    __atomic_load_n(&s->head->slot[i].owner, __ATOMIC_ACQUIRE))
			return false;
	return true;
}

bool ring_reader_is_at(const struct ring_reader *s, pid_t pid, int number)
{
	struct statx a, b;
	char path[64];
	bool is;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/fd/%d", pid, number);
	fd = open(path, O_PATH | O_CLOEXEC);
	if (fd < 0)
		return errno != ENOENT;
	is = look(s->fd, &a) && look(fd, &b) && are_on_one_device(&a, &b) && a.stx_ino == b.stx_ino;
	close(fd);
	return is;
}

/* ---- reading -------------------------------------------------------------------------------- */

/* Was the record just read for us? The helper checks only now and then who has the slot. It
 * begins again for a reader that was late. */
static bool is_ours(struct ring_reader *s, uint16_t kind, size_t len)
{
	struct gp_ring_begin begin = { .at_ns = UINT64_MAX };
	bool again = s->begun;

	if (kind != GP_RING_BEGIN || len < offsetof(struct gp_ring_begin, at_ns))
		return s->begun;
	memcpy(&begin, s->copy, len < sizeof(begin) ? len : sizeof(begin));
	if (begin.owner != s->me)
		return false;
	s->begun = true;
	if (begin.at_ns >= s->lapse_ns)	/* else it began before our lease ran out */
		s->lapse_ns = 0;
	return again;
}

/* One record at s->read, of at most `limit` bytes. 1: read, 0: not complete or not wanted now. */
static int read_record(struct ring_reader *s, uint64_t limit,
		       int (*fn)(void *, uint16_t, const void *, size_t), void *ctx)
{
	uint64_t at = s->read & (s->ring_bytes - 1), left = s->ring_bytes - at, bytes;
	struct gp_ring_record *shared = (void *)(s->data + at), rec;

	if (__atomic_load_n(&shared->stamp, __ATOMIC_ACQUIRE) != gp_ring_stamp(s->read))
		return 0;
	memcpy(&rec, shared, sizeof(rec));
	bytes = rec.units ? rec.units * 8ull : left;
	if (bytes > left || bytes > limit || bytes > GP_RING_RECORD_MAX || bytes < sizeof(rec))
		return -EBADMSG;
	if (rec.units) {
		memcpy(s->copy, shared + 1, bytes - sizeof(rec));
		if (is_ours(s, rec.kind, bytes - sizeof(rec)) &&
		    (!fn || fn(ctx, rec.kind, s->copy, bytes - sizeof(rec))))
			return 0;
	}
	memset(shared, 0, bytes);
	s->read += bytes;
	__atomic_store_n(&s->slot->read, s->read, __ATOMIC_RELEASE);
	return 1;
}

bool ring_reader_note(struct ring_reader *s)
{
	s->noted = __atomic_load_n(&s->slot->written, __ATOMIC_ACQUIRE);
	return s->noted != s->read;
}

int ring_reader_read(struct ring_reader *s,
		     int (*fn)(void *ctx, uint16_t kind, const void *payload, size_t len),
		     void *ctx)
{
	uint64_t written = __atomic_load_n(&s->slot->written, __ATOMIC_ACQUIRE), begun = s->read;
	const uint64_t until = s->noted ? s->noted : written;
	int got = 1;

	s->noted = 0;
	if (written - s->read > s->ring_bytes || written & 7)
		s->broken = true;	/* also when it went back */
	while (!s->broken && got == 1 && s->read != written && s->read - begun < until - begun)
		got = s->read - begun < READ_MAX ? read_record(s, written - s->read, fn, ctx) : 0;
	s->broken |= got < 0;
	return s->broken ? -EBADMSG : got;
}

void ring_reader_head(const struct ring_reader *s, struct gp_ring_head *out)
{
	memcpy(out, s->head, sizeof(*out));
	end_texts(out);
}

int ring_reader_peek(pid_t pid, struct gp_ring_head *out)
{
	const struct ring_owner any = { 0 };
	int fd = ring_reader_find(pid), err = fd < 0 ? fd : ring_reader_peek_at(fd, &any, out);

	io_close(&fd);
	return err;
}

uint64_t ring_reader_lost(const struct ring_reader *s, uint32_t kinds)
{
	uint64_t lost = 0;

	for (int k = 0; k < GP_RING_KINDS; k++)
		if (kinds >> k & 1)
			lost = num_add(lost, num_sub(__atomic_load_n(&s->slot->lost[k],
								     __ATOMIC_RELAXED),
						     s->lost[k]));
	return lost;
}
