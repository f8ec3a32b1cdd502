// SPDX-License-Identifier: BSD-3-Clause
#include "stack/code.h"

#define CODE_SHIFT 12u		/* mappings are of whole pages */
#define ADDRESS_END (1ull << 47)	/* vsyscall and the like lie above */

static void set_bits(uint64_t *bits, uint64_t first, uint64_t last)
{
	for (uint64_t i = first; i <= last; i++)
		bits[i / 64] |= 1ull << i % 64;
}

/* All code is in two ranges: on either side of the widest gap. */
static void find_ranges(const struct stack_modules *ms, struct gp_code *code)
{
	uint64_t start[2] = { 0 }, end[2] = { 0 }, widest = 0, last = 0;

	for (size_t i = 0; i < ms->module.n && ms->module.v[i].end <= ADDRESS_END; i++) {
		const struct stack_module *m = &ms->module.v[i];

		if (!i)
			start[0] = m->start;
		if (i && m->start - last > widest) {
			widest = m->start - last;
			end[0] = last;
			start[1] = m->start;
		}
		end[widest ? 1 : 0] = last = m->end;
	}
	for (int i = 0; i < 2; i++) {
		code->start[i] = start[i];
		code->len[i] = end[i] - start[i];
		code->shift[i] = CODE_SHIFT;
		while (code->len[i] >> code->shift[i] >= GP_CODE_BITS)
			code->shift[i]++;
	}
}

void stack_describe_code(const struct stack_modules *ms, struct gp_code *code)
{
	find_ranges(ms, code);
	for (size_t i = 0; i < ms->module.n && ms->module.v[i].end <= ADDRESS_END; i++) {
		const struct stack_module *m = &ms->module.v[i];
		const int range = m->start - code->start[0] >= code->len[0];
		const uint64_t first = m->start - code->start[range], len = m->end - m->start;

		if (len)
			set_bits(code->bits[range], first >> code->shift[range],
				 (first + len - 1) >> code->shift[range]);
	}
}
