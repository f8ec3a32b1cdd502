/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Capture files (.gpr): an event sink that stores events, and a source that delivers them again in
 * the same order. The file's layout is in include/gpuprof/capture.h.
 *
 * Every block stands alone (functions, threads and shapes are defined in it before they are
 * used), so all complete blocks of a file that was cut anywhere are readable.
 */
#ifndef CAPTURE_CAPTURE_H
#define CAPTURE_CAPTURE_H

#include "event/event.h"

/* ---- writer ----------------------------------------------------------------------------- */

struct capture_writer;

struct capture_stats {
	uint64_t events;
	uint64_t blocks;
	uint64_t raw_bytes;	/* encoded, before compression */
	uint64_t file_bytes;
};

/*
 * Creates path (mode 0600, never through a symlink at the last component; an existing regular
 * file is replaced only when it is a capture or empty, and no other writer has it open). funcs
 * must outlive the writer. NULL + errno, logged. The process must ignore SIGXFSZ, so that a size
 * limit is an error like a full disk.
 */
struct capture_writer *capture_create(const char *path, const struct funcs *funcs);

/* Appends one event. Encodes into memory; a full block is compressed and written by
 * capture_flush or by the next push. 0 or -errno (sticky, logged once). */
int capture_push(struct capture_writer *w, const struct event *ev);

/* Ends the current block and writes it out. Called at least once a second by the session. */
int capture_flush(struct capture_writer *w);

/*
 * Storing in another thread. full takes each ended block (the thread that pushes calls it); one
 * thread must pass them to capture_store, in the same order, before capture_close is called.
 * capture_store compresses, writes, frees the block; 0 or -errno, which the next push then returns
 * too. Blocks are of at most 1 MiB: full bounds how many wait.
 */
struct capture_block;
void capture_defer(struct capture_writer *w, void (*full)(void *ctx, struct capture_block *b),
		   void *ctx);
int capture_store(struct capture_writer *w, struct capture_block *b);

/* Writes the last block and the end marker ("complete"), fsyncs, closes and frees. The file keeps
 * all complete blocks also after a failure. stats may be NULL. */
int capture_close(struct capture_writer *w, struct capture_stats *stats);

/* Does the file that fd is open on begin as a capture does? */
bool capture_is_file(int fd);

/* ---- reader ----------------------------------------------------------------------------- */

struct capture_reader;

enum capture_state {
	CAPTURE_COMPLETE,	/* the end marker was read */
	CAPTURE_CUT,		/* ends without one: the recorder was killed or the file was cut */
	CAPTURE_DAMAGED,	/* blocks with wrong checksums or contents were skipped */
	CAPTURE_GROWING,	/* ends without one because its recorder is still at work */
};

/*
 * Opens and checks the file header. NULL + errno, logged with the reason: ENOENT..., EINVAL (not
 * a capture, not a regular file), ENOTSUP (a later version). A file cut inside its header, even
 * at byte 0, opens as a capture that is cut.
 */
struct capture_reader *capture_open(const char *path);

/* Functions named in the file so far; stable addresses; lives as long as the reader. A call's func
 * is always below n, any other event's below FUNCS_MAX. */
const struct funcs *capture_funcs(const struct capture_reader *r);

/* Delivers every event in file order to sink. Damaged blocks are skipped and counted. 0 or the
 * sink's own error or -EIO/-ENOMEM. May be called again: it starts anew. */
int capture_read(struct capture_reader *r, const struct event_sink *sink);

/* While it reads: the part of the file that was read, 0 to 1. */
double capture_progress(const struct capture_reader *r);

/* Valid after capture_read. A damaged file that is also cut is DAMAGED. */
enum capture_state capture_state(const struct capture_reader *r);
struct capture_counts {
	uint64_t blocks;	/* read without an error */
	uint64_t bad_blocks;	/* damaged, missing or in part */
	uint64_t bad_events;	/* lost with them, if known */
};
struct capture_counts capture_counts(const struct capture_reader *r);

void capture_free(struct capture_reader *r);

#endif
