// SPDX-License-Identifier: BSD-3-Clause
/*
 * From a copy to frames: the unwinder reads the stack from the copy, tables from files, and
 * nothing from the process itself, which has gone on since. Frames are a tree of callers;
 * callstacks_send.c names them.
 */
#include "stack/callstacks.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/map.h"
#include "base/str.h"
#include "base/vec.h"
#include "catalog/catalog.h"
#include "elf/demangle.h"
#include "stack/maps.h"
#include "stack/perfmap.h"
#include "stack/unwind.h"

struct process {
	struct history history;
	int perfmap_fd;		/* -1: not looked for yet, or none */
	struct map own;		/* address of code of its own -> name, 0: none */
	bool ended;
};

struct node {			/* a frame */
	uint64_t caller;	/* number; 0: it is the outermost */
	uint64_t offset;	/* in the image, else the address */
	uint32_t image;		/* 0: none */
	uint32_t pid;		/* without image */
	uint16_t row;		/* of a probed function, else 0 */
	uint8_t flags;		/* FRAME_* */
};

struct callstacks {
	callstacks_code_fn set_code;
	void *code_ctx;
	struct images *images;
	struct map processes;		/* pid -> struct process */
	VEC(struct node) nodes;		/* number - 1 */
	struct map node_index;		/* hash -> number */
	VEC(struct event) stacks;	/* EVENT_STACKs not sent yet */
	struct map ids;			/* of all stacks */
	size_t sent;			/* nodes */
	struct strpool *names;		/* of code that processes made themselves */
	struct callstacks_counts counts;
};

/* While the process lives; a file that is open can be read when it is removed. */

struct callstacks *callstacks_new(callstacks_code_fn set_code, void *ctx)
{
	struct callstacks *cs = calloc(1, sizeof(*cs));

	if (!cs)
		return NULL;
	cs->set_code = set_code;
	cs->code_ctx = ctx;
	cs->images = images_new();
	cs->names = strpool_new();
	if (cs->images && cs->names)
		return cs;
	callstacks_free(cs);
	errno = ENOMEM;
	return NULL;
}

static void callstacks_free_process(void *process)
{
	struct process *p = process;

	history_free(&p->history);
	map_free(&p->own);
	if (p->perfmap_fd >= 0)
		close(p->perfmap_fd);
	free(p);
}

void callstacks_free(struct callstacks *cs)
{
	if (!cs)
		return;
	map_free_each(&cs->processes, callstacks_free_process);
	images_free(cs->images);
	strpool_free(cs->names);
	VEC_FREE(&cs->nodes);
	map_free(&cs->node_index);
	VEC_FREE(&cs->stacks);
	map_free(&cs->ids);
	free(cs);
}

const struct callstacks_counts *callstacks_counts(const struct callstacks *cs)
{
	return &cs->counts;
}

/* ---- processes ---------------------------------------------------------------------------- */

static struct process *callstacks_find(const struct callstacks *cs, pid_t pid)
{
	const struct map_slot *slot = map_find(&cs->processes, (uint64_t)pid);

	return slot ? (struct process *)(uintptr_t)slot->value : NULL;
}

bool callstacks_knows(const struct callstacks *cs, pid_t pid)
{
	return callstacks_find(cs, pid);
}

static int read_maps(struct callstacks *cs, struct process *p)
{
	struct gp_code code = { .epoch = 0 };
	int err = history_read(&p->history, cs->images, &code);

	if (!err)
		cs->set_code(cs->code_ctx, p->history.pid, &code);
	return err == -ENOMEM ? err : 0;
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
	p->history.pid = pid;
	p->perfmap_fd = -1;
	slot->value = (uintptr_t)p;
	return read_maps(cs, p) ? NULL : p;
}

int callstacks_mapped(struct callstacks *cs, pid_t pid)
{
	struct process *p = callstacks_find(cs, pid);

	if (p) {
		p->ended = false;
		return read_maps(cs, p);
	}
	return meet_process(cs, pid) ? 0 : -ENOMEM;
}

static void callstacks_open_perfmap(struct process *p)
{
	if (p->perfmap_fd < 0)
		p->perfmap_fd = perfmap_open(p->history.pid);
}

void callstacks_exec(struct callstacks *cs, pid_t pid, uint64_t time_ns)
{
	struct process *p = callstacks_find(cs, pid);

	if (p)
		p->history.exec_ns = time_ns;
}

/* It is forgotten when its frames are sent, unless its number is used again by then: to the
 * history that is as if it had run another program. */
void callstacks_exit(struct callstacks *cs, pid_t pid, uint64_t time_ns)
{
	struct process *p = callstacks_find(cs, pid);

	if (p) {
		p->ended = true;
		p->history.exec_ns = time_ns;
	}
	cs->set_code(cs->code_ctx, pid, NULL);
}

/* ---- frames ------------------------------------------------------------------------------- */

