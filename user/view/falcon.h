/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The tables of Falcon (github.com/clintg6/falcon), a profiler within PyTorch programs, for scripts
 * that read its files: --format falcon. Of several processes they have the sums.
 *
 *   operator,count,total_time_ms,avg_time_ms,median_time_ms,percent_time
 *   aten.addmm.default,2,0.179,0.0895,,75.8
 *
 *   layer_type,input_shape,input_dtype,time_per_call,call_count,total_time,original_key
 *   Linear,"(2, 10)",torch.float16,0.0000895,2,0.000179,"Linear|(2, 10)|torch.float16|{}"
 *
 * Falcon runs each operator alone, and each module again. Here they are measured in place: where a
 * device worked, its time (operators that launched nothing are left out); else on the host, without
 * operators inside (with --torch all: at most). Shapes (--shapes) add input_shapes and
 * input_dtypes. Unknown are parameters of modules, and medians but of operators on the host that
 * called no others. Modules' times are in seconds.
 */
#ifndef VIEW_FALCON_H
#define VIEW_FALCON_H

#include "view/view.h"

extern const struct view view_falcon_operators, view_falcon_modules;

#endif
