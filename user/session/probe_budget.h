/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * --budget of a session: reads what its probes cost (probe/budget.h), and reports what is done
 * about it: a message at each step, facts for reports, and, while launches have no probes, that
 * the processes which make calls are unarmed, except where CUPTI records their launches. Takes no
 * probes off itself. Used by the engine thread.
 */
#ifndef SESSION_PROBE_BUDGET_H
#define SESSION_PROBE_BUDGET_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "event/event.h"
#include "probe/attach.h"

struct loader;
struct probe_budget;

/* Both must outlive it. NULL + errno. */
struct probe_budget *probe_budget_new(double share, const struct loader *l,
				      const struct event_sink *sink);
void probe_budget_free(struct probe_budget *b);

/* Events of probes, and PROCESSes of the worker: they use a library. 0 or -ENOMEM. */
int probe_budget_push(struct probe_budget *b, const struct event *ev);

struct probe_budget_now {
	uint64_t now_ns;
	struct attach_launches launches;	/* which have probes */
	const uint8_t *outcomes;		/* PLAN_* bits of each row */
	/* Does CUPTI record launches of this process? NULL: of none. */
	bool (*is_recorded)(void *ctx, pid_t pid);
	void *ctx;
	bool records_would_do;	/* launches are probed though CUPTI may record them */
};

enum probe_budget_wish {
	WISH_ANY,		/* launches are probed as is chosen without a budget */
	WISH_RECORDS,		/* so they are, but where CUPTI records them that will do */
	WISH_NONE,		/* no launch is to be probed */
	WISH_BACK,		/* they are not, and are to be again: those that need to be */
};

struct probe_budget_choice {
	enum probe_budget_wish wish;
	bool is_close;		/* it may change soon: the next look is to be after LIVE_BUSY_NS */
};

/* As often as sources are read. */
struct probe_budget_choice probe_budget_look(struct probe_budget *b,
					     const struct probe_budget_now *now);

/* Facts: the share, what is done for it, and how long launches had no probes. */
void probe_budget_describe(const struct probe_budget *b);

#endif
