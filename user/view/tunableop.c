// SPDX-License-Identifier: BSD-3-Clause
#include "view/tunableop.h"

#include <ctype.h>
#include <inttypes.h>
#include <string.h>

#include "base/map.h"
#include "event/event.h"

static const struct {
	const char *type, *name;	/* in the table; of PyTorch's C++ types */
} types[] = {
	{ "float32", "float" }, { "float64", "double" }, { "float16", "Half" },
	{ "bfloat16", "BFloat16" }, { "complex64", "c10::complex<float>" },
	{ "complex128", "c10::complex<double>" },
};

static const char *type_name(const struct cell *type)
{
	for (size_t i = 0; type->known && i < sizeof(types) / sizeof(types[0]); i++)
		if (!strcmp(type->s, types[i].type))
			return types[i].name;
	return NULL;
}

/* NULL: it has none. */
static const char *operator_name(const struct table *t, size_t row)
{
	const char *function = table_cell(t, row, "function")->s;

	if (strstr(function, "StridedBatched"))
		return "GemmStridedBatched";
	if (strstr(function, "Batched"))
		return NULL;
	if (table_cell(t, row, "batch")->u > 1)
		return "GemmStridedBatched";
	return table_cell(t, row, "bias")->u ? "GemmAndBias" : "Gemm";
}

static void add_sizes(struct strbuf *line, const struct table *t, size_t row, bool is_batch)
{
	strbuf_addf(line, "_%" PRIu64 "_%" PRIu64 "_%" PRIu64, table_cell(t, row, "m")->u,
		    table_cell(t, row, "n")->u, table_cell(t, row, "k")->u);
	if (is_batch)
		strbuf_addf(line, "_B_%" PRIu64, table_cell(t, row, "batch")->u);
	strbuf_addf(line, "_ld_%" PRIu64 "_%" PRIu64 "_%" PRIu64 "\n", table_cell(t, row, "lda")->u,
		    table_cell(t, row, "ldb")->u, table_cell(t, row, "ldc")->u);
}

/* False: it has no line. */
static bool add_line(struct strbuf *line, const struct table *t, size_t row)
{
	const char *type = type_name(table_cell(t, row, "dtype"));
	const char *name = type ? operator_name(t, row) : NULL;
	const char *layout;

	if (!name)
		return false;
	layout = table_cell(t, row, "layout")->s;
	strbuf_addf(line, "%sTunableOp_%s_%c%c,%s", name, type,
		    toupper((unsigned char)layout[0]), toupper((unsigned char)layout[1]), layout);
	add_sizes(line, t, row, strstr(name, "Batched"));
	return true;
}

size_t tunableop_add(struct strbuf *out, const struct table *gemm)
{
	struct map seen = { 0 };
	size_t left_out = 0;

	for (size_t i = 0; i < gemm->n_rows; i++) {
		struct strbuf line = STRBUF_INIT;
		struct map_slot *slot = NULL;
		bool is_new = false;

		if (!add_line(&line, gemm, i))
			left_out++;
		else if (!line.failed)
			slot = map_put(&seen, event_text_hash(line.s), &is_new);
		if (is_new)
			strbuf_addf(out, "%s", line.s);
		out->failed |= line.failed || (line.len && !slot);
		strbuf_free(&line);
	}
	map_free(&seen);
	return left_out;
}
