// SPDX-License-Identifier: BSD-3-Clause
/* How functions begin: what the kernel emulates, steps and refuses. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "elf/file.h"
#include "lib/test.h"

struct row {
	const char *what;
	uint8_t code[10];
	uint8_t len;
	uint8_t opening;
	uint8_t skip;
};

static const struct row x86_rows[] = {
	{ "nothing", { 0 }, 0, ELF_UNKNOWN, 0 },
	{ "push rbp", { 0x55 }, 1, ELF_PUSH, 0 },
	{ "push rax", { 0x50 }, 1, ELF_PUSH, 0 },
	{ "push rdi", { 0x57 }, 1, ELF_PUSH, 0 },
	{ "push r15", { 0x41, 0x57 }, 2, ELF_PUSH, 0 },
	{ "pop rax", { 0x58 }, 1, ELF_STEP, 0 },
	{ "push with a needless rex.w", { 0x48, 0x55 }, 2, ELF_STEP, 0 },
	{ "pushw", { 0x66, 0x55 }, 2, ELF_STEP, 0 },
	{ "push imm", { 0x68, 1, 0, 0, 0 }, 5, ELF_STEP, 0 },
	{ "lone rex", { 0x41 }, 1, ELF_STEP, 0 },
	{ "nop", { 0x90 }, 1, ELF_NOP, 0 },
	{ "66 nop", { 0x66, 0x90 }, 2, ELF_NOP, 0 },
	{ "pause", { 0xf3, 0x90 }, 2, ELF_NOP, 0 },
	{ "xchg r8", { 0x49, 0x90 }, 2, ELF_REFUSED, 0 },
	{ "nop5", { 0x0f, 0x1f, 0x44, 0, 0 }, 5, ELF_NOP, 0 },
	{ "nop7", { 0x0f, 0x1f, 0x80, 0, 0, 0, 0 }, 7, ELF_NOP, 0 },
	{ "half a nop5", { 0x0f, 0x1f, 0x44 }, 3, ELF_STEP, 0 },
	{ "nop9", { 0x66, 0x0f, 0x1f, 0x84, 0, 0, 0, 0, 0 }, 9, ELF_STEP, 0 },
	{ "nop10", { 0x66, 0x2e, 0x0f, 0x1f, 0x84, 0, 0, 0, 0, 0 }, 10, ELF_REFUSED, 0 },
	{ "endbr64 push rbp", { 0xf3, 0x0f, 0x1e, 0xfa, 0x55 }, 5, ELF_PUSH, 4 },
	{ "endbr64 push r12", { 0xf3, 0x0f, 0x1e, 0xfa, 0x41, 0x54 }, 6, ELF_PUSH, 4 },
	{ "endbr64 sub", { 0xf3, 0x0f, 0x1e, 0xfa, 0x48, 0x83, 0xec, 8 }, 8, ELF_STEP, 4 },
	{ "endbr64 vxorps", { 0xf3, 0x0f, 0x1e, 0xfa, 0xc5, 0xf8, 0x57 }, 7, ELF_REFUSED, 4 },
	{ "endbr64 alone", { 0xf3, 0x0f, 0x1e, 0xfa }, 4, ELF_STEP, 0 },
	{ "sub rsp", { 0x48, 0x83, 0xec, 0x08 }, 4, ELF_STEP, 0 },
	{ "mov", { 0x48, 0x89, 0xf8 }, 3, ELF_STEP, 0 },
	{ "mov fs:0", { 0x64, 0x48, 0x8b, 0x04, 0x25 }, 5, ELF_STEP, 0 },
	{ "ret", { 0xc3 }, 1, ELF_STEP, 0 },
	{ "vex2", { 0xc5, 0xf9, 0x6e, 0xc7 }, 4, ELF_REFUSED, 0 },
	{ "vex3", { 0xc4, 0xe2, 0x7d, 0x18 }, 4, ELF_REFUSED, 0 },
	{ "evex", { 0x62, 0xf1, 0x7c, 0x48 }, 4, ELF_REFUSED, 0 },
	{ "jmp", { 0xe9, 0, 0, 0, 0 }, 5, ELF_BRANCH, 0 },
	{ "jmp short", { 0xeb, 0 }, 2, ELF_BRANCH, 0 },
	{ "call", { 0xe8, 0, 0, 0, 0 }, 5, ELF_BRANCH, 0 },
	{ "je", { 0x74, 0 }, 2, ELF_BRANCH, 0 },
	{ "jne near", { 0x0f, 0x85, 0, 0, 0, 0 }, 6, ELF_BRANCH, 0 },
	{ "jrcxz", { 0xe3, 0 }, 2, ELF_STEP, 0 },
	{ "callw", { 0x66, 0xe8, 0, 0 }, 4, ELF_REFUSED, 0 },
	{ "jmp *mem", { 0xff, 0x25, 0, 0, 0, 0 }, 6, ELF_STEP, 0 },
	{ "int3", { 0xcc }, 1, ELF_REFUSED, 0 },
	{ "hlt", { 0xf4 }, 1, ELF_REFUSED, 0 },
	{ "lock inc", { 0xf0, 0xff, 0x07 }, 3, ELF_REFUSED, 0 },
	{ "only prefixes", { 0x66, 0x66, 0x66 }, 3, ELF_STEP, 0 },
};

/* Little-endian words, as on the wire. */
static const struct row arm64_rows[] = {
	{ "nothing", { 0 }, 0, ELF_UNKNOWN, 0 },
	{ "half a word", { 0x1f, 0x20 }, 2, ELF_UNKNOWN, 0 },
	{ "nop", { 0x1f, 0x20, 0x03, 0xd5 }, 4, ELF_NOP, 0 },
	{ "stp x29 x30", { 0xfd, 0x7b, 0xbf, 0xa9 }, 4, ELF_STEP, 0 },
	{ "sub sp", { 0xff, 0x83, 0x00, 0xd1 }, 4, ELF_STEP, 0 },
	{ "bti c, stp", { 0x5f, 0x24, 0x03, 0xd5, 0xfd, 0x7b, 0xbf, 0xa9 }, 8, ELF_STEP, 4 },
	{ "bti jc, nop", { 0xdf, 0x24, 0x03, 0xd5, 0x1f, 0x20, 0x03, 0xd5 }, 8, ELF_NOP, 4 },
	{ "bti c alone", { 0x5f, 0x24, 0x03, 0xd5 }, 4, ELF_STEP, 0 },
	{ "paciasp", { 0x3f, 0x23, 0x03, 0xd5, 0xfd, 0x7b, 0xbf, 0xa9 }, 8, ELF_STEP, 0 },
	{ "b", { 0x01, 0x00, 0x00, 0x14 }, 4, ELF_BRANCH, 0 },
	{ "cbz x0", { 0x40, 0x00, 0x00, 0xb4 }, 4, ELF_BRANCH, 0 },
	{ "adrp x0", { 0x00, 0x00, 0x00, 0x90 }, 4, ELF_BRANCH, 0 },
	{ "ret", { 0xc0, 0x03, 0x5f, 0xd6 }, 4, ELF_BRANCH, 0 },
	{ "ldr literal", { 0x40, 0x00, 0x00, 0x58 }, 4, ELF_REFUSED, 0 },
	{ "ldxr", { 0x01, 0x7c, 0x5f, 0xc8 }, 4, ELF_REFUSED, 0 },
	{ "ldr x0 [x0]", { 0x00, 0x00, 0x40, 0xf9 }, 4, ELF_STEP, 0 },
	{ "ldr s0 literal", { 0x40, 0x00, 0x00, 0x1c }, 4, ELF_REFUSED, 0 },
	{ "ldar", { 0x20, 0xfc, 0xdf, 0xc8 }, 4, ELF_STEP, 0 },
	{ "cas", { 0x41, 0x7c, 0xa0, 0xc8 }, 4, ELF_STEP, 0 },
	{ "cpyfp", { 0x40, 0x04, 0x01, 0x19 }, 4, ELF_REFUSED, 0 },
	{ "svc", { 0x01, 0x00, 0x00, 0xd4 }, 4, ELF_REFUSED, 0 },
	{ "brk", { 0x00, 0x00, 0x20, 0xd4 }, 4, ELF_REFUSED, 0 },
	{ "pacibsp", { 0x7f, 0x23, 0x03, 0xd5 }, 4, ELF_STEP, 0 },
	{ "autiasp", { 0xbf, 0x23, 0x03, 0xd5 }, 4, ELF_REFUSED, 0 },
	{ "yield", { 0x3f, 0x20, 0x03, 0xd5 }, 4, ELF_REFUSED, 0 },
	{ "paciasppc", { 0xfe, 0xa3, 0xc1, 0xda }, 4, ELF_REFUSED, 0 },
	{ "paciza x30", { 0xfe, 0x23, 0xc1, 0xda }, 4, ELF_STEP, 0 },
	{ "mrs x0, tpidr_el0", { 0x40, 0xd0, 0x3b, 0xd5 }, 4, ELF_STEP, 0 },
	{ "msr tpidr_el0, x0", { 0x40, 0xd0, 0x1b, 0xd5 }, 4, ELF_REFUSED, 0 },
	{ "msr daifset", { 0xdf, 0x42, 0x03, 0xd5 }, 4, ELF_REFUSED, 0 },
	{ "dmb ish", { 0xbf, 0x3b, 0x03, 0xd5 }, 4, ELF_STEP, 0 },
	{ "blr x8", { 0x00, 0x01, 0x3f, 0xd6 }, 4, ELF_BRANCH, 0 },
	{ "blraa x8, x9", { 0x09, 0x09, 0x3f, 0xd7 }, 4, ELF_REFUSED, 0 },
	{ "retaa", { 0xff, 0x0b, 0x5f, 0xd6 }, 4, ELF_REFUSED, 0 },
	{ "eret", { 0xe0, 0x03, 0x9f, 0xd6 }, 4, ELF_REFUSED, 0 },
	{ "tbz", { 0x40, 0x00, 0x00, 0x36 }, 4, ELF_BRANCH, 0 },
	{ "bti c, b", { 0x5f, 0x24, 0x03, 0xd5, 0x01, 0x00, 0x00, 0x14 }, 8, ELF_BRANCH, 4 },
};

