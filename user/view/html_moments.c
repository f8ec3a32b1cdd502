// SPDX-License-Identifier: BSD-3-Clause
#include "view/html_moments.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/num.h"
#include "event/device_number.h"
#include "facts/memory_calls.h"
#include "findings/findings.h"
#include "view/render.h"

#define DEVICES_MAX 128
#define SPANS_MAX 256 /* of a device */
#define POINTS_MAX 256
#define LIST_BYTES 60000 /* of a list of the page: what does not fit is counted */

static const struct {
	uint64_t bit;
	const char *why;
} reasons[] = {
	/* those for which no user asked, the worst first */
	{ CLOCK_THERMAL_HARDWARE, "heat, by the hardware" },
	{ CLOCK_POWER_BRAKE, "the power supply, by the hardware" },
	{ CLOCK_THERMAL, "heat" },
	{ CLOCK_POWER_CAP, "its power limit" },
	{ CLOCK_SYNC_BOOST, "another GPU of its sync boost group" },
};

struct span {
	uint64_t from_ns, to_ns;
	size_t reason; /* in the list above */
};

struct point {
	uint64_t ns, bytes;
};

struct device {
	char uuid[64];
	uint32_t number;
	uint64_t total_bytes;
	size_t n_spans, n_points;
	uint64_t more_spans; /* without room */
	size_t stride, skipped; /* a point stands for so many samples; of the last: */
	struct span spans[SPANS_MAX];
	struct point points[POINTS_MAX];
};

struct moments {
	struct device *v[DEVICES_MAX];
	size_t n;
};

/* ---- input ----------------------------------------------------------------------------------- */

/* Without memory, or for more devices, NULL: they have no moments. */
static struct device *find(struct moments *m, const struct event_sample *sample)
{
	struct device *d;

	for (size_t i = 0; i < m->n; i++)
		if (m->v[i]->number == sample->number &&
		    !strncmp(m->v[i]->uuid, sample->uuid, sizeof(m->v[i]->uuid) - 1))
			return m->v[i];
	d = m->n < DEVICES_MAX ? calloc(1, sizeof(*d)) : NULL;
	if (!d)
		return NULL;
	snprintf(d->uuid, sizeof(d->uuid), "%s", sample->uuid);
	d->number = sample->number;
	d->stride = 1;
	return m->v[m->n++] = d;
}

static void add_span(struct device *d, const struct event *ev)
{
	const uint64_t bits = ev->sample.values.v[SAMPLE_CLOCK_REASONS];
	struct span *last = d->n_spans ? &d->spans[d->n_spans - 1] : NULL;

	for (size_t i = 0; i < sizeof(reasons) / sizeof(reasons[0]); i++) {
		if (!(bits & reasons[i].bit))
			continue;
		if (last && last->reason == i && last->to_ns >= ev->start_ns)
			last->to_ns = num_max(last->to_ns, ev->end_ns);
		else if (d->n_spans < SPANS_MAX)
			d->spans[d->n_spans++] = (struct span){ ev->start_ns, ev->end_ns, i };
		else
			d->more_spans++;
		return;
	}
}

/* Two points become one, the larger. */
static void halve_points(struct device *d)
{
	for (size_t i = 0; i < d->n_points / 2; i++) {
		const struct point *a = &d->points[2 * i], *b = a + 1;

		d->points[i] = a->bytes > b->bytes ? *a : *b;
	}
	d->n_points /= 2;
	d->stride *= 2;
}

static void add_point(struct device *d, const struct event *ev)
{
	const struct point point = { ev->end_ns, ev->sample.values.v[SAMPLE_USED_BYTES] };
	struct point *last = d->n_points ? &d->points[d->n_points - 1] : NULL;

	if (last && d->skipped + 1 < d->stride) {
		d->skipped++;
		if (point.bytes > last->bytes)
			*last = point;
		return;
	}
	if (d->n_points == POINTS_MAX)
		halve_points(d);
	d->points[d->n_points++] = point;
	d->skipped = 0;
}

static int on_event(void *state, const struct event *ev)
{
	const uint32_t has = ev->sample.values.has;
	struct device *d = ev->sample.uuid ? find(state, &ev->sample) : NULL;

	if (!d || ev->end_ns < ev->start_ns)
		return 0;
	if (has >> SAMPLE_CLOCK_REASONS & 1)
		add_span(d, ev);
	if (has >> SAMPLE_TOTAL_BYTES & 1)
		d->total_bytes = ev->sample.values.v[SAMPLE_TOTAL_BYTES];
	if (has >> SAMPLE_USED_BYTES & 1)
		add_point(d, ev);
	return 0;
}

static int copy(void *to, const void *from)
{
	const struct moments *of = from;
	struct moments *m = to;

	for (size_t i = 0; i < of->n; i++) {
		m->v[i] = malloc(sizeof(*m->v[i]));
		if (!m->v[i])
			return -ENOMEM;
		*m->v[i] = *of->v[i];
		m->n++;
	}
	return 0;
}

static void free_moments(void *state)
{
	struct moments *m = state;

	for (size_t i = 0; i < m->n; i++)
		free(m->v[i]);
	m->n = 0;
}

const struct consumer html_moments_consumer = {
	.kinds = 1ull << EVENT_SAMPLE,
	.size = sizeof(struct moments),
	.on_event = on_event,
	.copy = copy,
	.free = free_moments,
};

/* ---- json ------------------------------------------------------------------------------------ */

/* A list of the page as it is written. */
struct list {
	struct strbuf *out;
	size_t from, more; /* where it began; what it left out */
};

