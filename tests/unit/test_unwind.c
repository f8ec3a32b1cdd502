// SPDX-License-Identifier: BSD-3-Clause
/* The unwinder over made-up memory: each kind of rule, and every way a stack can lie. */
#include <stdlib.h>

#include "fake_space.h"
#include "lib/test.h"

/* Numbers of the stack pointer (SP), frame pointer (FP) and return address (RA), as bytes. */
#if defined(__x86_64__)
#define SP "\x07"
#define BREG_SP "\x77"
#define FP "\x06"
#define OFFSET_FP "\x86"
#define RA "\x10"
#define OFFSET_RA "\x90"
#else
#define SP "\x1f"
#define BREG_SP "\x8f"
#define FP "\x1d"
#define OFFSET_FP "\x9d"
#define RA "\x1e"
#define OFFSET_RA "\x9e"
#endif

#define CFA_SP_8 "\x0c" SP "\x08"	/* CFA = sp + 8 */
#define RA_AT_CFA_8 OFFSET_RA "\x01"	/* return address at CFA - 8 */
#define ENTRY CFA_SP_8 RA_AT_CFA_8

static struct stack_regs at(uint64_t pc, uint64_t sp, uint64_t fp)
{
	struct stack_regs regs = { .pc = pc, .known = ~0u };

	regs.reg[stack_abi.sp] = sp;
	regs.reg[stack_abi.fp] = fp;
	return regs;
}

static struct fake f;

static int unwind(struct stack_regs regs, size_t max)
{
	return stack_unwind(&f.space, &regs, f.steps, max, &f.end);
}

TEST(a_return_address_lies_under_the_cfa)
{
	FAKE(&f, "zR", ENTRY, "");
	f.stack[0] = CODE + 0x200;
	f.stack[1] = CODE + 0x300;
	f.stack[2] = 0;
	assert_int_equal(unwind(at(CODE + 0x100, STACK, 0), STACK_DEPTH), 3);
	assert_int_equal(f.steps[1].pc, CODE + 0x200);
	assert_int_equal(f.steps[2].pc, CODE + 0x300);
	assert_true(f.steps[0].exact && !f.steps[1].exact);
	assert_false(f.steps[2].guessed);
	assert_int_equal(f.end, STACK_WHOLE);
}

/* At CODE+1 the frame pointer was pushed, at CODE+4 it became the base: what is right depends on pc. */
TEST(the_row_of_the_address_holds)
{
	static const char fde[] = "\x41\x0e\x10" OFFSET_FP "\x02\x43\x0d" FP;

	FAKE(&f, "zR", ENTRY, fde);
	f.stack[0] = CODE + 0x200;
	assert_int_equal(unwind(at(CODE, STACK, 0), 2), 2);
	assert_int_equal(f.steps[1].pc, CODE + 0x200);
	f.stack[0] = 1;
	f.stack[1] = CODE + 0x201;
	assert_int_equal(unwind(at(CODE + 1, STACK, 0), 2), 2);
	assert_int_equal(f.steps[1].pc, CODE + 0x201);
	f.stack[21] = CODE + 0x202;
	assert_int_equal(unwind(at(CODE + 4, STACK, STACK + 160), 2), 2);
	assert_int_equal(f.steps[1].pc, CODE + 0x202);
}

#if defined(__x86_64__)
/* rsp + 8 + ((rip & 15) >= 11) * 8, which is how x86-64's linkers describe a PLT. */
TEST(plt_entries_have_a_cfa_by_expression)
{
	static const char fde[] = "\x0f\x0b\x77\x08\x80\x00\x3f\x1a\x3b\x2a\x33\x24\x22";

	FAKE(&f, "zR", ENTRY, fde);
	f.stack[0] = CODE + 0x500;
	f.stack[1] = CODE + 0x600;
	assert_int_equal(unwind(at(CODE + 0x20, STACK, 0), 2), 2);
	assert_int_equal(f.steps[1].pc, CODE + 0x500);
	assert_int_equal(unwind(at(CODE + 0x2b, STACK, 0), 2), 2);
	assert_int_equal(f.steps[1].pc, CODE + 0x600);
}
#endif

TEST(an_undefined_return_address_ends_the_stack)
{
	FAKE(&f, "zR", CFA_SP_8, "\x07" RA);
	assert_int_equal(unwind(at(CODE + 0x100, STACK, 0), STACK_DEPTH), 1);
	assert_int_equal(f.end, STACK_WHOLE);
}

/* Its registers lie where expressions say, and its caller was interrupted, not calling. */
TEST(a_signal_frame_gives_exact_registers)
{
	static const char fde[] = "\x0f\x03" BREG_SP "\x20\x06"	/* CFA: what is at sp + 32 */
				  "\x10" SP "\x02" BREG_SP "\x20"
				  "\x10" RA "\x02" BREG_SP "\x28";

	FAKE(&f, "zRS", "", fde);
	f.stack[4] = STACK + 800;
	f.stack[5] = CODE;		/* the first instruction: one less is outside */
	assert_int_equal(unwind(at(CODE + 0x10, STACK, 0), 2), 2);
	assert_int_equal(f.steps[1].pc, CODE);
	assert_true(f.steps[0].signal);
	assert_true(f.steps[1].exact);
}

