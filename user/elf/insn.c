// SPDX-License-Identifier: BSD-3-Clause
/*
 * The cost of a probe on a function's first instruction, from its bytes alone: the kernel
 * emulates a few instructions, single-steps most, and refuses some, which fails a whole multi
 * link. And whether the function is but a jump to another one, as CUDA's __cudaLaunchKernel is.
 * It is not a disassembler: unknown instructions are steps, and no jumps.
 */
#include "elf/file.h"

#include <string.h>

#define MAX_PREFIXES 14u	/* an instruction has at most 15 bytes */
#define PREFIX_OPERAND 0x66
#define REX_B 0x01

struct x86 {			/* prefixes apart, as the kernel's decoder sees them */
	const uint8_t *opcode;
	size_t left;		/* bytes from opcode on, 0: not all there */
	uint8_t rex;
	bool operand_prefix;
	bool bad_prefix;	/* lock and segment prefixes are refused */
};

/*
 * One bit for each one-byte opcode the kernel refuses in 64-bit code: port I/O, interrupts, hlt,
 * cli, sti and invalid ones. Row r holds opcodes 16 r to 16 r + 15.
 */
static const uint16_t refused[16] = {
	[0x0] = 0x40c0,			/* 06 07 0e */
	[0x1] = 0xc0c0,			/* 16 17 1e 1f */
	[0x2] = 0x8080,			/* 27 2f */
	[0x3] = 0x8080,			/* 37 3f */
	[0x6] = 0xf007,			/* 60-62 6c-6f */
	[0x8] = 0x0004,			/* 82 */
	[0x9] = 0x0400,			/* 9a */
	[0xc] = 0xf030,			/* c4 c5 cc-cf */
	[0xd] = 0x0070,			/* d4-d6 */
	[0xe] = 0xf4f0,			/* e4-e7 ea ec-ef */
	[0xf] = 0x0c12,			/* f1 f4 fa fb */
};

/* The multi-byte nops that kernels from 6.16 on emulate; the one with a cs prefix is refused. */
static const struct nop {
	uint8_t len;
	uint8_t code[8];
} long_nops[] = {
	{ 3, { 0x0f, 0x1f, 0x00 } },
	{ 4, { 0x0f, 0x1f, 0x40 } },
	{ 5, { 0x0f, 0x1f, 0x44 } },
	{ 6, { 0x66, 0x0f, 0x1f, 0x44 } },
	{ 7, { 0x0f, 0x1f, 0x80 } },
	{ 8, { 0x0f, 0x1f, 0x84 } },
};

static bool is_long_nop(const uint8_t *code, size_t len)
{
	for (size_t i = 0; i < sizeof(long_nops) / sizeof(long_nops[0]); i++)
		if (len >= long_nops[i].len && !memcmp(code, long_nops[i].code, long_nops[i].len))
			return true;
	return false;
}

static struct x86 x86_split(const uint8_t *code, size_t len)
{
	struct x86 x = { 0 };
	size_t i = 0;

	for (; i < len && i < MAX_PREFIXES; i++) {
		const uint8_t byte = code[i];

		if (byte == 0x26 || byte == 0x2e || byte == 0x36 || byte == 0x3e || byte == 0xf0)
			x.bad_prefix = true;
		else if ((byte < 0x64 || byte > 0x67) && byte != 0xf2 && byte != 0xf3)
			break;
		x.operand_prefix |= byte == PREFIX_OPERAND;
	}
	if (i < len && (code[i] & 0xf0) == 0x40)
		x.rex = code[i++];
	x.opcode = code + i;
	x.left = len - i;
	return x;
}

static bool is_branch(const struct x86 *x)
{
	uint8_t op = x->opcode[0];

	if (op == 0x0f)
		return x->left > 1 && (x->opcode[1] & 0xf0) == 0x80;
	return (op & 0xf0) == 0x70 || op == 0xe8 || op == 0xe9 || op == 0xeb;
}

static enum elf_opening x86_instruction(const uint8_t *code, size_t len)
{
	struct x86 x = x86_split(code, len);

	if (!x.left)
		return len ? ELF_STEP : ELF_UNKNOWN;
	if (is_long_nop(code, len))
		return ELF_NOP;
	if (x.bad_prefix || refused[*x.opcode >> 4] >> (*x.opcode & 15) & 1)
		return ELF_REFUSED;
	/* Only a push without prefix, or with REX.B alone, is emulated. */
	if ((*x.opcode & 0xf8) == 0x50)
		return x.opcode == code || (x.opcode == code + 1 && x.rex == 0x41) ? ELF_PUSH
										   : ELF_STEP;
	/* With REX.B this is xchg with r8, which the kernel would take for a nop. */
	if (*x.opcode == 0x90)
		return x.rex & REX_B ? ELF_REFUSED : ELF_NOP;
	if (is_branch(&x))
		return x.operand_prefix ? ELF_REFUSED : ELF_BRANCH;
	return ELF_STEP;
}

