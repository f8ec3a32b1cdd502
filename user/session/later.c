// SPDX-License-Identifier: BSD-3-Clause
/* See the header. In no order: there are few, and those that come again come ever more rarely. */
#include "session/later.h"

#include <errno.h>

#include "base/num.h"
#include "base/time.h"

#define AGAIN_MAX_NS (2 * NS_PER_SEC)

int later_add(struct later *l, const struct later_look *look)
{
	struct later_look *slot = VEC_PUSH(&l->all);

	if (!slot)
		return -ENOMEM;
	*slot = *look;
	return 0;
}

void later_forget(struct later *l, pid_t pid)
{
	for (size_t i = 0; i < l->all.n;)
		if (l->all.v[i].pid == pid)
			l->all.v[i] = l->all.v[--l->all.n];
		else
			i++;
}

bool later_take(struct later *l, uint64_t now_ns, struct later_look *out)
{
	for (size_t i = 0; i < l->all.n; i++) {
		struct later_look *look = &l->all.v[i];

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

int later_timeout_ms(const struct later *l, uint64_t now_ns)
{
	uint64_t due_ns = UINT64_MAX;

	for (size_t i = 0; i < l->all.n; i++)
		due_ns = num_min(due_ns, l->all.v[i].due_ns);
	if (due_ns == UINT64_MAX)
		return -1;
	return due_ns > now_ns ? (int)((due_ns - now_ns) / NS_PER_MS) + 1 : 0;
}

void later_free(struct later *l)
{
	VEC_FREE(&l->all);
}
