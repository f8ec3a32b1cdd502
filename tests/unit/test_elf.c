// SPDX-License-Identifier: BSD-3-Clause
/* What elf/ promises of honest files: those of the compiler and the real CUDA runtime. */
#include "elf_object.h"

#include <dlfcn.h>
#include <errno.h>
#include <link.h>

#include "base/log.h"
#include "base/time.h"
#include "lib/test.h"

#define LIBRARY "-shared -fPIC -fcf-protection=none -nostdlib"

static const char two_functions[] =
	"__attribute__((noipa)) int one(int *p) { return *p + 1; }\n"
	"int two(int *p) { return one(p) + 2; }\n";

/* How functions begin in assembly, and what the compiler puts before that as a landing pad. */
#if defined(__x86_64__)
#define ENTERS "push %rbp\\npop %rbp\\n"
#define ENTERS_AS ELF_PUSH
#define ENTERS_SIZE 3
#define PAD "endbr64"
#define PAD_CODE "\xf3\x0f\x1e\xfa"
#define PAD_FLAGS "-fcf-protection=branch"
#else
#define ENTERS "stp x29, x30, [sp, #-16]!\\nldp x29, x30, [sp], #16\\n"
#define ENTERS_AS ELF_STEP
#define ENTERS_SIZE 12
#define PAD "bti c"
#define PAD_CODE "\x5f\x24\x03\xd5"
#define PAD_FLAGS "-mbranch-protection=bti"
#endif

static int find_one(struct elf_file *ef, const char *name, struct elf_symbol *sym)
{
	*sym = (struct elf_symbol){ .name = name };
	return elf_find_symbols(ef, sym, 1);
}

/* The dynamic linker's own word on where a function is in its file. */
static uint64_t offset_by_linker(const void *handle, const char *name)
{
	struct link_map *map;
	Dl_info info;
	void *at = dlsym((void *)handle, name);

	assert_non_null(at);
	assert_int_equal(dladdr1(at, &info, (void **)&map, RTLD_DL_LINKMAP), 1);
	struct image im = image_load(map->l_name);
	Elf64_Phdr *ph = (Elf64_Phdr *)(im.byte + image_header(&im)->e_phoff);
	uint64_t vaddr = (uint64_t)at - map->l_addr, offset = 0;

	for (size_t i = 0; i < image_header(&im)->e_phnum; i++)
		if (ph[i].p_type == PT_LOAD && ph[i].p_flags & PF_X && vaddr >= ph[i].p_vaddr &&
		    vaddr < ph[i].p_vaddr + ph[i].p_filesz)
			offset = vaddr - ph[i].p_vaddr + ph[i].p_offset;
	free(im.byte);
	return offset;
}

TEST(test_offsets_are_the_linkers)
{
	struct opened o = open_built(two_functions, LIBRARY);
	struct elf_symbol sym[] = { { .name = "two" }, { .name = "three" }, { .name = "one" } };
	void *handle = dlopen(o.object.path, RTLD_NOW);

	assert_non_null(handle);
	assert_int_equal(elf_find_symbols(o.ef, sym, 3), 2);
	assert_int_equal(sym[0].offset, offset_by_linker(handle, "two"));
	assert_int_equal(sym[2].offset, offset_by_linker(handle, "one"));
	assert_int_not_equal(sym[0].size, 0);
	assert_int_equal(sym[0].local, 0);
	assert_int_equal(sym[1].offset, 0);
	assert_int_equal(sym[1].opening, ELF_UNKNOWN);
	dlclose(handle);
	close_built(&o);
}

TEST(test_weak_alias_has_the_same_offset)
{
	struct opened o = open_built("int pname(void) { return 7; }\n"
				     "int name(void) __attribute__((weak, alias(\"pname\")));\n",
				     LIBRARY);
	struct elf_symbol sym[] = { { .name = "name" }, { .name = "pname" }, { .name = "name" } };

	assert_int_equal(elf_find_symbols(o.ef, sym, 3), 3);
	assert_int_not_equal(sym[0].offset, 0);
	assert_int_equal(sym[0].offset, sym[1].offset);
	assert_int_equal(sym[0].offset, sym[2].offset);
	close_built(&o);
}

TEST(test_import_is_no_match)
{
	struct opened o = open_built("int cudaMalloc(void); int f(void) { return cudaMalloc(); }\n",
				     LIBRARY);
	struct elf_symbol sym;

	assert_int_equal(find_one(o.ef, "cudaMalloc", &sym), 0);
	assert_int_equal(sym.offset, 0);
	close_built(&o);
}

