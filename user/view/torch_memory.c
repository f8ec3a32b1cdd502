// SPDX-License-Identifier: BSD-3-Clause
/* Keeps each allocation and free, and plays them once more when it writes. */
#include "view/torch_memory.h"

#include <errno.h>
#include <stdlib.h>

#include "base/log.h"
#include "base/num.h"
#include "base/pickle.h"
#include "base/vec.h"
#include "catalog/catalog.h"
#include "facts/memory_calls.h"

#define ACTS_MAX (1u << 22)
#define DEVICES_MAX 128u
#define GRAIN 512u		/* of blocks: kMinBlockSize */
#define OUT_OF_MEMORY 2		/* cudaErrorMemoryAllocation, CUDA_ERROR_OUT_OF_MEMORY */
#define FRAMES_MAX 256u

enum what { BLOCK_ALLOC, BLOCK_FREE, SEGMENT_ALLOC, SEGMENT_FREE, OOM, NOTHING };

struct act {
	uint64_t ns, address, bytes, stack;
	uint32_t process;
	uint8_t what, device;
};

struct acts {
	VEC(struct act) all;
	size_t failed;			/* number of the allocation that was tried last, + 1 */
	uint64_t dropped;
};

struct torch_memory {
	struct acts acts;		/* first: see the snapshot's */
	const struct funcs *funcs;
};

static int init(void *state, struct model *m)
{
	((struct torch_memory *)state)->funcs = model_funcs(m);
	return 0;
}

static bool is_oom(const struct event *ev)
{
	return ev->has & HAS_RESULT && ev->call.result == OUT_OF_MEMORY;
}

/* False: it is of no interest. */
static bool read_act(const struct event *ev, struct memory_call call, struct act *out)
{
	const bool is_block = call.kind == MEMORY_KIND_TORCH;

	if (call.op != MEMORY_ALLOC && call.op != MEMORY_FREE)
		return false;
	if (!is_block && call.kind != MEMORY_KIND_DEVICE)
		return false;
	*out = (struct act){ .ns = ev->end_ns, .address = ev->call.address,
			     .bytes = ev->has & HAS_BYTES ? ev->call.bytes : 0,
			     .stack = ev->call.stack, .process = ev->process };
	if (is_block)
		out->device = (uint8_t)num_min(ev->call.entity, DEVICES_MAX - 1);
	out->what = is_block ? BLOCK_ALLOC : SEGMENT_ALLOC;
	if (call.op == MEMORY_FREE)
		out->what++;
	if (call.op == MEMORY_ALLOC && is_oom(ev))
		out->what = OOM;
	return out->what == OOM || (out->address && !(ev->has & HAS_RESULT && ev->call.result));
}

/* The driver had no memory, and then the allocator has given back what it keeps, and tried again:
 * what counts is how that ended. */
static void note_trial(struct acts *a, const struct act *act)
{
	struct act *failed = a->failed ? &a->all.v[a->failed - 1] : NULL;

	if (failed && act->what == SEGMENT_FREE && act->process == failed->process)
		return;
	if (failed && act->process == failed->process &&
	    (act->what == OOM || act->what == SEGMENT_ALLOC))
		failed->what = NOTHING;
	a->failed = act->what == OOM ? a->all.n + 1 : 0;
}

static int on_event(void *state, const struct event *ev)
{
	struct torch_memory *t = state;
	struct act act, *to;

	if (ev->func >= t->funcs->n ||
	    !read_act(ev, memory_call_of(catalog_role(&t->funcs->v[ev->func])), &act))
		return 0;
	if (t->acts.all.n >= ACTS_MAX) {
		t->acts.dropped++;
		return 0;
	}
	note_trial(&t->acts, &act);
	to = VEC_PUSH(&t->acts.all);
	if (!to)
		return -ENOMEM;
	*to = act;
	return 0;
}

static int copy(void *to, const void *from)
{
	struct acts *a = to;
	const struct acts *of = from;

	a->dropped = of->dropped;
	return VEC_COPY(&a->all, &of->all) ? 0 : -ENOMEM;
}

static void free_acts(void *state)
{
	VEC_FREE(&((struct acts *)state)->all);
}

const struct consumer torch_memory_consumer = {
	.kinds = 1ull << EVENT_CALL,
	.size = sizeof(struct torch_memory),
	.init = init,
	.on_event = on_event,
	.copy = copy,
	.free = free_acts,
};

/* ---- frames ---------------------------------------------------------------------------------- */

