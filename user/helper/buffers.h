/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The buffers that CUPTI fills: a fixed pool, never freed while the process lives, since CUPTI owns
 * a buffer from request to completion whatever happens between. Taking and giving back never wait
 * and allocate nothing: they run inside the application's launch.
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

struct buffers {
	uint8_t *memory;	/* BUFFERS_MAX of them and one whose records are discarded */
	uint64_t taken;		/* bit mask */
	uint64_t refused;	/* requests that got the discarding one */
	/* of a taken buffer: its records are from later than that */
	uint64_t since_ns[BUFFERS_MAX];
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
	*b = (struct buffers){ .memory = memory };
	return 0;
}

/* Never NULL: older CUPTIs crash on a refusal. Without a free one, the buffer whose records are
 * discarded. */
static inline uint8_t *buffers_take(struct buffers *b, uint64_t since_ns)
{
	uint64_t taken = __atomic_load_n(&b->taken, __ATOMIC_RELAXED);
	unsigned int i;

	do {
		if (taken == UINT64_MAX) {
			__atomic_fetch_add(&b->refused, 1, __ATOMIC_RELAXED);
			return b->memory + (size_t)BUFFERS_MAX * BUFFER_BYTES;
		}
		i = (unsigned int)__builtin_ctzll(~taken);
	} while (!__atomic_compare_exchange_n(&b->taken, &taken, taken | 1ull << i, true,
					      __ATOMIC_ACQUIRE, __ATOMIC_RELAXED));
	__atomic_store_n(&b->since_ns[i], since_ns, __ATOMIC_RELAXED);
	return b->memory + (size_t)i * BUFFER_BYTES;
}

static inline bool buffers_is_waste(const struct buffers *b, const uint8_t *buffer)
{
	return buffer == b->memory + (size_t)BUFFERS_MAX * BUFFER_BYTES;
}

/* Clears it up to the bytes used: CUPTI expects zeroed buffers. */
static inline void buffers_give(struct buffers *b, uint8_t *buffer, size_t used_bytes)
{
	size_t i = (size_t)(buffer - b->memory) / BUFFER_BYTES;

	if (used_bytes > BUFFER_BYTES)
		used_bytes = BUFFER_BYTES;
	if (i >= BUFFERS_MAX)
		return;
	memset(buffer, 0, used_bytes);
	__atomic_fetch_and(&b->taken, ~(1ull << i), __ATOMIC_RELEASE);
}

/* Records begin with their kind, which is not 0. */
static inline size_t buffers_bytes_in(const uint8_t *buffer)
{
	const volatile uint64_t *words = (const volatile uint64_t *)(const void *)buffer;
	size_t n = BUFFER_BYTES / sizeof(*words);

	if (!words[0])
		return 0;
	while (n && !words[n - 1])
		n--;
	return n * sizeof(*words);
}

/* Buffers taken before before_ns that hold records and were not given back. CUPTI may still
 * write to them: bytes is the amount seen. */
static inline struct buffers_kept buffers_kept(const struct buffers *b, uint64_t before_ns)
{
	uint64_t taken = __atomic_load_n(&b->taken, __ATOMIC_ACQUIRE);
	struct buffers_kept kept = { 0 };

	for (unsigned int i = 0; i < BUFFERS_MAX; i++) {
		uint64_t since_ns = __atomic_load_n(&b->since_ns[i], __ATOMIC_RELAXED);
		size_t bytes = taken >> i & 1 && since_ns < before_ns ?
			       buffers_bytes_in(b->memory + (size_t)i * BUFFER_BYTES) : 0;

		kept.bytes += bytes;
		if (bytes && (!kept.since_ns || since_ns < kept.since_ns))
			kept.since_ns = since_ns;
	}
	return kept;
}

#endif
