// SPDX-License-Identifier: BSD-3-Clause
/*
 * Encodes into the current block and has full ones stored, at once or, with capture_defer, by
 * another thread: compressed, and appended with their header in one write. Knows no rows.
 */
#include "capture/capture.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include <gpuprof/capture.h>

#include "base/io.h"
#include "base/log.h"
#include "capture/capture_codec.h"
#include "capture/capture_file.h"
#include "capture/capture_frame.h"

#define ZSTD_LEVEL 1

/* The file: it ends with a complete block at all times, also after a failed write. Used by the
 * thread that stores. */
struct store {
	int fd;
	int err;
	char *path;
	ZSTD_CCtx *zstd;
	uint8_t *out;			/* a header and its packed payload */
	uint64_t file_id;
	uint64_t number;		/* of the last block */
	struct capture_stats stats;	/* file_bytes: up to the last complete block */
};

/* The one place where a failed write is reported; cuts the file back to its last whole block. */
static int store_failed(struct store *s, int err)
{
	s->err = err;
	log_error("cannot write %s: %s; it stays readable up to its last complete block "
		  "(%llu bytes)", s->path, strerror(-err),
		  (unsigned long long)s->stats.file_bytes);
	if (ftruncate(s->fd, (off_t)s->stats.file_bytes) ||
	    lseek(s->fd, (off_t)s->stats.file_bytes, SEEK_SET) < 0)
		log_warn("cannot cut %s back to its last complete block: %s", s->path,
			 strerror(errno));
	return err;
}

static int append(struct store *s, const void *data, size_t len)
{
	int err = io_write_all(s->fd, data, len);

	if (err)
		return store_failed(s, err);
	s->stats.file_bytes += len;
	return 0;
}

static void store_free(struct store *s)
{
	if (s->fd >= 0)
		close(s->fd);
	ZSTD_freeCCtx(s->zstd);
	free(s->out);
	free(s->path);
	free(s);
}

static int store_prepare(struct store *s, const char *path)
{
	s->path = strdup(path);
	s->zstd = ZSTD_createCCtx();
	s->out = malloc(sizeof(struct gp_block_header) + FRAME_PACKED_MAX);
	if (!s->path || !s->zstd || !s->out) {
		log_error("cannot create %s: %s", path, strerror(ENOMEM));
		return -ENOMEM;
	}
	ZSTD_CCtx_setParameter(s->zstd, ZSTD_c_compressionLevel, ZSTD_LEVEL);
	ZSTD_CCtx_setParameter(s->zstd, ZSTD_c_checksumFlag, 1);
	if (getrandom(&s->file_id, sizeof(s->file_id), 0) != sizeof(s->file_id)) {
		log_error("cannot create %s: no random numbers: %s", path, strerror(errno));
		return -EIO;
	}
	s->fd = capture_file_create(path);
	return s->fd < 0 ? s->fd : 0;
}

static struct store *store_create(const char *path)
{
	struct store *s = calloc(1, sizeof(*s));
	struct gp_file_header h;
	int err;

	if (!s)
		return NULL;
	s->fd = -1;
	err = store_prepare(s, path);
	if (!err) {
		frame_seal_file(&h, s->file_id);
		err = append(s, &h, sizeof(h));
	}
	if (!err)
		return s;
	store_free(s);
	errno = -err;
	return NULL;
}

/* 0 or -errno: sticky, logged once. */
static int store_write(struct store *s, const struct capture_block *b)
{
	struct gp_block_header *h = (struct gp_block_header *)s->out;
	uint8_t *payload = s->out + sizeof(*h);
	size_t packed;
	int err;

	if (s->err)
		return s->err;
	packed = ZSTD_compress2(s->zstd, payload, FRAME_PACKED_MAX, b->raw, b->raw_bytes);
	if (ZSTD_isError(packed))
		return store_failed(s, -ENOMEM);
	*h = (struct gp_block_header){
		.type = b->type, .events = b->events, .number = ++s->number,
		.file_id = s->file_id, .start_ns = b->start_ns, .end_ns = b->end_ns,
		.raw_bytes = (uint32_t)b->raw_bytes, .packed_bytes = (uint32_t)packed,
		.payload_hash = XXH64(payload, packed, 0),
	};
	frame_seal_block(h);
	err = append(s, s->out, sizeof(*h) + packed);
	if (err)
		return err;
	if (b->type == GP_BLOCK_EVENTS) {
		s->stats.events += b->events;
		s->stats.raw_bytes += b->raw_bytes;
		s->stats.blocks++;
	}
	return 0;
}

static int write_end(struct store *s)
{
	struct gp_capture_end end = {
		.events = s->stats.events, .blocks = s->stats.blocks,
		.raw_bytes = s->stats.raw_bytes,
	};
	struct capture_block *b = malloc(sizeof(*b) + sizeof(end));
	int err;

	if (!b)
		return store_failed(s, -ENOMEM);
	*b = (struct capture_block){ .type = GP_BLOCK_END, .raw_bytes = sizeof(end) };
	memcpy(b->raw, &end, sizeof(end));
	err = store_write(s, b);
	free(b);
	return err;
}