struct jump {
	const char *what;
	uint8_t code[20];
	uint8_t len;
	int64_t by;
};

#define FRAME 0x55, 0x48, 0x89, 0xe5, 0x5d	/* push rbp, mov rbp rsp, pop rbp */
static const struct jump x86_jumps[] = {
	{ "nothing", { 0 }, 0, 0 },
	{ "jmp", { 0xe9, 0, 0, 0, 0 }, 5, 5 },
	{ "jmp back", { 0xe9, 0xf0, 0xff, 0xff, 0xff }, 5, -11 },
	{ "jmp cut off", { 0xe9, 0, 0, 0 }, 4, 0 },
	{ "jmp short", { 0xeb, 0x7f }, 2, 129 },
	{ "jmp short cut off", { 0xeb }, 1, 0 },
	{ "jmp *mem", { 0xff, 0x25, 0, 0, 0, 0 }, 6, 0 },
	{ "libcudart's", { FRAME, 0xe9, 0xc6, 0x19, 5, 0 }, 10, 0x519d0 },
	{ "frame, jmp short", { FRAME, 0xeb, 0xf0 }, 7, -9 },
	{ "frame, jmp cut off", { FRAME, 0xe9, 1, 1, 1 }, 9, 0 },
	{ "frame alone", { FRAME }, 5, 0 },
	{ "frame, call", { FRAME, 0xe8, 1, 0, 0, 0 }, 10, 0 },
	{ "push, pop, jmp", { 0x55, 0x5d, 0xe9, 1, 0, 0, 0 }, 7, 0 },
	{ "nop, jmp short", { 0x90, 0xeb, 0xf0 }, 3, 0 },
	{ "endbr64, frame, jmp", { 0xf3, 0x0f, 0x1e, 0xfa, FRAME, 0xe9, 2, 0, 0, 0 }, 14, 16 },
};

