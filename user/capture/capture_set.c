// SPDX-License-Identifier: BSD-3-Clause
/*
 * Rotation: where a file ends and the next begins, their names, removal of the oldest. A file keeps
 * its limit if the state that it begins with leaves room: blocks have an eighth of the limit, and
 * it ends when one more might not fit.
 *
 * A file that has ended is closed by the thread that stores its blocks, because fsync is slow: a
 * block of type 0 requests it. If devices worked it stays open for a while: helpers report
 * device activity with a delay, and it goes into the file of its time as long as there is space.
 */
#include "capture/capture_set.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "base/num.h"
#include "capture/capture_codec.h"
#include "capture/capture_file.h"
#include "capture/capture_state.h"

#define END_ROOM 4096		/* for counters and STOP */
#define LATE_NS 3000000000ull	/* helpers report at most this late */

struct file {
	struct capture_writer *writer;
	struct capture_block *end;	/* requests its close; allocated with it */
};

struct capture_set {
	struct capture_sink keep;
	char *path;
	uint64_t max_bytes, max_files;
	size_t slice;			/* rows of a block */
	const struct funcs *funcs;
	struct start_state *start;	/* NULL: there is no limit */
	struct file now;
	struct file before;		/* takes what ended before cut_ns; writer NULL: closed */
	uint64_t cut_ns;
	bool is_late;			/* some of its events come late, such as works */
	uint64_t late_from_ns;		/* the first of them in this file; 0: none */
	uint64_t lag_ns;		/* behind the watermark, at most */
	uint64_t number;		/* of the file being written; follows those in the folder */
	uint64_t rows;			/* bytes of them after the state at the file's beginning */
	uint64_t watermark_ns, latest_ns;
	uint64_t oldest;		/* number of the oldest file left */
	bool cutting;
	atomic_int err;			/* of a file closed in another thread; logged */
	struct capture_sink_stats stats;	/* of closed files */
};

static struct capture_set *of(struct capture_sink *k)
{
	return (struct capture_set *)k;
}

/* ---- files ---------------------------------------------------------------------------------- */

static int name_file(const struct capture_set *s, uint64_t number, char name[PATH_MAX])
{
	struct strbuf sb = STRBUF_INIT;
	int err = 0;

	if (s->max_bytes)
		capture_file_number(&sb, s->path, number);
	else
		strbuf_addstr(&sb, s->path);
	if (sb.failed)
		err = -ENOMEM;
	else if (sb.len >= PATH_MAX)
		err = -ENAMETOOLONG;
	else
		memcpy(name, sb.s, sb.len + 1);
	strbuf_free(&sb);
	if (err)
		log_error("cannot name a file after %s: %s", s->path, strerror(-err));
	return err;
}

static void remove_oldest(struct capture_set *s)
{
	char name[PATH_MAX];

	if (!s->max_files || s->number - s->oldest < s->max_files || name_file(s, s->oldest, name))
		return;
	if (unlink(name) && errno != ENOENT)
		log_warn("cannot remove %s: %s; it stays", name, strerror(errno));
	s->oldest++;
	s->stats.removed++;
}

static void take_block(void *ctx, struct capture_block *b)
{
	struct capture_set *s = ctx;

	s->keep.full(s->keep.full_ctx, b);
}

static int open_file(struct capture_set *s)
{
	char name[PATH_MAX];
	int err = name_file(s, s->number + 1, name);

	if (err)
		return err;
	s->now.end = calloc(1, sizeof(*s->now.end));
	s->now.writer = s->now.end ? capture_create(name, s->funcs) : NULL;
	if (!s->now.writer) {
		err = errno ? -errno : -EIO;
		free(s->now.end);
		s->now.end = NULL;
		return err;
	}
	s->now.end->writer = s->now.writer;
	if (s->keep.full)
		capture_defer(s->now.writer, take_block, s);
	s->number++;
	s->rows = 0;
	remove_oldest(s);
	return 0;
}

static int close_file(struct capture_set *s, struct capture_writer *w)
{
	int err = capture_close(w, &s->stats.last);

	s->stats.events += s->stats.last.events;
	s->stats.files++;
	if (err)
		atomic_store(&s->err, err);
	return err;
}

/* Closes the file when all its blocks are stored, in the thread that stores them. */
static int end_file(struct capture_set *s, struct file *f)
{
	struct capture_block *end = f->end;
	int err = f->writer ? capture_flush(f->writer) : 0;

	*f = (struct file){ .writer = NULL };
	if (!end)
		return err;
	if (s->keep.full)
		s->keep.full(s->keep.full_ctx, end);
	else
		err = capture_sink_store(&s->keep, end);
	return err;
}

static void set_defer(struct capture_sink *k)
{
	capture_defer(of(k)->now.writer, take_block, k);
}

