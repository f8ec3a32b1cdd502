// SPDX-License-Identifier: BSD-3-Clause
/*
 * Runs call frame instructions to the row of an address. Each instruction takes at least a byte,
 * so the length of an entry bounds the time.
 */
#include "stack/cfi_program.h"

#include <errno.h>

#define REMEMBER 16u		/* rows that remember_state can keep */

enum {				/* the two upper bits */
	CFA_ADVANCE = 1, CFA_OFFSET = 2, CFA_RESTORE = 3,
};

enum {				/* with these being 0 */
	CFA_NOP = 0, CFA_SET_LOC, CFA_ADVANCE1, CFA_ADVANCE2, CFA_ADVANCE4, CFA_OFFSET_EXTENDED,
	CFA_RESTORE_EXTENDED, CFA_UNDEFINED, CFA_SAME, CFA_REGISTER, CFA_REMEMBER,
	CFA_RESTORE_STATE, CFA_DEF_CFA, CFA_DEF_CFA_REGISTER, CFA_DEF_CFA_OFFSET,
	CFA_DEF_CFA_EXPRESSION, CFA_EXPRESSION, CFA_OFFSET_SF, CFA_DEF_CFA_SF,
	CFA_DEF_CFA_OFFSET_SF, CFA_VAL_OFFSET, CFA_VAL_OFFSET_SF, CFA_VAL_EXPRESSION,
	/* arm64: whether the return address is signed from here, and where that was done. */
	CFA_SET_RA_STATE = 0x2b, CFA_NEGATE_RA_STATE_WITH_PC, CFA_NEGATE_RA_STATE,
	CFA_GNU_ARGS_SIZE, CFA_GNU_NEGATIVE_OFFSET,
};

struct runner {
	const struct cfi_program *p;
	struct cursor c;
	struct cfi_row *row;
	struct cfi_row initial;		/* after the CIE's instructions */
	struct cfi_row kept[REMEMBER];
	unsigned int n_kept;
	uint64_t location;
	bool done;			/* location is beyond pc */
	bool bad;
};

static void set_column(struct runner *r, uint64_t number, uint8_t rule, int64_t value)
{
	/* Vector registers have numbers above ours and rules that nobody here asks for. */
	if (number < CFI_COLUMNS)
		r->row->column[number] = (struct cfi_place){ .rule = rule, .value = value };
}

static struct cfi_place take_block(struct runner *r, uint8_t rule)
{
	uint64_t len = cursor_uleb(&r->c);

	return (struct cfi_place){ .rule = rule, .value = (int64_t)len,
				   .expression = cursor_take(&r->c, len) };
}

static int64_t factored(const struct runner *r, int64_t value)
{
	return (int64_t)((uint64_t)value * (uint64_t)r->p->data_factor);
}

static void advance(struct runner *r, uint64_t units)
{
	r->location += units * r->p->code_factor;
	r->done = r->location > r->p->pc;
}

static void restore_column(struct runner *r, uint64_t number)
{
	if (number < CFI_COLUMNS)
		r->row->column[number] = r->initial.column[number];
}

static void set_cfa(struct runner *r, uint64_t number, int64_t value)
{
	r->bad |= number >= STACK_REGS;
	r->row->cfa_reg = (uint8_t)number;
	r->row->cfa = (struct cfi_place){ .rule = CFI_REGISTER, .value = value };
}

static void do_cfa(struct runner *r, uint8_t op)
{
	uint64_t number;

	switch (op) {
	case CFA_DEF_CFA:
		number = cursor_uleb(&r->c);
		set_cfa(r, number, (int64_t)cursor_uleb(&r->c));
		break;
	case CFA_DEF_CFA_SF:
		number = cursor_uleb(&r->c);
		set_cfa(r, number, factored(r, cursor_sleb(&r->c)));
		break;
	case CFA_DEF_CFA_REGISTER:
		r->bad |= r->row->cfa.rule != CFI_REGISTER;
		set_cfa(r, cursor_uleb(&r->c), r->row->cfa.value);
		break;
	case CFA_DEF_CFA_OFFSET:
		set_cfa(r, r->row->cfa_reg, (int64_t)cursor_uleb(&r->c));
		break;
	case CFA_DEF_CFA_OFFSET_SF:
		set_cfa(r, r->row->cfa_reg, factored(r, cursor_sleb(&r->c)));
		break;
	default:
		r->row->cfa = take_block(r, CFI_VAL_EXPRESSION);
	}
}

static void do_location(struct runner *r, uint8_t op)
{
	if (op == CFA_SET_LOC) {
		r->location = cursor_pointer(&r->c, r->p->encoding & 0x7f, 0);
		r->done = r->location > r->p->pc;
	} else {
		advance(r, cursor_unsigned(&r->c, 1u << (op - CFA_ADVANCE1)));
	}
}

