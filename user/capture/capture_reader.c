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

#include "base/log.h"
#include "capture/capture_codec.h"
#include "capture/capture_frame.h"

#define WINDOW_MIN 4096u
#define WINDOW_MAX 65536u

/* Damage outside blocks; the reader adds the damage inside. */
struct scan_damage {
	uint64_t blocks;	/* damaged or missing */
	uint64_t events;	/* in those of them whose header was whole */
	bool cut;		/* the file ends inside a block or before the first one */
};

/* Walks the blocks of a file, whatever happened to it. */
struct scan {
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
	bool end;		/* the end block was passed */
	struct scan_damage damage;
	ZSTD_DCtx *zstd;
	uint8_t *packed;
	uint8_t *raw;
	uint8_t *window;	/* for searching */
};

/* Bytes read at `at`, less than len only at the file's end; or -EIO, logged. Bytes that a
 * recorder has appended since the file's size was taken do not count. */
static ssize_t read_at(struct scan *s, void *buf, size_t len, uint64_t at)
{
	size_t got = 0;
	ssize_t n;

	if (at >= s->size)
		return 0;
	if (len > s->size - at)
		len = s->size - at;
	while (got < len) {
		n = pread(s->fd, (char *)buf + got, len - got, (off_t)(at + got));
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0) {
			log_error("cannot read %s: %s", s->path, strerror(errno));
			return -EIO;
		}
		if (!n)
			break;
		got += (size_t)n;
	}
	return (ssize_t)got;
}

static bool is_ours(const struct scan *s, const struct gp_block_header *h)
{
	return frame_is_block(h) && h->major <= GP_CAPTURE_MAJOR &&
	       (!s->has_id || h->file_id == s->file_id);
}

/* The first of our headers in a window, as an offset; len: none. */
static size_t search_window(struct scan *s, size_t len)
{
	const size_t tag_at = offsetof(struct gp_block_header, tag);
	const uint64_t tag = GP_BLOCK_TAG;
	struct gp_block_header h;
	const uint8_t *hit = s->window + tag_at, *end = s->window + len;
	size_t at;

	for (; (hit = memmem(hit, (size_t)(end - hit), &tag, sizeof(tag))); hit++) {
		at = (size_t)(hit - s->window) - tag_at;
		if (len - at < sizeof(h))
			break;
		memcpy(&h, s->window + at, sizeof(h));
		if (is_ours(s, &h))
			return at;
	}
	return len;
}

/* Moves on to the next header from `from` on; 1 found, 0 none is left, -EIO. */
static int resync(struct scan *s, uint64_t from)
{
	const size_t overlap = sizeof(struct gp_block_header) - 1;
	size_t want = WINDOW_MIN, found;
	ssize_t n;

	for (;;) {
		n = read_at(s, s->window, want, from);
		if (n < 0)
			return (int)n;
		if ((size_t)n <= overlap)
			return 0;
		found = search_window(s, (size_t)n);
		if (found < (size_t)n) {
			s->at = from + found;
			return 1;
		}
		from += (size_t)n - overlap;
		want = want < WINDOW_MAX ? want * 2 : want;
	}
}

/* Counts the blocks missing between the last one and this one. False: a repeated block. */
static bool take_number(struct scan *s, uint64_t number)
{
	uint64_t missing;

	if (number <= s->number) {
		s->damage.blocks++;
		return false;
	}
	missing = number - s->number - 1;
	s->damage.blocks += missing ? missing : s->gap;
	s->gap = false;
	s->number = number;
	return true;
}

/* Reads and unpacks a block's payload: 1, 0 if it is damaged, -EIO. */
static int unpack(struct scan *s, const struct gp_block_header *h, uint64_t at)
{
	ssize_t n = read_at(s, s->packed, h->packed_bytes, at);
	size_t raw;

	if (n < 0)
		return (int)n;
	if ((size_t)n < h->packed_bytes || XXH64(s->packed, (size_t)n, 0) != h->payload_hash)
		return 0;
	raw = ZSTD_decompressDCtx(s->zstd, s->raw, GP_BLOCK_RAW_MAX, s->packed, (size_t)n);
	if (ZSTD_isError(raw) || raw != h->raw_bytes)
		return 0;
	memset(s->raw + raw, 0, DECODE_SLACK);
	return 1;
}

/* The rest is shorter than a header, or no header: 1 go on at s->at, 0 the end, -EIO. */
static int skip_junk(struct scan *s, const struct gp_block_header *h, size_t len)
{
	const uint64_t want[2] = {
		GP_FRAME_MAGIC | (uint64_t)(sizeof(*h) - FRAME_PREFIX) << 32, GP_BLOCK_TAG
	};
	int found;

	if (len && len < sizeof(*h) && !s->end &&
	    !memcmp(h, want, len < sizeof(want) ? len : sizeof(want))) {
		s->damage.cut = true;
		return 0;
	}
	s->gap |= len != 0;
	found = len ? resync(s, s->at + 1) : 0;
	if (!found) {
		s->damage.blocks += s->gap;
		s->gap = false;
		s->at = s->size;
	}
	return found;
}

