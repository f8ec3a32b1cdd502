// SPDX-License-Identifier: BSD-3-Clause
/*
 * The writer's two halves put together: encodes into the current block and has full ones stored,
 * at once or, with capture_defer, by another thread. Knows neither rows nor the file.
 */
#include "capture/capture.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include <gpuprof/capture.h>

#include "base/log.h"
#include "capture/capture_codec.h"
#include "capture/capture_store.h"

struct capture_writer {
	struct capture_encoder *encoder;
	struct capture_store *store;
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
	w->store = w->encoder ? capture_store_create(path) : NULL;
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

/* A block of rows takes this in the file at most: its header, and what zstd may add. */
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
	int err = capture_store_write(w->store, b);

	atomic_store_explicit(&w->stored_bytes, capture_store_bytes(w->store),
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

/* Failures of encoding: storing reports its own. What was encoded before is kept. */
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
	stored = capture_store_close(w->store, !err, stats);
	capture_encoder_free(w->encoder);
	free(w);
	return err ? err : stored;
}
