// SPDX-License-Identifier: BSD-3-Clause
/*
 * What becomes of stacks that were recorded: the tree of frames, the table of calls by stack in each
 * format, and captures, of which each file knows the stacks of its own calls.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "unit/model_room.h"

#include "lib/test.h"
#include "capture/capture.h"
#include "capture/capture_state.h"
#include "event/stacks.h"
#include "view/render.h"
#include "view_of.h"

#define FILE_A "93ac61ec /srv/train"

static struct event frame(uint64_t number, uint64_t caller, const char *function)
{
	struct event ev = { .kind = EVENT_FRAME, .frame.function = function, .frame.file = FILE_A };

	ev.frame.number = number;
	ev.frame.caller = caller;
	ev.frame.offset = 0x1000 + number;
	return ev;
}

static struct event stack(uint64_t id, uint64_t innermost, uint8_t known)
{
	return (struct event){ .kind = EVENT_STACK, .stack.id = id, .stack.frame = innermost,
			       .stack.known = known };
}

static struct event call(uint32_t seq, uint64_t id)
{
	return (struct event){ .kind = EVENT_CALL, .has = HAS_END, .pid = 100, .tid = 100, .seq = seq,
			       .func = L, .start_ns = 1000 + seq * 10, .end_ns = 1000 + seq * 10 + 5,
			       .call.stack = id };
}

/* main > a > launch and main > b > launch, twice from different places in a; an unknown one, one
 * whose outer part is unknown, and one with an unknown function and one that is named
 * like no other. */
static const struct event *got(size_t *n)
{
	static struct event ev[16];

	*n = 0;
	ev[(*n)++] = frame(1, 0, "main");
	ev[(*n)++] = frame(2, 1, "a");
	ev[(*n)++] = frame(3, 1, "b");
	ev[(*n)++] = frame(4, 2, "launch");
	ev[(*n)++] = frame(5, 3, "launch");
	ev[(*n)++] = frame(6, 1, "a");
	ev[(*n)++] = frame(7, 6, "launch");
	ev[(*n)++] = frame(8, 0, NULL);
	ev[(*n)++] = frame(9, 8, "odd;name\"");
	ev[(*n)++] = stack(10, 4, STACK_KNOWN_WHOLE);
	ev[(*n)++] = stack(11, 5, STACK_KNOWN_WHOLE);
	ev[(*n)++] = stack(12, 7, STACK_KNOWN_WHOLE);
	ev[(*n)++] = stack(13, 9, STACK_KNOWN_CUT);
	ev[(*n)++] = stack(14, 0, STACK_KNOWN_CUT);
	return ev;
}

static int push_all(const struct event_sink *to)
{
	static const uint64_t ids[] = { 10, 11, 12, 10, 13, 14, 99, 0 };
	size_t n;
	const struct event *ev = got(&n);
	int err = 0;

	for (uint32_t i = 0; i < 8 && !err; i++) {
		struct event one = call(i + 1, ids[i]);

		err = to->push(to->ctx, &one);
	}
	for (size_t i = 0; i < n && !err; i++)
		err = to->push(to->ctx, &ev[i]);
	return err;
}

static int push_model(void *m, const struct event *ev)
{
	struct event own = stamped(ev);

	return model_push(m, &own);
}

static char *render(const struct model *m, enum format format)
{
	struct table *t = view_by(&view_calls, m, 0, CALLS_BY_STACK);
	struct report r = { .tables = &t, .n_tables = 1 };
	struct strbuf out = STRBUF_INIT;

	assert_non_null(t);
	report_render(&out, &r, format);
	table_free(t);
	return strbuf_detach(&out);
}

static void has(const char *text, const char *part)
{
	if (!strstr(text, part))
		fail_msg("%s\nis not in:\n%s", part, text);
}

