// SPDX-License-Identifier: BSD-3-Clause
/*
 * The parser of /etc/ld.so.cache in the format "glibc-ld.so.cache1.1", alone (ldconfig since
 * glibc 2.32) or behind the older "ld.so-1.7.0" table. Knows the file and the CPU, nothing else.
 *
 * new format	magic[20] u32 n_libs u32 strings_len u8 flags u8[3] u32 extensions u32[3]
 *		n_libs x { s32 flags u32 name u32 path u32 osversion u64 hwcap }, strings
 * extensions	u32 magic u32 n, n x { u32 tag u32 flags u32 offset u32 size };
 *		tag 1: u32 string offsets, the CPU levels that hwcap's low half counts
 * All offsets count from the new format's magic.
 */
#include "target/ldcache.h"

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/io.h"

#define CACHE_MAX (64u << 20)
#define TEXT_MAX 4096	/* of a name or path */

#define OLD_MAGIC "ld.so-1.7.0"
#define OLD_HEADER 16		/* magic and its NUL, u32 n_libs */
#define OLD_ENTRY 12
#define NEW_MAGIC "glibc-ld.so.cache1.1"
#define NEW_HEADER 48
#define NEW_ENTRY 24

#define EXTENSION_MAGIC 0xeaa42174u
#define EXTENSION_CPU_LEVELS 1
#define HWCAP_LEVEL (1ull << 62)	/* hwcap: its low half is the index of a CPU level */

/* entry flags: an ELF library of glibc for this ABI */
#if defined(__x86_64__)
#define ABI_FLAGS 0x0303
#elif defined(__aarch64__)
#define ABI_FLAGS 0x0a03
#else
#error "gpuprof runs on x86-64 and arm64"
#endif

struct ldcache {
	char *data;		/* owned */
	const char *base;	/* the new format's magic, inside data */
	size_t len;		/* from base; base[len - 1] is followed by a NUL */
	uint32_t n_libs;
	uint32_t level_at, n_levels;	/* the array of CPU levels, from base */
};

struct entry {
	const char *name, *path;
	unsigned int rank;	/* 0: this CPU cannot use it; 1: for any CPU; more is better */
};

const char *const *ldcache_cpu_levels(void)
{
	static const char *const all[] = { "x86-64-v4", "x86-64-v3", "x86-64-v2", NULL };
#if defined(__x86_64__)
	__builtin_cpu_init();
	if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
	    __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq") &&
	    __builtin_cpu_supports("avx512vl"))
		return all;
	if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi2") &&
	    __builtin_cpu_supports("fma"))
		return all + 1;
	if (__builtin_cpu_supports("sse4.2") && __builtin_cpu_supports("popcnt"))
		return all + 2;
#endif
	return all + 3;
}

static uint32_t read_u32(const struct ldcache *cache, size_t at)
{
	uint32_t x;

	memcpy(&x, cache->base + at, sizeof(x));
	return x;
}

/* A string that ends within TEXT_MAX bytes (a NUL follows the last byte of the file), or NULL. */
static const char *text_at(const struct ldcache *cache, uint32_t at)
{
	if (at >= cache->len || strnlen(cache->base + at, TEXT_MAX) == TEXT_MAX)
		return NULL;
	return cache->base + at;
}

static bool inside(const struct ldcache *cache, uint64_t at, uint64_t size)
{
	return at <= cache->len && size <= cache->len - at;
}

/* Where the new format begins, or NULL. */
static const char *find_base(const char *data, size_t len)
{
	uint32_t n_old;
	uint64_t at = 0;

	if (len >= OLD_HEADER && !memcmp(data, OLD_MAGIC, sizeof(OLD_MAGIC) - 1)) {
		memcpy(&n_old, data + OLD_HEADER - sizeof(n_old), sizeof(n_old));
		at = OLD_HEADER + (uint64_t)n_old * OLD_ENTRY;
		at = (at + 7) & ~7ull;
	}
	if (at > len || len - at < NEW_HEADER ||
	    memcmp(data + at, NEW_MAGIC, sizeof(NEW_MAGIC) - 1))
		return NULL;
	return data + at;
}

