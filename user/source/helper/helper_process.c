// SPDX-License-Identifier: BSD-3-Clause
/*
 * A process without a helper is looked at ever less often: often while it is new, or was met again, for
 * its helper waits for us. One that has ended is read to the end, then only remembered.
 */
#include "source/helper/helper_process.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>

#include "base/io.h"
#include "base/num.h"
#include "base/time.h"
#include "source/helper/helper_caged.h"
#include "source/helper/helper_dark.h"
#include "source/helper/helper_end.h"
#include "source/helper/helper_kept.h"
#include "source/helper/helper_search.h"
#include "source/helper/helper_source.h"

#define FIND_SLICE 64			/* descriptors; then it is another process's turn */
#define WORK_KINDS (1u << GP_RING_KERNEL | 1u << GP_RING_COPY | 1u << GP_RING_SET | 1u << GP_RING_GRAPH)
#define LISTENING (1u << GP_HELPER_ARMING | 1u << GP_HELPER_AWAKE)
#define LOOK_EVERY_NS 100000000ull	/* at threads; calls are told as often */

struct helper_process {
	struct helpers_process who;
	struct helpers_process next;	/* the program that it may have executed; pid 0: none */
	enum helpers_state state;
	bool over;			/* it has ended, and all of it was told */
	uint32_t wants;			/* as the header says */
	bool look_again;		/* it may have executed another program */
	uint64_t look_at_ns;
	struct helper_search search;
	int number;			/* of the ring's descriptor in the process */
	int pidfd;			/* of the process that had it; -1: none */
	uint64_t claim_ns;		/* of the slot */
	uint64_t alive_ns, exit_ns;	/* seen last; 0: it goes on */
	struct helper_dark dark;
	uint64_t told_ns, told_before_ns;	/* helper_decoder_told, and what it was before */
	uint64_t exec_ns, last_ns, untold_ns;	/* who's, to be told; that was told of; at its end, not told */
	struct api_rows *rows;	/* NULL: calls are not told */
	struct helper_source *source;
	struct helper_decoder *decoder;	/* NULL: no ring was found yet, or it is only remembered */
	struct helper_threads *threads;	/* NULL: numbers are the host's and nobody asks for more */
	struct api_calls *calls;	/* NULL: not told */
	const struct event_sink *sink;	/* during a pump */
	int err;			/* the sink's */
	struct gp_ring_head *head;	/* when the source was closed; NULL: no ring was found */
	uint64_t lapse_ns;		/* the source's, then */
	struct helper_counts counts;	/* when the decoder was freed */
	uint64_t lost, lost_works;	/* in those that were closed */
	uint64_t lost_calls;
	struct helper_lost lost_told;
};

/* What a process that has ended needs no more: a job may start thousands. */
static void retire(struct helper_process *p)
{
	helper_search_stop(&p->search);
	if (p->decoder)
		helper_decoder_counts(p->decoder, &p->counts);
	if (p->calls)
		p->lost_calls = api_calls_lost(p->calls);
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
	free(p->head);
	free(p);
}

struct helper_process *helper_process_new(const struct helpers_process *who,
					  struct api_rows *rows, uint32_t wants)
{
	struct helper_process *p = calloc(1, sizeof(*p));

	if (!p)
		return NULL;
	p->who = *who;
	p->exec_ns = who->exec_ns;
	p->wants = wants;
	p->rows = rows;
	p->pidfd = -1;
	if ((!rows || !api_rows_are_all(rows)) && who->own_pid == who->pid)
		return p;
	p->threads = helper_threads_new(who->pid, who->own_pid);
	if (p->threads)
		return p;
	helper_process_free(p);
	return NULL;
}

/* What is needed from the first ring on. 0 or -ENOMEM. */
static int prepare(struct helper_process *p)
{
	if (p->decoder)
		return 0;
	p->head = calloc(1, sizeof(*p->head));
	p->decoder = p->head ? helper_decoder_new(p->who.pid, p->who.clock_offset_ns) : NULL;
	if (p->decoder && p->rows)
		p->calls = api_calls_new((uint32_t)p->who.pid, p->rows, p->threads);
	if (!p->decoder || (p->rows && !p->calls))
		return -ENOMEM;
	helper_decoder_threads(p->decoder, p->threads);
	return 0;
}

bool helper_process_is_gone(const struct helper_process *p)
{
	struct pollfd fd = { .fd = p->pidfd, .events = POLLIN };

	return p->over || p->exit_ns || (p->pidfd >= 0 && poll(&fd, 1, 0) > 0);
}