static int set_store(struct capture_sink *k, struct capture_block *b)
{
	struct capture_writer *w = b->writer;

	if (b->type)
		return capture_store(w, b);
	free(b);
	return close_file(of(k), w);
}

/* ---- events --------------------------------------------------------------------------------- */

static int push_raw(void *ctx, const struct event *ev)
{
	return capture_push(((struct capture_set *)ctx)->now.writer, ev);
}

/* A reader learns where the works of this file's last launches are. */
static int name_next(struct capture_set *s)
{
	char name[PATH_MAX];
	const char *slash;
	int err = name_file(s, s->number + 1, name);

	slash = strrchr(name, '/');
	return err ? err : push_raw(s, &(struct event){ .kind = EVENT_FACT, .fact.key = "goes_on",
							.fact.value = slash ? slash + 1 : name });
}

/* The next file begins where this one ends. */
static int cut(struct capture_set *s)
{
	const struct event_sink to = { push_raw, s };
	uint64_t now_ns = s->watermark_ns ? s->watermark_ns : s->latest_ns;
	int err;

	s->cutting = true;
	if (s->keep.on_cut)
		s->keep.on_cut(s->keep.cut_ctx);
	err = name_next(s);
	if (!err)
		err = push_raw(s, &(struct event){ .kind = EVENT_STOP, .end_ns = now_ns });
	if (!err)
		err = end_file(s, &s->before);
	if (!err && s->is_late) {
		s->before = s->now;
		s->now = (struct file){ .writer = NULL };
	} else if (!err) {
		err = end_file(s, &s->now);
	}
	s->cut_ns = now_ns;
	s->late_from_ns = 0;
	s->lag_ns /= 2;		/* it may have been one stall */
	if (!err)
		err = open_file(s);
	if (!err)
		err = start_state_put(s->start, now_ns, &to);
	s->cutting = false;
	return err;
}

/* Room for events that end in this file and come late: as much as it holds of a time as long as the
 * lag, and the unpacked block. At least an eighth of a file, at most half. */
static uint64_t late_room(const struct capture_set *s, uint64_t written)
{
	uint64_t span_ns = num_max(s->watermark_ns, s->late_from_ns + 1) - s->late_from_ns;
	double share = (double)num_min(s->lag_ns, span_ns) / (double)span_ns;
	uint64_t room = (uint64_t)((double)written * share) + s->slice;

	return num_max(s->max_bytes / 8, num_min(room, s->max_bytes / 2));
}

static bool is_full(const struct capture_set *s)
{
	uint64_t written = capture_bytes_at_most(s->now.writer);
	uint64_t late = s->is_late ? late_room(s, written) : 0;

	return s->rows >= s->slice && written + s->slice + late + END_ROOM > s->max_bytes;
}

/* ---- events that come late ------------------------------------------------------------------ */

static bool has_room(const struct capture_set *s)
{
	return capture_bytes_at_most(s->before.writer) + END_ROOM < s->max_bytes;
}

/* Helpers report these; API comes along. */
static bool comes_late(unsigned int kind)
{
	return kind == EVENT_WORK || kind == EVENT_CUPTI_CALL || kind == EVENT_UNSEEN ||
	       kind == EVENT_RANGE;
}

enum where { NOW, BEFORE, BOTH };

/* A work goes to the file in which it ended, and to no other; its API record goes to both, because
 * it may have launched works that end later. A call and a mark go where they began. A range that
 * began before may end now. */
static enum where place(const struct capture_set *s, const struct event *ev)
{
	bool began = ev->start_ns < s->cut_ns, ended = ev->end_ns <= s->cut_ns;

	switch (ev->kind) {
	case EVENT_WORK:
		return ended ? BEFORE : NOW;
	case EVENT_API:
		return began ? BOTH : NOW;
	case EVENT_CUPTI_CALL:
		return began ? BEFORE : NOW;
	case EVENT_UNSEEN:
		return began && ended ? BEFORE : began ? BOTH : NOW;
	case EVENT_RANGE:
		return !began ? NOW : ev->range.what == RANGE_MARK ? BEFORE : BOTH;
	default:
		return NOW;
	}
}

/* The count of unseen works goes to the present file alone. */
static struct event as_before(const struct capture_set *s, const struct event *ev)
{
	struct event before = *ev;

	if (ev->kind == EVENT_UNSEEN && ev->end_ns > s->cut_ns) {
		before.end_ns = s->cut_ns;
		before.unseen.count = 0;
	}
	return before;
}

