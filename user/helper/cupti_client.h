/* SPDX-License-Identifier: BSD-3-Clause */
/* Other clients of CUPTI in this process: a guess by what is loaded. */
#ifndef HELPER_CUPTI_CLIENT_H
#define HELPER_CUPTI_CLIENT_H

const char *cupti_client_name(void);	/* "another CUPTI client" when nothing known is loaded */

/* The client whose library is loaded, or one that is linked with libcupti; NULL: none. As long as
 * nothing is loaded it is cheap to ask again. */
const char *cupti_client_expected(void);

#endif
