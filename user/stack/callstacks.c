// SPDX-License-Identifier: BSD-3-Clause
/*
 * From a copy to frames: the unwinder reads the stack from the copy, tables from files, and
 * nothing from the process itself, which has gone on since. Frames are a tree of callers, which
 * get their names when they are sent.
 */
#include "stack/callstacks.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/map.h"
#include "base/num.h"
#include "base/sorted.h"
#include "base/str.h"
#include "base/time.h"
#include "base/vec.h"
#include "catalog/catalog.h"
#include "elf/demangle.h"
#include "elf/elf.h"
#include "stack/code.h"
#include "stack/images.h"
#include "stack/maps.h"
#include "stack/perfmap.h"
#include "stack/python_calls.h"
#include "stack/unwind.h"

#define REREAD_NS (50 * NS_PER_MS)
#define READINGS_MAX 8u		/* of a process's maps; the oldest is forgotten */

struct span {			/* a loaded part of an image */
	uint64_t start, end;	/* addresses in the process */
	uint64_t bias;		/* its offset to addresses of the file */
	unsigned int image;
};

struct reading {		/* of a process's maps */
	uint64_t time_ns;	/* of the last one that was the same */
	struct stack_modules modules;
	VEC(struct span) spans;		/* sorted by start */
};

struct process {
	pid_t pid;
	uint64_t exec_ns;	/* the present program began; 0: unknown */
	uint64_t epoch;
	struct gp_python python;	/* interpreters 0: it runs none, or none yet */
	uint64_t python_at;	/* an address in the interpreter's file */
	VEC(struct reading) readings;
	uint64_t hash;		/* of what the last one has; 0: it is not of this program */
	int perfmap_fd;		/* -1: not looked for yet, or none; open, it survives its removal */
	struct map own;		/* address of code of its own -> name, 0: none */
	bool ended;
};

struct node {			/* a frame */
	uint64_t caller;	/* number; 0: it is the outermost */
	uint64_t offset;	/* in the image, else the address; of a Python function: the line */
	uint32_t image;		/* 0: none */
	uint32_t pid;		/* without image */
	uint32_t python;	/* number of the Python function; 0: it is native */
	uint16_t row;		/* of a probed function, else 0 */
	uint8_t flags;		/* FRAME_* */
};

struct callstacks {
	callstacks_code_fn set_code;
	void *code_ctx;
	struct images images;
	struct map processes;		/* pid -> struct process */
	VEC(struct node) nodes;		/* number - 1 */
	struct map node_index;		/* hash -> number */
	VEC(struct event) stacks;	/* EVENT_STACKs not sent yet */
	struct map ids;			/* of all stacks */
	struct python_functions functions;
	struct map pythons;		/* id -> innermost node << 1 | whether there are more */
	size_t sent;			/* nodes */
	struct strpool *names;
	struct callstacks_counts counts;
};

struct callstacks *callstacks_new(callstacks_code_fn set_code, void *ctx)
{
	struct callstacks *cs = calloc(1, sizeof(*cs));

	if (!cs)
		return NULL;
	cs->set_code = set_code;
	cs->code_ctx = ctx;
	cs->names = strpool_new();
	if (cs->names)
		return cs;
	callstacks_free(cs);
	errno = ENOMEM;
	return NULL;
}

static void free_reading(struct reading *r)
{
	stack_modules_free(&r->modules);
	VEC_FREE(&r->spans);
}

static void free_process(void *process)
{
	struct process *p = process;

	for (size_t i = 0; i < p->readings.n; i++)
		free_reading(&p->readings.v[i]);
	VEC_FREE(&p->readings);
	map_free(&p->own);
	if (p->perfmap_fd >= 0)
		close(p->perfmap_fd);
	free(p);
}

