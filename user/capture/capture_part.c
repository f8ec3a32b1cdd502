// SPDX-License-Identifier: BSD-3-Clause
/* The session's begin and end are replaced; the model leaves out what is outside of them. */
#include "capture/capture_part.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/num.h"
#include "base/units.h"

/* ---- the capture's time ---------------------------------------------------------------------- */

struct scan {
	struct capture_span span;
	uint64_t first_ns, latest_ns;	/* when threads and devices were seen active */
};

/* Events of other kinds may have times long before the session, or after it. */
#define DONE                                                                                   \
	(1ull << EVENT_CALL | 1ull << EVENT_ENTER | 1ull << EVENT_OPEN | 1ull << EVENT_INSIDE | \
	 1ull << EVENT_LEFT | 1ull << EVENT_GONE | 1ull << EVENT_OFF | 1ull << EVENT_WORK |     \
	 1ull << EVENT_API)

static int scan(void *ctx, const struct event *ev)
{
	struct scan *s = ctx;

	if (ev->kind == EVENT_START && !s->span.start_ns)
		s->span.start_ns = ev->start_ns;
	else if (ev->kind == EVENT_STOP && !s->span.stop_ns)
		s->span.stop_ns = ev->end_ns;
	else if (ev->kind == EVENT_FACT && ev->fact.key && ev->fact.value &&
		 !strcmp(ev->fact.key, "wall_offset_ns"))
		s->span.wall_offset_ns = strtoull(ev->fact.value, NULL, 10);
	if (DONE >> ev->kind & 1)
		s->first_ns = num_min(s->first_ns, ev->start_ns);
	if ((DONE | 1ull << EVENT_WATERMARK | 1ull << EVENT_EXIT) >> ev->kind & 1)
		s->latest_ns = num_max(s->latest_ns, ev->end_ns);
	return 0;
}

int capture_read_span(struct capture_reader *r, struct capture_span *span)
{
	struct scan s = { .first_ns = UINT64_MAX };
	int err = capture_read(r, &(struct event_sink){ scan, &s });

	/* The file is damaged; its recorder was killed, or is still at work. */
	if (!s.span.start_ns)
		s.span.start_ns = s.first_ns;
	if (!s.span.stop_ns)
		s.span.stop_ns = s.latest_ns;
	*span = s.span;
	if (!err && span->stop_ns <= span->start_ns)
		err = -ENODATA;
	return err;
}

/* ---- the choice ------------------------------------------------------------------------------ */

/* 0, or -EINVAL, logged. */
static int find_time(const struct capture_span *span, const struct time_moment *m,
		     uint64_t otherwise_ns, uint64_t *ns)
{
	if (m->is_clock && !span->wall_offset_ns) {
		log_error("the capture does not know the time of day: give times from its "
			  "beginning, such as 2s");
		return -EINVAL;
	}
	if (!m->is_given)
		*ns = otherwise_ns;
	else if (m->is_clock)
		*ns = num_sub(time_of_day(m->ns, num_add(span->start_ns, span->wall_offset_ns)),
			      span->wall_offset_ns);
	else
		*ns = num_add(span->start_ns, m->ns);
	return 0;
}

static void report_empty(const struct capture_span *span)
{
	const uint64_t offset_ns = span->wall_offset_ns;

	if (offset_ns)
		log_error("nothing is between --from and --to: the capture is of %s, %s to %s",
			  ns_text(span->stop_ns - span->start_ns).s,
			  clock_text(num_add(span->start_ns, offset_ns)).s,
			  clock_text(num_add(span->stop_ns, offset_ns)).s);
	else
		log_error("nothing is between --from and --to: the capture is of %s",
			  ns_text(span->stop_ns - span->start_ns).s);
}

int capture_part_choose(struct capture_part *part, const struct capture_span *span,
			const struct time_moment *from, const struct time_moment *to)
{
	if (find_time(span, from, span->start_ns, &part->from_ns) ||
	    find_time(span, to, span->stop_ns, &part->to_ns))
		return -EINVAL;
	part->from_ns = num_max(part->from_ns, span->start_ns);
	part->to_ns = num_min(part->to_ns, span->stop_ns);
	if (part->from_ns >= part->to_ns) {
		report_empty(span);
		return -EINVAL;
	}
	part->part[0] = part->options[0] = '\0';
	if (!from->is_given && !to->is_given)
		return 0;
	snprintf(part->part, sizeof(part->part), "%s to %s",
		 ns_text(part->from_ns - span->start_ns).s,
		 ns_text(part->to_ns - span->start_ns).s);
	snprintf(part->options, sizeof(part->options), "%s%.24s%s%s%.24s",
		 from->is_given ? "--from " : "", from->is_given ? from->text : "",
		 from->is_given && to->is_given ? " " : "", to->is_given ? "--to " : "",
		 to->is_given ? to->text : "");
	return 0;
}

/* ---- the events ------------------------------------------------------------------------------ */

/* The end comes first, so that books are cut there whatever goes on. */
static int begin(const struct capture_part *p)
{
	const struct event events[] = {
		{ .kind = EVENT_START, .start_ns = p->from_ns },
		{ .kind = EVENT_STOP, .end_ns = p->to_ns },
		{ .kind = EVENT_FACT, .fact = { "part", p->part } },
		{ .kind = EVENT_FACT, .fact = { "part_options", p->options } },
	};
	int err = 0;

	for (size_t i = 0; i < (*p->part ? 4 : 2) && !err; i++)
		err = p->to.push(p->to.ctx, &events[i]);
	return err;
}

int capture_part_push(void *part, const struct event *ev)
{
	struct capture_part *p = part;
	int err = p->has_begun ? 0 : begin(p);

	p->has_begun = true;
	if (ev->kind == EVENT_START || ev->kind == EVENT_STOP)
		return err;
	return err ? err : p->to.push(p->to.ctx, ev);
}
