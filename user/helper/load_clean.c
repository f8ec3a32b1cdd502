// SPDX-License-Identifier: BSD-3-Clause
/* The loading thread runs from what is to be unmapped, so another one does that, and ends. */
#include <pthread.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "helper/load.h"
#include "helper/thread.h"

static void *clean_up(void *ctx)
{
	struct gp_load *l = ctx;

	pthread_join((pthread_t)l->thread, NULL);
	for (int i = 0; i < 2; i++)
		munmap((void *)(uintptr_t)l->area[i], l->area_bytes[i]);
	free(l);
	return NULL;
}

void load_clean_up(const struct gp_load *l)
{
	struct gp_load *copy = malloc(sizeof(*copy));

	if (!copy)
		return;		/* a few pages stay */
	*copy = *l;
	if (thread_start(clean_up, copy))
		free(copy);
}