static void check_tables(const struct model *m)
{
	char *csv = render(m, FORMAT_CSV), *json = render(m, FORMAT_JSON);
	char *text = render(m, FORMAT_TEXT);

	has(csv, "100,,cudaLaunchKernel,launch,3,,0,,15,0.375,5,5,5,5,,,,,0,main;a;launch,\n");
	has(csv, "100,,cudaLaunchKernel,launch,1,,0,,5,0.125,5,5,5,5,,,,,0,main;b;launch,\n");
	has(csv, "100,,cudaLaunchKernel,launch,1,,0,,5,0.125,5,5,5,5,,,,,0,"
		 "\"[...];train+0x1008;odd:name\"\"\",\n");
	has(csv, "100,,cudaLaunchKernel,launch,3,,0,,15,0.375,5,5,5,5,,,,,0,,\n");
	has(json, "\"stack\": [\"main\", \"b\", \"launch\"], \"device_ns\": null}");
	has(json, "\"stack\": [\"[...]\", \"train+0x1008\", \"odd:name\\\"\"], \"device_ns\": null}");
	has(json, "\"stack\": null, \"device_ns\": null}");
	has(text, "\n        launch\n        b\n        main\n");
	assert_null(strstr(text, "main;b"));
	free(csv);
	free(json);
	free(text);
}

TEST(calls_are_split_by_the_functions_of_their_stacks)
{
	struct model *m = session(1000);

	assert_int_equal(push_all(&(struct event_sink){ push_model, m }), 0);
	check_tables(m);
	model_free(m);
}

static int push_writer(void *w, const struct event *ev)
{
	struct event own = stamped(ev);

	return capture_push(w, &own);
}

TEST(a_capture_gives_the_same_stacks)
{
	char path[] = "/tmp/gpuprof-stacks-XXXXXX";
	int fd = mkstemp(path);
	struct capture_writer *w = capture_create(path, &funcs);
	struct capture_reader *r;
	struct model *m;

	assert_non_null(w);
	assert_int_equal(push_all(&(struct event_sink){ push_writer, w }), 0);
	assert_int_equal(capture_close(w, NULL), 0);
	r = capture_open(path);
	assert_non_null(r);
	m = model_new(capture_funcs(r));
	push(m, (struct event){ .kind = EVENT_START, .start_ns = 1000 });
	assert_int_equal(capture_read(r, &(struct event_sink){ push_model, m }), 0);
	check_tables(m);
	model_free(m);
	capture_free(r);
	close(fd);
	unlink(path);
}

struct recheck {			/* what a capture holds that begins in the middle */
	struct start_state *state;
	struct model *model;
};

static int note(void *ctx, const struct event *ev)
{
	struct event out;

	return start_state_take(((struct recheck *)ctx)->state, ev, &out);
}

TEST(a_capture_that_begins_later_knows_all_stacks_before)
{
	struct recheck l = { start_state_new(), model_new(&funcs) };

	assert_int_equal(push_all(&(struct event_sink){ note, &l }), 0);
	assert_int_equal(start_state_put(l.state, 1000, &(struct event_sink){ push_model, l.model }),
			 0);
	for (uint32_t i = 0; i < 8; i++)
		push(l.model, call(i + 1, (uint64_t[]){ 10, 11, 12, 10, 13, 14, 99, 0 }[i]));
	check_tables(l.model);
	start_state_free(l.state);
	model_free(l.model);
}

TEST(frames_without_a_known_caller_are_refused)
{
	struct stacks s = { 0 };
	struct event ev = frame(2, 1, "b");

	assert_int_equal(stacks_take(&s, &ev), -EINVAL);
	ev = frame(1, 1, "itself");
	assert_int_equal(stacks_take(&s, &ev), -EINVAL);
	ev = frame(0, 0, "zero");
	assert_int_equal(stacks_take(&s, &ev), -EINVAL);
	ev = stack(5, 1, STACK_KNOWN_WHOLE);
	assert_int_equal(stacks_take(&s, &ev), -EINVAL);
	ev = frame(1, 0, "a");
	assert_int_equal(stacks_take(&s, &ev), 0);
	ev = frame(1, 0, "again");
	assert_int_equal(stacks_take(&s, &ev), 0);
	assert_string_equal(stacks_frame(&s, 1)->function, "a");
	ev = stack(5, 1, STACK_KNOWN_END);
	assert_int_equal(stacks_take(&s, &ev), -EINVAL);
	stacks_free(&s);
}

