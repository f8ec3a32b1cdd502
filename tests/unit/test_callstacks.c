// SPDX-License-Identifier: BSD-3-Clause
/*
 * Stacks of calls from copies: a traced child stops at the entry of a function that stands for a
 * probed one, its registers and some of its stack become a record as BPF would have sent it, and
 * the frames that are reported must be the chain that the program is known to have.
 */
#include "elf_object.h"

#include <errno.h>
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>

#include "base/time.h"
#include "event/stacks.h"
#include "catalog/catalog.h"
#include "lib/test.h"
#include "stack/callstacks.h"
#include "view/folded.h"

#if defined(__x86_64__)

/* The trap is the first instruction of the function. */
static const char source[] =
	"#include <signal.h>\n"
	"#include <string.h>\n"
	"#define OWN __attribute__((noinline, noclone))\n"
	"__asm__(\".text\\n.globl call\\n.type call,@function\\ncall:\\n.cfi_startproc\\n\"\n"
	"	\"int3\\nret\\n.cfi_endproc\\n.size call,.-call\\n\");\n"
	"void call(void);\n"
	"volatile int sink;\n"
	"OWN int inner(int n) { call(); return n + sink; }\n"
	"OWN int middle(int n) { int r = inner(n); return r + sink; }\n"
	"OWN int outer(int n) { char room[n + 100]; memset(room, 1, sizeof(room));\n"
	"	int r = middle(n); return r + room[sink]; }\n"
	"OWN int deep(int n) { int r = n ? deep(n - 1) : inner(n); return r + sink; }\n"
	"OWN int tail(int n) { return inner(n + 1); }\n"
	"void handler(int s) { sink = outer(s); }\n"
	"int main(int argc, char **argv) {\n"
	"	int r = 0;\n"
	"	if (!strcmp(argv[1], \"outer\")) r = outer(argc);\n"
	"	if (!strcmp(argv[1], \"deep\")) r = deep(5);\n"
	"	if (!strcmp(argv[1], \"deeper\")) r = deep(200);\n"
	"	if (!strcmp(argv[1], \"tail\")) r = tail(argc);\n"
	"	if (!strcmp(argv[1], \"signal\")) { signal(SIGUSR1, handler); r = raise(SIGUSR1); }\n"
	"	return r + sink;\n"
	"}\n";

struct scene {
	struct object object;
	pid_t pid;
	struct callstacks *cs;
	struct { struct gp_stack head; char copy[GP_STACK_BYTES_MAX]; } rec;
	struct stacks got;
	struct folded folded;
};

static void ignore_code(void *ctx, pid_t pid, const struct gp_code *code)
{
	(void)pid;
	if (code)
		*(struct gp_code *)ctx = *code;
}

static int keep_sent(void *ctx, const struct event *ev)
{
	assert_int_equal(stacks_take(ctx, ev), 0);
	return 0;
}

/* Up to the next trap; other signals go to the program. */
static void go_to_trap(pid_t pid)
{
	int status, pass = 0;

	for (;;) {
		assert_int_equal(ptrace(PTRACE_CONT, pid, NULL, pass), 0);
		assert_int_equal(waitpid(pid, &status, 0), pid);
		assert_true(WIFSTOPPED(status));
		if (WSTOPSIG(status) == SIGTRAP)
			return;
		pass = WSTOPSIG(status);
	}
}

static unsigned int any_row(void)
{
	for (unsigned int i = 1; i < catalog_n_rows(); i++)
		if (catalog_row(i) && !strcmp(catalog_row(i)->name, "cudaFree"))
			return i;
	fail();
	return 0;
}

static void copy_stack(struct scene *sc, size_t bytes)
{
	static const unsigned int numbers[] = { 3, 6, 7, 12, 13, 14, 15 };
	struct user_regs_struct r;
	struct iovec local = { sc->rec.copy, bytes }, remote;

	assert_int_equal(ptrace(PTRACE_GETREGS, sc->pid, NULL, &r), 0);
	const uint64_t values[] = { r.rbx, r.rbp, r.rsp, r.r12, r.r13, r.r14, r.r15 };

	sc->rec.head = (struct gp_stack){ .kind = GP_STACK, .row = (uint16_t)any_row(), .id = 1,
					  .time_ns = time_now_ns(), .pid = (uint32_t)sc->pid,
					  .tid = (uint32_t)sc->pid, .sp = r.rsp };
	sc->rec.head.regs.pc = r.rip - 1;
	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
		sc->rec.head.regs.reg[numbers[i]] = values[i];
		sc->rec.head.regs.known |= 1u << numbers[i];
	}
	remote = (struct iovec){ (void *)(uintptr_t)r.rsp, bytes };
	sc->rec.head.len = (uint32_t)process_vm_readv(sc->pid, &local, 1, &remote, 1, 0) & ~7u;
	assert_true(sc->rec.head.len >= 64);
}

