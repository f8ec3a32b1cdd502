// SPDX-License-Identifier: BSD-3-Clause
/*
 * The layout is in gpuprof/ring.h. Readers are not trusted: what they write decides only whether
 * they get records, never where the helper writes.
 */
#include "helper/ring.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define HIGH 900	/* a limit of 1024 descriptors is usual */

/* A file size limit holds for memory files, too. Exceeding it sends a signal that ends the
 * process: this thread blocks it, and takes it back. */
static int set_size(int fd, uint64_t bytes)
{
	const struct timespec none = { 0, 0 };
	sigset_t beyond, before;
	int err;

	sigemptyset(&beyond);
	sigaddset(&beyond, SIGXFSZ);
	pthread_sigmask(SIG_BLOCK, &beyond, &before);
	err = ftruncate(fd, (off_t)bytes) ? -errno : 0;
	if (err == -EFBIG && sigtimedwait(&beyond, NULL, &none) < 0)
		sigaddset(&before, SIGXFSZ);	/* a filter forbids it: it stays deaf */
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return err;
}

/* As large as it may be: a small ring loses records, and counts them. */
static int make_room(struct helper_ring *r, uint64_t ring_bytes)
{
	int err;

	do {
		r->ring_bytes = ring_bytes;
		r->map_bytes = r->data_offset + GP_RING_SLOTS * ring_bytes;
		err = set_size(r->fd, r->map_bytes);
		ring_bytes /= 2;
	} while (err == -EFBIG && ring_bytes >= GP_RING_BYTES_MIN);
	return err;
}

/* The program's own files get the numbers that they would get without us: the standard streams'
 * too, if those are closed. */
static int make_file(void)
{
	int fd = (int)syscall(SYS_memfd_create, GP_RING_NAME, MFD_CLOEXEC | MFD_ALLOW_SEALING),
	    high = -1;

	if (fd < 0)
		return -errno;
	for (int least = HIGH; least > STDERR_FILENO && high < 0; least /= 2)
		high = fcntl(fd, F_DUPFD_CLOEXEC, least);
	if (high < 0 && fd > STDERR_FILENO)
		return fd;	/* it was the last */
	close(fd);
	return high < 0 ? -EMFILE : high;
}

/* The file behind the descriptor now. fstat itself is younger than glibc 2.17. */
static bool get_file(int fd, uint64_t *dev, uint64_t *ino)
{
	struct stat st;

	if (syscall(SYS_fstat, fd, &st))
		return false;
	*dev = st.st_dev;
	*ino = st.st_ino;
	return true;
}

int helper_ring_open(struct helper_ring *r, uint64_t ring_bytes, uint64_t now_ns)
{
	void *at = NULL;
	int err;

	*r = (struct helper_ring){ .fd = -1 };
	if (ring_bytes < GP_RING_BYTES_MIN || ring_bytes > GP_RING_BYTES_MAX ||
	    ring_bytes & (ring_bytes - 1))
		return -EINVAL;
	r->data_offset = (uint64_t)sysconf(_SC_PAGESIZE);
	if (r->data_offset < GP_RING_HEAD_BYTES)
		r->data_offset = GP_RING_HEAD_BYTES;
	r->fd = make_file();
	if (r->fd < 0)
		return r->fd;
	err = get_file(r->fd, &r->dev, &r->ino) ? make_room(r, ring_bytes) : -EIO;
	if (!err && fcntl(r->fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL))
		err = -errno;
	if (!err)
		at = mmap(NULL, r->map_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, r->fd, 0);
	if (at == MAP_FAILED)
		err = -errno;
	if (err) {
		close(r->fd);
		r->fd = -1;
		return err;
	}
	r->head = at;
	*r->head = (struct gp_ring_head){
		.version = GP_RING_VERSION, .head_bytes = sizeof(struct gp_ring_head),
		.data_offset = r->data_offset, .ring_bytes = r->ring_bytes,
		.pid = (uint32_t)getpid(), .slots = GP_RING_SLOTS, .start_ns = now_ns,
		.state = GP_HELPER_VIRGIN, .state_ns = now_ns };
	__atomic_store_n(&r->head->tag, GP_RING_TAG, __ATOMIC_RELEASE);
	return 0;
}

void helper_ring_close(struct helper_ring *r)
{
	uint64_t dev, ino;

	if (r->head)
		munmap(r->head, r->map_bytes);
	if (r->fd >= 0 && get_file(r->fd, &dev, &ino) && dev == r->dev && ino == r->ino)
		close(r->fd);
	*r = (struct helper_ring){ .fd = -1 };
}

/* The slot's reader, 0: none. One that is long gone makes room for another; so does one whose
 * lease lies so far ahead that no reader can have meant it: CUPTI would work for ever
 * without a reader. */
static uint32_t reader_of(struct gp_ring_slot *s, uint64_t now_ns)
{
	uint32_t owner = __atomic_load_n(&s->owner, __ATOMIC_ACQUIRE);
	uint64_t lease_ns = __atomic_load_n(&s->lease_ns, __ATOMIC_ACQUIRE), apart_ns;

	apart_ns = lease_ns > now_ns ? lease_ns - now_ns : now_ns - lease_ns;
	if (!owner || (lease_ns > now_ns && apart_ns <= GP_RING_ABANDONED_NS))
		return owner;
	if (apart_ns > GP_RING_ABANDONED_NS && lease_ns)
		__atomic_compare_exchange_n(&s->owner, &owner, 0, false, __ATOMIC_RELEASE,
					    __ATOMIC_RELAXED);
	return 0;
}

