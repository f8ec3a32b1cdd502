// SPDX-License-Identifier: BSD-3-Clause
/* An open table by content; a small one by address before it, which forgets by being written over. */
#include "helper/names.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "gpuprof/work.h"

#define SLOTS (NAMES_MAX * 2)	/* a power of two */
#define RECENT 1024
#define CHUNK (64u << 10)
#define TEXT_MAX (GP_RING_RECORD_MAX - sizeof(struct gp_ring_record) - sizeof(struct gp_ring_name))

struct text {
	uint32_t hash;
	uint32_t bytes;
	const char *at;		/* not ended by a 0 */
};

struct chunk {
	struct chunk *next;
	size_t used;
	char bytes[CHUNK];
};

struct recent {
	const char *address;
	uint32_t id;
};

struct names {
	uint32_t n;
	struct text text[NAMES_MAX];
	uint32_t slot[SLOTS];	/* number, 0: free */
	struct recent recent[RECENT];
	struct chunk *chunks;
	size_t chunk_bytes;
	uint64_t refused;
};

struct names *names_new(void)
{
	return calloc(1, sizeof(struct names));
}

void names_free(struct names *n)
{
	while (n && n->chunks) {
		struct chunk *next = n->chunks->next;

		free(n->chunks);
		n->chunks = next;
	}
	free(n);
}

/* FNV-1a, and how long the text is, up to what a record carries. */
static uint32_t hash_text(const char *text, uint32_t *bytes)
{
	uint32_t hash = 2166136261u, i;

	for (i = 0; text[i] && i < TEXT_MAX; i++)
		hash = (hash ^ (uint8_t)text[i]) * 16777619u;
	*bytes = i;
	return hash;
}

static const char *keep(struct names *n, const char *text, uint32_t bytes)
{
	struct chunk *c = n->chunks;

	if (!c || c->used + bytes > CHUNK) {
		if (n->chunk_bytes + sizeof(*c) > NAMES_BYTES_MAX)
			return NULL;
		c = malloc(sizeof(*c));
		if (!c)
			return NULL;
		c->next = n->chunks;
		c->used = 0;
		n->chunks = c;
		n->chunk_bytes += sizeof(*c);
	}
	memcpy(c->bytes + c->used, text, bytes);
	c->used += bytes;
	return c->bytes + c->used - bytes;
}

static void tell(const struct names *n, struct helper_ring *r, uint32_t slots, uint32_t id)
{
	const struct text *t = &n->text[id - 1];
	struct {
		struct gp_ring_name head;
		char text[TEXT_MAX];
	} rec;

	rec.head = (struct gp_ring_name){ .id = id, .bytes = t->bytes };
	memcpy(rec.text, t->at, t->bytes);
	helper_ring_send_to(r, slots, GP_RING_NAME_IS, &rec, sizeof(rec.head) + t->bytes);
}

static uint32_t find(struct names *n, struct helper_ring *r, const char *text, uint32_t hash,
		     uint32_t bytes)
{
	uint32_t at = hash & (SLOTS - 1);
	struct text *t;

	for (; n->slot[at]; at = (at + 1) & (SLOTS - 1)) {
		t = &n->text[n->slot[at] - 1];
		if (t->hash == hash && t->bytes == bytes && !memcmp(t->at, text, bytes))
			return n->slot[at];
	}
	if (n->n == NAMES_MAX)
		return 0;
	t = &n->text[n->n];
	*t = (struct text){ .hash = hash, .bytes = bytes, .at = keep(n, text, bytes) };
	if (!t->at)
		return 0;
	n->slot[at] = ++n->n;
	tell(n, r, __atomic_load_n(&r->wanted[GP_RING_NAME_IS], __ATOMIC_ACQUIRE), n->n);
	return n->n;
}

/* Is what lies at the address still the text that it was? */
static bool is_same(const struct names *n, const struct recent *recent, const char *text)
{
	const struct text *t;

	if (recent->address != text)
		return false;
	t = &n->text[recent->id - 1];
	return !strncmp(text, t->at, t->bytes) && (t->bytes == TEXT_MAX || !text[t->bytes]);
}

uint32_t names_of(struct names *n, struct helper_ring *r, const char *text)
{
	struct recent *recent = &n->recent[(uintptr_t)text >> 3 & (RECENT - 1)];
	uint32_t hash, bytes, id;

	if (!text)
		return 0;
	if (is_same(n, recent, text))
		return recent->id;
	hash = hash_text(text, &bytes);
	id = find(n, r, text, hash, bytes);
	if (id)
		*recent = (struct recent){ text, id };
	else
		n->refused++;
	return id;
}

void names_tell(const struct names *n, struct helper_ring *r, uint32_t slots)
{
	for (uint32_t id = 1; slots && id <= n->n; id++)
		tell(n, r, slots, id);
}

uint64_t names_refused(const struct names *n)
{
	return n->refused;
}
