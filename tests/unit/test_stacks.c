// SPDX-License-Identifier: BSD-3-Clause
/*
 * Snapshots of living children whose stack is known: outer calls middle calls inner, which waits
 * in the way that its argument says. Built in every way that compilers lay stacks out.
 */
#include "elf_object.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>

#include "base/time.h"
#include "catalog/catalog.h"
#include "lib/test.h"
#include "stack/snapshot.h"

static const char source[] =
	"#include <poll.h>\n"
	"#include <pthread.h>\n"
	"#include <signal.h>\n"
	"#include <stdio.h>\n"
	"#include <stdlib.h>\n"
	"#include <string.h>\n"
	"#include <time.h>\n"
	"#include <unistd.h>\n"
	"#define OWN __attribute__((noinline, noclone))\n"
	"volatile int sink, pipes[2];\n"
	"pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;\n"
	"OWN int inner(const char *how) {\n"
	"	struct timespec t = { 1000, 0 };\n"
	"	struct pollfd p = { pipes[0], POLLIN };\n"
	"	char byte;\n"
	"	if (!strcmp(how, \"sleep\") || !strcmp(how, \"signal\")) sink = nanosleep(&t, 0);\n"
	"	if (!strcmp(how, \"read\")) sink = read(pipes[0], &byte, 1);\n"
	"	if (!strcmp(how, \"poll\")) sink = poll(&p, 1, -1);\n"
	"	if (!strcmp(how, \"futex\")) { pthread_mutex_lock(&lock);\n"
	"		sink = pthread_mutex_lock(&lock); }\n"
	"	while (!strcmp(how, \"spin\")) sink++;\n"
	"	return sink;\n"
	"}\n"
	"OWN int middle(const char *how) { int r = inner(how); return r + sink; }\n"
	"OWN int outer(const char *how) {\n"
	"	char room[sink + 100]; memset(room, 1, sizeof(room)); sink = 0;\n"
	"	int r = middle(how); return r + room[sink]; }\n"
	"OWN int deep(int n) { int r = n ? deep(n - 1) : outer(\"sleep\"); return r + sink; }\n"
	"void handler(int s) { sink = outer(\"signal\"); }\n"
	"void *thread(void *how) { sink = outer(how); return 0; }\n"
	"int main(int argc, char **argv) {\n"
	"	pthread_t t;\n"
	"	if (pipe((int *)pipes)) return 1;\n"
	"	if (!strcmp(argv[1], \"deep\")) return deep(1000);\n"
	"	if (!strcmp(argv[1], \"threads\")) for (int i = 0; i < 63; i++)\n"
	"		pthread_create(&t, 0, thread, \"read\");\n"
	"	if (!strcmp(argv[1], \"threads\")) return outer(\"sleep\");\n"
	"	if (!strcmp(argv[1], \"signal\")) { signal(SIGUSR1, handler); return raise(SIGUSR1); }\n"
	"	return outer(argv[1]);\n"
	"}\n";

static struct {
	struct object object;
	pid_t pid;		/* 0: there is none */
	struct stack_snapshot *s;
} sc;

static char state_of(pid_t pid)
{
	char path[40], text[512] = "";
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	f = fopen(path, "r");
	if (!f)
		return 0;
	text[fread(text, 1, sizeof(text) - 1, f)] = '\0';
	fclose(f);
	return strrchr(text, ')') ? strrchr(text, ')')[2] : '\0';
}

/* Until the child is where it is meant to be: in a call that waits, or running for a while. */
static void settle(pid_t pid, const char *how)
{
	uint64_t end_ns = time_now_ns() + 10 * NS_PER_SEC;
	char want = strcmp(how, "spin") ? 'S' : 'R';
	int same = 0;

	while (same < 5 && time_now_ns() < end_ns) {
		poll(NULL, 0, 20);
		same = state_of(pid) == want ? same + 1 : 0;
	}
	assert_int_equal(same, 5);
}

static void scene_end(void)
{
	if (!sc.pid)
		return;
	stack_snapshot_free(sc.s);
	kill(sc.pid, SIGKILL);
	waitpid(sc.pid, NULL, 0);
	object_remove(&sc.object);
	sc.pid = 0;
}

