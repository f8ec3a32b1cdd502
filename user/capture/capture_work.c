// SPDX-License-Identifier: BSD-3-Clause
/*
 * See the header. A shape is a work whose own fields are 0, and a name; names are compared by their
 * text in the block, where the definition has put them.
 */
#include "capture/capture_work.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "capture/capture_dict.h"
#include "base/varint.h"

#define SLOTS ((size_t)2 * GP_BLOCK_WORKS_MAX)

struct work_shape {
	struct work work;	/* its own fields are 0, or the last one's that was read */
	const char *name;	/* in the block; NULL: none */
	uint64_t name_hash;
};

/* What each work has of its own. */
static struct work shape_of(const struct work *work)
{
	struct work shape = *work;

	shape.correlation = 0;
	shape.graph_node = 0;
	shape.bytes = 0;
	shape.error_ns = 0;
	shape.pad = 0;
	return shape;
}

static uint64_t hash_of(const struct work *shape, uint64_t name_hash)
{
	uint64_t hash = name_hash, word;

	for (size_t at = 0; at + sizeof(word) <= sizeof(*shape); at += sizeof(word)) {
		memcpy(&word, (const char *)shape + at, sizeof(word));
		hash = map_hash(hash ^ word);
	}
	return hash;
}

/* Names in the block may have been cut. */
static bool same_name(const char *kept, const char *name)
{
	size_t len;

	if (!kept || !name)
		return kept == name;
	len = strlen(kept);
	return !strcmp(kept, name) || (len == GP_TEXT_MAX && !strncmp(kept, name, len - 3));
}

int work_dict_init(struct work_dict *d)
{
	d->n = 0;
	d->shape = malloc(GP_BLOCK_WORKS_MAX * sizeof(*d->shape));
	d->slot = calloc(SLOTS, sizeof(*d->slot));
	return d->shape && d->slot ? 0 : -ENOMEM;
}

void work_dict_reset(struct work_dict *d)
{
	if (d->n)
		memset(d->slot, 0, SLOTS * sizeof(*d->slot));
	d->n = 0;
}

void work_dict_free(struct work_dict *d)
{
	free(d->shape);
	free(d->slot);
}

static uint8_t *put_dims(uint8_t *p, const uint32_t v[3])
{
	for (int i = 0; i < 3; i++)
		p = varint_put(p, v[i]);
	return p;
}

static void define(struct work_dict *d, const struct work *w, const char *name, uint8_t **p)
{
	uint8_t *row = dict_row_begin(*p, GP_TAG_WORK), *q = row;

	q = varint_put(q, w->kind);
	q = varint_put(q, w->has);
	q = varint_put(q, w->dir);
	q = varint_put(q, w->memory);
	q = varint_put(q, w->registers);
	q = varint_put(q, w->launch_type);
	q = varint_put(q, w->device);
	q = varint_put(q, w->context);
	q = varint_put(q, w->stream);
	q = varint_put(q, w->graph);
	q = varint_put(q, w->peer_from);
	q = varint_put(q, w->peer_to);
	q = put_dims(q, w->grid);
	q = put_dims(q, w->block);
	q = put_dims(q, w->cluster);
	q = varint_put(q, w->static_shared);
	q = varint_put(q, w->dynamic_shared);
	q = varint_put(q, w->shared_executed);
	q = varint_put(q, w->local_per_thread);
	q = varint_put(q, w->max_active_clusters);
	q = varint_put(q, name != NULL);
	if (name)
		q = dict_put_text(q, name);
	*p = dict_row_end(row, q);
	d->shape[d->n++] = (struct work_shape){
		.work = *w, .name = name ? (char *)q - 1 - strnlen(name, GP_TEXT_MAX) : NULL };
}

uint32_t work_dict_find(struct work_dict *d, const struct event *ev, uint8_t **p)
{
	struct work shape = shape_of(ev->work);
	size_t i = hash_of(&shape, ev->text_hash ? ev->text_hash : event_text_hash(ev->text)) & (SLOTS - 1);

	for (; d->slot[i]; i = (i + 1) & (SLOTS - 1)) {
		const struct work_shape *known = &d->shape[d->slot[i] - 1];

		if (!memcmp(&known->work, &shape, sizeof(shape)) && same_name(known->name, ev->text))
			return d->slot[i] - 1;
	}
	define(d, &shape, ev->text, p);
	d->slot[i] = d->n;
	return d->n - 1;
}

