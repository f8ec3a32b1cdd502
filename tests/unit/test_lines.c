// SPDX-License-Identifier: BSD-3-Clause
/* Source lines and inlined functions of addresses in objects that the compiler makes, and of debug
 * info that is missing or damaged. */
#include "elf_object.h"

#include <errno.h>

#include "base/time.h"
#include "elf/lines.h"
#include "lib/test.h"

/* Line 1 of the source is its first; the addresses that are asked for stand in labels. */
static const char source[] =
	"volatile int sink;\n"
	"static inline __attribute__((always_inline)) void leaf(int n) {\n"
	"	__asm__ volatile(\".globl in_leaf_%=\\nin_leaf_%=:\\nnop\" : : \"r\"(n));\n"
	"}\n"
	"static inline __attribute__((always_inline)) void middle(int n) {\n"
	"	leaf(n + 1);\n"
	"	sink = n;\n"
	"}\n"
	"__attribute__((noinline)) int outer(int n) {\n"
	"	middle(n);\n"
	"	__asm__ volatile(\".globl in_outer\\nin_outer:\\nnop\");\n"
	"	return sink;\n"
	"}\n"
	"int main(int argc, char **argv) { return outer(argc); }\n";

/* The address of the first symbol of .symtab whose name begins so. */
static uint64_t address_of(const char *path, const char *start)
{
	char command[256], line[256];
	uint64_t at = 0;
	FILE *p;

	snprintf(command, sizeof(command), "nm %s", path);
	p = popen(command, "r");
	assert_non_null(p);
	while (fgets(line, sizeof(line), p)) {
		char name[128] = "";
		unsigned long long value;

		if (sscanf(line, "%llx %*c %127s", &value, name) == 2 &&
		    !strncmp(name, start, strlen(start)))
			at = value;
	}
	pclose(p);
	assert_true(at);
	return at;
}

static int open_object(const struct object *o)
{
	int fd = open(o->path, O_RDONLY | O_CLOEXEC);

	assert_true(fd >= 0);
	return fd;
}

static int find(int fd, struct elf_line *lines, size_t n)
{
	int err = elf_find_lines(fd, lines, n);

	if (err == -ENOTSUP) {
		print_message("skipped: built without libdw\n");
		skip();
	}
	return err;
}

TEST(inlined_functions_stand_around_the_innermost)
{
	static const char *const dwarfs[] = { "-O2 -gdwarf-4", "-O2 -gdwarf-5" };

	for (size_t i = 0; i < 2; i++) {
		struct object o = object_build(source, dwarfs[i]);
		struct elf_line lines[] = {
			{ .vaddr = address_of(o.path, "in_outer") },
			{ .vaddr = address_of(o.path, "in_leaf_") },
			{ .vaddr = 1 },
		};
		int fd = open_object(&o);

		assert_int_equal(find(fd, lines, 3), 0);
		assert_string_equal(lines[0].text, "outer (source.c:11)");
		assert_string_equal(lines[1].text,
				    "outer (source.c:10);middle (source.c:6);leaf (source.c:3)");
		assert_null(lines[2].text);
		free(lines[0].text);
		free(lines[1].text);
		close(fd);
		object_remove(&o);
	}
}

TEST(without_debug_info_nothing_is_known)
{
	struct object o = object_build(source, "-O2");
	struct elf_line line = { .vaddr = address_of(o.path, "in_outer") };
	int fd = open_object(&o), err = find(fd, &line, 1);

	assert_true(err == -ENOENT || err == 0);
	assert_null(line.text);
	close(fd);
	object_remove(&o);
}

/* Bytes of it are changed at random, everywhere: no crash of ours, and never for long. */
TEST(damaged_debug_info_costs_its_reader_only)
{
	struct object o = object_build(source, "-O2 -g");
	uint64_t at = address_of(o.path, "in_leaf_"), start_ns = time_now_ns();
	unsigned int seed = (unsigned int)start_ns;

	print_message("seed %u\n", seed);
	srandom(seed);
	for (int round = 0; round < 30; round++) {
		struct elf_line line = { .vaddr = at };
		int fd = open(o.path, O_RDWR | O_CLOEXEC), copy, err;
		char buf[65536];
		ssize_t n = read(fd, buf, sizeof(buf));

		assert_true(n > 5000);
		copy = memfd_create("damaged", MFD_CLOEXEC);
		for (int i = 0; i < 40; i++)
			buf[64 + (size_t)random() % ((size_t)n - 64)] = (char)random();
		assert_int_equal(write(copy, buf, (size_t)n), n);
		err = find(copy, &line, 1);
		assert_true(err == 0 || err == -ENOENT || err == -EBADMSG || err == -ETIME);
		free(line.text);
		close(copy);
		close(fd);
	}
	assert_true(time_now_ns() - start_ns < 30 * NS_PER_SEC);
	object_remove(&o);
}

TEST(debug_info_of_another_build_is_not_taken)
{
	struct object o = object_build(source, "-O2 -g -Wl,--build-id=0x0123456789abcdef");
	int fd = elf_open_debug(o.path, "0123456789abcdef");

	assert_true(fd >= 0);
	close(fd);
	assert_int_equal(elf_open_debug(o.path, "0123456789abcdee"), -ENOENT);
	assert_int_equal(elf_open_debug(o.path, "../../../etc/pass"), -ENOENT);
	assert_int_equal(elf_open_debug(o.path, ""), -ENOENT);
	assert_int_equal(elf_open_debug(o.path, "-"), -ENOENT);
	object_remove(&o);
}