void callstacks_free(struct callstacks *cs)
{
	if (!cs)
		return;
	map_free_each(&cs->processes, free_process);
	images_free(&cs->images);
	strpool_free(cs->names);
	VEC_FREE(&cs->nodes);
	map_free(&cs->node_index);
	VEC_FREE(&cs->stacks);
	map_free(&cs->ids);
	python_functions_free(&cs->functions);
	map_free(&cs->pythons);
	free(cs);
}

const struct callstacks_counts *callstacks_counts(const struct callstacks *cs)
{
	return &cs->counts;
}

/* ---- mappings over time -------------------------------------------------------------------- */

/*
 * A stack is unwound with the first reading of its process's maps after it was taken, of the
 * program that ran then. Files are opened while the process maps them: later may be too late.
 */

/* or NULL */
static const struct span *find_span(const struct reading *r, uint64_t address)
{
	const size_t n = SORTED_UP_TO(r->spans.v, r->spans.n, start, address);

	return n && address < r->spans.v[n - 1].end ? &r->spans.v[n - 1] : NULL;
}

struct adding {
	struct reading *r;
	struct callstacks *cs;
	struct map seen;	/* images by number and bias */
	struct span of;		/* image and bias of the parts to come */
	bool failed;
};

static void add_span(void *ctx, uint64_t vaddr, uint64_t len)
{
	struct adding *a = ctx;
	struct span *s = VEC_PUSH(&a->r->spans);

	a->failed |= !s;
	if (!s)
		return;
	*s = a->of;
	s->start = a->of.bias + vaddr;
	s->end = s->start + len;
}

static int add_mapping(void *ctx, const struct target_mapping *m)
{
	struct adding *a = ctx;
	const struct stack_module *module = NULL;
	bool is_new;
	int image;

	if (m->code)
		module = stack_find_module(a->r->modules.module.v, a->r->modules.module.n,
					   m->start);
	image = module && module->bias_known ? images_find(&a->cs->images, m) : 0;
	if (image <= 0)
		return image;
	a->of = (struct span){ .bias = module->bias, .image = (unsigned int)image };
	if (!map_put(&a->seen, map_hash(module->bias) ^ (uint64_t)image, &is_new))
		return -ENOMEM;
	if (is_new)
		elf_each_loaded(images_at(&a->cs->images, a->of.image)->elf, add_span, a);
	return a->failed ? -ENOMEM : 0;
}

static int compare_spans(const void *a, const void *b)
{
	return num_compare(((const struct span *)a)->start, ((const struct span *)b)->start);
}

static int fill_reading(struct callstacks *cs, pid_t pid, struct reading *r)
{
	struct stack_memory *memory = stack_memory_new(pid);
	struct adding a = { .r = r, .cs = cs };
	int err;

	r->time_ns = time_now_ns();	/* mappings made after this may be missed */
	err = memory ? stack_modules_read(&r->modules, pid, memory) : -ENOMEM;
	stack_memory_free(memory);
	if (!err)
		err = target_each_mapping(pid, add_mapping, &a);
	map_free(&a.seen);
	if (r->spans.n)
		qsort(r->spans.v, r->spans.n, sizeof(*r->spans.v), compare_spans);
	return !err && !r->modules.module.n ? -ESRCH : err;
}

/* A Python that has begun is the same one until the process runs another program. 0 or -ENOMEM. */
static int find_python(struct process *p, const struct reading *r)
{
	struct python_runtime rt = { 0 };
	int err = p->python.interpreters ? -ENOENT :
					   python_runtime_find(&rt, p->pid, &r->modules);

	if (!err && python_describe(&rt, &p->python))
		p->python_at = rt.at;
	python_runtime_free(&rt);
	return err == -ENOMEM ? err : 0;
}

static int set_code(struct callstacks *cs, struct process *p, const struct reading *r)
{
	struct gp_code code = { .epoch = p->epoch };
	int err = find_python(p, r);

	stack_describe_code(&r->modules, &code);
	code.python = p->python;
	cs->set_code(cs->code_ctx, p->pid, &code);
	return err;
}