static void do_state(struct runner *r, uint8_t op)
{
	if (op == CFA_REMEMBER && r->n_kept < REMEMBER)
		r->kept[r->n_kept++] = *r->row;
	else if (op == CFA_RESTORE_STATE && r->n_kept)
		*r->row = r->kept[--r->n_kept];
	else
		r->bad = true;
}

static void do_column(struct runner *r, uint8_t op)
{
	uint64_t number = cursor_uleb(&r->c);

	switch (op) {
	case CFA_OFFSET_EXTENDED:
		set_column(r, number, CFI_OFFSET, factored(r, (int64_t)cursor_uleb(&r->c)));
		break;
	case CFA_OFFSET_SF:
		set_column(r, number, CFI_OFFSET, factored(r, cursor_sleb(&r->c)));
		break;
	case CFA_GNU_NEGATIVE_OFFSET:
		set_column(r, number, CFI_OFFSET,
			   factored(r, (int64_t)(0 - cursor_uleb(&r->c))));
		break;
	case CFA_VAL_OFFSET:
		set_column(r, number, CFI_VAL_OFFSET, factored(r, (int64_t)cursor_uleb(&r->c)));
		break;
	case CFA_VAL_OFFSET_SF:
		set_column(r, number, CFI_VAL_OFFSET, factored(r, cursor_sleb(&r->c)));
		break;
	case CFA_REGISTER:
		set_column(r, number, CFI_REGISTER, (int64_t)cursor_uleb(&r->c));
		break;
	case CFA_RESTORE_EXTENDED:
		restore_column(r, number);
		break;
	default:
		set_column(r, number, op == CFA_UNDEFINED ? CFI_UNDEFINED : CFI_SAME, 0);
	}
}

static void do_expression(struct runner *r, uint8_t op)
{
	uint64_t number = cursor_uleb(&r->c);
	struct cfi_place place = take_block(r, op == CFA_EXPRESSION ? CFI_EXPRESSION :
								      CFI_VAL_EXPRESSION);

	if (number < CFI_COLUMNS)
		r->row->column[number] = place;
}

static void do_signing(struct runner *r, uint8_t op)
{
	if (op != CFA_SET_RA_STATE) {
		r->row->ra_signed = !r->row->ra_signed;
		return;
	}
	r->row->ra_signed = cursor_uleb(&r->c) != 0;
	cursor_sleb(&r->c);		/* from where on: the code itself tells that by its place */
}

static void do_extended(struct runner *r, uint8_t op)
{
	switch (op) {
	case CFA_NOP:
		break;
	case CFA_SET_LOC: case CFA_ADVANCE1: case CFA_ADVANCE2: case CFA_ADVANCE4:
		do_location(r, op);
		break;
	case CFA_REMEMBER: case CFA_RESTORE_STATE:
		do_state(r, op);
		break;
	case CFA_DEF_CFA: case CFA_DEF_CFA_SF: case CFA_DEF_CFA_REGISTER: case CFA_DEF_CFA_OFFSET:
	case CFA_DEF_CFA_OFFSET_SF: case CFA_DEF_CFA_EXPRESSION:
		do_cfa(r, op);
		break;
	case CFA_EXPRESSION: case CFA_VAL_EXPRESSION:
		do_expression(r, op);
		break;
	case CFA_SET_RA_STATE: case CFA_NEGATE_RA_STATE_WITH_PC: case CFA_NEGATE_RA_STATE:
		do_signing(r, op);
		break;
	case CFA_GNU_ARGS_SIZE:
		cursor_uleb(&r->c);
		break;
	default:
		if (op > CFA_GNU_NEGATIVE_OFFSET || (op > CFA_VAL_EXPRESSION && op < CFA_SET_RA_STATE))
			r->bad = true;
		else
			do_column(r, op);
	}
}

static void run(struct runner *r)
{
	while (r->c.at < r->c.end && !r->done && !r->bad && !r->c.bad) {
		uint8_t byte = (uint8_t)cursor_unsigned(&r->c, 1), low = byte & 0x3f;

		switch (byte >> 6) {
		case CFA_ADVANCE:
			advance(r, low);
			break;
		case CFA_OFFSET:
			set_column(r, low, CFI_OFFSET,
				   factored(r, (int64_t)cursor_uleb(&r->c)));
			break;
		case CFA_RESTORE:
			restore_column(r, low);
			break;
		default:
			do_extended(r, low);
		}
	}
}

int cfi_run(const struct cfi_program *p, struct cfi_row *row)
{
	/* Before the CIE says otherwise there is no CFA. */
	struct runner r = { .p = p, .c = p->common, .row = row, .location = p->begin };

	*row = (struct cfi_row){ .cfa = { .rule = CFI_UNDEFINED } };
	run(&r);
	if (r.done || r.bad || r.c.bad)		/* a CIE does not move */
		return -EBADMSG;
	r.initial = *row;
	r.c = p->own;
	run(&r);
	return r.bad || r.c.bad || row->cfa.rule == CFI_UNDEFINED ? -EBADMSG : 0;
}
