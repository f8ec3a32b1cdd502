// SPDX-License-Identifier: BSD-3-Clause
/*
 * From a file to the functions to probe in it. Its name, or for statically linked copies a
 * marker symbol, decides which functions it may hold; its symbol tables, where they are; the
 * first instruction, whether a probe is affordable.
 */
#include "probe/plan.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/str.h"
#include "base/vec.h"
#include "catalog/catalog.h"
#include "elf/elf.h"
#include "elf/usdt.h"
#include "gpuprof/control.h"
#include "probe/operands.h"
#include "probe/schemas.h"
#include "probe/tensors.h"

static uint8_t outcome_of(const struct elf_symbol *sym, const struct catalog_row *row,
			  const struct plan_rules *rules)
{
	uint64_t limit_ns = rules->step_limit_ns ? rules->step_limit_ns : PLAN_STEP_LIMIT_NS;

	if (sym->opening == ELF_REFUSED || sym->opening == ELF_UNKNOWN)
		return PLAN_REFUSED;
	if (sym->opening != ELF_STEP)
		return 0;
	return row->rare || (rules->step_ns && rules->step_ns <= limit_ns) ? PLAN_STEPPED :
									      PLAN_TOO_DEAR;
}

/* PLAN_PARTS: in none. */
static enum plan_part part_of(const struct catalog_library *lib, const struct catalog_row *row,
			      const struct plan_rules *rules)
{
	if (row->class != CLASS_LAUNCH)
		return PLAN_OTHERS;
	if (lib == &catalog_cuda)
		return PLAN_DRIVER_LAUNCHES;
	if (lib == &catalog_cudart)
		return rules->launch == LAUNCH_DRIVER ? PLAN_PARTS : PLAN_RUNTIME_LAUNCHES;
	return PLAN_OTHERS;
}

static void plan_insert(struct plan *plan, enum plan_part part, uint64_t offset, uint64_t row,
			uint64_t semaphore)
{
	const size_t at = plan->end[part], behind = plan_size(plan) - at;

	memmove(plan->offsets + at + 1, plan->offsets + at, behind * sizeof(*plan->offsets));
	memmove(plan->rows + at + 1, plan->rows + at, behind * sizeof(*plan->rows));
	memmove(plan->semaphores + at + 1, plan->semaphores + at,
		behind * sizeof(*plan->semaphores));
	plan->offsets[at] = offset;
	plan->rows[at] = row;
	plan->semaphores[at] = semaphore;
	for (unsigned int i = part; i < PLAN_PARTS; i++)
		plan->end[i]++;
}

/* An alias has one probe with the first one. */
static bool has_room(const struct plan *plan, const struct elf_symbol *sym)
{
	for (size_t i = 0; i < plan_size(plan); i++)
		if (plan->offsets[i] == sym->offset)
			return false;
	return plan_size(plan) < PLAN_MAX;
}

static void plan_add(struct plan *plan, enum plan_part part, const struct elf_symbol *sym,
		     unsigned int row, const struct plan_rules *rules)
{
	if (!has_room(plan, sym))
		return;
	plan->outcome[row] = outcome_of(sym, catalog_row(row), rules);
	plan->too_dear += !!(plan->outcome[row] & PLAN_TOO_DEAR);
	plan->refused += !!(plan->outcome[row] & PLAN_REFUSED);
	if (plan->outcome[row] & (PLAN_TOO_DEAR | PLAN_REFUSED))
		return;
	plan_insert(plan, part, sym->offset, row, 0);
}

static bool is_wanted(const struct catalog_row *row, const struct plan_rules *rules)
{
	return row->asks ? rules->asks : row->tier <= rules->tier && !row->is_mark;
}

/* Does nothing but jump to another function of the library, which has a probe: that sees its
 * calls, and a second one would be a second trap. */
static bool is_seen_by_another(const struct elf_symbol *sym, const struct elf_symbol *syms,
			       const struct catalog_library *lib, const struct plan_rules *rules)
{
	for (size_t i = 0; sym->jumps_to && i < lib->n_rows; i++)
		if (syms[i].offset && syms[i].offset - syms[i].skipped == sym->jumps_to)
			return !lib->rows[i].jumps && is_wanted(&lib->rows[i], rules) &&
			       !(outcome_of(&syms[i], &lib->rows[i], rules) &
				 (PLAN_TOO_DEAR | PLAN_REFUSED));
	return false;
}

