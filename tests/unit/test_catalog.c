// SPDX-License-Identifier: BSD-3-Clause
/*
 * The catalogue as data: rows that contradict themselves, the numbering, file names, and whether
 * the functions exist in the real libraries (those that scripts/cuda has found).
 */
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/io.h"
#include "elf/elf.h"
#include "catalog/catalog.h"
#include "catalog/results.h"
#include "lib/emulated.h"

struct result_row {
	int32_t code;
	const char *name;
};

#include "catalog/results_table.h"
#include "lib/test.h"

/* ---- rows ------------------------------------------------------------------------------------- */

TEST_TITLED("rows: one for each function of a library", rows_are_unique)
{
	for (unsigned int i = 0; i < CATALOG_LIBRARIES; i++) {
		const struct catalog_library *lib = catalog_library(i);

		for (size_t a = 0; a < lib->n_rows; a++)
			for (size_t b = 0; b < a; b++)
				if (!strcmp(lib->rows[a].name, lib->rows[b].name))
					fail_msg("%s: two rows %s", lib->name, lib->rows[a].name);
	}
}

static void is_captured(const struct catalog_row *row, const struct gp_row *wire, unsigned int word,
			const char *what)
{
	unsigned int held = wire->extra ? GP_REGS + wire->extra_words : wire->words;

	/* A record of eight words has two that only extra words fill. */
	if (!wire->extra && held > GP_REGS)
		held = GP_REGS;
	if (word > held)
		fail_msg("%s: %s in word %u, captured are %u", row->name, what, word, held);
}

TEST_TITLED("rows: what is decoded is captured", words_are_captured)
{
	static const uint8_t shape_words[] = {
		[SHAPE_NONE] = 0, [SHAPE_DIM3] = 7, [SHAPE_SIX] = 8,
		[SHAPE_RUNTIME_CONFIG] = 10, [SHAPE_DRIVER_CONFIG] = 10,
		[SHAPE_GEMM] = 6, [SHAPE_GEMMS] = 7,
	};

	for (unsigned int i = 1; i < catalog_n_rows(); i++) {
		const struct catalog_row *row = catalog_row(i);
		struct gp_row wire;

		catalog_wire_row(row, &wire);
		assert_true(row->shape < sizeof(shape_words));
		is_captured(row, &wire, shape_words[row->shape], "shape");
		is_captured(row, &wire, row->entity, "entity");
		is_captured(row, &wire, row->bytes, "bytes");
		is_captured(row, &wire, row->dtype, "data type");
		is_captured(row, &wire, row->times[0], "factor");
		is_captured(row, &wire, row->times[1], "factor");
		is_captured(row, &wire, row->arrays ? row->arrays + 1u : 0, "arrays");
		is_captured(row, &wire, row->stream, "stream");
		is_captured(row, &wire, row->dir_word + (row->dir == DIR_TYPES), "direction");
		/* The decoder takes these for known also where extra words could not be read. */
		assert_true(row->entity <= GP_REGS && row->dtype <= GP_REGS);
		assert_true(row->times[1] <= GP_REGS || row->bytes > GP_REGS);
		assert_int_equal(row->dir == DIR_WORD || row->dir == DIR_TYPES, row->dir_word != 0);
		assert_true(row->dir <= DIR_DEFAULT);
		assert_false(row->dtype && row->scale);
		assert_true(row->bytes || !(row->scale || row->dtype || row->times[0]));
		assert_true(row->times[0] || !row->times[1]);
		assert_true(row->asks || row->is_mark ? row->tier == CATALOG_TIER_NONE :
							row->tier < CATALOG_TIERS);
		assert_int_equal(row->is_mark, strchr(row->name, ':') != NULL);
		assert_int_equal(row->is_mark, row->extra == GP_EXTRA_OPERANDS);
		assert_true(row->class != CLASS_QUERY || row->tier == 1);
		assert_true(row->class > CLASS_OTHER && row->class < CLASS_END);
	}
}