static void find_levels(struct ldcache *cache)
{
	uint32_t at = read_u32(cache, 32), n;

	if (!at || !inside(cache, at, 8) || read_u32(cache, at) != EXTENSION_MAGIC)
		return;
	n = read_u32(cache, at + 4);
	if (!inside(cache, at + 8ull, n * 16ull))
		return;
	for (uint32_t i = 0; i < n; i++) {
		size_t section = at + 8ull + i * 16ull;
		uint32_t offset = read_u32(cache, section + 8);
		uint32_t size = read_u32(cache, section + 12);

		if (read_u32(cache, section) != EXTENSION_CPU_LEVELS ||
		    !inside(cache, offset, size))
			continue;
		cache->level_at = offset;
		cache->n_levels = size / 4;
	}
}

/* The libraries of this machine's 64-bit ABI in data, which the cache then owns (freed with
 * free() also on failure). NULL + errno: EBADMSG (not a cache, or it lies), ENOMEM. */
static struct ldcache *ldcache_parse(char *data, size_t len)
{
	struct ldcache *cache = calloc(1, sizeof(*cache));
	char *ended = cache ? realloc(data, len + 1) : NULL;

	if (!ended) {
		free(data);
		free(cache);
		errno = ENOMEM;
		return NULL;
	}
	ended[len] = '\0';
	cache->data = ended;
	cache->base = find_base(ended, len);
	if (!cache->base)
		goto lies;
	cache->len = len - (size_t)(cache->base - ended);
	cache->n_libs = read_u32(cache, 20);
	if (!inside(cache, NEW_HEADER, (uint64_t)cache->n_libs * NEW_ENTRY))
		goto lies;
	find_levels(cache);
	return cache;
lies:
	ldcache_free(cache);
	errno = EBADMSG;
	return NULL;
}

struct ldcache *ldcache_open(const char *path)
{
	size_t len;
	char *data = io_read_file(path, CACHE_MAX, &len);

	return data ? ldcache_parse(data, len) : NULL;
}

void ldcache_free(struct ldcache *cache)
{
	if (!cache)
		return;
	free(cache->data);
	free(cache);
}

static unsigned int level_rank(const struct ldcache *cache, uint64_t hwcap)
{
	const char *const *level = ldcache_cpu_levels();
	uint32_t index = (uint32_t)hwcap;
	unsigned int rank = 1, n = 0;
	const char *name;

	if (!hwcap)
		return 1;
	if (!(hwcap & HWCAP_LEVEL) || index >= cache->n_levels)
		return 0;
	name = text_at(cache, read_u32(cache, cache->level_at + (size_t)index * 4));
	while (level[n])
		n++;
	for (; n && name; n--) {
		rank++;
		if (!strcmp(level[n - 1], name))
			return rank;
	}
	return 0;
}

static struct entry read_entry(const struct ldcache *cache, uint32_t i)
{
	size_t at = NEW_HEADER + (size_t)i * NEW_ENTRY;
	struct entry e = { 0 };
	uint64_t hwcap;

	memcpy(&hwcap, cache->base + at + 16, sizeof(hwcap));
	e.name = text_at(cache, read_u32(cache, at + 4));
	e.path = text_at(cache, read_u32(cache, at + 8));
	if (read_u32(cache, at) == ABI_FLAGS && e.name && e.path)
		e.rank = level_rank(cache, hwcap);
	return e;
}

const char *ldcache_find(const struct ldcache *cache, const char *name)
{
	struct entry best = { 0 };

	for (uint32_t i = 0; i < cache->n_libs; i++) {
		struct entry e = read_entry(cache, i);

		if (e.rank > best.rank && !strcmp(e.name, name))
			best = e;
	}
	return best.path;
}

int ldcache_each(const struct ldcache *cache,
		 int (*fn)(void *ctx, const char *name, const char *path), void *ctx)
{
	int rc = 0;

	for (uint32_t i = 0; i < cache->n_libs && !rc; i++) {
		struct entry e = read_entry(cache, i);

		if (e.rank)
			rc = fn(ctx, e.name, e.path);
	}
	return rc;
}
