// SPDX-License-Identifier: BSD-3-Clause
/*
 * What a seccomp filter answers is what the kernel answers, for programs and arguments at random; and where
 * arguments are not known, no answer is missing.
 */
#include <errno.h>
#include <linux/audit.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "inject/filter.c"
#include "lib/emulated.h"
#include "lib/random.h"
#include "lib/test.h"

#define N(array) (sizeof(array) / sizeof((array)[0]))
#define NO_CALL 0x3456		/* allowed, it answers ENOSYS */
#define PROGRAMS 150
#define TRIES 8
#define BODY 40

#if defined(__x86_64__)
#define ARCHITECTURE AUDIT_ARCH_X86_64
#else
#define ARCHITECTURE AUDIT_ARCH_AARCH64
#endif

/* ---- programs at random, which the kernel takes ---------------------------------------------- */

static struct sock_filter code[512];
static size_t n_code;

static const uint32_t numbers[] = { 0, 1, 2, 3, 7, 31, 32, 0x80, 0xffff, 0x10000, 0x7fffffff, 0x80000000,
				    0xfffffffe, 0xffffffff };

static uint32_t number(void)
{
	return below(4) ? numbers[below(N(numbers))] : (uint32_t)random_next();
}

static void add(uint16_t op, uint8_t jt, uint8_t jf, uint32_t k)
{
	code[n_code++] = (struct sock_filter){ op, jt, jf, k };
}

static void add_compute(void)
{
	static const uint16_t ops[] = { BPF_ADD, BPF_SUB, BPF_MUL, BPF_DIV, BPF_AND, BPF_OR, BPF_XOR, BPF_LSH,
					BPF_RSH, BPF_NEG };
	uint16_t op = ops[below(N(ops))], src = below(2) && op != BPF_NEG ? BPF_X : BPF_K;
	uint32_t k = number();

	if (src == BPF_K && (op == BPF_LSH || op == BPF_RSH))
		k %= 32;
	if (src == BPF_K && op == BPF_DIV && !k)
		k = 1;
	add(BPF_ALU | op | src, 0, 0, src == BPF_X || op == BPF_NEG ? 0 : k);
}

/* left: instructions behind it. */
static void add_jump(size_t left)
{
	static const uint16_t ops[] = { BPF_JEQ, BPF_JGT, BPF_JGE, BPF_JSET };

	if (!below(8)) {
		add(BPF_JMP | BPF_JA, 0, 0, (uint32_t)below(left));
		return;
	}
	add(BPF_JMP | ops[below(N(ops))] | (below(2) ? BPF_X : BPF_K), (uint8_t)below(left), (uint8_t)below(left),
	    number());
}

static void add_any(size_t left)
{
	switch (below(9)) {
	case 0: add(BPF_LD | BPF_IMM, 0, 0, number()); break;
	case 1: add(BPF_LDX | BPF_IMM, 0, 0, number()); break;
	case 2: add(BPF_LD | BPF_MEM, 0, 0, (uint32_t)below(BPF_MEMWORDS)); break;
	case 3: add(below(2) ? BPF_ST : BPF_STX, 0, 0, (uint32_t)below(BPF_MEMWORDS)); break;
	case 4: add(BPF_MISC | (below(2) ? BPF_TAX : BPF_TXA), 0, 0, 0); break;
	case 5: add_compute(); break;
	case 6: add_jump(left); break;
	case 7: add((below(2) ? BPF_LD : BPF_LDX) | BPF_W | BPF_LEN, 0, 0, 0); break;
	default:	/* all but the instruction pointer, which is not ours to choose */
		add(BPF_LD | BPF_W | BPF_ABS, 0, 0, (uint32_t)(below(7) ? 16 + 4 * below(12) : 4 * below(2)));
		break;
	}
}

/* Other calls than NO_CALL pass. All memory is written first. It answers with an error, or passes. */
static void make_program(void)
{
	n_code = 0;
	add(BPF_LD | BPF_W | BPF_ABS, 0, 0, offsetof(struct seccomp_data, nr));
	add(BPF_JMP | BPF_JEQ | BPF_K, 1, 0, NO_CALL);
	add(BPF_RET | BPF_K, 0, 0, SECCOMP_RET_ALLOW);
	for (uint32_t i = 0; i < BPF_MEMWORDS; i++)
		add(BPF_ST, 0, 0, i);
	for (size_t left = BODY; left; left--)
		add_any(left);
	add(BPF_JMP | BPF_JGT | BPF_X, 0, 1, 0);
	add(BPF_RET | BPF_K, 0, 0, SECCOMP_RET_ALLOW);
	add(BPF_ALU | BPF_AND | BPF_K, 0, 0, 0xff);
	add(BPF_ALU | BPF_OR | BPF_K, 0, 0, SECCOMP_RET_ERRNO);
	add(BPF_RET | BPF_A, 0, 0, 0);
}

