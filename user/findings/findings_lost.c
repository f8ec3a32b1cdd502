// SPDX-License-Identifier: BSD-3-Clause
/* Sums over the rows of a book, and phrases. */
#include "findings/findings_lost.h"

#include "base/num.h"
#include "base/units.h"

#define OWN_PART 100	/* of what is lost: less of gpuprof's own is not worth a word */

/* Each thread's once: with the first of its rows. */
static uint64_t own_of(const struct finding_book *b, size_t first, unsigned int kinds)
{
	uint32_t tid = b->losses[first].loss.tid;
	uint64_t ns = 0;

	for (size_t i = 0; tid && i < b->n_losses; i++) {
		const struct loss *loss = &b->losses[i].loss;

		if (loss->tid != tid || !(kinds & KIND(loss->kind)))
			continue;
		if (i < first)
			return 0;
		ns = num_add(ns, loss->ns);
	}
	return num_min(ns, b->losses[first].own_ns);
}

struct lost lost_add_up(const struct finding_book *b, unsigned int kinds)
{
	struct lost sum = { .ns = 0 };

	for (size_t i = 0; i < b->n_losses; i++) {
		const struct finding_loss *row = &b->losses[i];
		uint64_t unseen_ns;

		if (!(kinds & KIND(row->loss.kind)))
			continue;
		unseen_ns = row->loss.kind == LOSS_HOST ? 0 : row->loss.cause_ns[IDLE_UNKNOWN];
		sum.ns += row->loss.ns - num_min(unseen_ns, row->loss.ns);
		sum.unseen_ns += unseen_ns;
		sum.own_ns += own_of(b, i, kinds);
		sum.gaps += row->loss.gaps;
		sum.late_ns += row->late_ns;
		sum.longest_ns = num_max(sum.longest_ns, row->loss.longest_ns);
		for (unsigned int k = 0; k < IDLE_CAUSES; k++)
			sum.cause_ns[k] += row->loss.cause_ns[k];
		sum.others += sum.most != NULL;
		if (!sum.most || row->loss.ns > sum.most->loss.ns)
			sum.most = row;
	}
	sum.longest_ns = num_min(sum.longest_ns, sum.ns);
	sum.own_ns = sum.own_ns < sum.ns / OWN_PART ? 0 : num_min(sum.own_ns, sum.ns);
	return sum;
}

static double share_of(const struct finding_book *b, uint64_t ns)
{
	return b->wall_ns ? (double)ns / (double)b->wall_ns : 0;
}

bool lost_set_share(struct finding *f, const struct finding_book *b, uint64_t ns, uint64_t bound_ns)
{
	f->has_share = true;
	f->share = share_of(b, ns);
	f->gain_bound = share_of(b, bound_ns);
	return f->share >= FINDING_SHARE_MIN;
}

void lost_add_own(struct strbuf *out, const struct lost *lost)
{
	if (!lost->own_ns)
		return;
	strbuf_addstr(out, "; up to ");
	format_ns(out, lost->own_ns);
	strbuf_addstr(out, " of that is gpuprof's own cost (estimated)");
}

void lost_take_own(struct finding *f, const struct finding_book *b, const struct lost *lost)
{
	double own = share_of(b, lost->own_ns);

	f->own_share = own < f->share ? own : f->share;
	f->gain_bound = own < f->gain_bound ? f->gain_bound - own : 0;
	lost_add_own(&f->evidence, lost);
}

bool lost_blame_own(struct finding *f, const struct finding_book *b)
{
	if (!finding_is_own(f))
		return false;
	strbuf_addstr(&f->cause, "; most of that may be gpuprof's own cost");
	next_add(&f->next, NEXT_UNPROBED, &b->whom, NULL);
	return true;
}

void lost_add_thread(struct strbuf *out, uint32_t tid, const char *comm)
{
	strbuf_addf(out, "thread %u", tid);
	if (comm && *comm)
		strbuf_addf(out, " (%s)", comm);
}

void lost_add_main(struct finding *f, const struct lost *lost)
{
	f->tid = lost->most->loss.tid;
	if (f->tid)
		lost_add_thread(&f->cause, f->tid, lost->most->comm);
	else
		strbuf_addstr(&f->cause, "one thread after the other");
}

void lost_add_times(struct strbuf *out, const struct lost *lost)
{
	format_count(out, lost->gaps);
	strbuf_addstr(out, lost->gaps == 1 ? " time, " : " times, ");
	format_ns(out, lost->ns / num_max(lost->gaps, 1));
	if (lost->gaps == 1)
		return;
	strbuf_addstr(out, " each, ");
	format_ns(out, lost->longest_ns);
	strbuf_addstr(out, " at most");
}

void lost_add_unseen(struct strbuf *out, const struct lost *lost)
{
	if (!lost->unseen_ns)
		return;
	strbuf_addstr(out, "; ");
	format_ns(out, lost->unseen_ns);
	strbuf_addstr(out, " more, between calls, are not counted: the thread may have had no CPU, which "
		      "probes tell");
}

void lost_add_calls(struct strbuf *out, const struct finding_loss *row)
{
	if (!row->calls)
		return;
	strbuf_addstr(out, "; ");
	format_count(out, row->calls);
	strbuf_addstr(out, row->calls == 1 ? " call x " : " calls x ");
	format_ns(out, row->calls_ns / row->calls);
}

const char *lost_function(const struct lost *lost, const char *else_name)
{
	return lost->most->function ? lost->most->function : else_name;
}

void lost_add_others(struct finding *f, const struct lost *lost)
{
	if (lost->others)
		strbuf_addf(&f->cause, "; %u more thread%s or function%s", lost->others,
			    lost->others > 1 ? "s" : "", lost->others > 1 ? "s" : "");
}
