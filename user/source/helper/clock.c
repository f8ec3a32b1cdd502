// SPDX-License-Identifier: BSD-3-Clause
/* Rates are quotients of two readings' differences: products of them need 128 bits. */
#include "source/helper/clock.h"

#include <string.h>

#include "base/num.h"

#define SLEW_PPM 500
#define FOREIGN_PPM 1000	/* no slew is as fast */
#define FAR_NS 1000000000ull	/* CUPTI's own clock is CLOCK_REALTIME */
#define WIDTH_MAX 1000000000ull	/* a reading that took longer is useless */
#define ODD_RATE 64	/* ticks a nanosecond, or nanoseconds a tick, that no clock has */

typedef unsigned __int128 u128;

/* A line's rate: so many ticks in so much of the host's time, which is uncertain. */
struct rate {
	uint64_t ticks, host_ns, error_ns;
};

static const struct rate native = { 1, 1, 0 };

static uint64_t distance(uint64_t a, uint64_t b)
{
	return a > b ? a - b : b - a;
}

static uint64_t part(uint64_t whole, unsigned int ppm)
{
	return whole / 1000000 * ppm + whole % 1000000 * ppm / 1000000;
}

/* UINT64_MAX where the result has no room. */
static uint64_t scale(uint64_t v, uint64_t by, uint64_t of)
{
	const u128 scaled = (u128)v * by / of;

	return scaled > UINT64_MAX ? UINT64_MAX : (uint64_t)scaled;
}

/* Between readings i - 1 and i. False: the clock stood still or was set back. */
static bool rate_before(const struct helper_clock *c, unsigned int i, struct rate *out)
{
	const struct helper_clock_reading *a = &c->reading[i - 1], *b = &c->reading[i];

	*out = (struct rate){ b->device - a->device, b->host_ns - a->host_ns,
			      num_add(a->error_ns, b->error_ns) };
	return b->device > a->device;
}

/* With the other's rate, its ticks would take as long: by so many ppm, and the errors of both. */
static bool is_rate(const struct rate *r, const struct rate *other, unsigned int ppm)
{
	const uint64_t host_ns = scale(r->ticks, other->host_ns, other->ticks);
	const uint64_t others_ns = other->error_ns ?
				   scale(other->error_ns, r->host_ns, other->host_ns) : 0;

	return distance(host_ns, r->host_ns) <=
	       num_add(part(r->host_ns, ppm), num_add(r->error_ns, others_ns));
}

/* ---- deciding -------------------------------------------------------------------------------- */

static void note_line(struct helper_clock *c, unsigned int i, const struct rate *r)
{
	const bool is_foreign = (c->reading[i - 1].is_far && c->reading[i].is_far) ||
				!is_rate(r, &native, FOREIGN_PPM);

	c->replaced += c->broken && c->is_foreign != is_foreign;
	c->steps += c->broken && c->is_foreign == is_foreign;
	if (is_foreign)
		c->tick_ps = num_max(scale(r->host_ns, 1000, r->ticks), 1);
	c->is_foreign = is_foreign;
	c->broken = false;
}

/* Readings i - 1 and i. */
static void decide(struct helper_clock *c, unsigned int i, bool is_line)
{
	struct rate r;

	c->reading[i].joined = is_line ? CLOCK_LINE : CLOCK_BROKEN;
	if (c->reading[i - 1].joined == CLOCK_UNDECIDED)	/* the very first */
		c->reading[i - 1].joined = c->reading[i].joined;
	if (is_line && rate_before(c, i, &r))
		note_line(c, i, &r);
	else
		c->broken = true;
}

