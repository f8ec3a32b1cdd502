// SPDX-License-Identifier: BSD-3-Clause
/* The one place that all events of a live session pass, in arrival order. */
#include <errno.h>

#include "cli/session_internal.h"
#include "probe/target.h"

static int forward(struct tap *tap, const struct event *ev)
{
	int err = tap->keep ? keep_push(tap->keep, ev) : 0;

	if (err)
		return err == -ENOMEM ? -EIO : err;	/* logged, unlike the model's */
	return model_push(tap->model, ev);
}

/* Processes are described when they first make a call, and again after an exec; one that is gone
 * by then keeps the name its thread had. */
static int describe(struct tap *tap, pid_t pid, const struct event *instead)
{
	struct target_process p;
	struct event ev = { .kind = EVENT_PROCESS, .pid = (uint32_t)pid, .tid = (uint32_t)pid };

	if (target_process_read(pid, &p))
		return instead ? forward(tap, instead) : 0;
	ev.start_ns = instead ? instead->start_ns : p.start_ns;
	ev.text = p.comm;
	ev.text2 = tap->no_cmdline || !*p.cmdline ? NULL : p.cmdline;
	return forward(tap, &ev);
}

int tap_describe(struct tap *tap, pid_t pid)
{
	bool is_new;

	if (!map_put(&tap->seen, (uint64_t)pid, &is_new))
		return -ENOMEM;
	return is_new ? describe(tap, pid, NULL) : 0;
}

int tap_push(void *ctx, const struct event *ev)
{
	struct tap *tap = ctx;
	int err = 0;

	switch (ev->kind) {
	case EVENT_THREAD:
	case EVENT_TALLY:
		err = tap_describe(tap, (pid_t)ev->pid);
		break;
	case EVENT_PROCESS:	/* from BPF: an exec */
		return describe(tap, (pid_t)ev->pid, ev);
	case EVENT_EXIT:
		if (ev->tid == ev->pid)
			map_del(&tap->seen, ev->pid);
		break;
	case EVENT_WATERMARK:
		tap->watermark_ns = ev->end_ns;
		break;
	default:
		break;
	}
	return err ? err : forward(tap, ev);
}
