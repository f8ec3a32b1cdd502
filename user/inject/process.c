// SPDX-License-Identifier: BSD-3-Clause
/*
 * All of it runs on a thread of gpuprof's own: the kernel releases everything that thread traces
 * when it exits, whatever was forgotten.
 */
#include "inject/process.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/io.h"
#include "base/log.h"
#include "base/time.h"
#include "elf/elf.h"
#include "source/helper/ring_reader.h"
#include "gpuprof/load.h"
#include "inject/injectable.h"
#include "inject/install.h"
#include "inject/remote.h"
#include "target/target.h"

#define LOAD_BYTES (64u << 10)		/* a page at least: gp_load, and ... */
#define SCRATCH_BYTES (512u << 10)	/* ... above it the stack of the called functions */
#define LOAD_NS (15 * NS_PER_SEC)
#define END_NS NS_PER_SEC
#define HIGH_FD 1000
#define MFD_EXECUTABLE 0x10u		/* MFD_EXEC, since Linux 6.3 */

struct visit {
	struct subject *s;
	struct inject_outcome *out;
	struct pick pick;
	struct remote r;
	pid_t caller;		/* our thread that makes the calls */
	int err;
	uint64_t entry;		/* in the helper's file: the new thread's function */
	uint64_t scratch, code;	/* areas that were made there; 0: none */
	size_t image_bytes;
	int fd;			/* there; -1: none */
};

static int fail(struct visit *v, const char *what, long code)
{
	snprintf(v->s->why, sizeof(v->s->why), "%s%s%s", what, code ? ": " : "",
		 code ? strerror((int)-code) : "");
	return -EIO;
}

/* ---- calls in the target -------------------------------------------------------------------- */

/* A system call there; returns its result. `below`: where a frame has space. */
static long call_system(struct visit *v, uint64_t below, long nr, const uint64_t arg[6])
{
	struct remote_call call = { .at = v->s->syscall_at, .back = v->s->return_at, .syscall = nr,
				    .below = below };
	long result;
	int err;

	memcpy(call.arg, arg, sizeof(call.arg));
	err = remote_do(&v->r, &call, &result);
	return err ? err : result;
}

static uint64_t own_stack(const struct visit *v)
{
	return machine.sp(&v->r.original) - MACHINE_RED_ZONE;
}

static uint64_t top(const struct visit *v)
{
	return v->scratch + SCRATCH_BYTES;
}

static bool is_error(long result)
{
	return result < 0 && result > -4096;
}

static int make_scratch(struct visit *v)
{
	long at = call_system(v, own_stack(v), SYS_mmap,
			      (const uint64_t[6]){ 0, SCRATCH_BYTES, PROT_READ | PROT_WRITE,
						   MAP_PRIVATE | MAP_ANONYMOUS, UINT64_MAX, 0 });

	if (is_error(at))
		return fail(v, "it could not get memory", at);
	v->scratch = (uint64_t)at;
	return 0;
}

static int make_file(struct visit *v)
{
	static const char name[] = IMAGE_MEMORY;
	const uint64_t flags = MFD_CLOEXEC | MFD_ALLOW_SEALING;
	long fd, high;

	if (remote_write(&v->r, v->scratch, name, sizeof(name)))
		return fail(v, "its memory cannot be written", 0);
	fd = call_system(v, top(v), SYS_memfd_create,
			 (const uint64_t[6]){ v->scratch, flags | MFD_EXECUTABLE });
	if (fd == -EINVAL)
		fd = call_system(v, top(v), SYS_memfd_create,
				 (const uint64_t[6]){ v->scratch, flags });
	if (is_error(fd))
		return fail(v, "it could not make a file in memory", fd);
	v->fd = (int)fd;
	/* It may be there for long: away from the numbers that the program uses, closes and uses
	 * anew. If it may not, it stays. */
	high = call_system(v, top(v), SYS_fcntl, (const uint64_t[6]){
		(uint64_t)v->fd, F_DUPFD_CLOEXEC, HIGH_FD });
	if (is_error(high))
		return 0;
	call_system(v, top(v), SYS_close, (const uint64_t[6]){ (uint64_t)v->fd });
	v->fd = (int)high;
	return 0;
}

