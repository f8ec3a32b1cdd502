/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * gpuprof's side of include/gpuprof/ring.h: finds a helper's file in a process, takes a slot of
 * it, reads records. The content is hostile: a record is copied once and handed on in the copy,
 * its bounds checked; positions are kept here. The meaning of a record's fields is checked by
 * its consumer.
 */
#ifndef SOURCE_HELPER_RING_READER_H
#define SOURCE_HELPER_RING_READER_H

#include <dirent.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "gpuprof/ring.h"

/*
 * Which process a ring belongs to. A forked child has its parent's rings open until it executes
 * another program: a ring is a process's own if its head names the pid that the process has in its
 * own pid namespace. In a namespace of its own a child may have the number that its parent has
 * outside (1, in containers within containers): there it must also have begun before the ring.
 *
 * Examples; P a process, its pid in its own namespace, when it began; R a ring's head:
 *
 *   P 1234 (own 1234) at 100      R 1234 from 150      its own
 *   P 1300 (own 1300) at 200      R 1234 from 150      inherited
 *   P 1234 (own 1) at 100         R 1 from 150         its own
 *   P 1300 (own 1) at 200         R 1 from 150         inherited
 */
struct ring_owner {
	uint32_t own_pid;	/* 0: not known, then all rings are its own */
	uint64_t born_ns;	/* CLOCK_MONOTONIC, no later than it was; 0: of no use */
};

/* 0, or -ESRCH: it is gone. Fields that cannot be read are unknown. */
int ring_owner_read(pid_t pid, struct ring_owner *out);

/*
 * Looks for a helper's ring among the descriptors of a process, a few at a time: a process may have
 * a hundred thousand of them, and a host ten thousand processes. Often while the process is new,
 * then ever less. A descriptor that is found has the name of a ring and is memory; ring_reader_open
 * checks the rest.
 */
struct ring_search {		/* start zeroed: it is due */
	DIR *dir;		/* NULL: it has not begun */
	uint64_t at_ns, every_ns;	/* the next one; 0: at once */
	uint64_t since_ns;		/* the end of the first round */
	bool is_unlikely, has_calls;	/* to find one; the process uses CUDA */
	uint64_t fds, counted_ns;	/* in the last round; 0: it found something, or not known */
};

struct ring_found {		/* fd and pidfd are the caller's to close */
	int fd, pidfd;
	int number;		/* of the descriptor, in the process */
};

/* Goes on by at most *left descriptors, and subtracts its cost from that. 1: found; called again
 * it checks the descriptors behind that one, so stop if it is the right one. 0: there was no
 * time for all of them: call again. Else this round is over: -ENOENT: there is none, -ESRCH: no
 * such process, -EPERM... */
int ring_search(struct ring_search *s, pid_t pid, uint64_t now_ns, unsigned int *left,
		struct ring_found *out);

static inline bool ring_search_is_due(const struct ring_search *s, uint64_t now_ns)
{
	return s->dir || now_ns >= s->at_ns;
}

/* At once, and then as if the process were new; unlikely: each second, or ten without calls. */
static inline void ring_search_soon(struct ring_search *s, bool unlikely)
{
	s->at_ns = s->every_ns = s->since_ns = s->fds = 0;
	s->is_unlikely = unlikely;
}

static inline void ring_search_stop(struct ring_search *s)
{
	if (s->dir)
		closedir(s->dir);
	s->dir = NULL;
}

struct ring_reader;

/* A descriptor of a file with the name of a ring in process pid, or -errno: -ENOENT: it has
 * none, -EPERM, -ESRCH. Not logged. It is memory, and no ring that is known to be inherited. */
int ring_reader_find(pid_t pid);

/* Reads the head of a ring (bounded, texts terminated). 0, -EBADMSG or -EPROTO, as below, or
 * -ESRCH: it is another process's. */
int ring_reader_peek_at(int fd, const struct ring_owner *owner, struct gp_ring_head *out);

/* The same of a process's ring, without becoming its reader; -errno also as above. */
int ring_reader_peek(pid_t pid, struct gp_ring_head *out);

/* Takes fd. own_pid: the process's, as it sees itself; a forked child and a gpuprof have rings of
 * others open. NULL + errno, not logged: EBADMSG (no such file, or its head lies), ESRCH (the ring
 * of another process), EPROTO (a later version), EUSERS (as many readers as there are slots),
 * ENOMEM. now_ns: by the target's clock; a reader whose lease ended long ago (it was killed) loses
 * its slot. */
struct ring_reader *ring_reader_open(int fd, pid_t own_pid, uint32_t kinds, uint64_t now_ns);
void ring_reader_close(struct ring_reader *s);	/* gives the slot back */

/* To be called at least once a second; now_ns: CLOCK_MONOTONIC as the target sees it. 0, or
 * -ESTALE: the slot was given to another reader (we were late), so open again. */
int ring_reader_renew(struct ring_reader *s, uint64_t now_ns);

/* When our lease ran out before it was renewed, or before until_ns, by the target's clock, while it
 * is unknown whether the helper noticed; 0: it did not run out, or it has begun again. */
uint64_t ring_reader_lapse_ns(const struct ring_reader *s, uint64_t until_ns);

/* While the slot is ours: it may be other kinds than at first. */
void ring_reader_want(struct ring_reader *s, uint32_t kinds);

bool ring_reader_is_alone(const struct ring_reader *s);	/* there is no other */

/* Does that descriptor still hold it? Not after the process has executed another program. */
bool ring_reader_is_at(const struct ring_reader *s, pid_t pid, int number);

/* Is there anything to read? The next ring_reader_read reads what there is now, and no more. */
bool ring_reader_note(struct ring_reader *s);

/* Hands on complete records, oldest first. 1: all of them; 0: a record is being written (or fn
 * refused one, or there were more at once than a helper's ring holds), go on later; -EBADMSG:
 * the ring is broken, nothing more can be read of it. fn: non-zero (NULL: always) keeps the record
 * for the next time. A GP_RING_BEGIN: the helper had stopped sending to us, and begins again. */
int ring_reader_read(struct ring_reader *s,
		     int (*fn)(void *ctx, uint16_t kind, const void *payload, size_t len),
		     void *ctx);

/* Its head now (bounded, texts terminated); losses in our slot, of some kinds (bits). */
void ring_reader_head(const struct ring_reader *s, struct gp_ring_head *out);
uint64_t ring_reader_lost(const struct ring_reader *s, uint32_t kinds);

#endif
