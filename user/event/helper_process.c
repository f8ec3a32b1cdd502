// SPDX-License-Identifier: BSD-3-Clause
/*
 * See the header. A process without a helper is looked at ever less often: often while it is new, and
 * again when it is met again, since what its helper waits for is us. One that has ended is read to the
 * end and then only remembered.
 */
#include "event/helper_process.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/io.h"
#include "base/num.h"
#include "base/time.h"
#include "event/helper_source.h"

#define FIND_FIRST_NS 5000000ull
#define FIND_SOON_NS 40000000ull	/* at most, of the first FIND_SOON times */
#define FIND_SOON 125
#define FIND_MAX_NS 1000000000ull
#define WORK_KINDS (1u << GP_RING_KERNEL | 1u << GP_RING_COPY | 1u << GP_RING_SET | 1u << GP_RING_GRAPH)
#define LOOK_EVERY_NS 100000000ull	/* at threads; calls are told as often */

struct helper_process {
	struct helpers_process who;
	enum helpers_state state;
	uint64_t find_at_ns, find_every_ns, look_at_ns;
	unsigned int tries;		/* to find one */
	uint64_t alive_ns, exit_ns;	/* seen last; 0: it goes on */
	int pidfd;			/* -1: none */
	bool whole_graphs;
	bool look_again;		/* it may have executed another program */
	uint64_t told_ns, told_before_ns;	/* helper_decoder_told, and what it was before */
	uint64_t untold_ns;		/* at its end */
	struct helper_source *source;
	struct helper_decoder *decoder;	/* NULL: it is only remembered */
	struct helper_threads *threads;	/* NULL: numbers are the host's and nobody asks for more */
	struct api_calls *calls;	/* NULL: not told */
	const struct event_sink *sink;	/* during a pump */
	int err;			/* the sink's */
	struct gp_ring_head head;	/* when the source was closed */
	struct helper_counts counts;	/* when the decoder was freed */
	uint64_t lost, lost_works;	/* in those that were closed */
	uint64_t lost_told;		/* of lost works */
};

/* What a process that has ended needs no more: a job may start thousands. */
static void retire(struct helper_process *p)
{
	if (p->decoder)
		helper_decoder_counts(p->decoder, &p->counts);
	helper_decoder_free(p->decoder);
	helper_threads_free(p->threads);
	api_calls_free(p->calls);
	p->decoder = NULL;
	p->threads = NULL;
	p->calls = NULL;
	io_close(&p->pidfd);
}

void helper_process_free(struct helper_process *p)
{
	if (!p)
		return;
	helper_source_close(p->source);
	retire(p);
	free(p);
}

void helper_process_find_soon(struct helper_process *p)
{
	p->find_at_ns = 0;
	p->find_every_ns = FIND_FIRST_NS;
	p->tries = 0;
}

struct helper_process *helper_process_new(const struct helpers_process *who,
					  const struct api_rows *rows, bool whole_graphs)
{
	struct helper_process *p = calloc(1, sizeof(*p));
	bool ok;

	if (!p)
		return NULL;
	p->who = *who;
	p->whole_graphs = whole_graphs;
	helper_process_find_soon(p);
	p->pidfd = (int)syscall(SYS_pidfd_open, who->pid, 0);
	p->decoder = helper_decoder_new(who->pid, who->clock_offset_ns);
	if (rows || who->own_pid != who->pid)
		p->threads = helper_threads_new(who->pid, who->own_pid);
	if (rows && p->threads)
		p->calls = api_calls_new((uint32_t)who->pid, rows, p->threads);
	ok = p->decoder && (p->threads || who->own_pid == who->pid) && (p->calls || !rows);
	if (ok)
		helper_decoder_threads(p->decoder, p->threads);
	else
		helper_process_free(p);
	return ok ? p : NULL;
}

const struct helpers_process *helper_process_who(const struct helper_process *p)
{
	return &p->who;
}

bool helper_process_has_ended(const struct helper_process *p)
{
	return p->state == HELPERS_ENDED;
}

int helper_process_tell_thread(struct helper_process *p, uint32_t tid, uint32_t own_tid)
{
	return p->threads && own_tid ? helper_threads_tell(p->threads, &(struct helper_thread){
		.tid = tid, .own_tid = own_tid }) : 0;
}

void helper_process_look_again(struct helper_process *p)
{
	p->look_again = true;
}

/* ---- reading -------------------------------------------------------------------------------- */

static uint32_t kinds_for(const struct helper_process *p)
{
	return GP_RING_WANT_KINDS | (p->calls ? GP_RING_WANT_ALL_CALLS : 0) |
	       (p->whole_graphs ? 0 : GP_RING_WANT_NODES);
}

