// SPDX-License-Identifier: BSD-3-Clause
/*
 * Processes that were started with gpuprof's file closed: the environment names a descriptor that is not
 * there, or is another file, so CUDA cannot load the helper, and says nothing. They are looked at while they
 * live: when they make calls, or, without probes, while they have CUDA's library.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/io.h"
#include "base/log.h"
#include "base/num.h"
#include "base/str.h"
#include "base/time.h"
#include "cli/session_blind.h"
#include "inject/environment.h"
#include "inject/image.h"
#include "probe/environment.h"
#include "probe/proc.h"

#define LOOK_AGAIN_NS 100000000ull
#define LOOKS_EACH_NS 25000000ull	/* one may take some ms */
#define MAPS_MAX (8u << 20)
#define CLOSED UINT64_MAX		/* in closed.looked_at */

/* The file is there under the number that the environment names, or nothing of the kind is named. */
static bool can_load(pid_t pid, const char *path)
{
	char link[64], to[128];
	ssize_t len;
	int fd;

	if (!path || sscanf(path, "/proc/self/fd/%d", &fd) != 1)
		return true;
	snprintf(link, sizeof(link), "/proc/%d/fd/%d", pid, fd);
	len = readlink(link, to, sizeof(to) - 1);
	if (len < 0)
		return errno != ENOENT || access("/proc/self/fd", F_OK);
	to[len] = '\0';
	return strstr(to, IMAGE_MEMORY) != NULL;
}

static bool is_closed(pid_t pid, char comm[16])
{
	struct environment env;
	struct proc_stat stat;
	const char *text;
	bool is = false;
	struct proc p;

	if (!proc_open(&p, pid)) {
		env.block = proc_read(&p, PROC_ENVIRON, &env.len);
		is = env.block && !can_load(pid, environment_find(&env, INJECT_CUDA));
		text = is ? proc_read(&p, PROC_STAT, NULL) : NULL;
		is = text && !proc_parse_stat(text, &stat);	/* it lives: else nothing is open in it */
		if (is)
			memcpy(comm, stat.comm, sizeof(stat.comm));
		is = is && stat.state != 'Z';
	}
	proc_close(&p);
	return is;
}

static bool has_cuda(pid_t pid)
{
	char path[48], *maps;
	size_t len;
	bool has;

	snprintf(path, sizeof(path), "/proc/%d/maps", pid);
	maps = io_read_file(path, MAPS_MAX, &len);
	has = maps && strstr(maps, "/libcuda.so");
	free(maps);
	return has;
}

static void note(struct session_closed *c, struct map_slot *slot, pid_t pid, const char comm[16])
{
	slot->value = CLOSED;
	if (c->n++)
		return;
	c->first = pid;
	memcpy(c->comm, comm, sizeof(c->comm));
}

int closed_note_call(struct session *s, pid_t pid)
{
	bool is_new;
	struct map_slot *slot = map_put(&s->closed.looked_at, (uint64_t)pid, &is_new);
	char comm[16];

	if (!slot)
		return -ENOMEM;
	if (is_new && is_closed(pid, comm))
		note(&s->closed, slot, pid, comm);
	return 0;
}

int closed_look(struct session *s, pid_t pid)
{
	struct session_closed *c = &s->closed;
	struct map_slot *slot = map_put(&c->looked_at, (uint64_t)pid, NULL);
	const uint64_t now_ns = time_now_ns();
	char comm[16];

	if (!slot)
		return -ENOMEM;
	if (now_ns < slot->value || now_ns < c->next_ns)
		return 0;
	slot->value = now_ns + LOOK_AGAIN_NS;
	c->next_ns = now_ns + LOOKS_EACH_NS;
	if (is_closed(pid, comm) && has_cuda(pid))
		note(c, slot, pid, comm);
	return 0;
}

bool closed_is(const struct session *s, pid_t pid)
{
	const struct map_slot *slot = map_find(&s->closed.looked_at, (uint64_t)pid);

	return slot && slot->value == CLOSED;
}

void closed_say(pid_t pid, const char *comm)
{
	log_warn("device times of process %d (%s) are not known: who started it closed the files that it had of "
		 "gpuprof, so CUDA could not load the helper; start it with open files (Python: close_fds=False), or "
		 "bring it in while it runs: gpuprof -p PID --inject", pid, comm);
}

void closed_say_blind(const struct session *s)
{
	const struct session_closed *c = &s->closed;

	if (!s->blind || !c->n)
		return;
	closed_say(c->first, c->comm);
	if (c->n > 1)
		log_warn("the same holds for %" PRIu64 " more processes", c->n - 1);
}
