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
static bool is_another(const struct target_process *p, uint64_t process_ns)
{
	return process_ns && p->start_ns > process_ns + TICK_NS;
}

/* Was it described after that moment? */
static bool is_told(const struct tap *tap, pid_t pid, uint64_t since_ns)
{
	const struct map_slot *told = map_find(&tap->told, (uint64_t)pid);

	return told && told->value > since_ns;
}

static int describe_living(struct tap *tap, struct proc *proc, const struct target_process *p,
			   struct event *ev)
{
	struct map_slot *told = map_put(&tap->told, (uint64_t)p->pid, NULL);
	int err;

	if (told)
		told->value = time_now_ns();
	ev->start_ns = EVENT_PROCESS_NS(ev) ? EVENT_PROCESS_NS(ev) : p->start_ns;
	ev->text = p->comm;
	ev->text2 = tap->no_cmdline || !*p->cmdline ? NULL : p->cmdline;
	err = forward(tap, ev);
	if (!err && map_find(&tap->seen, (uint64_t)p->pid))	/* else it may never make a call */
		err = push_identity(tap, proc);
	return err;
}

/* Of one that is gone only what BPF said of it is left; of one that has just ended, less than was
 * known before. instead: what BPF said, or NULL. */
static int describe(struct tap *tap, pid_t pid, uint64_t process_ns, const struct event *instead)
{
	struct event ev = { .kind = EVENT_PROCESS, .pid = (uint32_t)pid, .tid = (uint32_t)pid };
	struct target_process p = { .ended = true };
	struct proc proc;
	bool gone = proc_open(&proc, pid) || target_process_from(&proc, &p) ||
		    is_another(&p, process_ns);
	int err = 0;

	EVENT_PROCESS_NS(&ev) = process_ns;
	if ((gone || p.ended) && is_told(tap, pid, instead ? instead->end_ns : process_ns))
		err = 0;
	else if (!gone)
		err = describe_living(tap, &proc, &p, &ev);
	else if (instead || process_ns)
		err = forward(tap, instead ? instead : &ev);
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

static void forget(struct tap *tap, uint32_t pid)
{
	map_del(&tap->seen, pid);
	map_del(&tap->told, pid);
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
	case EVENT_PROCESS:
		if (!ev->text)	/* from the worker: it uses a library */
			return tap_describe(tap, (pid_t)ev->pid, 0);
		/* from BPF: an exec */
		unsettle(tap, (pid_t)ev->pid);
		return describe(tap, (pid_t)ev->pid, EVENT_PROCESS_NS(ev), ev);
	case EVENT_EXIT:
		if (ev->tid == ev->pid)
			forget(tap, ev->pid);
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
	map_free(&tap->told);
	map_free(&tap->settled);
	identity_room_free(&tap->room);
}
