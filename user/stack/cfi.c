// SPDX-License-Identifier: BSD-3-Clause
/*
 * From an address to its FDE: by the sorted table of .eh_frame_hdr, or, without one, through
 * .eh_frame from its beginning. Then the CIE, then both programs.
 */
#include "stack/cfi.h"

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "stack/unwind.h"

struct cursor {
	const uint8_t *start, *at, *end;
	uint64_t address;	/* of start, in the memory of the target */
	bool bad;
};

enum { PE_ABSPTR = 0, PE_ULEB = 1, PE_U2 = 2, PE_U4 = 3, PE_U8 = 4, PE_SLEB = 9, PE_S2 = 10,
       PE_S4 = 11, PE_S8 = 12, PE_PCREL = 0x10, PE_DATAREL = 0x30, PE_INDIRECT = 0x80,
       PE_OMIT = 0xff };

static inline uint64_t cursor_address(const struct cursor *c)
{
	return c->address + (uint64_t)(c->at - c->start);
}

static inline const uint8_t *cursor_take(struct cursor *c, uint64_t n)
{
	const uint8_t *at = c->at;

	if (c->bad || n > (uint64_t)(c->end - c->at)) {
		c->bad = true;
		c->at = c->end;
		return NULL;
	}
	c->at += n;
	return at;
}

/* Little-endian, as both machines are; n <= 8. */
static inline uint64_t cursor_unsigned(struct cursor *c, unsigned int n)
{
	const uint8_t *at = cursor_take(c, n);
	uint64_t value = 0;

	if (at)
		memcpy(&value, at, n);
	return value;
}

static inline int64_t cursor_signed(struct cursor *c, unsigned int n)
{
	unsigned int shift = 64 - 8 * n;

	return (int64_t)(cursor_unsigned(c, n) << shift) >> shift;
}

/* *shift: the bits read; *last: the byte that ended it. */
static uint64_t cursor_leb(struct cursor *c, unsigned int *shift, uint8_t *last)
{
	uint64_t value = 0;

	*shift = 0;
	do {
		*last = (uint8_t)cursor_unsigned(c, 1);
		if (*shift < 64)
			value |= (uint64_t)(*last & 0x7f) << *shift;
		*shift += 7;
	} while (*last & 0x80 && !c->bad);
	return value;
}

static uint64_t cursor_uleb(struct cursor *c)
{
	unsigned int shift;
	uint8_t last;

	return cursor_leb(c, &shift, &last);
}

static int64_t cursor_sleb(struct cursor *c)
{
	unsigned int shift;
	uint8_t last;
	uint64_t value = cursor_leb(c, &shift, &last);

	if (shift < 64 && last & 0x40)
		value |= ~0ull << shift;
	return (int64_t)value;
}

/* A DW_EH_PE pointer, not dereferenced if it is indirect. data: the base of datarel. */
static inline uint64_t cursor_pointer(struct cursor *c, uint8_t encoding, uint64_t data)
{
	uint64_t here = cursor_address(c), value;

	switch (encoding & 0x0f) {
	case PE_ABSPTR: case PE_U8: case PE_S8: value = cursor_unsigned(c, 8); break;
	case PE_ULEB: value = cursor_uleb(c); break;
	case PE_U2: value = cursor_unsigned(c, 2); break;
	case PE_U4: value = cursor_unsigned(c, 4); break;
	case PE_SLEB: value = (uint64_t)cursor_sleb(c); break;
	case PE_S2: value = (uint64_t)cursor_signed(c, 2); break;
	case PE_S4: value = (uint64_t)cursor_signed(c, 4); break;
	default: c->bad = true; return 0;
	}
	switch (encoding & 0x70) {
	case 0: return value;
	case PE_PCREL: return here + value;
	case PE_DATAREL: return data + value;
	default: c->bad = true; return 0;
	}
}

/* ---- expression ---------------------------------------------------------------------------- */