static int push_late(struct capture_set *s, const struct event *ev, enum where *where)
{
	struct event before;
	int err;

	if (s->watermark_ns > s->cut_ns + LATE_NS)
		return end_file(s, &s->before);
	*where = has_room(s) ? place(s, ev) : NOW;
	if (*where == NOW)
		return 0;
	if (ev->kind == EVENT_WORK)
		start_state_count_before(s->start, "helper", "work");
	before = as_before(s, ev);
	err = capture_push(s->before.writer, &before);
	/* Packed blocks take less room. */
	return err || capture_block_bytes(s->before.writer) < s->slice / 2 ? err :
	       capture_flush(s->before.writer);
}

static int flush_block(struct capture_set *s)
{
	int err;

	s->rows += capture_block_bytes(s->now.writer);
	err = capture_flush(s->now.writer);
	if (!err && !s->cutting && is_full(s))
		err = cut(s);
	return err;
}

static void note_lag(struct capture_set *s, const struct event *ev)
{
	uint64_t at_ns = ev->kind == EVENT_WORK ? ev->end_ns : ev->start_ns;

	s->is_late = true;
	if (!s->late_from_ns)
		s->late_from_ns = num_max(at_ns, s->cut_ns);
	if (ev->kind != EVENT_UNSEEN && at_ns < s->watermark_ns)
		s->lag_ns = num_max(s->lag_ns, num_min(s->watermark_ns - at_ns, LATE_NS));
}

static void note_time(struct capture_set *s, const struct event *ev)
{
	if (comes_late(ev->kind))
		note_lag(s, ev);
	if (ev->kind == EVENT_WATERMARK)
		s->watermark_ns = num_max(s->watermark_ns, ev->end_ns);
	else if (ev->kind != EVENT_COUNT)
		s->latest_ns = num_max(s->latest_ns, num_max(ev->start_ns, ev->end_ns));
}

static int fail(struct capture_set *s, int err)
{
	if (err && !atomic_load(&s->err))
		atomic_store(&s->err, err);
	return err;
}

static int set_push(struct capture_sink *k, const struct event *ev)
{
	struct capture_set *s = of(k);
	struct event own;
	enum where where = NOW;
	int err = atomic_load_explicit(&s->err, memory_order_relaxed);

	if (err)
		return err;
	if (!s->start)
		return capture_push(s->now.writer, ev);
	if (capture_block_bytes(s->now.writer) >= s->slice)
		err = flush_block(s);
	if (err)
		return fail(s, err);
	note_time(s, ev);
	if (s->before.writer)
		err = push_late(s, ev, &where);
	if (err || where == BEFORE)
		return fail(s, err);
	err = start_state_take(s->start, ev, &own);
	if (where == BOTH && ev->kind == EVENT_RANGE)
		own.range.again = 1;
	else if (where == BOTH && ev->kind == EVENT_API)
		own.api.again = 1;
	if (err)
		log_error("cannot record events: %s", strerror(-err));
	else
		err = capture_push(s->now.writer, &own);
	return fail(s, err);
}

static int set_flush(struct capture_sink *k)
{
	struct capture_set *s = of(k);
	int err = atomic_load_explicit(&s->err, memory_order_relaxed);

	if (!err && s->before.writer)
		err = capture_flush(s->before.writer);
	if (err)
		return fail(s, err);
	return fail(s, s->start ? flush_block(s) : capture_flush(s->now.writer));
}

static int set_close(struct capture_sink *k, struct capture_sink_stats *stats)
{
	struct capture_set *s = of(k);
	int err;

	if (s->before.writer)
		close_file(s, s->before.writer);
	if (s->now.writer)
		close_file(s, s->now.writer);
	err = atomic_load(&s->err);
	if (s->stats.files && !name_file(s, s->oldest, s->stats.first_path))
		name_file(s, s->number, s->stats.last_path);
	if (stats)
		*stats = s->stats;
	start_state_free(s->start);
	free(s->before.end);
	free(s->now.end);
	free(s->path);
	free(s);
	return err;
}

static const struct capture_sink_ops ops = {
	.push = set_push, .flush = set_flush, .defer = set_defer, .store = set_store,
	.close = set_close,
};

struct capture_sink *capture_set_new(const struct capture_set_plan *plan,
				     const struct funcs *funcs)
{
	struct capture_set *s = calloc(1, sizeof(*s));
	int err = ENOMEM;

	if (!s)
		return NULL;
	*s = (struct capture_set){ .keep = { .ops = &ops }, .path = strdup(plan->path),
				   .max_bytes = plan->max_bytes, .max_files = plan->max_files,
				   .slice = num_min(plan->max_bytes / 8, 512u << 10),
				   .funcs = funcs };
	if (plan->max_bytes) {
		s->number = capture_file_last(plan->path);	/* older files stay */
		s->start = start_state_new();
	}
	s->oldest = s->number + 1;
	if (s->path && (s->start || !plan->max_bytes))
		err = -open_file(s);
	if (!err)
		return &s->keep;
	start_state_free(s->start);
	free(s->path);
	free(s);
	errno = err;
	return NULL;
}