TEST(test_only_functions_match)
{
	struct opened o = open_built("int data = 3; __thread int tls = 4;\n"
				     "static int real(void) { return 1; }\n"
				     "static void *pick(void) { return real; }\n"
				     "int chosen(void) __attribute__((ifunc(\"pick\")));\n",
				     LIBRARY " -s");
	struct elf_symbol sym[] = { { .name = "data" }, { .name = "tls" }, { .name = "chosen" },
				    { .name = "" } };

	assert_int_equal(elf_find_symbols(o.ef, sym, 4), 0);
	close_built(&o);
}

TEST(test_local_symbol_is_found_and_marked_local)
{
	struct opened o = open_built("__attribute__((noipa)) static int hidden(int a)"
				     "{ return a * 5; }\n"
				     "int main(int n, char **v) { return hidden(n); }\n",
				     "-static");
	struct elf_symbol sym;

	assert_int_equal(find_one(o.ef, "hidden", &sym), 1);
	assert_int_equal(sym.local, 1);
	assert_int_equal(find_one(o.ef, "main", &sym), 1);
	assert_int_equal(sym.local, 0);
	assert_null(elf_interpreter(o.ef));
	close_built(&o);
}

TEST(test_a_beginning_is_found_local_or_global_and_only_of_functions)
{
	struct opened o = open_built("__attribute__((noipa)) static int inner_7f(int a)"
				     "{ return a * 5; }\n"
				     "int outer_e3(int a) { return inner_7f(a); }\n"
				     "int data_01 = 3;\n", LIBRARY);
	struct elf_symbol sym[] = {
		{ .name = "inner_", .begins = 1 }, { .name = "outer_", .begins = 1 },
		{ .name = "data_", .begins = 1 }, { .name = "inner_7fe", .begins = 1 },
		{ .name = "inner_" }, { .name = "outer_e3" },
	};

	assert_int_equal(elf_find_symbols(o.ef, sym, 6), 3);
	assert_true(sym[0].offset && sym[0].local);
	assert_true(sym[1].offset && !sym[1].local);
	assert_int_equal(sym[5].offset, sym[1].offset);
	assert_int_equal(sym[0].begins, 1);
	assert_int_equal(elf_find_symbols(o.ef, sym, 1), 1);	/* no name at all is looked for */
	close_built(&o);
}

TEST(test_global_symbol_wins_over_a_local_one_before_it)
{
	static const char source[] =
		"asm(\".text\\n.type twi_,@function\\ntwi_: nop\\nret\\n\"\n"
		"\".size twi_,2\\n.globl twin,_start\\n\"\n"
		"\".type twin,@function\\n\"\n"
		"\"_start: twin: " ENTERS "ret\\n\");\n";
	struct image im = image_build(source, "-static -nostdlib");
	struct elf_symbol sym = { .name = "twin" };
	char *local = memmem(im.byte, im.size, "twi_", 5);

	assert_non_null(local);
	local[3] = 'n';
	assert_int_equal(image_find(&im, &sym), 1);
	assert_int_equal(sym.local, 0);
	assert_int_equal(sym.opening, ENTERS_AS);
	free(im.byte);
}

TEST(test_default_version_wins)
{
	static const char source[] =
		"asm(\".symver old,call@V1\\n.symver new,call@@V2\\n\");\n"
		"asm(\".text\\n.globl old\\n.type old,@function\\nold: nop\\nret\\n\"\n"
		"\".size old,2\\n\"\n"
		"\".globl new\\n.type new,@function\\nnew: " ENTERS "ret\\n"
		".size new,.-new\\n\");\n";
	struct object script = object_build("int x;", "-shared");
	char args[256];
	FILE *f = fopen(script.path, "w");
	struct elf_symbol sym;
	struct opened o;

	fputs("V1 { global: call; local: *; };\nV2 { global: call; } V1;\n", f);
	fclose(f);
	snprintf(args, sizeof(args), LIBRARY " -s -Wl,--version-script=%s", script.path);
	o = open_built(source, args);
	assert_int_equal(find_one(o.ef, "call", &sym), 1);
	assert_int_equal(sym.opening, ENTERS_AS);
	assert_int_equal(sym.size, ENTERS_SIZE);
	close_built(&o);
	object_remove(&script);
}

TEST(test_a_landing_pad_is_stepped_over)
{
	struct opened o = open_built("void g(void); void f(void) { g(); g(); }\n"
				     "asm(\".globl bare\\n.type bare,@function\\n\"\n"
				     "\"bare: " PAD "\\n\"\n"
				     "\".size bare,4\\nnop\\n\");\n",
				     "-shared -fPIC -nostdlib -O0 " PAD_FLAGS);
	struct elf_symbol sym[] = { { .name = "f" }, { .name = "bare" } };
	uint8_t code[4];

	assert_int_equal(elf_find_symbols(o.ef, sym, 2), 2);
	assert_int_equal(sym[0].skipped, 4);
	assert_int_equal(sym[0].opening, ENTERS_AS);
	assert_int_equal(pread(o.fd, code, 4, (off_t)sym[0].offset - 4), 4);
	assert_memory_equal(code, PAD_CODE, 4);
	/* Behind a function that is nothing else there is another function. */
	assert_int_equal(sym[1].skipped, 0);
	assert_int_equal(sym[1].opening, ELF_STEP);
	close_built(&o);
}

