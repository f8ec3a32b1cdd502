// SPDX-License-Identifier: BSD-3-Clause
/* Three short lists. Of what is open the newest is looked at first: it ends first. */
#include "capture/holdings.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "base/vec.h"
#include "event/memory.h"
#include "event/work.h"

struct device {
	struct device_facts facts;
	char *name;			/* NULL: unknown */
};

struct holdings {
	VEC(struct device) devices;
	VEC(struct event) ranges;	/* PUSH, START, in their order; their texts are their own */
	VEC(struct event) allocs;	/* MEMORY */
	struct map by_address;		/* -> index in allocs */
};

static char *own(const char *text)
{
	return (char *)(uintptr_t)text;
}

static void free_range(struct event *r)
{
	free(own(r->text));
	free(own(r->text2));
}

void holdings_free(struct holdings *h)
{
	if (!h)
		return;
	for (size_t i = 0; i < h->devices.n; i++)
		free(h->devices.v[i].name);
	for (size_t i = 0; i < h->ranges.n; i++)
		free_range(&h->ranges.v[i]);
	VEC_FREE(&h->devices);
	VEC_FREE(&h->ranges);
	VEC_FREE(&h->allocs);
	map_free(&h->by_address);
	free(h);
}

static int copy_text(const char **to, const char *text)
{
	*to = text ? strdup(text) : NULL;
	return text && !*to ? -ENOMEM : 0;
}

/* ---- devices --------------------------------------------------------------------------------- */

static int take_device(struct holdings *h, const struct event *ev)
{
	const char *name;
	struct device *d = NULL;

	if (!ev->device)
		return 0;
	for (size_t i = 0; i < h->devices.n && !d; i++)
		if (h->devices.v[i].facts.device == ev->device->device)
			d = &h->devices.v[i];
	if (!d && h->devices.n >= HOLDINGS_DEVICES_MAX)
		return 0;
	if (copy_text(&name, ev->text))
		return -ENOMEM;
	if (!d)
		d = VEC_PUSH(&h->devices);
	if (!d) {
		free(own(name));
		return -ENOMEM;
	}
	free(d->name);
	*d = (struct device){ *ev->device, own(name) };
	return 0;
}

/* ---- ranges ---------------------------------------------------------------------------------- */

static bool same_text(const char *a, const char *b)
{
	return a && b ? !strcmp(a, b) : a == b;
}

static int begin_range(struct holdings *h, const struct event *ev)
{
	struct event r = *ev, *at;

	if (h->ranges.n >= HOLDINGS_RANGES_MAX)
		return 0;
	r.text = r.text2 = NULL;
	at = copy_text(&r.text, ev->text) || copy_text(&r.text2, ev->text2) ? NULL :
	     VEC_PUSH(&h->ranges);
	if (!at) {
		free_range(&r);
		return -ENOMEM;
	}
	*at = r;
	return 0;
}

static void end_range(struct holdings *h, size_t at)
{
	free_range(&h->ranges.v[at]);
	memmove(&h->ranges.v[at], &h->ranges.v[at + 1],
		(--h->ranges.n - at) * sizeof(h->ranges.v[0]));
}

static bool is_its_end(const struct event *begin, const struct event *end)
{
	if (end->dir == RANGE_END)
		return begin->dir == RANGE_START && begin->entity == end->entity;
	return begin->dir == RANGE_PUSH && begin->tid == end->tid &&
	       same_text(begin->text2, end->text2);
}

static int take_range(struct holdings *h, const struct event *ev)
{
	if (ev->dir == RANGE_PUSH || ev->dir == RANGE_START)
		return begin_range(h, ev);
	if (ev->dir != RANGE_POP && ev->dir != RANGE_END)
		return 0;
	for (size_t i = h->ranges.n; i-- > 0;)
		if (is_its_end(&h->ranges.v[i], ev)) {
			end_range(h, i);
			break;
		}
	return 0;
}

void holdings_exit(struct holdings *h, uint32_t tid)
{
	for (size_t i = h ? h->ranges.n : 0; i-- > 0;)
		if (h->ranges.v[i].tid == tid)
			end_range(h, i);
}

/* ---- memory ---------------------------------------------------------------------------------- */

static void take_free(struct holdings *h, uint64_t address)
{
	const struct map_slot *slot = map_find(&h->by_address, address);
	size_t at = slot ? slot->value : 0, last = h->allocs.n - 1;

	if (!slot)
		return;
	h->allocs.v[at] = h->allocs.v[last];
	map_find(&h->by_address, h->allocs.v[at].address)->value = at;
	map_del(&h->by_address, address);
	h->allocs.n--;
}

static int take_memory(struct holdings *h, const struct event *ev)
{
	struct map_slot *slot;
	struct event *at;

	if (!ev->address)
		return 0;
	take_free(h, ev->address);	/* also where its free was not seen */
	if (ev->dir != MEMORY_ALLOC || h->allocs.n >= HOLDINGS_ALLOCS_MAX)
		return 0;
	slot = map_put(&h->by_address, ev->address, NULL);
	at = slot ? VEC_PUSH(&h->allocs) : NULL;
	if (!at) {
		map_del(&h->by_address, ev->address);
		return -ENOMEM;
	}
	*at = *ev;
	slot->value = h->allocs.n - 1;
	return 0;
}

/* ---- all ------------------------------------------------------------------------------------- */

int holdings_take(struct holdings **h, const struct event *ev)
{
	int (*const take)(struct holdings *h, const struct event *ev) =
		ev->kind == EVENT_DEVICE ? take_device : ev->kind == EVENT_RANGE ? take_range :
		ev->kind == EVENT_MEMORY ? take_memory : NULL;

	if (!take)
		return 0;
	if (!*h)
		*h = calloc(1, sizeof(**h));
	return *h ? take(*h, ev) : -ENOMEM;
}

static int put_again(const struct event *ev, const struct event_sink *to)
{
	struct event again = *ev;

	EVENT_AGAIN(&again) = 1;
	return to->push(to->ctx, &again);
}

int holdings_put(const struct holdings *h, uint32_t pid, const struct event_sink *to)
{
	int err = 0;

	for (size_t i = 0; h && i < h->devices.n && !err; i++)
		err = to->push(to->ctx, &(struct event){
			.kind = EVENT_DEVICE, .pid = pid, .text = h->devices.v[i].name,
			.device = &h->devices.v[i].facts });
	for (size_t i = 0; h && i < h->ranges.n && !err; i++)
		err = put_again(&h->ranges.v[i], to);
	for (size_t i = 0; h && i < h->allocs.n && !err; i++)
		err = put_again(&h->allocs.v[i], to);
	return err;
}
