// SPDX-License-Identifier: BSD-3-Clause
/*
 * libnccl.so.2, the simulated NCCL: the segment in which the ranks of a communicator meet. It has a
 * name, made of the unique id, only until the last rank has joined: whatever is killed later leaves
 * nothing behind. Who waits for others to join holds a shared lock on the file, so a name without
 * a lock is stale and the next process that makes an id removes it.
 */
#include "libnccl.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/futex.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define FOLDER "/dev/shm"
#define PREFIX "gpusim-nccl-"

enum { KEY_BYTES = 16, DEFAULT_GBPS = 100 };
/*
 * A rank's next group begins when its last one has ended, and that needed all ranks to come: so at
 * any moment two groups are in use at most, and the rings are twice as long as a group may be.
 */
enum { MEETINGS = 2 * NCCL_GROUP_WORKS, PAIR_MEETINGS = 2 * NCCL_PAIR_WORKS };

struct nccl_meeting {
	uint64_t number; /* from 1: which of the meetings that share this slot */
	uint32_t arrived, unused;
	uint64_t latest_ns, end_ns, bytes;
};

struct segment {
	pthread_mutex_t lock; /* robust: a rank may be killed inside */
	uint32_t ranks, joined, changes, unused;
	uint64_t bus_free_ns;
	uint8_t taken[NCCL_RANKS];
	struct nccl_meeting all[MEETINGS];
	struct nccl_meeting pairs[][PAIR_MEETINGS];
};

struct nccl_shared {
	struct segment *segment;
	size_t size;
	uint64_t gbps;
	int fd; /* until all have joined */
	char path[sizeof(FOLDER "/" PREFIX) + 2 * KEY_BYTES];
};

static void lock(struct segment *segment)
{
	if (pthread_mutex_lock(&segment->lock) == EOWNERDEAD)
		pthread_mutex_consistent(&segment->lock);
}

static void unlock(struct segment *segment)
{
	pthread_mutex_unlock(&segment->lock);
}

static void wake(uint32_t *word)
{
	syscall(SYS_futex, word, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}

static void remove_if_stale(const char *name)
{
	char path[PATH_MAX];
	int fd;

	snprintf(path, sizeof(path), FOLDER "/%s", name);
	fd = open(path, O_RDWR | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return;
	if (!flock(fd, LOCK_EX | LOCK_NB))
		unlink(path);
	close(fd);
}

static void remove_stale(void)
{
	DIR *folder = opendir(FOLDER);
	const struct dirent *entry;

	while (folder && (entry = readdir(folder)))
		if (strncmp(entry->d_name, PREFIX, strlen(PREFIX)) == 0)
			remove_if_stale(entry->d_name);
	if (folder)
		closedir(folder);
}

int nccl_shared_new_id(ncclUniqueId *out)
{
	unsigned char key[KEY_BYTES];
	int i;

	if (getrandom(key, sizeof(key), 0) != sizeof(key))
		return ncclSystemError;
	remove_stale();
	memset(out, 0, sizeof(*out));
	for (i = 0; i < KEY_BYTES; i++)
		snprintf(out->internal + 2 * i, 3, "%02x", key[i]);
	return ncclSuccess;
}

static bool id_is_ours(const ncclUniqueId *id)
{
	return strnlen(id->internal, sizeof(id->internal)) == 2 * KEY_BYTES &&
	       strspn(id->internal, "0123456789abcdef") == 2 * KEY_BYTES;
}

static int map(struct nccl_shared *shared)
{
	void *memory = mmap(NULL, shared->size, PROT_READ | PROT_WRITE, MAP_SHARED, shared->fd, 0);

	if (memory == MAP_FAILED)
		return -1;
	shared->segment = memory;
	return 0;
}

static void prepare(struct segment *segment, int ranks)
{
	pthread_mutexattr_t attributes;

	pthread_mutexattr_init(&attributes);
	pthread_mutexattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED);
	pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_ROBUST);
	pthread_mutex_init(&segment->lock, &attributes);
	pthread_mutexattr_destroy(&attributes);
	segment->ranks = (uint32_t)ranks;
}