uint8_t *work_put(uint8_t *p, uint32_t shape, const struct work *work)
{
	p = varint_put(p, shape);
	p = varint_put(p, work->correlation);
	p = varint_put(p, work->graph_node);
	p = varint_put(p, work->bytes);
	return varint_put(p, work->error_ns);
}

/* Numbers of struct device_facts in the order in which captures have them. */
#define FACTS(X) \
	X(device) X(cc_major) X(cc_minor) X(multiprocessors) X(warp_threads) X(threads_per_sm) \
	X(blocks_per_sm) X(registers_per_sm) X(shared_per_sm) X(shared_per_block) X(shared_reserved)

uint8_t *work_put_device(uint8_t *p, const struct device_facts *facts)
{
#define PUT(member) p = varint_put(p, facts->member);
	FACTS(PUT)
	p = varint_put(p, facts->memory_bytes);
	return dict_put_text(p, facts->uuid);
}

/* ---- reading -------------------------------------------------------------------------------- */

int work_shapes_init(struct work_shapes *s)
{
	s->n = 0;
	s->v = malloc(GP_BLOCK_WORKS_MAX * sizeof(*s->v));
	return s->v ? 0 : -ENOMEM;
}

void work_shapes_free(struct work_shapes *s)
{
	free(s->v);
}

static bool get_dims(struct row *r, uint32_t v[3])
{
	bool ok = true;

	for (int i = 0; i < 3; i++)
		ok &= row_u32(r, &v[i]);
	return ok;
}

bool work_shapes_define(struct work_shapes *s, struct row *r)
{
	struct work w = { .kind = 0 };
	const char *name = NULL;
	uint32_t registers;
	bool ok = row_u8(r, &w.kind);

	ok &= row_u8(r, &w.has);
	ok &= row_u8(r, &w.dir);
	ok &= row_u8(r, &w.memory);
	ok &= row_u32(r, &registers);
	ok &= row_u8(r, &w.launch_type);
	ok &= row_u32(r, &w.device);
	ok &= row_u32(r, &w.context);
	ok &= row_u32(r, &w.stream);
	ok &= row_u32(r, &w.graph);
	ok &= row_u32(r, &w.peer_from);
	ok &= row_u32(r, &w.peer_to);
	ok &= get_dims(r, w.grid);
	ok &= get_dims(r, w.block);
	ok &= get_dims(r, w.cluster);
	ok &= row_u32(r, &w.static_shared);
	ok &= row_u32(r, &w.dynamic_shared);
	ok &= row_u32(r, &w.shared_executed);
	ok &= row_u32(r, &w.local_per_thread);
	ok &= row_u32(r, &w.max_active_clusters);
	if (row_get(r))
		ok &= (name = row_text(r)) != NULL;
	if (!ok || !row_ended_well(r) || registers > UINT16_MAX || s->n == GP_BLOCK_WORKS_MAX)
		return false;
	w.registers = (uint16_t)registers;
	s->v[s->n++] = (struct work_shape){ w, name, event_text_hash(name) };
	return true;
}

bool work_get(struct work_shapes *s, struct row *r, struct event *ev)
{
	uint64_t shape = row_get(r);
	struct work *w;
	bool ok;

	if (!row_ended_well(r) || shape >= s->n)
		return false;
	w = &s->v[shape].work;
	ev->work = w;
	ev->text = s->v[shape].name;
	ev->text_hash = s->v[shape].name_hash;
	ok = row_u32(r, &w->correlation);
	w->graph_node = row_get(r);
	w->bytes = row_get(r);
	w->error_ns = row_get(r);
	return ok;
}

bool work_get_device(struct row *r, struct device_facts *out)
{
	const char *uuid;
	bool ok = true;

	memset(out, 0, sizeof(*out));
#define GET(member) ok &= row_u32(r, &out->member);
	FACTS(GET)
	out->memory_bytes = row_get(r);
	uuid = row_text(r);
	if (!ok || !uuid || strlen(uuid) > DEVICE_UUID_LEN)
		return false;
	memcpy(out->uuid, uuid, strlen(uuid) + 1);
	return true;
}