static void add_frame(struct strbuf *out, const struct stacks_frame *f)
{
	const char *blank = f->file && !(f->flags & FRAME_PYTHON) ? strchr(f->file, ' ') : NULL;
	const char *file = blank ? blank + 1 : f->file;

	pickle_dict(out);
	pickle_text(out, "filename");
	pickle_text(out, file ? file : "??");
	pickle_text(out, "line");
	pickle_number(out, f->flags & FRAME_PYTHON ? f->offset : 0);
	pickle_text(out, "name");
	pickle_text(out, f->function ? f->function : "??");
	pickle_dict_end(out);
}

/* The innermost first. */
static void add_frames(struct strbuf *out, const struct stacks *stacks, uint64_t id)
{
	const struct stacks_stack *s = id ? stacks_find(stacks, id) : NULL;
	const struct stacks_frame *f = s ? stacks_frame(stacks, s->frame) : NULL;

	pickle_text(out, "frames");
	pickle_list(out);
	for (unsigned int n = 0; f && n < FRAMES_MAX; n++, f = stacks_frame(stacks, f->caller))
		if (!(f->flags & FRAME_GAP))
			add_frame(out, f);
	pickle_list_end(out);
}

static void add_pair(struct strbuf *out, const char *key, uint64_t value)
{
	pickle_text(out, key);
	pickle_number(out, value);
}

static void add_pair_text(struct strbuf *out, const char *key, const char *value)
{
	pickle_text(out, key);
	pickle_text(out, value);
}

/* ---- the state ------------------------------------------------------------------------------- */

struct piece {			/* a segment or a block that is there */
	uint64_t address, bytes, stack;
	uint32_t process;
	uint8_t device;
	bool is_used;		/* of a segment: a block was in it */
};

struct state {
	VEC(struct piece) segments, blocks;
};

static size_t rounded(uint64_t bytes)
{
	return num_max((bytes + GRAIN - 1) / GRAIN * GRAIN, GRAIN);
}

static int by_address(const void *a, const void *b)
{
	const struct piece *x = a, *y = b;

	if (x->process != y->process)
		return x->process < y->process ? -1 : 1;
	return x->address < y->address ? -1 : x->address > y->address;
}

/* Of each address the last that was there, if it was not freed. */
struct playing {
	struct map blocks, segments;	/* address -> number of its act + 1 */
	bool failed;
};

static void play(struct playing *p, const struct act *act, size_t number)
{
	struct map *map = act->what <= BLOCK_FREE ? &p->blocks : &p->segments;
	const uint64_t key = act->address ^ map_hash(act->process);
	struct map_slot *slot;

	if (act->what >= OOM)
		return;
	if (act->what == BLOCK_FREE || act->what == SEGMENT_FREE) {
		map_del(map, key);
		return;
	}
	slot = map_put(map, key, NULL);
	if (slot)
		slot->value = number + 1;
	p->failed |= !slot;
}

/* So many acts came before the first for which there was no memory. */
static size_t acts_of_state(const struct acts *a)
{
	for (size_t i = 0; i < a->all.n; i++)
		if (a->all.v[i].what == OOM)
			return i;
	return a->all.n;
}

static bool take_piece(struct state *s, const struct act *act)
{
	struct piece *to = act->what == BLOCK_ALLOC ? VEC_PUSH(&s->blocks) :
						      VEC_PUSH(&s->segments);

	if (to)
		*to = (struct piece){ act->address, act->bytes, act->stack, act->process,
				      act->device, false };
	return to;
}

/* The segment that holds an address; NULL: none is known. */
static struct piece *segment_of(const struct state *s, const struct piece *block)
{
	size_t low = 0, high = s->segments.n;

	while (low < high) {
		const size_t mid = low + (high - low) / 2;
		struct piece *seg = &s->segments.v[mid];
		const int order = by_address(seg, block);

		if (order <= 0 && seg->process == block->process &&
		    block->address - seg->address < seg->bytes)
			return seg;
		if (order < 0)
			low = mid + 1;
		else
			high = mid;
	}
	return NULL;
}

/* Segments are of the devices of their blocks; a block without one is one. */
static bool place_blocks(struct state *s)
{
	const size_t n = s->segments.n;

	for (size_t i = 0; i < s->blocks.n; i++) {
		struct state known = *s;
		struct piece *block = &s->blocks.v[i], *seg, *more;

		known.segments.n = n;
		seg = segment_of(&known, block);
		if (seg) {
			seg->device = block->device;
			seg->is_used = true;
			continue;
		}
		more = VEC_PUSH(&s->segments);
		if (!more)
			return false;
		*more = *block;
		more->bytes = rounded(block->bytes);
		more->is_used = true;
	}
	qsort(s->segments.v, s->segments.n, sizeof(*s->segments.v), by_address);
	return true;
}