static int fill_file(struct visit *v)
{
	int pidfd = (int)syscall(SYS_pidfd_open, v->s->pid, 0);
	int fd = pidfd < 0 ? -1 : (int)syscall(SYS_pidfd_getfd, pidfd, v->fd, 0);
	ssize_t n = fd < 0 ? -errno : 0;
	struct stat st;

	/* The program may have closed ours, and have one of its own there. */
	if (!n && (fcntl(fd, F_GET_SEALS) || fstat(fd, &st) || st.st_size))
		n = -EBADF;
	if (!n)
		n = inject_image_write(fd);
	io_close(&fd);
	io_close(&pidfd);
	if (n < 0)
		return fail(v, "the helper could not be written into its file in memory", n);
	v->image_bytes = (size_t)n;
	return 0;
}

static int map_code(struct visit *v)
{
	long at = call_system(v, top(v), SYS_mmap, (const uint64_t[6]){
		0, v->image_bytes, PROT_READ | PROT_EXEC, MAP_PRIVATE, (uint64_t)v->fd, 0 });

	if (is_error(at))
		return fail(v, "it may not run code from a file in memory", at);
	v->code = (uint64_t)at;
	return 0;
}

static int start_thread(struct visit *v)
{
	const uint64_t *f = v->s->function;
	struct gp_load load = {
		.dlopen = f[SUBJECT_DLOPEN], .dlsym = f[SUBJECT_DLSYM],
		.dlerror = f[SUBJECT_DLERROR], .close = f[SUBJECT_CLOSE],
		.pthread_self = f[SUBJECT_SELF], .pthread_detach = f[SUBJECT_DETACH],
		.fd = v->fd,
		.door = GP_LOAD_DOOR,
		.area = { v->scratch, v->code },
		.area_bytes = { LOAD_BYTES, v->image_bytes },
	};
	struct remote_call call = {
		.at = f[SUBJECT_CREATE], .back = v->s->return_at, .syscall = -1, .below = top(v),
		.arg = { v->scratch + offsetof(struct gp_load, thread), 0, v->code + v->entry,
			 v->scratch },
		.result_of = { SYS_clone, SYS_clone3 },
	};
	long result;
	int err;

	/* Another spelling than others use: a library of that name may be loaded. */
	snprintf(load.path, sizeof(load.path), "/proc/self//fd/%d", v->fd);
	if (remote_write(&v->r, v->scratch, &load, sizeof(load)))
		return fail(v, "its memory cannot be written", 0);
	err = remote_do(&v->r, &call, &result);
	if (err == -ETIMEDOUT)
		return fail(v, "starting a thread in it takes too long; it may still begin", 0);
	if (err || is_error(result))
		return fail(v, "it could not start a thread", err ? err : result);
	call_system(v, own_stack(v), SYS_munmap, (const uint64_t[6]){
		v->scratch + LOAD_BYTES, SCRATCH_BYTES - LOAD_BYTES });
	v->scratch = v->code = 0;	/* the new thread's now */
	v->fd = -1;
	return 0;
}

/* What was made before the failure. */
static void take_back(struct visit *v)
{
	if (v->r.place == REMOTE_GONE || v->r.place == REMOTE_AWAY ||
	    v->r.place == REMOTE_SIGNALLED)
		return;
	if (v->fd >= 0)
		call_system(v, own_stack(v), SYS_close, (const uint64_t[6]){ (uint64_t)v->fd });
	if (v->code)
		call_system(v, own_stack(v), SYS_munmap,
			    (const uint64_t[6]){ v->code, v->image_bytes });
	if (v->scratch)
		call_system(v, own_stack(v), SYS_munmap,
			    (const uint64_t[6]){ v->scratch, SCRATCH_BYTES });
}

/* ---- all of it ------------------------------------------------------------------------------ */

static bool has_ring(pid_t pid)
{
	int fd = ring_reader_find(pid);
	bool found = fd >= 0;

	io_close(&fd);
	return found;
}

/* The thread's word, in memory of its program that it has unmapped when all is well. */
static int await_helper(struct visit *v, int memory, uint64_t scratch)
{
	uint64_t end = time_now_ns() + LOAD_NS;
	struct gp_load l = { .state = GP_LOAD_WAITING };
	struct subject now;

	for (; time_now_ns() < end; usleep(1000)) {
		bool gone = pread(memory, &l, sizeof(l), (off_t)scratch) != sizeof(l);

		if (l.state == GP_LOAD_FAILED) {
			l.why[sizeof(l.why) - 1] = '\0';
			snprintf(v->s->why, sizeof(v->s->why), "the helper could not be loaded: %s",
				 l.why);
			return -EIO;
		}
		if ((gone || l.state == GP_LOAD_DONE) && has_ring(v->s->pid))
			return 0;
		if (!gone && l.state != GP_LOAD_REFUSED)
			continue;
		/* The thread has ended and left no ring. */
		if (subject_read(&now, v->s->pid) == -ESRCH)
			return -ESRCH;
		return fail(v, *now.why ? now.why : "the helper could not begin in it: has it too "
			    "little memory, or too many open files (ulimit)?", 0);
	}
	return fail(v, "its dynamic linker is busy; the helper comes when it is not", 0);
}

