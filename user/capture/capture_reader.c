// SPDX-License-Identifier: BSD-3-Clause
/*
 * A capture file as a sequence of blocks, and the events in them. All of it is hostile: a length is
 * used only after the hash of its header and its bounds were checked, and no damage makes the
 * reader read any part of the file more than a few times, so that the time is linear in the file's
 * size. Knows no rows.
 */
#include "capture/capture.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <gpuprof/capture.h>

#include "base/io.h"
#include "base/log.h"
#include "base/num.h"
#include "capture/capture_codec.h"
#include "capture/capture_frame.h"

#define WINDOW_MIN 4096u
#define WINDOW_MAX 65536u

struct capture_reader {
	int fd;
	char *path;
	uint64_t size;
	uint64_t first;		/* where the blocks begin */
	uint64_t at;
	uint64_t file_id;
	uint64_t number;	/* of the last block met */
	bool has_id;
	bool head_damaged;
	bool gap;		/* damage was passed that no block's number accounts for yet */
	bool cut;		/* the file ends inside a block or before the first one */
	bool complete;		/* the end block was passed */
	ZSTD_DCtx *zstd;
	uint8_t *packed;
	uint8_t *raw;		/* of a block, and DECODE_SLACK more */
	uint8_t *window;	/* for searching */
	struct capture_decoder *decoder;
	uint64_t events;	/* in the blocks read */
	struct capture_counts counts;
};

/* Bytes read at `at`, less than len only at the file's end; or -EIO, logged. Bytes that a
 * recorder has appended since the file's size was taken do not count. */
static ssize_t read_at(struct capture_reader *r, void *buf, size_t len, uint64_t at)
{
	size_t got = 0;
	ssize_t n;

	if (at >= r->size)
		return 0;
	if (len > r->size - at)
		len = r->size - at;
	while (got < len) {
		n = pread(r->fd, (char *)buf + got, len - got, (off_t)(at + got));
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0) {
			log_error("cannot read %s: %s", r->path, strerror(errno));
			return -EIO;
		}
		if (!n)
			break;
		got += (size_t)n;
	}
	return (ssize_t)got;
}

/* Are the len bytes at h the beginning of a header of `whole` bytes, of which the rest was cut? */
static bool is_cut_header(const void *h, size_t len, size_t whole, uint64_t tag)
{
	const uint64_t want[2] = { GP_FRAME_MAGIC | (uint64_t)(whole - FRAME_PREFIX) << 32, tag };

	return len < whole && !memcmp(h, want, len < sizeof(want) ? len : sizeof(want));
}

static bool is_ours(const struct capture_reader *r, const struct gp_block_header *h)
{
	return frame_is_block(h) && h->major <= GP_CAPTURE_MAJOR &&
	       (!r->has_id || h->file_id == r->file_id);
}

/* The first of our headers in a window, as an offset; len: none. */
static size_t search_window(struct capture_reader *r, size_t len)
{
	const size_t tag_at = offsetof(struct gp_block_header, tag);
	const uint64_t tag = GP_BLOCK_TAG;
	struct gp_block_header h;
	const uint8_t *hit = r->window + tag_at, *end = r->window + len;

	for (; (hit = memmem(hit, (size_t)(end - hit), &tag, sizeof(tag))); hit++) {
		size_t at = (size_t)(hit - r->window) - tag_at;

		if (len - at < sizeof(h))
			break;
		memcpy(&h, r->window + at, sizeof(h));
		if (is_ours(r, &h))
			return at;
	}
	return len;
}

/* Moves on to the next header from `from` on; 1 found, 0 none is left, -EIO. */
static int resync(struct capture_reader *r, uint64_t from)
{
	const size_t overlap = sizeof(struct gp_block_header) - 1;
	size_t want = WINDOW_MIN, found;
	ssize_t n;

	for (;;) {
		n = read_at(r, r->window, want, from);
		if (n < 0)
			return (int)n;
		if ((size_t)n <= overlap)
			return 0;
		found = search_window(r, (size_t)n);
		if (found < (size_t)n) {
			r->at = from + found;
			return 1;
		}
		from += (size_t)n - overlap;
		want = want < WINDOW_MAX ? want * 2 : want;
	}
}

/* Counts the blocks missing between the last one and this one. False: a repeated block. */
static bool take_number(struct capture_reader *r, uint64_t number)
{
	uint64_t missing;

	if (number <= r->number) {
		r->counts.bad_blocks++;
		return false;
	}
	missing = number - r->number - 1;
	r->counts.bad_blocks += missing ? missing : r->gap;
	r->gap = false;
	r->number = number;
	return true;
}

