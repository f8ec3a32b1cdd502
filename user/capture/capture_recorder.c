// SPDX-License-Identifier: BSD-3-Clause
/*
 * A flight recorder: holds the last seconds of a session in memory, as compressed blocks, and
 * writes them to a capture file of its own on request, or when the session ends. The next file
 * begins where this one ended.
 *
 * A block that is dropped is unpacked once more, because the state that a file begins with must be
 * that of the beginning of the oldest block left. Writing a file unpacks all of them in the same
 * way. Runs in the session's thread.
 *
 * Counters of the session (capture_sink.on_cut: lost events, above all) are read when a block
 * begins, so that a file has the counts since shortly before its beginning: at most a sixteenth of
 * the time held. Holes in the numbers of threads are where they are.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zstd.h>

#include <gpuprof/capture.h>

#include "base/log.h"
#include "base/num.h"
#include "base/str.h"
#include "base/time.h"
#include "capture/capture_codec.h"
#include "capture/capture_sink.h"
#include "capture/capture_state.h"

#define SLICES 16		/* of the time held; a block spans one of them at most */
#define ZSTD_LEVEL 1
#define HOLD_BYTES (64ull << 20)	/* of memory, without --max-size */
#define COUNT_EVERY_NS (10 * NS_PER_MS)	/* counters are read at most that often */

struct held {			/* one block */
	struct held *next;
	uint64_t start_ns;	/* when it began */
	uint64_t end_ns;	/* the latest time in it */
	uint32_t events;
	size_t raw_bytes, packed_bytes;
	uint8_t packed[];
};

struct capture_recorder {
	struct capture_sink keep;
	char *path;
	uint64_t before_ns, max_bytes;
	bool at_end;

	struct capture_encoder *encoder;
	ZSTD_CCtx *zstd;
	uint8_t *room;			/* to pack and unpack in */
	struct held *oldest, **newest;	/* newest: the place of the next one */
	uint64_t bytes;
	uint64_t block_ns;		/* when the present block began */
	uint64_t counted_ns;		/* when counters were read */
	uint64_t now_ns;
	uint64_t floor_ns;		/* the session's start, or the last file's end */
	bool was_short;			/* blocks were dropped for lack of memory */

	struct capture_decoder *decoder;
	struct start_state *start;	/* where the oldest block begins */
	int err;
	int unwritten;			/* the first error of writing a file */
	struct capture_sink_stats stats;
};

static struct capture_recorder *of(struct capture_sink *k)
{
	return (struct capture_recorder *)k;
}

uint64_t capture_recorder_bytes(const struct capture_sink *k)
{
	return ((const struct capture_recorder *)k)->bytes;
}

static int fail(struct capture_recorder *h, int err)
{
	if (err && !h->err) {
		h->err = err;
		log_error("cannot hold events in memory: %s", strerror(-err));
	}
	return err;
}

/* ---- blocks --------------------------------------------------------------------------------- */

static int unpack(struct capture_recorder *h, const struct held *b, const struct event_sink *to)
{
	struct decode_result result;
	size_t n = ZSTD_decompress(h->room, GP_BLOCK_RAW_MAX, b->packed, b->packed_bytes);

	if (ZSTD_isError(n) || n != b->raw_bytes)
		return -EIO;
	return capture_decode(h->decoder, h->room, n, b->events, to, &result);
}

static int note(void *ctx, const struct event *ev)
{
	struct event out;

	return start_state_take(ctx, ev, &out);
}

static struct held *take_oldest(struct capture_recorder *h)
{
	struct held *b = h->oldest;

	h->oldest = b->next;
	if (!h->oldest)
		h->newest = &h->oldest;
	h->bytes -= sizeof(*b) + b->packed_bytes;
	return b;
}

static int drop_old(struct capture_recorder *h)
{
	int err = 0;

	while (h->oldest && !err) {
		bool old = h->oldest->end_ns + h->before_ns < h->now_ns;
		struct held *b;

		if (!old && h->bytes <= h->max_bytes)
			break;
		h->was_short |= !old;
		b = take_oldest(h);
		err = unpack(h, b, &(struct event_sink){ note, h->start });
		free(b);
	}
	return err;
}