void helper_process_meet(struct helper_process *p, const struct helpers_process *who)
{
	if (p->source)
		p->next = *who;
	else if (!p->decoder)
		p->who = *who;
	helper_search_soon(&p->search);
}

void helper_process_hurry(struct helper_process *p)
{
	helper_search_hurry(&p->search);
}

const struct helpers_process *helper_process_who(const struct helper_process *p)
{
	return &p->who;
}

bool helper_process_has_ended(const struct helper_process *p)
{
	return p->over;
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
	return GP_RING_WANT_KINDS | p->wants |
	       (p->rows && api_rows_tell_any(p->rows) ? GP_RING_WANT_ALL_CALLS : 0);
}

/* It uses CUDA or NVTX: who it is can be read while it lives. */
static int tell_process(struct helper_process *p)
{
	return p->sink->push(p->sink->ctx, &(struct event){ .kind = EVENT_PROCESS, .end_ns = p->exec_ns,
		.pid = (uint32_t)p->who.pid, .tid = (uint32_t)p->who.pid });
}

/* What the decoder tells: calls are taken, and all of it is handed on. */
static int on_event(void *ctx, const struct event *ev)
{
	struct helper_process *p = ctx;
	int err = p->calls && ev->kind == EVENT_API ? api_calls_take(p->calls, ev, p->sink) : 0;

	p->last_ns = num_max(p->last_ns, ev->end_ns);
	return err ? err : p->sink->push(p->sink->ctx, ev);
}

/* When the helper has told of a time after the claim it tells all from then on. */
static int tell_dark(struct helper_process *p, uint64_t now_ns)
{
	uint64_t told_ns = p->source ? helper_decoder_told(p->decoder) : 0;

	return helper_dark_told(&p->dark, p->who.pid, told_ns, now_ns, p->sink);
}

static int on_record(void *ctx, uint16_t kind, const void *payload, size_t len)
{
	struct helper_process *p = ctx;

	if (kind == GP_RING_BEGIN)
		helper_dark_late(&p->dark, helper_decoder_told(p->decoder), p->claim_ns);
	else
		p->err = helper_decode(p->decoder, kind, payload, len, &(struct event_sink){ on_event, p });
	if (!p->err && kind == GP_RING_CLOCK)
		p->err = tell_dark(p, 0);
	return p->err;
}

/* Who does not listen to CUPTI has nothing to tell of what is past, nor tells the time. */
static uint64_t complete_ns(const struct helper_process *p, uint64_t read_ns)
{
	uint64_t ns = helper_decoder_complete_ns(p->decoder);

	return p->source && helper_source_is_in(p->source, ~LISTENING) && read_ns > API_CALLS_SLACK_NS ?
	       num_max(ns, read_ns - API_CALLS_SLACK_NS) : ns;
}

/* read_ns: of the reading before. 0 or an error. */
static int tell_calls(struct helper_process *p, uint64_t now_ns, uint64_t read_ns)
{
	int err;

	if ((!p->threads && !p->calls) || now_ns < p->look_at_ns || p->exit_ns)
		return 0;
	p->look_at_ns = now_ns + LOOK_EVERY_NS;
	err = p->threads ? helper_threads_look(p->threads, now_ns) : 0;
	return err || !p->calls ? err :
	       api_calls_tell(p->calls, complete_ns(p, read_ns), p->sink);
}

static int look(struct helper_process *p, uint64_t now_ns)
{
	uint64_t read_ns = p->alive_ns;

	if (!p->decoder)
		return 0;
	/* Those that were read before may have taken long. */
	helper_decoder_now(p->decoder, num_max(now_ns, time_now_ns()));
	if (!p->exit_ns && helper_process_is_gone(p))
		p->exit_ns = p->alive_ns ? p->alive_ns : now_ns;
	p->alive_ns = now_ns;
	return tell_calls(p, now_ns, read_ns);
}

static void close_source(struct helper_process *p)
{
	if (!p->source)
		return;
	helper_source_head(p->source, p->head);
	p->lost = num_add(p->lost, helper_source_lost(p->source, GP_RING_WANT_KINDS));
	p->lost_works = num_add(p->lost_works, helper_source_lost(p->source, WORK_KINDS));
	p->lost_told = (struct helper_lost){ 0 };
	p->lapse_ns = helper_source_lapse_ns(p->source);
	helper_source_close(p->source);
	p->source = NULL;
}