/* jmp, or a frame made and left and then that. at: where the code begins. */
static int64_t x86_jump(const uint8_t *code, size_t len, size_t at)
{
	static const uint8_t frame[] = { 0x55, 0x48, 0x89, 0xe5, 0x5d };
	int32_t far;

	if (len - at > sizeof(frame) && !memcmp(code + at, frame, sizeof(frame)))
		at += sizeof(frame);
	if (len - at >= 2 && code[at] == 0xeb)
		return (int64_t)at + 2 + (int8_t)code[at + 1];
	if (len - at < 1 + sizeof(far) || code[at] != 0xe9)
		return 0;
	memcpy(&far, code + at + 1, sizeof(far));
	return (int64_t)(at + 1 + sizeof(far)) + far;
}

struct elf_start elf_classify_x86(const uint8_t *code, size_t len)
{
	static const uint8_t endbr64[4] = { 0xf3, 0x0f, 0x1e, 0xfa };
	struct elf_start start = { 0 };

	if (len > sizeof(endbr64) && !memcmp(code, endbr64, sizeof(endbr64)))
		start.skip = sizeof(endbr64);
	start.opening = x86_instruction(code + start.skip, len - start.skip);
	start.jump = x86_jump(code, len, start.skip);
	return start;
}

/*
 * arm64 simulates branches, pc-relative addresses and (from 6.13 on) nop; it steps what else can
 * run at another address and by itself. paciasp is a landing pad like bti, but must not be skipped:
 * behind it lr is signed, and a return probe would replace it with an unsigned one. The first row
 * that matches holds.
 */
static const struct arm64_row {
	uint32_t mask;
	uint32_t value;
	uint8_t opening;
} arm64_rows[] = {
	{ 0xffffffff, 0xd503201f, ELF_NOP },
	{ 0xffffff3f, 0xd503241f, ELF_STEP },		/* bti */
	{ 0xffffff9f, 0xd503231f, ELF_STEP },		/* paciasp, pacibsp, paciaz, pacibz */
	{ 0xffffffbf, 0xd503211f, ELF_STEP },		/* pacia1716, pacib1716 */
	{ 0xffffffff, 0xd50320ff, ELF_STEP },		/* xpaclri */
	{ 0xfffff01f, 0xd503201f, ELF_REFUSED },	/* other hints: yield, wfe, autiasp, ... */
	{ 0xffffdbff, 0xdac183fe, ELF_REFUSED },	/* paciasppc, ...: sign their own address */
	{ 0xff000000, 0x54000000, ELF_BRANCH },		/* b.cond */
	{ 0x7c000000, 0x14000000, ELF_BRANCH },		/* b, bl */
	{ 0x7c000000, 0x34000000, ELF_BRANCH },		/* cbz, cbnz, tbz, tbnz */
	{ 0xff9ffc1f, 0xd61f0000, ELF_BRANCH },		/* br, blr, ret */
	{ 0xfe000000, 0xd6000000, ELF_REFUSED },	/* eret, retaa, braa, ... */
	{ 0x1f000000, 0x10000000, ELF_BRANCH },		/* adr, adrp */
	{ 0x3b000000, 0x18000000, ELF_REFUSED },	/* literal loads, prefetch */
	{ 0x3f800000, 0x08000000, ELF_REFUSED },	/* exclusive loads and stores */
	{ 0x3b200c00, 0x19000400, ELF_REFUSED },	/* cpyp, setp, ...: only in threes */
	{ 0xff000000, 0xd4000000, ELF_REFUSED },	/* svc, brk, hlt */
	{ 0xfff00000, 0xd5100000, ELF_REFUSED },	/* msr */
	{ 0xfff8f01f, 0xd500401f, ELF_REFUSED },	/* msr of an immediate */
};

static enum elf_opening arm64_instruction(uint32_t insn)
{
	for (size_t i = 0; i < sizeof(arm64_rows) / sizeof(arm64_rows[0]); i++)
		if ((insn & arm64_rows[i].mask) == arm64_rows[i].value)
			return (enum elf_opening)arm64_rows[i].opening;
	return ELF_STEP;
}

/* b, behind nothing but a stack pointer moved, and registers copied: add, sub, mov. */
static int64_t arm64_jump(const uint8_t *code, size_t len, size_t at)
{
	for (uint32_t insn; len - at >= sizeof(insn); at += sizeof(insn)) {
		memcpy(&insn, code + at, sizeof(insn));
		if ((insn & 0xfc000000) == 0x14000000)
			return (int64_t)at + (int32_t)(insn << 6) / 16;
		if ((insn & 0xbf8003ff) != 0x910003ff && (insn & 0x7fe0ffe0) != 0x2a0003e0)
			return 0;
	}
	return 0;
}

struct elf_start elf_classify_arm64(const uint8_t *code, size_t len)
{
	struct elf_start start = { 0 };
	uint32_t insn;

	if (len < sizeof(insn))
		return start;
	memcpy(&insn, code, sizeof(insn));
	/* bti, bti c, bti j, bti jc */
	if ((insn & 0xffffff3f) == 0xd503241f && len >= 2 * sizeof(insn)) {
		start.skip = sizeof(insn);
		memcpy(&insn, code + start.skip, sizeof(insn));
	}
	start.opening = arm64_instruction(insn);
	start.jump = arm64_jump(code, len, start.skip);
	return start;
}
