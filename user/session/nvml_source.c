// SPDX-License-Identifier: BSD-3-Clause
/* See the header. */
#include "session/nvml_source.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/exit.h"
#include "base/log.h"
#include "base/time.h"
#include "event/device_number.h"
#include "host/gpus.h"

#define STUCK_NS (3 * NS_PER_SEC)	/* a call that takes longer is reported */
#define END_MS 1000			/* at most, for the last sample */
#define ASK_AGAIN_US 10000

struct nvml_source {
	struct live_source live;
	struct nvml *reader;		/* NULL: not begun, or ended */
	bool began;
	bool described, missing;	/* the facts `nvml`, `nvml_missing` were pushed */
};

static struct nvml_source *nvml_of(struct live_source *l)
{
	return (struct nvml_source *)l;
}

static int on_event(struct live_source *l, const struct event *ev)
{
	struct nvml_source *s = nvml_of(l);

	/* What uses a device is there: the next reading begins. */
	if (!s->began && (ev->kind == EVENT_DEVICE || ev->kind == EVENT_THREAD ||
			  event_is_call(ev->kind)))
		l->is_busy = true;
	return 0;
}

/* ---- facts and warnings ---------------------------------------------------------------------- */

static void report_missing(struct nvml_source *s, const char *why, bool warns)
{
	if (s->missing)
		return;
	s->missing = true;
	live_push_fact(s->live.sink, "nvml_missing", "%s", why);
	if (warns)
		live_push_note(s->live.sink, NOTE_NVML_INCOMPLETE, 0,
			       "NVML: %s; what it alone knows of devices is missing in part: how "
			       "active they were, who else was on them, their faults", why);
}

static bool is_stuck(const struct nvml_status *st, uint64_t now_ns)
{
	return st->state != NVML_ENDED && st->state != NVML_FAILED && now_ns > st->since_ns &&
	       now_ns - st->since_ns > STUCK_NS;
}

/* A host without NVML gets no warning: the report shows it. */
static void report(struct nvml_source *s, const struct nvml_status *st)
{
	char why[128];

	if (*st->driver && !s->described) {
		s->described = true;
		live_push_fact(s->live.sink, "driver_version", "%s", st->driver);
		live_push_fact(s->live.sink, "nvml", "driver %s, %u device%s, %s%s", st->driver,
			     st->devices, st->devices == 1 ? "" : "s",
			     st->gpm ? "activity by GPM" :
				       "no GPM (which devices have from Hopper on)",
			     st->pids_are_hosts ? "" : ", processes not known in a pid namespace");
	}
	if (*st->why)
		report_missing(s, st->why, st->state != NVML_FAILED || !st->unloaded);
	if (*st->why || !is_stuck(st, time_now_ns()))
		return;
	snprintf(why, sizeof(why), NVML_LIBRARY " did not answer for %llu s while %s",
		 (unsigned long long)(STUCK_NS / NS_PER_SEC), st->doing);
	report_missing(s, why, true);
}

/* ---- the course of a session ----------------------------------------------------------------- */

static int read_samples(struct live_source *l)
{
	struct nvml_source *s = nvml_of(l);
	struct nvml_status st;
	int err;

	if (l->is_busy) {
		l->is_busy = false;
		s->began = true;
		s->reader = nvml_start(nvml_load);
		if (!s->reader)
			live_push_note(l->sink, NOTE_NVML_FAILED, 0,
				       "cannot read devices by NVML: %s", strerror(errno));
	}
	if (!s->reader)
		return 0;
	err = nvml_pump(s->reader, l->sink);
	nvml_status(s->reader, &st);
	report(s, &st);
	return err;
}

static void request_stop(struct live_source *l)
{
	if (nvml_of(l)->reader)
		nvml_stop(nvml_of(l)->reader);
}

static void release(struct live_source *l)
{
	request_stop(l);
	nvml_free(nvml_of(l)->reader);
	nvml_of(l)->reader = NULL;
}

