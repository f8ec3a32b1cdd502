// SPDX-License-Identifier: BSD-3-Clause
/* Bounded, since it is a memory of what costs little to look up again. */
#include "session/dull.h"

#include <sys/stat.h>

#include "base/time.h"

#define MOMENT_NS NS_PER_SEC
#define SETTLED_S 60
#define FILES_MAX 4096

bool dull_is(const struct dull *d, const struct target_event *ev)
{
	const struct map_slot *slot = ev->file ? map_find(&d->until_ns, ev->file) : NULL;

	return slot && ev->time_ns < slot->value;
}

bool dull_may_be(const struct target_file *file)
{
	struct stat st;

	return !fstat(file->fd, &st) &&
	       time_wall_ns() / NS_PER_SEC > (uint64_t)st.st_mtime + SETTLED_S;
}

void dull_note(struct dull *d, const struct target_event *ev)
{
	struct map_slot *slot;

	if (!ev->file)
		return;
	if (d->until_ns.n >= FILES_MAX)
		map_free(&d->until_ns);
	slot = map_put(&d->until_ns, ev->file, NULL);
	if (slot)
		slot->value = ev->time_ns + MOMENT_NS;
}

void dull_free(struct dull *d)
{
	map_free(&d->until_ns);
}