/* What waits in it for more, which will not come. */
static int tell_rest(struct helper_process *p)
{
	int err = p->decoder ? helper_decode_end(p->decoder, &(struct event_sink){ on_event, p }) : 0;

	return err || !p->calls ? err : api_calls_end(p->calls, p->exit_ns, p->sink);
}

/* ---- what was not told ---------------------------------------------------------------------- */

/* What had no room came after the reading before the latest, and after our slot was claimed. */
static int tell_lost(struct helper_process *p, uint64_t now_ns)
{
	const struct helper_lost lost = {
		helper_source_lost(p->source, WORK_KINDS | 1u << GP_RING_LOSS),
		helper_source_lost(p->source, 1u << GP_RING_MEMORY | 1u << GP_RING_LOSS) };
	uint64_t told = helper_decoder_told(p->decoder);
	int err = helper_dark_lost(&p->lost_told, &lost, p->who.pid, num_max(p->told_before_ns, p->claim_ns),
				   now_ns, p->sink);

	if (told != p->told_ns) {
		p->told_before_ns = p->told_ns;
		p->told_ns = told;
	}
	return err;
}

static struct helper_end how_it_ended(const struct helper_process *p, uint64_t now_ns)
{
	return (struct helper_end){ p->head, p->who.clock_offset_ns, p->exit_ns, now_ns, p->last_ns,
				    helper_decoder_told(p->decoder), p->lapse_ns,
				    p->state == HELPERS_BROKEN };
}

/* Its slot is no longer ours, or is of no use. What CUDA does there from now on nobody tells. */
static void go_dark(struct helper_process *p, uint64_t now_ns)
{
	uint64_t since_ns;

	close_source(p);
	since_ns = helper_end_untold_since(how_it_ended(p, now_ns));
	helper_dark_begin(&p->dark, since_ns && since_ns < now_ns ? since_ns : now_ns, true);
}

/* Nothing more is read of it. */
static int finish(struct helper_process *p, uint64_t end_ns)
{
	uint64_t since_ns = 0;
	int err;

	if (p->source) {
		close_source(p);
		since_ns = p->dark.since_ns ? num_max(p->dark.since_ns, p->claim_ns) :
					      helper_end_untold_since(how_it_ended(p, end_ns));
		helper_dark_begin(&p->dark, since_ns, false);
	}
	if (since_ns && since_ns < end_ns)
		p->untold_ns = end_ns - since_ns;
	err = tell_rest(p);
	if (!err)
		err = helper_dark_end(&p->dark, p->who.pid, end_ns, p->sink);
	if (err || !p->exit_ns || !p->decoder || (!p->last_ns && !helper_decoder_told(p->decoder)))
		return err;
	return helper_end_tell(how_it_ended(p, end_ns), p->who.pid, p->sink);
}

/* ---- finding -------------------------------------------------------------------------------- */

/* It was watched by somebody before us: what it told them we do not know. */
static void claim(struct helper_process *p, const struct helper_found *found, uint64_t now_ns)
{
	p->state = HELPERS_WATCHED;
	p->number = found->number;
	io_close(&p->pidfd);
	p->pidfd = found->pidfd;
	p->claim_ns = p->dark.over_ns = now_ns;
	helper_search_stop(&p->search);
	helper_source_head(p->source, p->head);
	if (p->head->state == GP_HELPER_VIRGIN)
		p->dark.since_ns = 0;	/* CUDA has not started */
	else
		helper_dark_begin(&p->dark, HELPER_DARK_EVER, false);
	if (p->calls || p->exec_ns)
		p->err = tell_process(p);
}

static void open_found(struct helper_process *p, struct helper_found *found, uint64_t now_ns)
{
	p->err = helper_source_is_of(found->fd, &p->who.owner) ? prepare(p) : -ESRCH;
	if (p->err) {
		io_close(&found->fd);
		io_close(&found->pidfd);
		p->err = p->err == -ESRCH ? 0 : p->err;	/* its own may come later */
		return;
	}
	p->source = helper_open_uncaged(found->fd, &p->who, kinds_for(p), now_ns);
	if (p->source) {
		claim(p, found, now_ns);
		return;
	}
	p->state = errno == EUSERS ? HELPERS_BUSY : errno == EPROTO ? HELPERS_OTHER :
		   errno == EPERM ? HELPERS_CAGED : HELPERS_NONE;
	io_close(&found->pidfd);
	if (errno != ESRCH && errno != EBADMSG)	/* an inherited one may come before its own */
		helper_search_stop(&p->search);
}