static void plan_rows(struct plan *plan, const struct elf_symbol *syms, unsigned int library,
		      const struct plan_rules *rules)
{
	const struct catalog_library *lib = catalog_library(library);
	unsigned int first = catalog_first_row(library);

	for (size_t i = 0; i < lib->n_rows; i++) {
		const struct catalog_row *row = &lib->rows[i];
		enum plan_part part = part_of(lib, row, rules);

		if (!syms[i].offset || !is_wanted(row, rules) || part == PLAN_PARTS)
			continue;
		plan->found = true;
		plan->has_calls |= !row->asks;
		if (row->jumps && is_seen_by_another(&syms[i], syms, lib, rules))
			continue;
		plan_add(plan, part, &syms[i], first + (unsigned int)i, rules);
	}
}

struct planning {		/* operators of a file */
	struct plan *plan;
	struct schemas *schemas;	/* NULL: it needs none */
	bool shapes;
	const struct plan_ops_sink *to;
};

/* They are called often: where the first instruction would be single-stepped, they are left out. */
static void on_function(void *ctx, const struct elf_symbol *sym)
{
	const struct planning *p = ctx;
	struct op_symbol op;

	if (!op_of_symbol(sym->name, p->schemas, &op) || !has_room(p->plan, sym))
		return;
	if (sym->opening == ELF_STEP || sym->opening == ELF_REFUSED ||
	    sym->opening == ELF_UNKNOWN) {
		p->plan->too_dear += sym->opening == ELF_STEP;
		p->plan->refused += sym->opening != ELF_STEP;
		return;
	}
	p->plan->found = true;
	plan_insert(p->plan, op.entry_only ? PLAN_ENTRIES : PLAN_OTHERS, sym->offset,
		    op.id | GP_COOKIE_OP | (op.entry_only ? GP_COOKIE_OP_ENTRY : 0) |
			    (op.is_node ? GP_COOKIE_OP_NODE : 0) |
			    (op.is_idle ? GP_COOKIE_OP_IDLE : 0) |
			    (p->shapes ? (uint64_t)op.tensor << GP_COOKIE_TENSOR_SHIFT : 0), 0);
	if (*op.name)
		p->to->found(p->to->ctx, op.id, op.name);
}

static int plan_ops(struct plan *plan, struct elf_file *ef, const struct ops_file *file,
		    const struct plan_rules *rules, const struct plan_ops_sink *to)
{
	struct planning p = { plan, file->has_schemas ? schemas_read(ef) : NULL,
			      file->has_schemas && rules->shapes, to };
	const size_t before = plan_size(plan);
	struct elf_symbol sym;
	int err;

	if (file->has_schemas && !p.schemas)
		return -errno;
	if (p.shapes)
		p.shapes = tensors_read(ef, &plan->layout);
	err = elf_each_function(ef, file->symbols, file->with_locals, on_function, &p);
	schemas_free(p.schemas);
	p.schemas = NULL;
	if (file->slot && plan_size(plan) == before && err != -ENOMEM) {
		err = elf_find_slot(ef, file->slot, file->slot_offset, &sym);
		sym.name = file->symbols;
		if (!err)
			on_function(&p, &sym);
	}
	return err == -ENOMEM ? err : 0;
}

/*
 * An executable may define functions of a library's names without holding it. So the marker must be
 * a local symbol (of libcudart_static.a, some functions stay global and some become local), or a
 * name that only the library's own make gives.
 */
static uint32_t find_static(struct elf_file *ef)
{
	struct elf_symbol markers[CATALOG_LIBRARIES];
	unsigned int of[CATALOG_LIBRARIES];
	uint32_t held = 0;
	size_t n = 0;

	for (unsigned int i = 0; i < CATALOG_LIBRARIES; i++) {
		const struct catalog_library *lib = catalog_library(i);

		if (!lib->marker)
			continue;
		markers[n] = (struct elf_symbol){ .name = lib->marker,
						  .begins = lib->marker_begins };
		of[n++] = i;
	}
	if (elf_find_symbols(ef, markers, n) <= 0)
		return 0;
	for (size_t i = 0; i < n; i++)
		if (markers[i].offset && (markers[i].begins || markers[i].local))
			held |= 1u << of[i];
	return held;
}

uint32_t plan_libraries(struct elf_file *ef, const char *path)
{
	int named = catalog_library_of(str_basename(path));

	return named >= 0 ? 1u << named : find_static(ef);
}

struct marking {		/* marked places of a file */
	struct plan *plan;
	const struct catalog_library *lib;
	unsigned int first;		/* number of the library's first row */
	const char *path;
};

static bool is_called(const struct catalog_row *row, const struct elf_usdt *usdt)
{
	const size_t len = strlen(usdt->provider);

	return row->is_mark && !strncmp(row->name, usdt->provider, len) && row->name[len] == ':' &&
	       !strcmp(row->name + len + 1, usdt->name);
}

