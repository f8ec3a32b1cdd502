// SPDX-License-Identifier: BSD-3-Clause
/* What the parsers of target discovery promise of bytes: perf's ring buffer and ld.so.cache. */
#include "target/target_expect.c"
#include "target_child.h"

#include "lib/test.h"
#include "lib/random.h"
#include "target/target_watch.c"

/* ---- the ring ----------------------------------------------------------------------------- */

#define RING_SIZE 4096

struct fake_ring {
	struct perf_event_mmap_page page;
	char data[RING_SIZE];
	uint64_t raw[PERF_RING_RECORD_MAX / 8];
	struct perf_ring ring;
};

static struct fake_ring fake;

static void fake_start(uint64_t at)
{
	memset(&fake, 0, sizeof(fake));
	fake.page.data_head = fake.page.data_tail = at;
	fake.ring = (struct perf_ring){ .page = &fake.page, .data = fake.data, .size = RING_SIZE };
}

static void fake_put(const void *bytes, size_t len)
{
	for (size_t i = 0; i < len; i++)
		fake.data[fake.page.data_head++ % RING_SIZE] = ((const char *)bytes)[i];
}

struct mmap_record {
	struct perf_event_header header;
	uint32_t pid, tid;
	uint64_t addr, len, pgoff;
	uint32_t maj, min;
	uint64_t ino, generation;
	uint32_t prot, flags;
	char filename[24];
	uint64_t time;
};

static const struct mmap_record sample = {
	.header = { .type = PERF_RECORD_MMAP2, .size = sizeof(struct mmap_record) },
	.pid = 7, .tid = 8, .addr = 0x1000, .len = 0x2000, .ino = 5, .filename = "/lib/libx.so.1",
	.time = 99,
};

static void check_sample(const struct perf_record *rec)
{
	assert_int_equal(rec->ev.kind, TARGET_MMAP);
	assert_int_equal(rec->ev.pid, 7);
	assert_int_equal(rec->tid, 8);
	assert_true(rec->ev.start == 0x1000 && rec->ev.len == 0x2000);
	assert_true(rec->ev.time_ns == 99);
	assert_string_equal(rec->ev.text, "/lib/libx.so.1");
}

TEST(a_record_is_whole_wherever_the_ring_wraps)
{
	struct perf_record rec;

	for (uint64_t at = RING_SIZE - sizeof(sample) - 8; at <= RING_SIZE + 8; at += 8) {
		fake_start(at + 5 * RING_SIZE);
		fake_put(&sample, sizeof(sample));
		assert_int_equal(perf_ring_next(&fake.ring, fake.raw, &rec), 1);
		check_sample(&rec);
		free((char *)rec.ev.text);
		assert_true(fake.page.data_tail == fake.page.data_head);
		assert_int_equal(perf_ring_next(&fake.ring, fake.raw, &rec), 0);
	}
}

static uint64_t file_of(const struct mmap_record *mapped)
{
	struct perf_record rec;

	fake_start(0);
	fake_put(mapped, sizeof(*mapped));
	assert_int_equal(perf_ring_next(&fake.ring, fake.raw, &rec), 1);
	free((char *)rec.ev.text);
	return rec.ev.file;
}

TEST(a_file_is_reported_by_inode_and_generation)
{
	struct mmap_record first = sample, next = sample, other = sample;

	first.generation = 3;
	next.generation = 4;
	other.generation = 3;
	other.ino++;
	assert_true(file_of(&first));
	assert_true(file_of(&first) == file_of(&first));
	assert_true(file_of(&first) != file_of(&next));
	assert_true(file_of(&first) != file_of(&other));
	other.ino--;
	other.min++;
	assert_true(file_of(&first) != file_of(&other));
	assert_true(!file_of(&sample));		/* it has no generation: whose turn it is is unknown */
}

TEST(records_of_no_interest_are_skipped)
{
	struct mmap_record anon = sample, vdso = sample, cut = sample, open = sample;
	struct perf_record rec;

	anon.ino = 0;
	strcpy(vdso.filename, "[vdso]");
	cut.header.size = 40;
	memset(open.filename, 'x', sizeof(open.filename));
	fake_start(0);
	fake_put(&anon, sizeof(anon));
	fake_put(&vdso, sizeof(vdso));
	fake_put(&cut, 40);
	fake_put(&open, sizeof(open));
	fake_put(&sample, sizeof(sample));
	assert_int_equal(perf_ring_next(&fake.ring, fake.raw, &rec), 1);
	check_sample(&rec);
	free((char *)rec.ev.text);
}

TEST(indistinguishable_mappings_are_missed)
{
	struct perf_event_header lies = { .type = PERF_RECORD_MMAP2, .size = 4 };
	struct perf_record rec;

	for (int i = 0; i < 2; i++) {
		lies.size = i ? 4 : 4000;
		fake_start(0);
		fake_put(&lies, sizeof(lies));
		assert_int_equal(perf_ring_next(&fake.ring, fake.raw, &rec), 1);
		assert_int_equal(rec.ev.kind, TARGET_MISSED);
		assert_int_equal(perf_ring_next(&fake.ring, fake.raw, &rec), 0);
	}
}

TEST(random_bytes_decode_to_something_or_nothing)
{
	struct perf_record rec;

	for (int i = 0; i < random_rounds(20000); i++) {
		size_t size = 8 + below(31) * 8;
		char *copy = malloc(size);	/* exact, so that ASan sees a read behind it */
		struct perf_event_header *header = (void *)copy;

		assert_non_null(copy);
		for (size_t k = 0; k < size; k++)
			copy[k] = (char)random_next();
		header->type = (uint32_t)below(20);
		header->size = (uint16_t)size;
		rec = (struct perf_record){ 0 };
		if (perf_ring_decode(copy, &rec) > 0)
			assert_in_range(rec.ev.kind, TARGET_MMAP, TARGET_MISSED);
		free((char *)rec.ev.text);
		free(copy);
	}
}

