// SPDX-License-Identifier: BSD-3-Clause
/*
 * The order matters, since parts of names meet in one: FlashAttention is built of CUTLASS, whose
 * matrix products it is not; a fused all-reduce is named after the norm that it ends with;
 * Inductor lists the fused operators in a kernel's name, so that one containing "attention" is
 * none.
 */
#include "bucket/kernel_class.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

static const struct {
	const char *part;	/* with ^ in front: how the name begins */
	enum kernel_class class;
} rules[] = {
	/* Communication, whatever it is fused with. */
	{ "nccl", KERNEL_COMM }, { "allreduce", KERNEL_COMM }, { "all_reduce", KERNEL_COMM },
	{ "all-reduce", KERNEL_COMM }, { "all-gather", KERNEL_COMM }, { "all_gather", KERNEL_COMM },
	{ "reduce_scatter", KERNEL_COMM }, { "reduce-scatter", KERNEL_COMM },
	{ "cross_device_reduce", KERNEL_COMM }, { "deep_ep", KERNEL_COMM },
	{ "nvshmem", KERNEL_COMM }, { "Lamport", KERNEL_COMM },

	/* Compilers' names listing the fused operators. */
	{ "^triton_poi_", KERNEL_ELEMENTWISE }, { "^loop_", KERNEL_ELEMENTWISE },
	{ "mean_mul_pow_rsqrt", KERNEL_NORM },
	{ "^triton_red_fused_fused_add_rms_norm", KERNEL_NORM },
	{ "^triton_tem_fused_mm", KERNEL_GEMM }, { "^triton_tem_fused_addmm", KERNEL_GEMM },
	{ "^triton_tem_fused_bmm", KERNEL_GEMM }, { "^triton_mm", KERNEL_GEMM },
	{ "^triton_red_", KERNEL_REDUCE }, { "^triton_per_", KERNEL_REDUCE },

	{ "optimizer", KERNEL_OPTIMIZER }, { "Optimize", KERNEL_OPTIMIZER },
	{ "multi_tensor", KERNEL_OPTIMIZER }, { "adam", KERNEL_OPTIMIZER },
	{ "Adam", KERNEL_OPTIMIZER }, { "sgd_", KERNEL_OPTIMIZER },

	/* Attention, before the matrix products that it is built of; the cache's writes are
	 * none. */
	{ "reshape_and_cache", KERNEL_OTHER }, { "rotary", KERNEL_ELEMENTWISE },
	{ "Rotary", KERNEL_ELEMENTWISE }, { "_rope_", KERNEL_ELEMENTWISE },
	{ "flash_fwd", KERNEL_ATTENTION }, { "flash_bwd", KERNEL_ATTENTION },
	{ "FlashAttn", KERNEL_ATTENTION }, { "flash::", KERNEL_ATTENTION },
	{ "5flash", KERNEL_ATTENTION }, { "fmha", KERNEL_ATTENTION }, { "_mha", KERNEL_ATTENTION },
	{ "mqa_logits", KERNEL_ATTENTION }, { "paged_attention", KERNEL_ATTENTION },
	{ "attention", KERNEL_ATTENTION }, { "Attention", KERNEL_ATTENTION },
	{ "sdpa", KERNEL_ATTENTION },

	{ "884cudnn", KERNEL_CONV }, { "1688cudnn", KERNEL_CONV }, { "16816cudnn", KERNEL_CONV },
	{ "convolve", KERNEL_CONV }, { "winograd", KERNEL_CONV }, { "scudnn", KERNEL_CONV },
	{ "conv2d", KERNEL_CONV }, { "conv3d", KERNEL_CONV }, { "convolution", KERNEL_CONV },
	{ "fprop", KERNEL_CONV }, { "dgrad", KERNEL_CONV }, { "wgrad", KERNEL_CONV },

	{ "cudnn::bn_", KERNEL_NORM }, { "layer_norm", KERNEL_NORM }, { "layernorm", KERNEL_NORM },
	{ "LayerNorm", KERNEL_NORM },
	{ "rms_norm", KERNEL_NORM }, { "rmsnorm", KERNEL_NORM }, { "RMSNorm", KERNEL_NORM },
	{ "rmsNorm", KERNEL_NORM }, { "batch_norm", KERNEL_NORM }, { "group_norm", KERNEL_NORM },
	{ "GroupNorm", KERNEL_NORM },

	{ "gemm", KERNEL_GEMM }, { "Gemm", KERNEL_GEMM }, { "GEMM", KERNEL_GEMM },
	{ "gemv", KERNEL_GEMM }, { "nvjet", KERNEL_GEMM }, { "matmul", KERNEL_GEMM },
	{ "mul_mat", KERNEL_GEMM }, { "marlin", KERNEL_GEMM }, { "bmm_", KERNEL_GEMM },
	{ "splitKreduce", KERNEL_GEMM }, { "cutlass_80_tensorop", KERNEL_GEMM },
	{ "cublas", KERNEL_GEMM },

	{ "softmax", KERNEL_REDUCE }, { "Softmax", KERNEL_REDUCE }, { "SoftMax", KERNEL_REDUCE },
	{ "reduce", KERNEL_REDUCE }, { "Reduce", KERNEL_REDUCE }, { "argmax", KERNEL_REDUCE },
	{ "cumsum", KERNEL_REDUCE }, { "DeviceScan", KERNEL_REDUCE },

	{ "elementwise", KERNEL_ELEMENTWISE }, { "unary_kernel", KERNEL_ELEMENTWISE },
	{ "binary_kernel", KERNEL_ELEMENTWISE }, { "CatArray", KERNEL_ELEMENTWISE },
	{ "act_and_mul", KERNEL_ELEMENTWISE }, { "swiglu", KERNEL_ELEMENTWISE },
	{ "silu", KERNEL_ELEMENTWISE }, { "gelu", KERNEL_ELEMENTWISE },
	{ "relu", KERNEL_ELEMENTWISE }, { "copy", KERNEL_ELEMENTWISE },
	{ "cpy_", KERNEL_ELEMENTWISE }, { "fill", KERNEL_ELEMENTWISE },
	{ "k_bin_bcast", KERNEL_ELEMENTWISE }, { "memcpy", KERNEL_ELEMENTWISE },
};

static bool fits(const char *name, const char *part)
{
	if (*part != '^')
		return strstr(name, part) != NULL;
	for (part++; *part && *part == *name; part++)
		name++;
	return !*part;
}

enum kernel_class kernel_class_of(const char *name)
{
	for (size_t i = 0; name && i < sizeof(rules) / sizeof(rules[0]); i++)
		if (fits(name, rules[i].part))
			return rules[i].class;
	return KERNEL_OTHER;
}

