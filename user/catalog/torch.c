// SPDX-License-Identifier: BSD-3-Clause
/*
 * libtorch_python: not calls, but threads that others work for. A C function of Python's, which
 * throws nothing: its return can be followed, as that of functions of C++ must never be (uprobes'
 * return addresses end the process at a throw).
 */
#include "catalog/catalog.h"
#include "catalog/rows.h"

#define COMMON .tier = CATALOG_TIER_NONE, .class = CLASS_LIBRARY, .rare = 1, .asks = 1

/* Tensor.backward and torch.autograd.grad: autograd's workers run the backward pass meanwhile.
 * Local, hence its mangled name: THPEngine_run_backward(PyObject *, PyObject *, PyObject *). */
static const struct catalog_row rows[] = {
	ROW(_ZL22THPEngine_run_backwardP7_objectS0_S0_),
};

const struct catalog_library catalog_torch = {
	.name = "torch", .file = "libtorch_python.so", ROWS(rows),
};
