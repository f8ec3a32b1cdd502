/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Operators of frameworks, by the functions that run them: which symbols of a library are
 * operators, what they are called, and whether their return may be followed. Knows no links.
 *
 *   torch::autograd::THPVariable_add(PyObject *, ...)
 *			"aten.add", called by Python. A C function of Python's: it catches what C++
 *			throws
 *   torch::autograd::generated::AddBackward0::apply
 *			"AddBackward0", a node of the backward pass. C++ may throw through it: entry
 *			only
 *   at::_ops::add_Tensor::call
 *			"aten.add.Tensor", called by all: entry only, too
 *   slot_tp_call	of CPython, calls objects of Python's classes: PyTorch's modules
 *   cublasSgemm_v2	a product of matrices (catalog/gemms.h): no operator, but part of one
 */
#ifndef PROBE_OPS_H
#define PROBE_OPS_H

#include <stdbool.h>
#include <stdint.h>

enum ops_level {
	OPS_OFF = 0,
	OPS_PYTHON,		/* those that Python calls, and nodes of the backward pass */
	OPS_ALL,		/* all, overloads apart, instead; and these nodes */
	OPS_GEMMS,		/* no level, but for sets of levels: products of matrices */
};

#define OP_NAME_MAX 128

struct op_symbol {
	char name[OP_NAME_MAX];	/* "aten.add"; "": GP_OP_MODULE, GP_OP_GEMM and above */
	uint64_t id;			/* of the name: op_id */
	bool entry_only;
	bool is_node;			/* of the backward pass */
	bool is_idle;			/* it launches nothing itself */
	uint8_t tensor;			/* as struct schema has it */
};

struct schemas;

/* The operator that the function of this (mangled) symbol runs. False: none. schemas: of its
 * library; NULL: name and overload stay one, "aten.add_Tensor". */
bool op_of_symbol(const char *symbol, const struct schemas *schemas, struct op_symbol *out);

/* The id of an operator's name: GP_OPS_FIRST or more, in GP_COOKIE_OP_BITS. Its frame (EVENT_FRAME)
 * has that number, which no other has. */
uint64_t op_id(const char *name);

struct ops_file {		/* functions of a library with operators */
	const char *begins;	/* how its name begins */
	unsigned int levels;	/* bit n: enum ops_level */
	bool has_schemas;
	const char *symbols;	/* ... and those of all symbols that op_of_symbol takes */
	bool with_locals;	/* they are local functions */
	/* else the function is that for this slot of CPython's types, at this offset; NULL: none */
	const char *slot;
	uint32_t slot_offset;
};

/* The next one that this library has at one of these levels (bit n: enum ops_level); last NULL:
 * the first. NULL: there are no more. */
const struct ops_file *ops_file_next(const struct ops_file *last, const char *basename,
				     unsigned int levels);

#endif