/* It uses CUDA or NVTX: who it is can be read while it lives. */
static int tell_process(struct helper_process *p)
{
	return p->sink->push(p->sink->ctx, &(struct event){
		.kind = EVENT_PROCESS, .pid = (uint32_t)p->who.pid, .tid = (uint32_t)p->who.pid });
}

static void find(struct helper_process *p, uint64_t now_ns)
{
	int fd;

	if (now_ns < p->find_at_ns)
		return;
	fd = helper_source_find(p->who.pid);
	if (fd >= 0) {
		p->source = helper_source_open(fd, p->who.own_pid, kinds_for(p),
					       now_ns + (uint64_t)p->who.clock_offset_ns);
		p->state = p->source ? HELPERS_WATCHED : errno == EUSERS ? HELPERS_BUSY :
			   errno == EPROTO ? HELPERS_OTHER : HELPERS_NONE;
		if (p->source && p->calls)
			p->err = tell_process(p);
	} else if (fd == -ESRCH) {
		p->state = HELPERS_ENDED;
	}
	p->find_every_ns = num_min(p->find_every_ns * 2,
				   ++p->tries < FIND_SOON ? FIND_SOON_NS : FIND_MAX_NS);
	p->find_at_ns = now_ns + p->find_every_ns;
}

/* What the decoder tells: calls are taken, and all of it is handed on. */
static int on_event(void *ctx, const struct event *ev)
{
	struct helper_process *p = ctx;
	int err = p->calls && ev->kind == EVENT_API ? api_calls_take(p->calls, ev) : 0;

	return err ? err : p->sink->push(p->sink->ctx, ev);
}

static int on_record(void *ctx, uint16_t kind, const void *payload, size_t len)
{
	struct helper_process *p = ctx;

	p->err = helper_decode(p->decoder, kind, payload, len, &(struct event_sink){ on_event, p });
	return p->err;
}

static void look(struct helper_process *p, uint64_t now_ns)
{
	struct pollfd fd = { .fd = p->pidfd, .events = POLLIN };

	/* Those that were read before may have taken long. */
	helper_decoder_now(p->decoder, num_max(now_ns, time_now_ns()));
	if (!p->exit_ns && p->pidfd >= 0 && poll(&fd, 1, 0) > 0)
		p->exit_ns = p->alive_ns ? p->alive_ns : now_ns;
	p->alive_ns = now_ns;
	if (!p->threads || now_ns < p->look_at_ns || p->exit_ns)
		return;
	p->look_at_ns = now_ns + LOOK_EVERY_NS;
	p->err = helper_threads_look(p->threads, now_ns);
	if (p->calls && !p->err)
		p->err = api_calls_tell(p->calls, helper_decoder_complete_ns(p->decoder), p->sink);
}

static uint64_t count_lost(const struct helper_process *p, uint32_t kinds)
{
	uint64_t lost = 0;

	for (uint16_t kind = 0; kind < GP_RING_KINDS; kind++)
		if (kinds >> kind & 1)
			lost = num_add(lost, helper_source_lost(p->source, kind));
	return lost;
}

static void close_source(struct helper_process *p)
{
	if (!p->source)
		return;
	helper_source_head(p->source, &p->head);
	p->lost = num_add(p->lost, count_lost(p, GP_RING_WANT_KINDS));
	p->lost_works = num_add(p->lost_works, count_lost(p, WORK_KINDS));
	p->lost_told = 0;
	helper_source_close(p->source);
	p->source = NULL;
}

/* What waits in it for more, which will not come. */
static int tell_rest(struct helper_process *p)
{
	int err = helper_decode_end(p->decoder, &(struct event_sink){ on_event, p });

	return err || !p->calls ? err : api_calls_end(p->calls, p->exit_ns, p->sink);
}

/* ---- what was not told ---------------------------------------------------------------------- */

static int push_unseen(struct helper_process *p, enum unseen_why why, uint64_t start_ns, uint64_t end_ns)
{
	const struct event ev = { .kind = EVENT_UNSEEN, .pid = (uint32_t)p->who.pid,
				  .dir = (uint8_t)why, .start_ns = start_ns, .end_ns = end_ns };

	return start_ns < end_ns ? p->sink->push(p->sink->ctx, &ev) : 0;
}

/* Works for which the ring had no room are from since the reading before the latest. */
static int tell_lost(struct helper_process *p, uint64_t now_ns)
{
	uint64_t told = helper_decoder_told(p->decoder), lost = count_lost(p, WORK_KINDS);
	int err = 0;

	if (lost > p->lost_told)
		err = push_unseen(p, UNSEEN_LOST, p->told_before_ns, now_ns);
	p->lost_told = lost;
	if (told != p->told_ns) {
		p->told_before_ns = p->told_ns;
		p->told_ns = told;
	}
	return err;
}