/* False: out of memory. */
static bool read_state(struct state *s, const struct acts *a)
{
	struct playing p = { 0 };
	const size_t n = acts_of_state(a);
	bool ok;

	for (size_t i = 0; i < n; i++)
		play(&p, &a->all.v[i], i);
	ok = !p.failed;
	for (size_t i = 0; i < n && ok; i++) {
		const struct act *act = &a->all.v[i];
		const struct map *map = act->what == BLOCK_ALLOC   ? &p.blocks :
					act->what == SEGMENT_ALLOC ? &p.segments :
								     NULL;
		const struct map_slot *slot =
			map ? map_find(map, act->address ^ map_hash(act->process)) : NULL;

		if (slot && slot->value == i + 1)
			ok = take_piece(s, act);
	}
	map_free(&p.blocks);
	map_free(&p.segments);
	if (!ok || !(s->segments.n + s->blocks.n))
		return ok;
	if (s->segments.n)
		qsort(s->segments.v, s->segments.n, sizeof(*s->segments.v), by_address);
	if (s->blocks.n)
		qsort(s->blocks.v, s->blocks.n, sizeof(*s->blocks.v), by_address);
	return place_blocks(s);
}

static void add_block(struct strbuf *out, const struct snapshot *snap, const struct piece *block,
		      uint64_t address, uint64_t bytes)
{
	pickle_dict(out);
	add_pair(out, "address", address);
	add_pair(out, "size", bytes);
	add_pair(out, "requested_size", block ? block->bytes : 0);
	add_pair_text(out, "state", block ? "active_allocated" : "inactive");
	add_frames(out, &snap->stacks, block ? block->stack : 0);
	pickle_dict_end(out);
}

/* Its blocks, from *next on, and what is free between them. */
static void add_blocks(struct strbuf *out, const struct snapshot *snap, const struct state *s,
		       const struct piece *seg, size_t *next)
{
	uint64_t at = seg->address;
	const uint64_t end = seg->address + seg->bytes;

	for (; *next < s->blocks.n; ++*next) {
		const struct piece *b = &s->blocks.v[*next];
		uint64_t size;

		if (b->process != seg->process || b->address < at || b->address >= end)
			break;
		if (b->address > at)
			add_block(out, snap, NULL, at, b->address - at);
		size = num_min(rounded(b->bytes), end - b->address);
		add_block(out, snap, b, b->address, size);
		at = b->address + size;
	}
	if (at < end)
		add_block(out, snap, NULL, at, end - at);
}

static uint64_t used_bytes(const struct state *s, const struct piece *seg, size_t next)
{
	uint64_t bytes = 0;

	for (; next < s->blocks.n && s->blocks.v[next].process == seg->process &&
	       s->blocks.v[next].address - seg->address < seg->bytes; next++)
		bytes += rounded(s->blocks.v[next].bytes);
	return num_min(bytes, seg->bytes);
}

#define SMALL_SEGMENT (2u << 20)	/* kSmallBuffer */

static void add_segment(struct strbuf *out, const struct snapshot *snap, const struct state *s,
			const struct piece *seg, size_t *next)
{
	const uint64_t used = used_bytes(s, seg, *next);

	pickle_dict(out);
	add_pair(out, "device", seg->device);
	add_pair(out, "address", seg->address);
	add_pair(out, "total_size", seg->bytes);
	add_pair(out, "allocated_size", used);
	add_pair(out, "active_size", used);
	add_pair(out, "stream", 0);
	add_pair_text(out, "segment_type", seg->bytes <= SMALL_SEGMENT ? "small" : "large");
	add_frames(out, &snap->stacks, seg->stack);
	pickle_text(out, "blocks");
	pickle_list(out);
	add_blocks(out, snap, s, seg, next);
	pickle_list_end(out);
	pickle_dict_end(out);
}

/* Device memory that none of its blocks is in is the program's own. */
static void add_segments(struct strbuf *out, const struct snapshot *snap, const struct acts *a)
{
	struct state s = { 0 };
	size_t next = 0;

	out->failed |= !read_state(&s, a);
	pickle_text(out, "segments");
	pickle_list(out);
	for (size_t i = 0; i < s.segments.n; i++)
		if (s.segments.v[i].is_used)
			add_segment(out, snap, &s, &s.segments.v[i], &next);
	pickle_list_end(out);
	VEC_FREE(&s.segments);
	VEC_FREE(&s.blocks);
}

