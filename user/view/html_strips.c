// SPDX-License-Identifier: BSD-3-Clause
/* Which strips there are, their order, and their numbers. */
#include "view/html_strips.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "base/num.h"
#include "base/vec.h"
#include "event/device_number.h"
#include "view/view.h"

#define DEVICES_MAX 64
#define THREADS_MAX 64
#define THREADS_EACH 16 /* of a process, where there are many */
#define SHIFT_MAX 60

_Static_assert(DEVICE_BUCKETS + IDLE_CAUSES <= BINS_BUCKETS, "a device's book fits");
_Static_assert(BUCKET_SUM_END <= BINS_BUCKETS, "a thread's book fits");

struct html_strip { /* of one of these */
	const struct snapshot_device *device;
	const struct snapshot_thread *thread;
	uint32_t process, first_device; /* its process's, by the host's number: comes first */
	uint64_t calls_ns; /* of a thread */
	struct bins *bins; /* a copy, which adds up to the book */
};

struct strips {
	const struct summary *s;
	VEC(struct html_strip) all;
	size_t left_out;
	bool failed;
};

/* ---- which ----------------------------------------------------------------------------------- */

static uint64_t calls_ns(const struct snapshot_thread *t)
{
	uint64_t ns = 0;

	for (unsigned int i = CLASS_OTHER + 1; i < CLASS_END; i++)
		ns += t->book.ns[i];
	return ns;
}

static struct html_strip *add(struct strips *v, uint32_t process)
{
	const struct snapshot_process *p = snapshot_process(v->s->snap, process);
	struct html_strip *strip = VEC_PUSH(&v->all);

	v->failed |= !strip;
	if (strip)
		*strip = (struct html_strip){ .process = process,
					      .first_device = p && p->has_device ?
								      snapshot_device_number(
									      v->s->snap, process,
									      p->first_device) :
								      UINT32_MAX };
	return strip;
}

static void add_all(struct strips *v)
{
	const struct snapshot *snap = v->s->snap;
	struct html_strip *strip;

	for (size_t i = 0; i < snap->devices.n; i++) {
		const struct snapshot_device *d = &snap->devices.v[i];

		strip = d->bins && html_shows_device(d) ? add(v, d->process) : NULL;
		if (strip)
			strip->device = d;
	}
	for (size_t i = 0; i < snap->threads.n; i++) {
		const struct snapshot_thread *t = &snap->threads.v[i];

		if (t->has_book && !t->past && !t->bins)
			v->left_out++;
		if (!t->has_book || !t->bins || t->book.close_ns <= t->book.open_ns)
			continue;
		strip = add(v, snap->processes.v[t->process].process);
		if (!strip)
			continue;
		strip->thread = t;
		strip->calls_ns = calls_ns(t);
	}
}

/* Of a process its devices, then its threads, those longest in calls first. */
static int compare_strips(const void *a, const void *b)
{
	const struct html_strip *x = a, *y = b;
	int c = num_compare(x->first_device, y->first_device);

	if (!c)
		c = num_compare(x->process, y->process);
	if (!c)
		c = !x->device - !y->device;
	if (!c && x->device)
		return num_compare(x->device->number, y->device->number);
	if (!c)
		c = num_compare(y->calls_ns, x->calls_ns);
	return c ? c : num_compare(x->thread->number, y->thread->number);
}

static void keep_most(struct strips *v)
{
	size_t kept = 0, devices = 0, threads = 0, of_process = 0;

	for (size_t i = 0; i < v->all.n; i++) {
		const struct html_strip *strip = &v->all.v[i];

		if (i && strip->process != v->all.v[i - 1].process)
			of_process = 0;
		if (strip->device ? devices >= DEVICES_MAX :
				    threads >= THREADS_MAX || of_process >= THREADS_EACH) {
			v->left_out++;
			continue;
		}
		devices += strip->device != NULL;
		threads += strip->thread != NULL;
		of_process += strip->thread != NULL;
		v->all.v[kept++] = *strip;
	}
	v->all.n = kept;
}

/* ---- what adds up ---------------------------------------------------------------------------- */

/* Buckets that are separate in the book, not in the table. */
static void fold_rows(struct bins *b, uint64_t sum_ns[BINS_BUCKETS])
{
	for (unsigned int i = 0; i < DEVICE_BUCKETS_END; i++) {
		const unsigned int to = device_bucket_row(i);

		if (to == i)
			continue;
		sum_ns[to] += sum_ns[i];
		sum_ns[i] = 0;
		if (!b->row[i])
			continue;
		if (b->row[to])
			num_add_each(b->row[to], b->row[i], BINS);
		free(b->row[to] ? b->row[i] : NULL);
		b->row[to] = b->row[to] ? b->row[to] : b->row[i];
		b->row[i] = NULL;
	}
}