/* Reads the present mappings. When the process is gone or denies it, the earlier readings stay.
 * 0 or -ENOMEM. */
static int read_maps(struct callstacks *cs, struct process *p)
{
	struct reading r = { 0 }, *place = NULL;
	int err = fill_reading(cs, p->pid, &r);
	const uint64_t hash = stack_modules_hash(&r.modules);

	if (!err && hash == p->hash) {
		place = &p->readings.v[p->readings.n - 1];
		place->time_ns = r.time_ns;
		free_reading(&r);
		return set_code(cs, p, place);
	}
	if (!err && p->readings.n == READINGS_MAX) {
		free_reading(&p->readings.v[0]);
		VEC_DROP_FIRST(&p->readings, 1);
	}
	if (!err)
		place = VEC_PUSH(&p->readings);
	if (!place) {
		free_reading(&r);
		return err && err != -ENOMEM ? 0 : -ENOMEM;
	}
	*place = r;
	p->hash = hash;
	p->epoch++;
	return set_code(cs, p, place);
}

/* The mappings when a stack was taken; NULL: unknown. */
static const struct reading *maps_at(const struct process *p, uint64_t time_ns)
{
	const struct reading *found = NULL;

	for (size_t i = 0; i < p->readings.n; i++) {
		const struct reading *r = &p->readings.v[i];

		if ((r->time_ns < p->exec_ns) != (time_ns < p->exec_ns))
			continue;
		found = r;
		if (r->time_ns >= time_ns)
			break;
	}
	return found;
}

/* ---- processes ---------------------------------------------------------------------------- */

static struct process *find_process(const struct callstacks *cs, uint64_t pid)
{
	return map_pointer(&cs->processes, pid);
}

bool callstacks_knows(const struct callstacks *cs, pid_t pid)
{
	return find_process(cs, (uint64_t)pid);
}

/* A process that is met for the first time, its maps read. NULL: out of memory. */
static struct process *meet_process(struct callstacks *cs, pid_t pid)
{
	struct process *p = calloc(1, sizeof(*p));
	struct map_slot *slot = p ? map_put(&cs->processes, (uint64_t)pid, NULL) : NULL;

	if (!slot) {
		free(p);
		return NULL;
	}
	p->pid = pid;
	p->perfmap_fd = -1;
	slot->value = (uintptr_t)p;
	return read_maps(cs, p) ? NULL : p;
}

int callstacks_mapped(struct callstacks *cs, pid_t pid)
{
	struct process *p = find_process(cs, (uint64_t)pid);

	if (!p)
		return meet_process(cs, pid) ? 0 : -ENOMEM;
	p->ended = false;
	return read_maps(cs, p);
}

static void open_perfmap(struct process *p)
{
	if (p->perfmap_fd < 0)
		p->perfmap_fd = perfmap_open(p->pid);
}

void callstacks_exec(struct callstacks *cs, pid_t pid, uint64_t time_ns)
{
	struct process *p = find_process(cs, (uint64_t)pid);

	if (!p)
		return;
	p->exec_ns = time_ns;
	p->hash = 0;
	p->python = (struct gp_python){ 0 };
}

/* It is forgotten when its frames are sent, unless its number is used again by then: for its
 * readings that is as if it had run another program. */
void callstacks_exit(struct callstacks *cs, pid_t pid, uint64_t time_ns)
{
	struct process *p = find_process(cs, (uint64_t)pid);

	callstacks_exec(cs, pid, time_ns);
	if (p)
		p->ended = true;
	cs->set_code(cs->code_ctx, pid, NULL);
}

/* ---- frames ------------------------------------------------------------------------------- */

