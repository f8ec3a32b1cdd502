// SPDX-License-Identifier: BSD-3-Clause
/*
 * Files of captures: their names and creation without harm to existing files, the writer of one,
 * and rotation: where a file ends and the next begins, removal of the oldest. A file keeps its
 * limit if the state that it begins with leaves room: blocks have an eighth of the limit, and it
 * ends when one more might not fit.
 *
 * A file that has ended is closed by the thread that stores its blocks, because fsync is slow: a
 * block of type 0 requests it. If devices worked it stays open for a while: helpers report
 * device activity with a delay, and it goes into the file of its time as long as there is space.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/io.h"
#include "base/log.h"
#include "base/num.h"
#include "base/str.h"
#include "capture/capture_codec.h"
#include "capture/capture_frame.h"
#include "capture/capture_sink.h"
#include "capture/capture_state.h"

#define ASIDE_MAX 10000		/* older captures of one name */
#define DIGITS 6		/* of a number in a name, at least */

bool capture_is_file(int fd)
{
	struct gp_file_header h;

	return pread(fd, &h, sizeof(h), 0) >= FRAME_TAG_END && h.frame_magic == GP_FRAME_MAGIC &&
	       h.tag == GP_FILE_TAG;
}

/* ---- names ---------------------------------------------------------------------------------- */

/* How much of a name stands before its ".gpr", if it has one. */
static size_t stem_of(const char *path)
{
	size_t len = strlen(path);

	return len > 4 && !strcmp(path + len - 4, ".gpr") ? len - 4 : len;
}

int capture_file_name(char name[PATH_MAX], const char *path, uint64_t number)
{
	size_t stem = stem_of(path);
	int len = number ? snprintf(name, PATH_MAX, "%.*s.%0*llu%s", (int)stem, path, DIGITS,
				    (unsigned long long)number, path + stem) :
			   snprintf(name, PATH_MAX, "%s", path);

	if (len < PATH_MAX)
		return 0;
	log_error("cannot name a file after %s: %s", path, strerror(ENAMETOOLONG));
	return -ENAMETOOLONG;
}

/* Of "run.000002.gpr" as one of "run.gpr": 2. 0: it is none. */
static uint64_t number_of(const char *name, const char *of)
{
	size_t stem = stem_of(of);
	unsigned long long number;
	char *end;

	if (strncmp(name, of, stem) || name[stem] != '.' ||
	    strspn(name + stem + 1, "0123456789") < DIGITS)
		return 0;
	errno = 0;
	number = strtoull(name + stem + 1, &end, 10);
	return errno || strcmp(end, of + stem) ? 0 : number;
}

/* The highest number among the files with such names, or 0. */
static uint64_t capture_file_last(const char *path)
{
	const char *of = str_basename(path);
	struct strbuf where = STRBUF_INIT;
	const struct dirent *entry;
	uint64_t last = 0;
	DIR *dir;

	strbuf_add(&where, path, (size_t)(of - path));
	dir = opendir(where.len ? where.s : ".");
	while (dir && (entry = readdir(dir)) != NULL) {
		uint64_t number = number_of(entry->d_name, of);

		last = num_max(last, number);
	}
	if (dir)
		closedir(dir);
	strbuf_free(&where);
	return last;
}

/* ---- existing files ------------------------------------------------------------------------- */

/* Another gpuprof has the lock, or has replaced the file. */
static bool is_in_use(int fd, const char *path, const struct stat *st)
{
	struct stat now;

	return flock(fd, LOCK_EX | LOCK_NB) ? errno == EWOULDBLOCK :
	       lstat(path, &now) || now.st_dev != st->st_dev || now.st_ino != st->st_ino;
}

/* Locks what may be written or get another name. Its size, or -errno, logged. */
static off_t take(int fd, const char *path)
{
	const char *why = NULL;
	struct stat st;
	int err = EEXIST;

	if (fstat(fd, &st))
		err = errno, why = strerror(err);
	else if (!S_ISREG(st.st_mode))
		why = "is not a regular file";
	else if (st.st_uid != geteuid())	/* its owner may read what is written */
		why = "belongs to another user";
	else if (st.st_size && !capture_is_file(fd))
		why = "exists and is not a capture";
	else if (is_in_use(fd, path, &st))
		err = EBUSY, why = "is being written by another gpuprof";
	if (why)
		log_error("%s %s; choose another name", path, why);
	return why ? -err : st.st_size;
}