TEST(stored_stacks_are_bounded)
{
	struct stacks s = { 0 };
	struct event ev;
	int err = 0;

	for (uint64_t i = 1; i <= STACKS_MAX + 1; i++) {
		ev = stack(i, 0, STACK_KNOWN_CUT);
		err = stacks_take(&s, &ev);
	}
	assert_int_equal(err, -ENOSPC);
	for (uint64_t i = 1; i <= STACKS_FRAMES_MAX + 1; i++) {
		ev = frame(i, i - 1, "f");
		err = stacks_take(&s, &ev);
	}
	assert_int_equal(err, -ENOSPC);
	assert_int_equal(s.refused, 2);
	stacks_free(&s);
}

/* number, caller, function and file of frames, outermost first. */
static void take_frames(struct stacks *s, const char *const frames[][2], size_t n)
{
	for (size_t i = 0; i < n; i++) {
		struct event ev = frame(i + 1, i, frames[i][0]);

		ev.frame.file = frames[i][1];
		assert_int_equal(stacks_take(s, &ev), 0);
	}
}

TEST(a_program_s_own_frame_is_none_of_a_library_that_it_is_written_with)
{
	static const char *const frames[][2] = {
		{ "_start", "1 /srv/train" }, { "__libc_start_main", "2 /lib/x86_64-linux-gnu/libc.so.6" },
		{ "main", "1 /srv/train" }, { NULL, "1 /srv/train" },
		{ "step", "1 /srv/libmodel.so (deleted)" },
		{ "_PyEval_EvalFrameDefault", "3 /usr/bin/python3.11" },
		{ "at::native::item", "4 /opt/torch/lib/libtorch_cpu.so" },
		{ "c10::cuda::device_synchronize", "5 /opt/torch/lib/libc10_cuda.so" },
		{ "cudaDeviceSynchronize", "6 /usr/lib/libcudart.so.13" },
	};
	struct stacks s = { 0 };
	const struct stacks_frame *own;

	take_frames(&s, frames, sizeof(frames) / sizeof(frames[0]));
	own = stacks_own_frame(&s, 9);
	assert_string_equal(own->function, "step");
	own = stacks_own_frame(&s, own->caller);
	assert_string_equal(own->function, "main");
	assert_null(stacks_own_frame(&s, own->caller));
	assert_null(stacks_own_frame(&s, 0));
	assert_null(stacks_own_frame(&s, 77));
	stacks_free(&s);
}

static void take_python(struct stacks *s, uint64_t number, const char *function, const char *file,
			uint64_t line)
{
	struct event ev = frame(number, number - 1, function);

	ev.frame.file = file;
	ev.frame.offset = line;
	ev.frame.flags = FRAME_PYTHON;
	assert_int_equal(stacks_take(s, &ev), 0);
}

