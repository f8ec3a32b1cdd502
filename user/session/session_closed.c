// SPDX-License-Identifier: BSD-3-Clause
/*
 * Processes that cannot load the helper: the environment names a path that is not there as they see it, and CUDA
 * says nothing. They are looked at while they live: when they make calls, or, without probes, while they have
 * CUDA's library.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "base/str.h"
#include "base/time.h"
#include "session/session_blind.h"
#include "inject/environment.h"
#include "inject/image.h"
#include "host/environment.h"
#include "host/proc.h"
#include "target/target_mapping.h"

#define LOOK_AGAIN_NS 100000000ull
#define LOOKS_EACH_NS 25000000ull	/* one may take some ms */
#define CANNOT_LOAD UINT64_MAX		/* less the reason: in closed.looked_at */

enum reason { LOADS, UNSEEN, REASONS };

static const struct {
	const char *why, *advice;
} reasons[REASONS] = {
	[UNSEEN] = { "its environment names the helper's file, which is not there in its root directory (in a container?)",
		     "let it see that file (gpuprof env --for docker shows how)" },
};

static int is_of_file(void *file, const struct target_mapping *m)
{
	return strstr(m->path, file) != NULL;
}

static bool has_mapped(pid_t pid, char *file)
{
	return target_each_mapping(pid, is_of_file, file) == 1;
}

/* What was loaded may have been removed since. */
static enum reason look_at_path(pid_t pid, const char *path)
{
	int fd = target_open_in_root(pid, path);

	if (fd >= 0)
		close(fd);
	return (fd == -ENOENT || fd == -ENOTDIR) && !has_mapped(pid, "/" INJECT_FILE) ? UNSEEN : LOADS;
}

static enum reason look_at(pid_t pid, const char *path)
{
	return path && *path == '/' && !strcmp(str_basename(path), INJECT_FILE) ? look_at_path(pid, path) : LOADS;
}

static enum reason find_reason(pid_t pid, char comm[16])
{
	enum reason reason = LOADS;
	struct environment env;
	struct proc_stat stat;
	const char *text;
	struct proc p;

	if (!proc_open(&p, pid)) {
		env.block = proc_read(&p, PROC_ENVIRON, &env.len);
		reason = env.block ? look_at(pid, environment_find(&env, INJECT_CUDA)) : LOADS;
		text = reason != LOADS ? proc_read(&p, PROC_STAT, NULL) : NULL;
		/* It lives: else nothing is open in it. */
		if (!text || proc_parse_stat(text, &stat) || stat.state == 'Z')
			reason = LOADS;
		else
			memcpy(comm, stat.comm, sizeof(stat.comm));
	}
	proc_close(&p);
	return reason;
}

static void note(struct session_closed *c, struct map_slot *slot, enum reason reason, const char comm[16])
{
	slot->value = CANNOT_LOAD - reason;
	if (c->n++)
		return;
	c->first = (pid_t)slot->key;
	memcpy(c->comm, comm, sizeof(c->comm));
}

int closed_note_call(struct session *s, pid_t pid)
{
	bool is_new;
	struct map_slot *slot = map_put(&s->closed.looked_at, (uint64_t)pid, &is_new);
	enum reason reason;
	char comm[16];

	if (!slot)
		return -ENOMEM;
	reason = is_new ? find_reason(pid, comm) : LOADS;
	if (reason != LOADS)
		note(&s->closed, slot, reason, comm);
	return 0;
}

int closed_look(struct session *s, pid_t pid)
{
	struct session_closed *c = &s->closed;
	struct map_slot *slot = map_put(&c->looked_at, (uint64_t)pid, NULL);
	const uint64_t now_ns = time_now_ns();
	enum reason reason;
	char comm[16];

	if (!slot)
		return -ENOMEM;
	if (now_ns < slot->value || now_ns < c->next_ns)
		return 0;
	slot->value = now_ns + LOOK_AGAIN_NS;
	c->next_ns = now_ns + LOOKS_EACH_NS;
	reason = find_reason(pid, comm);
	if (reason != LOADS && has_mapped(pid, "/libcuda.so"))
		note(c, slot, reason, comm);
	return 0;
}

static enum reason reason_of(const struct session *s, pid_t pid)
{
	const struct map_slot *slot = map_find(&s->closed.looked_at, (uint64_t)pid);
	uint64_t less = slot ? CANNOT_LOAD - slot->value : LOADS;

	return less < REASONS ? (enum reason)less : LOADS;
}

const char *closed_why(const struct session *s, pid_t pid)
{
	return reasons[reason_of(s, pid)].why;
}

void closed_say(const struct session *s, pid_t pid, const char *comm)
{
	enum reason reason = reason_of(s, pid);

	if (reason != LOADS)
		log_warn("device times of process %d (%s) are not known: %s, so CUDA could not load the helper; %s, or "
			 "bring it in while it runs: gpuprof -p PID --inject", pid, comm, reasons[reason].why,
			 reasons[reason].advice);
}

void closed_say_blind(const struct session *s)
{
	const struct session_closed *c = &s->closed;

	if (!s->blind || !c->n)
		return;
	closed_say(s, c->first, c->comm);
	if (c->n > 1)
		log_warn("the same holds for %" PRIu64 " more processes", c->n - 1);
}