/* Not every file system knows how to rename only where nothing is replaced. 0 or an errno. */
static int rename_to_new(const char *from, const char *to)
{
	if (!renameat2(AT_FDCWD, from, AT_FDCWD, to, RENAME_NOREPLACE))
		return 0;
	if (errno != EINVAL && errno != ENOSYS)
		return errno;
	return link(from, to) || unlink(from) ? errno : 0;
}

/* Renames "run.gpr" to "run.old.gpr", "run.old2.gpr" ...: the first that is free. 0 or -errno,
 * logged. */
static int put_aside(const char *path)
{
	struct strbuf name = STRBUF_INIT;
	size_t stem = stem_of(path);
	int err = EEXIST;

	for (int i = 1; i <= ASIDE_MAX && err == EEXIST; i++) {
		strbuf_reset(&name);
		strbuf_addf(&name, "%.*s.old", (int)stem, path);
		if (i > 1)
			strbuf_addf(&name, "%d", i);
		strbuf_addstr(&name, path + stem);
		err = name.failed ? ENOMEM : rename_to_new(path, name.s);
	}
	if (!err)
		log_info("%s is an older capture and kept as %s", path, name.s);
	else
		log_error("cannot keep the older capture %s under another name: %s; choose another "
			  "name for the new one", path, strerror(err));
	strbuf_free(&name);
	return -err;
}

/* O_NONBLOCK: opening a FIFO or a device must not wait before it is refused. */
static int open_target(const char *path, int more)
{
	const int flags = O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK | O_NOCTTY;
	int fd = open(path, flags | more, 0600);
	int err = errno;

	if (fd >= 0)
		return fd;
	log_error("cannot create %s: %s", path,
		  err == ELOOP	? "it is a symbolic link; choose another name" :
		  err == EISDIR ? "it is a directory; give the name of a file in it" :
				  strerror(err));
	return -err;
}

/*
 * An empty file of this name, locked, of mode 0600. A capture that has the name already is renamed,
 * which is logged. fd or -errno, logged.
 */
static int capture_file_create(const char *path)
{
	int fd = open_target(path, 0), old = fd, err;
	off_t size = fd < 0 ? fd : take(fd, path);

	if (size > 0) {		/* an older capture, locked until there is a new file */
		err = put_aside(path);
		fd = err ? err : open_target(path, O_EXCL);
		size = fd < 0 ? fd : take(fd, path);
		close(old);
		if (size > 0) {
			log_error("%s was created meanwhile; choose another name", path);
			size = -EEXIST;
		}
	}
	if (!size && !fchmod(fd, 0600))
		return fd;
	err = size ? (int)size : -errno;
	if (!size)
		log_error("cannot set the mode of %s to 0600: %s", path, strerror(-err));
	io_close(&fd);
	return err;
}

/* ---- the writer ----------------------------------------------------------------------------- */

#define ZSTD_LEVEL 1

struct capture_writer {
	struct capture_encoder *encoder;
	struct capture_block *end;	/* requests its close */
	atomic_int err;			/* set by whichever thread stores */
	_Atomic uint64_t stored_bytes;	/* likewise */
	_Atomic uint64_t waiting_bytes;	/* of blocks handed over, at most */
	void (*full)(void *ctx, struct capture_block *b);
	void *ctx;

	/* The file: it ends with a complete block at all times, also after a failed write. Used by
	 * the thread that stores. */
	int fd;
	int failed;			/* the error of a failed write */
	char *path;
	ZSTD_CCtx *zstd;
	uint8_t *out;			/* a header and its packed payload */
	uint64_t file_id;
	uint64_t number;		/* of the last block */
	struct capture_stats stats;	/* file_bytes: up to the last complete block */
};

/* The one place where a failed write is reported; cuts the file back to its last whole block. */
static int write_failed(struct capture_writer *w, int err)
{
	w->failed = err;
	atomic_store_explicit(&w->err, err, memory_order_relaxed);
	log_error("cannot write %s: %s; it stays readable up to its last complete block "
		  "(%llu bytes)", w->path, strerror(-err),
		  (unsigned long long)w->stats.file_bytes);
	if (ftruncate(w->fd, (off_t)w->stats.file_bytes) ||
	    lseek(w->fd, (off_t)w->stats.file_bytes, SEEK_SET) < 0)
		log_warn("cannot cut %s back to its last complete block: %s", w->path,
			 strerror(errno));
	return err;
}