static struct scene *scene_at_call(const char *flags, const char *how, size_t bytes)
{
	static struct gp_code code;
	struct scene *sc = calloc(1, sizeof(*sc));
	int status;

	assert_non_null(sc);
	sc->object = object_build(source, flags);
	sc->cs = callstacks_new(ignore_code, &code);
	assert_non_null(sc->cs);
	sc->pid = fork();
	if (!sc->pid) {
		ptrace(PTRACE_TRACEME, 0, NULL, NULL);
		execl(sc->object.path, "object", how, NULL);
		_exit(1);
	}
	assert_int_equal(waitpid(sc->pid, &status, 0), sc->pid);
	assert_true(WIFSTOPPED(status));
	go_to_trap(sc->pid);
	copy_stack(sc, bytes);
	return sc;
}

static void end_child(struct scene *sc)
{
	kill(sc->pid, SIGKILL);
	waitpid(sc->pid, NULL, 0);
	object_remove(&sc->object);
}

static void scene_free(struct scene *sc)
{
	callstacks_free(sc->cs);
	stacks_free(&sc->got);
	folded_free(&sc->folded);
	free(sc);
}

/* What the stack of the record is reported as. */
static const char *report(struct scene *sc)
{
	const char *text;

	assert_int_equal(callstacks_take(sc->cs, &sc->rec, sizeof(sc->rec.head) + sc->rec.head.len),
			 0);
	assert_int_equal(callstacks_send(sc->cs, &(struct event_sink){ keep_sent, &sc->got }), 0);
	sc->folded.stacks = &sc->got;
	assert_int_equal(folded_text(&sc->folded, sc->rec.head.id, &text), 0);
	return text;
}

static void ends_with(const char *text, const char *end)
{
	size_t len = text ? strlen(text) : 0;

	if (len < strlen(end) || strcmp(text + len - strlen(end), end) != 0)
		fail_msg("%s does not end with %s", text ? text : "(none)", end);
}

static void begins_with(const char *text, const char *begin)
{
	if (!text || strncmp(text, begin, strlen(begin)) != 0)
		fail_msg("%s does not begin with %s", text ? text : "(none)", begin);
}

static void has_chain(const char *flags, const char *how, const char *chain)
{
	struct scene *sc = scene_at_call(flags, how, 8192);
	const char *text = report(sc);

	ends_with(text, chain);
	assert_memory_not_equal(text, "[...]", 5);
	end_child(sc);
	scene_free(sc);
}

#define NO_TAIL " -fno-optimize-sibling-calls"

TEST(chains_are_whole_however_the_program_was_built)
{
	static const char *const flags[] = {
		"-O2 -fomit-frame-pointer" NO_TAIL, "-O2 -fno-omit-frame-pointer" NO_TAIL, "-O0",
		"-O2 -no-pie -fno-pie" NO_TAIL, "-O2 -static" NO_TAIL,
		"-O2 -Wl,-z,noseparate-code" NO_TAIL,
	};

	for (size_t i = 0; i < sizeof(flags) / sizeof(flags[0]); i++)
		has_chain(flags[i], "outer", ";main;outer;middle;inner;cudaFree");
}

TEST(each_level_of_a_recursion_is_a_frame)
{
	has_chain("-O2" NO_TAIL, "deep", ";main;deep;deep;deep;deep;deep;deep;inner;cudaFree");
}

TEST(a_function_left_by_a_tail_call_is_no_frame)
{
	has_chain("-O2", "tail", ";main;inner;cudaFree");
}

TEST(a_signal_handlers_caller_is_the_interrupted_function)
{
	struct scene *sc = scene_at_call("-O2" NO_TAIL, "signal", 8192);
	const char *text = report(sc), *main_at = strstr(text, ";main;");

	ends_with(text, ";handler;outer;middle;inner;cudaFree");
	assert_non_null(main_at);
	end_child(sc);
	scene_free(sc);
}

TEST(without_tables_frame_pointers_do)
{
	has_chain("-O2 -fno-omit-frame-pointer -fno-asynchronous-unwind-tables -fno-unwind-tables"
		  NO_TAIL, "outer", ";main;outer;middle;inner;cudaFree");
}

TEST(frames_beyond_the_copied_stack_are_unknown)
{
	struct scene *sc = scene_at_call("-O2" NO_TAIL, "deeper", 1024);
	const char *text = report(sc);

	assert_memory_equal(text, "[...];deep;deep;", 16);
	ends_with(text, ";deep;deep;inner;cudaFree");
	assert_int_equal(stacks_find(&sc->got, 1)->known, STACK_KNOWN_DEEP);
	end_child(sc);
	scene_free(sc);
}

