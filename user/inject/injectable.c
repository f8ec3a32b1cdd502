// SPDX-License-Identifier: BSD-3-Clause
#include "inject/injectable.h"

#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <inttypes.h>
#include <linux/capability.h>
#include <linux/seccomp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#include "base/io.h"
#include "base/num.h"
#include "base/str.h"
#include "elf/elf.h"
#include "host/caps.h"
#include "host/proc.h"
#include "inject/install.h"
#include "inject/machine.h"
#include "target/target_mapping.h"

struct denied {
	uid_t uid, own;		/* whose the process is; ours */
	int scope;		/* kernel.yama.ptrace_scope; -1: this kernel has none */
	bool can;		/* we have CAP_SYS_PTRACE */
};

#define SCOPE "kernel.yama.ptrace_scope"
#define SCOPE_NONE 3	/* of it */
#define SECURITY "something forbids it although CAP_SYS_PTRACE is there (a security module, a " \
		 "user namespace; dmesg may tell)"

static void denied_read(struct denied *d, pid_t pid)
{
	char *text = io_read_file("/proc/sys/kernel/yama/ptrace_scope", 64, NULL), *status;
	char path[64];
	const char *uid;

	/* The owner of its files is root where it may not be dumped. */
	snprintf(path, sizeof(path), "/proc/%d/status", pid);
	status = io_read_file(path, 65536, NULL);
	uid = status ? proc_status_field(status, "Uid") : NULL;
	*d = (struct denied){ .own = geteuid(), .scope = text ? atoi(text) : -1,
			      .can = caps_have(CAP_SYS_PTRACE) };
	d->uid = uid ? (uid_t)strtoul(uid, NULL, 10) : d->own;
	free(text);
	free(status);
}

const char *denied_reading(void)
{
	return caps_have(CAP_SYS_PTRACE) ? SECURITY :
					   "run as its user or root, or with CAP_SYS_PTRACE";
}

/* The order is the kernel's, but restrictions that hold for everyone come first. */
static void denied_say(const struct denied *d, char *out, size_t size)
{
	static const char sudo[] = "run gpuprof as root or with sudo";

	if (d->scope >= SCOPE_NONE)
		snprintf(out, size,
			 "nobody may trace a process here until the next boot (" SCOPE " is %d); "
			 "start it with `gpuprof env`", d->scope);
	else if (d->can)
		snprintf(out, size,
			 SECURITY "; start it with `gpuprof env`");
	else if (d->uid != d->own)
		snprintf(out, size, "it is user %u's, not yours, and CAP_SYS_PTRACE is missing; %s",
			 d->uid, sudo);
	else if (d->scope > 0)
		snprintf(out, size,
			 SCOPE " is %d: without CAP_SYS_PTRACE nobody may trace what runs "
			 "already; %s", d->scope, sudo);
	else
		snprintf(out, size, "it has rights that you have not, and CAP_SYS_PTRACE is "
			 "missing; %s", sudo);
}

void denied_tracing(pid_t pid, char *out, size_t size)
{
	struct denied d;

	denied_read(&d, pid);
	denied_say(&d, out, size);
}

/* ---- mappings ------------------------------------------------------------------------------- */

#define CODE_MAX (4u << 20)	/* of the C library's, looked through */

static const char *const functions[SUBJECT_FUNCTIONS] = {
	[SUBJECT_DLOPEN] = "dlopen",	     [SUBJECT_DLSYM] = "dlsym",
	[SUBJECT_DLERROR] = "dlerror",	     [SUBJECT_CLOSE] = "close",
	[SUBJECT_SELF] = "pthread_self",     [SUBJECT_DETACH] = "pthread_detach",
	[SUBJECT_CREATE] = "pthread_create",
};

static const struct {
	const char *pattern;	/* of a base name */
	size_t at;		/* of the member */
} kinds[] = {
	{ "libc.so.6", offsetof(struct subject, c_library) },
	{ "libc-2.*.so", offsetof(struct subject, c_library) },
	{ "libpthread.so.0", offsetof(struct subject, c_library) },
	{ "libpthread-2.*.so", offsetof(struct subject, c_library) },
	{ "libdl.so.2", offsetof(struct subject, c_library) },
	{ "libdl-2.*.so", offsetof(struct subject, c_library) },
	{ "ld-musl-*", offsetof(struct subject, musl) },
	{ "libcuda.so*", offsetof(struct subject, cuda) },
	{ "libgpuprof.so*", offsetof(struct subject, helper) },
	{ "memfd:" IMAGE_MEMORY "*", offsetof(struct subject, helper) },
};