/* The latest reading, and the one before if that waited for it. */
static void decide_latest(struct helper_clock *c)
{
	const unsigned int i = c->n - 1;
	struct rate now, before;
	const bool moves = rate_before(c, i, &now);
	const bool has_before = i > 1 && c->reading[i - 1].joined != CLOCK_BROKEN &&
				rate_before(c, i - 1, &before);
	const bool goes_on = moves && has_before && is_rate(&now, &before, SLEW_PPM);

	if (i > 1 && c->reading[i - 1].joined == CLOCK_UNDECIDED)
		decide(c, i - 1, goes_on);
	if (goes_on || (moves && is_rate(&now, &native, SLEW_PPM)))
		decide(c, i, true);
}

/* ---- readings -------------------------------------------------------------------------------- */

/* The oldest goes. */
static void forget_first(struct helper_clock *c)
{
	if (c->reading[1].joined == CLOCK_BROKEN)
		c->edge_ns = num_max(c->edge_ns, c->reading[1].after_ns);
	memmove(c->reading, c->reading + 1, --c->n * sizeof(c->reading[0]));
}

/* By the line so far. False: there is none. */
static bool predict(const struct helper_clock *c, uint64_t device, uint64_t *host_ns)
{
	const struct helper_clock_reading *last;
	struct rate r = native;

	if (!c->n)
		return false;
	last = &c->reading[c->n - 1];
	if (device < last->device)
		return false;
	if (c->is_foreign &&
	    (c->n < 2 || last->joined != CLOCK_LINE || !rate_before(c, c->n - 1, &r)))
		return false;
	*host_ns = num_add(last->host_ns, scale(device - last->device, r.host_ns, r.ticks));
	return true;
}

/* Can it be as far from the host's clock as it was at all readings of its line? They may have taken
 * long. */
static bool keeps_distance(struct helper_clock *c, const struct gp_ring_clock *reading)
{
	const int64_t least = (int64_t)(reading->host_before_ns - reading->device_ns),
		      most = (int64_t)(reading->host_after_ns - reading->device_ns);
	const bool keeps = c->n && !c->is_foreign && least <= c->most_ns && most >= c->least_ns;

	c->least_ns = keeps && c->least_ns > least ? c->least_ns : least;
	c->most_ns = keeps && c->most_ns < most ? c->most_ns : most;
	return keeps;
}

/* By the line so far; the middle of the reading where that is refuted. */
static uint64_t place_reading(struct helper_clock *c, const struct gp_ring_clock *reading)
{
	const bool keeps = keeps_distance(c, reading);
	uint64_t host_ns;

	if (predict(c, reading->device_ns, &host_ns) &&
	    (keeps || (host_ns >= reading->host_before_ns && host_ns <= reading->host_after_ns)))
		return host_ns;
	return reading->host_before_ns + (reading->host_after_ns - reading->host_before_ns) / 2;
}

bool helper_clock_add(struct helper_clock *c, const struct gp_ring_clock *reading, uint64_t wall_ns)
{
	const uint64_t width = reading->host_after_ns - reading->host_before_ns;
	const uint64_t middle_ns = reading->host_before_ns + width / 2;
	struct helper_clock_reading *at;
	uint64_t host_ns;

	if (reading->host_after_ns < reading->host_before_ns || width > WIDTH_MAX)
		return false;
	host_ns = place_reading(c, reading);
	if (c->n && (host_ns <= c->reading[c->n - 1].host_ns ||
		     reading->host_after_ns < c->reading[c->n - 1].before_ns))
		return false;
	if (c->n == HELPER_CLOCK_READINGS)
		forget_first(c);
	at = &c->reading[c->n++];
	*at = (struct helper_clock_reading){
		.device = reading->device_ns, .host_ns = host_ns,
		.error_ns = width - width / 2 + distance(host_ns, middle_ns),
		.before_ns = reading->host_before_ns, .after_ns = reading->host_after_ns,
		.is_far = wall_ns && distance(host_ns + wall_ns, reading->device_ns) > FAR_NS };
	c->total++;
	if (c->n > 1) {
		decide_latest(c);
		return true;
	}
	c->is_foreign = at->is_far;
	at->joined = at->is_far ? CLOCK_UNDECIDED : CLOCK_LINE;
	return true;
}