AFTER_EACH
{
	scene_end();
}

/* Of all registers, /proc shows two: too little for most of the stacks here. */
static void look(void)
{
	uint32_t pid = (uint32_t)sc.pid;

	stack_snapshot_free(sc.s);
	sc.s = stack_snapshot_new(&pid, 1, NULL);
	assert_non_null(sc.s);
	if (stack_snapshot_regs_error(sc.s)) {
		print_message("skipped: BPF is not permitted here\n");
		skip();
	}
	assert_int_equal(stack_snapshot_add(sc.s, sc.pid), 0);
}

static const struct stack_thread *main_thread(void)
{
	for (size_t i = 0; i < stack_snapshot_threads(sc.s); i++)
		if (stack_snapshot_thread(sc.s, i)->tid == sc.pid)
			return stack_snapshot_thread(sc.s, i);
	fail_msg("no thread %d", sc.pid);
	return NULL;
}

/* A program built so; its first thread. */
static const struct stack_thread *scene_of(const char *text, const char *flags, const char *how)
{
	needs_real_machine("registers of other processes");
	scene_end();
	sc.object = object_build(text, flags);
	sc.s = NULL;
	sc.pid = fork();
	assert_true(sc.pid >= 0);
	if (!sc.pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		execl(sc.object.path, "stacks", how, NULL);
		_exit(1);
	}
	settle(sc.pid, how);
	look();
	return main_thread();
}

static const struct stack_thread *scene_start(const char *flags, const char *how)
{
	return scene_of(source, flags, how);
}

static bool is_function(const struct stack_frame *f, const char *name)
{
	return f->function && !strcmp(f->function, name);
}

static void print_stack(const struct stack_thread *t)
{
	for (size_t i = 0; i < t->n_frames; i++)
		print_message("%zu %s+%#lx %s\n", i, t->frames[i].function ? t->frames[i].function :
			      "?", (unsigned long)t->frames[i].offset, t->frames[i].module);
}

/* Names, "inner middle outer", one above the other without anything between. */
static void has_chain(const struct stack_thread *t, const char *const *names, size_t n)
{
	size_t i = 0, k;

	while (i < t->n_frames && !is_function(&t->frames[i], names[0]))
		i++;
	for (k = 0; k < n && i + k < t->n_frames; k++)
		if (!is_function(&t->frames[i + k], names[k]))
			break;
	if (k == n)
		return;
	print_stack(t);
	fail_msg("not in the stack: %s", names[k]);
}

#define HAS_CHAIN(t, ...) \
	has_chain(t, (const char *const[]){ __VA_ARGS__ }, \
		  sizeof((const char *const[]){ __VA_ARGS__ }) / sizeof(char *))

static void check_chain(const char *flags, const char *how)
{
	const struct stack_thread *t = scene_start(flags, how);

	HAS_CHAIN(t, "inner", "middle", "outer", "main");
	assert_int_equal(t->quality, STACK_IS_WHOLE);
	assert_null(t->call);
	assert_true(t->cpu_known);
}

TEST(stacks_are_whole_however_the_program_was_built)
{
	static const char *const flags[] = {
		"-O2 -fomit-frame-pointer -fno-optimize-sibling-calls",
		"-O2 -fno-omit-frame-pointer -fno-optimize-sibling-calls",
		"-O2 -fno-plt -no-pie -fno-pie -fno-optimize-sibling-calls", "-O0",
		"-O2 -static -fno-optimize-sibling-calls",
		"-O2 -Wl,-z,noseparate-code -fno-optimize-sibling-calls",
	};

	for (size_t i = 0; i < sizeof(flags) / sizeof(flags[0]); i++)
		check_chain(flags[i], "sleep");
}

TEST(a_threads_wait_is_shown)
{
	static const struct {
		const char *how, *syscall, *file;
	} waits[] = {
		{ "sleep", "clock_nanosleep", NULL }, { "read", "read", "pipe:[" },
		{ "poll", "poll", "pipe:[" }, { "futex", "futex", NULL },
	};

	for (size_t i = 0; i < sizeof(waits) / sizeof(waits[0]); i++) {
		const struct stack_thread *t = scene_start("-O2", waits[i].how);

		HAS_CHAIN(t, "inner", "middle", "outer", "main");
		assert_non_null(strstr(t->syscall, waits[i].syscall));	/* arm64: ppoll */
		assert_int_equal(t->state, 'S');
		assert_int_equal(!t->file, !waits[i].file);
		if (t->file)
			assert_memory_equal(t->file, waits[i].file, strlen(waits[i].file));
	}
}

