/* SPDX-License-Identifier: BSD-3-Clause */
/* NVML asked once, by who waits for the answer: not for long, since a driver that is ill may hang.
 */
#ifndef SESSION_NVML_ASK_H
#define SESSION_NVML_ASK_H

#include "source/nvml/nvml.h"

#define NVML_ASK_S 5u		/* a driver that keeps no state takes seconds to wake a GPU */

/* Until it has looked once; NVML_STARTING: it does not answer. */
void nvml_ask(struct nvml *n, struct nvml_status *st);

void nvml_ask_end(struct nvml *n);	/* frees it */

#endif
