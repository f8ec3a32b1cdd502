// SPDX-License-Identifier: BSD-3-Clause
/*
 * An open-addressing table by content; before it a small one by address, whose entries overwrite
 * each other. Nothing is ever removed, so a number always has its text. A number enters the
 * table after its text was sent: a thread that finds it there sends records that use it.
 */
#include "helper/names.h"

#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>

#include "gpuprof/work.h"

#define SLOTS (NAMES_MAX * 2)	/* a power of two */
#define RECENT 4096
#define ID_BITS 17		/* NAMES_MAX fits; with an address of 47 bits, one word */
#define ID_MASK ((1u << ID_BITS) - 1)

struct text {
	uint32_t hash;
	uint32_t bytes;
	const char *at;		/* not ended by a 0; NULL until all is there */
};

struct names {
	uint32_t n;		/* numbers given, also those of texts that found no room */
	uint32_t used;		/* of bytes */
	struct text text[NAMES_MAX];
	uint32_t slot[SLOTS];	/* number, 0: free */
	uint64_t recent[RECENT];	/* address << ID_BITS | number */
	char bytes[NAMES_BYTES_MAX];
};

struct names *names_new(void)
{
	void *memory = mmap(NULL, sizeof(struct names), PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	return memory == MAP_FAILED ? NULL : memory;
}

static void send_name(const struct text *t, struct helper_ring *r, uint32_t slots, uint32_t id)
{
	struct {
		struct gp_ring_name head;
		char text[NAMES_TEXT_MAX];
	} rec;

	rec.head = (struct gp_ring_name){ .id = id, .bytes = t->bytes };
	memcpy(rec.text, t->at, t->bytes);
	helper_ring_send_to(r, slots, GP_RING_NAME_IS, &rec, sizeof(rec.head) + t->bytes);
}

/* A new number of the text, sent to all. 0: no room. */
static uint32_t add(struct names *n, struct helper_ring *r, const char *text, uint32_t hash,
		    uint32_t bytes)
{
	uint32_t id, at;
	struct text *t;

	if (__atomic_load_n(&n->n, __ATOMIC_RELAXED) >= NAMES_MAX ||
	    __atomic_load_n(&n->used, __ATOMIC_RELAXED) > NAMES_BYTES_MAX - NAMES_TEXT_MAX)
		return 0;
	id = __atomic_add_fetch(&n->n, 1, __ATOMIC_SEQ_CST);
	at = __atomic_fetch_add(&n->used, bytes, __ATOMIC_RELAXED);
	if (id > NAMES_MAX || at > NAMES_BYTES_MAX - NAMES_TEXT_MAX)
		return 0;
	t = &n->text[id - 1];
	t->hash = hash;
	t->bytes = bytes;
	memcpy(n->bytes + at, text, bytes);
	/* Either a new reader gets it from names_send, or here: it wants names before that. */
	__atomic_store_n(&t->at, n->bytes + at, __ATOMIC_SEQ_CST);
	send_name(t, r, __atomic_load_n(&r->wanted[GP_RING_NAME_IS], __ATOMIC_SEQ_CST), id);
	return id;
}

static uint32_t find(struct names *n, struct helper_ring *r, const char *text, uint32_t hash,
		     uint32_t bytes)
{
	uint32_t at = hash & (SLOTS - 1), id, mine = 0;

	for (uint32_t tries = 0; tries < SLOTS; tries++, at = (at + 1) & (SLOTS - 1)) {
		const struct text *t;

		id = __atomic_load_n(&n->slot[at], __ATOMIC_ACQUIRE);
		if (!id) {
			if (!mine)
				mine = add(n, r, text, hash, bytes);
			if (!mine ||
			    __atomic_compare_exchange_n(&n->slot[at], &id, mine, false,
							__ATOMIC_RELEASE, __ATOMIC_ACQUIRE))
				return mine;
		}
		t = &n->text[id - 1];
		if (t->hash == hash && t->bytes == bytes && !memcmp(t->at, text, bytes))
			return id;
	}
	return mine;
}

/* Is the text at the address still the one that was sent? */
static bool is_same(const struct text *t, const char *text)
{
	return !strncmp(text, t->at, t->bytes) && (t->bytes == NAMES_TEXT_MAX || !text[t->bytes]);
}

uint32_t names_of(struct names *n, struct helper_ring *r, const char *text)
{
	uint64_t address = (uint64_t)(uintptr_t)text << ID_BITS, known;
	uint64_t *recent = &n->recent[((uintptr_t)text ^ (uintptr_t)text >> 12) & (RECENT - 1)];
	uint32_t hash = 2166136261u, bytes, id;

	if (!text)
		return 0;
	known = __atomic_load_n(recent, __ATOMIC_ACQUIRE);
	if ((known & ~(uint64_t)ID_MASK) == address && known & ID_MASK &&
	    is_same(&n->text[(known & ID_MASK) - 1], text))
		return (uint32_t)known & ID_MASK;
	for (bytes = 0; bytes < NAMES_TEXT_MAX && text[bytes]; bytes++)
		hash = (hash ^ (uint8_t)text[bytes]) * 16777619u;	/* FNV-1a */
	id = find(n, r, text, hash, bytes);
	if (id)
		__atomic_store_n(recent, address | id, __ATOMIC_RELEASE);
	return id;
}

void names_send(const struct names *n, struct helper_ring *r, uint32_t slots)
{
	uint32_t count = __atomic_load_n(&n->n, __ATOMIC_SEQ_CST);

	for (uint32_t id = 1; slots && id <= count && id <= NAMES_MAX; id++)
		if (__atomic_load_n(&n->text[id - 1].at, __ATOMIC_SEQ_CST))
			send_name(&n->text[id - 1], r, slots, id);
}