TEST(without_tables_frame_pointers_do)
{
	const struct stack_thread *t = scene_start("-O2 -fno-omit-frame-pointer "
						   "-fno-asynchronous-unwind-tables "
						   "-fno-unwind-tables -fno-optimize-sibling-calls",
						   "read");

	HAS_CHAIN(t, "inner", "middle", "outer", "main");
	assert_int_equal(t->quality, STACK_IS_WHOLE);
}

TEST(a_signal_handlers_stack_continues_in_the_interrupted_code)
{
	const struct stack_thread *t = scene_start("-O2 -fno-optimize-sibling-calls", "signal");
	size_t signals = 0;

	HAS_CHAIN(t, "inner", "middle", "outer", "handler");
	for (size_t i = 0; i < t->n_frames; i++)
		signals += t->frames[i].signal;
	assert_int_equal(signals, 1);
	assert_int_equal(t->quality, STACK_IS_WHOLE);
	for (size_t i = 0; i < t->n_frames; i++)
		signals += is_function(&t->frames[i], "main");
	assert_int_equal(signals, 2);
}

TEST(a_deep_recursion_is_cut_and_marked)
{
	const struct stack_thread *t = scene_start("-O2 -fno-optimize-sibling-calls", "deep");

	HAS_CHAIN(t, "inner", "middle", "outer", "deep", "deep", "deep");
	assert_int_equal(t->quality, STACK_IS_DEEP);
	assert_int_equal(t->n_frames, 256);
}

TEST(a_stripped_program_has_its_frames_and_no_names)
{
	const struct stack_thread *t = scene_start("-O2 -s -fno-optimize-sibling-calls", "sleep");
	size_t own = 0;

	for (size_t i = 0; i < t->n_frames; i++) {
		if (strcmp(t->frames[i].module, "object"))
			continue;
		assert_null(t->frames[i].function);
		own++;
	}
	assert_int_equal(own, 5);	/* inner middle outer main _start */
	assert_int_equal(t->quality, STACK_IS_WHOLE);
}

TEST(a_running_thread_is_marked_as_such)
{
	const struct stack_thread *t = scene_start("-O2 -fno-optimize-sibling-calls", "spin");

	assert_int_equal(t->state, 'R');
	assert_int_equal(t->quality, STACK_IS_RUNNING);
	HAS_CHAIN(t, "inner", "middle", "outer", "main");
}

/* A synchronising call that polls: what lies under its frames changes all the time. */
static const char polling[] =
	"#include <time.h>\n"
	"volatile unsigned long sink;\n"
	"#define OWN static __attribute__((noinline, noclone))\n"
	"OWN unsigned long leaf(unsigned long n) { unsigned long a[40];\n"
	"	for (int i = 0; i < 40; i++) a[i] = n * i;\n"
	"	sink += a[n % 40]; return a[(n + 3) % 40]; }\n"
	"OWN int once(void) { struct timespec t; clock_gettime(CLOCK_MONOTONIC, &t);\n"
	"	sink += leaf(t.tv_nsec); return sink == 42; }\n"
	"OWN int cudaStreamSynchronize(void) { int n = 0; while (!once()) n++; return n; }\n"
	"int main(void) { int r = cudaStreamSynchronize(); return r + sink; }\n";

/* The PTX compiler inside a program; its own functions have names that only the vendor gives. */
static const char compiler[] =
	"#include <time.h>\n"
	"volatile int sink;\n"
	"#define OWN __attribute__((noinline, noclone))\n"
	"OWN int INNER(void) { struct timespec t = { 1000, 0 };\n"
	"	sink = nanosleep(&t, 0); return sink; }\n"
	"OWN int nvPTXCompilerCompile(void) { int r = INNER(); return r + sink; }\n"
	"int main(void) { int r = nvPTXCompilerCompile(); return r + sink; }\n";

