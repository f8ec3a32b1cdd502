/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The helper's side of include/gpuprof/ring.h: makes the file, reads what readers want, sends
 * records. Knows nothing of CUPTI or of the meaning of records.
 *
 * helper_ring_send may be called by any thread, also by the application's: it takes no lock,
 * allocates nothing, never waits. All else is for one thread at a time.
 */
#ifndef HELPER_RING_H
#define HELPER_RING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "gpuprof/ring.h"

struct helper_ring {
	/* shared with readers: read nothing back from it but wishes */
	struct gp_ring_head *head;
	uint64_t ring_bytes;
	uint64_t data_offset;
	size_t map_bytes;
	int fd;			/* the program may have closed it, and have another file there */
	uint64_t dev, ino;	/* of ours */
	uint32_t wanted[GP_RING_KINDS];	/* of each kind: the slots that get it, as bits */
	uint32_t kinds[GP_RING_SLOTS];	/* as it was last looked at; 0: no reader */
	uint32_t owner[GP_RING_SLOTS];	/* the reader that has its GP_RING_BEGIN; 0: none */
};

/* ring_bytes: a power of two between the limits; it becomes less where the process may make no file
 * that large. 0 or -errno: EFBIG: not even the least. */
int helper_ring_open(struct helper_ring *r, uint64_t ring_bytes, uint64_t now_ns);
void helper_ring_close(struct helper_ring *r);	/* unmaps; the file lives on with its readers */

/* Reads which slots hold a lease and which kinds they want, and frees slots whose reader is
 * gone. Returns the union of the wanted kinds, as bits; *fresh: slots whose reader or lease is
 * new since the last call, as bits, which have their GP_RING_BEGIN. Until they are admitted they
 * get only names and facts that records refer to. */
uint32_t helper_ring_look(struct helper_ring *r, uint64_t now_ns, uint32_t *fresh);
void helper_ring_admit(struct helper_ring *r);

/* Gives the record to every slot that wants its kind. len <= GP_RING_RECORD_MAX - 8. */
void helper_ring_send(struct helper_ring *r, uint16_t kind, const void *payload, size_t len);

/* The same, to those of `slots` only: facts that a new reader needs. */
void helper_ring_send_to(struct helper_ring *r, uint32_t slots, uint16_t kind, const void *payload,
		  size_t len);

#endif
