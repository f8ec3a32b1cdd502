/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Memory that a test makes up, for the unwinder: one module at CODE with one CIE and one FDE over
 * all of it, and a stack at STACK. Instructions are the test's.
 */
#ifndef TESTS_FAKE_SPACE_H
#define TESTS_FAKE_SPACE_H

#include <assert.h>
#include <errno.h>
#include <stdint.h>
#include <string.h>

#include "stack/unwind.h"

#define CODE 0x10000u		/* where the module's code is: 64 KiB */
#define TABLES 0x30000u		/* where its .eh_frame_hdr is, .eh_frame 64 bytes behind it */
#define STACK 0x70000u		/* where the stack is */
#define WORDS 512u

struct fake {
	uint8_t tables[4096];
	uint64_t stack[WORDS];
	struct stack_module module;
	struct stack_space space;
	struct stack_step steps[STACK_DEPTH];
	enum stack_end end;
};

static inline int fake_read(void *ctx, uint64_t at, void *buf, size_t len)
{
	const struct fake *f = ctx;

	if (at >= TABLES && at + len <= TABLES + sizeof(f->tables))
		memcpy(buf, f->tables + (at - TABLES), len);
	else if (at >= STACK && at + len <= STACK + sizeof(f->stack))
		memcpy(buf, (const char *)f->stack + (at - STACK), len);
	else
		return -EFAULT;
	return 0;
}

static inline uint8_t *put(uint8_t *to, const void *data, size_t len)
{
	memcpy(to, data, len);
	return to + len;
}

static inline uint8_t *put_u32(uint8_t *to, uint32_t value)
{
	return put(to, &value, sizeof(value));
}

/* An entry's length goes before it; what follows is padded with nops. Returns its end. */
static inline uint8_t *end_entry(uint8_t *entry, uint8_t *end)
{
	while ((end - entry) % 8)
		*end++ = 0;
	put_u32(entry, (uint32_t)(end - entry - 4));
	return end;
}

/*
 * augmentation: "zR" or "zRS". cie and fde are instructions. table: with a sorted table in the
 * header; else the tables are only to be had by reading them through.
 */
static inline void fake_make(struct fake *f, const char *augmentation, const char *cie,
			     size_t cie_len, const char *fde, size_t fde_len)
{
	const uint8_t factors[] = { 1, 0x78, stack_abi.ra };	/* code 1, data -8 */
	uint8_t *hdr = f->tables, *first = f->tables + 64, *at, *second;

	memset(f, 0, sizeof(*f));
	at = put_u32(first + 4, 0);
	*at++ = 1;
	at = put(at, augmentation, strlen(augmentation) + 1);
	at = put(at, factors, sizeof(factors));
	*at++ = 1;			/* augmentation data: ... */
	*at++ = 0x1b;			/* ... pcrel sdata4 */
	at = put(at, cie, cie_len);
	second = end_entry(first, at);
	at = put_u32(second + 4, (uint32_t)(second + 4 - first));
	at = put_u32(at, CODE - (TABLES + (uint32_t)(at - f->tables)));
	at = put_u32(at, 0x10000);
	*at++ = 0;
	at = put(at, fde, fde_len);
	put_u32(end_entry(second, at), 0);
	put(hdr, "\x01\x1b\x03\x3b", 4);
	put_u32(hdr + 4, 64 - 4);
	put_u32(hdr + 8, 1);
	put_u32(hdr + 12, CODE - TABLES);
	put_u32(hdr + 16, (uint32_t)(second - hdr));
	f->module = (struct stack_module){ .start = CODE, .end = CODE + 0x10000, .eh_hdr = TABLES,
					   .eh_hdr_len = 20 };
	f->space = (struct stack_space){ fake_read, f, &f->module, 1 };
}

#define FAKE(f, augmentation, cie, fde) \
	fake_make(f, augmentation, cie, sizeof(cie) - 1, fde, sizeof(fde) - 1)

#endif