static int append(struct capture_writer *w, const void *data, size_t len)
{
	int err = io_write_all(w->fd, data, len);

	if (err)
		return write_failed(w, err);
	w->stats.file_bytes += len;
	return 0;
}

static void free_writer(struct capture_writer *w)
{
	io_close(&w->fd);
	capture_encoder_free(w->encoder);
	ZSTD_freeCCtx(w->zstd);
	free(w->end);
	free(w->out);
	free(w->path);
	free(w);
}

static int create(struct capture_writer *w, const char *path, const struct funcs *funcs)
{
	struct gp_file_header h;

	w->encoder = capture_encoder_new(funcs);
	w->end = calloc(1, sizeof(*w->end));
	w->path = strdup(path);
	w->zstd = ZSTD_createCCtx();
	w->out = malloc(sizeof(struct gp_block_header) + FRAME_PACKED_MAX);
	if (!w->encoder || !w->end || !w->path || !w->zstd || !w->out) {
		log_error("cannot create %s: %s", path, strerror(ENOMEM));
		return -ENOMEM;
	}
	w->end->writer = w;
	ZSTD_CCtx_setParameter(w->zstd, ZSTD_c_compressionLevel, ZSTD_LEVEL);
	ZSTD_CCtx_setParameter(w->zstd, ZSTD_c_checksumFlag, 1);
	if (getrandom(&w->file_id, sizeof(w->file_id), 0) != sizeof(w->file_id)) {
		log_error("cannot create %s: no random numbers: %s", path, strerror(errno));
		return -EIO;
	}
	w->fd = capture_file_create(path);
	if (w->fd < 0)
		return w->fd;
	frame_seal_file(&h, w->file_id);
	return append(w, &h, sizeof(h));
}

struct capture_writer *capture_create(const char *path, const struct funcs *funcs)
{
	struct capture_writer *w = calloc(1, sizeof(*w));
	int err;

