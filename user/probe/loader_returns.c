// SPDX-License-Identifier: BSD-3-Clause
/*
 * Do return probes kill processes under seccomp here? On x86-64 a probed function returns by a
 * system call from Linux 6.11 on, which filters did not know before 6.14 (and what was mended of
 * 6.12 and 6.13); what they do not know kills. So a child of ours takes a filter that denies all it
 * does not need, or the strict mode, and calls a probed function. Knows nothing of what is done
 * with the verdict.
 */
#include <bpf/bpf.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/log.h"
#include "probe/loader_internal.h"

#define CALLS 3			/* the first hit may change how the next ones are taken */

/* What a child says of itself; one that says nothing was killed. */
enum word { WORD_LIVES = 'l', WORD_NO_SECCOMP = 'n', WORD_NO_RETURN = 'r' };

struct trial {
	const char *name;
	int (*confine)(void);
	long exit_call;		/* the only one the mode allows */
};

/* write(2) and exit_group(2) of whatever architecture; nothing else. */
static int confine_by_filter(void)
{
	struct sock_filter deny[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_write, 2, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_exit_group, 1, 0),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog prog = { .len = sizeof(deny) / sizeof(deny[0]), .filter = deny };

	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &prog);
}

static int confine_strictly(void)
{
	return prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT);
}

static const struct trial trials[] = {
	{ "a filter", confine_by_filter, SYS_exit_group },
	{ "the strict mode", confine_strictly, SYS_exit },
};

/* Always from one place, so that the address it returns to is the same but for a return probe. */
static __attribute__((noinline)) uintptr_t call_me(void)
{
	uintptr_t to = loader_probe_me();

	__asm__ volatile("" : "+r"(to));
	return to;
}

/* The child: nothing here may need a system call that is denied. */
static _Noreturn void be_confined(const struct trial *t, int parent, uintptr_t bare)
{
	char word = WORD_LIVES;

	prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);	/* its death leaves no core */
	if (read(parent, &word, 1) != 1)
		_exit(1);
	word = t->confine() ? WORD_NO_SECCOMP : WORD_LIVES;
	for (int i = 0; i < CALLS; i++)
		if (call_me() == bare && word == WORD_LIVES)
			word = WORD_NO_RETURN;
	if (write(parent, &word, 1) != 1)
		word = 0;
	for (;;)
		syscall(t->exit_call, 0);
}

/* Probes the child, lets it go and hears what it says. 0 or -errno of attaching. */
static int attend(struct loader *l, struct loader_probes *p, int child, char *word)
{
	int err = loader_follow(l, p->pid);

	if (!err)
		err = loader_attach(l, p);
	if (!err && (send(child, "g", 1, MSG_NOSIGNAL) != 1 || recv(child, word, 1, 0) != 1))
		*word = 0;
	return err;
}

/* Its records are in the rings before anybody reads them; the rest must go. */
static void forget(struct loader *l, const struct loader_probes *p)
{
	uint32_t pid = (uint32_t)p->pid;

	bpf_map_delete_elem(bpf_map__fd(l->skel->maps.pids), &pid);
}

/* The child ends in any case: it is told to go, or its parent's end is closed. */
static int run_trial(struct loader *l, const struct trial *t, struct loader_probes *p, char *word)
{
	uintptr_t bare = call_me();
	int ends[2], err;

	*word = 0;
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends))
		return 0;
	p->pid = fork();
	if (!p->pid) {
		close(ends[0]);
		be_confined(t, ends[1], bare);
	}
	close(ends[1]);
	err = p->pid > 0 ? attend(l, p, ends[0], word) : 0;
	close(ends[0]);
	if (p->pid > 0)
		waitpid(p->pid, NULL, 0);	/* fails where SIGCHLD is ignored: as well */
	forget(l, p);
	return err;
}

int loader_test_returns(struct loader *l, struct loader_probes probes)
{
	for (size_t i = 0; i < sizeof(trials) / sizeof(trials[0]); i++) {
		char word;
		int err = run_trial(l, &trials[i], &probes, &word);

		if (err)
			return err;
		if (word != WORD_LIVES && word != WORD_NO_SECCOMP) {
			log_debug("a child under %s %s", trials[i].name, word == WORD_NO_RETURN ?
				  "met no return probe" : "did not live through a return probe");
			return 0;
		}
	}
	return 1;
}