/* Its number; 0: there are too many. -ENOMEM. */
static int64_t add_node(struct callstacks *cs, const struct node *n)
{
	uint64_t key = map_hash(map_hash(n->caller ^ (uint64_t)n->image << 40) ^ n->offset);
	struct map_slot *slot;
	struct node *place;

	key = map_hash(key ^ ((uint64_t)n->pid << 32 | (uint64_t)n->row << 8 | n->flags));
	key = map_hash(key ^ n->python);
	for (; (slot = map_find(&cs->node_index, key)) && slot->value; key++) {
		const struct node *at = &cs->nodes.v[slot->value - 1];

		if (at->caller == n->caller && at->offset == n->offset && at->image == n->image &&
		    at->pid == n->pid && at->python == n->python && at->row == n->row &&
		    at->flags == n->flags)
			return (int64_t)slot->value;
	}
	if (cs->nodes.n >= STACKS_FRAMES_MAX)
		return 0;
	slot = map_put(&cs->node_index, key, NULL);
	place = slot ? VEC_PUSH(&cs->nodes) : NULL;
	if (!place)
		return -ENOMEM;
	*place = *n;
	slot->value = cs->nodes.n;
	return (int64_t)cs->nodes.n;
}

static struct node make_node(const struct reading *r, const struct stack_step *step, uint32_t pid)
{
	uint64_t address = stack_code_address(step->pc, step->exact);
	const struct span *span = find_span(r, address);
	struct node n = { .offset = address, .pid = pid,
			  .flags = (uint8_t)((step->guessed ? FRAME_GUESSED : 0) |
					     (step->signal ? FRAME_SIGNAL : 0)) };

	if (span) {
		n.image = span->image;
		n.offset = address - span->bias;
		n.pid = 0;
	}
	return n;
}

/* ---- unwinding ---------------------------------------------------------------------------- */

struct copy {
	struct callstacks *cs;
	struct process *process;
	const struct reading *maps;
	const struct gp_stack *head;
	const char *stack;
	bool beyond;		/* an address behind the copy was read */
};

static int read_copy(void *ctx, uint64_t at, void *buf, size_t len)
{
	struct copy *c = ctx;
	uint64_t into = at - c->head->sp;
	const struct span *span;

	if (into < c->head->len && len <= c->head->len - into) {
		memcpy(buf, c->stack + into, len);
		return 0;
	}
	span = find_span(c->maps, at);
	c->beyond |= !span && at >= c->head->sp;
	return span ? images_read(&c->cs->images, span->image, at - span->bias, buf, len) : -EFAULT;
}

/* How many frames are inside of those of the interpreter. */
static int count_inside(const struct copy *c, const struct stack_step *steps, int n)
{
	const struct span *python = find_span(c->maps, c->process->python_at);

	for (int i = 0; python && i < n; i++) {
		const struct span *span =
			find_span(c->maps, stack_code_address(steps[i].pc, steps[i].exact));

		if (span && span->image == python->image)
			return i;
	}
	return n;
}

/* The Python functions of a record of that id: its innermost node << 1 | whether there are more; 0:
 * unknown. */
static uint64_t python_value(const struct callstacks *cs, uint64_t id)
{
	const struct map_slot *slot = id ? map_find(&cs->pythons, id) : NULL;

	return slot ? slot->value : 0;
}

/* A stack of Python on another one: the number of the same frame there. -ENOMEM. */
static int64_t move_python(struct callstacks *cs, uint64_t number, int64_t onto)
{
	uint64_t chain[GP_PYTHON_FRAMES];
	size_t n = 0;

	for (; number && n < GP_PYTHON_FRAMES; number = cs->nodes.v[number - 1].caller)
		chain[n++] = number;
	while (n-- && onto > 0) {
		struct node node = cs->nodes.v[chain[n] - 1];

		node.caller = (uint64_t)onto;
		onto = add_node(cs, &node);
	}
	return onto;
}

/* The frame that native ones stand on, which become fewer: its number, 0: none. -ENOMEM. */
static int64_t stand_on_python(struct copy *c, const struct stack_step *steps, int *n,
			       struct event *ev)
{
	const uint64_t own = python_value(c->cs, c->head->python),
		       asker = python_value(c->cs, c->head->asker), outer = asker ? asker : own;
	struct node gap = { .flags = FRAME_GAP, .caller = outer >> 1 };
	int64_t number = (int64_t)gap.caller;
	int inside;

