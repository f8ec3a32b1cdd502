// SPDX-License-Identifier: BSD-3-Clause
/* Short names of kernels, on names that PyTorch, vLLM, CUTLASS and others have. */
#include <string.h>

#include "bucket/kernel_short.h"
#include "lib/test.h"

#define AT "at::native::"
#define COPY AT "direct_copy_kernel_cuda(at::TensorIteratorBase&)::{lambda()#3}::operator()() const::" \
	     "{lambda()#7}::operator()() const::{lambda(float)#1}"

static const struct {
	const char *name, *is, *detail;
} names[] = {
	{ "sgemm_128x64_nt_kernel", "sgemm_128x64_nt_kernel", "sgemm_128x64_nt_kernel" },
	{ "ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)",
	  "ncclDevKernel_AllReduce_Sum_bf16_RING_LL", "ncclDevKernel_AllReduce_Sum_bf16_RING_LL" },
	{ "void " AT "vectorized_elementwise_kernel<4, " COPY ", std::array<char*, 2ul> >",
	  "vectorized_elementwise<direct_copy>",
	  "vectorized_elementwise<4, direct_copy(float)#1, array<char, 2ul>>" },
	{ AT "elementwise_kernel<128, 4, " AT "gpu_kernel_impl_nocast<" COPY ">(at::TensorIteratorBase&, " COPY
	  " const&)::{lambda(int)#1}>", "elementwise<direct_copy>", "elementwise<128, 4, direct_copy(float)#1>" },
	{ AT "vectorized_elementwise_kernel<4, " AT "CUDAFunctor_add<float>, std::array<char*, 3ul> >",
	  "vectorized_elementwise<add>", "vectorized_elementwise<4, add<float>, array<char, 3ul>>" },
	{ AT "vectorized_elementwise_kernel<4, " AT "AUnaryFunctor<float, float, float, " AT
	  "binary_internal::MulFunctor<float> >, std::array<char*, 2ul> >",
	  "vectorized_elementwise<Mul>", "vectorized_elementwise<4, Mul<float>, array<char, 2ul>>" },
	{ AT "reduce_kernel<512, 1, " AT "ReduceOp<float, " AT "func_wrapper_t<float, " AT
	  "sum_functor<float, float, float>::operator()(at::TensorIterator&)::{lambda(float, float)#1}>, "
	  "unsigned int, float, 4, 4> >", "reduce<sum>", "reduce<512, 1, sum<float, float, float>(float, float)#1>" },
	{ AT "reduce_kernel<512, 1, " AT "ReduceOp<float, " AT
	  "MeanOps<float, float, float, float>, unsigned int, float, 4, 4> >",
	  "reduce<Mean>", "reduce<512, 1, Mean<float, float, float, float>>" },
	{ AT "(anonymous namespace)::multi_tensor_apply_kernel<" AT "(anonymous namespace)::"
	  "FusedOptimizerTensorListMetadata<4>, " AT "(anonymous namespace)::FusedAdamMathFunctor<float, 4, "
	  "(" AT "ADAM_MODE)0, false>, double, double>", "multi_tensor_apply<FusedAdamMath>",
	  "multi_tensor_apply<FusedOptimizerTensorListMetadata<4>, FusedAdamMath<float, 4, 0, false>, "
	  "double, double>" },
	{ AT "(anonymous namespace)::multi_tensor_apply_kernel<" AT "(anonymous namespace)::TensorListMetadata<1>, "
	  AT "(anonymous namespace)::BinaryOpScalarFunctor<float, 1, 1, 0>, std::multiplies<float>, float>",
	  "multi_tensor_apply<BinaryOpScalar, multiplies>",
	  "multi_tensor_apply<TensorListMetadata<1>, BinaryOpScalar<float, 1, 1, 0>, multiplies<float>, float>" },
	{ "void vllm::reshape_and_cache_flash_kernel<__nv_bfloat16, __nv_bfloat16, (vllm::Fp8KVCacheDataType)0>",
	  "reshape_and_cache_flash", "reshape_and_cache_flash<__nv_bfloat16, __nv_bfloat16, 0>" },
	{ "void flashinfer::activation::act_and_mul_kernel<__nv_bfloat16, &(float silu<float>(float const&))>",
	  "act_and_mul<silu>", "act_and_mul<__nv_bfloat16, silu<float>>" },
	{ "flash_fwd_kernel<Flash_fwd_kernel_traits<128, 128, 64, 4>>", "flash_fwd",
	  "flash_fwd<Flash_fwd_kernel_traits<128, 128, 64, 4>>" },
	{ "void cutlass::Kernel2<cutlass_80_tensorop_bf16_s16816gemm>", "cutlass_80_tensorop_bf16_s16816gemm",
	  "cutlass_80_tensorop_bf16_s16816gemm" },
	/* too long to be demangled, or cut */
	{ "_ZN10flashinfer8sampling30TopKTopPSamplingFromProbKernelILj1024ELN3cub39_V_300200_SM_800_860",
	  "TopKTopPSamplingFromProb", "TopKTopPSamplingFromProb" },
	{ "_ZN7cutlass7Kernel2I68cutlass_80_wmma_tensorop_bf16_s161616gemm_bf16_16x16_128x1_tn_align8EEvNT_",
	  "cutlass_80_wmma_tensorop_bf16_s161616gemm_bf16_16x16_128x1_tn_align8",
	  "cutlass_80_wmma_tensorop_bf16_s161616gemm_bf16_16x16_128x1_tn_align8" },
	/* no names of kernels */
	{ "", "", "" }, { "<", "<", "<" }, { "(no name)", "(no name)", "(no name)" }, { "a::", "a", "a" },
	{ "_ZN", "_ZN", "_ZN" }, { "f<>", "f", "f" }, { "f<g<", "f<g>", "f<g>" },
	{ "Memcpy DtoD (Device -> Device)", "Memcpy DtoD (Device -> Device)", "Memcpy DtoD (Device -> Device)" },
};

static void assert_short(const char *name, bool detail, const char *wanted)
{
	struct strbuf text = STRBUF_INIT;

	kernel_short_add(&text, name, detail);
	assert_string_equal(text.s, wanted);
	strbuf_free(&text);
}

TEST(a_name_is_the_kernels_and_its_functors)
{
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		assert_short(names[i].name, false, names[i].is);
		assert_short(names[i].name, true, names[i].detail);
	}
}

