/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SESSION_HELPER_ADVICE_H
#define SESSION_HELPER_ADVICE_H

/* What to do about why a helper could not start (gp_ring_head.reason): "; set ..." or "". */
const char *helper_advice(const char *reason);

#endif
