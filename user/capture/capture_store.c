// SPDX-License-Identifier: BSD-3-Clause
/*
 * Appends blocks to a capture: header and compressed payload in one write. Knows nothing of events or
 * rows.
 */
#include "capture/capture_store.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "base/io.h"
#include "base/log.h"
#include "capture/capture_file.h"
#include "capture/capture_frame.h"

#define ZSTD_LEVEL 1

struct capture_store {
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
static int fail(struct capture_store *s, int err)
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

static int append(struct capture_store *s, const void *data, size_t len)
{
	int err = io_write_all(s->fd, data, len);

	if (err)
		return fail(s, err);
	s->stats.file_bytes += len;
	return 0;
}

static void store_free(struct capture_store *s)
{
	if (s->fd >= 0)
		close(s->fd);
	ZSTD_freeCCtx(s->zstd);
	free(s->out);
	free(s->path);
	free(s);
}

static int store_prepare(struct capture_store *s, const char *path)
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

struct capture_store *capture_store_create(const char *path)
{
	struct capture_store *s = calloc(1, sizeof(*s));
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

int capture_store_write(struct capture_store *s, const struct capture_block *b)
{
	struct gp_block_header *h = (struct gp_block_header *)s->out;
	uint8_t *payload = s->out + sizeof(*h);
	size_t packed;
	int err;

	if (s->err)
		return s->err;
	packed = ZSTD_compress2(s->zstd, payload, FRAME_PACKED_MAX, b->raw, b->raw_bytes);
	if (ZSTD_isError(packed))
		return fail(s, -ENOMEM);
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

uint64_t capture_store_bytes(const struct capture_store *s)
{
	return s->stats.file_bytes;
}

static int write_end(struct capture_store *s)
{
	struct gp_capture_end end = {
		.events = s->stats.events, .blocks = s->stats.blocks,
		.raw_bytes = s->stats.raw_bytes,
	};
	struct capture_block *b = malloc(sizeof(*b) + sizeof(end));
	int err;

	if (!b)
		return fail(s, -ENOMEM);
	*b = (struct capture_block){ .type = GP_BLOCK_END, .raw_bytes = sizeof(end) };
	memcpy(b->raw, &end, sizeof(end));
	err = capture_store_write(s, b);
	free(b);
	return err;
}

int capture_store_close(struct capture_store *s, bool complete, struct capture_stats *stats)
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