#define DRIVER_12_6 560u	/* the first of CUDA 12.6 */

/* By the file's name: libcuda.so.550.54.14. CUPTI that began when graphs existed made processes of
 * older drivers crash or hang (pytorch#75504, #112507; of 12.6 and later there is no report). */
static void find_risk(struct subject *s, const char *name)
{
	const char *at = strstr(name, ".so.");
	char *end = NULL;
	unsigned long driver = at ? strtoul(at + strlen(".so."), &end, 10) : 0;

	if (driver && *end == '.' && driver < DRIVER_12_6)
		snprintf(s->risk, sizeof(s->risk),
			 "its driver, %lu, is older than CUDA 12.6: if it has made CUDA graphs, "
			 "CUPTI may crash it; start it with `gpuprof env`, or, if it has none, "
			 "add --force", driver);
}

static void find_functions(struct subject *s, const struct target_mapping *m)
{
	struct elf_symbol symbols[SUBJECT_FUNCTIONS] = { 0 };
	int fd = target_mapping_open(m);
	struct elf_file *ef = fd < 0 ? NULL : elf_file_open(fd, m->path);

	s->denied |= fd == -EACCES || fd == -EPERM;
	for (int i = 0; i < SUBJECT_FUNCTIONS; i++)
		symbols[i].name = functions[i];
	if (ef && elf_find_symbols(ef, symbols, SUBJECT_FUNCTIONS) > 0)
		for (int i = 0; i < SUBJECT_FUNCTIONS; i++) {
			uint64_t at = symbols[i].offset - symbols[i].skipped;

			if (symbols[i].offset && !s->function[i] && at >= m->offset &&
			    at - m->offset < m->end - m->start)
				s->function[i] = m->start + at - m->offset;
		}
	elf_file_close(ef);
	io_close(&fd);
}

/* Its address there; 0: nowhere in the mapping. */
static uint64_t search(const struct target_mapping *m, const uint8_t *code, size_t len,
		       const struct machine_code *wanted)
{
	const uint8_t *at = memmem(code, len, wanted->bytes, wanted->len);

	while (at && (size_t)(at - code) % machine.code_step)
		at = memmem(at + 1, len - (size_t)(at + 1 - code), wanted->bytes, wanted->len);
	return at ? m->start + (uint64_t)(at - code) : 0;
}

static void find_code(struct subject *s, const struct target_mapping *m, bool vdso)
{
	size_t len = (size_t)num_min(m->end - m->start, CODE_MAX);
	uint8_t *code = malloc(len);
	struct iovec to = { code, len }, from = { (void *)(uintptr_t)m->start, len };

	if (code && process_vm_readv(s->pid, &to, 1, &from, 1, 0) == (ssize_t)len) {
		if (!vdso && !s->syscall_at)
			s->syscall_at = search(m, code, len, &machine.syscall_code);
		if (vdso == machine.return_in_vdso && !s->return_at)
			s->return_at = search(m, code, len, &machine.return_code);
	}
	free(code);
}

static int on_mapping(void *ctx, const struct target_mapping *m)
{
	struct subject *s = ctx;
	const char *base = str_basename(m->path);
	bool before = s->c_library;

	if (!m->code)
		return 0;
	s->c_library = false;
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (!fnmatch(kinds[i].pattern, base, 0))
			*(bool *)((char *)s + kinds[i].at) = true;
	if (!fnmatch("libcuda.so.*", base, 0))
		find_risk(s, base);
	if (s->c_library && s->is_searched) {
		find_functions(s, m);
		find_code(s, m, false);
	} else if (s->is_searched && !strcmp(m->path, "[vdso]")) {
		find_code(s, m, true);
	}
	s->c_library |= before;
	return 0;
}

/* ---- what speaks against it ----------------------------------------------------------------- */

struct question {
	struct subject *s;
	struct proc *proc;
	const char *status;
	struct proc_stat stat;
};

static bool no(struct question *q, const char *why)
{
	snprintf(q->s->why, sizeof(q->s->why), "%s", why);
	return true;
}

static bool is_foreign(pid_t pid)
{
	char path[64];
	struct elf_file *ef;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/exe", pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	ef = elf_file_open(fd, path);
	elf_file_close(ef);
	close(fd);
	return !ef;
}