/*
 * A small stack machine. PLT entries and signal frames are described with it; stack and steps
 * are bounded against hostile files.
 */

#define DEPTH 64u
#define STEPS 1024u

enum {
	OP_ADDR = 0x03, OP_DEREF = 0x06, OP_CONST1U = 0x08, OP_CONSTU = 0x10, OP_CONSTS = 0x11,
	OP_DUP = 0x12, OP_DROP, OP_OVER, OP_PICK, OP_SWAP, OP_ROT,
	OP_ABS = 0x19, OP_AND, OP_DIV, OP_MINUS, OP_MOD, OP_MUL, OP_NEG, OP_NOT, OP_OR, OP_PLUS,
	OP_PLUS_UCONST, OP_SHL, OP_SHR, OP_SHRA, OP_XOR, OP_BRA, OP_EQ, OP_GE, OP_GT, OP_LE,
	OP_LT, OP_NE, OP_SKIP, OP_LIT0 = 0x30, OP_LIT31 = 0x4f, OP_BREG0 = 0x70, OP_BREG31 = 0x8f,
	OP_BREGX = 0x92, OP_DEREF_SIZE = 0x94, OP_NOP = 0x96,
};

struct machine {
	const struct stack_space *space;
	const struct stack_regs *regs;
	struct cursor code;
	uint64_t stack[DEPTH];
	unsigned int n;
	int err;
};

static void fail(struct machine *m, int err)
{
	if (!m->err)
		m->err = err;
}

static void push(struct machine *m, uint64_t value)
{
	if (m->n == DEPTH)
		fail(m, -EBADMSG);
	else
		m->stack[m->n++] = value;
}

static uint64_t pop(struct machine *m)
{
	if (m->n)
		return m->stack[--m->n];
	fail(m, -EBADMSG);
	return 0;
}

/* The value `depth` below the top. */
static uint64_t peek(struct machine *m, unsigned int depth)
{
	if (depth < m->n)
		return m->stack[m->n - 1 - depth];
	fail(m, -EBADMSG);
	return 0;
}

static uint64_t read_memory(struct machine *m, uint64_t at, unsigned int size)
{
	uint64_t value = 0;

	if (size - 1 >= sizeof(value))
		fail(m, -EBADMSG);
	else if (!m->err)
		fail(m, m->space->read(m->space->ctx, at, &value, size));
	return value;
}

static uint64_t divide(struct machine *m, uint64_t a, uint64_t b, bool modulo)
{
	if (!b) {
		fail(m, -EBADMSG);
		return 0;
	}
	if (modulo)
		return a % b;
	/* Signed, and the one quotient that does not fit wraps. */
	return (int64_t)b == -1 ? 0 - a : (uint64_t)((int64_t)a / (int64_t)b);
}

static uint64_t shift(uint8_t op, uint64_t a, uint64_t by)
{
	if (by > 63)
		return op == OP_SHRA && (int64_t)a < 0 ? ~0ull : 0;
	return op == OP_SHL ? a << by : op == OP_SHR ? a >> by : (uint64_t)((int64_t)a >> by);
}

static uint64_t compute(struct machine *m, uint8_t op, uint64_t a, uint64_t b)
{
	int64_t x = (int64_t)a, y = (int64_t)b;

	switch (op) {
	case OP_AND: return a & b;
	case OP_DIV: return divide(m, a, b, false);
	case OP_MINUS: return a - b;
	case OP_MOD: return divide(m, a, b, true);
	case OP_MUL: return a * b;
	case OP_OR: return a | b;
	case OP_PLUS: return a + b;
	case OP_SHL: case OP_SHR: case OP_SHRA: return shift(op, a, b);
	case OP_XOR: return a ^ b;
	case OP_EQ: return x == y;
	case OP_GE: return x >= y;
	case OP_GT: return x > y;
	case OP_LE: return x <= y;
	case OP_LT: return x < y;
	case OP_NE: return x != y;
	default: fail(m, -EBADMSG); return 0;
	}
}

