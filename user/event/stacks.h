/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Call stacks: the frames and stacks of EVENT_FRAME and EVENT_STACK, by number. A tree of callers,
 * in which each frame is stored once. Bounded; start zeroed.
 */
#ifndef EVENT_STACKS_H
#define EVENT_STACKS_H

#include "base/map.h"
#include "base/str.h"
#include "base/vec.h"
#include "event/event.h"

#define STACKS_TEXT_MAX (64u << 20)	/* bytes of names */

struct stacks_frame {
	uint64_t number, caller;	/* caller 0: the outermost */
	uint64_t offset;	/* as in struct event_frame */
	const char *function;	/* NULL: no symbol covers it */
	const char *file;	/* as in struct event_frame; NULL: unknown */
	/* shown instead of the function: stacks_set_lines, or Python's; NULL: nothing is */
	const char *lines;
	const char *place;	/* the function, or where in it: "train.py:212 in step" */
	uint8_t flags;		/* FRAME_* */
};

struct stacks_stack {
	uint64_t id;
	uint64_t frame;		/* number of the innermost; 0: nothing is known */
	uint8_t known;		/* enum stack_known */
};

struct stacks {
	VEC(struct stacks_frame) frames;
	VEC(struct stacks_stack) all;
	struct map frame_index, index;	/* number, id -> place + 1 */
	struct strpool *names;
	uint64_t text_bytes;
	uint64_t refused;	/* events over the limits */
};

/* Adds an EVENT_FRAME or EVENT_STACK; known ones stay. 0, -EINVAL: its frame or caller is unknown;
 * -ENOSPC: over the limits; -ENOMEM. */
int stacks_take(struct stacks *s, const struct event *ev);

/* By number, by id; or NULL. */
static inline const struct stacks_frame *stacks_frame(const struct stacks *s, uint64_t number)
{
	const struct map_slot *slot = number ? map_find(&s->frame_index, number) : NULL;

	return slot && slot->value ? &s->frames.v[slot->value - 1] : NULL;
}

static inline const struct stacks_stack *stacks_find(const struct stacks *s, uint64_t id)
{
	const struct map_slot *slot = map_find(&s->index, id);

	return slot && slot->value ? &s->all.v[slot->value - 1] : NULL;
}

/* The frame's function and those inlined into it, from debug info: outermost first, joined by ';'.
 * 0, -ENOSPC or -ENOMEM. */
int stacks_set_lines(struct stacks *s, uint64_t number, const char *text);

/*
 * The innermost frame of the program's own code, from this frame (by number) outwards; NULL: there
 * is none with a name. Probed functions, the libraries of CUDA, of frameworks and of the system and
 * Python's installed packages are not its own, nor is what runs before main. A program that is
 * itself installed (vllm) is its packages, but those of frameworks (torch).
 */
const struct stacks_frame *stacks_own_frame(const struct stacks *s, uint64_t number);

/* Pushes all of them, callers first. 0 or to's error. */
int stacks_put(const struct stacks *s, const struct event_sink *to);

/* to is zeroed; its texts are those of from, and live as long. 0 or -ENOMEM. */
int stacks_copy(struct stacks *to, const struct stacks *from);
void stacks_free(struct stacks *s);

#endif