/* "x86_Thread_features:  shstk wrss": a line's words. */
static bool subject_has_shadow_stack(const char *status)
{
	const char *at = proc_status_field(status, "x86_Thread_features");

	while (at && *at && *at != '\n') {
		size_t len = strcspn(at, " \t\n");

		if (len == 5 && !memcmp(at, "shstk", 5))
			return true;
		at += len;
		at += strspn(at, " \t");
	}
	return false;
}

/* By its state and its modes. */
static bool has_wrong_state(struct question *q)
{
	uint64_t tracer = proc_status_number(q->status, "TracerPid");
	uint64_t seccomp = proc_status_number(q->status, "Seccomp");

	if (q->s->pid == getpid())
		return no(q, "it is this gpuprof; give the pid of a program that uses CUDA");
	if (q->stat.kernel)
		return no(q, "it is a thread of the kernel's; give the pid of a program");
	if (strchr("ZXx", q->stat.state))
		return no(q, "it has ended (a zombie): nothing of it runs");
	if (tracer) {
		snprintf(q->s->why, sizeof(q->s->why), "process %" PRIu64 " traces it already "
			 "(a debugger, strace); end that first", tracer);
		return true;
	}
	q->s->stopped = q->stat.state == 'T';
	if (strchr("Tt", q->stat.state))
		return no(q, "it is stopped; let it go on first (kill -CONT)");
	if (is_foreign(q->s->pid))
		return no(q, "it is no 64-bit program of this machine's architecture; only such "
			     "ones can load the helper");
	q->s->filtered = seccomp == SECCOMP_MODE_FILTER;
	if (seccomp == SECCOMP_MODE_STRICT)
		return no(q, "it is in seccomp's strict mode, which allows it to read and to "
			     "write only");
	return subject_has_shadow_stack(q->status) &&
	       no(q, "it has a shadow stack (CET), which allows no such call; start it with "
		     "`gpuprof env`");
}

/* By its mappings and limits. */
static bool lacks_something(struct question *q)
{
	const struct subject *s = q->s;

	if (s->musl)
		return no(q, "its C library is musl, and the helper needs glibc; without --inject "
			     "its calls are seen");
	if (!s->c_library)
		return no(q, "it has no glibc (a static program?), through which the helper could "
			     "be loaded; without --inject its calls are seen");
	if (!s->cuda)
		return no(q, "it has not loaded CUDA (libcuda) yet; begin when it has, or start it "
			     "with `gpuprof env`");
	if (inject_lacks_room(s->pid, q->s->why, sizeof(q->s->why)))
		return true;
	if (!s->is_searched)
		return false;
	for (int i = 0; i < SUBJECT_FUNCTIONS; i++)
		if (!s->function[i]) {
			snprintf(q->s->why, sizeof(q->s->why), "no %s was found in its C library; "
				 "start it with `gpuprof env`", functions[i]);
			return true;
		}
	return (!s->syscall_at || !s->return_at) &&
	       no(q, "its C library is unlike those that are known; start it with `gpuprof env`");
}

static int ask(struct question *q)
{
	const char *text = proc_read(q->proc, PROC_STAT, NULL);
	int err;

	if (!text || proc_parse_stat(text, &q->stat))
		return -ESRCH;
	q->status = proc_read(q->proc, PROC_STATUS, NULL);
	if (!q->status)
		return -ESRCH;
	err = strchr("ZXx", q->stat.state) ? 0 : target_each_mapping(q->s->pid, on_mapping, q->s);
	if (err)
		return err == -EACCES ? -EPERM : err;
	if (has_wrong_state(q) || lacks_something(q))
		return q->s->denied ? -EPERM : -ENOTSUP;
	return 0;
}

static int read_subject(struct subject *s, pid_t pid, bool is_searched)
{
	struct proc proc;
	struct question q = { .s = s, .proc = &proc };
	int err = proc_open(&proc, pid);

	*s = (struct subject){ .pid = pid, .is_searched = is_searched };
	if (!err)
		err = ask(&q);
	proc_close(&proc);
	return err;
}

int subject_read(struct subject *s, pid_t pid)
{
	return read_subject(s, pid, true);
}

int subject_read_reasons(struct subject *s, pid_t pid)
{
	return read_subject(s, pid, false);
}
