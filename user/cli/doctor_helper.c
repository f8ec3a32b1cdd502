// SPDX-License-Identifier: BSD-3-Clause
/* What keeps the times of a process's devices from being known: has it a helper, could it have one? */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "cli/doctor.h"
#include "session/helper_advice.h"
#include "source/helper/ring_reader.h"
#include "inject/injectable.h"

static void say_none(struct doctor *d, pid_t pid)
{
	struct subject s;
	int err = subject_read(&s, pid);

	if (!err && !s.helper)
		doctor_say(d, WORSE, "device times", "not known: no helper in it; gpuprof stat --inject -p %d "
			   "brings one%s, or start it with gpuprof env", pid,
			   s.filtered ? ", if its seccomp filter lets that pass" : "");
	else if (err == -ENOTSUP)
		doctor_say(d, WORSE, "device times", "not known: no helper in it, and none can be brought in: %s",
			   s.why);
	else
		doctor_say(d, WORSE, "device times", "not known: no helper in it%s", err ? "" :
			   " any more: its ring was closed");
}

static void say_working(struct doctor *d, const struct gp_ring_head *head)
{
	const char *state = head->state == GP_HELPER_AWAKE ? "awake" : "asleep";

	if (head->kept_bytes)
		doctor_say(d, WORSE, "device times", "by its helper, which is %s, but CUPTI has kept %" PRIu64
			   " bytes of records for more than 10 s: a kernel runs as long, or works are missing",
			   state, head->kept_bytes);
	else
		doctor_say(d, GOOD, "device times", "by its helper, which is %s", state);
}

static void say_state(struct doctor *d, const struct gp_ring_head *head)
{
	switch (head->state) {
	case GP_HELPER_YIELDED:
		doctor_say(d, WORSE, "device times", "not known now: another client uses CUPTI: %s",
			   head->occupant);
		break;
	case GP_HELPER_FAILED:
		doctor_say(d, WORSE, "device times", "not known: its helper could not start CUPTI: %s%s",
			   head->reason, helper_advice(head->reason));
		break;
	case GP_HELPER_VIRGIN:
		doctor_say(d, GOOD, "device times", "by its helper, which has not begun; as it does, CUPTI may "
			   "stall launches for seconds, once");
		break;
	default:
		say_working(d, head);
		break;
	}
}

void doctor_helper(struct doctor *d, pid_t pid)
{
	struct gp_ring_head head;
	int err = ring_reader_peek(pid, &head);

	if (!err)
		say_state(d, &head);
	else if (err == -EPROTO)
		doctor_say(d, WORSE, "device times", "not known: its helper is of another version of gpuprof; "
			   "start it anew with this one");
	else if (err == -ENOENT)
		say_none(d, pid);
	else
		doctor_say(d, WORSE, "device times", "not known: its helper cannot be looked at: %s",
			   strerror(-err));
}
