/* SPDX-License-Identifier: BSD-3-Clause */
/* Who else may be using CUPTI in this process, or come to: a guess by what is loaded, and called one. */
#ifndef HELPER_OCCUPANT_H
#define HELPER_OCCUPANT_H

const char *occupant_name(void);	/* "another CUPTI client" when nothing known is loaded */

/* Somebody whose library is loaded, or one that is linked with libcupti: the client's name. NULL: nobody.
 * As long as nothing is loaded it is cheap to ask again. */
const char *occupant_to_come(void);

#endif