#define SUB_SP 0xff, 0x83, 0x00, 0xd1
#define ADD_SP 0xff, 0x83, 0x00, 0x91
#define MOVS 0xe4, 0x03, 0x04, 0x2a, 0xe2, 0x03, 0x02, 0xaa	/* mov w4 w4, mov x2 x2 */
static const struct jump arm64_jumps[] = {
	{ "nothing", { 0 }, 0, 0 },
	{ "b", { 0x01, 0x00, 0x00, 0x14 }, 4, 4 },
	{ "b back", { 0xff, 0xff, 0xff, 0x17 }, 4, -4 },
	{ "bl", { 0x01, 0x00, 0x00, 0x94 }, 4, 0 },
	{ "libcudart's", { SUB_SP, MOVS, ADD_SP, 0x5c, 0x1b, 0x01, 0x14 }, 20, 0x46d80 },
	{ "sub sp, b cut off", { SUB_SP, 0x01, 0x00, 0x00 }, 7, 0 },
	{ "sub sp, str, b", { SUB_SP, 0xe0, 0x07, 0x00, 0xf9, 0x01, 0x00, 0x00, 0x14 }, 12, 0 },
	{ "sub x0, b", { 0x00, 0x80, 0x00, 0xd1, 0x01, 0x00, 0x00, 0x14 }, 8, 0 },
	{ "ret, b", { 0xc0, 0x03, 0x5f, 0xd6, 0x01, 0x00, 0x00, 0x14 }, 8, 0 },
	{ "bti c, b", { 0x5f, 0x24, 0x03, 0xd5, 0x01, 0x00, 0x00, 0x14 }, 8, 8 },
};

