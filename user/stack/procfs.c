// SPDX-License-Identifier: BSD-3-Clause
/* Reads the small files of a thread in /proc. They are made by the kernel, but their names and
 * links hold what the target chose. */
#include "stack/procfs.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/io.h"
#include "host/syscalls.h"

#define MAX_FILE 4096u
#define MAX_POLLED 4u		/* files of one poll that are named */
#define SYSCALL_ARGS 6u

struct in_syscall {
	long number;
	uint64_t arg[SYSCALL_ARGS];
};

/* NULL + errno. */
static char *read_text(const struct stack_thread *t, const char *name)
{
	char path[80];

	snprintf(path, sizeof(path), "/proc/%d/task/%d/%s", t->pid, t->tid, name);
	return io_read_file(path, MAX_FILE, NULL);
}

static void read_state(struct stack_thread *t)
{
	char *text = read_text(t, "stat");
	const char *end = text ? strrchr(text, ')') : NULL;

	/* "12 (comm) S ..."; a comm may hold anything, also parentheses. */
	if (end && end[1] == ' ' && end[2])
		t->state = end[2];
	free(text);
}

static void read_cpu(struct stack_thread *t)
{
	char *text = read_text(t, "schedstat");

	t->cpu_known = text && sscanf(text, "%" SCNu64, &t->cpu_ns) == 1;
	free(text);
}

static int read_wchan(struct stack_thread *t, struct strpool *names)
{
	char *text = read_text(t, "wchan");
	int err = 0;

	/* "0": on a CPU, or not told. */
	if (text && *text && strcmp(text, "0")) {
		text[strcspn(text, "\n")] = '\0';
		t->wchan = strpool_add(names, text);
		err = t->wchan ? 0 : -ENOMEM;
	}
	free(text);
	return err;
}

/* ---- the system call ---------------------------------------------------------------------- */

static void add_file(struct strbuf *out, const struct stack_thread *t, int fd)
{
	char path[80], link[PATH_MAX];
	ssize_t n;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/fd/%d", t->pid, t->tid, fd);
	n = readlink(path, link, sizeof(link));
	if (n > 0) {
		strbuf_addstr(out, out->len ? ", " : "");
		strbuf_add(out, link, (size_t)n);
	}
}

static void add_polled(struct strbuf *out, const struct stack_thread *t,
		       const struct in_syscall *in, struct stack_memory *memory)
{
	struct pollfd fds[MAX_POLLED];
	uint64_t n = in->arg[1] < MAX_POLLED ? in->arg[1] : MAX_POLLED;

	if (stack_memory_read(memory, in->arg[0], fds, n * sizeof(fds[0])))
		return;
	for (uint64_t i = 0; i < n; i++)
		if (fds[i].fd >= 0)
			add_file(out, t, fds[i].fd);
	if (in->arg[1] > MAX_POLLED)
		strbuf_addstr(out, ", ...");
}

static int name_syscall(struct stack_thread *t, const struct in_syscall *in,
			struct strpool *names, struct stack_memory *memory)
{
	const struct syscall_row *row = syscall_find(in->number);
	struct strbuf file = STRBUF_INIT;
	char other[32];
	int err = 0;

	snprintf(other, sizeof(other), "syscall_%ld", in->number);
	t->syscall = strpool_add(names, row ? row->name : other);
	if (row && row->waits == SYSCALL_FD)
		add_file(&file, t, (int)in->arg[0]);
	else if (row && row->waits == SYSCALL_POLL)
		add_polled(&file, t, in, memory);
	if (file.len)
		t->file = strpool_add(names, file.s);
	if (!t->syscall || file.failed || (file.len && !t->file))
		err = -ENOMEM;
	strbuf_free(&file);
	return err;
}

/* "35 0x.. 0x.. 0x.. 0x.. 0x.. 0x.. SP PC"; "-1 SP PC" (blocked, but in no call); "running". The
 * kernel's own threads are never in a call: theirs is all zeros. */
static bool parse_syscall(const char *text, struct in_syscall *in, struct procfs_where *where)
{
	uint64_t *arg = in->arg;

	if (sscanf(text, "%ld %" SCNx64 " %" SCNx64 " %" SCNx64 " %" SCNx64 " %" SCNx64 " %" SCNx64
		   " %" SCNx64 " %" SCNx64, &in->number, &arg[0], &arg[1], &arg[2], &arg[3], &arg[4],
		   &arg[5], &where->sp, &where->pc) == 9 && in->number >= 0) {
		where->blocked = where->pc;
		return where->pc;
	}
	where->blocked = sscanf(text, "-1 %" SCNx64 " %" SCNx64, &where->sp, &where->pc) == 2;
	return false;
}

int procfs_read_thread(struct stack_thread *t, struct strpool *names, struct stack_memory *memory,
		       struct procfs_where *where)
{
	struct in_syscall in = { 0 };
	char *text;
	int err;

	*where = (struct procfs_where){ 0 };
	read_state(t);
	read_cpu(t);
	err = read_wchan(t, names);
	if (err)
		return err;
	text = read_text(t, "syscall");
	if (!text)
		return errno == EPERM || errno == EACCES ? -EACCES : 0;
	if (parse_syscall(text, &in, where))
		err = name_syscall(t, &in, names, memory);
	free(text);
	return err;
}