/* A whole header whose payload goes beyond the file's end: the last block of a file that was cut,
 * unless another header follows. */
static int skip_cut(struct scan *s)
{
	int found = resync(s, s->at + sizeof(struct gp_block_header));

	if (found > 0)
		s->gap = true;
	if (!found) {
		s->damage.cut = true;
		s->damage.blocks += s->gap;
	}
	return found;
}

/* Moves to the next header that is whole, new, and followed by all of its payload, which *payload
 * is the place of, and passes it: 1, 0 there is none, -EIO. */
static int find_block(struct scan *s, struct gp_block_header *h, uint64_t *payload)
{
	for (;;) {
		ssize_t n;
		int more = 1;

		memset(h, 0, sizeof(*h));
		n = read_at(s, h, sizeof(*h), s->at);
		if (n < 0)
			return (int)n;
		*payload = s->at + FRAME_PREFIX + h->frame_bytes;
		if ((size_t)n < sizeof(*h) || !is_ours(s, h)) {
			more = skip_junk(s, h, (size_t)n);
		} else if (*payload > s->size || h->packed_bytes > s->size - *payload) {
			more = skip_cut(s);
		} else {
			s->has_id = true;
			s->file_id = h->file_id;
			s->at = *payload + h->packed_bytes;
			if (take_number(s, h->number))
				return 1;
		}
		if (more <= 0)
			return more;
	}
}

/* 1: the next whole block, of a known type or not; *raw (raw_bytes and DECODE_SLACK more) lives
 * until the next call. 0: no more. -EIO, logged. */
static int scan_next(struct scan *s, struct gp_block_header *h, const uint8_t **raw)
{
	uint64_t payload = 0;
	int got;

	while ((got = find_block(s, h, &payload)) > 0) {
		got = unpack(s, h, payload);
		if (got < 0)
			return got;
		if (got) {
			s->end |= h->type == GP_BLOCK_END;
			*raw = s->raw;
			return 1;
		}
		s->damage.blocks++;
		s->damage.events += h->events;
	}
	return got;
}

/* Back to the first block; the file may have grown. 0 or -errno, logged. */
static int scan_rewind(struct scan *s)
{
	struct stat st;

	if (fstat(s->fd, &st)) {
		log_error("cannot read %s: %s", s->path, strerror(errno));
		return -EIO;
	}
	s->size = (uint64_t)st.st_size;
	s->at = s->first;
	s->number = 0;
	s->end = false;
	s->gap = s->head_damaged;
	s->damage = (struct scan_damage){ .cut = s->size < sizeof(struct gp_file_header) };
	return 0;
}

/* The file's first bytes: 0, or -errno with *why. */
static int check_head(struct scan *s, const struct gp_file_header *h, size_t len)
{
	const uint64_t want[2] = {
		GP_FRAME_MAGIC | (uint64_t)(sizeof(*h) - FRAME_PREFIX) << 32, GP_FILE_TAG
	};

	if (len < sizeof(*h) && !memcmp(h, want, len < sizeof(want) ? len : sizeof(want))) {
		s->first = len;
		return 0;
	}
	if (len == sizeof(*h) && frame_is_file(h)) {
		s->first = FRAME_PREFIX + h->frame_bytes;
		s->file_id = h->file_id;
		s->has_id = true;
		if (h->major <= GP_CAPTURE_MAJOR)
			return 0;
		log_error("%s was written by a later gpuprof (format %u, this one reads up to "
			  "%u); upgrade", s->path, h->major, GP_CAPTURE_MAJOR);
		return -ENOTSUP;
	}
	/* No single damage hits both marks: with one of them, look for blocks. */
	if (len >= FRAME_TAG_END && (h->frame_magic == GP_FRAME_MAGIC || h->tag == GP_FILE_TAG)) {
		s->head_damaged = true;
		return 0;
	}
	log_error("%s is not a capture: it begins with something else; give a .gpr file that "
		  "gpuprof record wrote", s->path);
	return -EINVAL;
}

