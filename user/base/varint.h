/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The integers of capture rows (include/gpuprof/capture.h): 1 to 9 bytes whose first byte gives
 * the length, so that writing and reading one is a handful of instructions without a branch on
 * its size. Knows nothing of rows. Both directions touch VARINT_SLACK bytes from p on, whatever
 * the length: the caller's buffer must be that much longer.
 */
#ifndef BASE_VARINT_H
#define BASE_VARINT_H

#include <stdint.h>
#include <string.h>

#define VARINT_MAX 9
#define VARINT_SLACK 9

/* Of a number of b + 1 bits, (b + 7) / 7; without a division, which is the same for all b < 64. */
static inline unsigned int varint_size(uint64_t v)
{
	unsigned int b = 63 ^ (unsigned int)__builtin_clzll(v | 1), n = (9 * b + 73) >> 6;

	return n < VARINT_MAX ? n : VARINT_MAX;
}

static inline uint8_t *varint_put(uint8_t *p, uint64_t v)
{
	unsigned int n = varint_size(v);

	if (__builtin_expect(n >= VARINT_MAX, 0)) {
		*p = 0;
		memcpy(p + 1, &v, sizeof(v));
		return p + VARINT_MAX;
	}
	v = (v << 1 | 1) << (n - 1);
	memcpy(p, &v, sizeof(v));
	return p + n;
}

static inline const uint8_t *varint_get(const uint8_t *p, uint64_t *v)
{
	static const uint64_t bits[] = {	/* of a value, by its length */
		0, 0x7f, 0x3fff, 0x1fffff, 0xfffffff, 0x7ffffffff, 0x3ffffffffff, 0x1ffffffffffff,
		0xffffffffffffff };
	uint64_t word;
	unsigned int n;

	memcpy(&word, p, sizeof(word));
	if (__builtin_expect(!(word & 0xff), 0)) {
		memcpy(v, p + 1, sizeof(*v));
		return p + VARINT_MAX;
	}
	n = (unsigned int)__builtin_ctzll(word) + 1;
	*v = word >> n & bits[n];
	return p + n;
}

static inline uint64_t varint_zigzag(int64_t v)
{
	return (uint64_t)v << 1 ^ -(uint64_t)(v < 0);
}

static inline int64_t varint_unzigzag(uint64_t v)
{
	return (int64_t)(v >> 1 ^ -(v & 1));
}

#endif