bool helper_process_is_sought(const struct helper_process *p, uint64_t now_ns)
{
	return !p->source && !p->over && !p->exit_ns && p->state != HELPERS_BROKEN &&
	       helper_search_is_due(&p->search, now_ns);
}

int helper_process_seek(struct helper_process *p, uint64_t now_ns, unsigned int *left,
			const struct event_sink *sink)
{
	unsigned int slice = (unsigned int)num_min(*left, FIND_SLICE), rest = slice;
	struct helper_found found;
	int got;

	p->sink = sink;
	p->err = 0;
	got = helper_search(&p->search, p->who.pid, now_ns, &rest, &found);
	*left -= slice - rest;
	if (!got)
		return 0;
	if (got == 1)
		open_found(p, &found, now_ns);
	else if (got == -ESRCH && !p->exit_ns)
		p->exit_ns = p->alive_ns ? p->alive_ns : now_ns;
	return p->err;
}

/* ---- all of it ------------------------------------------------------------------------------ */

static void read_ring(struct helper_process *p, uint64_t now_ns)
{
	if (helper_source_renew(p->source, now_ns + (uint64_t)p->who.clock_offset_ns) == -ESTALE) {
		go_dark(p, now_ns);
		p->state = HELPERS_NONE;
		helper_search_soon(&p->search);
		return;
	}
	helper_source_want(p->source, kinds_for(p));
	if (helper_source_read(p->source, on_record, p) == -EBADMSG)
		p->state = HELPERS_BROKEN;
	if (!p->err)
		p->err = tell_lost(p, now_ns);
	if (p->state == HELPERS_BROKEN)
		go_dark(p, now_ns);
}

/* It has ended, or is another program now. */
static void end(struct helper_process *p, uint64_t end_ns)
{
	if (!p->err)
		p->err = finish(p, end_ns);
	if (p->state != HELPERS_BROKEN)
		p->state = HELPERS_ENDED;
	p->over = true;
	retire(p);
}

/* What a program had told before it executed another one, of which nothing is known yet: that is read. */
int helper_process_follow(struct helper_process *p, uint64_t now_ns, const struct event_sink *sink,
			  struct helpers_process *now_who)
{
	const bool looks = p->look_again && p->source && !p->exit_ns;

	now_who->pid = 0;
	p->look_again = false;
	/* An exec closes its ring; of one that is gone the number may be another's. */
	if (!looks || helper_source_is_at(p->source, p->who.pid, p->number) || helper_process_is_gone(p))
		return 0;
	p->sink = sink;
	p->err = 0;
	read_ring(p, now_ns);
	end(p, now_ns);
	*now_who = p->next.pid ? p->next : p->who;
	now_who->exec_ns = num_min(p->last_ns, now_ns);
	return p->err;
}

int helper_process_pump(struct helper_process *p, uint64_t now_ns, const struct event_sink *sink)
{
	if (p->over)
		return 0;
	p->sink = sink;
	p->err = look(p, now_ns);
	if (!p->err && p->source)
		read_ring(p, now_ns);
	if (!p->err && p->decoder)
		p->err = tell_dark(p, now_ns);
	/* It may have lived until now, unseen; a record that is not complete never will be. */
	if (p->exit_ns)
		end(p, now_ns);
	return p->err;
}

bool helper_process_is_awaited(const struct helper_process *p, uint64_t ns)
{
	return p->source && !p->exit_ns && helper_decoder_told(p->decoder) < ns &&
	       helper_source_is_in(p->source, 1u << GP_HELPER_AWAKE);
}

void helper_process_wake(const struct helper_process *p)
{
	helper_source_wake(p->source);
}

int helper_process_end(struct helper_process *p, uint64_t now_ns, const struct event_sink *sink)
{
	if (p->over)
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
	*out = (struct helpers_status){
		.pid = p->who.pid, .state = p->state, .lost = p->lost, .lost_works = p->lost_works,
		.untold_ns = p->untold_ns, .away_ns = p->dark.away_ns, .counts = p->counts,
		.lost_calls = p->calls ? api_calls_lost(p->calls) : p->lost_calls };
	if (p->head)
		out->head = *p->head;
	if (p->decoder)
		helper_decoder_counts(p->decoder, &out->counts);
	if (p->source) {
		helper_source_head(p->source, &out->head);
		out->lost = num_add(out->lost, helper_source_lost(p->source, GP_RING_WANT_KINDS));
		out->lost_works = num_add(out->lost_works, helper_source_lost(p->source, WORK_KINDS));
	}
	helper_kept_note(out, p->alive_ns + (uint64_t)p->who.clock_offset_ns);
}
