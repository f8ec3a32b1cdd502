/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The CUDA memory of one process, streaming: live and peak bytes, allocations, frees, by
 * device, kind and stack of the allocating call. Two sources may report one allocation, a call
 * that was seen and CUPTI's record: it is one. Knows no events and no functions. In plain words:
 * tests/lib/memory_spec.h.
 *
 * A call takes [start, end); a record is of one moment, which lies in its call but for the
 * clocks' uncertainty. A call and a record are one allocation when they have the same operation
 * and address, within MEMORY_SLACK_NS. Both wait until they are settled, in order of time.
 *
 * Examples; A(x) allocates 10 bytes at x, F(x) frees it, calls as [start, end), records as @moment:
 *
 *   A(1) [10,20)  F(1) [30,40)            allocs 1, frees 1, live 0, peak 10
 *   A(1) [10,20)  A(1) @15                allocs 1, live 10: device and kind are the record's
 *   A(1) @15      A(2) @16  F(1) @17      allocs 2, frees 1, live 10, peak 20
 *   F(9) [10,20)                          frees_before 1: allocated before the session
 *   A(1) @15      A(1) @25                allocs 2, live 10: its free was not seen
 *
 * Of calls whose records were lost the others' records are of the nearest; with times in ms / 100:
 *
 *   A(1) [0,1)  F(1) [2,3)  A(1) [4,5) @4    allocs 2, frees 1, live 10: the first is a call's
 */
#ifndef FACTS_MEMORY_BOOK_H
#define FACTS_MEMORY_BOOK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "event/event.h"

#define MEMORY_SLACK_NS 1000000ull
#define MEMORY_WAITING_MAX 65536	/* of one process; then the oldest are settled */
/* stacks of one process; more share the row of device and kind */
#define MEMORY_GROUPS_MAX 65536
#define MEMORY_NO_DEVICE UINT32_MAX

struct memory_act {
	uint64_t start_ns, end_ns;	/* equal in a record */
	uint64_t address;
	uint64_t bytes;
	uint64_t stack;			/* id; 0: unknown */
	uint32_t device;		/* the process's own ordinal, MEMORY_NO_DEVICE: unknown */
	uint8_t op;			/* enum memory_op */
	uint8_t kind;			/* enum memory_kind */
	bool is_record;
	bool has_bytes;
	bool has_call;			/* a record: its call was seen, too */
	bool again;			/* allocated before the session: not a new allocation */
};

struct memory_key {
	uint64_t stack;
	uint32_t device;
	uint8_t kind;
	uint8_t by_stack;		/* 1: a part of the row of this device and kind */
	uint16_t pad;
};

struct memory_sums {
	struct memory_key key;
	uint64_t live_bytes, peak_bytes;
	uint64_t live;			/* allocations, of live_bytes */
	uint64_t allocs, frees, failed;
	uint64_t leaked_bytes, leaked;	/* that lived when the process's program ended before */
	uint64_t frees_before;		/* of allocations before the session: size unknown */
	uint64_t unsized;		/* allocations whose bytes are not known: in no sum */
	uint64_t untracked;		/* whose free is not observed: in allocs alone */
};

struct memory_counts {
	uint64_t late;			/* came after their time was settled */
	uint64_t unseen_frees;		/* an address was allocated again before that */
	uint64_t alone;			/* records without a call, but those with `again` */
	uint64_t resets;		/* of a device with live memory: freed bytes are unknown */
};

/* Allocations that all books with it may still keep in mind. */
struct memory_room {
	size_t left;
	bool keeps_lines;	/* books know what lived when, too */
};
#define MEMORY_ROOM 262144
struct memory_book;

/* Counts and peaks are of what took effect from begin_ns on. NULL + errno. */
struct memory_book *memory_book_new(struct memory_room *room, uint64_t begin_ns);
void memory_book_free(struct memory_book *b);

int memory_book_push(struct memory_book *b, const struct memory_act *act);	/* 0 or -ENOMEM */
/* An allocation that failed, and one whose address is unknown. 0 or -ENOMEM. */
int memory_book_fail(struct memory_book *b, uint8_t kind, uint64_t stack);
int memory_book_untracked(struct memory_book *b, uint8_t kind, uint64_t stack);

/* At ns all that lived on one of the devices was freed. 0 or -ENOMEM. */
int memory_book_reset(struct memory_book *b, uint64_t ns);
/* All that began before horizon_ns has been pushed. 0 or -ENOMEM. */
int memory_book_settle(struct memory_book *b, uint64_t horizon_ns);
/* The program ends, and with it all that lives and is settled. */
void memory_book_end(struct memory_book *b);

/* Adds a row of an ended process's book to the row of its device, kind and stack. Peaks are added
 * up too, though they need not coincide. 0 or -ENOMEM. */
int memory_book_add(struct memory_book *b, const struct memory_sums *from);
/* Gives back memory that is not needed while nothing comes. */
void memory_book_trim(struct memory_book *b);
size_t memory_book_bytes(const struct memory_book *b);	/* allocated, about */

size_t memory_book_rows(const struct memory_book *b);
const struct memory_sums *memory_book_row(const struct memory_book *b, size_t i);
/* A copy up to close_ns, for free(). NULL + errno; ENOENT: it keeps none (memory_line.h). */
struct memory_line *memory_book_line(const struct memory_book *b, uint64_t close_ns);
/* Subtracts the counts of an earlier reading's rows, of the same process or of one that was added
 * to it. A peak that was reached before becomes the larger of both live bytes: at least that. */
void memory_sums_subtract(struct memory_sums *from, size_t n, const struct memory_sums *earlier,
			  size_t n_earlier);
void memory_book_counts(const struct memory_book *b, struct memory_counts *out);

#endif