static int open_file(struct scan *s)
{
	struct gp_file_header h = { .frame_magic = 0 };
	struct stat st;
	ssize_t n;
	int err = 0;

	/* O_NONBLOCK: a FIFO must be refused, not waited for. */
	s->fd = open(s->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (s->fd < 0 || fstat(s->fd, &st)) {
		err = -errno;
		log_error("cannot open %s: %s", s->path, strerror(-err));
		return err;
	}
	if (!S_ISREG(st.st_mode)) {
		log_error("%s is not a regular file: a capture is read from a file, not a pipe or "
			  "directory; save it first", s->path);
		return -EINVAL;
	}
	s->size = (uint64_t)st.st_size;
	n = read_at(s, &h, sizeof(h), 0);
	return n < 0 ? (int)n : check_head(s, &h, (size_t)n);
}

static void scan_free(struct scan *s)
{
	if (!s)
		return;
	if (s->fd >= 0)
		close(s->fd);
	ZSTD_freeDCtx(s->zstd);
	free(s->path);
	free(s->packed);
	free(s->raw);
	free(s->window);
	free(s);
}

/* Opens, and checks the file header: errors and messages as capture_open. */
static struct scan *scan_open(const char *path)
{
	struct scan *s = calloc(1, sizeof(*s));
	int err;

	if (!s)
		return NULL;
	s->fd = -1;
	s->path = strdup(path);
	s->zstd = ZSTD_createDCtx();
	s->packed = malloc(FRAME_PACKED_MAX);
	s->raw = malloc(GP_BLOCK_RAW_MAX + DECODE_SLACK);
	s->window = malloc(WINDOW_MAX);
	if (!s->path || !s->zstd || !s->packed || !s->raw || !s->window) {
		err = -ENOMEM;
		log_error("cannot open %s: %s", path, strerror(ENOMEM));
	} else {
		err = open_file(s);
	}
	if (!err)
		return s;
	scan_free(s);
	errno = -err;
	return NULL;
}

/* Does a writer still have the file open? */
static bool scan_written(const struct scan *s)
{
	if (flock(s->fd, LOCK_SH | LOCK_NB))
		return errno == EWOULDBLOCK;
	flock(s->fd, LOCK_UN);
	return false;
}

/* ---- the reader ----------------------------------------------------------------------------- */

struct capture_reader {
	struct scan *scan;
	struct capture_decoder *decoder;
	uint64_t blocks;
	uint64_t events;	/* in them */
	uint64_t bad_blocks;	/* besides those that the scan counts */
	uint64_t bad_events;
	bool complete;
};

struct capture_reader *capture_open(const char *path)
{
	struct capture_reader *r = calloc(1, sizeof(*r));
	int saved;

	if (!r)
		return NULL;
	r->decoder = capture_decoder_new();
	if (!r->decoder) {
		log_error("cannot open %s: %s", path, strerror(errno));
		errno = ENOMEM;
	} else {
		r->scan = scan_open(path);
	}
	if (r->scan)
		return r;
	saved = errno;
	capture_free(r);
	errno = saved;
	return NULL;
}

const struct funcs *capture_funcs(const struct capture_reader *r)
{
	return capture_decoder_funcs(r->decoder);
}

static int read_events(struct capture_reader *r, const struct gp_block_header *h,
		       const uint8_t *raw, const struct event_sink *sink)
{
	struct decode_result got;
	int err = capture_decode(r->decoder, raw, h->raw_bytes, h->events, sink, &got);

	if (err)
		return err;
	r->events += got.rows;
	r->bad_events += h->events - got.rows + got.dropped;
	if (got.invalid || got.dropped || got.rows != h->events)
		r->bad_blocks++;
	else
		r->blocks++;
	return 0;
}

/* The end block's totals reveal losses that leave no gap in the numbers. */
static void read_end(struct capture_reader *r, const struct gp_block_header *h,
		     const uint8_t *raw)
{
	const struct scan_damage *damage = &r->scan->damage;
	struct gp_capture_end end;

	r->complete = true;
	if (h->raw_bytes < sizeof(end)) {
		r->bad_blocks++;
		return;
	}
	memcpy(&end, raw, sizeof(end));
	if (end.events != r->events && !damage->blocks && !r->bad_blocks)
		r->bad_blocks++;
}

int capture_read(struct capture_reader *r, const struct event_sink *sink)
{
	struct gp_block_header h;
	const uint8_t *raw;
	int got, err;

	r->blocks = r->events = r->bad_blocks = r->bad_events = 0;
	r->complete = false;
	err = scan_rewind(r->scan);
	while (!err && (got = scan_next(r->scan, &h, &raw)) != 0) {
		if (got < 0)
			return got;
		if (h.type == GP_BLOCK_EVENTS)
			err = read_events(r, &h, raw, sink);
		else if (h.type == GP_BLOCK_END)
			read_end(r, &h, raw);
	}
	return err;
}

struct capture_counts capture_counts(const struct capture_reader *r)
{
	return (struct capture_counts){
		.blocks = r->blocks, .bad_blocks = r->bad_blocks + r->scan->damage.blocks,
		.bad_events = r->bad_events + r->scan->damage.events };
}

enum capture_state capture_state(const struct capture_reader *r)
{
	if (capture_counts(r).bad_blocks)
		return CAPTURE_DAMAGED;
	if (!r->complete || r->scan->damage.cut)
		return scan_written(r->scan) ? CAPTURE_GROWING : CAPTURE_CUT;
	return CAPTURE_COMPLETE;
}

void capture_free(struct capture_reader *r)
{
	if (!r)
		return;
	scan_free(r->scan);
	capture_decoder_free(r->decoder);
	free(r);
}
