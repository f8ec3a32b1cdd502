// SPDX-License-Identifier: BSD-3-Clause
/*
 * PyTorch's libraries. libtorch_python: not calls, but threads that others work for. A C function
 * of Python's, which throws nothing: its return can be followed, as that of functions of C++ must
 * never be (uprobes' return addresses end the process at a throw).
 */
#include "catalog/catalog.h"
#include "catalog/rows.h"

#define COMMON .tier = CATALOG_TIER_NONE, .class = CLASS_LIBRARY, .rare = 1, .asks = 1

/* Tensor.backward and torch.autograd.grad: autograd's workers run the backward pass meanwhile.
 * Local, hence its mangled name: THPEngine_run_backward(PyObject *, PyObject *, PyObject *). */
static const struct catalog_row rows[] = {
	ROW(_ZL22THPEngine_run_backwardP7_objectS0_S0_),
};

/* What the caching allocator gives and takes back, on request: libc10_cuda of 2.1 and later. */
static const struct catalog_row marks[] = {
	{ .name = "pytorch:malloc", .tier = CATALOG_TIER_NONE, .class = CLASS_ALLOC, .is_mark = 1,
	  .extra = GP_EXTRA_OPERANDS, .address = 1, .entity = 2, .bytes = 3,
	  .role = ROLE_ALLOC_TORCH },
	{ .name = "pytorch:free", .tier = CATALOG_TIER_NONE, .class = CLASS_FREE, .is_mark = 1,
	  .extra = GP_EXTRA_OPERANDS, .address = 1, .role = ROLE_FREE_TORCH },
};

const struct catalog_library catalog_c10 = {
	.name = "c10", .file = "libc10_cuda.so", ROWS(marks),
};

const struct catalog_library catalog_torch = {
	.name = "torch", .file = "libtorch_python.so", ROWS(rows),
};