TEST_TITLED("rows: their wire form fits the record", wire_rows_fit)
{
	for (unsigned int i = 1; i < catalog_n_rows(); i++) {
		const struct catalog_row *row = catalog_row(i);
		struct gp_row wire;

		catalog_wire_row(row, &wire);
		assert_true(wire.words == GP_WORDS_SMALL || wire.words == GP_WORDS_MIDDLE ||
			    wire.words == GP_WORDS_LARGE);
		assert_int_equal(wire.extra, row->extra);
		assert_int_equal(wire.extra_words, row->extra_words);
		assert_int_equal(!wire.extra || wire.extra == GP_EXTRA_OPERANDS, !wire.extra_words);
		assert_int_equal(wire.extra == GP_EXTRA_OPERANDS, !!(wire.flags & GP_ROW_ENTRY_ONLY));
		assert_true(wire.extra <= GP_EXTRA_OPERANDS && wire.extra_words <= GP_EXTRA_MAX);
		assert_memory_equal(wire.at, row->at, sizeof(wire.at));
		if (wire.extra_words)
			assert_true(wire.extra_words <= wire.words - GP_REGS);
		assert_int_equal(!!(wire.flags & GP_ROW_TWO), row->two);
	}
}

TEST_TITLED("rows: are numbered through from 1", rows_are_numbered_through)
{
	unsigned int row = 1;
	static struct funcs funcs;

	assert_null(catalog_row(0));
	catalog_funcs(&funcs);
	assert_int_equal(funcs.n, catalog_n_rows());
	assert_string_equal(funcs.v[0].name, "?");
	for (unsigned int i = 0; i < CATALOG_LIBRARIES; i++) {
		const struct catalog_library *lib = catalog_library(i);

		assert_int_equal(catalog_first_row(i), row);
		for (size_t k = 0; k < lib->n_rows; k++, row++) {
			assert_ptr_equal(catalog_row(row), &lib->rows[k]);
			assert_string_equal(funcs.v[row].name, lib->rows[k].name);
			assert_string_equal(funcs.v[row].library, lib->name);
			assert_int_equal(funcs.v[row].class, lib->rows[k].class);
			assert_int_equal(funcs.v[row].two, lib->rows[k].two);
		}
	}
	assert_int_equal(row, catalog_n_rows());
	assert_true(row <= GP_ROWS_MAX && row <= FUNCS_MAX);
	assert_null(catalog_row(row));
	assert_null(catalog_row(UINT32_MAX));
}

/* ---- names --------------------------------------------------------------------------------------- */

TEST_TITLED("libraries: are known by their whole file name", libraries_by_file_name)
{
	static const struct { const char *file, *library; } names[] = {
		{ "libcudart.so.13", "cudart" }, { "libcudart.so", "cudart" },
		{ "libcudart.so.13.0.96", "cudart" }, { "libcudart-d0da41ae.so.11.0", "cudart" },
		{ "libcuda.so.1", "cuda" }, { "libcuda.so", "cuda" },
		{ "libcuda.so.580.65.06", "cuda" }, { "libnccl.so.2", "nccl" },
		{ "libnccl.so.2.28.9", "nccl" }, { "libnvrtc.so.12", "nvrtc" },
		{ "libnvrtc-672ee683.so.11.2", "nvrtc" }, { "libnvJitLink.so.13", "nvjitlink" },
		{ "libcublas.so.12", "cublas" }, { "libcublasLt.so.12", "cublaslt" },
		{ "libcudnn.so.9", "cudnn" }, { "libcudnn_graph.so.9", NULL },
		{ "libnvrtc-builtins.so.13.0", NULL }, { "libnvrtc.alt.so.13", NULL },
		{ "libcudadebugger.so.1", NULL }, { "libnccl-net.so", NULL },
		{ "libnccl-net.so.2", NULL }, { "libcuda.sock", NULL }, { "libcuda.so1", NULL },
		{ "libcudart_static.a", NULL }, { "libcudart-cafe.so.1", NULL },
		{ "libcudart-d0da41ae", NULL }, { "libcudart", NULL }, { "libcuda.s", NULL },
		{ "cudart.so", NULL }, { "", NULL }, { "libncclx.so", NULL },
		{ "libnvptxcompiler_static.a", NULL }, { "libnvptxcompiler.so", NULL },
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		int found = catalog_library_of(names[i].file);

		assert_int_equal(catalog_wants_file(names[i].file), found >= 0);
		if ((found < 0) != !names[i].library ||
		    (found >= 0 && strcmp(catalog_library((unsigned int)found)->name,
					  names[i].library)))
			fail_msg("%s is taken for %s", names[i].file, found < 0 ? "nothing" :
				 catalog_library((unsigned int)found)->name);
	}
}

