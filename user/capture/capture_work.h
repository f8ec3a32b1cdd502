/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Works and devices in captures: what works have in common is defined once a block, with the
 * kernel's name, and an event row then names it by its number and adds what is its own. Both
 * directions of include/gpuprof/capture.h's GP_TAG_WORK, GP_FIELD_WORK and GP_FIELD_DEVICE.
 */
#ifndef CAPTURE_CAPTURE_WORK_H
#define CAPTURE_CAPTURE_WORK_H

#include <gpuprof/capture.h>

#include "capture/capture_row.h"
#include "event/event.h"
#include "event/work.h"

/* ---- writing -------------------------------------------------------------------------------- */

struct work_dict {
	struct work_shape *shape;	/* defined in this block */
	uint32_t *slot;			/* hash table of numbers + 1 */
	uint32_t n;
};

int work_dict_init(struct work_dict *d);	/* 0 or -ENOMEM */
void work_dict_reset(struct work_dict *d);
void work_dict_free(struct work_dict *d);

static inline bool work_dict_full(const struct work_dict *d)
{
	return d->n == GP_BLOCK_WORKS_MAX;
}

/* The number of the shape of the event's work; writes its definition to *p when it is new. */
uint32_t work_dict_find(struct work_dict *d, const struct event *ev, uint8_t **p);

/* The fields GP_FIELD_WORK and GP_FIELD_DEVICE. */
uint8_t *work_put(uint8_t *p, uint32_t shape, const struct work *work);
uint8_t *work_put_device(uint8_t *p, const struct device_facts *facts);

/* ---- reading -------------------------------------------------------------------------------- */

struct work_shapes {
	struct work_shape *v;
	uint32_t n;
};

int work_shapes_init(struct work_shapes *s);	/* 0 or -ENOMEM */
void work_shapes_free(struct work_shapes *s);

/* A GP_TAG_WORK row. False: it cannot be. */
bool work_shapes_define(struct work_shapes *s, struct row *r);

/* The field: the work, valid until the next one, and its name (in the block) as they were pushed. False:
 * it cannot be. */
bool work_get(struct work_shapes *s, struct row *r, struct event *ev);
bool work_get_device(struct row *r, struct device_facts *out);

#endif
