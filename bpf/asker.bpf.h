/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * Threads whose work others do: while one is in PyTorch's backward, autograd's workers run for it.
 * Their stacks stand on its Python functions.
 */
#ifndef GPUPROF_ASKER_BPF_H
#define GPUPROF_ASKER_BPF_H

#include "maps.bpf.h"

struct askers_t {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, __u32);	/* thread group */
	__type(value, struct gp_asker);
};
extern struct askers_t askers SEC(".maps");

#endif
