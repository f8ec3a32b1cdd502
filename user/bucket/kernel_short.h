/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Names of kernels by what they do, for people. A template of PyTorch spells out its argument, a
 * lambda in a function, in some hundred characters that are alike in all of them; this keeps the
 * kernel's own name and that function's or functor's. Namespaces, lambdas, types of data and
 * numbers are left out. Names come demangled, without parameters (elf/demangle.h); they are
 * hostile.
 *
 *   at::native::reduce_kernel<512, 1, at::native::ReduceOp<float, at::native::func_wrapper_t<float,
 *       at::native::sum_functor<float, float, float>::operator()(at::TensorIterator&)::
 *       {lambda(float, float)#1}>, unsigned int, float, 4, 4> >
 *       reduce<sum>, in detail reduce<512, 1, sum<float, float, float>(float, float)#1>
 *   sgemm_128x64_nt        sgemm_128x64_nt
 */
#ifndef BUCKET_KERNEL_SHORT_H
#define BUCKET_KERNEL_SHORT_H

#include "base/str.h"

/* Appends the short name; in detail, with the numbers and types that its instances differ in.
 * Several kernels may have one, also in detail. */
void kernel_short_add(struct strbuf *out, const char *name, bool detail);

#endif