static int stop(struct live_source *l, uint64_t now_ns)
{
	struct nvml_source *s = nvml_of(l);
	struct nvml_status st;
	int err;

	if (!s->reader)
		return 0;
	nvml_status(s->reader, &st);
	if (!is_stuck(&st, now_ns))
		nvml_wait(s->reader, END_MS);
	err = read_samples(l);
	nvml_status(s->reader, &st);
	if (st.state == NVML_STARTING && !s->missing)
		report_missing(s, "it had not begun when the session ended", false);
	if (!err && st.dropped)
		err = live_push_count(l->sink, "nvml", "told", st.sent, st.dropped);
	release(l);
	return err;
}

static void free_source(struct live_source *l)
{
	free(l);
}

static const struct live_source_ops ops = {
	.on_event = on_event, .read = read_samples, .request_stop = request_stop, .stop = stop,
	.release = release, .free = free_source,
};

struct live_source *nvml_source_new(const struct event_sink *sink)
{
	struct nvml_source *s = calloc(1, sizeof(*s));

	if (!s)
		return NULL;
	s->live = (struct live_source){ .ops = &ops, .sink = sink, .fds = { -1, -1 } };
	return &s->live;
}

/* ---- one question ---------------------------------------------------------------------------- */

void nvml_ask(struct nvml *n, struct nvml_status *st)
{
	uint64_t until_ns = time_now_ns() + NVML_ASK_S * NS_PER_SEC;

	do {
		usleep(ASK_AGAIN_US);
		nvml_status(n, st);
	} while (st->state == NVML_STARTING && time_now_ns() < until_ns);
}

void nvml_ask_end(struct nvml *n)
{
	nvml_stop(n);
	nvml_wait(n, END_MS);
	nvml_free(n);
}

/* ---- MIG instances --------------------------------------------------------------------------- */

/* Returns the number of instances; why: the obstacle when NVML does not know. */
static size_t list_instances(struct gpu_instance *found, char *why, size_t why_bytes)
{
	struct nvml *n = nvml_start(nvml_load);
	struct nvml_instance all[GPUS_INSTANCES_MAX];
	struct nvml_status st;
	size_t count;

	if (!n) {
		snprintf(why, why_bytes, "%s", strerror(errno));
		return 0;
	}
	nvml_ask(n, &st);
	if (st.state == NVML_STARTING)
		snprintf(why, why_bytes, "it does not answer while %s", st.doing);
	else
		snprintf(why, why_bytes, "%s", st.why);
	count = nvml_instances(n, all, GPUS_INSTANCES_MAX);
	for (size_t i = 0; i < count; i++) {
		found[i] = (struct gpu_instance){ .gpu = device_number_gpu(all[i].number),
						  .place = device_number_place(all[i].number),
						  .gi = all[i].gpu_instance,
						  .ci = all[i].compute_instance, .cap = -1 };
		snprintf(found[i].uuid, sizeof(found[i].uuid), "%s", all[i].uuid);
	}
	nvml_ask_end(n);
	return count;
}

static void report_no_instance(struct selector *selector, const char *missing, const char *why)
{
	struct strbuf there = STRBUF_INIT;

	selector_print_instances(selector, &there);
	if (there.len)
		log_error("option '--gpu': this host has no MIG instance '%s', but %s", missing,
			  there.s);
	else if (*why)
		log_error("option '--gpu': MIG instance '%s' cannot be looked up without NVML: %s",
			  missing, why);
	else
		log_error("option '--gpu': this host has no MIG instance '%s', and no others",
			  missing);
	strbuf_free(&there);
}

int mig_select(struct selector *selector)
{
	struct gpu_instance found[GPUS_INSTANCES_MAX];
	const char *missing;
	char why[192] = "";
	size_t n;

	if (!selector || !selector_names_instances(selector))
		return EXIT_OK;
	n = list_instances(found, why, sizeof(why));
	missing = selector_set_instances(selector, found, n);
	if (missing)
		report_no_instance(selector, missing, why);
	return missing ? EXIT_USAGE : EXIT_OK;
}