TEST(symbols_resolve_after_process_and_file_are_gone)
{
	struct scene *sc = scene_at_call("-O2" NO_TAIL, "outer", 4096);

	assert_int_equal(callstacks_mapped(sc->cs, sc->pid), 0);
	end_child(sc);
	ends_with(report(sc), ";main;outer;middle;inner;cudaFree");
	scene_free(sc);
}

TEST(a_process_that_was_never_seen_has_an_unknown_stack)
{
	struct scene *sc = scene_at_call("-O2" NO_TAIL, "outer", 4096);

	end_child(sc);
	assert_null(report(sc));
	assert_int_equal(sc->got.all.n, 1);
	scene_free(sc);
}

/* Stacks that were taken before an exec are none of the new program. */
TEST(an_exec_separates_old_and_new_mappings)
{
	struct scene *sc = scene_at_call("-O2" NO_TAIL, "outer", 4096);

	assert_int_equal(callstacks_mapped(sc->cs, sc->pid), 0);
	callstacks_exec(sc->cs, sc->pid, sc->rec.head.time_ns + NS_PER_SEC);
	ends_with(report(sc), ";main;outer;middle;inner;cudaFree");
	sc->rec.head.id = 2;
	sc->rec.head.time_ns += 2 * NS_PER_SEC;
	assert_null(report(sc));
	end_child(sc);
	scene_free(sc);
}

TEST(a_stack_is_sent_once_and_frames_are_shared)
{
	struct scene *sc = scene_at_call("-O2" NO_TAIL, "outer", 4096);
	size_t frames;

	report(sc);
	frames = sc->got.frames.n;
	report(sc);
	sc->rec.head.id = 2;
	ends_with(report(sc), ";main;outer;middle;inner;cudaFree");
	assert_int_equal(sc->got.all.n, 2);
	assert_int_equal(sc->got.frames.n, frames);
	assert_int_equal(callstacks_counts(sc->cs)->received[GP_STACK], 3);
	end_child(sc);
	scene_free(sc);
}

TEST(records_that_cannot_be_are_counted)
{
	struct scene *sc = scene_at_call("-O2" NO_TAIL, "outer", 4096);
	struct gp_stack bad[4];

	for (size_t i = 0; i < 4; i++)
		bad[i] = sc->rec.head;
	bad[0].kind = GP_CALL;
	bad[1].row = GP_ROWS_MAX - 1;
	bad[2].id = 0;
	bad[3].len = GP_STACK_BYTES_MAX;	/* more than there is */
	for (size_t i = 0; i < 4; i++)
		assert_int_equal(callstacks_take(sc->cs, &bad[i], sizeof(bad[i])), 0);
	assert_int_equal(callstacks_take(sc->cs, &bad[0], 3), 0);
	assert_int_equal(callstacks_counts(sc->cs)->malformed, 5);
	end_child(sc);
	scene_free(sc);
}

/* ---- Python ---------------------------------------------------------------------------------- */

static void take_function(struct scene *sc, uint64_t id, const char *file, const char *name)
{
	/* Each of the first 8 code units is of the next line. */
	static const uint8_t lines[] = { 0x80, 0xd8, 0xd8, 0xd8, 0xd8, 0xd8, 0xd8, 0xd8 };
	struct {
		struct gp_python_code head;
		uint8_t lines[sizeof(lines)];
	} rec = { .head = { .kind = GP_PYTHON_CODE, .file_kind = 1, .name_kind = 1, .id = id,
			    .pid = (uint32_t)sc->pid, .first_line = 40,
			    .file_bytes = (uint16_t)strlen(file),
			    .name_bytes = (uint16_t)strlen(name), .lines_bytes = sizeof(lines) } };

	memcpy(rec.head.file, file, strlen(file));
	memcpy(rec.head.name, name, strlen(name));
	memcpy(rec.lines, lines, sizeof(lines));
	assert_int_equal(callstacks_take(sc->cs, &rec, sizeof(rec)), 0);
}

struct python_record {
	struct gp_python_stack head;
	struct gp_python_frame frames[2];
};

/* Of functions 1, which is called by 2. */
static struct python_record python_of(struct scene *sc, uint64_t id)
{
	return (struct python_record){
		.head = { .kind = GP_PYTHON, .n = 2, .pid = (uint32_t)sc->pid, .id = id },
		.frames = { { .code = 1, .at = 6 }, { .code = 2, .at = -2 } },
	};
}

