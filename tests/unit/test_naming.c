// SPDX-License-Identifier: BSD-3-Clause
/* What symbols and made code are called: demangling, and the maps that processes write. */
#include "elf_object.h"

#include <errno.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "base/time.h"
#include "elf/demangle.h"
#include "lib/test.h"
#include "stack/perfmap.h"

static void shows(const char *symbol, const char *shown)
{
	struct strbuf sb = STRBUF_INIT;

	elf_demangle(&sb, symbol);
	assert_string_equal(sb.s, shown);
	strbuf_free(&sb);
}

TEST(names_of_each_language_are_shown_as_written)
{
	shows("_ZN2at6native9copy_implIfEEvv", "at::native::copy_impl<float>");
	shows("_ZNSt6vectorIiSaIiEE9push_backERKi",
	      "std::vector<int, std::allocator<int> >::push_back");
	shows("_ZZ4mainENKUlvE_clEv", "main::{lambda()#1}::operator()");
	shows("_RNvCs1234_7mycrate3foo", "mycrate::foo");
	shows("_ZN4core3fmt5Write9write_fmt17h0123456789abcdefE", "core::fmt::Write::write_fmt");
	shows("cudaLaunchKernel", "cudaLaunchKernel");
	shows("__cudaRegisterFatBinary", "__cudaRegisterFatBinary");
	shows("_Zbroken", "_Zbroken");
	shows("_RC0", "_RC0");
	shows("", "");
}

TEST(a_name_of_100_kb_is_cut_and_costs_nothing)
{
	enum { LEN = 100000 };
	char *symbol = malloc(LEN + 1);
	struct strbuf sb = STRBUF_INIT;
	uint64_t start_ns = time_now_ns();

	assert_non_null(symbol);
	for (int i = 0; i < 100; i++) {
		memset(symbol, i % 2 ? 'P' : 'a', LEN);
		memcpy(symbol, i % 2 ? "_Z1fI" : "_Z99999", i % 2 ? 5 : 7);
		symbol[LEN] = '\0';
		strbuf_reset(&sb);
		elf_demangle(&sb, symbol);
		assert_int_equal(sb.len, ELF_SHOWN_MAX);
		assert_string_equal(sb.s + sb.len - 3, "...");
	}
	assert_true(time_now_ns() - start_ns < NS_PER_SEC);
	strbuf_free(&sb);
	free(symbol);
}

/* Each substitution holds the one before twice: 2^60 ints. */
TEST(a_short_name_that_stands_for_gigabytes_is_cut)
{
	struct strbuf symbol = STRBUF_INIT, sb = STRBUF_INIT;
	uint64_t start_ns = time_now_ns();

	strbuf_addstr(&symbol, "_Z1f1AIiiE");
	for (int i = 0; i < 60; i++) {
		const char *digits = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";
		char seq[8] = "";

		if (i > 36)
			snprintf(seq, sizeof(seq), "%c%c", digits[(i - 1) / 36], digits[(i - 1) % 36]);
		else if (i)
			snprintf(seq, sizeof(seq), "%c", digits[i - 1]);
		strbuf_addf(&symbol, "S_IS%s_S%s_E", i ? seq : "0", i ? seq : "0");
	}
	elf_demangle(&sb, symbol.s);
	assert_in_range(sb.len, 1, ELF_SHOWN_MAX);
	assert_true(time_now_ns() - start_ns < NS_PER_SEC);
	strbuf_free(&symbol);
	strbuf_free(&sb);
}

static void add_times(struct strbuf *sb, const char *text, int times)
{
	while (times--)
		strbuf_addstr(sb, text);
}

/* Each of them kept libiberty busy for hours. */
TEST(names_that_take_long_and_print_nothing_are_shown_mangled)
{
	struct strbuf conversions = STRBUF_INIT, packs = STRBUF_INIT;
	uint64_t start_ns = time_now_ns();

	strbuf_addstr(&conversions, "_Z");
	add_times(&conversions, "N1acvT_I", 60);
	strbuf_addstr(&conversions, "i");
	add_times(&conversions, "EE", 60);
	strbuf_addstr(&packs, "_Z1fIDp");
	add_times(&packs, "1aI", 34);
	strbuf_addstr(&packs, "iiESY_ESZ_E");
	for (int i = 0; i < 31; i++)
		strbuf_addf(&packs, "S1%c_E", "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"[i]);
	strbuf_addstr(&packs, "Evv");
	shows(conversions.s, conversions.s);
	shows(packs.s, packs.s);
	shows("_RNvMINtC1a1bFGzzzzzz_EuEu3foo", "_RNvMINtC1a1bFGzzzzzz_EuEu3foo");
	shows("_RC1aIC1bDGzzzzzz_EL_E", "_RC1aIC1bDGzzzzzz_EL_E");
	shows("_ZUlFN1mIDTplclT_EsZT_EEET_EE_", "_ZUlFN1mIDTplclT_EsZT_EEET_EE_");	/* crashed */
	assert_true(time_now_ns() - start_ns < NS_PER_SEC);
	strbuf_free(&conversions);
	strbuf_free(&packs);
}

