// SPDX-License-Identifier: BSD-3-Clause
/*
 * What a session has to do with NVML: when it is asked (not before somebody uses a device), what is
 * said of it, and that nothing waits for it for long.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/log.h"
#include "base/num.h"
#include "base/time.h"
#include "session/session_internal.h"
#include "source/nvml/nvml.h"

#define STUCK_NS (3 * NS_PER_SEC)	/* a call that takes longer is said */
#define END_MS 1000			/* at most, for its last sample */

void session_nvml_on_event(struct session *s, const struct event *ev)
{
	if (ev->kind == EVENT_DEVICE || ev->kind == EVENT_THREAD || event_is_call(ev->kind))
		s->nvml.wanted = true;
}

static void begin(struct session *s)
{
	s->nvml.began = true;
	s->nvml.reader = nvml_start(nvml_load);
	if (!s->nvml.reader)
		log_warn("cannot read devices by NVML: %s", strerror(errno));
}

/* ---- what is said of it ---------------------------------------------------------------------- */

static void say_missing(struct session *s, const char *why, bool aloud)
{
	if (s->nvml.missing)
		return;
	s->nvml.missing = true;
	session_fact(s, "nvml_missing", "%s", why);
	if (aloud)
		log_warn("NVML: %s; what it alone knows of devices is missing in part: how active "
			 "they "
			 "were, who else was on them, their faults",
			 why);
}

static bool is_stuck(const struct nvml_status *st, uint64_t now_ns)
{
	return st->state != NVML_ENDED && st->state != NVML_FAILED && now_ns > st->since_ns &&
	       now_ns - st->since_ns > STUCK_NS;
}

static void say_stuck(struct session *s, const struct nvml_status *st)
{
	char why[128];

	snprintf(why, sizeof(why), NVML_LIBRARY " did not answer for %llu s while %s",
		 (unsigned long long)(STUCK_NS / NS_PER_SEC), st->doing);
	say_missing(s, why, true);
}

/* That there is none on a host is no more than the report says. */
static void say(struct session *s, const struct nvml_status *st)
{
	if (*st->driver && !s->nvml.said) {
		s->nvml.said = true;
		session_fact(s, "nvml", "driver %s, %u device%s, %s%s", st->driver, st->devices,
			     st->devices == 1 ? "" : "s",
			     st->gpm ? "activity by GPM" :
				       "no GPM (which devices have from Hopper on)",
			     st->pids_are_hosts ? "" : ", processes not known in a pid namespace");
	}
	if (*st->why)
		say_missing(s, st->why, st->state != NVML_FAILED || !st->unloaded);
	else if (is_stuck(st, time_now_ns()))
		say_stuck(s, st);
}

/* ---- while it runs --------------------------------------------------------------------------- */

static void pump(struct session *s)
{
	int err = nvml_pump(s->nvml.reader, &s->sink);

	if (err && !s->err)
		s->err = err;
}

void session_nvml_read(struct session *s)
{
	struct nvml_status st;

	if (!s->nvml.reader && s->nvml.wanted && !s->nvml.began)
		begin(s);
	if (!s->nvml.reader)
		return;
	pump(s);
	nvml_status(s->nvml.reader, &st);
	say(s, &st);
}

/* ---- its end --------------------------------------------------------------------------------- */

void session_nvml_stop(struct session *s)
{
	if (s->nvml.reader)
		nvml_stop(s->nvml.reader);
}

void session_nvml_end(struct session *s)
{
	struct nvml_status st;
	uint64_t now_ns = time_now_ns();

	if (!s->nvml.reader)
		return;
	nvml_status(s->nvml.reader, &st);
	if (!is_stuck(&st, now_ns))
		nvml_wait(s->nvml.reader, END_MS);
	session_nvml_read(s);
	nvml_status(s->nvml.reader, &st);
	if (st.state == NVML_STARTING && !s->nvml.missing)
		say_missing(s, "it had not begun when the session ended", false);
	if (st.dropped)
		session_push(s, &(struct event){ .kind = EVENT_COUNT, .count.source = "nvml",
						 .count.kind = "told",
						 .count.hits = num_add(st.sent, st.dropped),
						 .count.received = st.sent,
						 .count.lost = st.dropped });
	nvml_free(s->nvml.reader);
	s->nvml.reader = NULL;
}
