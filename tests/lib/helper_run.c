// SPDX-License-Identifier: BSD-3-Clause
/* See the header. */
#include "lib/helper_run.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/time.h"
#include "lib/cmocka.h"
#include "source/helper/ring_reader.h"

#define WAIT_NS 20000000000ull

static const char *const ours[] = { "CUDA_INJECTION64_PATH", "build/libgpuprof.so",
				    "NVTX_INJECTION64_PATH", "build/libgpuprof.so",
				    "GPUPROF_CUPTI", "build/sim/libcupti.so.13", NULL };
#define N_OURS (sizeof(ours) / sizeof(ours[0]) - 1)

static int take(void *ctx, uint16_t kind, const void *payload, size_t len)
{
	const struct gp_ring_kernel *kernel = payload;
	const struct gp_ring_copy *copy = payload;
	const struct gp_ring_name *name = payload;
	const struct gp_ring_loss *loss = payload;
	struct helper_seen *seen = ctx;

	(void)len;
	seen->kind[kind]++;
	if (kind == GP_RING_KERNEL) {
		seen->nameless += !kernel->name || kernel->name > seen->names;
		seen->backwards += kernel->end <= kernel->start;
	} else if (kind == GP_RING_COPY) {
		seen->bytes += copy->bytes;
	} else if (kind == GP_RING_NAME_IS) {
		seen->names++;
		if (name->id < HELPER_RUN_NAMES)
			snprintf(seen->name[name->id], sizeof(seen->name[0]), "%.*s",
				 (int)name->bytes, (const char *)(name + 1));
	} else if (kind == GP_RING_LOSS) {
		seen->lost[loss->cause] += loss->count;
	}
	if (seen->on_record)
		seen->on_record(seen, kind, payload);
	return 0;
}

static void child(const struct helper_run *r, const char *const *argv, const char *const *environment)
{
	for (; environment && *environment; environment += 2)
		setenv(environment[0], environment[1], 1);
	setenv("GPUSIM_QUIET", "1", 1);
	dup2(r->out_fd, STDOUT_FILENO);
	execv(argv[0], (char *const *)argv);
	_exit(127);
}

static void spawn(struct helper_run *r, const char *const *argv, const char *const *environment)
{
	memset(r, 0, sizeof(*r));
	r->out_fd = memfd_create("out", MFD_CLOEXEC);
	assert_true(r->out_fd >= 0);
	r->pid = fork();
	assert_true(r->pid >= 0);
	if (!r->pid)
		child(r, argv, environment);
}

void helper_run_wanting(struct helper_run *r, uint32_t wants, const char *const *argv,
			const char *const *environment)
{
	const char *all[64];
	char pid[16];
	size_t n = N_OURS;

	memcpy(all, ours, sizeof(ours));
	snprintf(pid, sizeof(pid), "%d", getpid());	/* it waits longer for who lives */
	all[n++] = "GPUPROF_ARM";
	all[n++] = pid;
	for (; environment && *environment; environment++)
		all[n++] = *environment;
	all[n] = NULL;
	spawn(r, argv, all);
	for (uint64_t end = time_now_ns() + WAIT_NS; time_now_ns() < end && !r->source; usleep(1000)) {
		int fd = ring_reader_find(r->pid);

		if (fd >= 0)
			r->source = ring_reader_open(fd, r->pid, wants, 0);
	}
	assert_non_null(r->source);
}

void helper_run_start(struct helper_run *r, const char *const *argv, const char *const *environment)
{
	helper_run_wanting(r, GP_RING_WANT_KINDS, argv, environment);
}

static void keep_output(struct helper_run *r)
{
	ssize_t n = pread(r->out_fd, r->out, sizeof(r->out) - 1, 0);

	r->out[n > 0 ? n : 0] = '\0';
	close(r->out_fd);
}

void helper_run_watch(struct helper_run *r)
{
	bool exited = false;

	for (uint64_t end = time_now_ns() + WAIT_NS; time_now_ns() < end; usleep(1000)) {
		ring_reader_renew(r->source, time_now_ns());
		exited = exited || waitpid(r->pid, &r->status, WNOHANG) == r->pid;
		if (ring_reader_read(r->source, take, &r->seen) == 1 && exited)
			break;
	}
	ring_reader_head(r->source, &r->head);
	if (!exited) {
		kill(r->pid, SIGKILL);
		waitpid(r->pid, &r->status, 0);
	}
	ring_reader_close(r->source);
	keep_output(r);
	assert_true(exited);
}

void helper_run(struct helper_run *r, const char *const *argv, const char *const *environment)
{
	helper_run_start(r, argv, environment);
	helper_run_watch(r);
}

void helper_run_without(struct helper_run *r, const char *const *argv)
{
	spawn(r, argv, NULL);
	assert_int_equal(waitpid(r->pid, &r->status, 0), r->pid);
	keep_output(r);
}

void helper_run_unwatched(struct helper_run *r, const char *const *argv)
{
	bool exited = false;

	spawn(r, argv, ours);
	for (uint64_t end = time_now_ns() + WAIT_NS; time_now_ns() < end && !exited; usleep(1000))
		exited = waitpid(r->pid, &r->status, WNOHANG) == r->pid;
	if (!exited) {
		kill(r->pid, SIGKILL);
		waitpid(r->pid, &r->status, 0);
	}
	keep_output(r);
	assert_true(exited);
}
