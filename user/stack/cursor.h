/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reading DWARF's encodings from bytes that may lie: what does not fit gives 0 and sets `bad`,
 * which callers check once. Private to the room.
 */
#ifndef STACK_CURSOR_H
#define STACK_CURSOR_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

struct cursor {
	const uint8_t *start, *at, *end;
	uint64_t address;	/* of start, in the memory of the target */
	bool bad;
};

enum { PE_ABSPTR = 0, PE_ULEB = 1, PE_U2 = 2, PE_U4 = 3, PE_U8 = 4, PE_SLEB = 9, PE_S2 = 10,
       PE_S4 = 11, PE_S8 = 12, PE_PCREL = 0x10, PE_DATAREL = 0x30, PE_INDIRECT = 0x80,
       PE_OMIT = 0xff };

static inline uint64_t cursor_address(const struct cursor *c)
{
	return c->address + (uint64_t)(c->at - c->start);
}

static inline const uint8_t *cursor_take(struct cursor *c, uint64_t n)
{
	const uint8_t *at = c->at;

	if (c->bad || n > (uint64_t)(c->end - c->at)) {
		c->bad = true;
		c->at = c->end;
		return NULL;
	}
	c->at += n;
	return at;
}

/* Little-endian, as both machines are; n <= 8. */
static inline uint64_t cursor_unsigned(struct cursor *c, unsigned int n)
{
	const uint8_t *at = cursor_take(c, n);
	uint64_t value = 0;

	if (at)
		memcpy(&value, at, n);
	return value;
}

static inline int64_t cursor_signed(struct cursor *c, unsigned int n)
{
	unsigned int shift = 64 - 8 * n;

	return (int64_t)(cursor_unsigned(c, n) << shift) >> shift;
}

static inline uint64_t cursor_uleb(struct cursor *c)
{
	uint64_t value = 0;
	unsigned int shift = 0;
	uint8_t byte;

	do {
		byte = (uint8_t)cursor_unsigned(c, 1);
		if (shift < 64)
			value |= (uint64_t)(byte & 0x7f) << shift;
		shift += 7;
	} while (byte & 0x80 && !c->bad);
	return value;
}

static inline int64_t cursor_sleb(struct cursor *c)
{
	uint64_t value = 0;
	unsigned int shift = 0;
	uint8_t byte;

	do {
		byte = (uint8_t)cursor_unsigned(c, 1);
		if (shift < 64)
			value |= (uint64_t)(byte & 0x7f) << shift;
		shift += 7;
	} while (byte & 0x80 && !c->bad);
	if (shift < 64 && byte & 0x40)
		value |= ~0ull << shift;
	return (int64_t)value;
}

/* A DW_EH_PE pointer, not dereferenced if it is indirect. data: what datarel is relative to. */
static inline uint64_t cursor_pointer(struct cursor *c, uint8_t encoding, uint64_t data)
{
	uint64_t here = cursor_address(c), value;

	switch (encoding & 0x0f) {
	case PE_ABSPTR: case PE_U8: case PE_S8: value = cursor_unsigned(c, 8); break;
	case PE_ULEB: value = cursor_uleb(c); break;
	case PE_U2: value = cursor_unsigned(c, 2); break;
	case PE_U4: value = cursor_unsigned(c, 4); break;
	case PE_SLEB: value = (uint64_t)cursor_sleb(c); break;
	case PE_S2: value = (uint64_t)cursor_signed(c, 2); break;
	case PE_S4: value = (uint64_t)cursor_signed(c, 4); break;
	default: c->bad = true; return 0;
	}
	switch (encoding & 0x70) {
	case 0: return value;
	case PE_PCREL: return here + value;
	case PE_DATAREL: return data + value;
	default: c->bad = true; return 0;
	}
}

#endif
