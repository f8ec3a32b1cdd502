// SPDX-License-Identifier: BSD-3-Clause
/* Reads the nested names of the Itanium C++ ABI: _ZN <length><name>... E <parameters>. */
#include "probe/ops.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/num.h"
#include "event/event.h"
#include "gpuprof/control.h"

#define MODULES_CALL "slot_tp_call"
#define TP_CALL 128	/* PyTypeObject.tp_call, in 64-bit builds with a global interpreter lock */

/* Of libtorch_cpu the table of local functions is huge. */
static const struct ops_file files[] = {
	{ "libtorch_python.so", "_ZN5torch8autograd", true, NULL, 0 },
	{ "libtorch_cpu.so", "_ZN5torch8autograd", false, NULL, 0 },
	{ "libpython3.", MODULES_CALL, true, "__call__", TP_CALL },
	{ "python", MODULES_CALL, true, "__call__", TP_CALL },
};

const struct ops_file *ops_file_of(const char *basename)
{
	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++)
		if (!strncmp(basename, files[i].begins, strlen(files[i].begins)))
			return &files[i];
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

#define WRAPPER "THPVariable_"

/* Copies that the compiler has split off ("....cold", "....part.0") are no functions. */
bool op_of_symbol(const char *symbol, struct op_symbol *out)
{
	struct part part[PARTS_MAX];
	const char *rest;
	size_t n;

	if (!strcmp(symbol, MODULES_CALL)) {
		*out = (struct op_symbol){ .id = GP_OP_MODULE };
		return true;
	}
	if (strncmp(symbol, "_ZN", strlen("_ZN")) || strchr(symbol, '.'))
		return false;
	n = read_parts(symbol, part, &rest);
	if (n < 3 || !is(&part[0], "torch") || !is(&part[1], "autograd"))
		return false;
	out->entry_only = is(&part[n - 1], "apply");
	if (out->entry_only)
		return n > 3 && !strncmp(rest, "OSt6vectorI", strlen("OSt6vectorI")) &&
		       set_name(out, "", part[n - 2].at, part[n - 2].len);
	if (n != 3 || strncmp(rest, "P7_object", strlen("P7_object")) ||
	    part[2].len <= strlen(WRAPPER) || memcmp(part[2].at, WRAPPER, strlen(WRAPPER)))
		return false;
	return set_name(out, "aten.", part[2].at + strlen(WRAPPER), part[2].len - strlen(WRAPPER));
}

uint64_t op_id(const char *name)
{
	return num_max((event_text_hash(name) & GP_COOKIE_OP_BITS) | GP_OPS_FIRST,
		       GP_OP_MODULE + 1);
}