/* Writes the end block if all events are in, fsyncs, closes, frees; after a failure it only closes
 * and frees. 0 or the first error. stats may be NULL. */
static int store_close(struct store *s, bool complete, struct capture_stats *stats)
{
	int err = s->err || !complete ? s->err : write_end(s);

	/* EINVAL: a file system that cannot; nothing is known to be wrong. */
	if (!err && fsync(s->fd) && errno != EINVAL) {
		err = -errno;
		log_error("cannot write %s to its disk: %s; it may be incomplete after a crash "
			  "of this host", s->path, strerror(errno));
	}
	if (stats)
		*stats = s->stats;
	store_free(s);
	return err;
}

/* ---- the writer ----------------------------------------------------------------------------- */

struct capture_writer {
	struct capture_encoder *encoder;
	struct store *store;
	atomic_int err;			/* set by whichever thread stores */
	_Atomic uint64_t stored_bytes;	/* likewise */
	_Atomic uint64_t waiting_bytes;	/* of blocks handed over, at most */
	void (*full)(void *ctx, struct capture_block *b);
	void *ctx;
};

struct capture_writer *capture_create(const char *path, const struct funcs *funcs)
{
	struct capture_writer *w = calloc(1, sizeof(*w));
	int saved;

	if (!w)
		return NULL;
	w->encoder = capture_encoder_new(funcs);
	w->store = w->encoder ? store_create(path) : NULL;
	if (w->store)
		return w;
	saved = errno;
	if (!w->encoder)
		log_error("cannot create %s: %s", path, strerror(saved));
	capture_encoder_free(w->encoder);
	free(w);
	errno = saved;
	return NULL;
}

void capture_defer(struct capture_writer *w, void (*full)(void *ctx, struct capture_block *b),
		   void *ctx)
{
	w->full = full;
	w->ctx = ctx;
}

/* Upper bound of a block in the file: its header and an incompressible payload. */
static uint64_t packed_at_most(size_t raw_bytes)
{
	return sizeof(struct gp_block_header) + raw_bytes + raw_bytes / 128 + 256;
}

uint64_t capture_bytes_at_most(const struct capture_writer *w)
{
	uint64_t waiting = atomic_load_explicit(&w->waiting_bytes, memory_order_acquire);
	size_t raw = capture_encoder_bytes(w->encoder);

	return atomic_load_explicit(&w->stored_bytes, memory_order_relaxed) + waiting +
	       (raw ? packed_at_most(raw) : 0) + packed_at_most(sizeof(struct gp_capture_end));
}

size_t capture_block_bytes(const struct capture_writer *w)
{
	return capture_encoder_bytes(w->encoder);
}

static int store_block(struct capture_writer *w, const struct capture_block *b)
{
	int err = store_write(w->store, b);

	atomic_store_explicit(&w->stored_bytes, w->store->stats.file_bytes,
			      memory_order_relaxed);
	if (err)
		atomic_store_explicit(&w->err, err, memory_order_relaxed);
	return err;
}

int capture_store(struct capture_writer *w, struct capture_block *b)
{
	uint64_t waited = packed_at_most(b->raw_bytes);
	int err = store_block(w, b);

	atomic_fetch_sub_explicit(&w->waiting_bytes, waited, memory_order_release);
	free(b);
	return err;
}

int capture_flush(struct capture_writer *w)
{
	struct capture_block *b = capture_encoder_take(w->encoder);
	int err = atomic_load_explicit(&w->err, memory_order_relaxed);

	if (!b)
		return err;
	if (w->full && !err) {
		b->writer = w;
		atomic_fetch_add_explicit(&w->waiting_bytes, packed_at_most(b->raw_bytes),
					  memory_order_relaxed);
		w->full(w->ctx, b);
		return 0;
	}
	if (!err)
		err = store_block(w, b);
	capture_encoder_give(w->encoder, b);
	return err;
}

/* Failures of encoding: storing reports its own. Events encoded before are kept. */
static int push_failed(struct capture_writer *w, const struct event *ev, int err)
{
	capture_flush(w);
	if (err == -EINVAL)
		log_error("cannot record an event of kind %u, function %u: no such kind or "
			  "function; this is a bug in gpuprof", ev->kind, ev->func);
	else
		log_error("cannot record events: %s", strerror(-err));
	atomic_store_explicit(&w->err, err, memory_order_relaxed);
	return err;
}

int capture_push(struct capture_writer *w, const struct event *ev)
{
	int err = atomic_load_explicit(&w->err, memory_order_relaxed);

	if (err)
		return err;
	err = capture_encode(w->encoder, ev);
	if (err == -EAGAIN) {
		err = capture_flush(w);
		if (err)
			return err;
		err = capture_encode(w->encoder, ev);
	}
	return err ? push_failed(w, ev, err) : 0;
}

int capture_close(struct capture_writer *w, struct capture_stats *stats)
{
	int err, stored;

	w->full = NULL;
	capture_flush(w);
	err = atomic_load_explicit(&w->err, memory_order_relaxed);
	stored = store_close(w->store, !err, stats);
	capture_encoder_free(w->encoder);
	free(w);
	return err ? err : stored;
}