static void do_unary(struct machine *m, uint8_t op)
{
	uint64_t a = pop(m);

	switch (op) {
	case OP_ABS: push(m, (int64_t)a < 0 ? 0 - a : a); break;
	case OP_NEG: push(m, 0 - a); break;
	case OP_NOT: push(m, ~a); break;
	case OP_PLUS_UCONST: push(m, a + cursor_uleb(&m->code)); break;
	case OP_DEREF: push(m, read_memory(m, a, 8)); break;
	default: push(m, read_memory(m, a, (unsigned int)cursor_unsigned(&m->code, 1)));
	}
}

static void do_stack(struct machine *m, uint8_t op)
{
	uint64_t a, b, c;

	switch (op) {
	case OP_DUP: push(m, peek(m, 0)); break;
	case OP_DROP: pop(m); break;
	case OP_OVER: push(m, peek(m, 1)); break;
	case OP_PICK: push(m, peek(m, (unsigned int)cursor_unsigned(&m->code, 1))); break;
	case OP_SWAP:
		a = pop(m), b = pop(m);
		push(m, a), push(m, b);
		break;
	default:		/* rot: the third becomes the second, the top the third */
		a = pop(m), b = pop(m), c = pop(m);
		push(m, a), push(m, c), push(m, b);
	}
}

static void do_reg(struct machine *m, uint8_t op)
{
	uint64_t number = op == OP_BREGX ? cursor_uleb(&m->code) : (uint64_t)(op - OP_BREG0);
	uint64_t base = 0;

	if (number == stack_abi.pc)
		base = m->regs->pc;
	else if (number < STACK_REGS && m->regs->known >> number & 1)
		base = m->regs->reg[number];
	else
		fail(m, number < STACK_REGS ? -ENODATA : -EBADMSG);
	push(m, base + (uint64_t)cursor_sleb(&m->code));
}

static void do_flow(struct machine *m, uint8_t op)
{
	struct cursor *c = &m->code;
	int64_t by = cursor_signed(c, 2);

	if (op == OP_BRA && !pop(m))
		return;
	if (by < c->start - c->at || by > c->end - c->at)
		fail(m, -EBADMSG);
	else
		c->at += by;
}

static void step(struct machine *m)
{
	uint8_t op = (uint8_t)cursor_unsigned(&m->code, 1);
	unsigned int size;
	uint64_t a, b;

	switch (op) {
	case OP_NOP:
		break;
	case OP_LIT0 ... OP_LIT31:
		push(m, op - OP_LIT0);
		break;
	case OP_BREG0 ... OP_BREG31: case OP_BREGX:
		do_reg(m, op);
		break;
	case OP_ADDR:
		push(m, cursor_unsigned(&m->code, 8));
		break;
	case OP_CONST1U ... OP_CONSTU - 1:
		/* const1u const1s const2u ... const8s: width by pairs, odd codes are signed. */
		size = 1u << (op - OP_CONST1U) / 2;
		push(m, op & 1 ? (uint64_t)cursor_signed(&m->code, size) :
				 cursor_unsigned(&m->code, size));
		break;
	case OP_CONSTU:
		push(m, cursor_uleb(&m->code));
		break;
	case OP_CONSTS:
		push(m, (uint64_t)cursor_sleb(&m->code));
		break;
	case OP_DUP ... OP_ROT:
		do_stack(m, op);
		break;
	case OP_ABS: case OP_NEG: case OP_NOT: case OP_PLUS_UCONST: case OP_DEREF:
	case OP_DEREF_SIZE:
		do_unary(m, op);
		break;
	case OP_BRA: case OP_SKIP:
		do_flow(m, op);
		break;
	default:
		b = pop(m);
		a = pop(m);
		push(m, compute(m, op, a, b));
	}
}