static struct cbpf_input make_input(void)
{
	struct cbpf_input in = { .data = { .nr = NO_CALL, .arch = ARCHITECTURE } };

	for (int i = 0; i < 6; i++)
		in.data.args[i] = number() | (below(2) ? (uint64_t)number() << 32 : 0);
	return in;
}

/* ---- as the kernel has it -------------------------------------------------------------------- */

struct answers {
	uint32_t value[256];
	size_t n;
	bool any;
};

static void keep(void *ctx, uint32_t value, bool known)
{
	struct answers *a = ctx;

	a->any |= !known || a->n == N(a->value);
	if (known && a->n < N(a->value))
		a->value[a->n++] = value;
}

static long call(const __u64 *arg)
{
	long got = syscall(NO_CALL, arg[0], arg[1], arg[2], arg[3], arg[4], arg[5]);

	return got < 0 ? errno : got;
}

struct reported {
	volatile int done;
	volatile long result[TRIES];
};

static void ask_the_kernel(const struct cbpf_input *in, struct reported *reported)
{
	struct sock_fprog program = { (unsigned short)n_code, code };
	pid_t pid = fork();

	assert_true(pid >= 0);
	if (!pid) {
		if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
		    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program))
			_exit(1);
		for (reported->done = 0; reported->done < TRIES; reported->done++)
			reported->result[reported->done] = call(in[reported->done].data.args);
		_exit(0);
	}
	assert_int_equal(waitpid(pid, &(int){ 0 }, 0), pid);
	if (reported->done < 0)
		fail_msg("the kernel did not take the program");
}

/* Every input passes, or every one is killed: at random, one run in a hundred killed none. */
static void make_certain(bool passes)
{
	n_code = 0;
	add(BPF_LD | BPF_W | BPF_ABS, 0, 0, offsetof(struct seccomp_data, nr));
	add(BPF_JMP | BPF_JEQ | BPF_K, 1, 0, NO_CALL);
	add(BPF_RET | BPF_K, 0, 0, SECCOMP_RET_ALLOW);
	add(BPF_LDX | BPF_IMM, 0, 0, passes);
	add(BPF_ALU | BPF_DIV | BPF_X, 0, 0, 0);
	add(BPF_RET | BPF_K, 0, 0, SECCOMP_RET_ALLOW);
}

static long meaning(uint32_t value)
{
	return value == SECCOMP_RET_ALLOW ? ENOSYS : (long)(value & SECCOMP_RET_DATA);
}

static const struct filter_call *filter_find(const char *name)
{
	const struct filter_call *c = filter_calls;

	while (c->name && strcmp(c->name, name))
		c++;
	return c->name ? c : NULL;
}

