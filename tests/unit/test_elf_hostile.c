// SPDX-License-Identifier: BSD-3-Clause
/* What elf/ promises of files that lie: an error or a missing symbol, soon, and nothing else. */
#include "elf_object.h"

#include <errno.h>

#include "base/log.h"
#include "base/time.h"
#include "lib/test.h"

#define MINIMAL "-shared -fPIC -nostdlib -fcf-protection=none -Wl,--build-id=sha1 " \
		"-Wl,-z,noseparate-code -Wl,-z,max-page-size=4096 -Wl,--hash-style=both"
#define SOON_NS (2 * NS_PER_SEC)

static const char two_functions[] =
	"__attribute__((noipa)) int one(int *p) { return *p + 1; }\n"
	"__attribute__((noipa)) static int three(int *p) { return *p + 3; }\n"
	"int two(int *p) { return one(p) + three(p); }\n";

static struct {
	struct image im;
	struct image good;	/* never changed */
	uint64_t two, three;	/* their offsets in it */
} f;

BEFORE_EACH
{
	struct elf_symbol two = { .name = "two" }, three = { .name = "three" };

	log_threshold = LOG_ERROR;
	f.good = image_build(two_functions, MINIMAL " -Wl,--no-as-needed -lc -Wl,-rpath,/run");
	f.im.byte = malloc(f.good.size);
	f.im.size = f.good.size;
	assert_non_null(f.im.byte);
	memcpy(f.im.byte, f.good.byte, f.good.size);
	assert_int_equal(image_find(&f.im, &two), 1);
	assert_int_equal(image_find(&f.im, &three), 1);
	f.two = two.offset;
	f.three = three.offset;
}

AFTER_EACH
{
	free(f.im.byte);
	free(f.good.byte);
}

static int find(const char *name, uint64_t *offset)
{
	struct elf_symbol sym = { .name = name };
	int n = image_find(&f.im, &sym);

	*offset = sym.offset;
	return n;
}

static void count_need(void *ctx, char kind, const char *text)
{
	(void)kind;
	assert_true(strlen(text) < 4096);
	++*(unsigned int *)ctx;
}

/* Asks everything of a file; what it finds must be inside it, "two" at `two` unless that is 0. */
static void ask_all(int fd, uint64_t two, uint64_t size)
{
	struct elf_symbol sym[] = { { .name = "two" }, { .name = "one" }, { .name = "three" } };
	struct elf_file *ef = elf_file_open(fd, "hostile");
	char hex[2 * 64 + 1];
	unsigned int needs = 0;

	if (!ef) {
		assert_true(errno == ENOEXEC || errno == EBADMSG);
		return;
	}
	elf_find_symbols(ef, sym, 3);
	for (size_t i = 0; i < 3; i++)
		assert_true(sym[i].offset < size);
	if (two && sym[0].offset)
		assert_int_equal(sym[0].offset, two);
	elf_build_id(ef, hex, sizeof(hex));
	assert_true(strlen(hex) <= 2 * 64);
	elf_each_needed(ef, count_need, &needs);
	elf_interpreter(ef);
	elf_file_close(ef);
}

TEST(test_cut_at_every_byte)
{
	int fd = image_fd(&f.im);

	print_message("%zu bytes\n", f.im.size);
	for (size_t size = f.im.size; size--;) {
		assert_int_equal(ftruncate(fd, (off_t)size), 0);
		ask_all(fd, f.two, size);
	}
	close(fd);
}

TEST(test_every_byte_changed)
{
	static const uint8_t change[] = { 0x01, 0x80, 0xff };
	int fd = image_fd(&f.im);

	for (size_t i = 0; i < f.im.size * sizeof(change); i++) {
		size_t at = i / sizeof(change);
		uint8_t was = f.im.byte[at], is = was ^ change[i % sizeof(change)];

		assert_int_equal(pwrite(fd, &is, 1, (off_t)at), 1);
		ask_all(fd, 0, f.im.size);
		assert_int_equal(pwrite(fd, &was, 1, (off_t)at), 1);
	}
	close(fd);
}