static int end_block(struct capture_recorder *h)
{
	struct capture_block *raw = capture_encoder_take(h->encoder);
	struct held *b = NULL;
	size_t n;

	if (!raw)
		return 0;
	n = ZSTD_compressCCtx(h->zstd, h->room, ZSTD_compressBound(GP_BLOCK_RAW_MAX), raw->raw,
			      raw->raw_bytes, ZSTD_LEVEL);
	if (!ZSTD_isError(n))
		b = malloc(sizeof(*b) + n);
	if (b) {
		*b = (struct held){ .start_ns = h->block_ns,
				    .end_ns = num_max(raw->end_ns, h->block_ns),
				    .events = raw->events, .raw_bytes = raw->raw_bytes,
				    .packed_bytes = n };
		memcpy(b->packed, h->room, n);
		*h->newest = b;
		h->newest = &b->next;
		h->bytes += sizeof(*b) + n;
	}
	capture_encoder_give(h->encoder, raw);
	return b ? drop_old(h) : -ENOMEM;
}

/* ---- writing -------------------------------------------------------------------------------- */

struct writing {
	struct capture_recorder *h;
	struct capture_sink *file;
	uint64_t from_ns;
	bool begun;
};

static int put(void *ctx, const struct event *ev)
{
	return capture_sink_push(ctx, ev);
}

/* The file begins with the first block or event of the time held. */
static int begin(struct writing *out, uint64_t at_ns)
{
	if (out->begun || at_ns < out->from_ns)
		return 0;
	out->begun = true;
	return start_state_put(out->h->start, out->from_ns, &(struct event_sink){ put, out->file });
}

static uint64_t latest_of(const struct event *ev)
{
	return ev->kind == EVENT_COUNT ? 0 : num_max(ev->start_ns, ev->end_ns);
}

/* Events that ended before the time held only update the state. */
static int write_event(void *ctx, const struct event *ev)
{
	struct writing *out = ctx;
	struct event own;
	int err = begin(out, latest_of(ev));

	if (err)
		return err;
	err = start_state_take(out->h->start, ev, &own);
	return err || !out->begun ? err : capture_sink_push(out->file, &own);
}

static int write_blocks(struct writing *out)
{
	int err = 0;

	while (out->h->oldest && !err) {
		struct held *b = take_oldest(out->h);

		/* Its first counters may be of the time held already. */
		err = begin(out, b->start_ns);
		if (!err)
			err = unpack(out->h, b, &(struct event_sink){ write_event, out });
		free(b);
	}
	if (!err)
		err = begin(out, UINT64_MAX);
	return err ? err : put(out->file, &(struct event){ .kind = EVENT_STOP,
							   .end_ns = out->h->now_ns });
}

static void say_kept(uint64_t ns, const struct capture_sink_stats *file)
{
	struct strbuf path = STRBUF_INIT;

	strbuf_add_shell_path(&path, file->last_path);
	log_info("kept the last %.3f s, %llu records, in %s; gpuprof report %s",
		 (double)ns / NS_PER_SEC, (unsigned long long)file->events, file->last_path,
		 path.s);
	strbuf_free(&path);
}

/* If the file cannot be written, the blocks are lost and the session continues. */
static int write_held(struct capture_recorder *h)
{
	const struct capture_sink_plan plan = { .number = h->stats.files ? h->stats.files + 1 : 0 };
	struct writing out = { .h = h, .from_ns = num_max(num_sub(h->now_ns, h->before_ns),
							  h->floor_ns) };
	struct capture_sink_stats file;
	int err = end_block(h), closed;

	if (err)
		return fail(h, err);
	out.file = capture_set_new(&plan, h->path, capture_decoder_funcs(h->decoder));
	if (!out.file)
		return errno ? -errno : -EIO;
	if (h->was_short && h->oldest)
		out.from_ns = num_max(out.from_ns, h->oldest->start_ns);
	err = write_blocks(&out);
	closed = capture_sink_close(out.file, &file);
	err = err ? err : closed;
	if (!h->stats.files++)
		memcpy(h->stats.first_path, file.last_path, PATH_MAX);
	memcpy(h->stats.last_path, file.last_path, PATH_MAX);
	h->stats.last = file.last;
	h->stats.events += file.events;
	if (!err)
		say_kept(h->now_ns - out.from_ns, &file);
	if (!err && h->was_short)
		log_warn("there was more in %.3f s than %llu bytes of memory hold; "
			 "raise --max-size",
			 (double)h->before_ns / NS_PER_SEC, (unsigned long long)h->max_bytes);
	h->was_short = false;
	h->floor_ns = h->now_ns;
	return err;
}

