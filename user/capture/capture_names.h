/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The function table of a capture being read: functions that blocks define again and again get
 * one index. Owns the names.
 */
#ifndef CAPTURE_CAPTURE_NAMES_H
#define CAPTURE_CAPTURE_NAMES_H

#include "base/map.h"
#include "event/event.h"

struct capture_names {
	struct funcs funcs;
	struct map by_hash;
};

#define NAMES_FULL (-ENOSPC)

/* The index of a function equal in all parts, made if need be; NAMES_FULL or -ENOMEM. f's names
 * are copied. */
int capture_names_find(struct capture_names *n, const struct func *f);
void capture_names_free(struct capture_names *n);

#endif