TEST(test_symbol_outside_of_code_is_missing)
{
	const uint64_t values[] = { f.im.size, UINT64_MAX, (uint64_t)1 << 63, 0xffffffff,
				    image_segment(&f.im, PT_DYNAMIC)->p_vaddr,
				    0 /* the ELF header, inside an executable segment */ };
	uint64_t offset;

	memset(image_section(&f.im, SHT_SYMTAB), 0, sizeof(Elf64_Shdr));
	for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
		image_symbol(&f.im, "two")->st_value = values[i];
		assert_int_equal(find("two", &offset), 0);
		assert_int_equal(offset, 0);
		assert_int_equal(find("one", &offset), 1);
	}
}

TEST(test_name_outside_of_the_strings_is_missing)
{
	uint64_t offset;

	memset(image_section(&f.im, SHT_SYMTAB), 0, sizeof(Elf64_Shdr));
	image_symbol(&f.im, "two")->st_name = UINT32_MAX;
	assert_int_equal(find("two", &offset), 0);
	assert_int_equal(find("one", &offset), 1);
}

TEST(test_sections_that_lie_are_not_asked)
{
	const Elf64_Shdr was = *image_section(&f.im, SHT_DYNSYM);
	Elf64_Shdr *sh = image_section(&f.im, SHT_DYNSYM);
	uint64_t offset;

	for (int i = 0; i < 5; i++) {
		*sh = was;
		switch (i) {
		case 0: sh->sh_size = UINT64_MAX; break;
		case 1: sh->sh_offset = UINT64_MAX - 8; break;
		case 2: sh->sh_link = 0xffffff; break;
		case 3: sh->sh_entsize = 0; break;
		case 4: sh->sh_size = 0; break;
		}
		assert_int_equal(find("two", &offset), 1);
		assert_int_equal(offset, f.two);
	}
	*sh = was;
	image_header(&f.im)->e_shoff = UINT64_MAX - 63;
	assert_int_equal(find("two", &offset), 1);
	assert_int_equal(offset, f.two);
	image_header(&f.im)->e_shoff = 64;
	image_header(&f.im)->e_shnum = 0;
	find("two", &offset);
}

TEST(test_sections_on_top_of_each_other)
{
	Elf64_Shdr *dynsym = image_section(&f.im, SHT_DYNSYM);
	Elf64_Shdr *strings = (Elf64_Shdr *)(f.im.byte + image_header(&f.im)->e_shoff) +
			      dynsym->sh_link;
	uint64_t offset;

	strings->sh_offset = 0;
	strings->sh_size = f.im.size;
	dynsym->sh_offset = 0;
	dynsym->sh_size = f.im.size;
	/* The local symbol table is still right. */
	assert_int_equal(find("three", &offset), 1);
	assert_int_equal(offset, f.three);
}

/* The count of symbols must then come from the hash tables. */
static Elf64_Word *hash_words(int64_t tag)
{
	image_header(&f.im)->e_shoff = 0;
	/* A minimal object: its first PT_LOAD holds the tables, addresses are offsets. */
	return (Elf64_Word *)(f.im.byte + image_dynamic(&f.im, tag)->d_un.d_ptr);
}

TEST(test_gnu_hash_that_lies_leaves_the_other)
{
	Elf64_Word *gnu = hash_words(DT_GNU_HASH), was[4];
	uint64_t offset;

	memcpy(was, gnu, sizeof(was));
	for (int i = 0; i < 3; i++) {
		memcpy(gnu, was, sizeof(was));
		gnu[i] = UINT32_MAX;
		find("two", &offset);
		assert_true(offset == 0 || offset == f.two);
	}
	memcpy(gnu, was, sizeof(was));
	gnu[0] = UINT32_MAX;
	assert_int_equal(find("two", &offset), 1);
	image_dynamic(&f.im, DT_GNU_HASH)->d_un.d_ptr = UINT64_MAX;
	assert_int_equal(find("two", &offset), 1);
}

TEST(test_both_hashes_lie)
{
	uint64_t offset, start_ns = time_now_ns();

	hash_words(DT_HASH)[1] = UINT32_MAX;
	image_dynamic(&f.im, DT_GNU_HASH)->d_tag = DT_DEBUG;
	find("two", &offset);
	assert_true(offset < f.im.size);
	image_dynamic(&f.im, DT_HASH)->d_un.d_ptr = 3;
	find("two", &offset);
	assert_true(offset < f.im.size);
	assert_true(time_now_ns() - start_ns < SOON_NS);
}