	if (!w)
		return NULL;
	w->fd = -1;
	err = create(w, path, funcs);
	if (!err)
		return w;
	free_writer(w);
	errno = -err;
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

/* Upper bound of the file's size after capture_close, with all events pushed so far. For the thread
 * that pushes. */
static uint64_t bytes_at_most(const struct capture_writer *w)
{
	uint64_t waiting = atomic_load_explicit(&w->waiting_bytes, memory_order_acquire);
	size_t raw = capture_encoder_bytes(w->encoder);

	return atomic_load_explicit(&w->stored_bytes, memory_order_relaxed) + waiting +
	       (raw ? packed_at_most(raw) : 0) + packed_at_most(sizeof(struct gp_capture_end));
}

/* 0 or -errno: sticky, logged once. */
static int store_block(struct capture_writer *w, const struct capture_block *b)
{
	struct gp_block_header *h = (struct gp_block_header *)w->out;
	uint8_t *payload = w->out + sizeof(*h);
	size_t packed;
	int err;

	if (w->failed)
		return w->failed;
	packed = ZSTD_compress2(w->zstd, payload, FRAME_PACKED_MAX, b->raw, b->raw_bytes);
	if (ZSTD_isError(packed))
		return write_failed(w, -ENOMEM);
	*h = (struct gp_block_header){
		.type = b->type, .events = b->events, .number = ++w->number,
		.file_id = w->file_id, .start_ns = b->start_ns, .end_ns = b->end_ns,
		.raw_bytes = (uint32_t)b->raw_bytes, .packed_bytes = (uint32_t)packed,
		.payload_hash = XXH64(payload, packed, 0),
	};
	frame_seal_block(h);
	err = append(w, w->out, sizeof(*h) + packed);
	if (err)
		return err;
	atomic_store_explicit(&w->stored_bytes, w->stats.file_bytes, memory_order_relaxed);
	if (b->type == GP_BLOCK_EVENTS) {
		w->stats.events += b->events;
		w->stats.raw_bytes += b->raw_bytes;
		w->stats.blocks++;
	}
	return 0;
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
	if (!err)
		return 0;
	capture_flush(w);	/* events encoded before are kept */
	if (err == -EINVAL)
		log_error("cannot record an event of kind %u, function %u: no such kind or "
			  "function; this is a bug in gpuprof", ev->kind, ev->func);
	else
		log_error("cannot record events: %s", strerror(-err));
	atomic_store_explicit(&w->err, err, memory_order_relaxed);
	return err;
}

static int write_end(struct capture_writer *w)
{
	struct gp_capture_end end = {
		.events = w->stats.events, .blocks = w->stats.blocks,
		.raw_bytes = w->stats.raw_bytes,
	};
	struct capture_block *b = malloc(sizeof(*b) + sizeof(end));
	int err;

	if (!b)
		return write_failed(w, -ENOMEM);
	*b = (struct capture_block){ .type = GP_BLOCK_END, .raw_bytes = sizeof(end) };
	memcpy(b->raw, &end, sizeof(end));
	err = store_block(w, b);
	free(b);
	return err;
}

int capture_close(struct capture_writer *w, struct capture_stats *stats)
{
	int err;

	w->full = NULL;
	capture_flush(w);
	err = atomic_load_explicit(&w->err, memory_order_relaxed);
	if (!err)
		err = write_end(w);
	/* EINVAL: a file system that cannot; nothing is known to be wrong. */
	if (!w->failed && fsync(w->fd) && errno != EINVAL) {
		log_error("cannot write %s to its disk: %s; it may be incomplete after a crash "
			  "of this host", w->path, strerror(errno));
		err = err ? err : -errno;
	}
	if (stats)
		*stats = w->stats;
	free_writer(w);
	return err;
}

/* ---- a set of files ------------------------------------------------------------------------- */

#define END_ROOM 4096		/* for counters and STOP */
#define LATE_NS 3000000000ull	/* helpers report at most this late */

struct capture_set {
	struct capture_sink keep;
	char *path;
	bool is_numbered;		/* its files are, else there is one of that name */
	uint64_t max_bytes, max_files;
	size_t slice;			/* rows of a block */
	const struct funcs *funcs;
	struct start_state *start;	/* NULL: there is no limit */
	struct capture_writer *now;
	struct capture_writer *before;	/* takes what ended before cut_ns; NULL: closed */
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

/* ---- its files ------------------------------------------------------------------------------ */

static int name_file(const struct capture_set *s, uint64_t number, char name[PATH_MAX])
{
	return capture_file_name(name, s->path, s->is_numbered ? number : 0);
}

/* Also removes the oldest file if there are too many. */
static int open_file(struct capture_set *s)
{
	char name[PATH_MAX];
	int err = name_file(s, s->number + 1, name);

	if (err)
		return err;
	s->now = capture_create(name, s->funcs);
	if (!s->now)
		return errno ? -errno : -EIO;
	capture_defer(s->now, s->keep.full, s->keep.full_ctx);
	s->number++;
	s->rows = 0;
	if (s->max_files && s->number - s->oldest >= s->max_files &&
	    !name_file(s, s->oldest, name)) {
		if (unlink(name) && errno != ENOENT)
			log_warn("cannot remove %s: %s; it stays", name, strerror(errno));
		s->oldest++;
		s->stats.removed++;
	}
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
static int end_file(struct capture_set *s, struct capture_writer **file)
{
	struct capture_writer *w = *file;
	int err;

	*file = NULL;
	if (!w)
		return 0;
	err = capture_flush(w);
	if (!s->keep.full)
		return close_file(s, w);
	s->keep.full(s->keep.full_ctx, w->end);
	return err;
}

static void set_defer(struct capture_sink *k)
{
	capture_defer(of(k)->now, k->full, k->full_ctx);
}

static int set_store(struct capture_sink *k, struct capture_block *b)
{
	return b->type ? capture_store(b->writer, b) : close_file(of(k), b->writer);
}

/* ---- events --------------------------------------------------------------------------------- */

static int push_raw(void *ctx, const struct event *ev)
{
	return capture_push(((struct capture_set *)ctx)->now, ev);
}


/* The next file begins where this one ends. */
static int cut(struct capture_set *s)
{
	const struct event_sink to = { push_raw, s };
	uint64_t now_ns = s->watermark_ns ? s->watermark_ns : s->latest_ns;
	char next[PATH_MAX];
	int err;

	s->cutting = true;
	if (s->keep.on_cut)
		s->keep.on_cut(s->keep.cut_ctx);
	err = name_file(s, s->number + 1, next);
	if (!err)	/* readers look there for the works of this file's last launches */
		err = push_raw(s, &(struct event){ .kind = EVENT_FACT, .fact.key = "goes_on",
						   .fact.value = str_basename(next) });
	if (!err)
		err = push_raw(s, &(struct event){ .kind = EVENT_STOP, .end_ns = now_ns });
	if (!err)
		err = end_file(s, &s->before);
	if (!err && s->is_late) {
		s->before = s->now;
		s->now = NULL;
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
	uint64_t written = bytes_at_most(s->now);
	uint64_t late = s->is_late ? late_room(s, written) : 0;

	return s->rows >= s->slice && written + s->slice + late + END_ROOM > s->max_bytes;
}

/* ---- events that come late ------------------------------------------------------------------ */

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

static int push_late(struct capture_set *s, const struct event *ev, enum where *where)
{
	struct event before;
	int err;

	if (s->watermark_ns > s->cut_ns + LATE_NS)
		return end_file(s, &s->before);
	*where = bytes_at_most(s->before) + END_ROOM < s->max_bytes ? place(s, ev) : NOW;
	if (*where == NOW)
		return 0;
	if (ev->kind == EVENT_WORK)
		start_state_count_before(s->start, "helper", "work");
	before = *ev;
	if (ev->kind == EVENT_UNSEEN && ev->end_ns > s->cut_ns) {
		before.end_ns = s->cut_ns;
		before.unseen.count = 0;	/* all of it goes to the present file */
	}
	err = capture_push(s->before, &before);
	/* Packed blocks take less room. */
	return err || capture_encoder_bytes(s->before->encoder) < s->slice / 2 ? err :
	       capture_flush(s->before);
}

static int flush_block(struct capture_set *s)
{
	int err;

	s->rows += capture_encoder_bytes(s->now->encoder);
	err = capture_flush(s->now);
	if (!err && !s->cutting && is_full(s))
		err = cut(s);
	return err;
}

static void note_time(struct capture_set *s, const struct event *ev)
{
	uint64_t at_ns = ev->kind == EVENT_WORK ? ev->end_ns : ev->start_ns;

	/* Helpers report these, which makes them late; API comes along. */
	if (ev->kind == EVENT_WORK || ev->kind == EVENT_CUPTI_CALL || ev->kind == EVENT_UNSEEN ||
	    ev->kind == EVENT_RANGE) {
		s->is_late = true;
		if (!s->late_from_ns)
			s->late_from_ns = num_max(at_ns, s->cut_ns);
		if (ev->kind != EVENT_UNSEEN && at_ns < s->watermark_ns)
			s->lag_ns = num_max(s->lag_ns, num_min(s->watermark_ns - at_ns, LATE_NS));
	}
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
		return capture_push(s->now, ev);
	if (capture_encoder_bytes(s->now->encoder) >= s->slice)
		err = flush_block(s);
	if (err)
		return fail(s, err);
	note_time(s, ev);
	if (s->before)
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
		err = capture_push(s->now, &own);
	return fail(s, err);
}

static int set_flush(struct capture_sink *k)
{
	struct capture_set *s = of(k);
	int err = atomic_load_explicit(&s->err, memory_order_relaxed);

	if (!err && s->before)
		err = capture_flush(s->before);
	if (!err)
		err = s->start ? flush_block(s) : capture_flush(s->now);
	return fail(s, err);
}

static int set_close(struct capture_sink *k, struct capture_sink_stats *stats)
{
	struct capture_set *s = of(k);
	int err;

	if (s->before)
		close_file(s, s->before);
	if (s->now)
		close_file(s, s->now);
	err = atomic_load(&s->err);
	if (s->stats.files && !name_file(s, s->oldest, s->stats.first_path))
		name_file(s, s->number, s->stats.last_path);
	if (stats)
		*stats = s->stats;
	start_state_free(s->start);
	free(s->path);
	free(s);
	return err;
}

static const struct capture_sink_ops ops = {
	.push = set_push, .flush = set_flush, .defer = set_defer, .store = set_store,
	.close = set_close,
};

struct capture_sink *capture_set_new(const struct capture_sink_plan *plan, const char *path,
				     const struct funcs *funcs)
{
	struct capture_set *s = calloc(1, sizeof(*s));
	int err = ENOMEM;

	if (!s)
		return NULL;
	*s = (struct capture_set){ .keep = { .ops = &ops }, .path = strdup(path),
				   .is_numbered = plan->max_bytes || plan->number,
				   .max_bytes = plan->max_bytes, .max_files = plan->max_files,
				   .slice = num_min(plan->max_bytes / 8, 512u << 10),
				   .number = num_sub(plan->number, 1), .funcs = funcs };
	if (plan->max_bytes) {
		s->number = capture_file_last(path);	/* older files stay */
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
