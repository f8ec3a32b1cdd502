/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Files that were looked at a moment ago and have nothing to probe. Shells and compilers map the
 * same few with each process they start, and a look costs a dozen system calls. A file that was
 * changed just now is no such file; what is written over in place is seen when the moment is over. Nor is
 * one whose inode may be another's by now, and nobody could tell (target_event.file is 0).
 */
#ifndef SESSION_DULL_H
#define SESSION_DULL_H

#include <stdbool.h>

#include "base/map.h"
#include "target/target.h"
#include "target/target_watch.h"

struct dull {			/* start zeroed */
	struct map until_ns;	/* by target_event.file */
};

bool dull_is(const struct dull *d, const struct target_event *ev);
bool dull_may_be(const struct target_file *file);	/* it was not changed lately */
void dull_note(struct dull *d, const struct target_event *ev);	/* what ev maps has nothing */
void dull_free(struct dull *d);

#endif
