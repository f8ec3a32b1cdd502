// SPDX-License-Identifier: BSD-3-Clause
/* Sorted by symbol to find them, and by name to find those that are alike. */
#include "view/kernel_names.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "base/vec.h"
#include "bucket/kernel_short.h"
#include "elf/demangle.h"

#define NO_NAME "(no name)"

struct kernel_name {
	const char *symbol;	/* the snapshot's */
	const char *name;	/* of the pool */
};

struct kernel_names {
	VEC(struct kernel_name) all;	/* in the order of symbols */
	struct strpool *texts;
};

static int by_symbol(const void *a, const void *b)
{
	const struct kernel_name *x = a, *y = b;

	return strcmp(x->symbol, y->symbol);
}

static int by_name(const void *a, const void *b)
{
	const struct kernel_name *x = *(const struct kernel_name *const *)a,
				 *y = *(const struct kernel_name *const *)b;
	const int order = strcmp(x->name, y->name);

	return order ? order : by_symbol(x, y);
}

/* 0 or -ENOMEM; so below. */
static int add(struct kernel_names *k, const char *symbol)
{
	struct kernel_name *to = symbol ? VEC_PUSH(&k->all) : NULL;

	if (to)
		to->symbol = symbol;
	return symbol && !to ? -ENOMEM : 0;
}

static int collect(struct kernel_names *k, const struct snapshot *snap)
{
	const struct kernel_configs *launched = snap->kernel_configs;
	size_t n = 0;
	int err = 0;

	for (size_t i = 0; i < snap->devices.n; i++) {
		const struct kernels *kernels = &snap->devices.v[i].kernels;

		for (size_t m = 0; m < kernels_count(kernels) && !err; m++)
			err = add(k, kernels_at(kernels, m)->name);
	}
	for (size_t i = 0; launched && i < kernel_configs_count(launched) && !err; i++)
		err = add(k, kernel_configs_at(launched, i)->name);
	if (err || !k->all.n)
		return err;
	qsort(k->all.v, k->all.n, sizeof(k->all.v[0]), by_symbol);
	for (size_t i = 0; i < k->all.n; i++)
		if (!n || by_symbol(&k->all.v[n - 1], &k->all.v[i]))
			k->all.v[n++] = k->all.v[i];
	k->all.n = n;
	return 0;
}

static int keep(struct kernel_names *k, struct kernel_name *to, struct strbuf *text)
{
	to->name = text->failed ? NULL : strpool_add(k->texts, text->len ? text->s : NO_NAME);
	strbuf_free(text);
	return to->name ? 0 : -ENOMEM;
}

static int shorten(struct kernel_names *k, struct kernel_name *to, bool detail)
{
	struct strbuf name = STRBUF_INIT, text = STRBUF_INIT;

	elf_demangle(&name, to->symbol);
	kernel_short_add(&text, name.s, detail);
	text.failed |= name.failed;
	strbuf_free(&name);
	return keep(k, to, &text);
}

static int number(struct kernel_names *k, struct kernel_name *to, size_t n)
{
	struct strbuf text = STRBUF_INIT;

	strbuf_addf(&text, "%s#%zu", to->name, n);
	return keep(k, to, &text);
}

/* Changes those of one name, in detail or by a number; all: pointers to them, in any order. */
static int part_alike(struct kernel_names *k, struct kernel_name **all, bool detail)
{
	int err = 0;

	qsort(all, k->all.n, sizeof(all[0]), by_name);
	for (size_t i = 0, next = 0; i < k->all.n && !err; i = next) {
		const char *name = all[i]->name;

		while (next < k->all.n && !strcmp(name, all[next]->name))
			next++;
		for (size_t m = i; next - i > 1 && m < next && !err; m++)
			err = detail ? shorten(k, all[m], true) : number(k, all[m], m - i + 1);
	}
	return err;
}

static int make(struct kernel_names *k)
{
	struct kernel_name **all = calloc(k->all.n + 1, sizeof(all[0]));
	int err = all ? 0 : -ENOMEM;

	for (size_t i = 0; i < k->all.n && !err; i++) {
		all[i] = &k->all.v[i];
		err = shorten(k, all[i], false);
	}
	err = err ? err : part_alike(k, all, true);
	err = err ? err : part_alike(k, all, false);
	free(all);
	return err;
}

struct kernel_names *kernel_names_new(const struct snapshot *snap)
{
	struct kernel_names *k = calloc(1, sizeof(*k));

	if (!k)
		return NULL;
	k->texts = strpool_new();
	if (k->texts && !collect(k, snap) && !make(k))
		return k;
	kernel_names_free(k);
	return NULL;
}

void kernel_names_free(struct kernel_names *k)
{
	if (!k)
		return;
	strpool_free(k->texts);
	VEC_FREE(&k->all);
	free(k);
}

const char *kernel_names_of(const struct kernel_names *k, const char *symbol)
{
	const struct kernel_name key = { .symbol = symbol }, *found = NULL;

	if (symbol && k->all.n)
		found = bsearch(&key, k->all.v, k->all.n, sizeof(k->all.v[0]), by_symbol);
	return found ? found->name : NO_NAME;
}