static void read_bins(struct strips *v, struct html_strip *strip)
{
	const struct snapshot_device *d = strip->device;
	uint64_t sum_ns[BINS_BUCKETS] = { 0 };
	struct book_sum book;

	strip->bins = bins_copy(d ? d->bins : strip->thread->bins);
	if (!strip->bins)
		return;
	if (d) {
		memcpy(sum_ns, d->sum.owned_ns, sizeof(d->sum.owned_ns));
		memcpy(sum_ns + DEVICE_BUCKETS, d->idle_ns, sizeof(d->idle_ns));
		fold_rows(strip->bins, sum_ns);
	} else {
		book = strip->thread->book;
		own_cost_take(&v->s->cost, &book);
		memcpy(sum_ns, book.ns, sizeof(book.ns));
	}
	bins_settle(strip->bins, sum_ns, BINS_BUCKETS);
}

/* ---- json ------------------------------------------------------------------------------------ */

static void add_numbers(struct strbuf *out, const uint64_t *row)
{
	size_t end = BINS, zeros = 0;
	const char *before = "";

	while (end && !row[end - 1])
		end--;
	for (size_t i = 0; i < end; i++) {
		if (!row[i]) {
			zeros++;
			continue;
		}
		if (zeros)
			strbuf_addf(out, "%s-%zu", before, zeros);
		strbuf_addf(out, "%s%" PRIu64, zeros ? "," : before, row[i]);
		before = ",";
		zeros = 0;
	}
}

static const char *thread_state(unsigned int bucket)
{
	if (bucket == CLASS_OTHER)
		return "cpu";
	if (bucket_is_off(bucket))
		return "off";
	if (bucket == BUCKET_GPUPROF)
		return "gpuprof";
	return bucket < CLASS_END ? "call" : "unseen";
}

static void add_rows(struct strbuf *out, const struct html_strip *strip)
{
	const bool is_device = strip->device;
	const char *separator = "";

	for (unsigned int i = 0; i < BINS_BUCKETS; i++) {
		const bool is_idle = is_device && i >= DEVICE_BUCKETS;

		if (!strip->bins->row[i] || !bins_sum(strip->bins, i))
			continue;
		strbuf_addf(out, "%s\n  [\"%s\", \"%s\", [", separator,
			    is_idle   ? "idle" :
			    is_device ? device_state_name(i) :
					thread_state(i),
			    is_idle   ? idle_name(i - DEVICE_BUCKETS) :
			    is_device ? device_bucket_name(i) :
					bucket_name(i));
		add_numbers(out, strip->bins->row[i]);
		strbuf_addstr(out, "]]");
		separator = ",";
	}
}

static void add_strip(struct strbuf *out, const struct snapshot *snap,
		      const struct html_strip *strip)
{
	const char *comm = strip->thread ?
				   snapshot_thread_comm(snap, strip->process, strip->thread->tid) :
				   view_comm(snap, strip->process);
	const uint32_t pid = strip->device ? strip->device->pid : strip->thread->pid;

	if (strip->device)
		strbuf_addf(out, " {\"gpu\": \"%s\", ", device_text(strip->device->number).s);
	else
		strbuf_addf(out, " {\"tid\": %u, ", strip->thread->tid);
	strbuf_addf(out, "\"pid\": %u, \"comm\": ", pid);
	render_json_string(out, comm ? comm : "");
	strbuf_addf(out, ", \"from_ns\": %" PRId64 ", \"rows\": [",
		    (int64_t)(strip->bins->start_ns - snap->since_ns));
	add_rows(out, strip);
	strbuf_addstr(out, "]}");
}

static void add_strips(struct strbuf *out, const struct strips *v, unsigned int shift)
{
	const struct snapshot *snap = v->s->snap;

	strbuf_addf(out,
		    "{\"wall_ns\": %" PRIu64 ", \"bin_ns\": %" PRIu64 ", \"left_out\": %zu, "
		    "\"strips\": [\n",
		    snap->now_ns - snap->since_ns, UINT64_C(1) << shift, v->left_out);
	for (size_t i = 0; i < v->all.n; i++) {
		bins_widen(v->all.v[i].bins, shift);
		add_strip(out, snap, &v->all.v[i]);
		strbuf_addstr(out, i + 1 < v->all.n ? ",\n" : "\n");
	}
	strbuf_addstr(out, "]}");
}

int html_strips_add(struct strbuf *out, const struct summary *s)
{
	struct strips v = { .s = s };
	const size_t from = out->len;
	unsigned int shift = 0;

	add_all(&v);
	if (v.all.n)
		qsort(v.all.v, v.all.n, sizeof(*v.all.v), compare_strips);
	keep_most(&v);
	for (size_t i = 0; i < v.all.n && !v.failed; i++) {
		read_bins(&v, &v.all.v[i]);
		v.failed |= !v.all.v[i].bins || v.all.v[i].bins->failed;
		shift = v.failed ? 0 : (unsigned int)num_max(shift, v.all.v[i].bins->shift);
	}
	if (!v.failed)
		add_strips(out, &v, shift);
	while (!v.failed && out->len - from > HTML_STRIPS_BYTES && shift < SHIFT_MAX) {
		out->s[out->len = from] = '\0';
		add_strips(out, &v, ++shift);
	}
	for (size_t i = 0; i < v.all.n; i++)
		bins_free(v.all.v[i].bins);
	VEC_FREE(&v.all);
	return v.failed || out->failed ? -ENOMEM : 0;
}