int cfi_compute(const struct stack_space *space, const struct stack_regs *regs,
		const struct cfi_place *place, const uint64_t *first, uint64_t *result)
{
	const uint8_t *code = place->expression;
	struct machine m = { .space = space, .regs = regs,
			     .code = { .start = code, .at = code, .end = code + place->value } };

	if (first)
		push(&m, *first);
	for (unsigned int i = 0; m.code.at < m.code.end && !m.err && !m.code.bad; i++) {
		if (i == STEPS)
			return -EBADMSG;
		step(&m);
	}
	if (m.code.bad)
		return -EBADMSG;
	*result = pop(&m);
	return m.err;
}

/* ---- cfi program --------------------------------------------------------------------------- */

/*
 * Runs call frame instructions to the row of an address. Each instruction takes at least a byte,
 * so the length of an entry bounds the time.
 */

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
	uint64_t pc;			/* the row that holds here is wanted */
	uint64_t begin;			/* where the FDE begins */
	uint64_t code_factor;
	int64_t data_factor;
	uint8_t encoding;		/* of pointers */
	bool augmented;
	struct cursor common, own;	/* instructions of the CIE, of the FDE */
	struct cursor c;		/* in one of them */
	struct cfi_row *row;
	struct cfi_row initial;		/* after the CIE's instructions */
	struct cfi_row kept[REMEMBER];
	unsigned int n_kept;
	uint64_t location;
	bool done;			/* location is beyond pc */
	bool bad;
};

static void set_column(struct runner *r, uint64_t number, struct cfi_place place)
{
	/* Vector registers have numbers above ours and rules that are not needed here. */
	if (number < CFI_COLUMNS)
		r->row->column[number] = place;
}

static struct cfi_place take_block(struct runner *r, uint8_t rule)
{
	uint64_t len = cursor_uleb(&r->c);

	return (struct cfi_place){ .rule = rule, .value = (int64_t)len,
				   .expression = cursor_take(&r->c, len) };
}

static int64_t factored(const struct runner *r, int64_t value)
{
	return (int64_t)((uint64_t)value * (uint64_t)r->data_factor);
}

static void advance(struct runner *r, uint64_t units)
{
	r->location += units * r->code_factor;
	r->done = r->location > r->pc;
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
	uint64_t number = r->row->cfa_reg;

	if (op == CFA_DEF_CFA_EXPRESSION) {
		r->row->cfa = take_block(r, CFI_VAL_EXPRESSION);
		return;
	}
	if (op == CFA_DEF_CFA || op == CFA_DEF_CFA_SF || op == CFA_DEF_CFA_REGISTER)
		number = cursor_uleb(&r->c);
	if (op == CFA_DEF_CFA_REGISTER) {
		r->bad |= r->row->cfa.rule != CFI_REGISTER;
		set_cfa(r, number, r->row->cfa.value);
	} else if (op == CFA_DEF_CFA_SF || op == CFA_DEF_CFA_OFFSET_SF) {
		set_cfa(r, number, factored(r, cursor_sleb(&r->c)));
	} else {
		set_cfa(r, number, (int64_t)cursor_uleb(&r->c));
	}
}

static void do_column(struct runner *r, uint8_t op)
{
	static const uint8_t rules[] = {
		[CFA_OFFSET_EXTENDED] = CFI_OFFSET, [CFA_OFFSET_SF] = CFI_OFFSET,
		[CFA_GNU_NEGATIVE_OFFSET] = CFI_OFFSET, [CFA_VAL_OFFSET] = CFI_VAL_OFFSET,
		[CFA_VAL_OFFSET_SF] = CFI_VAL_OFFSET, [CFA_REGISTER] = CFI_REGISTER,
		[CFA_UNDEFINED] = CFI_UNDEFINED, [CFA_SAME] = CFI_SAME,
		[CFA_EXPRESSION] = CFI_EXPRESSION, [CFA_VAL_EXPRESSION] = CFI_VAL_EXPRESSION,
	};
	uint64_t number = cursor_uleb(&r->c);
	struct cfi_place place = { .rule = rules[op] };

	switch (op) {
	case CFA_OFFSET_EXTENDED: case CFA_VAL_OFFSET:
		place.value = factored(r, (int64_t)cursor_uleb(&r->c));
		break;
	case CFA_OFFSET_SF: case CFA_VAL_OFFSET_SF:
		place.value = factored(r, cursor_sleb(&r->c));
		break;
	case CFA_GNU_NEGATIVE_OFFSET:
		place.value = factored(r, (int64_t)(0 - cursor_uleb(&r->c)));
		break;
	case CFA_REGISTER:
		place.value = (int64_t)cursor_uleb(&r->c);
		break;
	case CFA_EXPRESSION: case CFA_VAL_EXPRESSION:
		place = take_block(r, rules[op]);
		break;
	}
	set_column(r, number, place);
}