/* A library of which nothing is probed unless that is asked for. */
TEST_TITLED("libraries: routines above the runtime are of tier 1 alone",
	    routines_above_the_runtime_are_of_tier_1_alone)
{
	assert_true(catalog_has_tier("libcudart.so.13", 0));
	assert_true(catalog_has_tier("libcuda.so.1", 0));
	assert_true(catalog_has_tier("libnccl.so.2", 0));
	assert_false(catalog_has_tier("libcublas.so.13", 0));
	assert_false(catalog_has_tier("libcublasLt.so.13", 0));
	assert_false(catalog_has_tier("libcudnn.so.9", 0));
	assert_true(catalog_has_tier("libcublas.so.13", 1));
	assert_true(catalog_has_tier("libcudnn.so.9", 1));
	assert_false(catalog_has_tier("libc.so.6", 1));
}

static void is_sorted(const struct result_row *rows, size_t n, const char *library)
{
	for (size_t i = 0; i < n; i++) {
		assert_true(!i || rows[i - 1].code < rows[i].code);
		assert_true(rows[i].code >= -GP_RESULT_MAX && rows[i].code <= GP_RESULT_MAX);
		assert_ptr_not_equal(result_name(library, rows[i].code), NULL);
		assert_string_equal(result_name(library, rows[i].code), rows[i].name);
	}
}

TEST_TITLED("results: are sorted by code and have names", results_have_names)
{
#define IS_SORTED(t) is_sorted(t##_results, sizeof(t##_results) / sizeof(t##_results[0]), #t)
	IS_SORTED(cudart);
	IS_SORTED(cuda);
	IS_SORTED(nccl);
	IS_SORTED(nvrtc);
	IS_SORTED(nvjitlink);
	IS_SORTED(nvptxcompiler);
	IS_SORTED(cublas);
	IS_SORTED(cudnn);
	assert_string_equal(result_name("cublaslt", 7), "CUBLAS_STATUS_INVALID_VALUE");
	assert_string_equal(result_name("nvjitlink", 1), "NVJITLINK_ERROR_UNRECOGNIZED_OPTION");
	assert_string_equal(result_name("nvptxcompiler", 3),
			    "NVPTXCOMPILE_ERROR_COMPILATION_FAILURE");
	assert_string_equal(result_name("cudart", 0), "cudaSuccess");
	assert_string_equal(result_name("cudart", 35), "cudaErrorInsufficientDriver");
	assert_string_equal(result_name("cudart", 999), "cudaErrorUnknown");
	assert_string_equal(result_name("cuda", 3), "CUDA_ERROR_NOT_INITIALIZED");
	assert_string_equal(result_name("nccl", 1), "ncclUnhandledCudaError");
	assert_null(result_name("cudart", -1));
	assert_null(result_name("cudart", 12345));
	assert_null(result_name("cud", 0));
	assert_null(result_name("", 0));
}

/* ---- the real libraries --------------------------------------------------------------------------- */

/* The versions that scripts/cuda has, as 1000 * major + minor; rows may be of others. */
static const struct { const char *library; unsigned int version; } tested[] = {
	{ "cudart", 13000 }, { "cuda", 13000 }, { "nccl", 2028 }, { "nvjitlink", 13000 },
};

/* The functions of each version (scripts/gen-functions); NULL: no list of this library. */
static char *read_exports(const char *library, unsigned int *version)
{
	char path[PATH_MAX], *text;

	for (size_t i = 0; i < sizeof(tested) / sizeof(tested[0]); i++) {
		if (strcmp(tested[i].library, library))
			continue;
		*version = tested[i].version;
		snprintf(path, sizeof(path), "tests/rows/functions/%s.txt", library);
		text = io_read_file(path, 1u << 20, NULL);
		assert_non_null(text);
		return text;
	}
	return NULL;
}