static void assert_bad_after(unsigned int good)
{
	int fd = image_fd(&f.im);
	struct elf_file *ef = elf_file_open(fd, "hostile");
	unsigned int needs = 0;

	assert_non_null(ef);
	assert_int_equal(elf_each_needed(ef, count_need, &needs), -EBADMSG);
	assert_int_equal(needs, good);
	elf_file_close(ef);
	close(fd);
}

TEST(test_dynamic_section_outside_is_said)
{
	image_segment(&f.im, PT_DYNAMIC)->p_vaddr = UINT64_MAX - 15;
	assert_bad_after(0);
}

TEST(test_bad_name_of_a_needed_library_is_said_and_others_come)
{
	image_dynamic(&f.im, DT_NEEDED)->d_un.d_val = UINT64_MAX;
	assert_bad_after(1);
}

static void assert_refused(int err)
{
	struct elf_symbol sym = { .name = "two" };

	errno = 0;
	assert_int_equal(image_find(&f.im, &sym), -1000);
	assert_int_equal(errno, err);
}

TEST(test_program_headers_that_lie_are_an_error)
{
	Elf64_Ehdr was = *image_header(&f.im), *eh = image_header(&f.im);

	for (int i = 0; i < 4; i++) {
		*eh = was;
		switch (i) {
		case 0: eh->e_phnum = 0xffff; break;
		case 1: eh->e_phoff = UINT64_MAX; break;
		case 2: eh->e_phentsize = 1; break;
		case 3: eh->e_phnum = 0; break;
		}
		assert_refused(EBADMSG);
	}
}

TEST(test_other_machines_and_classes_are_refused)
{
	Elf64_Ehdr was = *image_header(&f.im), *eh = image_header(&f.im);

	for (int i = 0; i < 4; i++) {
		*eh = was;
		switch (i) {
		case 0: eh->e_machine = EM_S390; break;
		case 1: eh->e_ident[EI_CLASS] = ELFCLASS32; break;
		case 2: eh->e_ident[EI_DATA] = ELFDATA2MSB; break;
		case 3: eh->e_type = ET_CORE; break;
		}
		assert_refused(ENOEXEC);
	}
}

TEST(test_file_cut_short_after_opening_has_nothing)
{
	struct elf_symbol sym = { .name = "two" };
	int fd = image_fd(&f.im);
	struct elf_file *ef = elf_file_open(fd, "hostile");
	char hex[2 * 64 + 1];

	assert_non_null(ef);
	assert_int_equal(ftruncate(fd, 64), 0);
	assert_int_equal(elf_find_symbols(ef, &sym, 1), 0);
	assert_int_equal(sym.offset, 0);
	elf_build_id(ef, hex, sizeof(hex));
	assert_string_equal(hex, "");
	elf_file_close(ef);
	close(fd);
}

TEST(test_sparse_file_with_endless_tables_is_refused_soon)
{
	struct elf_symbol sym = { .name = "nowhere" };
	Elf64_Shdr *dynsym = image_section(&f.im, SHT_DYNSYM);
	uint64_t start_ns = time_now_ns();
	struct elf_file *ef;
	int fd;

	dynsym->sh_size = (uint64_t)24 << 33;
	fd = image_fd(&f.im);
	assert_int_equal(ftruncate(fd, (off_t)1 << 40), 0);
	ef = elf_file_open(fd, "sparse");
	assert_non_null(ef);
	assert_int_equal(elf_find_symbols(ef, &sym, 1), -EBADMSG);
	elf_file_close(ef);
	close(fd);
	assert_true(time_now_ns() - start_ns < SOON_NS);
}

TEST(test_notes_that_lie_have_no_build_id)
{
	Elf64_Phdr *ph = image_segment(&f.im, PT_NOTE);
	Elf64_Nhdr *nh = (Elf64_Nhdr *)(f.im.byte + ph->p_offset), was = *nh;

	for (int i = 0; i < 4; i++) {
		char hex[2 * 64 + 1] = "x";
		struct elf_file *ef;
		int fd;

		*nh = was;
		switch (i) {
		case 0: nh->n_namesz = UINT32_MAX; break;
		case 1: nh->n_descsz = UINT32_MAX; break;
		case 2: nh->n_namesz = 0; break;
		case 3: ph->p_filesz = 13; break;
		}
		fd = image_fd(&f.im);
		ef = elf_file_open(fd, "hostile");
		assert_non_null(ef);
		elf_build_id(ef, hex, sizeof(hex));
		assert_string_equal(hex, "");
		elf_file_close(ef);
		close(fd);
	}
}