#if defined(__aarch64__)
/* Behind it the link register is signed, and a return probe would put an unsigned one there. */
TEST(test_signing_is_not_stepped_over)
{
	struct opened o = open_built("void g(void); void f(void) { g(); g(); }\n",
				     "-shared -fPIC -nostdlib -mbranch-protection=standard");
	struct elf_symbol sym;
	uint8_t code[4];

	assert_int_equal(find_one(o.ef, "f", &sym), 1);
	assert_int_equal(sym.skipped, 0);
	assert_int_equal(pread(o.fd, code, 4, (off_t)sym.offset), 4);
	assert_memory_equal(code, "\x3f\x23\x03\xd5", 4);	/* paciasp */
	close_built(&o);
}
#endif

TEST(test_stripped_library_keeps_its_exports)
{
	static const char *const args[] = { LIBRARY " -s", LIBRARY " -s -Wl,--hash-style=sysv",
					    LIBRARY " -s -Wl,--hash-style=gnu" };

	for (size_t i = 0; i < sizeof(args) / sizeof(args[0]); i++) {
		struct image im = image_build(two_functions, args[i]);
		struct elf_symbol with = { .name = "two" }, without = { .name = "two" };

		assert_int_equal(image_find(&im, &with), 1);
		image_header(&im)->e_shoff = 0;
		image_header(&im)->e_shnum = 0;
		assert_int_equal(image_find(&im, &without), 1);
		assert_memory_equal(&with, &without, sizeof(with));
		free(im.byte);
	}
}

TEST(test_build_id_is_the_linkers)
{
	struct opened o = open_built(two_functions, LIBRARY " -Wl,--build-id=0x00C0ffee12");
	struct opened none = open_built(two_functions, LIBRARY " -Wl,--build-id=none");
	char hex[2 * 64 + 1] = "x";

	elf_build_id(o.ef, hex, sizeof(hex));
	assert_string_equal(hex, "00c0ffee12");
	elf_build_id(none.ef, hex, sizeof(hex));
	assert_string_equal(hex, "");
	close_built(&none);
	close_built(&o);
}

struct needs {
	char text[512];
};

static void note_need(void *ctx, char kind, const char *text)
{
	struct needs *needs = ctx;
	size_t n = strlen(needs->text);

	snprintf(needs->text + n, sizeof(needs->text) - n, "%c:%s;", kind, text);
}

TEST(test_needs_come_before_the_search_path)
{
	struct opened o = open_built("int main(void) { return 0; }\n",
				     "-Wl,--no-as-needed -lm -Wl,-rpath,/opt/x:/y "
				     "-Wl,--enable-new-dtags");
	struct opened old = open_built("int main(void) { return 0; }\n",
				       "-Wl,-rpath,/old -Wl,--disable-new-dtags");
	struct opened none = open_built("int main(void) { return 0; }\n", "-static");
	struct needs needs = { "" };

	assert_int_equal(elf_each_needed(o.ef, note_need, &needs), 0);
	assert_string_equal(needs.text, "N:libm.so.6;N:libc.so.6;R:/opt/x:/y;");
	assert_true(strstr(elf_interpreter(o.ef), "/ld-linux") != NULL);
	needs.text[0] = '\0';
	assert_int_equal(elf_each_needed(old.ef, note_need, &needs), 0);
	assert_string_equal(needs.text, "N:libc.so.6;P:/old;");
	needs.text[0] = '\0';
	assert_int_equal(elf_each_needed(none.ef, note_need, &needs), 0);
	assert_string_equal(needs.text, "");
	close_built(&none);
	close_built(&old);
	close_built(&o);
}

static int open_cuda(const char *variable, const char *name, char *path, size_t size)
{
	const char *set = getenv(variable);
	int fd;

	if (set)
		snprintf(path, size, "%s", set);
	else
		snprintf(path, size, "/usr/local/cuda/lib64/%s", name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0) {
		print_message("skipped: no %s (set %s)\n", name, variable);
		skip();
	}
	needs_own_machine(fd);
	return fd;
}