/* Whether "cudaFreeAsync{,_ptsz}", with anything behind it, is this function. */
static bool is_name(const char *line, const char *name)
{
	size_t base = strcspn(line, "{( \n"), length = strlen(name);

	if (strncmp(line, name, base))
		return false;
	if (line[base] != '{')
		return length == base;
	for (const char *variant = line + base; *variant != '}'; variant += strcspn(variant, ",}")) {
		variant++;
		if (length - base == strcspn(variant, ",}") &&
		    !strncmp(variant, name + base, length - base))
			return true;
	}
	return false;
}

/* Whether "11.7-12.0 12.3-", to the end of the line or a colon, contains the version. */
static bool has_version(const char *ranges, unsigned int version)
{
	unsigned int from, to, minor;

	do {
		assert_int_equal(sscanf(ranges, " %u.%u", &from, &minor), 2);
		from = 1000 * from + minor;
		ranges = strchr(ranges, '-') + 1;
		to = UINT32_MAX;
		if (!strchr(" :\n", *ranges) && sscanf(ranges, "%u.%u", &to, &minor) == 2)
			to = 1000 * to + minor;
		if (version >= from && version <= to)
			return true;
		ranges += strcspn(ranges, " :\n");
	} while (*ranges == ' ');
	return false;
}

/* The versions of a line "f{,_ptsz}(int n) 11.7-" or "11.7-: f g" if it has the function, or NULL. */
static const char *versions_of(const char *line, const char *name)
{
	const char *end = line + strcspn(line, "(:\n");

	if (*end == '(')
		return is_name(line, name) ? strchr(line, ')') + 1 : NULL;
	if (*end != ':' || !strncmp(line, "type ", 5))
		return NULL;
	for (const char *word = end + 1; *word == ' '; word += strcspn(word + 1, " \n") + 1)
		if (is_name(word + 1, name))
			return line;
	return NULL;
}

/* A function without a line, or with a line without versions, is of all versions. */
static bool version_has(const char *exports, unsigned int version, const char *name)
{
	for (const char *line = exports; line; line = strchr(line, '\n')) {
		const char *ranges;

		line += *line == '\n';
		ranges = versions_of(line, name);
		if (ranges)
			return *ranges == '\n' || has_version(ranges, version);
	}
	return true;
}

