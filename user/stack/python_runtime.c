// SPDX-License-Identifier: BSD-3-Clause
/* _PyRuntime -> interpreters -> thread states. */
#include "stack/python_runtime.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#include "base/str.h"
#include "elf/elf.h"
#include "elf/section.h"

#define MAX_INTERPRETERS 64u
#define MAX_THREADS 8192u
#define MAX_OFFSET (1u << 20)	/* in an interpreter's state, the largest of the structs */
#define MAX_READS (1u << 20)	/* of all threads together: about a second */

static const struct python_layout layouts[] = {
#include "stack/python_offsets.inc"
};

#define N_LAYOUTS (sizeof(layouts) / sizeof(layouts[0]))

/* ---- memory --------------------------------------------------------------------------------- */

int python_read(struct python_runtime *rt, uint64_t at, void *buf, size_t len)
{
	struct iovec local = { buf, len }, remote = { (void *)(uintptr_t)at, len };

	if (rt->reads++ >= MAX_READS)
		return -EFAULT;
	return process_vm_readv(rt->pid, &local, 1, &remote, 1, 0) == (ssize_t)len ? 0 : -EFAULT;
}

/*
 * Up to 3.10 it has no ids of the kernel. A pthread_t of glibc is the address of a struct that has
 * one, at the same place in all its versions since 2.17; another library's has no id of this
 * process there.
 */
int python_read_thread_id(struct python_runtime *rt, uint64_t state, uint64_t *id)
{
	uint64_t pthread;
	uint32_t tid;

	if (!rt->layout.at[THREAD_PTHREAD])
		return python_read_field(rt, state, THREAD_NATIVE_ID, id);
	if (python_read_field(rt, state, THREAD_PTHREAD, &pthread) ||
	    python_read(rt, pthread + PYTHON_PTHREAD_TID, &tid, sizeof(tid)))
		return -EFAULT;
	*id = tid;
	return 0;
}

/* ---- threads -------------------------------------------------------------------------------- */

/* Every state points back to its interpreter, which shows a wrong layout. */
static int add_threads(struct python_runtime *rt, uint64_t interpreter)
{
	uint64_t state, back;

	if (python_read_field(rt, interpreter, INTERPRETER_THREADS, &state))
		return -EFAULT;
	for (unsigned int i = 0; state && i < MAX_THREADS; i++) {
		struct python_thread t = { .state = state }, *kept;

		if (python_read_field(rt, state, THREAD_INTERPRETER, &back) ||
		    back != interpreter ||
		    python_read_thread_id(rt, state, &t.id) ||
		    python_read_field(rt, state, THREAD_NEXT, &state))
			return -EFAULT;
		kept = VEC_PUSH(&rt->thread);
		if (!kept)
			return -ENOMEM;
		*kept = t;
	}
	return 0;
}

/* A list that changes while it is read may end early: what is there till then is taken. */
static int read_threads(struct python_runtime *rt)
{
	uint64_t interpreter;
	int err = python_read_field(rt, rt->at, RUNTIME_INTERPRETERS, &interpreter);

	rt->thread.n = 0;
	for (unsigned int i = 0; !err && interpreter && i < MAX_INTERPRETERS &&
	     rt->thread.n < MAX_THREADS; i++) {
		err = add_threads(rt, interpreter);
		if (!err)
			err = python_read_field(rt, interpreter, INTERPRETER_NEXT, &interpreter);
	}
	if (err == -ENOMEM)
		return err;
	return rt->thread.n ? 0 : -ENOENT;
}

/* ---- versions ------------------------------------------------------------------------------- */

/* The version is PY_VERSION_HEX: 0x030d00f0 is 3.13.0. Alphas and betas (0xa0, 0xb0) had other
 * structs. */
static int read_debug_offsets(struct python_runtime *rt, const struct python_layout *l,
			      const uint64_t head[3])
{
	if (head[1] >> 24 != 3 || (head[1] >> 16 & 0xff) != l->minor || (head[1] & 0xf0) < 0xc0 ||
	    head[2])
		return -ENOENT;
	rt->layout = *l;
	for (int i = 0; i < N_FIELDS; i++) {
		uint64_t offset;

		if (!l->at[i])
			continue;
		if (python_read(rt, rt->at + l->at[i], &offset, sizeof(offset)) ||
		    offset >= MAX_OFFSET)
			return -ENOENT;
		rt->layout.at[i] = (uint32_t)offset;
	}
	return read_threads(rt);
}

