// SPDX-License-Identifier: BSD-3-Clause
/* The one place that all events of a live session pass, in arrival order. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/time.h"
#include "session/pipeline.h"
#include "target/target.h"

/* ev is stamped. */
static int forward(struct pipeline *tap, const struct event *ev)
{
	int err = tap->keep ? capture_sink_push(tap->keep, ev) : 0;

	if (err)
		return err == -ENOMEM ? -EIO : err;	/* logged, unlike the model's */
	return model_push(tap->model, ev);
}

static int stamp_and_forward(struct pipeline *tap, const struct event *ev)
{
	struct event own = *ev;
	int err = registry_stamp(tap->registry, &own);

	return err ? err : forward(tap, &own);
}

/* ---- who processes are ----------------------------------------------------------------------- */

struct trait {
	struct pipeline *tap;
	uint32_t pid;
};

static int push_trait(void *ctx, const char *key, const char *value)
{
	struct trait *t = ctx;

	return stamp_and_forward(t->tap, &(struct event){
		.kind = EVENT_IDENTITY, .pid = t->pid, .tid = t->pid,
		.fact.key = key, .fact.value = value });
}

/* procfs' last reading of a process: it may have exited when its events arrive, and its pid may
 * be another's. */
struct reading {
	struct target_process p;
	struct identity id;
	bool has_identity;
	uint64_t at_ns;
	struct reading *before;	/* of the pid's owner before; NULL: not kept */
};

static struct reading *last_reading(const struct pipeline *tap, pid_t pid)
{
	return map_pointer(&tap->read, (uint64_t)pid);
}

static void free_readings(void *last)
{
	struct reading *r = last;

	while (r) {
		struct reading *before = r->before;

		free(r);
		r = before;
	}
}

/* The entry for a reading of this process: of the pid's owners only the last is known. */
static struct reading *make_reading(struct pipeline *tap, const struct target_process *p)
{
	struct reading *last = last_reading(tap, p->pid), *r;
	struct map_slot *slot;

	if (last && births_match(last->p.start_ns, p->start_ns))
		return last;
	r = calloc(1, sizeof(*r));
	slot = r ? map_put(&tap->read, (uint64_t)p->pid, NULL) : NULL;
	if (!slot) {
		free(r);
		return NULL;
	}
	if (last) {
		free_readings(last->before);
		last->before = NULL;
	}
	r->before = last;
	slot->value = (uintptr_t)r;
	return r;
}

static void forget_readings(struct pipeline *tap, pid_t pid, uint64_t process_ns)
{
	struct reading *last = last_reading(tap, pid);

	if (!last || (process_ns && !births_match(last->p.start_ns, process_ns)))
		return;		/* a younger owner's: it goes with that one */
	free_readings(last);
	map_del(&tap->read, (uint64_t)pid);
}

/* Of one that has just ended less can be read than before. */
static void read_now(struct pipeline *tap, pid_t pid, bool with_identity)
{
	struct target_process p;
	struct reading *r = NULL;
	struct identity id;
	struct proc proc;

	if (!proc_open(&proc, pid) && !target_process_from(&proc, &p) && !p.ended)
		r = make_reading(tap, &p);
	if (r) {
		r->p = p;
		r->at_ns = time_now_ns();
		r->has_identity |= with_identity;	/* once it was of interest */
		if (r->has_identity)
			identity_read(&tap->room, &proc, &id);
		if (r->has_identity && (proc_has_memory(&proc) || !*r->id.user))
			r->id = id;
	}
	proc_close(&proc);
}

static int push_reading(struct pipeline *tap, const struct reading *r, uint64_t process_ns,
			uint64_t exec_ns)
{
	/* procfs' birth is up to a tick early. */
	const bool is_early = r->p.start_ns < tap->oldest_ns &&
			      r->p.start_ns + SAME_BIRTH_NS >= tap->oldest_ns;
	struct trait t = { tap, (uint32_t)r->p.pid };
	struct event ev = {
		.kind = EVENT_PROCESS, .pid = t.pid, .tid = t.pid, .task.comm = r->p.comm,
		.task.cmdline = tap->no_cmdline || !*r->p.cmdline ? NULL : r->p.cmdline,
		.task.process_ns = process_ns,
		.start_ns = process_ns ? process_ns : is_early ? tap->oldest_ns : r->p.start_ns,
		.end_ns = exec_ns,
	};
	int err = stamp_and_forward(tap, &ev);

	return err || !r->has_identity ? err : identity_each(&r->id, push_trait, &t);
}

