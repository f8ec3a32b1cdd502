/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The buffers that CUPTI fills: a fixed pool, never freed while the process lives, since CUPTI owns
 * a buffer from request to completion whatever happens between. Taking and giving back never wait
 * and allocate nothing: they run inside the application's launch. The pool has 64 large ones, each
 * of which may be 32 small ones instead: as many works can be in a queue with these as with those.
 * Small ones are taken from its begin, large ones from its end.
 */
#ifndef HELPER_BUFFERS_H
#define HELPER_BUFFERS_H

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>

#define BUFFERS_MAX 64
#define BUFFER_BYTES (512u << 10)
#define BUFFER_PARTS 32
#define BUFFER_PART_BYTES (BUFFER_BYTES / BUFFER_PARTS)	/* some 60 launches */
#define BUFFER_PARTS_MAX (BUFFERS_MAX * BUFFER_PARTS)

struct buffers {
	uint8_t *memory;	/* BUFFERS_MAX of them and one whose records are discarded */
	uint32_t taken[BUFFERS_MAX];	/* bits: its parts; all, where it is out as one */
	uint64_t large;		/* bits: those that are out as one */
	uint32_t given_up[BUFFERS_MAX];	/* bits, of taken: parts that another client has */
	uint64_t refused;	/* requests without a free one */
	/* of a taken part, of a large one the first: its records are from later than that */
	uint64_t since_ns[BUFFER_PARTS_MAX];
};

struct buffers_kept {
	uint64_t bytes;		/* up to the last one that was written */
	uint64_t since_ns;	/* the earliest; 0: there are none */
};