static uint64_t hash_node(const struct node *n)
{
	uint64_t h = map_hash(n->caller ^ (uint64_t)n->image << 40);

	h = map_hash(h ^ n->offset);
	return map_hash(h ^ ((uint64_t)n->pid << 32 | (uint64_t)n->row << 8 | n->flags));
}

static bool is_same(const struct node *a, const struct node *b)
{
	return a->caller == b->caller && a->offset == b->offset && a->image == b->image &&
	       a->pid == b->pid && a->row == b->row && a->flags == b->flags;
}

/* Its number; 0: there are too many. -ENOMEM. */
static int64_t add_node(struct callstacks *cs, const struct node *n)
{
	struct map_slot *slot;
	struct node *place;
	uint64_t key = hash_node(n);

	for (; (slot = map_find(&cs->node_index, key)) && slot->value; key++)
		if (is_same(&cs->nodes.v[slot->value - 1], n))
			return (int64_t)slot->value;
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

static struct node make_node(const struct history_reading *r, const struct stack_step *step,
			     uint32_t pid)
{
	/* a return address may lie behind */
	uint64_t address = step->pc - (step->exact ? 0 : 1);
	const struct history_span *span = history_span(r, address);
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
	const struct history_reading *maps;
	const struct gp_stack *head;
	const char *stack;
	bool beyond;		/* an address behind the copy was read */
};

static int read_copy(void *ctx, uint64_t at, void *buf, size_t len)
{
	struct copy *c = ctx;
	uint64_t into = at - c->head->sp;
	const struct history_span *span;

	if (into < c->head->len && len <= c->head->len - into) {
		memcpy(buf, c->stack + into, len);
		return 0;
	}
	span = history_span(c->maps, at);
	c->beyond |= !span && at >= c->head->sp;
	return span ? images_read(c->cs->images, span->image, at - span->bias, buf, len) : -EFAULT;
}

static void set_regs(struct stack_regs *regs, const struct gp_thread_regs *from)
{
	_Static_assert(STACK_REGS == GP_THREAD_REGS, "registers have one numbering");
	regs->pc = from->pc;
	regs->known = from->known;
	memcpy(regs->reg, from->reg, sizeof(regs->reg));
}

/* ev: the EVENT_STACK. 0 or -ENOMEM. */
static int unwind(struct copy *c, struct event *ev)
{
	struct stack_space space = { .read = read_copy, .ctx = c,
				     .modules = c->maps->modules.module.v,
				     .n_modules = c->maps->modules.module.n };
	struct stack_step steps[STACK_DEPTH];
	struct stack_regs regs = { 0 };
	enum stack_end end;
	int64_t number = 0;
	int n;

	set_regs(&regs, &c->head->regs);
	n = stack_unwind(&space, &regs, steps, STACK_DEPTH, &end);
	if (n < 0)
		return n;
	ev->stack.known = end == STACK_WHOLE ? STACK_KNOWN_WHOLE :
		  end == STACK_DEEP || c->beyond ? STACK_KNOWN_DEEP : STACK_KNOWN_CUT;
	while (n--) {
		struct node node = make_node(c->maps, &steps[n], c->head->pid);

		node.caller = (uint64_t)number;
		node.row = n ? 0 : c->head->row;
		if (!node.image && !node.row)
			callstacks_open_perfmap(c->process);
		number = add_node(c->cs, &node);
		if (number <= 0)
			break;
	}
	c->cs->counts.over += !number;
	ev->stack.frame = number > 0 ? (uint64_t)number : 0;
	return number < 0 ? -ENOMEM : 0;
}

static int take_stack(struct callstacks *cs, const struct gp_stack *head)
{
	struct process *p = callstacks_find(cs, (pid_t)head->pid);
	struct event ev = { .kind = EVENT_STACK, .pid = head->pid, .stack.id = head->id,
			    .stack.known = STACK_KNOWN_CUT };
	struct copy c = { .cs = cs, .head = head, .stack = (const char *)(head + 1) };
	struct event *place;
	int err = 0;

	if (!p)
		p = meet_process(cs, (pid_t)head->pid);
	if (!p)
		return -ENOMEM;
	c.process = p;
	c.maps = history_at(&p->history, head->time_ns);
	if (c.maps)
		err = unwind(&c, &ev);
	if (err)
		return err;
	place = VEC_PUSH(&cs->stacks);
	if (!place)
		return -ENOMEM;
	*place = ev;
	return 0;
}

int callstacks_take(struct callstacks *cs, const void *rec, size_t len)
{
	const struct gp_stack *head = rec;
	bool is_new;

	__atomic_fetch_add(&cs->counts.received, 1, __ATOMIC_RELAXED);
	if (len < sizeof(*head) || head->kind != GP_STACK || head->len > len - sizeof(*head) ||
	    !head->pid || !head->id || (head->row && !catalog_row(head->row))) {
		cs->counts.malformed++;
		return 0;
	}
	if (map_find(&cs->ids, head->id))
		return 0;
	if (cs->ids.n >= STACKS_MAX) {
		cs->counts.over++;
		return 0;
	}
	if (!map_put(&cs->ids, head->id, &is_new))
		return -ENOMEM;
	return take_stack(cs, head);
}

/* ---- sending ------------------------------------------------------------------------------ */

/*
 * Frames as events, with names: looked up when they are sent, for many of one file at once.
 * Frames come before the stacks that refer to them.
 */

static int compare_files(const void *a, const void *b)
{
	const struct node *x = *(const struct node *const *)a, *y = *(const struct node *const *)b;
	int c = (x->image > y->image) - (x->image < y->image);

	return c ? c : (x->pid > y->pid) - (x->pid < y->pid);
}

static int keep_own(struct callstacks *cs, struct process *p, struct perfmap_query *q)
{
	struct map_slot *slot = map_put(&p->own, q->address, NULL);

	if (slot && q->name)
		slot->value = (uintptr_t)elf_demangle_kept(cs->names, q->name);
	return slot && (!q->name || slot->value) ? 0 : -ENOMEM;
}

/* Code without a file: names of the process's own map, in one pass over it. */
static int name_own(struct callstacks *cs, const struct node *const *group, size_t n)
{
	struct process *p = callstacks_find(cs, (pid_t)group[0]->pid);
	struct perfmap_query *q;
	int err = 0;

	if (p)
		callstacks_open_perfmap(p);
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
			err = keep_own(cs, p, &q[i]);
		free(q[i].name);
	}
	free(q);
	return err;
}