/* The file gets its name when it is complete; errno EEXIST: another rank was first. */
static int create(struct nccl_shared *shared, int ranks)
{
	char self[64];

	shared->fd = open(FOLDER, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	if (shared->fd < 0)
		return -1;
	snprintf(self, sizeof(self), "/proc/self/fd/%d", shared->fd);
	if (flock(shared->fd, LOCK_SH) || ftruncate(shared->fd, (off_t)shared->size) || map(shared))
		return -1;
	prepare(shared->segment, ranks);
	return linkat(AT_FDCWD, self, AT_FDCWD, shared->path, AT_SYMLINK_FOLLOW);
}

/* errno ENOENT also when it lost its name between open and lock. */
static int open_existing(struct nccl_shared *shared)
{
	struct stat file;

	shared->fd = open(shared->path, O_RDWR | O_NOFOLLOW | O_CLOEXEC);
	if (shared->fd < 0 || flock(shared->fd, LOCK_SH) || fstat(shared->fd, &file))
		return -1;
	if (!file.st_nlink || (size_t)file.st_size != shared->size) {
		errno = file.st_nlink ? EINVAL : ENOENT;
		return -1;
	}
	return map(shared);
}

static void drop(struct nccl_shared *shared)
{
	if (shared->segment)
		munmap(shared->segment, shared->size);
	if (shared->fd >= 0)
		close(shared->fd);
	shared->segment = NULL;
	shared->fd = -1;
}

static int open_or_create(struct nccl_shared *shared, int ranks)
{
	int tries;

	for (tries = 0; tries < 100; tries++) {
		if (!open_existing(shared))
			return ncclSuccess;
		drop(shared);
		if (errno == EINVAL)
			return ncclInvalidArgument;
		if (!create(shared, ranks))
			return ncclSuccess;
		drop(shared);
		if (errno != EEXIST)
			break;
	}
	perror("gpusim: cannot share memory in " FOLDER);
	return ncclSystemError;
}

static int take_rank(struct nccl_shared *shared, int rank)
{
	struct segment *segment = shared->segment;
	int result = ncclInvalidUsage;

	lock(segment);
	if (!segment->taken[rank]) {
		segment->taken[rank] = 1;
		if (segment->joined + 1 == segment->ranks)
			unlink(shared->path);
		__atomic_add_fetch(&segment->joined, 1, __ATOMIC_RELEASE);
		result = ncclSuccess;
	}
	unlock(segment);
	wake(&segment->joined);
	return result;
}

static uint64_t bus_gbps(void)
{
	const char *text = getenv("GPUSIM_NCCL_GBPS");
	uint64_t gbps = text ? strtoull(text, NULL, 0) : 0;

	return gbps ? gbps : DEFAULT_GBPS;
}

int nccl_shared_join(const ncclUniqueId *id, int ranks, int rank, struct nccl_shared **out)
{
	struct nccl_shared *shared;
	int result;

	if (ranks < 1 || ranks > NCCL_RANKS || rank < 0 || rank >= ranks || !id_is_ours(id))
		return ncclInvalidArgument;
	shared = calloc(1, sizeof(*shared));
	if (!shared)
		return ncclSystemError;
	shared->fd = -1;
	shared->gbps = bus_gbps();
	shared->size = sizeof(struct segment) +
		       (size_t)ranks * (size_t)ranks * sizeof(shared->segment->pairs[0]);
	snprintf(shared->path, sizeof(shared->path), FOLDER "/" PREFIX "%.*s", 2 * KEY_BYTES,
		 id->internal);
	result = open_or_create(shared, ranks);
	if (!result)
		result = take_rank(shared, rank);
	if (result)
		nccl_shared_leave(shared);
	else
		*out = shared;
	return result;
}

void nccl_shared_wait(struct nccl_shared *shared)
{
	struct segment *segment = shared->segment;
	uint32_t joined;

	while ((joined = __atomic_load_n(&segment->joined, __ATOMIC_ACQUIRE)) < segment->ranks)
		syscall(SYS_futex, &segment->joined, FUTEX_WAIT, joined, NULL, NULL, 0);
	if (shared->fd >= 0)
		close(shared->fd);
	shared->fd = -1;
}

void nccl_shared_leave(struct nccl_shared *shared)
{
	drop(shared);
	free(shared);
}

struct nccl_place nccl_shared_all(struct nccl_shared *shared, uint64_t number)
{
	struct segment *segment = shared->segment;

	return (struct nccl_place){ .meeting = &segment->all[number % MEETINGS], .number = number,
				    .expected = segment->ranks };
}

struct nccl_place nccl_shared_pair(struct nccl_shared *shared, int from, int to, uint64_t number)
{
	struct segment *segment = shared->segment;
	size_t pair = (size_t)from * segment->ranks + (size_t)to;

	return (struct nccl_place){ .meeting = &segment->pairs[pair][number % PAIR_MEETINGS],
				    .number = number, .expected = 2 };
}

/* The last to come says when it ends: collectives share the bus, one after the other. */
static void conclude(struct nccl_shared *shared, struct nccl_meeting *meeting, bool on_bus)
{
	struct segment *segment = shared->segment;
	uint64_t start_ns = meeting->latest_ns;
	uint64_t ns = meeting->bytes / shared->gbps;

	if (on_bus && segment->bus_free_ns > start_ns)
		start_ns = segment->bus_free_ns;
	meeting->end_ns = start_ns > GPUSIM_FOREVER - ns ? GPUSIM_FOREVER : start_ns + ns;
	if (on_bus)
		segment->bus_free_ns = meeting->end_ns;
}

void nccl_shared_arrive(struct nccl_shared *shared, const struct nccl_place *place,
			uint64_t time_ns)
{
	struct segment *segment = shared->segment;
	struct nccl_meeting *meeting = place->meeting;
	bool last;

	lock(segment);
	if (meeting->number != place->number)
		*meeting = (struct nccl_meeting){ .number = place->number };
	if (time_ns > meeting->latest_ns)
		meeting->latest_ns = time_ns;
	if (place->bytes > meeting->bytes)
		meeting->bytes = place->bytes;
	last = ++meeting->arrived == place->expected;
	if (last) {
		conclude(shared, meeting, meeting < &segment->all[MEETINGS]);
		__atomic_add_fetch(&segment->changes, 1, __ATOMIC_RELEASE);
	}
	unlock(segment);
	if (last)
		wake(&segment->changes);
}

uint64_t nccl_shared_end(struct nccl_shared *shared, const struct nccl_place *place)
{
	uint64_t end_ns = 0;

	lock(shared->segment);
	if (place->meeting->number == place->number)
		end_ns = place->meeting->end_ns;
	unlock(shared->segment);
	return end_ns;
}

const uint32_t *nccl_shared_changes(const struct nccl_shared *shared)
{
	return &shared->segment->changes;
}