/* The scene's call stands on Python functions 1 and 2, of these names and files. */
static struct scene *scene_in_python(const char *const of[2][2], bool deep)
{
	struct scene *sc = scene_at_call("-O2" NO_TAIL, "outer", 4096);
	struct python_record python = python_of(sc, 7);

	python.head.deep = deep;
	take_function(sc, 1, of[0][0], of[0][1]);
	take_function(sc, 2, of[1][0], of[1][1]);
	assert_int_equal(callstacks_take(sc->cs, &python, sizeof(python)), 0);
	return sc;
}

TEST(native_frames_stand_on_pythons_functions)
{
	static const char *const of[2][2] = {
		{ "/home/x/train.py", "Trainer.step" },
		{ "/usr/lib/python3.11/site-packages/torch/nn/linear.py", "main" },
	};
	struct scene *sc = scene_in_python(of, false);
	const char *text;

	sc->rec.head.python = 7;
	text = report(sc);
	begins_with(text, "main (torch/nn/linear.py:40);Trainer.step (train.py:43);[...];");
	ends_with(text, ";main;outer;middle;inner;cudaFree");
	assert_int_equal(stacks_find(&sc->got, 1)->known, STACK_KNOWN_WHOLE);
	end_child(sc);
	scene_free(sc);
}

TEST(a_python_stack_deeper_than_its_record_says_so)
{
	static const char *const of[2][2] = { { "train.py", "step" }, { "train.py", "main" } };
	struct scene *sc = scene_in_python(of, true);

	sc->rec.head.python = 7;
	begins_with(report(sc), "[...];main (train.py:40);step (train.py:43);[...];");
	end_child(sc);
	scene_free(sc);
}

/* A worker of autograd, and a hook of Python's in it. */
TEST(a_worker_stands_on_the_functions_that_it_works_for)
{
	static const char *const of[2][2] = { { "train.py", "backward" }, { "train.py", "main" } };
	struct scene *sc = scene_in_python(of, false);
	struct python_record hook = python_of(sc, 8);

	take_function(sc, 3, "hooks.py", "on_grad");
	hook.head.n = 1;
	hook.frames[0].code = 3;
	assert_int_equal(callstacks_take(sc->cs, &hook, sizeof(hook)), 0);
	sc->rec.head.asker = 7;
	begins_with(report(sc), "main (train.py:40);backward (train.py:43);[...];");
	ends_with(report(sc), ";main;outer;middle;inner;cudaFree");
	sc->rec.head.id = 2;
	sc->rec.head.python = 8;
	begins_with(report(sc), "main (train.py:40);backward (train.py:43);[...];"
		    "on_grad (hooks.py:43);[...];");
	ends_with(report(sc), ";main;outer;middle;inner;cudaFree");
	end_child(sc);
	scene_free(sc);
}

/* Its code objects, or itself, were lost. */
TEST(unknown_python_is_left_out)
{
	struct scene *sc = scene_at_call("-O2" NO_TAIL, "outer", 4096);
	struct python_record python = python_of(sc, 7);

	take_function(sc, 1, "train.py", "step");
	assert_int_equal(callstacks_take(sc->cs, &python, sizeof(python)), 0);
	sc->rec.head.python = 7;
	ends_with(report(sc), ";main;outer;middle;inner;cudaFree");
	assert_null(strstr(report(sc), "train.py"));
	sc->rec.head.id = 2;
	sc->rec.head.python = 8;
	ends_with(report(sc), ";main;outer;middle;inner;cudaFree");
	end_child(sc);
	scene_free(sc);
}

TEST(python_records_that_cannot_be_are_counted)
{
	struct scene *sc = scene_at_call("-O2" NO_TAIL, "outer", 4096);
	struct python_record python = python_of(sc, 7);
	struct gp_python_code code = { .kind = GP_PYTHON_CODE, .id = 1 }, bad[3];

	for (size_t i = 0; i < 3; i++)
		bad[i] = code;
	bad[0].file_bytes = GP_PYTHON_FILE + 1;
	bad[1].name_bytes = GP_PYTHON_NAME + 1;
	bad[2].lines_bytes = 1;
	for (size_t i = 0; i < 3; i++)
		assert_int_equal(callstacks_take(sc->cs, &bad[i], sizeof(bad[i])), 0);
	assert_int_equal(callstacks_take(sc->cs, &code, sizeof(code) - 1), 0);
	python.head.n = 3;
	assert_int_equal(callstacks_take(sc->cs, &python, sizeof(python)), 0);
	python.head.n = 2;
	python.head.id = 0;
	assert_int_equal(callstacks_take(sc->cs, &python, sizeof(python)), 0);
	assert_int_equal(callstacks_counts(sc->cs)->malformed, 6);
	end_child(sc);
	scene_free(sc);
}

#endif /* registers are read with ptrace as x86-64 names them */