static bool has_room(struct list *l)
{
	const bool has = l->out->len - l->from < LIST_BYTES;

	l->more += !has;
	return has;
}

static size_t add_faults(struct strbuf *out, const struct snapshot *snap)
{
	struct list list = { out, out->len, 0 };
	const char *separator = "";

	strbuf_addstr(out, "{\"faults\": [");
	for (size_t i = 0; i < snap->samples.all.n; i++) {
		const struct sampled_device *d = snap->samples.all.v[i];

		for (size_t k = 0; k < d->faults.n; k++) {
			const struct sample_fault *f = &d->faults.v[k];
			struct strbuf text = STRBUF_INIT;

			if (!has_room(&list))
				continue;
			finding_add_fault(&text, d, f);
			strbuf_addf(out,
				    "%s\n {\"gpu\": \"%s\", \"ns\": %" PRIu64
				    ", \"times\": %" PRIu64 ", \"text\": ",
				    separator, device_text(d->number).s,
				    num_sub(f->first_ns, snap->since_ns), f->times);
			render_json_string(out, text.s);
			strbuf_addch(out, '}');
			separator = ",";
			out->failed |= text.failed;
			strbuf_free(&text);
		}
	}
	strbuf_addstr(out, "],\n\"slow\": [");
	return list.more;
}

static size_t add_slow(struct strbuf *out, const struct moments *m, const struct snapshot *snap)
{
	struct list list = { out, out->len, 0 };
	const char *separator = "";

	for (size_t i = 0; m && i < m->n; i++) {
		list.more += m->v[i]->more_spans;
		for (size_t k = 0; k < m->v[i]->n_spans; k++) {
			const struct span *s = &m->v[i]->spans[k];

			if (s->to_ns <= snap->since_ns || s->from_ns >= snap->now_ns ||
			    !has_room(&list))
				continue;
			strbuf_addf(out,
				    "%s\n {\"gpu\": \"%s\", \"from_ns\": %" PRIu64
				    ", \"to_ns\": %" PRIu64 ", \"why\": \"%s\"}",
				    separator, device_text(m->v[i]->number).s,
				    num_sub(s->from_ns, snap->since_ns),
				    num_min(s->to_ns, snap->now_ns) - snap->since_ns,
				    reasons[s->reason].why);
			separator = ",";
		}
	}
	strbuf_addstr(out, "],\n\"memory\": [");
	return list.more;
}

static void add_memory(struct strbuf *out, const struct moments *m, const struct snapshot *snap)
{
	struct list list = { out, out->len, 0 };
	const char *separator = "", *comma;

	for (size_t i = 0; m && i < m->n; i++) {
		const struct device *d = m->v[i];

		if (!d->n_points || !has_room(&list))
			continue;
		strbuf_addf(out, "%s\n {\"gpu\": \"%s\", \"total\": %" PRIu64 ", \"points\": [",
			    separator, device_text(d->number).s, d->total_bytes);
		comma = "";
		for (size_t k = 0; k < d->n_points; k++) {
			if (d->points[k].ns < snap->since_ns || d->points[k].ns > snap->now_ns)
				continue;
			strbuf_addf(out, "%s[%" PRIu64 ",%" PRIu64 "]", comma,
				    d->points[k].ns - snap->since_ns, d->points[k].bytes);
			comma = ",";
		}
		strbuf_addstr(out, "]}");
		separator = ",";
	}
	strbuf_addstr(out, "],\n\"live\": [");
}

static uint64_t most_of(const struct memory_line *l, size_t kind)
{
	uint64_t most = 0;

	for (size_t i = 0; i <= l->last; i++)
		most = num_max(most, l->most[kind][i]);
	return most;
}

static void add_bytes(struct strbuf *out, const struct memory_line *l, size_t kind)
{
	const uint64_t *most = l->most[kind];
	size_t run;

	for (size_t i = 0; i <= l->last; i += run) {
		for (run = 1; i + run <= l->last && most[i + run] == most[i]; run++)
			;
		strbuf_addf(out, "%s%" PRIu64, i ? "," : "", most[i]);
		if (run > 1)
			strbuf_addf(out, ",-%zu", run - 1);
	}
}

static void add_live(struct strbuf *out, const struct snapshot *snap)
{
	struct list list = { out, out->len, 0 };
	const char *separator = "", *comma;

	for (size_t i = 0; i < snap->processes.n; i++) {
		const struct memory_line *l = snap->processes.v[i].memory_line;

		if (!l || !has_room(&list))
			continue;
		comma = "";
		for (size_t kind = 0; kind < MEMORY_KIND_END; kind++) {
			if (!most_of(l, kind))
				continue;
			if (!*comma)
				strbuf_addf(out,
					    "%s\n {\"pid\": %u, \"bin_ns\": %" PRIu64
					    ", \"kinds\": [",
					    separator, snap->processes.v[i].pid,
					    UINT64_C(1) << l->shift);
			strbuf_addf(out, "%s[\"%s\", [", comma,
				    memory_kind_name((unsigned int)kind));
			add_bytes(out, l, kind);
			strbuf_addstr(out, "]]");
			comma = ",";
		}
		if (!*comma)
			continue;
		strbuf_addstr(out, "]}");
		separator = ",";
	}
	strbuf_addstr(out, "]");
}

void html_moments_add(struct strbuf *out, const struct snapshot *snap)
{
	const struct moments *m = consumer_state(&snap->states, &html_moments_consumer);

	size_t more = add_faults(out, snap);

	more += add_slow(out, m, snap);
	add_memory(out, m, snap);
	add_live(out, snap);
	strbuf_addf(out, ",\n\"more\": %zu}", more);
}