/* Reads and unpacks a block's payload: 1, 0 if it is damaged, -EIO. */
static int unpack(struct capture_reader *r, const struct gp_block_header *h, uint64_t at)
{
	ssize_t n = read_at(r, r->packed, h->packed_bytes, at);
	size_t raw;

	if (n < 0)
		return (int)n;
	if ((size_t)n < h->packed_bytes || XXH64(r->packed, (size_t)n, 0) != h->payload_hash)
		return 0;
	raw = ZSTD_decompressDCtx(r->zstd, r->raw, GP_BLOCK_RAW_MAX, r->packed, (size_t)n);
	if (ZSTD_isError(raw) || raw != h->raw_bytes)
		return 0;
	memset(r->raw + raw, 0, DECODE_SLACK);
	return 1;
}

/* The rest is shorter than a header, or no header: 1 go on at r->at, 0 the end, -EIO. */
static int skip_junk(struct capture_reader *r, const struct gp_block_header *h, size_t len)
{
	int found;

	if (len && !r->complete && is_cut_header(h, len, sizeof(*h), GP_BLOCK_TAG)) {
		r->cut = true;
		return 0;
	}
	r->gap |= len != 0;
	found = len ? resync(r, r->at + 1) : 0;
	if (!found) {
		r->counts.bad_blocks += r->gap;
		r->gap = false;
		r->at = r->size;
	}
	return found;
}

/* A whole header whose payload goes beyond the file's end: the last block of a file that was cut,
 * unless another header follows. */
static int skip_cut(struct capture_reader *r)
{
	int found = resync(r, r->at + sizeof(struct gp_block_header));

	if (found > 0)
		r->gap = true;
	if (!found) {
		r->cut = true;
		r->counts.bad_blocks += r->gap;
	}
	return found;
}

/* Moves to the next header that is whole, new, and followed by all of its payload, which *payload
 * is the place of, and passes it: 1, 0 there is none, -EIO. */
static int find_block(struct capture_reader *r, struct gp_block_header *h, uint64_t *payload)
{
	for (;;) {
		ssize_t n;
		int more = 1;

		memset(h, 0, sizeof(*h));
		n = read_at(r, h, sizeof(*h), r->at);
		if (n < 0)
			return (int)n;
		*payload = r->at + FRAME_PREFIX + h->frame_bytes;
		if ((size_t)n < sizeof(*h) || !is_ours(r, h)) {
			more = skip_junk(r, h, (size_t)n);
		} else if (*payload > r->size || h->packed_bytes > r->size - *payload) {
			more = skip_cut(r);
		} else {
			r->has_id = true;
			r->file_id = h->file_id;
			r->at = *payload + h->packed_bytes;
			if (take_number(r, h->number))
				return 1;
		}
		if (more <= 0)
			return more;
	}
}

/* Back to the first block; the file may have grown. 0 or -errno, logged. */
static int rewind_file(struct capture_reader *r)
{
	struct stat st;

	if (fstat(r->fd, &st)) {
		log_error("cannot read %s: %s", r->path, strerror(errno));
		return -EIO;
	}
	r->size = (uint64_t)st.st_size;
	r->at = r->first;
	r->number = 0;
	r->events = 0;
	r->counts = (struct capture_counts){ .blocks = 0 };
	r->complete = false;
	r->gap = r->head_damaged;
	r->cut = r->size < sizeof(struct gp_file_header);
	return 0;
}

/* The file's first bytes: 0, or -errno with *why. */
static int check_head(struct capture_reader *r, const struct gp_file_header *h, size_t len)
{
	if (is_cut_header(h, len, sizeof(*h), GP_FILE_TAG)) {
		r->first = len;
		return 0;
	}
	if (len == sizeof(*h) && frame_is_file(h)) {
		r->first = FRAME_PREFIX + h->frame_bytes;
		r->file_id = h->file_id;
		r->has_id = true;
		if (h->major <= GP_CAPTURE_MAJOR)
			return 0;
		log_error("%s was written by a later gpuprof (format %u, this one reads up to "
			  "%u); upgrade", r->path, h->major, GP_CAPTURE_MAJOR);
		return -ENOTSUP;
	}
	/* No single damage hits both marks: with one of them, look for blocks. */
	if (len >= FRAME_TAG_END && (h->frame_magic == GP_FRAME_MAGIC || h->tag == GP_FILE_TAG)) {
		r->head_damaged = true;
		return 0;
	}
	log_error("%s is not a capture: it begins with something else; give a .gpr file that "
		  "gpuprof record wrote", r->path);
	return -EINVAL;
}