TEST(the_compiler_inside_the_program_is_known_by_its_inner_names)
{
	const struct stack_thread *t = scene_of(compiler, "-O2 -DINNER=libnvptxcompiler_static_7f",
						"sleep");

	assert_non_null(t->call);
	assert_string_equal(t->call, "nvPTXCompilerCompile");
	assert_string_equal(t->class, "compile");
	assert_string_equal(t->library, "nvptxcompiler");
	assert_null(scene_of(compiler, "-O2 -DINNER=inner", "sleep")->call);
}

TEST(a_call_that_polls_is_seen_each_time)
{
	unsigned int seen = 0;

	scene_of(polling, "-O2", "spin");
	for (int i = 0; i < 20; i++) {
		const struct stack_thread *t = main_thread();

		seen += t->to_top && t->call && !strcmp(t->call, "cudaStreamSynchronize");
		look();
	}
	assert_in_range(seen, 19, 20);
}

TEST(a_deleted_program_is_named_all_the_same)
{
	scene_start("-O2 -fno-optimize-sibling-calls", "sleep");
	unlink(sc.object.path);
	look();
	if (!geteuid())		/* else map_files is closed to us */
		HAS_CHAIN(main_thread(), "inner", "middle", "outer", "main");
	assert_int_equal(main_thread()->quality, STACK_IS_WHOLE);
}

/* Calls nested in it are of the library as well: the outermost one is the call. */
static const char runtime[] =
	"#include <time.h>\n"
	"volatile int sink;\n"
	"SCOPE __attribute__((noinline, noclone)) int cudaMemcpy(void) {\n"
	"	struct timespec t = { 1000, 0 };\n"
	"	sink = nanosleep(&t, 0); return sink; }\n"
	"SCOPE __attribute__((noinline, noclone)) int cudaStreamSynchronize(void) {\n"
	"	int r = cudaMemcpy(); return r + sink; }\n"
	"int main(void) { int r = cudaStreamSynchronize(); return r + sink; }\n";

TEST(a_runtime_inside_the_program_is_known_by_its_local_symbols)
{
	const struct stack_thread *t = scene_of(runtime, "-O2 -DSCOPE=static", "sleep");

	HAS_CHAIN(t, "cudaMemcpy", "cudaStreamSynchronize", "main");
	assert_non_null(t->call);
	assert_string_equal(t->call, "cudaStreamSynchronize");
	assert_string_equal(t->class, "sync");
	assert_string_equal(t->library, "cudart");
	assert_string_equal(catalog_row(t->row)->name, "cudaStreamSynchronize");
	assert_string_equal(t->frames[t->call_frame].function, "cudaStreamSynchronize");
}

TEST(a_program_s_own_function_of_such_a_name_is_no_call)
{
	const struct stack_thread *t = scene_of(runtime, "-O2 -DSCOPE=", "sleep");

	HAS_CHAIN(t, "cudaMemcpy", "cudaStreamSynchronize", "main");
	assert_null(t->call);
	assert_int_equal(t->row, 0);
}

TEST(sixty_four_threads_take_less_than_two_seconds_of_cpu)
{
	clock_t start;

	scene_start("-O2 -fno-optimize-sibling-calls -pthread", "threads");
	start = clock();
	look();
	assert_true(clock() - start < 2 * CLOCKS_PER_SEC);
	assert_int_equal(stack_snapshot_threads(sc.s), 64);
	for (size_t i = 0; i < 64; i++) {
		const struct stack_thread *t = stack_snapshot_thread(sc.s, i);

		HAS_CHAIN(t, "inner", "middle", "outer");
		assert_int_equal(t->quality, STACK_IS_WHOLE);
	}
}

TEST(a_missing_process_is_refused)
{
	uint32_t pid = (1u << 22) - 1;
	struct stack_snapshot *s = stack_snapshot_new(&pid, 1, NULL);

	assert_non_null(s);
	assert_int_equal(stack_snapshot_add(s, (pid_t)pid), -ESRCH);
	assert_int_equal(stack_snapshot_threads(s), 0);
	stack_snapshot_free(s);
}