/* Of several with one name each is probed. */
static void on_usdt(void *ctx, const struct elf_usdt *usdt)
{
	const struct marking *m = ctx;

	for (size_t i = 0; i < m->lib->n_rows; i++) {
		const uint64_t operands = operands_cookie(usdt->arguments);

		if (!is_called(&m->lib->rows[i], usdt) || plan_size(m->plan) >= PLAN_MAX)
			continue;
		if (!operands) {
			log_warn("cannot read the arguments of %s in %s (%s): what it marks is not "
				 "recorded", m->lib->rows[i].name, m->path, usdt->arguments);
			continue;
		}
		m->plan->found = m->plan->has_calls = true;
		plan_insert(m->plan, PLAN_ENTRIES, usdt->offset, (m->first + i) | operands,
			    usdt->semaphore);
	}
}

/* The probes for one library's rows in this file. */
static int plan_library(struct plan *plan, struct elf_file *ef, const char *path,
			unsigned int library, const struct plan_rules *rules)
{
	const struct catalog_library *lib = catalog_library(library);
	struct elf_symbol *syms = calloc(lib->n_rows, sizeof(*syms));
	int n;

	if (!syms)
		return -ENOMEM;
	for (size_t i = 0; i < lib->n_rows; i++)
		syms[i].name = lib->rows[i].name;
	n = elf_find_symbols(ef, syms, lib->n_rows);
	if (n > 0)
		plan_rows(plan, syms, library, rules);
	free(syms);
	if (rules->marks && (n >= 0 || n == -EBADMSG))
		n = elf_each_usdt(ef, on_usdt, &(struct marking){
			plan, lib, catalog_first_row(library), path });
	return n < 0 && n != -EBADMSG ? n : 0;
}

int plan_file(struct plan *plan, struct elf_file *ef, const char *path,
	      const struct plan_rules *rules, const struct plan_ops_sink *ops)
{
	const char *name = str_basename(path);
	const struct ops_file *of = ops_file_next(NULL, name, rules->ops);
	/* That such a library holds no other takes long to see. */
	uint32_t held = of && catalog_library_of(name) < 0 ? 0 : plan_libraries(ef, path);
	int err = 0;

	for (unsigned int i = 0; i < CATALOG_LIBRARIES && !err; i++)
		if (held & 1u << i)
			err = plan_library(plan, ef, path, i, rules);
	for (; of && !err; of = ops_file_next(of, name, rules->ops))
		err = plan_ops(plan, ef, of, rules, ops);
	return err;
}

/* ---- the best few of all plans --------------------------------------------------------------- */

struct candidate {
	unsigned int rank;
	size_t plan;		/* whose */
	uint64_t offset, row;
};

struct candidates {
	struct candidate *v;
	size_t n, cap;
};

static int collect(struct candidates *all, const struct plan *plan, enum plan_part last,
		   size_t index)
{
	for (size_t i = 0; i < plan->end[last]; i++) {
		unsigned int rank = plan->rows[i] < GP_ROWS_MAX ?
					    catalog_core_rank((unsigned int)plan->rows[i]) : 0;
		struct candidate *c = rank ? VEC_PUSH(all) : NULL;

		if (rank && !c)
			return -ENOMEM;
		if (c)
			*c = (struct candidate){ rank, index, plan->offsets[i], plan->rows[i] };
	}
	return 0;
}

/* Files that were met first come first, where the function is the same. */
static int by_rank(const void *a, const void *b)
{
	const struct candidate *x = a, *y = b;

	if (x->rank != y->rank)
		return x->rank < y->rank ? -1 : 1;
	return x->plan < y->plan ? -1 : x->plan > y->plan;
}

static void leave_out(struct plan *plan)
{
	for (size_t i = 0; i < plan_size(plan); i++)
		if (plan_outcome(plan, plan->rows[i]))
			*plan_outcome(plan, plan->rows[i]) |= PLAN_LEFT_OUT;
	plan->left_out += (unsigned int)plan_size(plan);
	memset(plan->end, 0, sizeof(plan->end));
}

int plan_keep_core(struct plan *const *plans, size_t n, enum plan_part last, size_t max)
{
	struct candidates all = { 0 };
	int err = 0;

	for (size_t i = 0; i < n && !err; i++)
		err = collect(&all, plans[i], last, i);
	if (err) {
		VEC_FREE(&all);
		return err;
	}
	if (all.n)
		qsort(all.v, all.n, sizeof(*all.v), by_rank);
	for (size_t i = 0; i < n; i++)
		leave_out(plans[i]);
	for (size_t i = 0; i < all.n && i < max; i++) {
		const struct candidate *c = &all.v[i];
		struct plan *plan = plans[c->plan];

		plan->outcome[c->row] &= (uint8_t)~PLAN_LEFT_OUT;
		plan->left_out--;
		plan_insert(plan, PLAN_OTHERS, c->offset, (unsigned int)c->row, 0);
	}
	VEC_FREE(&all);
	return 0;
}
