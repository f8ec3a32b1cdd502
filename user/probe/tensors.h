/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Where PyTorch's tensors have their sizes and type, read from its library's machine code, so that
 * no table of versions says it (2.15: the type at byte 160 of c10::TensorImpl; 1.13: at 176):
 *
 *   at::native::is_complex(const at::Tensor &)
 *	mov (%rdi),%rax;  movzwl TYPE(%rax),%edi;  cmp $TYPES,%di
 *
 * From the sizes to the type, all versions from 1.13 on have it alike (bpf/op.bpf.h).
 */
#ifndef PROBE_TENSORS_H
#define PROBE_TENSORS_H

#include <stdbool.h>

#include "gpuprof/control.h"

struct elf_file;

/* False: it has other code, or none (also on arm64, which is not read yet); *out is zero. */
bool tensors_read(struct elf_file *ef, struct gp_layout *out);

#endif
