/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Is the helper's thread the last of its process? The C library ends a process when its last thread
 * ends, main's or another; where that is ours, which never ends by itself, the process would not
 * either. Knows nothing of what the helper does. Asks the system nothing (a filter might forbid it)
 * before nobody can be left but kin.
 */
#ifndef HELPER_ALONE_H
#define HELPER_ALONE_H

#include <stdint.h>

#include "helper/kin.h"

#define ALONE_NEVER UINT64_MAX

/* As the helper comes. on_left: is called on the main thread when that ends before the process does,
 * if it was ever seen; also in a forked child. */
void alone_open(void (*on_left)(void));

/* By any thread that passes the helper's doors: perhaps it is the main one. */
void alone_see(void);

/* The rest is for the helper's thread. Last: it may return, and if all others have ended the process
 * exits; also where the main one has, and the C library (before 2.34) does not say what others there
 * are: better no helper than a process without end. With kin: nobody else lives, it has to exit. */
enum alone_how { ALONE_NOT, ALONE_LAST, ALONE_WITH_KIN };
enum alone_how alone_is(const struct kin *kin);

uint64_t alone_wait_ns(void);	/* until it is to be asked again; ALONE_NEVER: until on_left */

#endif
