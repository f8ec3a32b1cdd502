// SPDX-License-Identifier: BSD-3-Clause
/* Code not known to be safe is unsafe. */
#include "stack/safepoint.h"

#include <errno.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/str.h"
#include "elf/elf.h"
#include "target/target_mapping.h"
#include "stack/maps.h"

#define OUTERMOST 2u		/* frames of the C library that every thread begins with */

static const char *const c_library[] = { "libc.so.6", "libc-2.*.so", "libpthread.so.0",
					 "libpthread-2.*.so" };
static const char *const never[] = { "ld-linux*",    "ld-2.*.so", "ld64.so*", "libdl.so*",
				     "libdl-2.*.so", "*malloc*",  "\\[*" }; /* no file */

/* Functions that wait and hold nothing while they do, without underscores before their names. */
static const char *const waits[] = {
	"nanosleep", "clock_nanosleep", "usleep", "sleep", "poll", "ppoll", "select", "pselect",
	"epoll_wait", "epoll_pwait", "pthread_cond_wait", "pthread_cond_timedwait",
	"pthread_cond_clockwait", "sem_wait", "sem_timedwait", "sem_clockwait", "new_sem_wait",
	"pthread_join", "pthread_clockjoin_np", "pthread_timedjoin_np", "pthread_barrier_wait",
	"wait4", "waitpid", "wait", "waitid", "pause", "syscall",
};

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

static bool is_among(const char *name, const char *const *patterns, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (!fnmatch(patterns[i], name, 0))
			return true;
	return false;
}

/* The function may be NULL where its module is no part of the C library. */
struct quiet_frame {
	const char *module;	/* base name */
	const char *function;
	bool signal;
	bool guessed;
};

static bool is_c(const struct quiet_frame *f)
{
	return is_among(f->module, c_library, COUNT(c_library));
}

static int no(char *why, const char *what, const char *name)
{
	snprintf(why, STACK_WHY_BYTES, "%s%s", what, name ? name : "the C library");
	return -EAGAIN;
}

/* As stack_is_quiet, of a stack that is known; pure. */
static int quiet_judge(const struct quiet_frame *frames, size_t n, bool whole, char *why)
{
	size_t inner = 0, outer = n;
	const char *waiting;

	if (!whole || !n)
		return no(why, "its stack cannot be followed to its end", "");
	while (inner < n && is_c(&frames[inner]))
		inner++;
	waiting = inner ? frames[inner - 1].function : NULL;
	if (inner && !(waiting && is_among(waiting + strspn(waiting, "_"), waits, COUNT(waits))))
		return no(why, "it is in ", waiting);
	if (outer > inner && !is_c(&frames[outer - 1]))
		outer--;	/* main's caller's caller is the program's own _start */
	for (size_t i = 0; i < OUTERMOST && outer > inner && is_c(&frames[outer - 1]); i++)
		outer--;
	for (size_t i = 0; i < n; i++) {
		if (frames[i].signal)
			return no(why, "it is in a signal handler", "");
		if (frames[i].guessed)
			return no(why, "its stack cannot be followed for sure", "");
		if (i >= inner && i < outer && is_c(&frames[i]))
			return no(why, "it is inside ", frames[i].function);
		if (is_among(frames[i].module, never, COUNT(never)))
			return no(why, "it is in ", frames[i].module);
	}
	return 0;
}

/* ---- of a process --------------------------------------------------------------------------- */

struct looking {
	struct stack_modules modules;
	struct stack_step steps[STACK_DEPTH];
	struct quiet_frame frames[STACK_DEPTH];
	size_t n;
	int err;
};

static uint64_t place_of(const struct looking *l, size_t i)
{
	return stack_code_address(l->steps[i].pc, l->steps[i].exact);
}

/* Names frames in this mapping, if it is of the C library. */
static int name_frames(void *ctx, const struct target_mapping *m)
{
	struct looking *l = ctx;
	struct elf_file *ef = NULL;
	int fd = -1;

	for (size_t i = 0; i < l->n && m->code; i++) {
		struct elf_address at = { .offset = place_of(l, i) - m->start + m->offset };

		if (place_of(l, i) < m->start || place_of(l, i) >= m->end || !is_c(&l->frames[i]))
			continue;
		if (!ef) {
			fd = target_mapping_open(m);
			ef = fd < 0 ? NULL : elf_file_open(fd, m->path);
		}
		if (!ef)
			break;
		if (!elf_name_addresses(ef, &at, 1))
			l->frames[i].function = at.name;
	}
	elf_file_close(ef);
	if (fd >= 0)
		close(fd);
	return 0;
}

static int look(struct looking *l, pid_t pid, const struct stack_regs *regs,
		struct stack_memory *memory, char *why)
{
	struct stack_space space = { .read = stack_memory_read, .ctx = memory };
	enum stack_end end = STACK_LOST;
	int err = stack_modules_read(&l->modules, pid, memory), n;

	if (!err)
		err = stack_memory_copy(memory, regs->reg[stack_abi.sp]);
	if (err)
		return err;
	space.modules = l->modules.module.v;
	space.n_modules = l->modules.module.n;
	n = stack_unwind(&space, regs, l->steps, STACK_DEPTH, &end);
	if (n < 0)
		return n;
	l->n = (size_t)n;
	for (size_t i = 0; i < l->n; i++) {
		const struct stack_module *m = stack_find_module(space.modules, space.n_modules,
								 place_of(l, i));

		l->frames[i] = (struct quiet_frame){
			.module = m ? str_basename(l->modules.file.v[m->file].path) : "[anon]",
			.signal = l->steps[i].signal, .guessed = l->steps[i].guessed,
		};
	}
	err = target_each_mapping(pid, name_frames, l);
	return err ? err : quiet_judge(l->frames, l->n, end == STACK_WHOLE, why);
}

int stack_is_quiet(pid_t pid, const struct stack_regs *regs, char *why)
{
	struct stack_memory *memory = stack_memory_new(pid);
	struct looking *l = calloc(1, sizeof(*l));
	int err = memory && l ? look(l, pid, regs, memory, why) : -ENOMEM;

	for (size_t i = 0; l && i < l->n; i++)
		free((char *)l->frames[i].function);
	if (l)
		stack_modules_free(&l->modules);
	free(l);
	stack_memory_free(memory);
	return err;
}