#if defined(__aarch64__)
TEST(a_signed_return_address_is_an_address)
{
	static const char *const signs[] = { "\x2d", "\x2c", "\x2b\x02\x00" };

	for (size_t i = 0; i < sizeof(signs) / sizeof(signs[0]); i++) {
		fake_make(&f, "zR", ENTRY, sizeof(ENTRY) - 1, signs[i], i < 2 ? 1 : 3);
		f.stack[0] = (CODE + 0x200) | 0x2b5aull << 48;
		assert_int_equal(unwind(at(CODE + 0x100, STACK, 0), 2), 2);
		assert_int_equal(f.steps[1].pc, CODE + 0x200);
	}
	FAKE(&f, "zR", ENTRY, "\x2d\x2d");	/* signed, and no more */
	f.stack[0] = (CODE + 0x200) | 0x2b5aull << 48;
	assert_int_equal(unwind(at(CODE + 0x100, STACK, 0), 2), 1);
	assert_int_equal(f.end, STACK_LOST);
}

/* No table, but the instructions that every kernel has there; sp is at what it saved. */
TEST(a_handler_returns_to_known_instructions)
{
	uint64_t *saved;

	FAKE(&f, "zR", ENTRY, "");
	memcpy(f.stack, stack_abi.trampoline->code, sizeof(stack_abi.trampoline->code));
	saved = &f.stack[8 + stack_abi.trampoline->regs / 8];
	saved[30] = CODE + 0x400;	/* not the caller: it may not have been saved yet */
	saved[31] = STACK + 2048;
	saved[32] = CODE;		/* the first instruction: one less is outside */
	f.stack[256] = CODE + 0x200;
	assert_int_equal(unwind(at(STACK, STACK + 64, 0), 3), 3);
	assert_true(f.steps[0].signal && !f.steps[1].signal);
	assert_true(f.steps[1].exact);
	assert_int_equal(f.steps[1].pc, CODE);
	assert_int_equal(f.steps[2].pc, CODE + 0x200);
	f.stack[0]++;
	assert_int_equal(unwind(at(STACK, STACK + 64, 0), 3), 1);
}
#endif

TEST(tables_without_an_index_are_read_through)
{
	FAKE(&f, "zR", ENTRY, "");
	f.tables[2] = f.tables[3] = 0xff;
	f.stack[0] = CODE + 0x200;
	assert_int_equal(unwind(at(CODE + 0x100, STACK, 0), 2), 2);
	assert_int_equal(f.steps[1].pc, CODE + 0x200);
	assert_false(f.steps[1].guessed);
}

TEST(frame_pointers_lead_on_where_there_are_no_tables)
{
	FAKE(&f, "zR", ENTRY, "");
	f.module.eh_hdr = 0;
	f.stack[10] = STACK + 160;
	f.stack[11] = CODE + 0x200;
	f.stack[20] = 0;
	f.stack[21] = 0;
	assert_int_equal(unwind(at(CODE, STACK, STACK + 80), STACK_DEPTH), 2);
	assert_int_equal(f.steps[1].pc, CODE + 0x200);
	assert_true(f.steps[1].guessed);
	assert_int_equal(f.end, STACK_WHOLE);
}

/* Only on x86-64 is the caller's sp known, by which its table begins. */
TEST(tables_go_on_behind_frame_pointers)
{
	struct stack_module modules[2];

	FAKE(&f, "zR", ENTRY, "");
	modules[0] = modules[1] = f.module;
	modules[0].end = modules[1].start = CODE + 0x1000;
	modules[0].eh_hdr = 0;
	f.space.modules = modules;
	f.space.n_modules = 2;
	f.stack[10] = STACK + 160;
	f.stack[11] = CODE + 0x2000;
	f.stack[12] = stack_abi.record_on_top ? CODE + 0x3000 : CODE + 0x666;
	f.stack[21] = stack_abi.record_on_top ? CODE + 0x666 : CODE + 0x3000;
	assert_int_equal(unwind(at(CODE, STACK, STACK + 80), 3), 3);
	assert_int_equal(f.steps[1].pc, CODE + 0x2000);
	assert_int_equal(f.steps[2].pc, CODE + 0x3000);
	assert_true(f.steps[1].guessed);
	assert_int_equal(f.steps[2].guessed, !stack_abi.record_on_top);
}

TEST(no_frame_pointer_is_believed_that_leads_out_of_code)
{
	FAKE(&f, "zR", ENTRY, "");
	f.module.eh_hdr = 0;
	f.stack[11] = 0x123456;
	assert_int_equal(unwind(at(CODE, STACK, STACK + 80), STACK_DEPTH), 1);
	assert_int_equal(unwind(at(CODE, STACK + 88, STACK + 80), STACK_DEPTH), 1);
	assert_int_equal(unwind(at(CODE, STACK, STACK + 81), STACK_DEPTH), 1);
	assert_int_equal(f.end, STACK_LOST);
}