/* Two readings alone are a line if a clock can have its rate. */
void helper_clock_end(struct helper_clock *c)
{
	struct rate r;
	bool is_line;

	if (c->n > 1 && c->reading[c->n - 1].joined == CLOCK_UNDECIDED) {
		is_line = c->total == 2 && rate_before(c, 1, &r) &&
			  r.ticks / ODD_RATE <= r.host_ns && r.host_ns / ODD_RATE <= r.ticks;
		decide(c, c->n - 1, is_line);
	}
	if (c->broken && c->reading[c->n - 1].is_far != c->is_foreign)
		c->replaced++;
	else
		c->steps += c->broken;
	c->broken = false;
}

uint64_t helper_clock_decided(const struct helper_clock *c)
{
	unsigned int open = 0;

	while (open < c->n && c->reading[c->n - 1 - open].joined == CLOCK_UNDECIDED)
		open++;
	return c->total - open;
}

/* Its index; c->n: it has not come. */
static unsigned int index_of(const struct helper_clock *c, uint64_t number)
{
	const uint64_t forgotten = c->total - c->n;

	return number > c->total ? c->n : (unsigned int)num_sub(number, forgotten + 1);
}

const struct helper_clock_reading *helper_clock_reading(const struct helper_clock *c,
							uint64_t number)
{
	const unsigned int i = index_of(c, number);

	return number && i < c->n ? &c->reading[i] : NULL;
}

/* ---- places ---------------------------------------------------------------------------------- */

struct place {
	uint64_t host_ns, error_ns;
	unsigned int at;	/* a reading of its line */
};

/* Between readings i - 1 and i. */
static bool place_between(const struct helper_clock *c, unsigned int i, uint64_t device,
			  struct place *out)
{
	const struct helper_clock_reading *a = &c->reading[i - 1], *b = &c->reading[i];
	struct rate r;

	if (b->joined != CLOCK_LINE || device < a->device || device > b->device ||
	    !rate_before(c, i, &r))
		return false;
	*out = (struct place){ a->host_ns + scale(device - a->device, r.host_ns, r.ticks),
			       num_max(a->error_ns, b->error_ns), i };
	return true;
}

/* The line through reading i goes on behind or before it. False: it is not known. */
static bool rate_around(const struct helper_clock *c, unsigned int i, struct rate *out)
{
	if (c->n > 1 && c->reading[i ? i : 1].joined == CLOCK_LINE)
		return rate_before(c, i ? i : 1, out);
	*out = native;
	return !c->reading[i].is_far && c->reading[i].joined == CLOCK_LINE;
}

/* CUPTI's own clock where two readings do not differ from it; a slew that they show goes on. */
static void settle_rate(struct rate *r)
{
	if (is_rate(r, &native, 0))
		*r = native;
}

static bool place_after_last(const struct helper_clock *c, uint64_t device, struct place *out)
{
	const struct helper_clock_reading *last = &c->reading[c->n - 1];
	const uint64_t ticks = device - last->device;
	struct rate r;

	if (device < last->device || !rate_around(c, c->n - 1, &r))
		return false;
	settle_rate(&r);
	*out = (struct place){ num_add(last->host_ns, scale(ticks, r.host_ns, r.ticks)),
			       num_add(last->error_ns, scale(ticks, r.error_ns, r.ticks)),
			       c->n - 1 };
	return true;
}

static bool place_before_first(const struct helper_clock *c, uint64_t device, struct place *out)
{
	const struct helper_clock_reading *first = &c->reading[0];
	const uint64_t ticks = first->device - device;
	struct rate r;
	uint64_t back_ns;

	if (device > first->device || !rate_around(c, 0, &r))
		return false;
	settle_rate(&r);
	back_ns = scale(ticks, r.host_ns, r.ticks);
	if (back_ns > num_sub(first->host_ns, c->edge_ns))
		return false;
	*out = (struct place){ first->host_ns - back_ns,
			       num_add(first->error_ns, scale(ticks, r.error_ns, r.ticks)), 0 };
	return true;
}