TEST(a_filter_answers_as_the_kernel_does)
{
	struct reported *reported = mmap(NULL, sizeof(*reported), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	unsigned int passed = 0, killed = 0;

	needs_real_machine("the kernel and its filters");
	assert_ptr_not_equal(reported, MAP_FAILED);
	for (int i = 0; i < PROGRAMS; i++) {
		struct cbpf_input in[TRIES];

		if (i < 2)
			make_certain(i);
		else
			make_program();
		for (int k = 0; k < TRIES; k++)
			in[k] = make_input();
		reported->done = -1;
		ask_the_kernel(in, reported);
		for (int k = 0; k < TRIES && k <= reported->done; k++) {
			struct answers a = { .n = 0 };

			assert_int_equal(cbpf_run(code, n_code, &in[k], keep, &a), 0);
			assert_false(a.any);
			assert_int_equal(a.n, 1);
			if (k == reported->done) {	/* it was killed: a division by nothing */
				assert_int_equal(a.value[0], 0);
				killed++;
			} else {
				assert_int_equal(meaning(a.value[0]), reported->result[k]);
				passed += a.value[0] == SECCOMP_RET_ALLOW;
			}
		}
	}
	munmap(reported, sizeof(*reported));
	assert_true(passed && killed);
}

static bool has(const struct answers *a, uint32_t value)
{
	for (size_t i = 0; i < a->n; i++)
		if (a->value[i] == value)
			return true;
	return a->any;
}

TEST(every_enum_value_has_a_name)
{
	unsigned int known = 0;

	for (int i = 0; i < 20 * PROGRAMS; i++) {
		struct cbpf_input in = make_input();
		struct answers all = { .n = 0 };
		int err;

		make_program();
		in.any = (uint8_t)below(64);
		err = cbpf_run(code, n_code, &in, keep, &all);
		assert_true(!err || err == -E2BIG);
		known += !err && !all.any;
		for (int k = 0; !err && k < TRIES; k++) {
			struct cbpf_input one = make_input();
			struct answers a = { .n = 0 };

			for (int arg = 0; arg < 6; arg++)
				if (!(in.any >> arg & 1))
					one.data.args[arg] = in.data.args[arg];
			assert_int_equal(cbpf_run(code, n_code, &one, keep, &a), 0);
			if (!has(&all, a.value[0]))
				fail_msg("program %d: %#x is missing", i, a.value[0]);
		}
	}
	assert_true(known);
}

/* ---- programs that the kernel would not take -------------------------------------------------- */

TEST(a_filter_that_is_no_program_is_refused)
{
	static const struct {
		const char *what;
		struct sock_filter code[2];
		size_t n;
	} cases[] = {
		{ "none", { { 0, 0, 0, 0 } }, 0 },
		{ "no end", { BPF_STMT(BPF_LD | BPF_IMM, 1) }, 1 },
		{ "a jump behind the end", { BPF_JUMP(BPF_JMP | BPF_JA, 1, 0, 0), BPF_STMT(BPF_RET | BPF_K, 0) }, 2 },
		{ "a jump round the address space",
		  { BPF_JUMP(BPF_JMP | BPF_JA, 0xffffffff, 0, 0), BPF_STMT(BPF_RET | BPF_K, 0) }, 2 },
		{ "a packet", { BPF_STMT(BPF_LD | BPF_W | BPF_IND, 0), BPF_STMT(BPF_RET | BPF_K, 0) }, 2 },
		{ "a byte", { BPF_STMT(BPF_LD | BPF_B | BPF_ABS, 0), BPF_STMT(BPF_RET | BPF_K, 0) }, 2 },
		{ "behind the call", { BPF_STMT(BPF_LD | BPF_W | BPF_ABS, 64), BPF_STMT(BPF_RET | BPF_K, 0) }, 2 },
		{ "within a word", { BPF_STMT(BPF_LD | BPF_W | BPF_ABS, 2), BPF_STMT(BPF_RET | BPF_K, 0) }, 2 },
		{ "behind memory", { BPF_STMT(BPF_LD | BPF_MEM, 16), BPF_STMT(BPF_RET | BPF_K, 0) }, 2 },
		{ "behind memory", { BPF_STMT(BPF_ST, 16), BPF_STMT(BPF_RET | BPF_K, 0) }, 2 },
		{ "by nothing", { BPF_STMT(BPF_ALU | BPF_DIV | BPF_K, 0), BPF_STMT(BPF_RET | BPF_K, 0) }, 2 },
		{ "too far", { BPF_STMT(BPF_ALU | BPF_LSH | BPF_K, 32), BPF_STMT(BPF_RET | BPF_K, 0) }, 2 },
		{ "an unknown word", { BPF_STMT(BPF_ALU | 0xf0, 1), BPF_STMT(BPF_RET | BPF_K, 0) }, 2 },
	};

	for (size_t i = 0; i < N(cases); i++) {
		struct cbpf_input in = { .any = 0 };
		struct answers a = { .n = 0 };

		if (cbpf_run(cases[i].code, cases[i].n, &in, keep, &a) != -EINVAL)
			fail_msg("%s", cases[i].what);
		assert_int_equal(filter_judge(cases[i].code, cases[i].n, filter_find("mmap")), FILTER_KILLS);
	}
}

TEST(one_with_too_many_ways_is_given_up)
{
	struct cbpf_input in = { .any = 1 };
	struct answers a = { .n = 0 };

	n_code = 0;
	add(BPF_LD | BPF_W | BPF_ABS, 0, 0, 16);
	for (int i = 0; i < 400; i++)
		add(BPF_JMP | BPF_JEQ | BPF_K, 0, 0, 1);
	add(BPF_RET | BPF_K, 0, 0, SECCOMP_RET_ALLOW);
	assert_int_equal(cbpf_run(code, n_code, &in, keep, &a), -E2BIG);
	assert_int_equal(filter_judge(code, n_code, filter_find("prctl")), FILTER_ALLOWS);	/* it is known */
	assert_int_equal(filter_judge(code, n_code, filter_find("close")), FILTER_UNKNOWN);
	code[n_code - 1].k = SECCOMP_RET_ERRNO;
	assert_int_equal(filter_judge(code, n_code, filter_find("close")), FILTER_UNKNOWN);
	code[2] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS);
	code[1].jf = 1;		/* it forbids on one of the ways that were gone */
	assert_int_equal(filter_judge(code, n_code, filter_find("close")), FILTER_KILLS);
}

TEST(a_decision_on_an_unknown_argument_is_not_allowed)
{
	static const struct sock_filter write_to_2[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_write, 0, 3),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, 16),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 2, 1, 0),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	}, no_code_mapped[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_mprotect, 0, 3),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, 32),
		BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, 4, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_LOG),
	};

	assert_int_equal(filter_judge(write_to_2, N(write_to_2), filter_find("write")), FILTER_FAILS);
	assert_int_equal(filter_judge(write_to_2, N(write_to_2), filter_find("read")), FILTER_ALLOWS);
	/* What is known is known: no protection of ours has that bit. */
	assert_int_equal(filter_judge(no_code_mapped, N(no_code_mapped), filter_find("mprotect")), FILTER_ALLOWS);
}

TEST_GROUP(random_seed, NULL);
