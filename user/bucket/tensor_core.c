// SPDX-License-Identifier: BSD-3-Clause
/*
 * The first match decides: names of the plain units come first, since families of kernels for
 * tensor cores have such members (xmma has ffma, CUTLASS has simt).
 *
 * Shapes of operands: s884 (Volta), s1688 (Turing), s16816 (Ampere), i8816, i16832 (integers),
 * d884, z884 (doubles), s161616 (wmma). FlashAttention and cuBLAS's nvjet have no other kernels.
 */
#include "bucket/tensor_core.h"

#include <stddef.h>
#include <string.h>

static const struct {
	const char *part;
	enum tensor_core use;
} rules[] = {
	{ "ffma", TENSOR_NO }, { "simt", TENSOR_NO }, { "Simt", TENSOR_NO }, { "SIMT", TENSOR_NO },
	{ "sgemm_", TENSOR_NO }, { "gemv", TENSOR_NO }, { "gemmSN", TENSOR_NO },
	{ "splitKreduce", TENSOR_NO },	/* adds up what others multiplied */
	{ "flash_fwd_splitkv_combine", TENSOR_NO },
	{ "tensorop", TENSOR_YES }, { "TensorOp", TENSOR_YES },
	{ "hmma", TENSOR_YES }, { "HMMA", TENSOR_YES }, { "_imma", TENSOR_YES },
	{ "wmma", TENSOR_YES }, { "WMMA", TENSOR_YES }, { "gmma", TENSOR_YES },
	{ "GMMA", TENSOR_YES }, { "xmma", TENSOR_YES }, { "tcgen05", TENSOR_YES },
	{ "utcmma", TENSOR_YES }, { "UMMA_", TENSOR_YES },
	{ "s884", TENSOR_YES }, { "h884", TENSOR_YES }, { "d884", TENSOR_YES },
	{ "z884", TENSOR_YES }, { "s1688", TENSOR_YES }, { "h1688", TENSOR_YES },
	{ "s16816", TENSOR_YES }, { "h16816", TENSOR_YES }, { "s161616", TENSOR_YES },
	{ "i8816", TENSOR_YES }, { "i16832", TENSOR_YES }, { "i16864", TENSOR_YES },
	{ "nvjet_", TENSOR_YES },
	{ "FlashAttnFwdSm", TENSOR_YES }, { "FlashAttnBwdSm", TENSOR_YES },
	{ "flash_fwd_kernel", TENSOR_YES }, { "flash_fwd_splitkv_kernel", TENSOR_YES },
	{ "flash_bwd_dq_dk_dv", TENSOR_YES }, { "fmha_cutlassF_bf16", TENSOR_YES },
	{ "fmha_cutlassF_f16", TENSOR_YES }, { "fmha_cutlassB_bf16", TENSOR_YES },
	{ "fmha_cutlassB_f16", TENSOR_YES },
};

enum tensor_core tensor_core_of(const char *name)
{
	for (size_t i = 0; name && i < sizeof(rules) / sizeof(rules[0]); i++)
		if (strstr(name, rules[i].part))
			return rules[i].use;
	return TENSOR_UNKNOWN;
}
