/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What PyTorch's library says of its own operators: the texts that it registers them with,
 * "add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor". The function of an operator
 * is named by its name and overload alike (at::_ops::add_Tensor), so that only the text says which
 * is which, and where the function has its arguments. No table of names: any version that registers
 * its operators has its own.
 *
 *   mm(Tensor self, Tensor mat2) -> Tensor	(Tensor *result, const Tensor &, const Tensor &)
 *   add_.Tensor(Tensor(a!) self, ...) -> Tensor(a!)	(Tensor &, ...), which it returns
 *   where.ScalarSelf(Tensor condition, Scalar self, ...) -> Tensor
 */
#ifndef PROBE_SCHEMAS_H
#define PROBE_SCHEMAS_H

#include <stddef.h>
#include <stdint.h>

struct elf_file;
struct schemas;

struct schemas *schemas_read(struct elf_file *ef);	/* NULL + errno */
void schemas_free(struct schemas *s);

struct schema {
	const char *name;	/* "add.Tensor" */
	/* Which integer argument of its function refers to its first tensor, from 1, a hidden one
	 * for the result counted; 0: none, or a list or what may be none, or it is not known. */
	uint8_t tensor;
};

/* Of at::_ops::"add_Tensor"; valid as long as s. NULL: it is not registered. */
const struct schema *schemas_find(const struct schemas *s, const char *function, size_t len);

#endif