/* From when on nothing was told that should have been; 0: all was. */
static uint64_t untold_since(const struct helper_process *p, const struct gp_ring_head *head)
{
	uint64_t told = helper_decoder_told(p->decoder);

	switch (head->state) {
	case GP_HELPER_VIRGIN:	/* CUDA has not started */
	case GP_HELPER_ENDED:	/* in order: its last words were read */
		return p->state == HELPERS_BROKEN ? told : 0;
	default:
		return told ? told : head->state_ns - (uint64_t)p->who.clock_offset_ns;
	}
}

/* Nothing more is read of it. */
static int finish(struct helper_process *p, uint64_t end_ns)
{
	uint64_t since = 0;
	int err;

	if (p->source) {
		close_source(p);
		since = untold_since(p, &p->head);
	}
	err = tell_rest(p);
	if (err || !since || since >= end_ns)
		return err;
	p->untold_ns = end_ns - since;
	return push_unseen(p, UNSEEN_UNKNOWN, since, end_ns);
}

/* Is its ring still that of the program that it runs? */
static bool has_changed(const struct helper_process *p)
{
	int fd = helper_source_find(p->who.pid);
	bool same = fd >= 0 ? helper_source_is(p->source, fd) : fd != -ENOENT;

	io_close(&fd);
	return !same;
}

static void read_ring(struct helper_process *p, uint64_t now_ns)
{
	int got;

	if (helper_source_renew(p->source, now_ns + (uint64_t)p->who.clock_offset_ns) == -ESTALE) {
		close_source(p);
		p->state = HELPERS_NONE;
		return;
	}
	got = helper_source_read(p->source, on_record, p);
	if (got == -EBADMSG)
		p->state = HELPERS_BROKEN;
	if (!p->err)
		p->err = tell_lost(p, now_ns);
	if (p->err || !p->exit_ns)
		return;		/* of one that has ended, a record that is not complete never will be */
	p->err = finish(p, now_ns);	/* it may have lived until then, unseen */
	if (p->state != HELPERS_BROKEN)
		p->state = HELPERS_ENDED;
}

/* What a program had told before it executed another one, of which nothing is known yet: that is read. */
int helper_process_follow(struct helper_process *p, uint64_t now_ns, const struct event_sink *sink,
			  bool *is_another)
{
	*is_another = false;
	if (!p->look_again)
		return 0;
	p->look_again = false;
	if (!p->source || p->exit_ns || !has_changed(p))
		return 0;
	p->sink = sink;
	p->err = 0;
	read_ring(p, now_ns);
	if (!p->err && p->state != HELPERS_ENDED)
		p->err = finish(p, now_ns);
	p->state = HELPERS_ENDED;
	*is_another = true;
	return p->err;
}

int helper_process_pump(struct helper_process *p, uint64_t now_ns, const struct event_sink *sink)
{
	if (p->state == HELPERS_ENDED)
		return retire(p), 0;
	p->sink = sink;
	p->err = 0;
	look(p, now_ns);
	if (!p->err && !p->source && p->state != HELPERS_BROKEN)
		find(p, now_ns);
	if (!p->err && p->source)
		read_ring(p, now_ns);
	else if (!p->err && p->state == HELPERS_ENDED)
		p->err = tell_rest(p);	/* its ring was given to another reader before */
	return p->err;
}

bool helper_process_is_awaited(const struct helper_process *p, uint64_t ns)
{
	struct gp_ring_head head;

	if (!p->source || p->exit_ns || helper_decoder_told(p->decoder) >= ns)
		return false;
	helper_source_head(p->source, &head);
	return head.state == GP_HELPER_AWAKE;
}

void helper_process_wake(const struct helper_process *p)
{
	if (p->source)
		helper_source_wake(p->source);
}

int helper_process_end(struct helper_process *p, uint64_t now_ns, const struct event_sink *sink)
{
	if (p->state == HELPERS_ENDED)
		return 0;
	p->sink = sink;
	return finish(p, p->exit_ns ? p->exit_ns : now_ns);
}

/* ---- what is said of it --------------------------------------------------------------------- */

uint64_t helper_process_told_ns(const struct helper_process *p)
{
	return p->calls && p->state == HELPERS_WATCHED ? api_calls_told_ns(p->calls) : UINT64_MAX;
}

void helper_process_status(const struct helper_process *p, struct helpers_status *out)
{
	*out = (struct helpers_status){ .pid = p->who.pid, .state = p->state, .head = p->head,
					.lost = p->lost, .lost_works = p->lost_works,
					.untold_ns = p->untold_ns, .counts = p->counts };
	if (p->decoder)
		helper_decoder_counts(p->decoder, &out->counts);
	if (!p->source)
		return;
	helper_source_head(p->source, &out->head);
	out->lost = num_add(out->lost, count_lost(p, GP_RING_WANT_KINDS));
	out->lost_works = num_add(out->lost_works, count_lost(p, WORK_KINDS));
}