	if (!outer)
		return 0;
	ev->stack.known = outer & 1 ? STACK_KNOWN_DEEP : STACK_KNOWN_WHOLE;
	if (asker)
		number = add_node(c->cs, &gap);
	if (!own)
		return number;
	if (asker)
		number = move_python(c->cs, own >> 1, number);
	inside = count_inside(c, steps, *n);
	if (number > 0 && inside == *n) {
		gap.caller = (uint64_t)number;
		return add_node(c->cs, &gap);
	}
	*n = inside;
	return number;
}

/* ev: the EVENT_STACK. 0 or -ENOMEM. */
static int unwind(struct copy *c, struct event *ev)
{
	struct stack_space space = { .read = read_copy, .ctx = c,
				     .modules = c->maps->modules.module.v,
				     .n_modules = c->maps->modules.module.n };
	struct stack_step steps[STACK_DEPTH];
	struct stack_regs regs = stack_regs_of(&c->head->regs);
	enum stack_end end;
	int64_t number = 0;
	int n;

	n = stack_unwind(&space, &regs, steps, STACK_DEPTH, &end);
	if (n < 0)
		return n;
	ev->stack.known = end == STACK_WHOLE ? STACK_KNOWN_WHOLE :
		  end == STACK_DEEP || c->beyond ? STACK_KNOWN_DEEP : STACK_KNOWN_CUT;
	if (c->head->python || c->head->asker)
		number = stand_on_python(c, steps, &n, ev);
	while (n-- && number >= 0) {
		struct node node = make_node(c->maps, &steps[n], c->head->pid);

		node.caller = (uint64_t)number;
		node.row = n ? 0 : c->head->row;
		if (!node.image && !node.row)
			open_perfmap(c->process);
		number = add_node(c->cs, &node);
		if (!number)
			break;
	}
	c->cs->counts.over += !number;
	ev->stack.frame = number > 0 ? (uint64_t)number : 0;
	return number < 0 ? -ENOMEM : 0;
}

/* Code that a process makes itself is mapped without an event: a stack that ends in what no reading
 * has is worth another one. */
static bool is_late(const struct reading *r, const struct gp_stack *head)
{
	return r->time_ns < head->time_ns && time_now_ns() - r->time_ns >= REREAD_NS;
}

/* Fills the EVENT_STACK. */
static int take_stack(struct callstacks *cs, const struct gp_stack *head, struct event *ev)
{
	struct process *p = find_process(cs, head->pid);
	struct copy c = { .cs = cs, .head = head, .stack = (const char *)(head + 1) };
	int err = 0;

	if (!p)
		p = meet_process(cs, (pid_t)head->pid);
	if (!p)
		return -ENOMEM;
	c.process = p;
	c.maps = maps_at(p, head->time_ns);
	if (c.maps)
		err = unwind(&c, ev);
	if (!err && c.maps && ev->stack.known == STACK_KNOWN_CUT && is_late(c.maps, head)) {
		err = read_maps(cs, p);
		c.maps = maps_at(p, head->time_ns);
		err = err || !c.maps ? err : unwind(&c, ev);
	}
	return err;
}

static bool is_stack(const struct gp_stack *head, size_t len)
{
	return len >= sizeof(*head) && head->len <= len - sizeof(*head) && head->pid && head->id &&
	       (!head->row || catalog_row(head->row));
}

/* Two threads may send one stack at once: the second one's event has only its id. 0, -EINVAL:
 * malformed; -ENOMEM. */