/* 0, -ENOENT or -ENOMEM. */
static int choose_layout(struct python_runtime *rt)
{
	uint64_t head[3];	/* cookie, version, whether it is free-threaded */
	int err = python_read(rt, rt->at, head, sizeof(head)) ? -EFAULT : -ENOENT;
	bool has_cookie = err == -ENOENT && !memcmp(head, "xdebugpy", sizeof(head[0]));

	for (size_t i = 0; i < N_LAYOUTS && err == -ENOENT; i++) {
		if (layouts[i].in_debug_offsets != has_cookie ||
		    (layouts[i].minor < 10) != rt->is_old)
			continue;
		if (has_cookie) {
			err = read_debug_offsets(rt, &layouts[i], head);
		} else {
			rt->layout = layouts[i];
			err = read_threads(rt);
		}
	}
	return err;
}

struct search {			/* for _PyRuntime */
	struct python_runtime *rt;
	const struct stack_modules *modules;
	char exe[PATH_MAX];
};

/* libpython3.11.so.1.0, python3.11, or a program with CPython in it. */
static bool may_hold_python(const struct search *s, const struct target_mapping *m)
{
	const char *name = str_basename(m->path);

	return m->code && m->ino && (!strncmp(name, "libpython3", 10) || !strcmp(m->path, s->exe));
}

/* Before 3.10 it has no section of its own. 3.7 had other code objects, and not this function. */
static uint64_t find_old_runtime(struct elf_file *ef)
{
	struct elf_symbol sym = { .name = "PyCode_NewWithPosOnlyArgs" };

	return elf_find_symbols(ef, &sym, 1) > 0 ? elf_object_address(ef, "_PyRuntime") : 0;
}

static uint64_t find_runtime(const struct search *s, const struct target_mapping *m)
{
	const struct stack_module *module =
		stack_find_module(s->modules->module.v, s->modules->module.n, m->start);
	int fd = module && module->bias_known ? target_mapping_open(m) : -1;
	struct elf_file *ef = fd < 0 ? NULL : elf_file_open(fd, m->path);
	struct elf_section section = { 0 };
	uint64_t at = ef && elf_find_section(ef, ".PyRuntime", &section) ? section.address : 0;

	s->rt->is_old = ef && !at;
	s->rt->bytes = at ? section.len : 0;
	if (s->rt->is_old)
		at = find_old_runtime(ef);
	elf_file_close(ef);
	if (fd >= 0)
		close(fd);
	return at ? module->bias + at : 0;
}

/* 1: found. */
static int visit_mapping(void *ctx, const struct target_mapping *m)
{
	const struct search *s = ctx;
	int err;

	s->rt->at = may_hold_python(s, m) ? find_runtime(s, m) : 0;
	err = s->rt->at ? choose_layout(s->rt) : -ENOENT;
	if (err == -ENOMEM)
		return err;
	return err ? 0 : 1;
}

int python_runtime_find(struct python_runtime *rt, pid_t pid, const struct stack_modules *modules)
{
	struct search s = { .rt = rt, .modules = modules };
	char path[64];
	int found;

	rt->pid = pid;
	snprintf(path, sizeof(path), "/proc/%d/exe", pid);
	if (readlink(path, s.exe, sizeof(s.exe) - 1) < 0)
		*s.exe = '\0';
	found = target_each_mapping(pid, visit_mapping, &s);
	return found > 0 ? 0 : found == -ENOMEM ? -ENOMEM : -ENOENT;
}

void python_runtime_free(struct python_runtime *rt)
{
	VEC_FREE(&rt->thread);
}

size_t python_frame_bytes(const struct python_layout *l)
{
	size_t n = l->at[FRAME_OWNER] + 1;

	for (int i = FRAME_PREVIOUS; i <= FRAME_INSTRUCTION; i++)
		if (n < l->at[i] + sizeof(uint64_t))
			n = l->at[i] + sizeof(uint64_t);
	return n <= PYTHON_FRAME_BYTES ? n : PYTHON_FRAME_BYTES + 1;
}
