// SPDX-License-Identifier: BSD-3-Clause
/* See the header. A process without a helper is looked at ever less often: often while it is new, and
 * again when it is met again, since what its helper waits for is us. */
#include "event/helpers.h"

#include <errno.h>
#include <stdlib.h>

#include "base/num.h"
#include "base/vec.h"
#include "event/helper_source.h"

#define FIND_FIRST_NS 5000000ull
#define FIND_SOON_NS 40000000ull	/* at most, of the first FIND_SOON times */
#define FIND_SOON 125
#define FIND_MAX_NS 1000000000ull

struct process {
	struct helpers_process who;
	enum helpers_state state;
	uint64_t find_at_ns, find_every_ns;
	unsigned int tries;		/* to find one */
	struct helper_source *source;
	struct helper_decoder *decoder;
	const struct event_sink *sink;	/* during a pump */
	int err;			/* the sink's */
};

struct helpers {
	VEC(struct process *) all;
};

struct helpers *helpers_new(void)
{
	return calloc(1, sizeof(struct helpers));
}

static void process_free(struct process *p)
{
	helper_source_close(p->source);
	helper_decoder_free(p->decoder);
	free(p);
}

void helpers_free(struct helpers *h)
{
	if (!h)
		return;
	for (size_t i = 0; i < h->all.n; i++)
		process_free(h->all.v[i]);
	VEC_FREE(&h->all);
	free(h);
}

static void find_soon(struct process *p)
{
	p->find_at_ns = 0;
	p->find_every_ns = FIND_FIRST_NS;
	p->tries = 0;
}

int helpers_add(struct helpers *h, const struct helpers_process *who)
{
	struct process *p, **at;

	for (size_t i = 0; i < h->all.n; i++)
		if (h->all.v[i]->who.pid == who->pid && h->all.v[i]->state != HELPERS_ENDED) {
			find_soon(h->all.v[i]);
			return 0;
		}
	p = calloc(1, sizeof(*p));
	if (p)
		p->decoder = helper_decoder_new(who->pid, who->clock_offset_ns);
	at = p && p->decoder ? VEC_PUSH(&h->all) : NULL;
	if (!at) {
		if (p)
			process_free(p);
		return -ENOMEM;
	}
	p->who = *who;
	find_soon(p);
	*at = p;
	return 0;
}

static void find(struct process *p, uint64_t now_ns)
{
	int fd;

	if (now_ns < p->find_at_ns)
		return;
	fd = helper_source_find(p->who.pid);
	if (fd >= 0) {
		p->source = helper_source_open(fd, p->who.own_pid, GP_RING_WANT_KINDS);
		p->state = p->source ? HELPERS_WATCHED : errno == EUSERS ? HELPERS_BUSY : HELPERS_NONE;
	} else if (fd == -ESRCH) {
		p->state = HELPERS_ENDED;
	}
	p->find_every_ns = num_min(p->find_every_ns * 2,
				   ++p->tries < FIND_SOON ? FIND_SOON_NS : FIND_MAX_NS);
	p->find_at_ns = now_ns + p->find_every_ns;
}

static int on_record(void *ctx, uint16_t kind, const void *payload, size_t len)
{
	struct process *p = ctx;

	p->err = helper_decode(p->decoder, kind, payload, len, p->sink);
	return p->err;
}

static int pump(struct process *p, uint64_t now_ns, const struct event_sink *sink)
{
	if (!p->source && p->state != HELPERS_ENDED && p->state != HELPERS_BROKEN)
		find(p, now_ns);
	if (!p->source)
		return 0;
	if (helper_source_renew(p->source, now_ns + (uint64_t)p->who.clock_offset_ns) == -ESTALE) {
		helper_source_close(p->source);
		p->source = NULL;
		p->state = HELPERS_NONE;
		return 0;
	}
	p->sink = sink;
	p->err = 0;
	if (helper_source_read(p->source, on_record, p) == -EBADMSG)
		p->state = HELPERS_BROKEN;
	return p->err;
}

int helpers_pump(struct helpers *h, uint64_t now_ns, const struct event_sink *sink)
{
	int err = 0;

	for (size_t i = 0; i < h->all.n && !err; i++)
		err = pump(h->all.v[i], now_ns, sink);
	return err;
}

int helpers_end(struct helpers *h, uint64_t now_ns, const struct event_sink *sink)
{
	int err = helpers_pump(h, now_ns, sink);

	for (size_t i = 0; i < h->all.n && !err; i++)
		err = helper_decode_end(h->all.v[i]->decoder, sink);
	return err;
}

size_t helpers_count(const struct helpers *h)
{
	return h->all.n;
}

void helpers_status(const struct helpers *h, size_t i, struct helpers_status *out)
{
	const struct process *p = h->all.v[i];

	*out = (struct helpers_status){ .pid = p->who.pid, .state = p->state };
	helper_decoder_counts(p->decoder, &out->counts);
	if (!p->source)
		return;
	helper_source_head(p->source, &out->head);
	for (uint16_t kind = 0; kind < GP_RING_KINDS; kind++)
		out->lost = num_add(out->lost, helper_source_lost(p->source, kind));
}
