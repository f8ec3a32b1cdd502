// SPDX-License-Identifier: BSD-3-Clause
/* See the header. */
#include "inject/filter.h"

#include <errno.h>
#include <linux/audit.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>

#include "base/io.h"
#include "host/proc.h"
#include "target/target.h"

#if defined(__x86_64__)
#define ARCHITECTURE AUDIT_ARCH_X86_64
#else
#define ARCHITECTURE AUDIT_ARCH_AARCH64
#endif
#define FILTERS_MAX 64
#define STATUS_MAX 65536

static const struct filter_call restart = { "restart_syscall", SYS_restart_syscall, .any = 0x3f };

/* ---- one program, one call ------------------------------------------------------------------ */

static void keep_worst(void *ctx, uint32_t value, bool is_known)
{
	enum filter_answer *worst = ctx, got = FILTER_KILLS;

	if (is_known) {
		uint32_t action = value & SECCOMP_RET_ACTION_FULL;

		got = action == SECCOMP_RET_ALLOW || action == SECCOMP_RET_LOG ? FILTER_ALLOWS :
		      action == SECCOMP_RET_ERRNO ? FILTER_FAILS : FILTER_KILLS;
	}
	if (got > *worst)
		*worst = got;
}

int filter_judge(const struct sock_filter *code, size_t n, const struct filter_call *call)
{
	struct cbpf_input in = { .data = { .nr = call->nr, .arch = ARCHITECTURE }, .any = call->any,
				 .any_ip = true };
	enum filter_answer worst = FILTER_ALLOWS;
	int err;

	for (unsigned int i = 0; i < 6; i++)
		in.data.args[i] = call->arg[i];
	err = cbpf_run(code, n, &in, keep_worst, &worst);
	if (err == -E2BIG)
		return worst == FILTER_KILLS ? FILTER_KILLS : FILTER_UNKNOWN;
	return err == -ENOMEM ? err : err ? FILTER_KILLS : (int)worst;
}

const struct filter_call *filter_find(const char *name)
{
	const struct filter_call *c = filter_calls;

	while (c->name && strcmp(c->name, name))
		c++;
	return c->name ? c : NULL;
}

/* ---- a thread's ----------------------------------------------------------------------------- */

struct seccomp {
	uint64_t mode, filters;		/* 0: also of a kernel without seccomp */
};

/* 0 or -errno; -ESRCH: it has ended. */
static int seccomp_of(pid_t pid, pid_t tid, struct seccomp *out)
{
	char path[64], *text;
	const char *state;
	bool has_ended;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/status", pid, tid);
	text = io_read_file(path, STATUS_MAX, NULL);
	if (!text)
		return errno == ENOENT ? -ESRCH : -errno;
	state = proc_status_field(text, "State");
	has_ended = state && (*state == 'Z' || *state == 'X');
	*out = (struct seccomp){ proc_status_number(text, "Seccomp"),
				 proc_status_number(text, "Seccomp_filters") };
	free(text);
	return has_ended ? -ESRCH : 0;
}

bool filter_is_there(pid_t pid, pid_t tid)
{
	struct seccomp its;

	return seccomp_of(pid, tid, &its) || its.mode != SECCOMP_MODE_DISABLED;
}

struct others {
	pid_t pid;
	struct seccomp like;
};

/* 0: yes, or it has ended. */
static int is_unlike(void *ctx, pid_t tid, uint64_t start_ns, const char *comm)
{
	const struct others *o = ctx;
	struct seccomp its;
	int err = seccomp_of(o->pid, tid, &its);

	(void)start_ns;
	(void)comm;
	return err ? err != -ESRCH : its.mode != o->like.mode || its.filters != o->like.filters;
}

/* The helper's code runs on other threads, too, where CUPTI or NVTX calls it. */
static bool are_all_alike(pid_t pid, const struct seccomp *like)
{
	return !target_each_thread(pid, is_unlike, &(struct others){ pid, *like });
}

static int refuse(char *why, size_t size, const char *what, const char *name, const char *remedy)
{
	snprintf(why, size, "%s%s%s", what, name, remedy);
	return -ENOTSUP;
}

static int unreadable(char *why, size_t size, int err)
{
	if (err == EACCES || err == EPERM)
		return refuse(why, size, "it has a seccomp filter, and to see what that allows, gpuprof needs "
			      "CAP_SYS_ADMIN and no filter of its own", "", "; run it as root on the host");
	if (err == E2BIG)
		return refuse(why, size, "it has more seccomp filters than gpuprof reads", "",
			      "; start it with `gpuprof env`");
	return refuse(why, size, "it has a seccomp filter, and this kernel does not show what that allows "
		      "(CONFIG_CHECKPOINT_RESTORE)", "", "; start it with `gpuprof env`");
}

/* Of one filter. */
static int judge_all(const struct sock_filter *code, size_t n, char *why, size_t size)
{
	for (const struct filter_call *c = filter_calls; c->name; c++) {
		int got = filter_judge(code, n, c);

		if (got < 0)
			return got;
		if (got == FILTER_UNKNOWN)
			return refuse(why, size, "its seccomp filter is too long to be judged", "",
				      "; start it with `gpuprof env`");
		if (got == FILTER_KILLS || (got == FILTER_FAILS && !c->may_fail))
			return refuse(why, size, "its seccomp filter does not let pass ", c->name,
				      ", which the helper needs; allow it there (docker: --security-opt "
				      "seccomp=FILE), or leave --inject out");
	}
	return 0;
}

/* Each filter may forbid something. *begins_anew: see filter_check. */
static int check_filters(pid_t tid, struct sock_filter *code, bool *begins_anew, char *why, size_t size)
{
	bool may_go_on = true;
	int err = 0;

	for (unsigned long i = 0; i < FILTERS_MAX; i++) {
		long n = ptrace(PTRACE_SECCOMP_GET_FILTER, tid, (void *)i, NULL);

		if (n < 0 && errno == ENOENT && i) {
			*begins_anew = !may_go_on;
			return err;
		}
		if (n <= 0 || n > BPF_MAXINSNS ||
		    ptrace(PTRACE_SECCOMP_GET_FILTER, tid, (void *)i, code) != n)
			return unreadable(why, size, n < 0 ? errno : EINVAL);
		may_go_on &= filter_judge(code, (size_t)n, &restart) == FILTER_ALLOWS;
		err = err ? err : judge_all(code, (size_t)n, why, size);
	}
	return unreadable(why, size, E2BIG);
}

int filter_check(pid_t pid, pid_t tid, bool *begins_anew, char *why, size_t size)
{
	struct sock_filter *code;
	struct seccomp its;
	int err;

	*begins_anew = true;
	err = seccomp_of(pid, tid, &its);
	if (err)
		return err;
	*begins_anew = its.mode != SECCOMP_MODE_DISABLED;
	if (!are_all_alike(pid, &its))
		return refuse(why, size, "some of its threads have seccomp filters of their own", "",
			      "; start it with `gpuprof env`");
	if (!*begins_anew)
		return 0;
	code = calloc(BPF_MAXINSNS, sizeof(*code));
	if (!code)
		return -ENOMEM;
	err = check_filters(tid, code, begins_anew, why, size);
	free(code);
	return err;
}
