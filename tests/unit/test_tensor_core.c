// SPDX-License-Identifier: BSD-3-Clause
/*
 * Tensor cores by name, on names of real kernels of each library; and on all names seen in the field
 * (tests/data/kernel_names.csv): what moves or adds data, or communicates, is never said to use them.
 */
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "bucket/kernel_class.h"
#include "bucket/tensor_core.h"
#include "lib/test.h"

static const struct {
	const char *name;
	enum tensor_core use;
	enum kernel_class class;
} kernels[] = {
	/* cuBLAS, by architecture */
	{ "volta_fp16_s884gemm_fp16_128x128_ldg8_f2f_nn", TENSOR_YES, KERNEL_GEMM },
	{ "turing_fp16_s1688gemm_fp16_256x128_ldg8_f2f_nn", TENSOR_YES, KERNEL_GEMM },
	{ "ampere_bf16_s16816gemm_bf16_128x256_ldg8_f2f_stages_64x3_tn", TENSOR_YES, KERNEL_GEMM },
	{ "ampere_sgemm_128x64_tn", TENSOR_NO, KERNEL_GEMM },
	{ "volta_sgemm_32x128_nn", TENSOR_NO, KERNEL_GEMM },
	{ "sm80_xmma_gemm_f32f32_f32f32_f32_tn_n_tilesize64x64x8_stage3_warpsize1x4x1_ffma_aligna4_alignc4_execute_kernel__51_cublas",
	  TENSOR_NO, KERNEL_GEMM },
	{ "sm90_xmma_gemm_bf16bf16_bf16f32_f32_tn_n_tilesize128x128x64_warpgroupsize1x1x1_execute_segment_k_off_kernel__5x_cublas",
	  TENSOR_YES, KERNEL_GEMM },
	{ "nvjet_hsh_128x256_64x4_2x1_v_bz_coopA_NTN", TENSOR_YES, KERNEL_GEMM },
	{ "void cublasLt::splitKreduce_kernel<32, 16, int, float, __nv_bfloat16, float, true, true, false>",
	  TENSOR_NO, KERNEL_GEMM },
	{ "void gemv2T_kernel_val<int, int, __half, __half, __half, float, 128, 16, 4, 4, false>",
	  TENSOR_NO, KERNEL_GEMM },
	/* CUTLASS */
	{ "void cutlass::Kernel2<cutlass_80_tensorop_f16_s16816gemm_relu_f16_256x128_32x3_nn_align8>(Params)",
	  TENSOR_YES, KERNEL_GEMM },
	{ "cutlass_80_simt_sgemm_128x128_8x4_nn_align1", TENSOR_NO, KERNEL_GEMM },
	{ "_ZN7cutlass7Kernel2I50cutlass_75_wmma_tensorop_f16_s161616gemm_f16_16x16EEvNT_6ParamsE",
	  TENSOR_YES, KERNEL_GEMM },
	/* cuDNN */
	{ "sm80_xmma_fprop_implicit_gemm_indexed_f16f16_f16f32_f32_nhwckrsc_nhwc_tilesize128x128x64",
	  TENSOR_YES, KERNEL_CONV },
	{ "turing_h1688cudnn_256x64_sliced1x2_ldg8_relu_exp_small_nhwc_tn_v1", TENSOR_YES, KERNEL_CONV },
	{ "cudnn_ampere_scudnn_128x64_relu_small_nn_v1", TENSOR_UNKNOWN, KERNEL_CONV },
	{ "void cudnn::bn_fw_tr_1C11_kernel_NCHW<float, float, int, 512, true, 1, true>",
	  TENSOR_UNKNOWN, KERNEL_NORM },
	/* FlashAttention */
	{ "void flash_fwd_kernel<Flash_fwd_kernel_traits<128, 128, 64, 4, false, false, cutlass::bfloat16_t>>",
	  TENSOR_YES, KERNEL_ATTENTION },
	{ "void cutlass::device_kernel<flash::FlashAttnFwdSm90<flash::CollectiveMainloopFwdSm90<2>>>",
	  TENSOR_YES, KERNEL_ATTENTION },
	{ "void flash::flash_fwd_splitkv_combine_kernel<Flash_fwd_kernel_traits<128>>", TENSOR_NO,
	  KERNEL_ATTENTION },
	/* Triton, PyTorch, NCCL */
	{ "triton_poi_fused_add_mul_0", TENSOR_UNKNOWN, KERNEL_ELEMENTWISE },
	{ "triton_red_fused_sum_3", TENSOR_UNKNOWN, KERNEL_REDUCE },
	{ "triton_tem_fused_mm_5", TENSOR_UNKNOWN, KERNEL_GEMM },
	{ "void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<float>>",
	  TENSOR_UNKNOWN, KERNEL_ELEMENTWISE },
	{ "void at::native::(anonymous namespace)::multi_tensor_apply_kernel<TensorListMetadata<4>>",
	  TENSOR_UNKNOWN, KERNEL_OPTIMIZER },
	{ "void (anonymous namespace)::layer_norm_grad_input_kernel<float>", TENSOR_UNKNOWN,
	  KERNEL_NORM },
	{ "ncclDevKernel_AllReduce_Sum_f16_RING_LL(ncclDevKernelArgsStorage<4096ul>)", TENSOR_UNKNOWN,
	  KERNEL_COMM },
	{ "ncclKernel_AllGather_RING_LL_Sum_int8_t(ncclWork)", TENSOR_UNKNOWN, KERNEL_COMM },
};

TEST(kernels_of_each_library)
{
	for (size_t i = 0; i < sizeof(kernels) / sizeof(kernels[0]); i++) {
		if (tensor_core_of(kernels[i].name) != kernels[i].use)
			fail_msg("tensor cores of %s: %d", kernels[i].name, tensor_core_of(kernels[i].name));
		if (kernel_class_of(kernels[i].name) != kernels[i].class)
			fail_msg("%s is %s", kernels[i].name,
				 kernel_class_name(kernel_class_of(kernels[i].name)));
	}
	assert_int_equal(tensor_core_of(NULL), TENSOR_UNKNOWN);
	assert_int_equal(tensor_core_of(""), TENSOR_UNKNOWN);
}

TEST(names_seen_in_the_field)
{
	char line[8192];
	FILE *f = fopen("tests/data/kernel_names.csv", "r");
	int yes = 0;

	assert_non_null(f);
	while (fgets(line, sizeof(line), f)) {
		enum kernel_class class = kernel_class_of(line);
		bool may = class == KERNEL_GEMM || class == KERNEL_ATTENTION || class == KERNEL_CONV;

		if (tensor_core_of(line) != TENSOR_YES)
			continue;
		if (!may)
			fail_msg("%s computes on no tensor cores", line);
		yes++;
	}
	fclose(f);
	assert_true(yes > 8);
}