static void do_extended(struct runner *r, uint8_t op)
{
	switch (op) {
	case CFA_NOP:
		break;
	case CFA_SET_LOC:
		r->location = cursor_pointer(&r->c, r->encoding & 0x7f, 0);
		r->done = r->location > r->pc;
		break;
	case CFA_ADVANCE1: case CFA_ADVANCE2: case CFA_ADVANCE4:
		advance(r, cursor_unsigned(&r->c, 1u << (op - CFA_ADVANCE1)));
		break;
	case CFA_RESTORE_EXTENDED:
		restore_column(r, cursor_uleb(&r->c));
		break;
	case CFA_REMEMBER:
		if (r->n_kept < REMEMBER)
			r->kept[r->n_kept++] = *r->row;
		else
			r->bad = true;
		break;
	case CFA_RESTORE_STATE:
		if (r->n_kept)
			*r->row = r->kept[--r->n_kept];
		else
			r->bad = true;
		break;
	case CFA_DEF_CFA ... CFA_DEF_CFA_EXPRESSION: case CFA_DEF_CFA_SF:
	case CFA_DEF_CFA_OFFSET_SF:
		do_cfa(r, op);
		break;
	case CFA_OFFSET_EXTENDED: case CFA_UNDEFINED ... CFA_REGISTER:
	case CFA_EXPRESSION ... CFA_OFFSET_SF: case CFA_VAL_OFFSET ... CFA_VAL_EXPRESSION:
	case CFA_GNU_NEGATIVE_OFFSET:
		do_column(r, op);
		break;
	case CFA_SET_RA_STATE:
		r->row->ra_signed = cursor_uleb(&r->c) != 0;
		cursor_sleb(&r->c);	/* its start: implied by the place in the code */
		break;
	case CFA_NEGATE_RA_STATE_WITH_PC: case CFA_NEGATE_RA_STATE:
		r->row->ra_signed = !r->row->ra_signed;
		break;
	case CFA_GNU_ARGS_SIZE:
		cursor_uleb(&r->c);
		break;
	default:
		r->bad = true;
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
			set_column(r, low, (struct cfi_place){ .rule = CFI_OFFSET,
				.value = factored(r, (int64_t)cursor_uleb(&r->c)) });
			break;
		case CFA_RESTORE:
			restore_column(r, low);
			break;
		default:
			do_extended(r, low);
		}
	}
}

static int run_both(struct runner *r)
{
	/* Before the CIE's instructions there is no CFA. */
	*r->row = (struct cfi_row){ .cfa = { .rule = CFI_UNDEFINED } };
	r->location = r->begin;
	r->c = r->common;
	run(r);
	if (r->done || r->bad || r->c.bad)		/* a CIE does not move */
		return -EBADMSG;
	r->initial = *r->row;
	r->c = r->own;
	run(r);
	return r->bad || r->c.bad || r->row->cfa.rule == CFI_UNDEFINED ? -EBADMSG : 0;
}

#define MAX_SCAN 65536u			/* entries of a .eh_frame without a table */
#define MAX_TABLE (1u << 26)		/* entries of a table */
#define TABLE_ENCODING (PE_DATAREL | PE_S4)	/* written by every linker */

