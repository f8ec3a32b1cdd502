// SPDX-License-Identifier: BSD-3-Clause
/*
 * Where return probes kill processes under seccomp, these are measured at their entries alone. The
 * kernel of the test need not be such a one: an option of the loader says that it is. Every child
 * sees by itself whether a return probe was laid before it: where its call returns to.
 */
#include <dlfcn.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "unit/elf_object.h"

#include "lib/test.h"
#include "source/bpf/ring.h"
#include "probe/attach.h"
#include "probe/loader_read.h"
#include "unit/row_of.h"

#define CALLS 5u

/* As CUDA 13's __cudaLaunchKernel and cudaLaunchKernel: the first jumps to the second. A third one
 * begins with the nop that newer kernels make a system call of. All return where they return to. */
uintptr_t probed_jump(void), probed_launch(void), probed_nop(void);
#define FUNCTION(name, code)                                                                    \
	__asm__(".text\n.globl " name "\n.type " name ", %function\n" name ":\n" code            \
		".size " name ", . - " name "\n")
#if defined(__x86_64__)
FUNCTION("probed_launch", "push %rbp\nmov 8(%rsp), %rax\npop %rbp\nret\n");
FUNCTION("probed_jump", "push %rbp\npop %rbp\njmp probed_launch\n");
FUNCTION("probed_nop", ".byte 0x0f, 0x1f, 0x44, 0, 0\nmov (%rsp), %rax\nret\n");
#else
FUNCTION("probed_launch", "nop\nmov x0, x30\nret\n");
FUNCTION("probed_jump", "nop\nb probed_launch\n");
FUNCTION("probed_nop", "nop\nmov x0, x30\nret\n");
#endif

static uintptr_t (*const functions[])(void) = { probed_jump, probed_launch, probed_nop };
#define N (sizeof(functions) / sizeof(functions[0]))

/* ---- where the probes go -------------------------------------------------------------------- */

static int find_offsets(struct dl_phdr_info *info, size_t size, void *ctx)
{
	uint64_t *offsets = ctx;

	(void)size;
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *ph = &info->dlpi_phdr[i];

		for (size_t k = 0; ph->p_type == PT_LOAD && k < N; k++) {
			uint64_t vaddr = (uintptr_t)functions[k] - info->dlpi_addr;

			if (vaddr >= ph->p_vaddr && vaddr < ph->p_vaddr + ph->p_filesz)
				offsets[k] = vaddr - ph->p_vaddr + ph->p_offset;
		}
	}
	return 1;
}

static uint64_t rows[N];

static void attach(struct loader *l, pid_t pid)
{
	uint64_t offsets[N] = { 0 };
	struct loader_probes p = { .path = "/proc/self/exe", .offsets = offsets, .rows = rows,
				   .n = N, .pid = pid };

	rows[0] = row_of("__cudaLaunchKernel");
	rows[1] = row_of("cudaLaunchKernel");
	rows[2] = row_of("cudaDeviceSynchronize");
	dl_iterate_phdr(find_offsets, offsets);
	assert_int_equal(loader_attach(l, &p), 0);
}

/* ---- children that call them ---------------------------------------------------------------- */

static void confine(void)
{
	struct sock_filter deny[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_write, 2, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_exit_group, 1, 0),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog prog = { .len = sizeof(deny) / sizeof(deny[0]), .filter = deny };

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_SECCOMP, 2, &prog))
		_exit(1);
}

static uintptr_t bare[N];

/* Always from one place, so that only a return probe changes the address. Returns how many calls
 * met one. */
static __attribute__((noinline)) unsigned int make_calls(uintptr_t *seen, unsigned int calls)
{
	unsigned int met = 0;

	for (unsigned int i = 0; i < calls; i++)
		for (size_t k = 0; k < N; k++) {
			seen[k] = functions[k]();
			met += seen[k] != bare[k];
		}
	return met;
}

struct child {
	pid_t pid;
	int fd;
};

static struct child child_start(bool confined)
{
	struct child c;
	int ends[2];

	make_calls(bare, 1);
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
	c.pid = fork();
	assert_true(c.pid >= 0);
	if (!c.pid) {
		uintptr_t seen[N];
		unsigned int met;
		char go;

		if (recv(ends[1], &go, 1, 0) != 1)
			_exit(1);
		if (confined)
			confine();
		met = make_calls(seen, CALLS);
		syscall(SYS_write, ends[1], &met, sizeof(met));
		syscall(SYS_exit_group, 0);
	}
	close(ends[1]);
	c.fd = ends[0];
	return c;
}

/* Lets it go. How many of its calls met a return probe; it must live. */
static unsigned int child_run(struct child *c)
{
	unsigned int met = 0;
	int status;

	assert_int_equal(send(c->fd, "g", 1, MSG_NOSIGNAL), 1);
	assert_int_equal(recv(c->fd, &met, sizeof(met), 0), sizeof(met));
	assert_int_equal(waitpid(c->pid, &status, 0), c->pid);
	assert_int_equal(status, 0);
	close(c->fd);
	return met;
}

/* ---- what was recorded ---------------------------------------------------------------------- */

struct got {
	pid_t pid;
	unsigned int complete[N], entries[N], others;
};

static int on_record(void *ctx, const void *data, size_t len)
{
	const struct gp_call *rec = data;
	struct got *t = ctx;

	assert_true(len >= sizeof(*rec));
	if (rec->pid != (uint32_t)t->pid)
		return 0;
	for (size_t i = 0; i < N; i++) {
		if (rec->row != rows[i] || rec->kind != GP_CALL)
			continue;
		if (rec->flags & GP_CALL_NO_RETURN) {
			assert_int_equal(rec->dur_lo_ns, 0);
			t->entries[i]++;
		} else {
			t->complete[i]++;
		}
		return 0;
	}
	t->others++;		/* GP_ENTER of what may block */
	return 0;
}