#define BEFORE_ALL (1u << GP_RING_CLOCK | 1u << GP_RING_NAME_IS | 1u << GP_RING_DEVICE | \
		    1u << GP_RING_CONTEXT)

/* Which slots get a record; new slots get only what has to come first. */
static void publish(struct helper_ring *r, uint32_t fresh)
{
	for (unsigned int kind = 0; kind < GP_RING_KINDS; kind++) {
		uint32_t slots = 0;

		for (uint32_t i = 0; i < GP_RING_SLOTS; i++)
			if (!(fresh >> i & 1) || BEFORE_ALL >> kind & 1)
				slots |= (r->kinds[i] >> kind & 1) << i;
		__atomic_store_n(&r->wanted[kind], slots, __ATOMIC_SEQ_CST);
	}
}

/* Room for `need` bytes that do not wrap: their position, or UINT64_MAX. A pad before them is
 * written here, since only this one knows of it. */
static uint64_t reserve(struct helper_ring *r, struct gp_ring_slot *s, char *data, uint64_t need)
{
	uint64_t at = __atomic_load_n(&s->written, __ATOMIC_RELAXED), left, pad;

	do {
		if (at & 7)
			return UINT64_MAX;	/* not ours: a reader has written there */
		left = r->ring_bytes - (at & (r->ring_bytes - 1));
		pad = left < need ? left : 0;
		/* A reader that lies about `read` makes the difference too large: no room. */
		if (at + pad + need - __atomic_load_n(&s->read, __ATOMIC_ACQUIRE) > r->ring_bytes)
			return UINT64_MAX;
	} while (!__atomic_compare_exchange_n(&s->written, &at, at + pad + need, true,
					      __ATOMIC_RELAXED, __ATOMIC_RELAXED));
	if (pad) {
		struct gp_ring_record *rec = (void *)(data + (at & (r->ring_bytes - 1)));

		rec->units = 0;		/* to the end of the area, however long that is */
		rec->kind = GP_RING_PAD;
		__atomic_store_n(&rec->stamp, gp_ring_stamp(at), __ATOMIC_RELEASE);
	}
	return at + pad;
}

/* False: there is no room. */
static bool send_one(struct helper_ring *r, unsigned int slot, uint16_t kind, const void *payload,
		     size_t len)
{
	struct gp_ring_slot *s = &r->head->slot[slot];
	char *data = (char *)r->head + r->data_offset + slot * r->ring_bytes;
	uint64_t need = (sizeof(struct gp_ring_record) + len + 7) & ~7ull;
	uint64_t at = reserve(r, s, data, need);
	struct gp_ring_record *rec;

	if (at == UINT64_MAX) {
		__atomic_fetch_add(&s->lost[kind], 1, __ATOMIC_RELAXED);
		return false;
	}
	rec = (void *)(data + (at & (r->ring_bytes - 1)));
	memcpy(rec + 1, payload, len);
	rec->units = (uint16_t)(need / 8);
	rec->kind = kind;
	__atomic_store_n(&rec->stamp, gp_ring_stamp(at), __ATOMIC_RELEASE);
	return true;
}

/* Sends the readers of these slots GP_RING_BEGIN; a full ring gets it at another look. Returns
 * those that have it. */
static uint32_t begin(struct helper_ring *r, uint32_t slots, const uint32_t owner[GP_RING_SLOTS],
		      uint64_t now_ns)
{
	uint32_t begun = 0;

	for (uint32_t i = 0; i < GP_RING_SLOTS; i++) {
		struct gp_ring_begin rec = { .owner = owner[i], .at_ns = now_ns };

		if (!(slots >> i & 1))
			continue;
		if (send_one(r, i, GP_RING_BEGIN, &rec, sizeof(rec))) {
			r->owner[i] = owner[i];
			begun |= 1u << i;
		} else {
			r->owner[i] = r->kinds[i] = 0;
		}
	}
	return begun;
}

uint32_t helper_ring_look(struct helper_ring *r, uint64_t now_ns, uint32_t *fresh)
{
	uint32_t owner[GP_RING_SLOTS], come = 0, all = 0;

	for (uint32_t i = 0; i < GP_RING_SLOTS; i++) {
		struct gp_ring_slot *s = &r->head->slot[i];

		owner[i] = reader_of(s, now_ns);
		r->kinds[i] = owner[i] ? __atomic_load_n(&s->kinds, __ATOMIC_ACQUIRE) : 0;
		all |= r->kinds[i] & GP_RING_WANT_END ? 0 : r->kinds[i];
		if (!owner[i])
			r->owner[i] = 0;
		else if (owner[i] != r->owner[i])
			come |= 1u << i;
	}
	/* First stop writing for the previous reader. */
	publish(r, come);
	*fresh = begin(r, come, owner, now_ns);
	if (*fresh != come)
		publish(r, *fresh);
	return all;
}

void helper_ring_admit(struct helper_ring *r)
{
	publish(r, 0);
}

void helper_ring_send_to(struct helper_ring *r, uint32_t slots, uint16_t kind, const void *payload,
		  size_t len)
{
	if (kind >= GP_RING_KINDS || len > GP_RING_RECORD_MAX - sizeof(struct gp_ring_record))
		return;
	for (unsigned int i = 0; slots; i++, slots >>= 1)
		if (slots & 1)
			send_one(r, i, kind, payload, len);
}

void helper_ring_send(struct helper_ring *r, uint16_t kind, const void *payload, size_t len)
{
	if (kind < GP_RING_KINDS)
		helper_ring_send_to(r, __atomic_load_n(&r->wanted[kind], __ATOMIC_ACQUIRE), kind,
				    payload, len);
}