/* The rate of the line that ends, or begins, at reading i. */
static struct rate rate_at(const struct helper_clock *c, unsigned int i, bool ends)
{
	const unsigned int at = ends ? i : i + 1;
	struct rate r;

	return at && at < c->n && c->reading[at].joined == CLOCK_LINE && rate_before(c, at, &r) ?
	       r : native;
}

/* There is a break before reading i, and the line before or after, if it went on there, would have
 * the time in it. */
static bool is_doubtful(const struct helper_clock *c, unsigned int i, uint64_t device)
{
	const struct helper_clock_reading *a, *b;
	struct rate before, after;

	if (c->reading[i].joined != CLOCK_BROKEN)
		return false;
	a = &c->reading[i - 1];
	b = &c->reading[i];
	before = rate_at(c, i - 1, true);
	after = rate_at(c, i, false);
	return (device > a->device && scale(device - a->device, before.host_ns, before.ticks) <=
				      b->host_ns - a->host_ns) ||
	       (device < b->device && scale(b->device - device, after.host_ns, after.ticks) <=
				      b->host_ns - a->host_ns);
}

/*
 * Of a record that came before reading `top`: its time is up to then, or a little later (the
 * helper sends a reading when it has chosen the best of some). A clock that was set back has a
 * time twice: the later one is meant, since records come soon. Where that one is in a break, there
 * is none.
 */
static bool place(const struct helper_clock *c, uint64_t device, unsigned int top,
		  struct place *out)
{
	if (!c->n)
		return false;
	for (unsigned int i = top < c->n ? top : c->n - 1; i; i--) {
		if (place_between(c, i, device, out))
			return true;
		if (is_doubtful(c, i, device))
			return false;
	}
	if (top < c->n && c->reading[top].joined == CLOCK_BROKEN)
		return false;
	if (device < c->reading[0].device)
		return place_before_first(c, device, out);
	for (unsigned int i = top + 1; i < c->n && c->reading[i - 1].joined == CLOCK_LINE; i++)
		if (place_between(c, i, device, out))
			return true;
	return top + 1 >= c->n && place_after_last(c, device, out);
}

static bool are_joined(const struct helper_clock *c, unsigned int a, unsigned int b)
{
	while (a < b && c->reading[a + 1].joined == CLOCK_LINE)
		a++;
	return a >= b;
}

/* When its line began, or ended. */
static uint64_t line_begin_ns(const struct helper_clock *c, unsigned int i)
{
	while (i && c->reading[i].joined == CLOCK_LINE)
		i--;
	return c->reading[i].host_ns;
}

static uint64_t line_end_ns(const struct helper_clock *c, unsigned int i)
{
	while (i + 1 < c->n && c->reading[i + 1].joined == CLOCK_LINE)
		i++;
	return c->reading[i].host_ns;
}

bool helper_clock_place(const struct helper_clock *c, uint64_t start, uint64_t end, uint64_t since,
			struct helper_span *out)
{
	const unsigned int top = index_of(c, since + 1);
	struct place from = { 0 }, to = { 0 };
	const bool has_from = place(c, start, top, &from), has_to = place(c, end, top, &to);

	*out = (struct helper_span){ from.host_ns, to.host_ns,
				     num_max(from.error_ns, to.error_ns) };
	if (has_from && has_to && from.at <= to.at && are_joined(c, from.at, to.at))
		return out->end_ns >= out->start_ns;
	if (has_to && !has_from)
		out->start_ns = line_begin_ns(c, to.at);
	if (has_from && !has_to)
		out->end_ns = line_end_ns(c, from.at);
	out->end_ns = num_max(out->start_ns, out->end_ns);
	return false;
}
