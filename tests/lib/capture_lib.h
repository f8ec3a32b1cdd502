/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What tests of captures share: random events of every kind, files in a directory of their own,
 * a sink that keeps what it is given, and stderr as text.
 */
#ifndef TESTS_LIB_CAPTURE_LIB_H
#define TESTS_LIB_CAPTURE_LIB_H

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <gpuprof/capture.h>

#include "base/io.h"
#include "base/str.h"
#include "base/vec.h"
#include "capture/capture.h"
#include "lib/cmocka.h"
#include "lib/event_eq.h"

struct bytes {
	char *v;
	size_t n;
};

struct events {
	VEC(struct event) at;
	VEC(struct event *) own;	/* clones, which have the texts */
};

static struct funcs lib_funcs;
static char lib_dir[64];
static char lib_path[96];
static uint64_t lib_random;
static int lib_stderr = -1, lib_saved_stderr;

/* GP_SEED=N repeats a run. */
static __attribute__((unused)) void lib_seed(void)
{
	const char *given = getenv("GP_SEED");

	if (given)
		lib_random = strtoull(given, NULL, 0);
	else
		assert_int_equal(getrandom(&lib_random, sizeof(lib_random), 0), 8);
	lib_random |= 1;
	print_message("seed: GP_SEED=%llu\n", (unsigned long long)lib_random);
}

static inline uint64_t lib_next(void)
{
	lib_random ^= lib_random << 13;
	lib_random ^= lib_random >> 7;
	lib_random ^= lib_random << 17;
	return lib_random * 0x2545f4914f6cdd1dull;
}

static inline uint64_t lib_below(uint64_t n)
{
	return (lib_next() >> 11) % n;
}

/* Of any magnitude, 0 and all ones included. */
static inline uint64_t lib_any(void)
{
	uint64_t bits = lib_below(66);

	return bits == 65 ? UINT64_MAX : bits ? lib_next() >> (64 - (bits > 64 ? 64 : bits)) : 0;
}

static inline int lib_setup(void **state)
{
	(void)state;
	lib_seed();
	snprintf(lib_dir, sizeof(lib_dir), "/tmp/gpuprof-test-XXXXXX");
	if (!mkdtemp(lib_dir))
		return -1;
	snprintf(lib_path, sizeof(lib_path), "%s/a.gpr", lib_dir);
	lib_funcs.n = 12;
	for (size_t i = 0; i < lib_funcs.n; i++) {
		char name[32];

		snprintf(name, sizeof(name), "function%zu", i % 10);
		lib_funcs.v[i] = (struct func){ strdup(name), i % 3 ? "cudart" : "nccl",
						(uint8_t)(i % CLASS_END), i % 2 };
	}
	return 0;
}

static inline int lib_teardown(void **state)
{
	(void)state;
	for (size_t i = 0; i < lib_funcs.n; i++)
		free((char *)lib_funcs.v[i].name);
	unlink(lib_path);
	return rmdir(lib_dir);
}

/* ---- events ------------------------------------------------------------------------------- */

static inline void events_free(struct events *e)
{
	for (size_t i = 0; i < e->own.n; i++)
		free(e->own.v[i]);
	VEC_FREE(&e->own);
	VEC_FREE(&e->at);
}

static inline int events_add(void *ctx, const struct event *ev)
{
	struct events *e = ctx;
	struct event *own = event_clone(ev), **place = VEC_PUSH(&e->own), *to = VEC_PUSH(&e->at);

	assert_non_null(own);
	assert_non_null(place);
	assert_non_null(to);
	*place = own;
	*to = *own;
	return 0;
}

static inline const char *random_text(char *buf)
{
	size_t len = lib_below(40) ? lib_below(30) : lib_below(4097);

	if (!lib_below(2))
		return NULL;
	for (size_t i = 0; i < len; i++)
		buf[i] = (char)(1 + lib_below(255));
	buf[len] = '\0';
	return buf;
}

static inline void random_value(struct event *ev, const struct event_field *f, char *text)
{
	uint8_t *at = event_field_at(ev, f);
	struct device_sample *values = (void *)at;
	uint64_t v = lib_any();

	switch (f->coding) {
	case FIELD_TEXT:
		*(const char **)at = random_text(text);
		break;
	case FIELD_CHARS:
		memset(at, 'x', lib_below(f->size));
		break;
	case FIELD_VALUES:
		values->has = (uint32_t)lib_below(1u << SAMPLE_FIELDS);
		for (unsigned int i = 0; i < SAMPLE_FIELDS; i++)
			values->v[i] = values->has >> i & 1 ? lib_any() : 0;
		break;
	case FIELD_HASH:
		break;
	default:
		for (unsigned int i = 0; i < f->count; i++, v = lib_any())
			memcpy(at + (size_t)i * f->size, &v, f->size);
	}
}

/* Every field may hold anything, whether its kind gives it a meaning or not. */
static inline void random_hostile(struct event *ev, char text[][GP_TEXT_MAX + 1])
{
	const struct event_schema *s = event_schema(ev->kind);
	unsigned int texts = 0;

	ev->has = (uint8_t)lib_next();
	ev->seq = (uint32_t)lib_any();
	ev->start_ns = lib_any();
	ev->end_ns = lib_any();
	for (uint32_t i = 0; i < s->n; i++)
		random_value(ev, &s->fields[i],
			     text[s->fields[i].coding == FIELD_TEXT ? texts++ : 0]);
	/* Without the times of it there is no reason why a call was late. */
	if (event_is_call(ev->kind) && !ev->call.late_ns)
		ev->call.late_why = ev->call.after_late_ns = 0;
}