/* Where in the helper's file its first function is; 0: nowhere. */
static uint64_t entry_offset(void)
{
	struct elf_symbol entry = { .name = GP_LOAD_ENTRY };
	int fd = memfd_create(IMAGE_MEMORY, MFD_CLOEXEC | MFD_ALLOW_SEALING);
	bool written = fd >= 0 && inject_image_write(fd) >= 0;
	struct elf_file *ef = written ? elf_file_open(fd, "the helper") : NULL;

	if (ef)
		elf_find_symbols(ef, &entry, 1);
	elf_file_close(ef);
	io_close(&fd);
	return entry.offset ? entry.offset - entry.skipped : 0;
}

static int bring(struct visit *v)
{
	static int (*const steps[])(struct visit *v) = { make_scratch, make_file, fill_file,
							 map_code, start_thread };
	uint64_t scratch = 0;
	int err, memory;

	v->entry = entry_offset();
	if (!v->entry)
		return fail(v, "the helper cannot be read", 0);
	err = pick_thread(&v->pick, &v->r);
	if (err == -ENOTSUP)
		snprintf(v->s->why, sizeof(v->s->why), "%s", v->pick.why);
	if (err)
		return err;
	v->out->tid = v->r.tid;
	for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]) && !err; i++) {
		err = steps[i](v);
		scratch = v->scratch ? v->scratch : scratch;
	}
	if (err)
		take_back(v);
	memory = fcntl(v->r.memory, F_DUPFD_CLOEXEC, 0);
	remote_release(&v->r);
	v->out->stopped_ns = time_now_ns() - v->r.since_ns;
	if (!err)
		err = await_helper(v, memory, scratch);
	io_close(&memory);
	return err;
}

static void *work(void *ctx)
{
	struct visit *v = ctx;

	v->caller = (pid_t)syscall(SYS_gettid);
	v->err = bring(v);
	return NULL;
}

int inject_subject(struct subject *s, struct inject_outcome *out)
{
	struct visit *v = calloc(1, sizeof(*v));
	pthread_t thread;
	uint64_t end;
	int err;

	if (!v)
		return -ENOMEM;
	*out = (struct inject_outcome){ 0 };
	v->s = s;
	v->out = out;
	v->fd = -1;
	pick_begin(&v->pick, s->pid);
	do {
		err = -pthread_create(&thread, NULL, work, v);
		if (err)
			break;
		pthread_join(thread, NULL);
		/* That returns before the kernel releases the threads traced by that thread. */
		end = time_now_ns() + END_NS;
		while (!syscall(SYS_tgkill, getpid(), v->caller, 0) && time_now_ns() < end)
			usleep(100);
		err = v->err;
	} while (err == -ETIMEDOUT);
	free(v);
	return err;
}

static int cannot(const struct subject *s, pid_t pid, enum log_level level, int err)
{
	const char *why = err == -ESRCH ? "it has ended" : s->why;
	char denied_why[SUBJECT_WHY_BYTES];

	if (err == -ESRCH && target_is_hidden(pid)) {
		log_msg(level, "cannot bring the helper into process %d: it is " DENIED_HIDDEN,
			pid);
		return -EPERM;
	}
	if (err == -EPERM) {
		denied_tracing(pid, denied_why, sizeof(denied_why));
		why = denied_why;
	} else if (err == -ENOMEM) {
		why = "out of memory";
	}
	log_msg(level, "cannot bring the helper into process %d: %s", pid, why);
	return err;
}

int inject_process(pid_t pid, bool insists, enum log_level level, struct inject_outcome *out)
{
	struct subject s;
	int err;

	if (has_ring(pid))
		return 1;
	err = subject_read(&s, pid);
	if (!err && s.helper) {
		snprintf(s.why, sizeof(s.why),
			 "it has a helper whose ring was closed (by the program?); start it anew "
			 "with `gpuprof env`");
		err = -ENOTSUP;
	}
	if (!err && *s.risk && !insists) {
		memcpy(s.why, s.risk, sizeof(s.why));
		err = -ENOTSUP;
	}
	if (!err)
		err = inject_subject(&s, out);
	return err ? cannot(&s, pid, level, err) : 0;
}
