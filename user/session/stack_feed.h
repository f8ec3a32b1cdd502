/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The worker's part of --stacks: from the ring of copied stacks, and from what processes do, to
 * EVENT_FRAMEs and EVENT_STACKs. One thread at a time.
 */
#ifndef SESSION_STACK_FEED_H
#define SESSION_STACK_FEED_H

#include "event/event.h"
#include "probe/loader.h"
#include "target/target_watch.h"
#include "stack/callstacks.h"

#define STACK_FEED_MS 10		/* so often the ring wants to be looked into */

struct stack_feed;

/* Of a loader that takes stacks, which must outlive it. NULL + errno. */
struct stack_feed *stack_feed_new(struct loader *l);
void stack_feed_free(struct stack_feed *f);

/* A process that is a target from the beginning: its maps are read now, else with its first stack.
 */
void stack_feed_target(struct stack_feed *f, pid_t pid);
void stack_feed_event(struct stack_feed *f, const struct target_event *ev, pid_t target);

/* Before the events of a round are read: what lies in the ring by now is theirs to explain. */
void stack_feed_begin(struct stack_feed *f);

/* Looks at what was mapped, then takes what was in the ring when the round began. Tells to `to`
 * what is new, if the last time was long ago or `now`. 0, -ENOMEM or to's error: from then on
 * nothing is told, and each round returns it. */
int stack_feed_round(struct stack_feed *f, const struct event_sink *to, bool now);

const struct callstacks_counts *stack_feed_counts(const struct stack_feed *f);
uint64_t stack_feed_received(const struct stack_feed *f); /* of these; any thread, any time */

#endif
