/* SPDX-License-Identifier: BSD-3-Clause */
/* Other clients of CUPTI in this process: a guess by the loaded libraries. */
#ifndef HELPER_CUPTI_CLIENT_H
#define HELPER_CUPTI_CLIENT_H

const char *cupti_client_name(void);	/* "another CUPTI client" when nothing known is loaded */

/* The client whose library is loaded, or one linked with libcupti; NULL: none. Cheap to call
 * again as long as nothing is loaded. */
const char *cupti_client_expected(void);

#endif