static struct loader *load(enum loader_way way, bool kill)
{
	struct loader *l = loader_new(&(struct loader_options){
		.way = way, .ring_bytes = 1 << 16, .returns_kill = kill });

	if (!l) {
		print_message("skipped: no probes here\n");
		skip();
	}
	return l;
}

/* One child's calls and their records. Returns how many of them met a return probe. */
static unsigned int measure(struct loader *l, bool confined, struct got *t)
{
	struct ring *ring = ring_open(loader_facts(l).calls_fd);
	struct child c = child_start(confined);
	unsigned int met;

	assert_non_null(ring);
	*t = (struct got){ .pid = c.pid };
	assert_int_equal(loader_follow(l, c.pid), 0);
	attach(l, 0);
	met = child_run(&c);
	assert_int_equal(ring_consume(ring, ring_produced(ring), on_record, t), 1);
	ring_close(ring);
	loader_detach(l);
	return met;
}

/* Each call is recorded once, by its outermost function, and all of them in one way. */
static void assert_reported(const struct got *t, bool complete)
{
	static const unsigned int calls[N] = { CALLS, CALLS, CALLS };
	static const unsigned int none[N];

	assert_memory_equal(t->complete, complete ? calls : none, sizeof(calls));
	assert_memory_equal(t->entries, complete ? none : calls, sizeof(calls));
	assert_int_equal(t->others, 0);
}

/* ---- the promises ---------------------------------------------------------------------------- */

TEST_TITLED("returns: where they kill, sessions refuse them to confined processes alone",
	    sessions_refuse_the_return_call_by_call)
{
	struct loader *l = load(WAY_SESSION, true);
	struct got t;

	assert_int_equal(loader_facts(l).returns, GP_RETURNS_NO_SECCOMP);
	assert_int_equal(measure(l, true, &t), 0);
	assert_reported(&t, false);
	loader_free(l);
	l = load(WAY_SESSION, true);
	assert_int_equal(measure(l, false, &t), CALLS * N);
	for (size_t k = 0; k < N; k++) {
		assert_int_equal(t.complete[k], CALLS);
		assert_int_equal(t.entries[k], 0);
	}
	loader_free(l);
}

TEST_TITLED("returns: where they kill, other ways probe none, and tell each entry once",
	    others_probe_no_return_at_all)
{
	for (int confined = 0; confined < 2; confined++) {
		struct loader *l = load(WAY_MULTI, true);
		struct got t;

		assert_int_equal(loader_facts(l).returns, GP_RETURNS_NONE);
		assert_int_equal(measure(l, confined, &t), 0);
		assert_reported(&t, false);
		loader_free(l);
	}
}

/* On the kernel of the test the self-test decides: whatever it says, the child lives. */
TEST_TITLED("returns: a confined process lives through what the self-test allows",
	    a_confined_process_lives)
{
	static const enum loader_way ways[] = { WAY_SESSION, WAY_MULTI };

	for (size_t i = 0; i < 2; i++) {
		struct loader *l = load(ways[i], false);
		bool all = loader_facts(l).returns == GP_RETURNS_ALL;
		struct got t;

		assert_int_equal(measure(l, true, &t), all ? CALLS * N : 0);
		for (size_t k = 0; k < N; k++)
			assert_int_equal(all ? t.complete[k] : t.entries[k], CALLS);
		loader_free(l);
	}
}

/* The kernel readies the return of any process that meets a breakpoint, before it asks whose link it
 * is. So there may be no link with another process's filter: the program decides for each. */
TEST_TITLED("returns: where they kill, no link has a process filter",
	    where_they_kill_no_link_has_a_process_filter)
{
	static const char library[] =
		"__asm__(\".text\\n.globl cudaLaunchKernel\\n.type cudaLaunchKernel, %function\\n\"\n"
#if defined(__x86_64__)
		"\"cudaLaunchKernel:\\npush %rbp\\npop %rbp\\nret\\n\"\n"
#else
		"\"cudaLaunchKernel:\\nnop\\nret\\n\"\n"
#endif
		"\".size cudaLaunchKernel, . - cudaLaunchKernel\\n\");\n";
	struct object o = object_build(library, "-shared -fPIC");
	void *opened = dlopen(o.path, RTLD_NOW);
	void (*launch)(void) = opened ? (void (*)(void))dlsym(opened, "cudaLaunchKernel") : NULL;

	assert_non_null(launch);
	for (int kill = 0; kill < 2; kill++) {
		struct loader *l = load(WAY_SESSION, kill);
		struct attach *a = attach_new(l, &(struct plan_rules){ 0 });
		struct target_file file = { .path = "/lib/libcudart.so.13",
					    .fd = open(o.path, O_RDONLY | O_CLOEXEC) };
		struct attach_result result;
		struct gp_counts counts;
		struct stat st;

		assert_non_null(a);
		assert_int_equal(fstat(file.fd, &st), 0);
		file.dev = st.st_dev;
		file.ino = st.st_ino;
		file.pid = getppid();
		assert_int_equal(attach_file(a, &file, getppid(), &result), 0);
		assert_int_equal(result.probes, 1);
		assert_int_equal(loader_follow(l, getpid()), 0);
		launch();
		assert_int_equal(loader_counts(l, &counts), 0);
		/* Ours is followed, and not the process that the link was asked for. */
		assert_int_equal(counts.hits[GP_CALL], loader_facts(l).returns != GP_RETURNS_ALL);
		close(file.fd);
		attach_free(a);
		loader_free(l);
	}
	dlclose(opened);
	object_remove(&o);
}
