// SPDX-License-Identifier: BSD-3-Clause
/*
 * The helper is brought into a program that runs already, whose threads do all that is delicate: the
 * program's answers stay right, however often, and whenever gpuprof is killed meanwhile.
 * GPUPROF_INJECTIONS: how often (20).
 */
#include <dirent.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <link.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/time.h"
#include "lib/test.h"
#include "source/helper/ring_reader.h"
#include "inject/process.h"

#define REPORTS_WITHIN_NS (20 * NS_PER_SEC)
#define ALL_RIGHT "allocate: some\nallocate: some\nload: some\neven turns: some\nodd turns: some\n" \
		  "sleep: some\nevents: some\nwrite: some\nread: some\nlaunch: some\nsignals: some\nright\n"

struct program {
	pid_t pid;
	int out_fd;
	char end[64];
	char out[1024];
};

static unsigned int how_often(void)
{
	const char *text = getenv("GPUPROF_INJECTIONS");

	return text ? (unsigned int)atoi(text) : 20;
}

static void start(struct program *p, const char *how)
{
	char exe[64], link[256];

	*p = (struct program){ .out_fd = memfd_create("out", MFD_CLOEXEC) };
	snprintf(p->end, sizeof(p->end), "/tmp/gpuprof-hardy-%d", getpid());
	unlink(p->end);
	assert_true(p->out_fd >= 0);
	p->pid = fork();
	assert_true(p->pid >= 0);
	if (!p->pid) {
		setenv("GPUSIM_QUIET", "1", 1);
		dup2(p->out_fd, STDOUT_FILENO);
		execl("build/sim/hardy", "hardy", p->end, "build/sim/libchained.so", how, NULL);
		_exit(127);
	}
	snprintf(exe, sizeof(exe), "/proc/%d/exe", p->pid);
	for (uint64_t end = time_now_ns() + REPORTS_WITHIN_NS; time_now_ns() < end; usleep(1000)) {
		struct subject s;
		ssize_t n = readlink(exe, link, sizeof(link) - 1);

		if (n > 6 && !strncmp(link + n - 6, "/hardy", 6) && !subject_read(&s, p->pid))
			return;
	}
	fail_msg("hardy does not start");
}

static void finish(struct program *p, const char *answer)
{
	int fd = creat(p->end, 0600), status = -1;

	assert_true(fd >= 0);
	close(fd);
	for (uint64_t end = time_now_ns() + REPORTS_WITHIN_NS; time_now_ns() < end; usleep(1000))
		if (waitpid(p->pid, &status, WNOHANG) == p->pid)
			break;
	if (status == -1) {
		kill(p->pid, SIGKILL);
		waitpid(p->pid, NULL, 0);
	}
	unlink(p->end);
	assert_true(pread(p->out_fd, p->out, sizeof(p->out) - 1, 0) >= 0);
	close(p->out_fd);
	assert_string_equal(p->out, answer);
	assert_int_equal(status, 0);
}

/* One mapping, of a line of maps, is as its file: 1, or not 0; -1: of another file than the parts name. */
static int as_its_file(pid_t pid, const char *line)
{
	static const char *const parts[] = { "/libc.so", "/libcuda.so", "/libcudart.so", "/hardy" };
	static unsigned char memory[1 << 16], file[1 << 16];
	unsigned long long start, end, offset;
	char path[256], mem_path[64], mode[8];
	int file_fd, mem_fd, equal = 1;
	size_t part = 0;

	if (sscanf(line, "%llx-%llx %7s %llx %*s %*s %255s", &start, &end, mode, &offset, path) != 5 ||
	    !strchr(mode, 'x'))
		return -1;
	while (part < sizeof(parts) / sizeof(parts[0]) && !strstr(path, parts[part]))
		part++;
	if (part == sizeof(parts) / sizeof(parts[0]))
		return -1;
	snprintf(mem_path, sizeof(mem_path), "/proc/%d/mem", pid);
	mem_fd = open(mem_path, O_RDONLY | O_CLOEXEC);
	file_fd = open(path, O_RDONLY | O_CLOEXEC);
	assert_true(mem_fd >= 0 && file_fd >= 0);
	for (unsigned long long at = start; equal && at < end; at += sizeof(memory)) {
		size_t want = end - at < sizeof(memory) ? (size_t)(end - at) : sizeof(memory);
		ssize_t n = pread(file_fd, file, want, (off_t)(offset + at - start));

		equal = n > 0 && pread(mem_fd, memory, want, (off_t)at) == (ssize_t)want &&
			!memcmp(memory, file, (size_t)n);
	}
	close(mem_fd);
	close(file_fd);
	return equal;
}