TEST(names_that_only_look_like_that_are_demangled)
{
	shows("_RNvMINtC1a1bFG1_EuEu3foo", "<()>::foo");
	shows("_RNvCs1FG234_7mycrate3foo", "mycrate::foo");
	shows("_ZN1acvT_IiEEv", "a::operator int<int>");
	shows("_Z1fIDp1aIiiEEvv", "f<(a<int, int>)...>");
}

/* ---- maps of made code ---------------------------------------------------------------------- */

static int map_of(const char *text, size_t len)
{
	int fd = memfd_create("map", MFD_CLOEXEC);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, len), (ssize_t)len);
	return fd;
}

static void answers(const char *text, uint64_t address, const char *name, uint64_t start)
{
	struct perfmap_query q = { .address = address };
	int fd = map_of(text, strlen(text));

	assert_int_equal(perfmap_name(fd, &q, 1), 0);
	assert_int_equal(!q.name, !name);
	if (name) {
		assert_string_equal(q.name, name);
		assert_int_equal(q.start, start);
	}
	free(q.name);
	close(fd);
}

TEST(made_code_is_named_by_its_process)
{
	static const char map[] = "1000 100 first\n"
				  "2000 10 LazyCompile:*run /srv/app.js:10:5\n"
				  "0x3000 0x20 Third\n";

	answers(map, 0x1000, "first", 0x1000);
	answers(map, 0x10ff, "first", 0x1000);
	answers(map, 0x1100, NULL, 0);
	answers(map, 0x2008, "LazyCompile:*run /srv/app.js:10:5", 0x2000);
	answers(map, 0x301f, "Third", 0x3000);
	answers("", 0x1000, NULL, 0);
}

TEST(of_overlapping_lines_the_last_one_holds)
{
	answers("1000 100 old\n1000 80 new\n", 0x1010, "new", 0x1000);
	answers("1000 100 old\n1000 80 new\n", 0x1090, "old", 0x1000);
	answers("2000 10 high\n1000 1001 low\n", 0x2000, "low", 0x1000);
}

TEST(lines_that_lie_name_nothing)
{
	answers("1000 0 empty\n", 0x1000, NULL, 0);
	answers("1000 ffffffffffffffff wraps\n", 0x1000, NULL, 0);
	answers("10000000000000000 10 toolong\n", 0, NULL, 0);
	answers("1000 10\n1000 10 \n1000\n\nxyz 10 a\n1000 1: a\n", 0x1000, NULL, 0);
	answers("0 ffffffffffffffff all\n", 0x7fffffffffff, "all", 0);
	answers("1000 10 last line without newline", 0x1000, "last line without newline", 0x1000);
}

TEST(many_addresses_are_answered_in_one_pass)
{
	struct perfmap_query q[100] = { { 0 } };
	struct strbuf text = STRBUF_INIT;
	int fd;

	for (unsigned int i = 0; i < 50000; i++)
		strbuf_addf(&text, "%x 10 f%u\n", 0x10000 + 0x10 * (50000 - i), i);
	for (unsigned int i = 0; i < 100; i++)
		q[i].address = 0x10000 + 0x10 * (50000 - i * 500) + 5;
	fd = map_of(text.s, text.len);
	assert_int_equal(perfmap_name(fd, q, 100), 0);
	for (unsigned int i = 0; i < 100; i++) {
		char name[16];

		snprintf(name, sizeof(name), "f%u", (99 - i) * 500);
		assert_string_equal(q[i].name, name);	/* sorted by address */
		free(q[i].name);
	}
	close(fd);
	strbuf_free(&text);
}

TEST(a_name_without_end_is_cut)
{
	struct perfmap_query q = { .address = 0x1000 };
	size_t len = 1 << 20;
	char *text = malloc(len);
	int fd;

	assert_non_null(text);
	memset(text, 'x', len);
	for (int i = 0; i < 8; i++)
		text[i] = "1000 10 "[i];
	fd = map_of(text, len);
	assert_int_equal(perfmap_name(fd, &q, 1), 0);
	assert_int_equal(strlen(q.name), PERFMAP_NAME_MAX);
	free(q.name);
	free(text);
	close(fd);
}

TEST(no_file_but_a_regular_one_of_its_user_is_read)
{
	char path[64];
	int fd;

	needs_real_machine("openat2, which the emulator does not have");
	snprintf(path, sizeof(path), "/tmp/perf-%d.map", getpid());
	unlink(path);
	assert_int_equal(perfmap_open(getpid()), -ENOENT);
	assert_int_equal(mkfifo(path, 0600), 0);
	assert_int_equal(perfmap_open(getpid()), -ENXIO);
	unlink(path);
	assert_int_equal(mkdir(path, 0700), 0);
	assert_int_equal(perfmap_open(getpid()), -ENXIO);
	rmdir(path);
	fd = open(path, O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC, 0600);
	assert_true(fd >= 0);
	close(fd);
	fd = perfmap_open(getpid());
	assert_true(fd >= 0);
	close(fd);
	if (!geteuid()) {
		assert_int_equal(chown(path, 65534, 65534), 0);
		assert_int_equal(perfmap_open(getpid()), -EPERM);
	}
	unlink(path);
}