typedef struct elf_start classify_fn(const uint8_t *code, size_t len);

/* The code is copied to the end of a block of its own size, so that ASan sees a read behind it. */
static struct elf_start start_of(classify_fn *classify, const uint8_t *bytes, size_t len)
{
	uint8_t *code = malloc(len ? len : 1);
	struct elf_start start;

	assert_non_null(code);
	for (size_t i = 0; i < len; i++)
		code[i] = bytes[i];
	start = classify(code, len);
	free(code);
	return start;
}

static void check_row(classify_fn *classify, const struct row *row)
{
	struct elf_start start = start_of(classify, row->code, row->len);

	if (start.opening != row->opening || start.skip != row->skip)
		fail_msg("%s: opening %d (not %d), skip %u (not %u)", row->what, (int)start.opening,
			 row->opening, start.skip, row->skip);
}

static void check_jump(classify_fn *classify, const struct jump *jump)
{
	struct elf_start start = start_of(classify, jump->code, jump->len);

	if (start.jump != jump->by)
		fail_msg("%s: by %" PRId64 " (not %" PRId64 ")", jump->what, start.jump, jump->by);
}

TEST(test_x86_openings)
{
	for (size_t i = 0; i < sizeof(x86_rows) / sizeof(x86_rows[0]); i++)
		check_row(elf_classify_x86, &x86_rows[i]);
}

TEST(test_arm64_openings)
{
	for (size_t i = 0; i < sizeof(arm64_rows) / sizeof(arm64_rows[0]); i++)
		check_row(elf_classify_arm64, &arm64_rows[i]);
}

TEST(functions_that_only_jump)
{
	for (size_t i = 0; i < sizeof(x86_jumps) / sizeof(x86_jumps[0]); i++)
		check_jump(elf_classify_x86, &x86_jumps[i]);
	for (size_t i = 0; i < sizeof(arm64_jumps) / sizeof(arm64_jumps[0]); i++)
		check_jump(elf_classify_arm64, &arm64_jumps[i]);
}

TEST(test_any_bytes_of_any_length_are_classified)
{
	unsigned int seed = 1;

	for (unsigned int i = 0; i < 200000; i++) {
		size_t len = i % 21;
		uint8_t *code = malloc(len ? len : 1);
		struct elf_start start;

		assert_non_null(code);
		for (size_t j = 0; j < len; j++)
			code[j] = (uint8_t)rand_r(&seed);
		start = elf_classify_x86(code, len);
		assert_in_range(start.opening, ELF_UNKNOWN, ELF_BRANCH);
		assert_true(start.skip == 0 || (start.skip == 4 && start.skip < len));
		start = elf_classify_arm64(code, len);
		assert_in_range(start.opening, ELF_UNKNOWN, ELF_BRANCH);
		assert_true(start.skip == 0 || (start.skip == 4 && start.skip < len));
		free(code);
	}
}
