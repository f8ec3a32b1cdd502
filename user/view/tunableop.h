/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Products of matrices as PyTorch's TunableOp takes them for tuning later
 * (torch.cuda.tunable.tune_gemm_in_file), in the lines that PYTORCH_TUNABLEOP_RECORD_UNTUNED=1
 * writes: --format tunableop.
 *
 *   GemmTunableOp_float_NN,nn_32_8_64_ld_32_64_32
 *   GemmAndBiasTunableOp_Half_TN,tn_48_8_64_ld_64_64_48
 *   GemmStridedBatchedTunableOp_float_NN,nn_24_8_16_B_4_ld_24_16_24
 *
 * Each once, in the order of the table. Left out are products of types that it does not have, or of
 * several, and batches of pointers.
 */
#ifndef VIEW_TUNABLEOP_H
#define VIEW_TUNABLEOP_H

#include "base/str.h"
#include "view/table.h"

/* gemm: a table of view_gemm. How many rows are left out; out->failed: out of memory. */
size_t tunableop_add(struct strbuf *out, const struct table *gemm);

#endif