/* ---- ld.so.cache -------------------------------------------------------------------------- */

#define OLD_PART (16 + 12)	/* one entry, then padding to 8 */
#define LIBS 4

struct cache_entry {
	int32_t flags;
	uint32_t name, path, osversion;
	uint64_t hwcap;
};

struct cache_file {
	char magic[20];
	uint32_t n_libs, strings_len;
	uint8_t flags, pad[3];
	uint32_t extensions, unused[3];
	struct cache_entry lib[LIBS];
	char strings[128];
	struct {
		uint32_t magic, n, tag, flags, offset, size;
	} extension;
	uint32_t level[2];
};

#if defined(__x86_64__)
#define ABI 0x0303
#else
#define ABI 0x0a03
#endif

static uint32_t add_string(struct cache_file *f, const char *text)
{
	uint32_t at = f->strings_len;

	strcpy(f->strings + at, text);
	f->strings_len += (uint32_t)strlen(text) + 1;
	return (uint32_t)offsetof(struct cache_file, strings) + at;
}

static struct cache_file make_cache(void)
{
	const char *const *mine = ldcache_cpu_levels();
	struct cache_file f = { .n_libs = LIBS };
	uint32_t liba = add_string(&f, "liba.so.1");

	memcpy(f.magic, "glibc-ld.so.cache1.1", sizeof(f.magic));
	f.lib[0] = (struct cache_entry){ ABI, liba, add_string(&f, "/plain/liba"), 0, 0 };
	f.lib[1] = (struct cache_entry){ ABI, liba, add_string(&f, "/mine/liba"), 0, 1ull << 62 };
	f.lib[2] = (struct cache_entry){ ABI, liba, add_string(&f, "/alien/liba"), 0,
					 1ull << 62 | 1 };
	f.lib[3] = (struct cache_entry){ 1, add_string(&f, "libb.so"), liba, 0, 0 };
	f.level[0] = add_string(&f, *mine ? *mine : "none");
	f.level[1] = add_string(&f, "x86-64-v9");
	f.extensions = offsetof(struct cache_file, extension);
	f.extension.magic = 0xeaa42174;
	f.extension.n = 1;
	f.extension.tag = 1;
	f.extension.offset = offsetof(struct cache_file, level);
	f.extension.size = sizeof(f.level);
	return f;
}

static struct ldcache *parse_copy(const void *bytes, size_t len)
{
	char *copy = malloc(len + !len);

	assert_non_null(copy);
	memcpy(copy, bytes, len);
	return ldcache_parse(copy, len);
}

static int count_entry(void *ctx, const char *name, const char *path)
{
	*(size_t *)ctx += strlen(name) + strlen(path) > 0;
	return 0;
}

TEST(the_best_entry_for_this_cpu_is_taken)
{
	const char *best = *ldcache_cpu_levels() ? "/mine/liba" : "/plain/liba";
	struct cache_file f = make_cache();
	char behind_old[32 + sizeof(f)];
	struct ldcache *cache;
	size_t n = 0;

	cache = parse_copy(&f, sizeof(f));
	assert_non_null(cache);
	assert_string_equal(ldcache_find(cache, "liba.so.1"), best);
	assert_null(ldcache_find(cache, "libb.so"));	/* another ABI */
	assert_null(ldcache_find(cache, ""));
	assert_int_equal(ldcache_each(cache, count_entry, &n), 0);
	assert_int_equal(n, *ldcache_cpu_levels() ? 2 : 1);
	ldcache_free(cache);

	memset(behind_old, 0, sizeof(behind_old));
	strcpy(behind_old, "ld.so-1.7.0");
	behind_old[12] = 1;
	memcpy(behind_old + ((OLD_PART + 7) & ~7), &f, sizeof(f));
	cache = parse_copy(behind_old, sizeof(behind_old));
	assert_non_null(cache);
	assert_string_equal(ldcache_find(cache, "liba.so.1"), best);
	ldcache_free(cache);
}

static void visit_all(struct ldcache *cache)
{
	size_t n = 0;

	if (!cache) {
		assert_int_equal(errno, EBADMSG);
		return;
	}
	ldcache_find(cache, "liba.so.1");
	ldcache_each(cache, count_entry, &n);
	assert_in_range(n, 0, LIBS);
	ldcache_free(cache);
}

TEST(a_cache_that_is_cut_or_flipped_never_crashes)
{
	struct cache_file f = make_cache();
	unsigned char *bytes = (unsigned char *)&f;

	for (size_t len = 0; len < sizeof(f); len++)
		visit_all(parse_copy(&f, len));
	for (size_t i = 0; i < sizeof(f); i++) {
		for (int bit = 0; bit < 8; bit++) {
			bytes[i] ^= (unsigned char)(1 << bit);
			visit_all(parse_copy(&f, sizeof(f)));
			bytes[i] ^= (unsigned char)(1 << bit);
		}
		bytes[i] ^= 0xff;
		visit_all(parse_copy(&f, sizeof(f)));
		bytes[i] ^= 0xff;
	}
}

TEST(the_cache_of_this_host_knows_the_c_library)
{
	struct ldcache *cache = ldcache_open("/etc/ld.so.cache");
	const char *path;

	needs_real_machine("libraries of this machine");
	assert_null(ldcache_open("/no/such/cache"));
	if (!cache) {
		print_message("no ld.so.cache on this host\n");
		skip();
	}
	path = ldcache_find(cache, "libc.so.6");
	assert_non_null(path);
	assert_int_equal(access(path, R_OK), 0);
	ldcache_free(cache);
}

TEST_GROUP(random_seed, NULL);
