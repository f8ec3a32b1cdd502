/* SPDX-License-Identifier: BSD-3-Clause */
/* What the elements of a tensor are: PyTorch's ScalarType, by its numbers, which only grow. */
#ifndef CATALOG_TENSOR_TYPES_H
#define CATALOG_TENSOR_TYPES_H

#include <stdint.h>

#define TENSOR_TYPE_NAME_MAX 32

/* "float32", as torch.dtype is called without "torch."; "type 99": unknown. text: of that size. */
void tensor_type_name(uint16_t type, char text[TENSOR_TYPE_NAME_MAX]);

#endif
