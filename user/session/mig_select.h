/* SPDX-License-Identifier: BSD-3-Clause */
/* Before a verb begins: resolves the MIG instances that --gpu names. */
#ifndef SESSION_MIG_SELECT_H
#define SESSION_MIG_SELECT_H

#include "host/selector.h"

/* NULL: none; EXIT_OK, or one is missing (logged) */
int mig_select(struct selector *selector);

#endif
