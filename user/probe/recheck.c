// SPDX-License-Identifier: BSD-3-Clause
/* In no order: there are few, and those that come again come ever more rarely. */
#include "probe/recheck.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/log.h"
#include "base/num.h"
#include "base/time.h"
#include "target/target.h"

#define AGAIN_MAX_NS (2 * NS_PER_SEC)

int recheck_add(struct recheck *l, const struct recheck_entry *look)
{
	struct recheck_entry *slot = VEC_PUSH(&l->all);

	if (!slot)
		return -ENOMEM;
	*slot = *look;
	return 0;
}

void recheck_forget(struct recheck *l, pid_t pid)
{
	for (size_t i = 0; i < l->all.n;)
		if (l->all.v[i].pid == pid)
			l->all.v[i] = l->all.v[--l->all.n];
		else
			i++;
}

bool recheck_take(struct recheck *l, uint64_t now_ns, struct recheck_entry *out)
{
	for (size_t i = 0; i < l->all.n; i++) {
		struct recheck_entry *look = &l->all.v[i];

		if (look->due_ns > now_ns)
			continue;
		*out = *look;
		if (look->again_ns) {
			look->due_ns = now_ns + look->again_ns;
			look->again_ns = num_min(2 * look->again_ns, AGAIN_MAX_NS);
		} else {
			*look = l->all.v[--l->all.n];
		}
		return true;
	}
	return false;
}

int recheck_timeout_ms(const struct recheck *l, uint64_t now_ns)
{
	uint64_t due_ns = UINT64_MAX;

	for (size_t i = 0; i < l->all.n; i++)
		due_ns = num_min(due_ns, l->all.v[i].due_ns);
	if (due_ns == UINT64_MAX)
		return -1;
	return due_ns > now_ns ? (int)((due_ns - now_ns) / NS_PER_MS) + 1 : 0;
}

/* ---- scan cache ---------------------------------------------------------------------------- */

/* Bounded, since it saves only cheap lookups. */

#define MOMENT_NS NS_PER_SEC
#define SETTLED_S 60
#define FILES_MAX 4096

bool scan_cache_has(const struct scan_cache *d, const struct target_event *ev)
{
	const struct map_slot *slot = ev->file ? map_find(&d->until_ns, ev->file) : NULL;

	return slot && ev->time_ns < slot->value;
}

bool scan_cache_may_add(const struct target_file *file)
{
	struct stat st;

	return !fstat(file->fd, &st) &&
	       time_wall_ns() / NS_PER_SEC > (uint64_t)st.st_mtime + SETTLED_S;
}

void scan_cache_add(struct scan_cache *d, const struct target_event *ev)
{
	struct map_slot *slot;

	if (!ev->file)
		return;
	if (d->until_ns.n >= FILES_MAX)
		map_free(&d->until_ns);
	slot = map_put(&d->until_ns, ev->file, NULL);
	if (slot)
		slot->value = ev->time_ns + MOMENT_NS;
}

/* ---- target_match ---------------------------------------------------------------------------- */

struct joining {
	struct target_match *n;
	void (*fn)(void *ctx, pid_t pid);
	void *ctx;
	unsigned int depth;
};

#define DEPTH_MAX 64 /* of children's children: a pid that is used again may make a ring */

bool target_match_follow(struct target_match *n, pid_t pid)
{
	int err = loader_follow(n->loader, pid);
	bool full = err == -E2BIG;

	if (err && !n->refused)
		log_warn("cannot follow process %d: %s; it and others that come are not measured; "
			 "%s",
			 pid, full ? "too many are followed" : strerror(-err),
			 full ? "choose fewer than 65,536 processes, or give -a" :
				"see gpuprof doctor");
	n->refused |= err;
	return !err;
}

/* Followed before its children are searched: BPF follows children forked meanwhile. */
static int join(void *ctx, pid_t pid)
{
	struct joining *j = ctx;

	if (pid == getpid() || !target_match_follow(j->n, pid))
		return 0;
	j->fn(j->ctx, pid);
	if (!j->n->below || j->depth == DEPTH_MAX)
		return 0;
	j->depth++;
	target_each_child(pid, join, j);
	j->depth--;
	return 0;
}

bool target_match_take(struct target_match *n, pid_t pid, void (*fn)(void *ctx, pid_t pid),
		       void *ctx)
{
	struct joining j = { .n = n, .fn = fn, .ctx = ctx };
	struct proc p;
	bool meant;

	if (pid == getpid() || proc_open(&p, pid))
		return false;
	meant = selector_matches(n->selector, &p) == 1;
	proc_close(&p);
	if (!meant)
		return false;
	log_debug("process %d is chosen", pid);
	join(&j, pid);
	return true;
}