struct header {			/* of .eh_frame_hdr */
	uint64_t eh_frame;	/* its address; 0 unknown */
	uint64_t table;		/* address of the first entry; 0: there is none */
	uint64_t n;		/* entries: location and FDE, each 4 bytes from the header */
};

static int read_header(const struct stack_space *space, const struct stack_module *m,
		       struct header *h)
{
	uint8_t bytes[4 + 2 * 10];
	size_t len = m->eh_hdr_len < sizeof(bytes) ? (size_t)m->eh_hdr_len : sizeof(bytes);
	struct cursor c = { bytes, bytes + 4, bytes + len, m->eh_hdr, false };
	int err;

	*h = (struct header){ 0 };
	if (len < 4)
		return -EBADMSG;
	err = space->read(space->ctx, m->eh_hdr, bytes, len);
	if (err)
		return err;
	if (bytes[0] != 1)
		return -EBADMSG;
	if (bytes[1] != PE_OMIT)
		h->eh_frame = cursor_pointer(&c, bytes[1], m->eh_hdr);
	if (bytes[2] == PE_OMIT || bytes[3] != TABLE_ENCODING)
		return c.bad ? -EBADMSG : 0;
	h->n = cursor_pointer(&c, bytes[2], m->eh_hdr);
	h->table = cursor_address(&c);
	if (c.bad || h->n > MAX_TABLE || h->n * 8 > m->eh_hdr_len - (h->table - m->eh_hdr))
		return -EBADMSG;
	return 0;
}

/* The FDE of the last entry at or below pc. */
static int search_table(const struct stack_space *space, const struct stack_module *m,
			const struct header *h, uint64_t pc, uint64_t *fde)
{
	uint64_t low = 0, high = h->n;
	int32_t entry[2];
	int err;

	while (low < high) {
		uint64_t middle = low + (high - low) / 2;

		err = space->read(space->ctx, h->table + middle * 8, entry, sizeof(entry));
		if (err)
			return err;
		if (m->eh_hdr + (uint64_t)(int64_t)entry[0] > pc)
			high = middle;
		else
			low = middle + 1;
	}
	if (!low)
		return -ENOENT;
	err = space->read(space->ctx, h->table + (low - 1) * 8, entry, sizeof(entry));
	*fde = m->eh_hdr + (uint64_t)(int64_t)entry[1];
	return err;
}

/* ---- entries ------------------------------------------------------------------------------ */

/* Reads the entry at `at` into buf (CFI_MAX_ENTRY bytes); the cursor stands behind its length. */
static int read_entry(const struct stack_space *space, uint64_t at, uint8_t *buf, struct cursor *c)
{
	uint32_t short_len;
	uint64_t len;
	int err = space->read(space->ctx, at, &short_len, sizeof(short_len));

	if (err)
		return err;
	at += sizeof(short_len);
	len = short_len;
	if (short_len == UINT32_MAX) {
		err = space->read(space->ctx, at, &len, sizeof(len));
		if (err)
			return err;
		at += sizeof(len);
	}
	if (!len)
		return -ENOENT;		/* the mark of the end */
	if (len > CFI_MAX_ENTRY)
		return -EBADMSG;
	err = space->read(space->ctx, at, buf, (size_t)len);
	*c = (struct cursor){ buf, buf, buf + len, at, false };
	return err;
}

static void read_augmentation(struct cfi *cfi, struct cursor *c, const char *text,
			      struct runner *r)
{
	uint64_t len = cursor_uleb(c);
	const uint8_t *at = cursor_take(c, len);
	struct cursor data = { c->start, at, at ? at + len : at, c->address, !at };

	for (; *text && !data.bad; text++) {
		if (*text == 'R')
			r->encoding = (uint8_t)cursor_unsigned(&data, 1);
		else if (*text == 'S')
			cfi->signal = true;
		else if (*text == 'L')
			cursor_unsigned(&data, 1);
		else if (*text == 'P')
			cursor_pointer(&data, (uint8_t)cursor_unsigned(&data, 1) & 0x7f, 0);
		else if (*text != 'B' && *text != 'G')
			return;		/* unknown: its data ends by its length */
	}
}