/* One of a few shapes, most of the time. */
static inline void random_work(struct event *ev, uint64_t now_ns)
{
	struct work *w = &ev->work;

	w->kind = (uint8_t)(1 + lib_below(WORK_KIND_END - 1));
	w->stream = (uint32_t)lib_below(3);
	w->grid[0] = (uint32_t)lib_below(3);
	w->correlation = (uint32_t)lib_any();
	w->bytes = lib_any();
	w->error_ns = lib_below(1000);
	w->graph_node = lib_below(4) ? 0 : lib_any();
	w->name = lib_below(9) ? "a_kernel" : NULL;
	ev->start_ns = now_ns;
	ev->end_ns = now_ns + lib_below(1000);
}

static inline void random_usual(struct event *ev, uint32_t *seq, uint64_t *now_ns)
{
	ev->kind = lib_below(8) ? EVENT_CALL : EVENT_ENTER;
	ev->has = HAS_RESULT | HAS_STREAM;
	ev->seq = lib_below(10) ? ++*seq : (*seq += 5);
	ev->start_ns = *now_ns += lib_below(9000);
	if (ev->kind == EVENT_CALL)
		ev->end_ns = *now_ns += lib_below(5000);
	ev->call.stream = lib_below(3);
	ev->call.entity = lib_below(4);
	ev->call.shape.grid[0] = (uint32_t)lib_below(3);
	ev->call.bytes = lib_below(5) ? 0 : lib_below(1000);
	ev->call.blocked_ns = lib_below(9) ? 0 : lib_below(1000);
	ev->call.late_ns = lib_below(20) ? 0 : (uint32_t)lib_below(1000);
}

static inline void events_random(struct events *e, size_t n)
{
	static char text[4][GP_TEXT_MAX + 1];
	uint64_t now_ns = 5000000000;
	uint32_t seq[5] = { 0 };

	for (size_t i = 0; i < n; i++) {
		uint32_t thread = (uint32_t)lib_below(5);
		struct event ev = { .kind = (uint8_t)(1 + lib_below(EVENT_KIND_END - 1)) };

		while (!event_schema(ev.kind))
			ev.kind--;

		ev.process = 1 + thread / 2;
		ev.pid = lib_below(2) ? 100 : 100 + thread / 2;
		ev.tid = lib_below(200) ? 100 + thread : (uint32_t)lib_any();
		if (ev.kind == EVENT_WORK && lib_below(4))
			random_work(&ev, now_ns);
		else if (ev.kind == EVENT_WORK || lib_below(4) == 0)
			random_hostile(&ev, text);
		else
			random_usual(&ev, &seq[thread], &now_ns);
		ev.func = event_has_func(ev.kind) ? (uint16_t)lib_below(lib_funcs.n) : 0;
		events_add(e, &ev);
	}
}

/* ---- files -------------------------------------------------------------------------------- */

/* One that takes the place of what an earlier test recorded. */
static inline struct capture_writer *lib_create(const struct funcs *funcs)
{
	unlink(lib_path);
	return capture_create(lib_path, funcs);
}

/* Records events, in blocks of so many; 0: as they come. */
static inline void events_record(const struct events *e, size_t block)
{
	struct capture_writer *w = lib_create(&lib_funcs);
	struct capture_stats stats;

	assert_non_null(w);
	for (size_t i = 0; i < e->at.n; i++) {
		assert_int_equal(capture_push(w, &e->at.v[i]), 0);
		if (block && i % block == block - 1)
			assert_int_equal(capture_flush(w), 0);
	}
	assert_int_equal(capture_close(w, &stats), 0);
	assert_int_equal(stats.events, e->at.n);
}

static inline struct bytes file_read(void)
{
	struct bytes b;

	b.v = io_read_file(lib_path, 1u << 30, &b.n);
	assert_non_null(b.v);
	return b;
}

/* In place: some file systems wait for the disk when a file was emptied and written again, which
 * thousands of times takes a minute. */
static inline void file_write(const void *data, size_t n)
{
	int fd = open(lib_path, O_WRONLY | O_CREAT, 0600);

	assert_true(fd >= 0);
	assert_int_equal(io_write_all(fd, data, n), 0);
	assert_int_equal(ftruncate(fd, (off_t)n), 0);
	close(fd);
}

/* ---- messages ----------------------------------------------------------------------------- */

static inline void stderr_hide(void)
{
	fflush(stderr);
	lib_stderr = memfd_create("stderr", 0);
	lib_saved_stderr = dup(STDERR_FILENO);
	dup2(lib_stderr, STDERR_FILENO);
}

/* What was written since, cut to what one message needs. */
static inline const char *stderr_show(void)
{
	static char text[1024];
	ssize_t n;

	dup2(lib_saved_stderr, STDERR_FILENO);
	close(lib_saved_stderr);
	n = pread(lib_stderr, text, sizeof(text) - 1, 0);
	close(lib_stderr);
	text[n < 0 ? 0 : n] = '\0';
	return text;
}

#endif
