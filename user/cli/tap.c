// SPDX-License-Identifier: BSD-3-Clause
/* The one place that all events of a live session pass, in arrival order. */
#include <errno.h>

#include "base/time.h"
#include "cli/session_internal.h"
#include "probe/target.h"

/* procfs tells births to the clock tick. */
#define TICK_NS (20 * NS_PER_MS)

static int forward(struct tap *tap, const struct event *ev)
{
	int err = tap->keep ? keep_push(tap->keep, ev) : 0;

	if (err)
		return err == -ENOMEM ? -EIO : err;	/* logged, unlike the model's */
	return model_push(tap->model, ev);
}

/* ---- who processes are ----------------------------------------------------------------------- */

struct trait {
	struct tap *tap;
	uint32_t pid;
};

static int push_trait(void *ctx, const char *key, const char *value)
{
	struct trait *t = ctx;

	return forward(t->tap, &(struct event){ .kind = EVENT_IDENTITY, .pid = t->pid, .tid = t->pid,
						.text = key, .text2 = value });
}

static int push_identity(struct tap *tap, struct proc *p)
{
	struct trait t = { tap, (uint32_t)p->pid };
	struct identity id;

	identity_read(&tap->room, p, &id);
	return identity_each(&id, push_trait, &t);
}

/* What procfs has is of a later owner of the number? (Its word is early if the host has slept.) */
static bool is_gone(const struct target_process *p, uint64_t process_ns)
{
	return process_ns && p->start_ns > process_ns + TICK_NS;
}

/* Also of one that is gone by now: it keeps the name its thread had. */
static int describe(struct tap *tap, pid_t pid, uint64_t process_ns, const struct event *instead)
{
	struct event ev = { .kind = EVENT_PROCESS, .pid = (uint32_t)pid, .tid = (uint32_t)pid };
	struct target_process p;
	struct proc proc;
	int err = proc_open(&proc, pid);

	if (!err)
		err = target_process_from(&proc, &p);
	EVENT_PROCESS_NS(&ev) = process_ns;
	if (err || is_gone(&p, process_ns)) {
		proc_close(&proc);
		return instead || process_ns ? forward(tap, instead ? instead : &ev) : 0;
	}
	ev.start_ns = process_ns ? process_ns : p.start_ns;
	ev.text = p.comm;
	ev.text2 = tap->no_cmdline || !*p.cmdline ? NULL : p.cmdline;
	err = forward(tap, &ev);
	if (!err)
		err = push_identity(tap, &proc);
	proc_close(&proc);
	return err;
}

static void unsettle(struct tap *tap, pid_t pid)
{
	map_del(&tap->settled, (uint64_t)pid);
	tap->settled_pid = 0;
}

int tap_describe(struct tap *tap, pid_t pid, uint64_t process_ns)
{
	bool is_new;
	struct map_slot *slot = map_put(&tap->seen, (uint64_t)pid, &is_new);

	if (!slot)
		return -ENOMEM;
	is_new |= slot->value && process_ns && slot->value != process_ns;
	if (process_ns)
		slot->value = process_ns;
	if (!is_new)
		return 0;
	unsettle(tap, pid);
	return describe(tap, pid, process_ns, NULL);
}

/* Devices are opened after the first calls, so they are looked for again when one is in use. */
static bool uses_device(const struct tap *tap, const struct event *ev)
{
	static const uint32_t classes = 1u << CLASS_LAUNCH | 1u << CLASS_COPY | 1u << CLASS_SET |
					1u << CLASS_ALLOC;

	return classes >> model_funcs(tap->model)->v[ev->func].class & 1;
}

static int settle(struct tap *tap, const struct event *ev)
{
	struct trait t = { tap, ev->pid };
	struct identity id = { .user = "" };
	struct proc proc;
	bool is_new;
	int err = 0;

	if (!uses_device(tap, ev))
		return 0;
	if (!map_put(&tap->settled, ev->pid, &is_new))
		return -ENOMEM;
	tap->settled_pid = ev->pid;
	if (!is_new)
		return 0;
	if (!proc_open(&proc, (pid_t)ev->pid)) {
		identity_read_devices(&tap->room, &proc, &id);
		err = identity_each(&id, push_trait, &t);
	}
	proc_close(&proc);
	return err;
}

int tap_push(void *ctx, const struct event *ev)
{
	struct tap *tap = ctx;
	int err = 0;

	switch (ev->kind) {
	case EVENT_CALL:
		if (tap->room.gpus.present && ev->pid != tap->settled_pid)
			err = settle(tap, ev);
		break;
	case EVENT_THREAD:
		err = tap_describe(tap, (pid_t)ev->pid, EVENT_PROCESS_NS(ev));
		break;
	case EVENT_TALLY:
		err = tap_describe(tap, (pid_t)ev->pid, 0);
		if (!err && tap->room.gpus.present)
			err = settle(tap, ev);
		break;
	case EVENT_PROCESS:	/* from BPF: an exec */
		unsettle(tap, (pid_t)ev->pid);
		return describe(tap, (pid_t)ev->pid, EVENT_PROCESS_NS(ev), ev);
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

void tap_free(struct tap *tap)
{
	map_free(&tap->seen);
	map_free(&tap->settled);
	identity_room_free(&tap->room);
}