/* 0 or -errno. The kernel supplies the memory as it is used. */
static inline int buffers_open(struct buffers *b)
{
	void *memory = mmap(NULL, (size_t)(BUFFERS_MAX + 1) * BUFFER_BYTES, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (memory == MAP_FAILED)
		return -errno;
	memset(b, 0, sizeof(*b));
	b->memory = memory;
	return 0;
}

/* At arming: those that another client was given are gone. New ones in their place when most are;
 * the memory of the old ones stays, since CUPTI may write to it. */
static inline void buffers_renew(struct buffers *b)
{
	uint64_t refused = b->refused;
	int taken = 0;

	for (unsigned int i = 0; i < BUFFERS_MAX; i++)
		taken += __builtin_popcount(b->taken[i]);
	if (taken > BUFFER_PARTS_MAX / 2 && !buffers_open(b))
		b->refused = refused;
}

/* The number of its first part, or -1: there is none. */
static inline int buffers_find_small(struct buffers *b)
{
	for (unsigned int i = 0; i < BUFFERS_MAX; i++) {
		uint32_t taken = __atomic_load_n(&b->taken[i], __ATOMIC_RELAXED);

		while (taken != UINT32_MAX) {
			unsigned int part = (unsigned int)__builtin_ctz(~taken);

			if (__atomic_compare_exchange_n(&b->taken[i], &taken, taken | 1u << part,
							true, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
				return (int)(i * BUFFER_PARTS + part);
		}
	}
	return -1;
}

static inline int buffers_find_large(struct buffers *b)
{
	for (unsigned int i = BUFFERS_MAX; i-- > 0;) {
		uint32_t none = 0;

		if (!__atomic_compare_exchange_n(&b->taken[i], &none, UINT32_MAX, false,
						 __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
			continue;
		__atomic_fetch_or(&b->large, 1ull << i, __ATOMIC_RELEASE);
		return (int)(i * BUFFER_PARTS);
	}
	return -1;
}

/* BUFFER_BYTES or BUFFER_PART_BYTES. Without a free one NULL if CUPTI can take that (12.9; older
 * ones crash), else the buffer whose records are discarded. */
static inline uint8_t *buffers_take(struct buffers *b, size_t bytes, bool may_refuse,
				    uint64_t since_ns)
{
	int part = bytes > BUFFER_PART_BYTES ? buffers_find_large(b) : buffers_find_small(b);

	if (part < 0) {
		__atomic_fetch_add(&b->refused, 1, __ATOMIC_RELAXED);
		return may_refuse ? NULL : b->memory + (size_t)BUFFERS_MAX * BUFFER_BYTES;
	}
	__atomic_fetch_and(&b->given_up[part / BUFFER_PARTS], ~(1u << part % BUFFER_PARTS),
			   __ATOMIC_RELAXED);
	__atomic_store_n(&b->since_ns[part], since_ns, __ATOMIC_RELAXED);
	return b->memory + (size_t)part * BUFFER_PART_BYTES;
}

/* CUPTI gives those that are out to another client. They stay taken, since it may write to them. */
static inline void buffers_give_up(struct buffers *b)
{
	for (unsigned int i = 0; i < BUFFERS_MAX; i++)
		__atomic_store_n(&b->given_up[i], __atomic_load_n(&b->taken[i], __ATOMIC_RELAXED),
				 __ATOMIC_RELAXED);
}

/* Is it one of them, and not the discarding one? */
static inline bool buffers_have(const struct buffers *b, const uint8_t *buffer)
{
	return buffer >= b->memory && buffer < b->memory + (size_t)BUFFERS_MAX * BUFFER_BYTES;
}

/* The size of the one that begins with this part; 0: none that is out does. */
static inline size_t buffers_bytes_at(const struct buffers *b, size_t part)
{
	size_t i = part / BUFFER_PARTS;
	uint32_t taken = __atomic_load_n(&b->taken[i], __ATOMIC_ACQUIRE);

	if (!(taken >> part % BUFFER_PARTS & 1))
		return 0;
	if (!(__atomic_load_n(&b->large, __ATOMIC_ACQUIRE) >> i & 1))
		return BUFFER_PART_BYTES;
	return part % BUFFER_PARTS ? 0 : BUFFER_BYTES;
}

/* The same, of those that are to come back. */
static inline size_t buffers_awaited_at(const struct buffers *b, size_t part)
{
	uint32_t given_up = __atomic_load_n(&b->given_up[part / BUFFER_PARTS], __ATOMIC_RELAXED);

	return given_up >> part % BUFFER_PARTS & 1 ? 0 : buffers_bytes_at(b, part);
}

/* Of one of them that is taken: its records are from later than that. */
static inline uint64_t buffers_since(const struct buffers *b, const uint8_t *buffer)
{
	return __atomic_load_n(&b->since_ns[(size_t)(buffer - b->memory) / BUFFER_PART_BYTES],
			       __ATOMIC_RELAXED);
}

/* Clears it up to the bytes used: CUPTI expects zeroed buffers. */
static inline void buffers_give(struct buffers *b, uint8_t *buffer, size_t used_bytes)
{
	size_t part = (size_t)(buffer - b->memory) / BUFFER_PART_BYTES, i = part / BUFFER_PARTS;
	size_t bytes = part < BUFFER_PARTS_MAX ? buffers_bytes_at(b, part) : 0;

	if (!bytes)
		return;
	memset(buffer, 0, used_bytes < bytes ? used_bytes : bytes);
	if (bytes == BUFFER_BYTES) {
		__atomic_fetch_and(&b->large, ~(1ull << i), __ATOMIC_RELAXED);
		__atomic_store_n(&b->taken[i], 0, __ATOMIC_RELEASE);
	} else {
		__atomic_fetch_and(&b->taken[i], ~(1u << part % BUFFER_PARTS), __ATOMIC_RELEASE);
	}
}

/* Records begin with their kind, which is not 0. */
static inline size_t buffers_bytes_in(const uint8_t *buffer, size_t bytes)
{
	const volatile uint64_t *words = (const volatile uint64_t *)(const void *)buffer;
	size_t n = bytes / sizeof(*words);

	if (!words[0])
		return 0;
	while (n && !words[n - 1])
		n--;
	return n * sizeof(*words);
}

/* Does a buffer that was not given back hold records? */
static inline bool buffers_are_out(const struct buffers *b)
{
	for (size_t part = 0; part < BUFFER_PARTS_MAX; part++)
		if (buffers_awaited_at(b, part) &&
		    *(const volatile uint32_t *)(const void *)
		    (b->memory + part * BUFFER_PART_BYTES))
			return true;
	return false;
}

/* Buffers taken before before_ns that hold records and were not given back. CUPTI may still
 * write to them: bytes is the amount seen. */
static inline struct buffers_kept buffers_kept(const struct buffers *b, uint64_t before_ns)
{
	struct buffers_kept kept = { 0 };

	for (size_t part = 0; part < BUFFER_PARTS_MAX; part++) {
		uint64_t since_ns = __atomic_load_n(&b->since_ns[part], __ATOMIC_RELAXED);
		size_t bytes = buffers_awaited_at(b, part);

		bytes = bytes && since_ns < before_ns ?
			buffers_bytes_in(b->memory + part * BUFFER_PART_BYTES, bytes) : 0;
		kept.bytes += bytes;
		if (bytes && (!kept.since_ns || since_ns < kept.since_ns))
			kept.since_ns = since_ns;
	}
	return kept;
}

#endif
