// SPDX-License-Identifier: BSD-3-Clause
/*
 * The self-test and the calibration: functions of our own, probed as the target's will be. Finds
 * out whether a way attaches here and the cost of a call. Reads its times off the clock, not off
 * the records.
 */
#include "probe/selftest.h"

#include <link.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/log.h"
#include "base/time.h"
#include "catalog/catalog.h"

/* ---- loader returns ------------------------------------------------------------------------ */

/*
 * Do return probes kill processes under seccomp here? On x86-64 a probed function returns by a
 * system call from Linux 6.11 on, which filters did not know before 6.14 (and the fixes of 6.12
 * and 6.13); a filter kills for unknown calls. So a child of ours installs a filter that denies
 * all it does not need, or the strict mode, and calls a probed function. Knows nothing of the
 * use of the verdict.
 */

#define TRIAL_CALLS 3			/* the first hit may change how the next ones are taken */

/* A child's report; a child without one was killed. */
enum word { WORD_LIVES = 'l', WORD_NO_SECCOMP = 'n', WORD_NO_RETURN = 'r' };

/* Probed: they return where they return to. */
uintptr_t loader_probe_me(void);
uintptr_t loader_step_me(void);

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
	for (int i = 0; i < TRIAL_CALLS; i++)
		if (call_me() == bare && word == WORD_LIVES)
			word = WORD_NO_RETURN;
	if (write(parent, &word, 1) != 1)
		word = 0;
	for (;;)
		syscall(t->exit_call, 0);
}

/* Probes the child, releases it and reads its report. 0 or -errno of attaching. */
static int attend(struct loader *l, struct loader_probes *p, int child, char *word)
{
	int err = loader_follow(l, p->pid);

	if (!err)
		err = loader_attach(l, p);
	if (!err && (send(child, "g", 1, MSG_NOSIGNAL) != 1 || recv(child, word, 1, 0) != 1))
		*word = 0;
	return err;
}

/* The child exits in any case: on request, or when its parent's end of the pipe is closed. */
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
	loader_unfollow(l, p->pid);	/* its records are in the rings before anybody reads them */
	return err;
}

/* Do processes under seccomp survive return probes? 1, 0 (no, or unknown) or -errno of
 * attaching. Leaves links. */
static int test_returns(struct loader *l, struct loader_probes probes)
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

#define FUNCTION(name, code)                                                                    \
	__asm__(".text\n.globl " name "\n.type " name ", %function\n" name ":\n" code            \
		".size " name ", . - " name "\n")

/* Begins with an instruction that every kernel emulates (of x86-64 as the functions of the real
 * libraries do; arm64 steps nop up to 6.12), whatever the compiler would make of it; and one whose
 * first instruction the kernel single-steps. Both return where they return to. */
#if defined(__x86_64__)
FUNCTION("loader_probe_me", "push %rbp\nmov 8(%rsp), %rax\npop %rbp\nret\n");
FUNCTION("loader_step_me", "mov (%rsp), %rax\nret\n");
#else
FUNCTION("loader_probe_me", "b 1f\n1: mov x0, x30\nret\n");
FUNCTION("loader_step_me", "mov x0, x30\nret\n");
#endif

struct place {
	uintptr_t address;
	uint64_t offset;
};

static int find_place(struct dl_phdr_info *info, size_t size, void *ctx)
{
	struct place *place = ctx;
	uint64_t vaddr = place->address - info->dlpi_addr;

	(void)size;
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *ph = &info->dlpi_phdr[i];

		if (ph->p_type == PT_LOAD && vaddr >= ph->p_vaddr &&
		    vaddr < ph->p_vaddr + ph->p_filesz)
			place->offset = vaddr - ph->p_vaddr + ph->p_offset;
	}
	return 1;		/* the executable comes first; look no further */
}

/* The file offset of a function in this executable, stripped or not. */
static uint64_t offset_of(uintptr_t (*fn)(void))
{
	struct place place = { .address = (uintptr_t)fn };

	dl_iterate_phdr(find_place, &place);
	return place.offset;
}

/* The duration of one call in ns: the least of some batches. Few calls, so that their records
 * fit the smallest ring; readers of the rings begin behind them. */
static uint64_t time_calls(uintptr_t (*fn)(void), int calls)
{
	enum { BATCHES = 5 };
	uint64_t best = UINT64_MAX;

	for (int b = 0; b < BATCHES; b++) {
		uint64_t start = time_now_ns(), ns;

		for (int i = 0; i < calls; i++)
			fn();
		ns = (time_now_ns() - start) / (uint64_t)calls;
		best = ns < best ? ns : best;
	}
	return best;
}

static uint64_t more_than(uint64_t bare, uint64_t probed)
{
	return probed > bare ? probed - bare : 0;
}

/* 0 would mean that it could not be measured. */
static uint64_t at_least_one(uint64_t ns)
{
	return ns ? ns : 1;
}

/* A call that is hit in vain costs what nested ones do: here, because we are not followed at
 * first. */
static int calibrate(struct loader *l, const struct loader_probes *p, struct selftest_costs *costs)
{
	enum { CALLS = 64, STEPS = 8 };
	uint64_t bare = time_calls(loader_probe_me, CALLS), hit;
	int err = loader_attach(l, p);

	if (err)
		return err;
	hit = time_calls(loader_probe_me, CALLS);
	costs->nested_ns = more_than(bare, hit);
	costs->step_ns = at_least_one(more_than(hit, time_calls(loader_step_me, STEPS)));
	err = loader_follow(l, getpid());
	if (!err)
		costs->call_ns = more_than(bare, time_calls(loader_probe_me, CALLS));
	return err;
}

/* A return that cannot be refused call by call is not probed at all: the kernel readies it in every
 * process that meets the probe. */
static unsigned int choose_returns(const struct loader *l, bool harmless)
{
	if (harmless)
		return GP_RETURNS_ALL;
	return loader_facts(l).way == WAY_SESSION ? GP_RETURNS_NO_SECCOMP : GP_RETURNS_NONE;
}

/* Nothing more is sent of this thread. */
static void forget_me(struct loader *l)
{
	int me = (int)syscall(SYS_pidfd_open, getpid(), 0);

	if (me < 0)
		return;
	loader_forget_thread(l, me);
	close(me);
}

int selftest_run(struct loader *l, bool returns_kill, struct selftest_costs *costs)
{
	uint64_t offsets[] = { offset_of(loader_probe_me), offset_of(loader_step_me) };
	uint64_t rows[] = { catalog_first_row(0), catalog_first_row(0) };
	struct loader_probes p = { .path = "/proc/self/exe", .offsets = offsets, .rows = rows,
				   .n = 2, .pid = getpid() };
	int harmless, err;

	loader_set_returns(l, GP_RETURNS_ALL);	/* whatever another way came to */
	harmless = returns_kill ? 0 : test_returns(l, p);
	loader_set_returns(l, choose_returns(l, harmless > 0));
	err = harmless < 0 ? harmless : calibrate(l, &p, costs);
	loader_detach(l);
	forget_me(l);
	loader_unfollow(l, getpid());
	return err;
}
