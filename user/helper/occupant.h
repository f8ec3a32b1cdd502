/* SPDX-License-Identifier: BSD-3-Clause */
/* Who else may be using CUPTI in this process: a guess by what is loaded, and called one. */
#ifndef HELPER_OCCUPANT_H
#define HELPER_OCCUPANT_H

const char *occupant_name(void);	/* "another CUPTI client" when nothing known is loaded */

#endif