static int open_file(struct capture_reader *r)
{
	struct gp_file_header h = { .frame_magic = 0 };
	struct stat st;
	ssize_t n;
	int err = 0;

	/* O_NONBLOCK: a FIFO must be refused, not waited for. */
	r->fd = open(r->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (r->fd < 0 || fstat(r->fd, &st)) {
		err = -errno;
		log_error("cannot open %s: %s", r->path, strerror(-err));
		return err;
	}
	if (!S_ISREG(st.st_mode)) {
		log_error("%s is not a regular file: a capture is read from a file, not a pipe or "
			  "directory; save it first", r->path);
		return -EINVAL;
	}
	r->size = (uint64_t)st.st_size;
	n = read_at(r, &h, sizeof(h), 0);
	return n < 0 ? (int)n : check_head(r, &h, (size_t)n);
}

struct capture_reader *capture_open(const char *path)
{
	struct capture_reader *r = calloc(1, sizeof(*r));
	int err;

	if (!r)
		return NULL;
	r->fd = -1;
	r->path = strdup(path);
	r->zstd = ZSTD_createDCtx();
	r->packed = malloc(FRAME_PACKED_MAX);
	r->raw = malloc(GP_BLOCK_RAW_MAX + DECODE_SLACK);
	r->window = malloc(WINDOW_MAX);
	r->decoder = capture_decoder_new();
	if (!r->path || !r->zstd || !r->packed || !r->raw || !r->window || !r->decoder) {
		err = -ENOMEM;
		log_error("cannot open %s: %s", path, strerror(ENOMEM));
	} else {
		err = open_file(r);
	}
	if (!err)
		return r;
	capture_free(r);
	errno = -err;
	return NULL;
}

void capture_free(struct capture_reader *r)
{
	if (!r)
		return;
	io_close(&r->fd);
	ZSTD_freeDCtx(r->zstd);
	capture_decoder_free(r->decoder);
	free(r->path);
	free(r->packed);
	free(r->raw);
	free(r->window);
	free(r);
}

const struct funcs *capture_funcs(const struct capture_reader *r)
{
	return capture_decoder_funcs(r->decoder);
}

static int read_events(struct capture_reader *r, const struct gp_block_header *h,
		       const struct event_sink *sink)
{
	struct decode_result got;
	int err = capture_decode(r->decoder, r->raw, h->raw_bytes, h->events, sink, &got);

	if (err)
		return err;
	r->events += got.rows;
	r->counts.bad_events += h->events - got.rows + got.dropped;
	if (got.invalid || got.dropped || got.rows != h->events)
		r->counts.bad_blocks++;
	else
		r->counts.blocks++;
	return 0;
}

/* The end block's totals reveal losses that leave no gap in the numbers. */
static void read_end(struct capture_reader *r, const struct gp_block_header *h)
{
	struct gp_capture_end end;

	r->complete = true;
	memcpy(&end, r->raw, sizeof(end));
	if (h->raw_bytes < sizeof(end) || (end.events != r->events && !r->counts.bad_blocks))
		r->counts.bad_blocks++;
}

int capture_read(struct capture_reader *r, const struct event_sink *sink)
{
	int err = rewind_file(r), got = 0;
	struct gp_block_header h;
	uint64_t payload = 0;

	while (!err && (got = find_block(r, &h, &payload)) > 0) {
		got = unpack(r, &h, payload);
		if (got < 0)
			return got;
		if (!got) {
			r->counts.bad_blocks++;
			r->counts.bad_events += h.events;
		} else if (h.type == GP_BLOCK_EVENTS) {
			err = read_events(r, &h, sink);
		} else if (h.type == GP_BLOCK_END) {
			read_end(r, &h);
		}
	}
	return err ? err : got;
}

struct capture_counts capture_counts(const struct capture_reader *r)
{
	return r->counts;
}

double capture_progress(const struct capture_reader *r)
{
	return num_ratio(r->at, r->size);
}

enum capture_state capture_state(const struct capture_reader *r)
{
	if (r->counts.bad_blocks)
		return CAPTURE_DAMAGED;
	if (r->complete && !r->cut)
		return CAPTURE_COMPLETE;
	if (flock(r->fd, LOCK_SH | LOCK_NB))	/* a writer still has the file open */
		return errno == EWOULDBLOCK ? CAPTURE_GROWING : CAPTURE_CUT;
	flock(r->fd, LOCK_UN);
	return CAPTURE_CUT;
}
