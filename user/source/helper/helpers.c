// SPDX-License-Identifier: BSD-3-Clause
/*
 * A process without a helper is looked at ever less often: often while it is new, or was met again,
 * for its helper waits for us. One that has ended is read to the end, then only remembered.
 */
#include "source/helper/helpers.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/io.h"
#include "base/map.h"
#include "base/num.h"
#include "base/time.h"
#include "base/vec.h"
#include "host/proc.h"
#include "source/helper/api_calls.h"
#include "source/helper/life.h"
#include "source/helper/ring_reader.h"

#define FIND_SLICE 64			/* descriptors; then it is another process's turn */
#define WORK_KINDS \
	(1u << GP_RING_KERNEL | 1u << GP_RING_COPY | 1u << GP_RING_SET | 1u << GP_RING_GRAPH)
#define LISTENING (1u << GP_HELPER_ARMING | 1u << GP_HELPER_AWAKE)
#define LOOK_EVERY_NS 100000000ull	/* at threads; calls are pushed as often */
#define KEPT_BYTES_MAX (1ull << 30)	/* more than helpers have buffers for */
#define END_NS 500000000ull
#define END_LOOK_US 2000
#define SEEK_MAX 512		/* descriptors looked at in a pump, of all processes */

/* ---- one process ----------------------------------------------------------------------------- */

struct helper_process {
	struct helpers_process who;
	struct helpers_process next;	/* the program that it may have executed; pid 0: none */
	enum helpers_state state;
	bool over;			/* it has ended, and all of it was pushed */
	uint32_t wants;			/* see the header */
	bool look_again;		/* it may have executed another program */
	uint64_t look_at_ns;
	struct ring_search search;
	int number;			/* of the ring's descriptor in the process */
	int pidfd;			/* of the process that had it; -1: none */
	uint64_t claim_ns;		/* of the slot */
	uint64_t alive_ns, exit_ns;	/* seen last; 0: it goes on */
	struct helper_gap gap;
	/* helper_decoder_known_ns, and its previous value */
	uint64_t known_ns, known_before_ns;
	/* of its exec, to be pushed; of its last record; unread at its end */
	uint64_t exec_ns, last_ns, last_call_ns, unread_ns;
	struct api_rows *rows;	/* NULL: calls are not recorded */
	struct ring_reader *ring;
	struct helper_decoder *decoder;	/* NULL: no ring was found yet, or it is only remembered */
	/* NULL: numbers are the host's and calls are not recorded */
	struct helper_threads *threads;
	struct api_calls *calls;	/* NULL: not recorded */
	const struct event_sink *sink;	/* during a pump */
	int err;			/* the sink's */
	struct gp_ring_head *head;	/* when the ring was closed; NULL: no ring was found */
	uint64_t lapse_ns;		/* the ring's, then */
	struct helper_counts counts;	/* when the decoder was freed */
	uint64_t lost, lost_works;	/* in those that were closed */
	uint64_t lost_calls;
	struct helper_lost lost_counted;
};

