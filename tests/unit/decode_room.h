/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Records as BPF makes them of calls that unit/decode_abi.h has seen, and their decoding. The test
 * includes cmocka.h first; its state is the decoder.
 */
#ifndef UNIT_DECODE_ROOM_H
#define UNIT_DECODE_ROOM_H

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "lib/cmocka.h"
#include "source/bpf/decode.h"
#include "catalog/catalog.h"
#include "unit/decode_abi.h"
#include "unit/row_of.h"

#define POISON 0xabababababababab

struct raw {
	struct gp_call head;
	uint64_t words[GP_WORDS_LARGE + GP_WORDS_MORE];
};

/* What BPF sends for a call whose arguments are in `seen`: the length of the record. */
static size_t record(struct raw *raw, const char *name)
{
	unsigned int row = row_of(name);
	struct gp_row wire;

	memset(raw, 0xab, sizeof(*raw));
	raw->head = (struct gp_call){ .kind = GP_CALL, .row = (uint16_t)row, .seq = 7,
				      .start_ns = 1000, .dur_lo_ns = 20, .pid = 10, .tid = 11 };
	catalog_wire_row(catalog_row(row), &wire);
	memcpy(raw->words, seen, 8 * (wire.words < GP_REGS ? wire.words : GP_REGS));
	for (unsigned int i = 0; i < wire.extra_words; i++) {
		bool in_stack = wire.extra == GP_EXTRA_STACK || wire.extra == GP_EXTRA_STACK_AT;
		const uint64_t *from = in_stack ? &seen[GP_REGS] : (void *)(uintptr_t)seen[wire.from];

		raw->words[GP_REGS + i] = from[wire.extra <= GP_EXTRA_DEREF ? i : wire.at[i]];
	}
	return sizeof(raw->head) + 8u * wire.words;
}

static struct event decode_len(void *state, const struct raw *raw, size_t len)
{
	struct decode_off_texts texts;
	struct event ev;

	/* Not a byte beyond len may matter: sanitizers watch the copy. */
	void *copy = malloc(len);

	assert_non_null(copy);
	memcpy(copy, raw, len);
	assert_int_equal(decode_call(*(struct decoder **)state, copy, len, &ev, &texts), DECODE_OK);
	free(copy);
	return ev;
}

static inline struct event decode_seen(void *state, const char *name)
{
	struct raw raw;
	size_t len = record(&raw, name);
	struct event ev = decode_len(state, &raw, len);

	assert_int_equal(ev.kind, EVENT_CALL);
	assert_string_equal(decoder_funcs(*(struct decoder **)state)->v[ev.func].name, name);
	return ev;
}

static int setup(void **state)
{
	*state = decoder_new();
	return *state ? 0 : -1;
}

static int teardown(void **state)
{
	decoder_free(*state);
	return 0;
}

#endif