TEST(test_real_cudart)
{
	struct elf_symbol sym[] = { { .name = "cudaLaunchKernel" }, { .name = "cudaMemcpyAsync" },
				    { .name = "__cudaLaunchKernel" }, { .name = "cudaNoSuch" } };
	char path[256], hex[2 * 64 + 1];
	int fd = open_cuda("CUDART", "libcudart.so.13", path, sizeof(path));
	struct elf_file *ef = elf_file_open(fd, path);
	void *handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);

	assert_non_null(ef);
	assert_non_null(handle);
	uint64_t start_ns = time_now_ns();

	assert_int_equal(elf_find_symbols(ef, sym, 4), 3);
	print_message("libcudart: %.3f ms\n", (double)(time_now_ns() - start_ns) / 1e6);
	for (size_t i = 0; i < 3; i++) {
		assert_int_equal(sym[i].offset, offset_by_linker(handle, sym[i].name));
		assert_int_equal(sym[i].opening, ELF_PUSH);
	}
	assert_int_equal(sym[2].jumps_to, sym[0].offset);
	assert_int_equal(sym[0].jumps_to, 0);
	elf_build_id(ef, hex, sizeof(hex));
	assert_true(strlen(hex) >= 16);
	dlclose(handle);
	elf_file_close(ef);
	close(fd);
}

TEST(test_static_cudart_is_found_in_symtab)
{
	char path[256], args[512];
	int fd = open_cuda("CUDART_STATIC", "libcudart_static.a", path, sizeof(path));
	struct elf_symbol sym;
	struct opened o;

	needs_real_machine("the static runtime");
	close(fd);
	snprintf(args, sizeof(args), "%s -ldl -lrt -lpthread", path);
	o = open_built("int cudaLaunchKernel(void); int cudaMalloc(void **, unsigned long);\n"
		       "int main(void)\n"
		       "{ void *p; cudaMalloc(&p, 8); return cudaLaunchKernel(); }\n",
		       args);
	assert_int_equal(find_one(o.ef, "cudaLaunchKernel", &sym), 1);
	assert_int_equal(sym.opening, ELF_PUSH);
	print_message("static cudart: cudaLaunchKernel is %s\n", sym.local ? "local" : "global");
	close_built(&o);
}

/* As CPython has it: a slot that has two names, and one name of two slots. */
static const char a_slot_table[] =
	"#define HIDDEN __attribute__((noipa, visibility(\"hidden\")))\n"
	"HIDDEN int other(int *p) { return *p + 3; }\n"
	"HIDDEN int call(int *p) { return *p + 1; }\n"
	"struct slot { const char *name; int offset; int (*function)(int *), (*wrapper)(int *); };\n"
	"struct slot table[] = {\n"
	"	{ \"__repr__\", 128, other, other }, { \"__call__\", 96, other, other },\n"
	"	{ \"__call__\", 128, call, other }, { 0, 0, 0, 0 } };\n"
	"int *keep_table(void) { return &table[0].offset; }\n";

/* The offset of what CPython's slot of this name has, compiled so; 0: not found. */
static uint64_t slot_offset(const char *args, uint32_t slot, const char *named)
{
	struct opened o = open_built(a_slot_table, args);
	struct elf_symbol sym, symbol;
	int err = elf_find_slot(o.ef, "__call__", slot, &sym);

	assert_true(err == 0 || err == -ENOENT);
	assert_int_equal(sym.offset != 0, err == 0);
	if (named) {
		assert_int_equal(find_one(o.ef, named, &symbol), 1);
		assert_int_equal(sym.offset, symbol.offset);
		assert_int_equal(sym.opening, symbol.opening);
	}
	close_built(&o);
	return sym.offset;
}

TEST(a_slots_function_is_found_without_its_symbol)
{
	static const char *const kinds[][2] = {
		{ LIBRARY, LIBRARY " -s" },
		{ "-static -no-pie -nostdlib -Wl,-e,keep_table",
		  "-static -no-pie -nostdlib -Wl,-e,keep_table -s" },
	};

	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		assert_int_equal(slot_offset(kinds[i][0], 128, "call"),
				 slot_offset(kinds[i][1], 128, NULL));
		assert_int_equal(slot_offset(kinds[i][0], 96, "other"),
				 slot_offset(kinds[i][1], 96, NULL));
		assert_int_equal(slot_offset(kinds[i][1], 104, NULL), 0);
	}
}

TEST(test_a_file_that_is_no_program_is_refused)
{
	struct object o = object_build(two_functions, "-c");
	int fds[2], dir = open("/", O_RDONLY | O_CLOEXEC), text = open(o.path, O_RDWR | O_CLOEXEC);
	int fd[] = { -1, dir, text, -1 };

	assert_int_equal(pipe(fds), 0);
	fd[3] = fds[0];
	for (size_t i = 0; i < 4; i++) {
		errno = 0;
		assert_null(elf_file_open(fd[i], "nothing"));
		assert_int_equal(errno, fd[i] < 0 ? EBADF : ENOEXEC);
	}
	close(fds[0]);
	close(fds[1]);
	close(dir);
	close(text);
	object_remove(&o);
}

static int set_up_all(void **state)
{
	(void)state;
	log_threshold = LOG_ERROR;
	return 0;
}

TEST_GROUP(set_up_all, NULL);