/* instead: BPF's name of an exec, for lack of more; or NULL. calls: else it may never make one. */
static int describe(struct pipeline *tap, pid_t pid, uint64_t process_ns, bool calls,
		    const struct event *instead)
{
	struct event ev = { .kind = EVENT_PROCESS, .pid = (uint32_t)pid, .tid = (uint32_t)pid,
			    .task.process_ns = process_ns };
	uint64_t exec_ns = instead ? instead->end_ns : 0;
	const struct reading *r;

	read_now(tap, pid, calls);
	r = last_reading(tap, pid);
	while (r && process_ns && !births_match(r->p.start_ns, process_ns))
		r = r->before;
	if (r && r->at_ns > exec_ns)
		return push_reading(tap, r, process_ns, exec_ns);
	return instead || process_ns ? stamp_and_forward(tap, instead ? instead : &ev) : 0;
}

static void unsettle(struct pipeline *tap, uint32_t process)
{
	map_del(&tap->settled, process);
	tap->last_settled = 0;
}

/* thread: of the process, and stamped. */
static int describe_once(struct pipeline *tap, const struct event *thread)
{
	bool is_new;

	if (!map_put(&tap->seen, thread->process, &is_new))
		return -ENOMEM;
	return is_new ? describe(tap, (pid_t)thread->pid, thread->task.process_ns, true, NULL) : 0;
}

int pipeline_describe(struct pipeline *tap, pid_t pid)
{
	struct event thread = { .kind = EVENT_THREAD, .pid = (uint32_t)pid, .tid = (uint32_t)pid };
	int err = registry_stamp(tap->registry, &thread);

	return err ? err : describe_once(tap, &thread);
}

/* Devices are opened after the first calls, so they are looked for again when one is in use. */
static int settle(struct pipeline *tap, const struct event *ev)
{
	static const uint32_t classes = 1u << CLASS_LAUNCH | 1u << CLASS_COPY | 1u << CLASS_SET |
					1u << CLASS_ALLOC;
	struct trait t = { tap, ev->pid };
	struct identity id = { .user = "" };
	struct proc proc;
	bool is_new;
	int err = 0;

	if (!(classes >> model_funcs(tap->model)->v[ev->func].class & 1))
		return 0;
	if (!map_put(&tap->settled, ev->process, &is_new))
		return -ENOMEM;
	tap->last_settled = ev->process;
	if (!is_new)
		return 0;
	if (!proc_open(&proc, (pid_t)ev->pid)) {
		identity_read_devices(&tap->room, &proc, &id);
		err = identity_each(&id, push_trait, &t);
	}
	proc_close(&proc);
	return err;
}

int pipeline_push(void *ctx, const struct event *ev)
{
	struct pipeline *tap = ctx;
	struct event own = *ev;
	int err = registry_stamp(tap->registry, &own);

	if (err)
		return err;
	switch (ev->kind) {
	case EVENT_CALL:
		if (tap->room.gpus.present && own.process != tap->last_settled)
			err = settle(tap, &own);
		break;
	case EVENT_THREAD:
		err = own.process ? describe_once(tap, &own) : 0;
		break;
	case EVENT_PROCESS:
		/* from the worker: it uses a library. Others' events may come first */
		if (!ev->task.comm && !ev->end_ns) {
			read_now(tap, (pid_t)ev->pid, true);
			return 0;
		}
		/* from BPF, or a second helper: an exec */
		unsettle(tap, own.process);
		return describe(tap, (pid_t)ev->pid, ev->task.process_ns,
				map_find(&tap->seen, own.process), ev);
	case EVENT_EXIT:
		if (ev->tid != ev->pid)
			break;
		map_del(&tap->seen, own.process);
		unsettle(tap, own.process);
		forget_readings(tap, (pid_t)own.pid, own.task.process_ns);
		break;
	case EVENT_WATERMARK:
		tap->watermark_ns = ev->end_ns;
		break;
	default:
		break;
	}
	return err ? err : forward(tap, &own);
}

void pipeline_free(struct pipeline *tap)
{
	map_free(&tap->seen);
	map_free_each(&tap->read, free_readings);
	map_free(&tap->settled);
	identity_room_free(&tap->room);
	registry_free(tap->registry);
}