static int read_cie(struct cfi *cfi, uint64_t at, struct runner *r)
{
	struct cursor c;
	const char *text;
	const uint8_t *end;
	uint8_t version;
	int err = read_entry(cfi->space, at, cfi->cie, &c);

	if (err)
		return err == -ENOENT ? -EBADMSG : err;
	if (cursor_unsigned(&c, 4))	/* not 0: an FDE */
		return -EBADMSG;
	version = (uint8_t)cursor_unsigned(&c, 1);
	text = (const char *)c.at;
	end = memchr(c.at, 0, (size_t)(c.end - c.at));
	if (!end || (version != 1 && version != 3 && version != 4))
		return -EBADMSG;
	c.at = end + 1;
	if (version == 4)
		cursor_take(&c, 2);	/* sizes of addresses and segment selectors */
	r->code_factor = cursor_uleb(&c);
	r->data_factor = cursor_sleb(&c);
	cfi->ra = (uint8_t)(version == 1 ? cursor_unsigned(&c, 1) : cursor_uleb(&c));
	cfi->signal = false;
	r->encoding = PE_ABSPTR;
	r->augmented = *text == 'z';
	if (r->augmented)
		read_augmentation(cfi, &c, text + 1, r);
	else if (*text)
		return -EBADMSG;	/* "eh" of compilers of the last century */
	r->common = c;
	return c.bad || cfi->ra >= CFI_COLUMNS ? -EBADMSG : 0;
}

/* Reads FDE and CIE; -ENOENT: the FDE does not cover pc. next: where the next entry begins. */
static int read_fde(struct cfi *cfi, uint64_t at, uint64_t pc, struct runner *r,
		    uint64_t *next)
{
	struct cursor c;
	uint64_t cie, begin, len;
	uint32_t back;
	int err = read_entry(cfi->space, at, cfi->fde, &c);

	if (err)
		return err;
	*next = c.address + (uint64_t)(c.end - c.start);
	cie = cursor_address(&c);
	back = (uint32_t)cursor_unsigned(&c, 4);
	if (!back)
		return -ENOENT;		/* a CIE */
	err = read_cie(cfi, cie - back, r);
	if (err)
		return err;
	begin = cursor_pointer(&c, r->encoding & 0x7f, 0);
	len = cursor_pointer(&c, r->encoding & 0x0f, 0);
	if (r->augmented)
		cursor_take(&c, cursor_uleb(&c));
	if (c.bad || r->encoding & PE_INDIRECT)
		return -EBADMSG;
	if (pc < begin || pc - begin >= len)
		return -ENOENT;
	r->begin = begin;
	r->own = c;
	return 0;
}

static int scan_entries(struct cfi *cfi, uint64_t at, uint64_t pc, struct runner *r)
{
	for (unsigned int i = 0; i < MAX_SCAN; i++) {
		uint64_t next = 0;
		int err = read_fde(cfi, at, pc, r, &next);

		if (err != -ENOENT || !next)
			return err;
		at = next;
	}
	return -ENOENT;
}

int cfi_find(struct cfi *cfi, const struct stack_module *m, uint64_t pc, struct cfi_row *row)
{
	struct runner r = { .pc = pc, .row = row };
	struct header h = { .eh_frame = m->eh_frame };
	uint64_t fde, next;
	int err = m->eh_hdr ? read_header(cfi->space, m, &h) : 0;

	if (err)
		return err;
	if (h.table) {
		err = search_table(cfi->space, m, &h, pc, &fde);
		if (!err)
			err = read_fde(cfi, fde, pc, &r, &next);
	} else {
		err = h.eh_frame ? scan_entries(cfi, h.eh_frame, pc, &r) : -ENOENT;
	}
	return err ? err : run_both(&r);
}