TEST(a_frame_pointer_to_itself_does_not_loop)
{
	FAKE(&f, "zR", ENTRY, "");
	f.module.eh_hdr = 0;
	f.stack[10] = STACK + 80;
	f.stack[11] = CODE + 0x200;
	assert_int_equal(unwind(at(CODE, STACK, STACK + 80), STACK_DEPTH), 2);
	assert_int_equal(f.end, STACK_LOST);
}

/* CFA = sp: every frame is its own caller. */
TEST(a_frame_that_takes_no_stack_does_not_loop)
{
	FAKE(&f, "zR", "\x0c" SP "\x00", OFFSET_RA "\x00");
	f.stack[0] = CODE + 0x100;
	assert_in_range(unwind(at(CODE + 0x100, STACK, 0), STACK_DEPTH), 1, 2);
	assert_int_equal(f.end, STACK_LOST);
}

/* A signal frame may lead anywhere, also back. */
TEST(signal_frames_that_return_to_themselves_end_at_the_limit)
{
	static const char fde[] = "\x0f\x02" BREG_SP "\x20\x10" SP "\x02" BREG_SP "\x20"
				  "\x10" RA "\x02" BREG_SP "\x28";

	FAKE(&f, "zRS", "", fde);
	f.stack[4] = STACK;
	f.stack[5] = CODE + 0x10;
	assert_int_equal(unwind(at(CODE + 0x10, STACK, 0), STACK_DEPTH), STACK_DEPTH);
	assert_int_equal(f.end, STACK_DEEP);
}

TEST(a_recursion_ends_at_the_limit)
{
	FAKE(&f, "zR", ENTRY, "");
	for (size_t i = 0; i < WORDS; i++)
		f.stack[i] = CODE + 0x200;
	assert_int_equal(unwind(at(CODE, STACK, 0), STACK_DEPTH), STACK_DEPTH);
	assert_int_equal(f.end, STACK_DEEP);
}

TEST(the_end_of_readable_memory_ends_the_stack)
{
	FAKE(&f, "zR", ENTRY, "");
	f.stack[WORDS - 1] = CODE + 0x200;
	assert_int_equal(unwind(at(CODE, STACK + (WORDS - 1) * 8, 0), STACK_DEPTH), 2);
	assert_int_equal(f.end, STACK_LOST);
}

TEST(expressions_are_bounded)
{
	static const char *const bad[] = {
		"\x0f\x03\x2f\xfd\xff",		/* skips back to itself, for ever */
		"\x0f\x01\x22",			/* adds what is not there */
		"\x0f\x01\x1b",			/* divides nothing */
		"\x0f\x04\x31\x30\x1b\x96",	/* divides by zero */
		"\x0f\x03\x30\x06\x96",		/* reads address 0 */
		"\x0f\x03\x2f\x7f\x7f",		/* skips beyond the end */
		"\x0f\x7f\x30",			/* is longer than its entry */
	};

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		fake_make(&f, "zR", ENTRY, sizeof(ENTRY) - 1, bad[i], bad[i][1] + 2u > 8 ? 3 :
			  bad[i][1] + 2u);
		f.stack[0] = CODE + 0x200;
		assert_int_equal(unwind(at(CODE, STACK, 0), STACK_DEPTH), 1);
	}
}

/* With any byte of the tables changed the unwinder ends, whatever it makes of them. */
TEST(damaged_tables_do_no_harm)
{
	static const char fde[] = "\x41\x0e\x10" OFFSET_FP "\x02\x43\x0d" FP "\x0a\x0b";
	struct fake good;

	FAKE(&f, "zR", ENTRY, fde);
	for (size_t i = 0; i < WORDS; i++)
		f.stack[i] = i & 1 ? CODE + 0x200 : STACK + i * 8;
	good = f;
	for (size_t i = 0; i < 160; i++) {
		for (unsigned int bit = 0; bit < 8; bit++) {
			f = good;
			f.tables[i] ^= (uint8_t)(1u << bit);
			assert_in_range(unwind(at(CODE + 9, STACK, STACK), STACK_DEPTH),
					1, STACK_DEPTH);
		}
	}
}

TEST(modules_are_found_by_any_address_in_them)
{
	const struct stack_module m[] = { { .start = 16, .end = 32 }, { .start = 32, .end = 40 },
					  { .start = 48, .end = 64 } };

	assert_null(stack_find_module(m, 3, 0));
	assert_null(stack_find_module(m, 3, 15));
	assert_ptr_equal(stack_find_module(m, 3, 16), &m[0]);
	assert_ptr_equal(stack_find_module(m, 3, 31), &m[0]);
	assert_ptr_equal(stack_find_module(m, 3, 32), &m[1]);
	assert_null(stack_find_module(m, 3, 40));
	assert_ptr_equal(stack_find_module(m, 3, 63), &m[2]);
	assert_null(stack_find_module(m, 3, 64));
	assert_null(stack_find_module(m, 3, UINT64_MAX));
}
