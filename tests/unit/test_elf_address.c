// SPDX-License-Identifier: BSD-3-Clause
/* From file offsets to functions: what covers an address, and what is only near. */
#include "elf_object.h"
#include "elf/section.h"
#include "lib/test.h"

static const char source[] =
	"__asm__(\".text\\n"
	".p2align 8\\n"
	".globl alpha, beta, gamma_, twin, label\\n"
	".type alpha, %function\\n.type beta, %function\\n.type gamma_, %function\\n"
	".type twin, %function\\n.type hidden, %function\\n.type bare, %function\\n"
	".globl bare\\n"
	"alpha: .skip 16\\n.size alpha, 16\\n"			/* 0 .. 16 */
	".skip 16\\n"						/* of no symbol */
	"twin_local: .type twin_local, %function\\n"
	"twin: .skip 32\\n.size twin, 32\\n.size twin_local, 32\\n"	/* 32 .. 64 */
	"bare: .skip 32\\n"					/* 64 .. 96, without a size */
	"beta: .skip 16\\n.size beta, 16\\n"			/* 96 .. 112 */
	".skip 16\\n"						/* behind beta: of no symbol */
	"hidden: .skip 16\\n.size hidden, 16\\n"			/* 128 .. 144 */
	"gamma_: .skip 16\\n.size gamma_, 16\\n\");\n";		/* 144 .. 160 */

static const struct {
	uint64_t at;		/* from alpha on */
	const char *name;
	uint64_t into;
	uint8_t local;
} expected[] = {
	{ 0, "alpha", 0, 0 }, { 15, "alpha", 15, 0 }, { 16, NULL, 0, 0 }, { 31, NULL, 0, 0 },
	{ 32, "twin", 0, 0 }, { 63, "twin", 31, 0 }, { 64, "bare", 0, 0 }, { 80, "bare", 16, 0 },
	{ 95, "bare", 31, 0 }, { 96, "beta", 0, 0 }, { 112, NULL, 0, 0 }, { 127, NULL, 0, 0 },
	{ 128, "hidden", 0, 1 }, { 150, "gamma_", 6, 0 }, { 4000000, NULL, 0, 0 },
};

enum { N = sizeof(expected) / sizeof(expected[0]) };

static struct elf_file *open_image(const struct image *im, int *fd)
{
	struct elf_file *ef;

	*fd = image_fd(im);
	ef = elf_file_open(*fd, "image");
	assert_non_null(ef);
	return ef;
}

static uint64_t find_alpha(struct elf_file *ef)
{
	struct elf_symbol alpha = { .name = "alpha" };

	assert_int_equal(elf_find_symbols(ef, &alpha, 1), 1);
	return alpha.offset - alpha.skipped;
}

TEST(an_address_has_the_name_of_its_covering_symbol)
{
	struct image im = image_build(source, "-shared -fPIC");
	struct elf_address a[N];
	struct elf_file *ef;
	uint64_t alpha;
	int fd;

	ef = open_image(&im, &fd);
	alpha = find_alpha(ef);
	for (size_t i = 0; i < N; i++)		/* in any order */
		a[i].offset = alpha + expected[N - 1 - i].at;
	assert_int_equal(elf_name_addresses(ef, a, N), 0);
	for (size_t i = 0; i < N; i++) {
		assert_int_equal(a[i].offset, alpha + expected[i].at);
		if (!expected[i].name) {
			assert_null(a[i].name);
			continue;
		}
		if (!a[i].name)
			fail_msg("no name at %u", (unsigned int)expected[i].at);
		assert_string_equal(a[i].name, expected[i].name);
		assert_int_equal(a[i].into, expected[i].into);
		assert_int_equal(a[i].local, expected[i].local);
		free(a[i].name);
	}
	elf_file_close(ef);
	close(fd);
	free(im.byte);
}

TEST(a_stripped_library_has_names_of_its_exports)
{
	struct image im = image_build(source, "-shared -fPIC -s");
	struct elf_address a[2];
	struct elf_file *ef;
	uint64_t alpha;
	int fd;

	ef = open_image(&im, &fd);
	alpha = find_alpha(ef);
	a[0].offset = alpha + 100;
	a[1].offset = alpha + 130;
	assert_int_equal(elf_name_addresses(ef, a, 2), 0);
	assert_string_equal(a[0].name, "beta");
	assert_null(a[1].name);
	free(a[0].name);
	assert_int_equal(elf_name_addresses(ef, NULL, 0), 0);
	elf_file_close(ef);
	close(fd);
	free(im.byte);
}

/* C++ makes names of any length. */
TEST(a_long_name_is_cut)
{
	static char text[40000];
	struct image im;
	struct elf_address a;
	struct elf_file *ef;
	int fd, n;

	n = snprintf(text, sizeof(text), "int alpha(void) { return 1; } int x");
	memset(text + n, 'y', 30000);
	snprintf(text + n + 30000, 100, "(void) { return 2; }\n");
	im = image_build(text, "-shared -fPIC -O1 -fcf-protection=none");
	ef = open_image(&im, &fd);
	a.offset = find_alpha(ef) + image_symbol(&im, "alpha")->st_size;
	for (int i = 0; i < 64; i++, a.offset++) {
		assert_int_equal(elf_name_addresses(ef, &a, 1), 0);
		if (a.name)
			break;
	}
	assert_non_null(a.name);
	assert_int_equal(strlen(a.name), ELF_NAME_MAX);
	assert_memory_equal(a.name, "xyyy", 4);
	free(a.name);
	elf_file_close(ef);
	close(fd);
	free(im.byte);
}

TEST(sections_have_addresses)
{
	struct image im = image_build(source, "-shared -fPIC");
	struct elf_file *ef;
	int fd;

	ef = open_image(&im, &fd);
	assert_int_equal(elf_section_address(ef, ".dynsym"), image_section(&im, SHT_DYNSYM)->sh_addr);
	assert_int_equal(elf_section_address(ef, ".dyn"), 0);
	assert_int_equal(elf_section_address(ef, ".symtab"), 0);	/* not loaded */
	assert_int_equal(elf_section_address(ef, ".a name that is longer than any section's"), 0);
	elf_file_close(ef);
	close(fd);
	free(im.byte);
}