/* ---- the sink ------------------------------------------------------------------------------- */

static int encode(struct capture_recorder *h, const struct event *ev)
{
	int err = capture_encode(h->encoder, ev);

	if (err != -EAGAIN)
		return err;
	err = end_block(h);
	return err ? err : capture_encode(h->encoder, ev);
}

/* A file that begins here counts from now on; the first has all counts. */
static void count(struct capture_recorder *h)
{
	if (!h->keep.on_cut || (h->counted_ns && h->now_ns - h->counted_ns < COUNT_EVERY_NS))
		return;
	h->counted_ns = h->now_ns;
	h->keep.on_cut(h->keep.cut_ctx);
}

static int hold_push(struct capture_sink *k, const struct event *ev)
{
	struct capture_recorder *h = of(k);
	int err = 0;

	if (h->err)
		return h->err;
	if (start_state_counts(ev))
		return fail(h, encode(h, ev));
	h->now_ns = num_max(h->now_ns, latest_of(ev));
	if (ev->kind == EVENT_START)
		h->floor_ns = ev->start_ns;
	if (ev->kind == EVENT_START || ev->kind == EVENT_STOP)
		return 0;	/* each file has its own */
	if (!h->block_ns || h->now_ns - h->block_ns >= h->before_ns / SLICES) {
		bool first = !h->block_ns;

		err = end_block(h);
		h->block_ns = h->now_ns;
		if (!err && !first)
			count(h);
	}
	return fail(h, err ? err : encode(h, ev));
}

static int hold_flush(struct capture_sink *k)
{
	struct capture_recorder *h = of(k);

	return h->err ? h->err : fail(h, drop_old(h));
}

static const char *hold_fire(struct capture_sink *k)
{
	struct capture_recorder *h = of(k);
	int err;

	h->counted_ns = 0;
	count(h);
	err = write_held(h);
	h->unwritten = h->unwritten ? h->unwritten : err;
	return err ? NULL : h->stats.last_path;
}

static void hold_free(struct capture_recorder *h)
{
	while (h->oldest)
		free(take_oldest(h));
	capture_encoder_free(h->encoder);
	capture_decoder_free(h->decoder);
	start_state_free(h->start);
	ZSTD_freeCCtx(h->zstd);
	free(h->room);
	free(h->path);
	free(h);
}

static int hold_close(struct capture_sink *k, struct capture_sink_stats *stats)
{
	struct capture_recorder *h = of(k);
	int err = h->at_end ? write_held(h) : 0;

	err = h->err ? h->err : err ? err : h->unwritten;
	if (stats)
		*stats = h->stats;
	hold_free(h);
	return err;
}

static const struct capture_sink_ops ops = {
	.push = hold_push, .flush = hold_flush, .fire = hold_fire, .close = hold_close,
};

/* Fails early if no file can be created there later. */
static int check_folder(const char *path)
{
	const char *slash = strrchr(path, '/');
	char *folder = slash ? strndup(path, (size_t)(slash - path) + 1) : strdup(".");
	int err = !folder ? ENOMEM : access(folder, W_OK | X_OK) ? errno : 0;

	if (err)
		log_error("cannot create %s: %s", path, strerror(err));
	free(folder);
	return err;
}

struct capture_sink *capture_recorder_new(const struct capture_sink_plan *plan, const char *path,
					  const struct funcs *funcs)
{
	struct capture_recorder *h;

	errno = check_folder(path);
	if (errno)
		return NULL;
	h = calloc(1, sizeof(*h));
	if (h) {
		*h = (struct capture_recorder){ .keep = { .ops = &ops },
						.at_end = plan->on != ON_SIGNAL,
						.before_ns = plan->before_ns,
						.max_bytes = plan->max_bytes ? plan->max_bytes :
									       HOLD_BYTES };
		h->newest = &h->oldest;
		h->path = strdup(path);
		h->encoder = capture_encoder_new(funcs);
		h->decoder = capture_decoder_new();
		h->start = start_state_new();
		h->zstd = ZSTD_createCCtx();
		h->room = malloc(ZSTD_compressBound(GP_BLOCK_RAW_MAX) + DECODE_SLACK);
		if (h->path && h->encoder && h->decoder && h->start && h->zstd && h->room)
			return &h->keep;
		hold_free(h);
	}
	log_error("cannot hold events in memory: %s", strerror(ENOMEM));
	errno = ENOMEM;
	return NULL;
}