/* Frees state that an exited process no longer needs: a job may start thousands. */
static void retire(struct helper_process *p)
{
	ring_search_stop(&p->search);
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

static void process_free(struct helper_process *p)
{
	if (!p)
		return;
	ring_reader_close(p->ring);
	retire(p);
	free(p->head);
	free(p);
}

static struct helper_process *process_new(const struct helpers_process *who,
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
	process_free(p);
	return NULL;
}

/* The state needed from the first ring on. 0 or -ENOMEM. */
static int prepare(struct helper_process *p)
{
	if (p->decoder)
		return 0;
	p->head = calloc(1, sizeof(*p->head));
	p->decoder = p->head ? helper_decoder_new(p->who.pid, p->who.clock_offset_ns, p->threads) :
			       NULL;
	if (p->decoder && p->rows)
		p->calls = api_calls_new((uint32_t)p->who.pid, p->rows, p->threads);
	if (!p->decoder || (p->rows && !p->calls))
		return -ENOMEM;
	return 0;
}

static bool process_is_gone(const struct helper_process *p)
{
	struct pollfd fd = { .fd = p->pidfd, .events = POLLIN };

	return p->over || p->exit_ns || (p->pidfd >= 0 && poll(&fd, 1, 0) > 0);
}

static void process_meet(struct helper_process *p, const struct helpers_process *who)
{
	if (p->ring)
		p->next = *who;
	else if (!p->decoder)
		p->who = *who;
	ring_search_soon(&p->search);
}

static int process_add_thread(struct helper_process *p, uint32_t tid, uint32_t own_tid)
{
	return p->threads && own_tid ? helper_threads_add(p->threads, &(struct helper_thread){
		.tid = tid, .own_tid = own_tid }) : 0;
}

/* ---- reading -------------------------------------------------------------------------------- */

static uint32_t kinds_for(const struct helper_process *p)
{
	return GP_RING_WANT_KINDS | p->wants |
	       (p->rows && api_rows_any(p->rows) ? GP_RING_WANT_ALL_CALLS : 0);
}

/* It uses CUDA or NVTX: its identity can be read while it lives. */
static int push_process(struct helper_process *p)
{
	return p->sink->push(p->sink->ctx, &(struct event){ .kind = EVENT_PROCESS,
							    .end_ns = p->exec_ns,
							    .pid = (uint32_t)p->who.pid,
							    .tid = (uint32_t)p->who.pid });
}

/* The decoder's events: calls are taken, and all is handed on. */
static int on_event(void *ctx, const struct event *ev)
{
	struct helper_process *p = ctx;
	int err = p->calls && ev->kind == EVENT_API ? api_calls_take(p->calls, ev, p->sink) : 0;

	p->last_ns = num_max(p->last_ns, ev->end_ns);
	if (ev->kind == EVENT_API)
		p->last_call_ns = num_max(p->last_call_ns, ev->end_ns);
	return err ? err : p->sink->push(p->sink->ctx, ev);
}

/* Once a record after the claim has come, all is known from then on. */
static int update_gap(struct helper_process *p, uint64_t now_ns)
{
	uint64_t known_ns = p->ring ? helper_decoder_known_ns(p->decoder) : 0;

	return helper_gap_update(&p->gap, p->who.pid, known_ns, now_ns, p->sink);
}

static int on_record(void *ctx, uint16_t kind, const void *payload, size_t len)
{
	struct helper_process *p = ctx;

	if (kind == GP_RING_BEGIN)
		helper_gap_late(&p->gap, helper_decoder_known_ns(p->decoder), p->claim_ns);
	else
		p->err = helper_decode(p->decoder, kind, payload, len,
				       &(struct event_sink){ on_event, p });
	if (!p->err && kind == GP_RING_CLOCK)
		p->err = update_gap(p, 0);
	return p->err;
}

/* A helper that does not record has nothing left to send, and sends no clock. */
static uint64_t complete_ns(const struct helper_process *p, uint64_t read_ns)
{
	uint64_t ns = helper_decoder_complete_ns(p->decoder);

	return p->ring && ring_reader_is_in(p->ring, ~LISTENING) && read_ns > API_CALLS_SLACK_NS ?
	       num_max(ns, read_ns - API_CALLS_SLACK_NS) : ns;
}

/* read_ns: of the reading before. 0 or an error. */
static int push_calls(struct helper_process *p, uint64_t now_ns, uint64_t read_ns)
{
	int err;

	if ((!p->threads && !p->calls) || now_ns < p->look_at_ns || p->exit_ns)
		return 0;
	p->look_at_ns = now_ns + LOOK_EVERY_NS;
	err = p->threads ? helper_threads_look(p->threads, now_ns) : 0;
	return err || !p->calls ? err :
	       api_calls_push(p->calls, complete_ns(p, read_ns), p->sink);
}

static int look(struct helper_process *p, uint64_t now_ns)
{
	uint64_t read_ns = p->alive_ns;

	if (!p->decoder)
		return 0;
	/* Those that were read before may have taken long. */
	helper_decoder_now(p->decoder, num_max(now_ns, time_now_ns()));
	if (!p->exit_ns && process_is_gone(p))
		p->exit_ns = p->alive_ns ? p->alive_ns : now_ns;
	p->alive_ns = now_ns;
	return push_calls(p, now_ns, read_ns);
}

static void close_ring(struct helper_process *p)
{
	if (!p->ring)
		return;
	ring_reader_head(p->ring, p->head);
	p->lost = num_add(p->lost, ring_reader_lost(p->ring, GP_RING_WANT_KINDS));
	p->lost_works = num_add(p->lost_works, ring_reader_lost(p->ring, WORK_KINDS));
	p->lost_counted = (struct helper_lost){ 0 };
	p->lapse_ns = ring_reader_lapse_ns(p->ring, p->head->state_ns);
	ring_reader_close(p->ring);
	p->ring = NULL;
}

/* Records that wait for more, which will not come. */
static int push_rest(struct helper_process *p)
{
	int err = p->decoder ? helper_decode_end(p->decoder, &(struct event_sink){ on_event, p }) :
			       0;

	return err || !p->calls ? err : api_calls_end(p->calls, p->exit_ns, p->sink);
}

/* ---- gaps ------------------------------------------------------------------------------------ */

/* Records lost for lack of space are later than the reading before the latest, and than our
 * slot's claim. */
static int push_lost(struct helper_process *p, uint64_t now_ns)
{
	const struct helper_lost lost = {
		ring_reader_lost(p->ring, WORK_KINDS | 1u << GP_RING_LOSS),
		ring_reader_lost(p->ring, 1u << GP_RING_MEMORY | 1u << GP_RING_LOSS) };
	uint64_t known_ns = helper_decoder_known_ns(p->decoder);
	int err = helper_gap_lost(&p->lost_counted, &lost, p->who.pid,
				  num_max(p->known_before_ns, p->claim_ns), now_ns, p->sink);

	if (known_ns != p->known_ns) {
		p->known_before_ns = p->known_ns;
		p->known_ns = known_ns;
	}
	return err;
}

static struct helper_exit how_it_ended(const struct helper_process *p, uint64_t now_ns)
{
	return (struct helper_exit){
		.head = p->head, .offset_ns = p->who.clock_offset_ns,
		.alive_ns = p->exit_ns, .found_ns = now_ns,
		.last_ns = p->last_ns, .last_call_ns = p->last_call_ns,
		.known_ns = helper_decoder_known_ns(p->decoder), .lapse_ns = p->lapse_ns,
		.broken = p->state == HELPERS_BROKEN,
	};
}

/* Its slot is no longer ours, or is of no use. Device activity from now on is unknown. */
static void begin_gap(struct helper_process *p, uint64_t now_ns)
{
	uint64_t since_ns;

	close_ring(p);
	since_ns = helper_exit_unknown_since(how_it_ended(p, now_ns));
	helper_gap_begin(&p->gap, since_ns && since_ns < now_ns ? since_ns : now_ns, true);
}

/* Nothing more is read of it. */
static int finish(struct helper_process *p, uint64_t end_ns)
{
	uint64_t since_ns = 0;
	int err;

	if (p->ring) {
		close_ring(p);
		since_ns = p->gap.since_ns ? num_max(p->gap.since_ns, p->claim_ns) :
					      helper_exit_unknown_since(how_it_ended(p, end_ns));
		helper_gap_begin(&p->gap, since_ns, false);
	}
	if (since_ns && since_ns < end_ns)
		p->unread_ns = end_ns - since_ns;
	err = push_rest(p);
	if (!err)
		err = helper_gap_end(&p->gap, p->who.pid, end_ns, p->sink);
	if (err || !p->exit_ns || !p->decoder ||
	    (!p->last_ns && !helper_decoder_known_ns(p->decoder)))
		return err;
	return helper_exit_push(how_it_ended(p, end_ns), p->who.pid, p->sink);
}

/* ---- finding -------------------------------------------------------------------------------- */

/* As ring_reader_open; NULL and EPERM: it must be left asleep. */
static struct ring_reader *open_ring(int fd, const struct helpers_process *who, uint32_t kinds,
					  uint64_t now_ns)
{
	struct gp_ring_head head;

	if (ring_reader_peek_at(fd, &head) || !helper_is_confined(&head, who->pid))
		return ring_reader_open(fd, who->own_pid, kinds,
					now_ns + (uint64_t)who->clock_offset_ns);
	close(fd);
	errno = EPERM;
	return NULL;
}

/* Another reader watched it before us: the records sent to it are unknown. */
static void claim(struct helper_process *p, const struct ring_found *found, uint64_t now_ns)
{
	p->state = HELPERS_WATCHED;
	p->number = found->number;
	io_close(&p->pidfd);
	p->pidfd = found->pidfd;
	p->claim_ns = p->gap.over_ns = now_ns;
	ring_search_stop(&p->search);
	ring_reader_head(p->ring, p->head);
	if (p->head->state == GP_HELPER_VIRGIN)
		p->gap.since_ns = 0;	/* CUDA has not started */
	else
		helper_gap_begin(&p->gap, HELPER_GAP_EVER, false);
	if (p->calls || p->exec_ns)
		p->err = push_process(p);
}

static void open_found(struct helper_process *p, struct ring_found *found, uint64_t now_ns)
{
	p->err = ring_reader_is_of(found->fd, &p->who.owner) ? prepare(p) : -ESRCH;
	if (p->err) {
		io_close(&found->fd);
		io_close(&found->pidfd);
		p->err = p->err == -ESRCH ? 0 : p->err;	/* its own may come later */
		return;
	}
	p->ring = open_ring(found->fd, &p->who, kinds_for(p), now_ns);
	if (p->ring) {
		claim(p, found, now_ns);
		return;
	}
	p->state = errno == EUSERS ? HELPERS_BUSY : errno == EPROTO ? HELPERS_OTHER :
		   errno == EPERM ? HELPERS_CONFINED : HELPERS_NONE;
	io_close(&found->pidfd);
	if (errno != ESRCH && errno != EBADMSG)	/* an inherited one may come before its own */
		ring_search_stop(&p->search);
}

static bool process_is_sought(const struct helper_process *p, uint64_t now_ns)
{
	return !p->ring && !p->over && !p->exit_ns && p->state != HELPERS_BROKEN &&
	       ring_search_is_due(&p->search, now_ns);
}

static int process_seek(struct helper_process *p, uint64_t now_ns, unsigned int *left,
			const struct event_sink *sink)
{
	unsigned int slice = (unsigned int)num_min(*left, FIND_SLICE), rest = slice;
	struct ring_found found;
	int got;

	p->sink = sink;
	p->err = 0;
	got = ring_search(&p->search, p->who.pid, now_ns, &rest, &found);
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
	if (ring_reader_renew(p->ring, now_ns + (uint64_t)p->who.clock_offset_ns) == -ESTALE) {
		begin_gap(p, now_ns);
		p->state = HELPERS_NONE;
		ring_search_soon(&p->search);
		return;
	}
	ring_reader_want(p->ring, kinds_for(p));
	if (ring_reader_read(p->ring, on_record, p) == -EBADMSG)
		p->state = HELPERS_BROKEN;
	if (!p->err)
		p->err = push_lost(p, now_ns);
	if (p->state == HELPERS_BROKEN)
		begin_gap(p, now_ns);
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

/* Records that a program sent before it executed another one, of which nothing is known yet, are
 * read. */
static int process_follow(struct helper_process *p, uint64_t now_ns, const struct event_sink *sink,
			  struct helpers_process *now_who)
{
	const bool looks = p->look_again && p->ring && !p->exit_ns;

	now_who->pid = 0;
	p->look_again = false;
	/* An exec closes its ring; of one that is gone the number may be another's. */
	if (!looks || ring_reader_is_at(p->ring, p->who.pid, p->number) || process_is_gone(p))
		return 0;
	p->sink = sink;
	p->err = 0;
	read_ring(p, now_ns);
	end(p, now_ns);
	*now_who = p->next.pid ? p->next : p->who;
	now_who->exec_ns = num_min(p->last_ns, now_ns);
	return p->err;
}

static int process_pump(struct helper_process *p, uint64_t now_ns, const struct event_sink *sink)
{
	if (p->over)
		return 0;
	p->sink = sink;
	p->err = look(p, now_ns);
	if (!p->err && p->ring)
		read_ring(p, now_ns);
	if (!p->err && p->decoder)
		p->err = update_gap(p, now_ns);
	/* It may have lived until now, unseen; a record that is not complete never will be. */
	if (p->exit_ns)
		end(p, now_ns);
	return p->err;
}

static bool process_is_awaited(const struct helper_process *p, uint64_t ns)
{
	return p->ring && !p->exit_ns && helper_decoder_known_ns(p->decoder) < ns &&
	       ring_reader_is_in(p->ring, 1u << GP_HELPER_AWAKE);
}

static int process_end(struct helper_process *p, uint64_t now_ns, const struct event_sink *sink)
{
	if (p->over)
		return 0;
	p->sink = sink;
	return finish(p, p->exit_ns ? p->exit_ns : now_ns);
}

/* ---- its status ------------------------------------------------------------------------------ */

/* kept_bytes and kept_ns of out, by its head, which is not trusted. alive_ns: when the process was
 * seen last, by its own clock. */
static void note_unreturned(struct helpers_status *out, uint64_t alive_ns)
{
	const struct gp_ring_head *head = &out->head;
	uint64_t end_ns = head->state == GP_HELPER_ENDED ? head->state_ns : alive_ns;

	if (!head->kept_bytes || head->kept_since_ns > end_ns)
		return;
	out->kept_bytes = num_min(head->kept_bytes, KEPT_BYTES_MAX);
	out->kept_ns = end_ns - head->kept_since_ns;
}

static uint64_t process_complete_ns(const struct helper_process *p)
{
	return p->calls && p->state == HELPERS_WATCHED ? api_calls_complete_ns(p->calls) :
							 UINT64_MAX;
}

static void process_status(const struct helper_process *p, struct helpers_status *out)
{
	*out = (struct helpers_status){
		.pid = p->who.pid, .state = p->state, .lost = p->lost, .lost_works = p->lost_works,
		.unread_ns = p->unread_ns, .away_ns = p->gap.away_ns, .counts = p->counts,
		.lost_calls = p->calls ? api_calls_lost(p->calls) : p->lost_calls };
	if (p->head)
		out->head = *p->head;
	if (p->decoder)
		helper_decoder_counts(p->decoder, &out->counts);
	if (p->ring) {
		ring_reader_head(p->ring, &out->head);
		out->lost = num_add(out->lost, ring_reader_lost(p->ring, GP_RING_WANT_KINDS));
		out->lost_works = num_add(out->lost_works, ring_reader_lost(p->ring, WORK_KINDS));
	}
	note_unreturned(out, p->alive_ns + (uint64_t)p->who.clock_offset_ns);
}

/* ---- all of them ----------------------------------------------------------------------------- */

struct helpers {
	uint32_t wants;			/* GP_RING_WANT_*, beside kinds and calls */
	struct api_rows *rows;		/* NULL: calls are not recorded */
	VEC(struct helper_process *) all;	/* that live, as far as is known */
	struct map by_pid;		/* of these, the newest -> struct helper_process */
	VEC(struct helpers_status) ended;	/* those that had a helper */
	struct map senders;		/* pids of whose helpers any record came */
	struct helpers_totals totals;	/* of those that ended */
	size_t seek_at;			/* whose turn it is */
};

struct helpers *helpers_new(enum helpers_calls calls)
{
	struct helpers *h = calloc(1, sizeof(*h));

	if (!h)
		return NULL;
	h->wants = GP_RING_WANT_NODES;
	if (calls != HELPERS_WORKS_ONLY)
		h->rows = api_rows_new();
	if (h->rows && calls == HELPERS_UNPROBED_CALLS)
		api_rows_probed(h->rows);
	if (h->rows || calls == HELPERS_WORKS_ONLY)
		return h;
	free(h);
	return NULL;
}

void helpers_leave_out(struct helpers *h, unsigned int row)
{
	api_rows_leave_out(h->rows, row);
}

void helpers_want(struct helpers *h, uint32_t wants)
{
	h->wants = wants;
}

void helpers_free(struct helpers *h)
{
	if (!h)
		return;
	for (size_t i = 0; i < h->all.n; i++)
		process_free(h->all.v[i]);
	VEC_FREE(&h->all);
	VEC_FREE(&h->ended);
	map_free(&h->by_pid);
	map_free(&h->senders);
	api_rows_free(h->rows);
	free(h);
}

/* One of which it is known that it has ended is no more: its number may be another's. */
static struct helper_process *known(const struct helpers *h, pid_t pid)
{
	const struct map_slot *slot = map_find(&h->by_pid, (uint64_t)pid);
	struct helper_process *p = slot ? (void *)(uintptr_t)slot->value : NULL;

	return p && !process_is_gone(p) ? p : NULL;
}

bool helpers_know(const struct helpers *h, pid_t pid)
{
	return known(h, pid) != NULL;
}

static int add(struct helpers *h, const struct helpers_process *who)
{
	struct helper_process *p = process_new(who, h->rows, h->wants);
	struct helper_process **at = p ? VEC_PUSH(&h->all) : NULL;
	struct map_slot *slot = at ? map_put(&h->by_pid, (uint64_t)who->pid, NULL) : NULL;

	if (!slot) {
		h->all.n -= at != NULL;
		process_free(p);
		return -ENOMEM;
	}
	*at = p;
	slot->value = (uintptr_t)p;
	return 0;
}

/* It is a zombie that its parent has not reaped. A leader that has exited may have threads that
 * go on. */
static bool is_zombie(pid_t pid)
{
	struct proc_stat stat;

	return proc_stat_of(pid, &stat) && strchr("ZX", stat.state) && stat.threads <= 1;
}

int helpers_add(struct helpers *h, const struct helpers_process *who)
{
	struct helper_process *p = known(h, who->pid);

	if (!p)
		return is_zombie(who->pid) ? 0 : add(h, who);
	process_meet(p, who);
	return 0;
}

int helpers_add_thread(struct helpers *h, pid_t pid, uint32_t tid, uint32_t own_tid)
{
	struct helper_process *p = known(h, pid);

	if (!p)
		return 0;
	ring_search_hurry(&p->search);
	return process_add_thread(p, tid, own_tid);
}

void helpers_look_again(struct helpers *h, pid_t pid)
{
	struct helper_process *p = known(h, pid);

	if (p)
		p->look_again = true;
}

/* ---- those that ended ----------------------------------------------------------------------- */

static void sum_up(struct helpers_totals *t, const struct helpers_status *st)
{
	t->works = num_add(t->works, st->counts.works);
	t->lost_works = num_add(t->lost_works, num_add(st->lost_works, st->counts.dropped));
	t->lost_calls = num_add(t->lost_calls, st->lost_calls);
	t->kept_bytes = num_add(t->kept_bytes, st->kept_bytes);
}

/* One that never had a ring is forgotten; others are, when there are many, but for their sums. */
static int remember(struct helpers *h, const struct helper_process *p)
{
	struct helpers_status st, *at;

	process_status(p, &st);
	if (!st.head.tag)
		return 0;
	sum_up(&h->totals, &st);
	if (st.counts.received && !map_put(&h->senders, (uint64_t)st.pid, NULL))
		return -ENOMEM;
	if (h->ended.n >= HELPERS_ENDED_MAX) {
		h->totals.forgotten++;
		return 0;
	}
	at = VEC_PUSH(&h->ended);
	if (!at)
		return -ENOMEM;
	*at = st;
	return 0;
}

static int drop_ended(struct helpers *h)
{
	size_t kept = 0;
	int err = 0;

	for (size_t i = 0; i < h->all.n; i++) {
		struct helper_process *p = h->all.v[i];
		uint64_t pid = (uint64_t)p->who.pid;
		const struct map_slot *slot = map_find(&h->by_pid, pid);

		if (err || !p->over) {
			h->all.v[kept++] = p;
			continue;
		}
		err = remember(h, p);
		if (slot && slot->value == (uintptr_t)p)
			map_del(&h->by_pid, pid);
		process_free(p);
	}
	h->all.n = kept;
	return err;
}

/* ---- reading -------------------------------------------------------------------------------- */

/* Rings are looked for in a bounded part of all descriptors there are, each process in its turn. */
static int seek(struct helpers *h, uint64_t now_ns, const struct event_sink *sink)
{
	unsigned int left = SEEK_MAX;
	size_t idle = 0;		/* in a row, that needed nothing */
	int err = 0;

	while (!err && left && idle < h->all.n) {
		struct helper_process *p = h->all.v[h->seek_at++ % h->all.n];

		if (!process_is_sought(p, now_ns)) {
			idle++;
			continue;
		}
		idle = 0;
		err = process_seek(p, now_ns, &left, sink);
	}
	return err;
}

int helpers_pump(struct helpers *h, uint64_t now_ns, const struct event_sink *sink)
{
	int err = seek(h, now_ns, sink);

	for (size_t i = 0; i < h->all.n && !err; i++) {
		struct helper_process *p = h->all.v[i];
		struct helpers_process now_who;

		err = process_follow(p, now_ns, sink, &now_who);
		if (!err && now_who.pid)
			err = add(h, &now_who);
		if (!err)
			err = process_pump(p, now_ns, sink);
	}
	return err ? err : drop_ended(h);
}

static bool any_awaited(const struct helpers *h, uint64_t ns)
{
	for (size_t i = 0; i < h->all.n; i++)
		if (process_is_awaited(h->all.v[i], ns))
			return true;
	return false;
}

int helpers_end(struct helpers *h, uint64_t now_ns, const struct event_sink *sink)
{
	int err = helpers_pump(h, now_ns, sink);

	for (size_t i = 0; i < h->all.n; i++)
		if (process_is_awaited(h->all.v[i], now_ns))
			ring_reader_wake(h->all.v[i]->ring);
	while (!err && any_awaited(h, now_ns) && time_now_ns() < now_ns + END_NS) {
		usleep(END_LOOK_US);
		err = helpers_pump(h, time_now_ns(), sink);
	}
	for (size_t i = 0; i < h->all.n && !err; i++)
		err = process_end(h->all.v[i], now_ns, sink);
	return err;
}

/* ---- their status ---------------------------------------------------------------------------- */

uint64_t helpers_complete_ns(const struct helpers *h, uint64_t now_ns)
{
	uint64_t known_ns = now_ns;

	for (size_t i = 0; i < h->all.n; i++)
		known_ns = num_min(known_ns, process_complete_ns(h->all.v[i]));
	return num_max(known_ns, now_ns > HELPERS_LATE_NS ? now_ns - HELPERS_LATE_NS : 0);
}

bool helpers_find(const struct helpers *h, pid_t pid, struct helpers_status *out)
{
	const struct map_slot *slot = map_find(&h->by_pid, (uint64_t)pid);
	size_t i = h->ended.n;

	if (slot)
		process_status((void *)(uintptr_t)slot->value, out);
	while (!slot && i > 0 && h->ended.v[i - 1].pid != pid)
		i--;
	if (!slot && i)
		*out = h->ended.v[i - 1];
	return slot || i;
}

bool helpers_has_sent(const struct helpers *h, pid_t pid)
{
	const struct helper_process *p = known(h, pid);
	struct helpers_status st = { 0 };

	if (p)
		process_status(p, &st);
	return st.counts.received || map_find(&h->senders, (uint64_t)pid);
}

void helpers_totals(const struct helpers *h, struct helpers_totals *out)
{
	struct helpers_status st;

	*out = h->totals;
	for (size_t i = 0; i < h->all.n; i++) {
		process_status(h->all.v[i], &st);
		sum_up(out, &st);
	}
}

size_t helpers_count(const struct helpers *h)
{
	return h->ended.n + h->all.n;
}

void helpers_status(const struct helpers *h, size_t i, struct helpers_status *out)
{
	if (i < h->ended.n)
		*out = h->ended.v[i];
	else
		process_status(h->all.v[i - h->ended.n], out);
}
