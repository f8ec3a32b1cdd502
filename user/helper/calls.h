/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which calls CUPTI records: single functions where it can choose (12.5), since the whole of an API
 * is mostly chatter; before, the whole runtime, and the driver's calls only within it.
 */
#ifndef HELPER_CALLS_H
#define HELPER_CALLS_H

#include "helper/cupti.h"

/* 0, or CUPTI's code; *what: the function that failed. */
int calls_enable(const struct cupti *c, const char **what);
void calls_disable(const struct cupti *c);

#endif