static int take_native(struct callstacks *cs, const struct gp_stack *head, size_t len)
{
	struct event ev = { .kind = EVENT_STACK, .pid = head->pid, .stack.id = head->id,
			    .stack.known = STACK_KNOWN_CUT };
	struct event *place;
	bool is_new;
	int err = 0;

	if (!is_stack(head, len))
		return -EINVAL;
	if (cs->ids.n >= STACKS_MAX && !map_find(&cs->ids, head->id)) {
		cs->counts.over++;
		return 0;
	}
	if (!map_put(&cs->ids, head->id, &is_new))
		return -ENOMEM;
	if (is_new)
		err = take_stack(cs, head, &ev);
	place = err ? NULL : VEC_PUSH(&cs->stacks);
	if (!place)
		return -ENOMEM;
	*place = ev;
	return 0;
}

/* The number of the innermost of n frames; 0: one of them is not known, or they are too many.
 * -ENOMEM. */
static int64_t add_python(struct callstacks *cs, const struct gp_python_frame *frame, size_t n)
{
	int64_t number = 0;

	while (n--) {
		struct node node = { .caller = (uint64_t)number, .flags = FRAME_PYTHON };
		const struct python_function *f;

		f = python_functions_find(&cs->functions, frame[n].code);
		if (!f || !f->name || !f->file)
			return 0;
		node.python = (uint32_t)(f - cs->functions.all.v) + 1;
		node.offset = python_line(&f->lines, frame[n].at);
		number = add_node(cs, &node);
		if (number <= 0)
			break;
	}
	return number;
}

static int take_python(struct callstacks *cs, const struct gp_python_stack *head, size_t len)
{
	const struct gp_python_frame *frame = (const void *)(head + 1);
	struct map_slot *slot;
	int64_t number;

	if (len < sizeof(*head) || head->n * sizeof(*frame) > len - sizeof(*head) || !head->id)
		return -EINVAL;
	if (map_find(&cs->pythons, head->id) || cs->pythons.n >= STACKS_MAX)
		return 0;
	number = add_python(cs, frame, head->n);
	slot = number < 0 ? NULL : map_put(&cs->pythons, head->id, NULL);
	if (!slot)
		return -ENOMEM;
	slot->value = number ? (uint64_t)number << 1 | head->deep : 0;
	return 0;
}

int callstacks_take(struct callstacks *cs, const void *rec, size_t len)
{
	const uint8_t kind = len ? *(const uint8_t *)rec : 0;
	int err = -EINVAL;

	if (kind < GP_KINDS)
		__atomic_fetch_add(&cs->counts.received[kind], 1, __ATOMIC_RELAXED);
	if (kind == GP_STACK)
		err = take_native(cs, rec, len);
	else if (kind == GP_PYTHON)
		err = take_python(cs, rec, len);
	else if (kind == GP_PYTHON_CODE)
		err = python_functions_take(&cs->functions, rec, len, cs->names);
	if (err != -EINVAL)
		return err;
	cs->counts.malformed++;
	return 0;
}

/* ---- sending ------------------------------------------------------------------------------ */

/*
 * Frames as events, with names: looked up when they are sent, for many of one file at once.
 * Frames come before the stacks that refer to them.
 */

static int compare_files(const void *a, const void *b)
{
	const struct node *x = *(const struct node *const *)a, *y = *(const struct node *const *)b;
	int c = num_compare(x->image, y->image);

	return c ? c : num_compare(x->pid, y->pid);
}

static int keep_name(struct callstacks *cs, struct map *names, uint64_t at, const char *symbol)
{
	struct map_slot *slot = map_put(names, at, NULL);

	if (slot && symbol)
		slot->value = (uintptr_t)elf_demangle_kept(cs->names, symbol);
	return slot && (!symbol || slot->value) ? 0 : -ENOMEM;
}

