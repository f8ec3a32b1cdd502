/* SPDX-License-Identifier: BSD-3-Clause */
/* Setters of option values, for the rows of options_table.c. 0, -EINVAL or -ENOMEM. */
#ifndef CLI_OPTION_VALUE_H
#define CLI_OPTION_VALUE_H

#include "cli/option_row.h"

#define OPTION_SETTER(name) \
	int option_set_##name(struct options *o, const struct option_row *row, const char *value)

OPTION_SETTER(flag);		/* bool */
OPTION_SETTER(text);		/* const char *, not empty */
OPTION_SETTER(duration);	/* uint64_t ns, at least 1 ms */
OPTION_SETTER(interval);	/* the same, at least 250 ms */
OPTION_SETTER(moment);		/* struct time_moment */
OPTION_SETTER(number);		/* uint64_t, at least 1 */
OPTION_SETTER(stack);		/* uint64_t bytes, 512 to 16k, rounded up to whole blocks */
OPTION_SETTER(ring);		/* uint64_t bytes, 64k to 1g, rounded up to a power of two */
OPTION_SETTER(size);		/* uint64_t bytes, 64k and more */
OPTION_SETTER(percent);		/* double share; "1%" or "1" is 0.01 */
OPTION_SETTER(budget);		/* the same, above 0; "off" is 0 */
OPTION_SETTER(choice);		/* int, index into row->choices */
OPTION_SETTER(pids);		/* adds to pids */
OPTION_SETTER(selector);	/* adds to selector */

#endif
