// SPDX-License-Identifier: BSD-3-Clause
/*
 * The catalogue as data: rows that contradict themselves, the numbering, file names, and whether
 * the functions exist in the real libraries (those that scripts/cuda has found).
 */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "elf/elf.h"
#include "probe/catalog.h"
#include "probe/results.h"

struct result_row {
	int32_t code;
	const char *name;
};

#include "probe/results_table.h"

/* ---- rows ------------------------------------------------------------------------------------- */

static void rows_are_unique(void **state)
{
	(void)state;
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

static void words_are_captured(void **state)
{
	static const uint8_t shape_words[] = {
		[SHAPE_NONE] = 0, [SHAPE_DIM3] = 7, [SHAPE_SIX] = 8,
		[SHAPE_RUNTIME_CONFIG] = 10, [SHAPE_DRIVER_CONFIG] = 10,
	};

	(void)state;
	for (unsigned int i = 1; i < catalog_n_rows(); i++) {
		const struct catalog_row *row = catalog_row(i);
		struct gp_row wire;

		catalog_wire_row(row, &wire);
		assert_true(row->shape < sizeof(shape_words));
		is_captured(row, &wire, shape_words[row->shape], "shape");
		is_captured(row, &wire, row->entity, "entity");
		is_captured(row, &wire, row->bytes, "bytes");
		is_captured(row, &wire, row->dtype, "data type");
		is_captured(row, &wire, row->times, "factor");
		is_captured(row, &wire, row->stream, "stream");
		is_captured(row, &wire, row->dir_word, "direction");
		/* The decoder takes these for known also where extra words could not be read. */
		assert_true(row->entity <= GP_REGS && row->bytes <= GP_REGS);
		assert_true(row->dtype <= GP_REGS && row->times <= GP_REGS);
		assert_true(row->dir_word <= GP_REGS);
		assert_int_equal(row->dir == DIR_WORD, row->dir_word != 0);
		assert_true(row->dir <= DIR_DEFAULT);
		assert_false(row->dtype && row->scale);
		assert_true(row->bytes || !(row->scale || row->dtype || row->times));
		assert_true(row->class > CLASS_OTHER && row->class < CLASS_END);
	}
}

static void wire_rows_fit(void **state)
{
	(void)state;
	for (unsigned int i = 1; i < catalog_n_rows(); i++) {
		const struct catalog_row *row = catalog_row(i);
		struct gp_row wire;

		catalog_wire_row(row, &wire);
		assert_true(wire.words == GP_WORDS_SMALL || wire.words == GP_WORDS_MIDDLE ||
			    wire.words == GP_WORDS_LARGE);
		assert_int_equal(wire.extra, row->extra);
		assert_int_equal(wire.extra_words, row->extra_words);
		assert_int_equal(!wire.extra, !wire.extra_words);
		assert_true(wire.extra <= GP_EXTRA_DEREF && wire.extra_words <= GP_EXTRA_MAX);
		if (wire.extra)
			assert_true(wire.extra_words <= wire.words - GP_REGS);
		assert_int_equal(!!(wire.flags & GP_ROW_TWO), row->two);
	}
}

static void rows_are_numbered_through(void **state)
{
	unsigned int row = 1;
	static struct funcs funcs;

	(void)state;
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

static void libraries_by_file_name(void **state)
{
	static const struct { const char *file, *library; } names[] = {
		{ "libcudart.so.13", "cudart" }, { "libcudart.so", "cudart" },
		{ "libcudart.so.13.0.96", "cudart" }, { "libcudart-d0da41ae.so.11.0", "cudart" },
		{ "libcuda.so.1", "cuda" }, { "libcuda.so", "cuda" },
		{ "libcuda.so.580.65.06", "cuda" }, { "libnccl.so.2", "nccl" },
		{ "libnccl.so.2.28.9", "nccl" },
		{ "libcudadebugger.so.1", NULL }, { "libnccl-net.so", NULL },
		{ "libnccl-net.so.2", NULL }, { "libcuda.sock", NULL }, { "libcuda.so1", NULL },
		{ "libcudart_static.a", NULL }, { "libcudart-cafe.so.1", NULL },
		{ "libcudart-d0da41ae", NULL }, { "libcudart", NULL }, { "libcuda.s", NULL },
		{ "cudart.so", NULL }, { "", NULL }, { "libncclx.so", NULL },
	};

	(void)state;
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

static void is_sorted(const struct result_row *rows, size_t n, const char *library)
{
	for (size_t i = 0; i < n; i++) {
		assert_true(!i || rows[i - 1].code < rows[i].code);
		assert_true(rows[i].code >= -GP_RESULT_MAX && rows[i].code <= GP_RESULT_MAX);
		assert_ptr_not_equal(result_name(library, rows[i].code), NULL);
		assert_string_equal(result_name(library, rows[i].code), rows[i].name);
	}
}

static void results_have_names(void **state)
{
	(void)state;
#define IS_SORTED(t) is_sorted(t##_results, sizeof(t##_results) / sizeof(t##_results[0]), #t)
	IS_SORTED(cudart);
	IS_SORTED(cuda);
	IS_SORTED(nccl);
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

/* Rows that a library of the version that is tested no longer has. */
static const char *const gone[] = {
	"cudaThreadSynchronize",	/* deprecated in CUDA 4, removed in 13.0 */
};

static bool is_gone(const char *name)
{
	for (size_t i = 0; i < sizeof(gone) / sizeof(gone[0]); i++)
		if (!strcmp(gone[i], name))
			return true;
	return false;
}

static int open_library(const char *name)
{
	const char *dir = getenv("GPUPROF_CUDA_DIR");
	char path[4096];
	int fd;

	snprintf(path, sizeof(path), "%s/lib/%s", dir ? dir : "build/cuda", name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0) {
		print_message("SKIP: no %s; scripts/cuda gets it\n", path);
		skip();
	}
	return fd;
}

static void rows_exist(const char *file)
{
	int fd = open_library(file);
	const struct catalog_library *lib = catalog_library((unsigned int)catalog_library_of(file));
	struct elf_symbol *syms = calloc(lib->n_rows, sizeof(*syms));
	struct elf_file *ef = elf_file_open(fd, file);
	unsigned int stepped = 0;

	assert_non_null(syms);
	assert_non_null(ef);
	for (size_t i = 0; i < lib->n_rows; i++)
		syms[i].name = lib->rows[i].name;
	assert_true(elf_find_symbols(ef, syms, lib->n_rows) > 0);
	for (size_t i = 0; i < lib->n_rows; i++) {
		if (!syms[i].offset == !is_gone(syms[i].name))
			fail_msg("%s: %s %s", file, syms[i].name,
				 syms[i].offset ? "is there, and listed as gone" : "is not there");
		stepped += syms[i].opening == ELF_STEP && !lib->rows[i].rare;
	}
	print_message("%s: %zu rows, %u of them would be single-stepped\n", file, lib->n_rows,
		      stepped);
	elf_file_close(ef);
	close(fd);
	free(syms);
}

static void real_cudart_has_the_rows(void **state)
{
	(void)state;
	rows_exist("libcudart.so.13");
}

static void real_nccl_has_the_rows(void **state)
{
	(void)state;
	rows_exist("libnccl.so.2");
}

int main(void)
{
#define SAYS(sentence, test) { sentence, test, NULL, NULL, NULL }
	const struct CMUnitTest tests[] = {
		SAYS("rows: one for each function of a library", rows_are_unique),
		SAYS("rows: what is decoded is captured", words_are_captured),
		SAYS("rows: their wire form fits the record", wire_rows_fit),
		SAYS("rows: are numbered through from 1", rows_are_numbered_through),
		SAYS("libraries: are known by their whole file name", libraries_by_file_name),
		SAYS("results: are sorted by code and have names", results_have_names),
		SAYS("rows: exist in the real libcudart", real_cudart_has_the_rows),
		SAYS("rows: exist in the real libnccl", real_nccl_has_the_rows),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