/* Code without a file: names of the process's own map, in one pass over it. */
static int name_own(struct callstacks *cs, const struct node *const *group, size_t n)
{
	struct process *p = find_process(cs, group[0]->pid);
	struct perfmap_query *q;
	int err = 0;

	if (p)
		open_perfmap(p);
	if (!p || p->perfmap_fd < 0)
		return 0;
	q = calloc(n, sizeof(*q));
	if (!q)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++)
		q[i].address = group[i]->offset;
	if (perfmap_name(p->perfmap_fd, q, n) == -ENOMEM)
		err = -ENOMEM;
	for (size_t i = 0; i < n; i++) {
		if (!err)
			err = keep_name(cs, &p->own, q[i].address, q[i].name);
		free(q[i].name);
	}
	free(q);
	return err;
}

/* Nodes of one image, in one pass over its symbols. */
static int name_loaded(struct callstacks *cs, const struct node *const *group, size_t n)
{
	struct image *im = images_at(&cs->images, group[0]->image);
	struct elf_address *a = calloc(n, sizeof(*a));
	size_t k = 0;
	int err = 0;

	if (!a)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++) {
		a[k].owner = (void *)group[i];
		if (!map_find(&im->names, group[i]->offset) &&
		    !elf_find_offset(im->elf, group[i]->offset, &a[k].offset))
			k++;
	}
	if (k && elf_name_addresses(im->elf, a, k) == -ENOMEM)
		err = -ENOMEM;
	for (size_t i = 0; i < k; i++) {
		const struct node *node = a[i].owner;

		if (!err)
			err = keep_name(cs, &im->names, node->offset, a[i].name);
		free(a[i].name);
	}
	free(a);
	return err;
}

static int name_nodes(struct callstacks *cs)
{
	size_t n = cs->nodes.n - cs->sent, k;
	const struct node **new = n ? calloc(n, sizeof(*new)) : NULL;
	int err = 0;

	if (!new)
		return n ? -ENOMEM : 0;
	for (size_t i = 0; i < n; i++)
		new[i] = &cs->nodes.v[cs->sent + i];
	qsort(new, n, sizeof(*new), compare_files);
	for (size_t i = 0; i < n && !err; i += k) {
		for (k = 1; i + k < n && !compare_files(&new[i + k], &new[i]); k++)
			;
		err = new[i]->image ? name_loaded(cs, &new[i], k) : name_own(cs, &new[i], k);
	}
	free(new);
	return err;
}

static int send_node(struct callstacks *cs, size_t i, const struct event_sink *to)
{
	const struct node *n = &cs->nodes.v[i];
	const struct image *im = n->image ? images_at(&cs->images, n->image) : NULL;
	const struct process *p = im ? NULL : find_process(cs, n->pid);
	const struct python_function *python =
		n->python ? &cs->functions.all.v[n->python - 1] : NULL;
	struct event ev = { .kind = EVENT_FRAME, .frame.flags = n->flags };
	const char *name = python ? python->name : NULL;

	if (im || p)
		name = map_pointer(im ? &im->names : &p->own, n->offset);
	ev.frame.number = i + 1;
	ev.frame.caller = n->caller;
	ev.frame.offset = n->offset;
	ev.frame.function = n->row ? catalog_row(n->row)->name : name;
	ev.frame.file = im ? im->file : python ? python->file : name ? "- [jit]" : NULL;
	return to->push(to->ctx, &ev);
}

int callstacks_send(struct callstacks *cs, const struct event_sink *to)
{
	int err = name_nodes(cs);

	for (; cs->sent < cs->nodes.n && !err; cs->sent++)
		err = send_node(cs, cs->sent, to);
	for (size_t i = 0; i < cs->stacks.n && !err; i++)
		err = to->push(to->ctx, &cs->stacks.v[i]);
	cs->stacks.n = 0;
	for (size_t i = 0; i < cs->processes.cap;) {
		struct map_slot *slot = &cs->processes.slot[i];
		struct process *p = slot->used ? (struct process *)(uintptr_t)slot->value : NULL;

		if (p && p->ended) {
			map_del(&cs->processes, slot->key);
			free_process(p);
		} else {
			i++;	/* else another one has moved here */
		}
	}
	return err;
}