/* ---- the trace ------------------------------------------------------------------------------- */

static const char *const actions[][2] = {
	[BLOCK_ALLOC] = { "alloc" }, [BLOCK_FREE] = { "free_requested", "free_completed" },
	[SEGMENT_ALLOC] = { "segment_alloc" }, [SEGMENT_FREE] = { "segment_free" },
	[OOM] = { "oom" }, [NOTHING] = { NULL },
};

static void add_act(struct strbuf *out, const struct snapshot *snap, const struct act *act,
		    const char *action, uint64_t bytes)
{
	pickle_dict(out);
	add_pair_text(out, "action", action);
	if (act->what != OOM)
		add_pair(out, "addr", act->address);
	add_pair(out, "size", bytes);
	add_pair(out, "stream", 0);
	add_pair(out, "time_us", num_sub(act->ns, snap->session.start_ns) / 1000);
	if (act->what == OOM)
		add_pair(out, "device_free", 0);
	add_frames(out, &snap->stacks, act->stack);
	pickle_dict_end(out);
}

static uint64_t key_of(const struct act *act)
{
	return act->address ^ map_hash(act->process) ^ map_hash(act->what >= SEGMENT_ALLOC);
}

/* Which device the driver's memory is on shows what was given out of it: key_of -> device. */
static bool find_devices(struct map *devices, const struct acts *a)
{
	struct state s = { 0 };
	bool ok = true;

	for (size_t i = 0; i < a->all.n && ok; i++)
		ok = (a->all.v[i].what != SEGMENT_ALLOC && a->all.v[i].what != BLOCK_ALLOC) ||
		     take_piece(&s, &a->all.v[i]);
	if (s.segments.n)
		qsort(s.segments.v, s.segments.n, sizeof(*s.segments.v), by_address);
	for (size_t i = 0; i < s.blocks.n && ok; i++) {
		const struct piece *seg = segment_of(&s, &s.blocks.v[i]);
		const struct act act = { .address = seg ? seg->address : 0,
					 .process = s.blocks.v[i].process, .what = SEGMENT_ALLOC };
		struct map_slot *slot = seg ? map_put(devices, key_of(&act), NULL) : NULL;

		ok = slot || !seg;
		if (slot)
			slot->value = s.blocks.v[i].device;
	}
	VEC_FREE(&s.segments);
	VEC_FREE(&s.blocks);
	return ok;
}

static bool is_of(const struct act *act, const struct map *devices, unsigned int device)
{
	const struct map_slot *slot =
		act->what >= SEGMENT_ALLOC ? map_find(devices, key_of(act)) : NULL;

	return (slot ? slot->value : act->device) == device;
}

static void add_trace(struct strbuf *out, const struct snapshot *snap, const struct acts *a,
		      const struct map *devices, unsigned int device)
{
	struct map bytes = { 0 };	/* key_of -> of what is there */

	pickle_list(out);
	for (size_t i = 0; i < a->all.n; i++) {
		const struct act *act = &a->all.v[i];
		struct map_slot *slot = map_put(&bytes, key_of(act), NULL);

		out->failed |= !slot;
		if (slot && act->bytes)
			slot->value = act->bytes;
		for (unsigned int k = 0; k < 2 && is_of(act, devices, device); k++)
			if (actions[act->what][k])
				add_act(out, snap, act, actions[act->what][k],
					slot ? slot->value : 0);
	}
	pickle_list_end(out);
	map_free(&bytes);
}

size_t torch_memory_add(struct strbuf *out, const struct snapshot *snap)
{
	static const struct acts none;
	const struct acts *a = consumer_state(&snap->states, &torch_memory_consumer);
	struct map devices = { 0 };
	unsigned int last = 0;
	size_t n = 0;

	if (!a)
		a = &none;
	out->failed |= !find_devices(&devices, a);
	for (size_t i = 0; i < a->all.n; i++) {
		last = (unsigned int)num_max(last, a->all.v[i].device);
		n += a->all.v[i].what <= BLOCK_FREE;
	}
	pickle_begin(out);
	pickle_dict(out);
	add_segments(out, snap, a);
	pickle_text(out, "device_traces");
	pickle_list(out);
	for (unsigned int device = 0; device <= last; device++)
		add_trace(out, snap, a, &devices, device);
	pickle_list_end(out);
	pickle_dict_end(out);
	pickle_end(out);
	if (a->dropped)
		log_warn("%llu allocations and frees at the end are left out: more than %u",
			 (unsigned long long)a->dropped, ACTS_MAX);
	map_free(&devices);
	return n;
}
