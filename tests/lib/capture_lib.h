/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What tests of captures share: random events of every kind, files in a directory of their own,
 * a sink that keeps what it is given, and stderr as text.
 */
#ifndef TESTS_LIB_CAPTURE_LIB_H
#define TESTS_LIB_CAPTURE_LIB_H

#include <fcntl.h>
#include <stdarg.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>
#include <gpuprof/capture.h>

#include "base/io.h"
#include "base/str.h"
#include "base/vec.h"
#include "capture/capture.h"
#include "lib/event_eq.h"

struct bytes {
	char *v;
	size_t n;
};

struct events {
	VEC(struct event) at;
	struct strpool *texts;
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
	for (size_t i = 0; i < e->at.n; i++) {
		free((void *)(uintptr_t)e->at.v[i].work);
		free((void *)(uintptr_t)e->at.v[i].device);
		free((void *)(uintptr_t)e->at.v[i].sample);
	}
	VEC_FREE(&e->at);
	strpool_free(e->texts);
	e->texts = NULL;
}

static inline int events_add(void *ctx, const struct event *ev)
{
	struct events *e = ctx;
	struct event *to = VEC_PUSH(&e->at);

	if (!e->texts)
		e->texts = strpool_new();
	assert_non_null(to);
	*to = *ev;
	to->text = ev->text ? strpool_add(e->texts, ev->text) : NULL;
	to->text2 = ev->text2 ? strpool_add(e->texts, ev->text2) : NULL;
	to->work = ev->work ? memcpy(malloc(sizeof(struct work)), ev->work, sizeof(struct work)) : NULL;
	to->device = ev->device ? memcpy(malloc(sizeof(struct device_facts)), ev->device,
					 sizeof(struct device_facts)) : NULL;
	to->sample = ev->sample ? memcpy(malloc(sizeof(struct device_sample)), ev->sample,
					 sizeof(struct device_sample)) : NULL;
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

/* Every field may hold anything, whether its kind gives it a meaning or not. */
static inline void random_hostile(struct event *ev)
{
	ev->has = (uint8_t)lib_next();
	ev->dir = (uint8_t)lib_any();
	ev->result = (int32_t)lib_any();
	ev->seq = (uint32_t)lib_any();
	ev->start_ns = lib_any();
	ev->end_ns = lib_any();
	ev->bytes = lib_any();
	ev->stream = lib_any();
	ev->entity = lib_any();
	ev->blocked_ns = lib_any();
	ev->late_ns = (uint32_t)lib_any();
	ev->after_late_ns = ev->late_ns ? (uint32_t)lib_any() : 0;
	ev->late_why = ev->late_ns && lib_below(2) ? OFF_STOPPED : OFF_RUNQUEUE;
	for (int i = 0; i < 3; i++) {
		ev->shape.grid[i] = (uint32_t)lib_any();
		ev->shape.block[i] = (uint32_t)lib_any();
	}
	ev->shape.shared_bytes = lib_any();
}

/* One of a few shapes, most of the time; else anything. */
static inline void random_work(struct work *w)
{
	memset(w, 0, sizeof(*w));
	w->kind = (uint8_t)(1 + lib_below(WORK_KIND_END - 1));
	w->stream = (uint32_t)lib_below(3);
	w->grid[0] = (uint32_t)lib_below(3);
	w->correlation = (uint32_t)lib_any();
	w->bytes = lib_any();
	w->error_ns = lib_below(1000);
	if (lib_below(4))
		return;
	w->graph_node = lib_any();
	w->has = (uint8_t)lib_any();
	w->registers = (uint16_t)lib_any();
	w->block[2] = (uint32_t)lib_any();
	w->cluster[1] = (uint32_t)lib_any();
	w->dynamic_shared = (uint32_t)lib_any();
	w->peer_to = (uint32_t)lib_any();
}

static inline void random_device(struct device_facts *f)
{
	memset(f, 0, sizeof(*f));
	f->device = (uint32_t)lib_below(8);
	f->cc_major = (uint32_t)lib_any();
	f->shared_reserved = (uint32_t)lib_any();
	f->memory_bytes = lib_any();
	memset(f->uuid, 'x', lib_below(DEVICE_UUID_LEN + 1));
}

static inline void random_sample(struct device_sample *s)
{
	memset(s, 0, sizeof(*s));
	s->has = (uint32_t)lib_below(1u << SAMPLE_FIELDS);
	for (unsigned int i = 0; i < SAMPLE_FIELDS; i++)
		s->v[i] = s->has >> i & 1 ? lib_any() : 0;
}

static inline void random_usual(struct event *ev, uint32_t *seq, uint64_t *now_ns)
{
	ev->kind = lib_below(8) ? EVENT_CALL : EVENT_ENTER;
	ev->has = HAS_RESULT | HAS_STREAM;
	ev->seq = lib_below(10) ? ++*seq : (*seq += 5);
	ev->start_ns = *now_ns += lib_below(9000);
	if (ev->kind == EVENT_CALL)
		ev->end_ns = *now_ns += lib_below(5000);
	ev->stream = lib_below(3);
	ev->entity = lib_below(4);
	ev->shape.grid[0] = (uint32_t)lib_below(3);
	ev->bytes = lib_below(5) ? 0 : lib_below(1000);
	ev->blocked_ns = lib_below(9) ? 0 : lib_below(1000);
	ev->late_ns = lib_below(20) ? 0 : (uint32_t)lib_below(1000);
}

static inline void events_random(struct events *e, size_t n)
{
	char text[2][GP_TEXT_MAX + 1];
	uint64_t now_ns = 5000000000;
	uint32_t seq[5] = { 0 };
	struct device_facts device;
	struct device_sample sample;
	struct work work;

	for (size_t i = 0; i < n; i++) {
		uint32_t thread = (uint32_t)lib_below(5);
		struct event ev = { .kind = (uint8_t)(1 + lib_below(EVENT_KIND_END - 1)) };

		ev.pid = 100 + thread / 2;
		ev.tid = lib_below(200) ? 100 + thread : (uint32_t)lib_any();
		ev.func = (uint16_t)lib_below(lib_funcs.n);
		if (ev.kind == EVENT_WORK) {
			random_work(&work);
			ev.work = &work;
			ev.text = lib_below(3) ? random_text(text[0]) : "a_kernel";
			ev.start_ns = now_ns;
			ev.end_ns = now_ns + lib_below(1000);
			events_add(e, &ev);
			continue;
		}
		if (ev.kind == EVENT_DEVICE) {
			random_device(&device);
			ev.device = &device;
			events_add(e, &ev);
			continue;
		}
		if (ev.kind == EVENT_SAMPLE) {
			random_sample(&sample);
			ev.sample = &sample;
			ev.text = "GPU-1";
			ev.end_ns = now_ns;
			events_add(e, &ev);
			continue;
		}
		if (lib_below(4)) {
			random_usual(&ev, &seq[thread], &now_ns);
		} else {
			random_hostile(&ev);
			ev.text = random_text(text[0]);
			ev.text2 = random_text(text[1]);
		}
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