/* In the tests' own collection of libraries, or beside where that one's libcudart really is. */
static int open_library(const char *name)
{
	const char *dir = getenv("GPUPROF_CUDA_DIR");
	char path[PATH_MAX], real[PATH_MAX];
	int fd;

	snprintf(path, sizeof(path), "%s/lib/%s", dir ? dir : "build/cuda", name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	snprintf(path, sizeof(path), "%s/lib/libcudart.so.13", dir ? dir : "build/cuda");
	if (fd < 0 && realpath(path, real) && strlen(real) + strlen(name) + 2 < sizeof(real)) {
		strcpy(strrchr(real, '/') + 1, name);
		fd = open(real, O_RDONLY | O_CLOEXEC);
	}
	if (fd < 0) {
		print_message("SKIP: no %s beside %s\n", name, path);
		skip();
	}
	needs_own_machine(fd);
	return fd;
}

static void no_two_share_an_address(const struct elf_symbol *syms, size_t n)
{
	for (size_t a = 0; a < n; a++)
		for (size_t b = 0; syms[a].offset && b < a; b++)
			if (syms[a].offset == syms[b].offset)
				fail_msg("%s and %s are one function", syms[a].name, syms[b].name);
}

/* is_pinned: tests use this version only; of another one, rows may be missing. */
static void rows_exist(const char *file, unsigned int max_left_out, bool is_pinned)
{
	int fd = open_library(file);
	const struct catalog_library *lib = catalog_library((unsigned int)catalog_library_of(
		strrchr(file, '/') ? strrchr(file, '/') + 1 : file));
	struct elf_symbol *syms = calloc(lib->n_rows, sizeof(*syms));
	struct elf_file *ef = elf_file_open(fd, file);
	unsigned int stepped = 0, left_out = 0, refused = 0, version = 0;
	char *exports = read_exports(lib->name, &version);

	assert_non_null(syms);
	assert_non_null(ef);
	for (size_t i = 0; i < lib->n_rows; i++)
		syms[i].name = lib->rows[i].name;
	assert_true(elf_find_symbols(ef, syms, lib->n_rows) > 0);
	for (size_t i = 0; i < lib->n_rows; i++) {
		if (is_pinned && !syms[i].offset == version_has(exports, version, syms[i].name))
			fail_msg("%s: %s %s", file, syms[i].name,
				 syms[i].offset ? "is there, and listed as not" : "is not there");
		stepped += syms[i].opening == ELF_STEP;
		refused += syms[i].opening == ELF_REFUSED;
		if (syms[i].opening != ELF_STEP || lib->rows[i].rare)
			continue;
		left_out++;
		print_message("%s: %s would be single-stepped\n", file, syms[i].name);
	}
	print_message("%s: %zu rows, %u would be single-stepped (%u of them are left out), %u are "
		      "refused\n", file, lib->n_rows, stepped, left_out, refused);
	assert_int_equal(refused, 0);
	no_two_share_an_address(syms, lib->n_rows);
	assert_true(left_out <= max_left_out);
	elf_file_close(ef);
	close(fd);
	free(syms);
	free(exports);
}

#define ROWS_EXIST(library, name, ...)                                                     \
	TEST_TITLED("rows: exist in the real " library, real_##name##_has_the_rows)                \
	{                                                                                          \
		rows_exist(__VA_ARGS__);                                                           \
	}

ROWS_EXIST("libcudart", cudart, "libcudart.so.13", 0, true)
ROWS_EXIST("libnccl", nccl, "libnccl.so.2", 0, true)
/* A stub has the names; how the driver's functions begin is not seen here. */
ROWS_EXIST("libcuda", cuda, "stubs/libcuda.so", 0, true)
ROWS_EXIST("libnvrtc", nvrtc, "libnvrtc.so.13", 0, true)
ROWS_EXIST("libnvJitLink", nvjitlink, "libnvJitLink.so.13", 0, true)
ROWS_EXIST("libcublas", cublas, "libcublas.so.13", 0, true)
ROWS_EXIST("libcublasLt", cublaslt, "libcublasLt.so.13", 0, true)
ROWS_EXIST("libcudnn", cudnn, "libcudnn.so.9", 6, false)

/* Also a twin's, and that of a function which the catalogue does not know: by its class. */
TEST_TITLED("rows: name the role of a function", roles_are_of_rows)
{
	static const struct {
		struct func fn;
		enum func_role role;
	} cases[] = {
		{ { "cudaGraphLaunch_ptsz", "cudart", CLASS_LAUNCH, 0 }, ROLE_LAUNCH },
		{ { "cuStreamBeginCapture_v2", "cuda", CLASS_GRAPH, 0 }, ROLE_BEGIN },
		{ { "cudaStreamBeginCaptureToGraph", "cudart", CLASS_GRAPH, 0 }, ROLE_SPOIL },
		{ { "cudaGraphDestroyNode", "cudart", CLASS_GRAPH, 0 }, ROLE_NONE },
		{ { "cuMemAllocHost_v2", "cuda", CLASS_ALLOC, 0 }, ROLE_ALLOC_PINNED },
		{ { "cudaFreeAsync", "cudart", CLASS_FREE, 0 }, ROLE_FREE_POOL },
		{ { "cudaLaunchKernel", "cudart", CLASS_LAUNCH, 0 }, ROLE_KERNEL },
		{ { "cudaLaunchAsIn2031", "cudart", CLASS_LAUNCH, 0 }, ROLE_KERNEL },
		{ { "cudaGetDevice", "cudart", CLASS_QUERY, 0 }, ROLE_NONE },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		assert_int_equal(catalog_role(&cases[i].fn), cases[i].role);
}
