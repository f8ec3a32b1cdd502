// SPDX-License-Identifier: BSD-3-Clause
/* Reads the nested names of the Itanium C++ ABI: _ZN <length><name>... E <parameters>. */
#include "probe/ops.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/num.h"
#include "catalog/gemms.h"
#include "event/event.h"
#include "gpuprof/control.h"
#include "probe/schemas.h"

#define ATEN "aten."
#define MODULES_CALL "slot_tp_call"
#define TP_CALL 128	/* PyTypeObject.tp_call, in 64-bit builds with a global interpreter lock */

#define AT(level) (1u << OPS_##level)
#define NODES "_ZN5torch8autograd"
#define GEMMS "cublas"

/* Of libtorch_cpu the table of local functions is huge. */
static const struct ops_file files[] = {
	{ "libtorch_python.so", AT(PYTHON), .symbols = NODES, .with_locals = true },
	{ "libtorch_cpu.so", AT(PYTHON) | AT(ALL), .symbols = NODES },
	{ "libtorch_cpu.so", AT(ALL), .has_schemas = true, .symbols = "_ZN2at4_ops" },
	{ "libpython3.", AT(PYTHON) | AT(ALL), .symbols = MODULES_CALL, .with_locals = true,
	  .slot = "__call__", .slot_offset = TP_CALL },
	{ "python", AT(PYTHON) | AT(ALL), .symbols = MODULES_CALL, .with_locals = true,
	  .slot = "__call__", .slot_offset = TP_CALL },
	{ "libcublas.so", AT(GEMMS), .symbols = GEMMS },
	{ "libcublasLt.so", AT(GEMMS), .symbols = GEMMS },
};

const struct ops_file *ops_file_next(const struct ops_file *last, const char *basename,
				     unsigned int levels)
{
	for (const struct ops_file *f = last ? last + 1 : files;
	     f < files + sizeof(files) / sizeof(files[0]); f++)
		if (f->levels & levels && !strncmp(basename, f->begins, strlen(f->begins)))
			return f;
	return NULL;
}

#define PARTS_MAX 6

struct part {			/* of a nested name; not terminated */
	const char *at;
	size_t len;
};

/* The parts of a nested name of plain ones; *rest is what follows. 0: it is another symbol. */
static size_t read_parts(const char *symbol, struct part parts[PARTS_MAX], const char **rest)
{
	const char *at = symbol + strlen("_ZN");
	size_t n = 0;

	for (; *at && *at != 'E' && n < PARTS_MAX; n++) {
		char *end;
		unsigned long len;

		at += *at == 'L';	/* it is static */
		if (!isdigit((unsigned char)*at))
			return 0;
		len = strtoul(at, &end, 10);
		if (!len || len > strlen(end))
			return 0;
		parts[n] = (struct part){ end, len };
		at = end + len;
	}
	*rest = at + 1;
	return *at == 'E' ? n : 0;
}

static bool is(const struct part *part, const char *text)
{
	return part->len == strlen(text) && !memcmp(part->at, text, part->len);
}

static bool set_name(struct op_symbol *out, const char *prefix, const char *name, size_t len)
{
	const size_t before = strlen(prefix);

	if (!len || before + len >= sizeof(out->name))
		return false;
	memcpy(out->name, prefix, before);
	memcpy(out->name + before, name, len);
	out->name[before + len] = '\0';
	out->id = op_id(out->name);
	return true;
}

/* What PyTorch's operators for memory and views are called: other operators launch for them. */
static bool launches_nothing(const char *name)
{
	static const char *const names[] = {
		"empty", "empty_like", "empty_permuted", "empty_strided", "new_empty",
		"new_empty_strided", "resize_", "resize_as_", "set_", "to", "_to_copy",
		"contiguous", "view", "reshape", "as_strided", "detach", "alias", "t", "transpose",
		"permute", "select", "slice", "narrow", "expand", "squeeze", "unsqueeze", "flatten",
	};
	const size_t len = strcspn(name, ".");

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (strlen(names[i]) == len && !memcmp(names[i], name, len))
			return true;
	return false;
}

/* "aten.add.Tensor"; without an overload "aten.mm.default". */
static bool set_schema_name(struct op_symbol *out, const struct part *function,
			    const struct schemas *schemas)
{
	const struct schema *s =
		schemas ? schemas_find(schemas, function->at, function->len) : NULL;
	char text[OP_NAME_MAX];

	if (!s)
		return set_name(out, ATEN, function->at, function->len);
	out->tensor = s->tensor;
	out->is_idle = launches_nothing(s->name);
	snprintf(text, sizeof(text), "%s%s", s->name, strchr(s->name, '.') ? "" : ".default");
	return set_name(out, ATEN, text, strlen(text));
}

#define WRAPPER "THPVariable_"

static bool is_wrapper(const struct part *function, const char *rest)
{
	return !strncmp(rest, "P7_object", strlen("P7_object")) &&
	       function->len > strlen(WRAPPER) &&
	       !memcmp(function->at, WRAPPER, strlen(WRAPPER));
}

/* Copies that the compiler has split off ("....cold", "....part.0") are no functions. */
bool op_of_symbol(const char *symbol, const struct schemas *schemas, struct op_symbol *out)
{
	struct part part[PARTS_MAX];
	const char *rest;
	const int gemm = strncmp(symbol, GEMMS, strlen(GEMMS)) ? -1 : gemm_find(symbol);
	size_t n;

	if (gemm >= 0 || !strcmp(symbol, MODULES_CALL)) {
		*out = (struct op_symbol){
			.id = gemm >= 0 ? GP_OP_GEMM + (unsigned int)gemm : GP_OP_MODULE
		};
		return true;
	}
	if (strncmp(symbol, "_ZN", strlen("_ZN")) || strchr(symbol, '.'))
		return false;
	n = read_parts(symbol, part, &rest);
	out->entry_only = true;
	out->is_node = out->is_idle = false;
	out->tensor = 0;
	if (n == 4 && is(&part[0], "at") && is(&part[1], "_ops"))
		return is(&part[3], "call") && set_schema_name(out, &part[2], schemas);
	if (n < 3 || !is(&part[0], "torch") || !is(&part[1], "autograd"))
		return false;
	out->is_node = is(&part[n - 1], "apply");
	if (out->is_node)
		return n > 3 && !strncmp(rest, "OSt6vectorI", strlen("OSt6vectorI")) &&
		       set_name(out, "", part[n - 2].at, part[n - 2].len);
	out->entry_only = false;
	return n == 3 && is_wrapper(&part[2], rest) &&
	       set_name(out, ATEN, part[2].at + strlen(WRAPPER), part[2].len - strlen(WRAPPER));
}

uint64_t op_id(const char *name)
{
	return num_max((event_text_hash(name) & GP_COOKIE_OP_BITS) | GP_OPS_FIRST,
		       GP_OP_GEMM + GP_GEMM_ROWS);
}
