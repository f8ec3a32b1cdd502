// SPDX-License-Identifier: BSD-3-Clause
/* The names of counters. */
#include "event/counters.h"

const char *const counter_names[COUNTER_END] = {
	[COUNTER_NESTED] = "nested", [COUNTER_REACHED] = "reached",
	[COUNTER_ABANDONED] = "abandoned", [COUNTER_FOREIGN] = "foreign",
	[COUNTER_UNFOLLOWED] = "unfollowed",
};
