/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Whether a kernel computes on tensor cores, by its name: libraries name their kernels after the
 * instruction or the shape of its operands. Other names are no evidence of either. Knows nothing
 * of devices or times.
 */
#ifndef BUCKET_TENSOR_CORE_H
#define BUCKET_TENSOR_CORE_H

enum tensor_core { TENSOR_UNKNOWN = 0, TENSOR_YES, TENSOR_NO };

enum tensor_core tensor_core_of(const char *name);	/* NULL: unknown */

#endif