/* New nodes of the same image, one after another. */
static int name_group(struct callstacks *cs, const struct node *const *group, size_t n)
{
	uint64_t *vaddrs = calloc(n, sizeof(*vaddrs));
	int err;

	if (!vaddrs)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++)
		vaddrs[i] = group[i]->offset;
	err = images_name(cs->images, group[0]->image, vaddrs, n);
	free(vaddrs);
	return err;
}

static int name_nodes(struct callstacks *cs)
{
	size_t n = cs->nodes.n - cs->sent, k;
	const struct node **new = n ? calloc(n, sizeof(*new)) : NULL;
	int err = new || !n ? 0 : -ENOMEM;

	for (size_t i = 0; i < n && !err; i++)
		new[i] = &cs->nodes.v[cs->sent + i];
	if (n && !err)
		qsort(new, n, sizeof(*new), compare_files);
	for (size_t i = 0; i < n && !err; i += k) {
		for (k = 1; i + k < n && !compare_files(&new[i + k], &new[i]); k++)
			;
		err = new[i]->image ? name_group(cs, &new[i], k) : name_own(cs, &new[i], k);
	}
	free(new);
	return err;
}

static const char *own_name(const struct callstacks *cs, const struct node *n)
{
	const struct process *p = callstacks_find(cs, (pid_t)n->pid);
	const struct map_slot *slot = p ? map_find(&p->own, n->offset) : NULL;

	return slot ? (const char *)(uintptr_t)slot->value : NULL;
}

static int send_node(struct callstacks *cs, size_t i, const struct event_sink *to)
{
	const struct node *n = &cs->nodes.v[i];
	const char *own = n->image ? NULL : own_name(cs, n);
	struct event ev = { .kind = EVENT_FRAME, .frame.flags = n->flags, .frame.function = own };

	ev.frame.number = i + 1;
	ev.frame.caller = n->caller;
	ev.frame.offset = n->offset;
	if (n->row)
		ev.frame.function = catalog_row(n->row)->name;
	else if (n->image)
		ev.frame.function = images_function(cs->images, n->image, n->offset);
	ev.frame.file = n->image ? images_file(cs->images, n->image) : own ? "- [jit]" : NULL;
	return to->push(to->ctx, &ev);
}

static void forget_ended(struct callstacks *cs)
{
	for (size_t i = 0; i < cs->processes.cap;) {
		struct map_slot *slot = &cs->processes.slot[i];
		struct process *p = slot->used ? (struct process *)(uintptr_t)slot->value : NULL;

		if (p && p->ended) {
			map_del(&cs->processes, slot->key);
			callstacks_free_process(p);
		} else {
			i++;	/* else another one has moved here */
		}
	}
}

int callstacks_send(struct callstacks *cs, const struct event_sink *to)
{
	int err = name_nodes(cs);

	for (; cs->sent < cs->nodes.n && !err; cs->sent++)
		err = send_node(cs, cs->sent, to);
	for (size_t i = 0; i < cs->stacks.n && !err; i++)
		err = to->push(to->ctx, &cs->stacks.v[i]);
	cs->stacks.n = 0;
	forget_ended(cs);
	return err;
}