/* How many executable mappings are, and how many are not. */
static void compare_text(pid_t pid, unsigned int n[2])
{
	char path[64], line[512];
	FILE *maps;

	n[0] = n[1] = 0;
	snprintf(path, sizeof(path), "/proc/%d/maps", pid);
	maps = fopen(path, "re");
	assert_non_null(maps);
	while (fgets(line, sizeof(line), maps)) {
		int equal = as_its_file(pid, line);

		if (equal >= 0)
			n[equal]++;
	}
	fclose(maps);
}

/* Who else measures this machine meanwhile has probes in it, for a while. */
static bool text_is_its_files(pid_t pid)
{
	unsigned int n[2];

	compare_text(pid, n);
	for (uint64_t end = time_now_ns() + REPORTS_WITHIN_NS; n[0] && time_now_ns() < end; usleep(100000))
		compare_text(pid, n);
	return !n[0] && n[1] >= 4;
}

static void come_often(const char *how, const char *answer)
{
	struct program p;
	uint64_t longest = 0;
	bool as_before;

	start(&p, how);
	for (unsigned int i = 0; i < how_often(); i++) {
		struct inject_outcome out;
		struct subject s;
		int err;

		assert_int_equal(subject_read(&s, p.pid), 0);
		err = inject_subject(&s, &out);
		if (err)
			print_error("%s\n", s.why);
		assert_int_equal(err, 0);
		if (out.stopped_ns > longest)
			longest = out.stopped_ns;
	}
	as_before = text_is_its_files(p.pid);
	print_message("a thread was stopped for %.1f ms at most\n", (double)longest / 1e6);
	finish(&p, answer);
	assert_true(as_before);
}

TEST(a_program_into_which_it_comes_often_goes_on_as_before)
{
	come_often(NULL, ALL_RIGHT);
}

TEST(so_does_one_that_computes_and_never_waits)
{
	come_often("spin", "right\n");
}

/* Within it, and what it does within. Some of them come to their end, and bring it. */
static uint64_t how_long(pid_t pid)
{
	uint64_t start_ns = time_now_ns();
	struct inject_outcome out;
	struct subject s;

	assert_int_equal(subject_read(&s, pid), 0);
	if (inject_subject(&s, &out))
		fail_msg("%s", s.why);
	return time_now_ns() - start_ns;
}

static void be_killed_often(const char *how, const char *answer)
{
	struct program p;
	unsigned int brought = 0;
	uint64_t whole_ns;

	start(&p, how);
	whole_ns = how_long(p.pid);
	for (unsigned int i = 0; i < how_often(); i++) {
		useconds_t us = (useconds_t)(whole_ns * 3 / 2000 * i / how_often());
		int status;
		pid_t child = fork();

		assert_true(child >= 0);
		if (!child) {
			struct inject_outcome out;
			struct subject s;

			_exit(subject_read(&s, p.pid) || inject_subject(&s, &out));
		}
		usleep(us);
		kill(child, SIGKILL);
		assert_int_equal(waitpid(child, &status, 0), child);
		brought += WIFEXITED(status) && !WEXITSTATUS(status);
	}
	print_message("%u of %u came to their end\n", brought, how_often());
	finish(&p, answer);
}

TEST(a_program_goes_on_when_gpuprof_is_killed_meanwhile)
{
	be_killed_often(NULL, ALL_RIGHT);
}

