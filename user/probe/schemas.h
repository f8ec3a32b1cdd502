/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What PyTorch's library says of its own operators: the texts that it registers them with,
 * "add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor". The function of an operator
 * is named by its name and overload alike (at::_ops::add_Tensor), so that only the text says which
 * is which. No table of names: any version that registers its operators has its own.
 */
#ifndef PROBE_SCHEMAS_H
#define PROBE_SCHEMAS_H

#include <stddef.h>

struct elf_file;
struct schemas;

struct schemas *schemas_read(struct elf_file *ef);	/* NULL + errno */
void schemas_free(struct schemas *s);

/* "add.Tensor" of "add_Tensor", "mm" of "mm"; valid as long as s. NULL: it is not registered. */
const char *schemas_name(const struct schemas *s, const char *function, size_t len);

#endif
