// SPDX-License-Identifier: BSD-3-Clause
/*
 * Any bytes as unwind tables and stack: the input is registers, then one module's .eh_frame_hdr
 * (with .eh_frame behind it), mapped at TABLES, and, at its end, the stack. The walk must end
 * within its depth, read nothing that the reader refused, and say why it ended.
 */
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "stack/unwind.h"

#define CODE 0x10000u
#define TABLES 0x30000u

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct input {
	const uint8_t *data;
	size_t size;
};

static int read_input(void *ctx, uint64_t at, void *buf, size_t len)
{
	const struct input *in = ctx;

	if (at < TABLES || at - TABLES > in->size || len > in->size - (at - TABLES))
		return -EFAULT;
	memcpy(buf, in->data + (at - TABLES), len);
	return 0;
}

static void check(int holds)
{
	if (!holds)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct stack_step steps[STACK_DEPTH];
	const struct stack_module module = { .start = CODE, .end = CODE + 0x10000,
					     .eh_hdr = TABLES, .eh_hdr_len = size };
	struct input in = { data, size };
	struct stack_space space = { read_input, &in, &module, 1 };
	struct stack_regs regs = { .known = 0xffff };
	enum stack_end end = (enum stack_end)-1;
	uint16_t where[3] = { 0 };
	int n;

	if (size > sizeof(where))
		memcpy(where, data + size - sizeof(where), sizeof(where));
	for (unsigned int i = 0; i < STACK_REGS; i++)
		regs.reg[i] = TABLES + i * 8;
	regs.pc = CODE + where[0];
	regs.reg[stack_abi.sp] = TABLES + where[1];
	regs.reg[stack_abi.fp] = TABLES + where[2];
	n = stack_unwind(&space, &regs, steps, STACK_DEPTH, &end);
	check(n >= 1 && n <= (int)STACK_DEPTH);
	check(end == STACK_WHOLE || end == STACK_LOST || end == STACK_DEEP);
	check(end != STACK_DEEP || n == (int)STACK_DEPTH);
	for (int i = 1; i < n; i++)
		check(stack_find_module(&module, 1, steps[i].pc - !steps[i].exact) == &module);
	return 0;
}