TEST(so_does_one_that_computes_when_gpuprof_is_killed)
{
	be_killed_often("spin", "right\n");
}

/* ---- while it has to wait for the loader ---------------------------------------------------- */

static int say_and_wait(struct dl_phdr_info *info, size_t size, void *ctx)
{
	const int *pipes = ctx;
	char word = 'x';

	(void)info;
	(void)size;
	_exit(write(pipes[1], &word, 1) != 1 || read(pipes[0], &word, 1) != 1 ? 1 : 0);
}

static void *rest(void *unused)
{
	for (;;)
		pause();
	return unused;
}

/* Its loader is busy until it ends. */
static void keep_the_loader_busy(int from, int to)
{
	pthread_t thread;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (!dlopen("build/sim/libcuda.so.1", RTLD_NOW) || pthread_create(&thread, NULL, rest, NULL))
		_exit(2);
	dl_iterate_phdr(say_and_wait, (int[]){ from, to });
	_exit(3);
}

/* The number of the helper's file there; -1: it is not there. */
static int number_of_file(pid_t pid)
{
	char path[64], link[64];

	for (int fd = 0; fd < 4096; fd++) {
		ssize_t n;

		snprintf(path, sizeof(path), "/proc/%d/fd/%d", pid, fd);
		n = readlink(path, link, sizeof(link) - 1);
		link[n < 0 ? 0 : n] = '\0';
		if (strstr(link, "memfd:gpuprof-helper"))
			return fd;
	}
	return -1;
}

/* A thread that does not take setuid's signal keeps the process in setuid. */
static bool takes_setuid(pid_t pid)
{
	char path[64], line[128];
	DIR *dir;
	bool takes = true;

	snprintf(path, sizeof(path), "/proc/%d/task", pid);
	dir = opendir(path);
	for (struct dirent *e = dir ? readdir(dir) : NULL; e; e = readdir(dir)) {
		FILE *status;

		snprintf(path, sizeof(path), "/proc/%d/task/%.16s/status", pid, e->d_name);
		status = *e->d_name == '.' ? NULL : fopen(path, "re");
		while (status && fgets(line, sizeof(line), status))
			if (!strncmp(line, "SigBlk:", 7))
				takes &= !(strtoull(line + 7, NULL, 16) >> 32 & 1);
		if (status)
			fclose(status);
	}
	if (dir)
		closedir(dir);
	return takes;
}

/* It has started the thread that now waits for the loader. */
static bool has_threads(pid_t pid, int n)
{
	struct stat st;
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/task", pid);
	return !stat(path, &st) && (int)st.st_nlink - 2 == n;
}

static void *bring(void *pid)
{
	struct inject_outcome out;
	struct subject s;

	if (!subject_read(&s, *(pid_t *)pid))
		inject_subject(&s, &out);	/* it ends meanwhile */
	return NULL;
}

TEST(waiting_for_the_loader_blocks_no_thread)
{
	int to[2], from[2], status, number = -1;
	bool takes = false;
	pthread_t thread;
	char word;
	pid_t pid;

	assert_int_equal(pipe2(to, O_CLOEXEC) | pipe2(from, O_CLOEXEC), 0);
	pid = fork();
	assert_true(pid >= 0);
	if (!pid)
		keep_the_loader_busy(to[0], from[1]);
	close(from[1]);
	assert_int_equal(read(from[0], &word, 1), 1);
	assert_int_equal(pthread_create(&thread, NULL, bring, &pid), 0);
	for (uint64_t end = time_now_ns() + REPORTS_WITHIN_NS; time_now_ns() < end && !takes; usleep(1000)) {
		number = has_threads(pid, 3) ? number_of_file(pid) : -1;
		takes = number >= 1000 && takes_setuid(pid);	/* new ones do not yet */
	}
	assert_int_equal(write(to[1], &word, 1), 1);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	pthread_join(thread, NULL);
	assert_true(number >= 1000);
	assert_true(takes);
	assert_int_equal(status, 0);
}
