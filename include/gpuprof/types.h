/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/* The fixed-width types of structures that cross a border, in user space and in BPF programs. */
#ifndef GPUPROF_TYPES_H
#define GPUPROF_TYPES_H

#ifndef __bpf__
#include <stdint.h>
typedef uint8_t gp_u8;
typedef uint16_t gp_u16;
typedef int16_t gp_s16;
typedef uint32_t gp_u32;
typedef int32_t gp_s32;
typedef uint64_t gp_u64;
#else
typedef unsigned char gp_u8;
typedef unsigned short gp_u16;
typedef short gp_s16;
typedef unsigned int gp_u32;
typedef int gp_s32;
typedef unsigned long long gp_u64;
#endif

#endif
