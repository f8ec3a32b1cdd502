// SPDX-License-Identifier: BSD-3-Clause
/* Reasons by a part of them that the helper and we have agreed on (gpuprof/ring.h). */
#include "session/helper_advice.h"

#include <stddef.h>
#include <string.h>

#include "gpuprof/ring.h"

static const struct {
	const char *part, *advice;
} table[] = {
	{ GP_REASON_TOO_NEW,
	  "; start it with GPUPROF_CUPTI=PATH of a libcupti no newer than that, or update "
	  "the driver" },
	{ GP_REASON_NO_CUPTI,
	  "; install the CUPTI of its CUDA, or start it with GPUPROF_CUPTI=PATH of one" },
};

const char *helper_advice(const char *reason)
{
	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++)
		if (strstr(reason, table[i].part))
			return table[i].advice;
	return "";
}
