/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which calls CUPTI records: single functions where it can choose (12.5), since the whole of an API
 * is mostly chatter; before, all of the runtime and of the driver, by which programs launch too.
 */
#ifndef HELPER_CALLS_H
#define HELPER_CALLS_H

#include "helper/cupti.h"

/* others: also functions that launch nothing and do not wait (GP_RING_WANT_ALL_CALLS). How it is done:
 * GP_CALLS_*; or, negative, CUPTI's code, *what: the function that failed. */
int calls_enable(const struct cupti *c, bool others, const char **what);
void calls_disable(const struct cupti *c);

#endif
