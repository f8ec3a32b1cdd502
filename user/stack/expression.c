// SPDX-License-Identifier: BSD-3-Clause
/*
 * A small stack machine. PLT entries and signal frames are described with it; whatever else a
 * hostile file says is bounded in stack and steps.
 */
#include "stack/expression.h"

#include <errno.h>

#include "stack/cursor.h"

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

static uint64_t read_reg(struct machine *m, uint64_t number)
{
	if (number == stack_abi.pc)
		return m->regs->pc;
	if (number < STACK_REGS && m->regs->known >> number & 1)
		return m->regs->reg[number];
	fail(m, number < STACK_REGS ? -ENODATA : -EBADMSG);
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

static void jump(struct machine *m, int64_t by)
{
	struct cursor *c = &m->code;

	if (by < c->start - c->at || by > c->end - c->at)
		fail(m, -EBADMSG);
	else
		c->at += by;
}

static void do_constant(struct machine *m, uint8_t op)
{
	/* const1u const1s const2u ... const8s: width by pairs, odd codes are signed. */
	unsigned int size = 1u << (op - OP_CONST1U) / 2;

	push(m, op & 1 ? (uint64_t)cursor_signed(&m->code, size) :
			 cursor_unsigned(&m->code, size));
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

static void do_binary(struct machine *m, uint8_t op)
{
	uint64_t b = pop(m), a = pop(m);

	push(m, compute(m, op, a, b));
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

static void do_flow(struct machine *m, uint8_t op)
{
	int64_t by = cursor_signed(&m->code, 2);

	if (op == OP_SKIP || pop(m))
		jump(m, by);
}

static void do_reg(struct machine *m, uint8_t op)
{
	uint64_t number = op == OP_BREGX ? cursor_uleb(&m->code) : (uint64_t)(op - OP_BREG0);
	uint64_t base = read_reg(m, number);

	push(m, base + (uint64_t)cursor_sleb(&m->code));
}

static void step(struct machine *m)
{
	uint8_t op = (uint8_t)cursor_unsigned(&m->code, 1);

	if (op >= OP_LIT0 && op <= OP_LIT31)
		push(m, op - OP_LIT0);
	else if ((op >= OP_BREG0 && op <= OP_BREG31) || op == OP_BREGX)
		do_reg(m, op);
	else if (op == OP_ADDR)
		push(m, cursor_unsigned(&m->code, 8));
	else if (op >= OP_CONST1U && op < OP_CONSTU)
		do_constant(m, op);
	else if (op == OP_CONSTU)
		push(m, cursor_uleb(&m->code));
	else if (op == OP_CONSTS)
		push(m, (uint64_t)cursor_sleb(&m->code));
	else if (op >= OP_DUP && op <= OP_ROT)
		do_stack(m, op);
	else if (op == OP_ABS || op == OP_NEG || op == OP_NOT || op == OP_PLUS_UCONST ||
		 op == OP_DEREF || op == OP_DEREF_SIZE)
		do_unary(m, op);
	else if (op == OP_BRA || op == OP_SKIP)
		do_flow(m, op);
	else if (op != OP_NOP)
		do_binary(m, op);
}

int expression_run(const struct stack_space *space, const struct stack_regs *regs,
		   const struct expression *e, uint64_t *result)
{
	struct machine m = { .space = space, .regs = regs,
			     .code = { .start = e->code, .at = e->code, .end = e->code + e->len } };

	if (e->has_first)
		push(&m, e->first);
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