/* What is installed and Python's own is not the program's, in Python or not. */
TEST(a_program_s_own_frame_may_be_of_python)
{
	struct stacks s = { 0 };
	const struct stacks_frame *own;
	struct event ev = frame(5, 4, "forward");

	take_python(&s, 1, "<module>", "/srv/train.py", 0);
	take_python(&s, 2, "Trainer.step", "/srv/train.py", 212);
	take_python(&s, 3, "Linear.forward", "/opt/lib/python3.11/site-packages/torch/nn/linear.py", 9);
	take_python(&s, 4, "wait", "/usr/lib/python3.11/threading.py", 320);
	ev.frame.file = "9 /opt/lib/python3.11/site-packages/fast.so";
	assert_int_equal(stacks_take(&s, &ev), 0);
	take_python(&s, 6, "_call", "<frozen importlib._bootstrap>", 241);
	own = stacks_own_frame(&s, 6);
	assert_string_equal(own->place, "train.py:212 in Trainer.step");
	assert_string_equal(own->lines, "Trainer.step (train.py:212)");
	own = stacks_own_frame(&s, own->caller);
	assert_string_equal(own->place, "train.py in <module>");
	assert_string_equal(stacks_frame(&s, 3)->lines, "Linear.forward (torch/nn/linear.py:9)");
	assert_string_equal(stacks_frame(&s, 4)->lines, "wait (threading.py:320)");
	stacks_free(&s);
}

/* By the names that it gives files, in whatever directory. */
TEST(what_torch_compile_has_written_is_not_the_program_s_own)
{
	static const char *const files[] = {
		"/tmp/torchinductor_alice/xy/some.py",
		"/srv/cache/to/ctoqvkriueomnpnl2nxtbfyzppy6gtxpz2pimduni6ra5yivxlcr.py",
	};
	static const char *const own[] = {
		"/srv/cache/ta/ctoqvkriueomnpnl2nxtbfyzppy6gtxpz2pimduni6ra5yivxlcr.py",
		"ctoqvkriueomnpnl2nxtbfyzppy6gtxpz2pimduni6ra5yivxlcr.py", "/to/cto.py", "c.py",
	};

	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]) + sizeof(own) / sizeof(own[0]); i++) {
		struct stacks s = { 0 };
		const bool is_own = i >= sizeof(files) / sizeof(files[0]);

		take_python(&s, 1, "main", "/srv/train.py", 8);
		take_python(&s, 2, "call", is_own ? own[i - sizeof(files) / sizeof(files[0])] : files[i], 125);
		assert_int_equal(stacks_own_frame(&s, 2)->number, is_own ? 2 : 1);
		stacks_free(&s);
	}
}

/* Names that only begin alike are the program's; a file that is unknown is, too. */
/* Its script, and where its workers begin, are no code of its own. */
TEST(a_program_that_is_installed_is_its_packages_but_no_framework)
{
	struct stacks s = { 0 };

	take_python(&s, 1, "<module>", "<string>", 1);
	take_python(&s, 2, "spawn_main", "/usr/lib/python3.11/multiprocessing/spawn.py", 122);
	take_python(&s, 3, "<module>", "/opt/bin/vllm", 8);
	assert_string_equal(stacks_own_frame(&s, 3)->place, "vllm:8 in <module>");
	take_python(&s, 4, "Worker.execute", "/opt/lib/python3.11/site-packages/vllm/worker.py", 77);
	take_python(&s, 5, "Module._call_impl", "/opt/lib/python3.11/site-packages/torch/nn/module.py", 9);
	take_python(&s, 6, "run", "/usr/lib/python3.11/threading.py", 975);
	assert_string_equal(stacks_own_frame(&s, 6)->place, "vllm/worker.py:77 in Worker.execute");
	assert_string_equal(stacks_own_frame(&s, 2)->place, "<string>:1 in <module>");
	stacks_free(&s);
}
TEST(a_program_s_own_frame_may_be_of_any_other_file)
{
	static const char *const frames[][2] = {
		{ "a", "1 /srv/libcudamodel.so" }, { "b", "- [jit]" }, { "c", NULL },
		{ "d", "1 /srv/libcustom.so" }, { "e", "1 /srv/libtorchless.so" },
	};
	struct stacks s = { 0 };

	take_frames(&s, frames, sizeof(frames) / sizeof(frames[0]));
	for (uint64_t i = 1; i <= sizeof(frames) / sizeof(frames[0]); i++)
		assert_string_equal(stacks_own_frame(&s, i)->function, frames[i - 1][0]);
	stacks_free(&s);
}
