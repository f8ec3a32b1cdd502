// SPDX-License-Identifier: BSD-3-Clause
/* Copies of the model's tables, in its order. */
#include "model/snapshot.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/num.h"
#include "model/consumers.h"
#include "model/shared.h"

static const char *copy_text(struct snapshot *s, const char *text, int *err)
{
	const char *copy = text ? strpool_add(s->texts, text) : NULL;

	if (text && !copy)
		*err = -ENOMEM;
	return copy;
}

/* ---- processes and threads ------------------------------------------------------------------ */

static int take_memory(struct snapshot_process *to, const struct memory_book *b, uint64_t now_ns)
{
	for (size_t i = 0; b && i < memory_book_rows(b); i++) {
		struct memory_sums *row = VEC_PUSH(&to->memory);

		if (!row)
			return -ENOMEM;
		*row = *memory_book_row(b, i);
	}
	to->memory_line = b ? memory_book_line(b, now_ns) : NULL;
	return b && !to->memory_line && errno == ENOMEM ? -ENOMEM : 0;
}

static int take_ranges(struct snapshot *s, struct snapshot_process *to, const struct ranges *r)
{
	int err = 0;

	for (size_t i = 0; r && i < ranges_count(r) && !err; i++) {
		struct range_sum *row = VEC_PUSH(&to->ranges);

		if (!row)
			return -ENOMEM;
		ranges_read(r, i, s->now_ns, row);
		row->domain = copy_text(s, row->domain, &err);
		row->name = copy_text(s, row->name, &err);
	}
	return err;
}

/* Has what ended then ended by the snapshot's time? Only of a part of a capture more is known. */
static bool is_over(const struct snapshot *s, uint64_t end_ns)
{
	return end_ns <= s->now_ns || !snapshot_fact(s, "part");
}

static int take_process(struct snapshot *s, const struct model *m, const struct process *from)
{
	const struct model_process *p = &from->info;
	const bool has_ended = process_has_ended(from) && is_over(s, p->exit_ns);
	struct snapshot_process *to = VEC_PUSH(&s->processes);
	int err = to ? 0 : -ENOMEM;

	if (err)
		return err;
	*to = (struct snapshot_process){
		.process = p->process, .pid = p->pid, .cmdline = copy_text(s, p->cmdline, &err),
		.start_ns = p->start_ns, .exec_ns = p->exec_ns,
		.exit_ns = is_over(s, p->exit_ns) ? p->exit_ns : 0,
		.past = p->past, .children = p->children,
		.has_ended = has_ended,
		.has_memory = from->memory,
		.memory_incomplete = memory_is_incomplete(m, from),
		.unarmed_ns = from->past_unarmed_ns +
			      intervals_overlap(&from->unarmed, s->since_ns, s->now_ns),
	};
	memcpy(to->comm, p->comm, sizeof(to->comm));
	if (!err && !VEC_COPY(&to->child, &p->child))
		err = -ENOMEM;
	if (!err)
		err = pairs_copy(&to->identity, &from->identity);
	if (!err)
		err = call_stats_copy(&to->calls, &p->calls);
	if (!err)
		err = take_memory(to, from->memory, s->now_ns);
	return err ? err : take_ranges(s, to, from->ranges);
}

static void read_sampled(struct snapshot_thread *to, const struct timeline *spans)
{
	uint64_t ns[BUCKET_END] = { 0 };

	timeline_sum(spans, to->book.open_ns, to->book.close_ns, NULL, ns);
	for (unsigned int i = BUCKET_OFF_0; i < BUCKET_END; i++)
		to->sampled_ns += ns[i];
	to->sampled_stopped_ns = ns[BUCKET_OFF_0 + OFF_STOPPED];
}

static int take_thread(struct snapshot *s, const struct model *m, const struct thread *t)
{
	struct snapshot_thread *to = VEC_PUSH(&s->threads);
	const struct book *b = &t->book;
	struct thread_call open;

	if (!to)
		return -ENOMEM;
	*to = (struct snapshot_thread){
		.number = t->number,
		.ended = (t->ended && is_over(s, t->book.exit)) ||
			 (t->process->gone_ns && is_over(s, t->process->gone_ns)),
		.process = t->process->index, .pid = t->process->info.pid, .tid = t->tid,
		.process_comm = s->processes.v[t->process->index].comm,
		.process_start_ns = t->process->info.start_ns,
		.birth_ns = t->birth_ns,
		.has_book = t->has_book && t->drives,
	};
	memcpy(to->comm, t->comm, sizeof(to->comm));
	if (t->past) {		/* it stands for others, whose sums have no open call */
		to->past = t->past->threads;
		to->has_book = t->past->threads != 0;
		to->book = t->past->sum;
		snprintf(to->comm, sizeof(to->comm), "%s",
			 t->process == m->past ? t->process->info.comm : "[other]");
		return 0;
	}
	if (!to->has_book)
		return 0;
	open = thread_open_call(t);
	to->open = open.is_open;
	to->before = open.is_open && open.before;
	to->func = open.func;
	to->open_ns = open.start_ns;
	to->stopped = t->stopped_ns && t->stopped_ns >= t->book.cursor;
	to->bins = b->bins ? bins_copy(b->bins) : NULL;
	book_read_bins(b, t->process->gone_ns && !t->ended ? t->process->gone_ns : s->now_ns,
		       &to->book, to->bins);
	read_sampled(to, &t->sampled.spans);
	return b->bins && (!to->bins || to->bins->failed) ? -ENOMEM : 0;
}

/* ---- devices --------------------------------------------------------------------------------- */

/* While intervals go on devices are read up to where all is known. */
static uint64_t read_until(const struct snapshot *s, const struct model *m)
{
	return m->intervals && !m->session.stop_ns ? DEVICE_BOOK_SETTLED : s->now_ns;
}

static int take_host(struct snapshot *s, const struct model *m, const struct host_device *h)
{
	struct share_book *book = host_device_read(h, read_until(s, m), &m->divide);
	struct snapshot_host *to = book ? VEC_PUSH(&s->hosts) : NULL;
	int err = 0;

	if (!to) {
		share_book_free(book);
		return -ENOMEM;
	}
	memcpy(to->uuid, h->uuid, sizeof(to->uuid));
	share_book_sum(book, &to->sum);
	if (h->members.n)
		snprintf(to->name, sizeof(to->name), "%s", h->members.v[0]->name);
	for (size_t i = 0; !err && i < h->members.n; i++) {
		const struct host_member *of = h->members.v[i];
		struct snapshot_member *member = VEC_PUSH(&to->members);

		err = member ? 0 : -ENOMEM;
		if (member)
			*member = (struct snapshot_member){ of->process, of->pid, of->device,
							    of->book, share_book_member(book, i) };
	}
	share_book_free(book);
	return err;
}

static void forget_other(uint64_t ns[IDLE_CAUSES])
{
	ns[IDLE_UNKNOWN] += ns[IDLE_OTHER];
	ns[IDLE_OTHER] = 0;
}

static int take_book(struct snapshot *s, struct snapshot_device *to, const struct model *m,
		     const struct device_state *from)
{
	struct devices_divide by = m->divide;
	int err;

	/* A reading of the host's device takes as long as it has processes: once for all. */
	if (to->host)
		by.waited_ns = &to->host->members.v[from->member.number].share.waited_ns;
	err = devices_read(from, read_until(s, m), &by, &to->sum,
			   &(struct device_idle){ to->idle_ns, &to->stalls, &to->strip,
						  &to->bins });
	if (!err && to->bins && to->bins->failed)
		err = -ENOMEM;
	/* Time in no call that CUPTI records may be anything: a call of NCCL, another thread's
	 * turn. */
	if (m->without_probes) {
		forget_other(to->idle_ns);
		for (size_t i = 0; i < stalls_count(&to->stalls); i++)
			forget_other(((struct stall *)to->stalls.rows.v[i])->cause_ns);
	}
	if (!m->session.stop_ns) {
		to->idle_ns[IDLE_OPEN] = to->idle_ns[IDLE_NO_WORK];
		to->idle_ns[IDLE_NO_WORK] = 0;
	}
	return err;
}

static int take_device(struct snapshot *s, const struct model *m, const struct device_state *from)
{
	const struct sampled_device *sampled =
		from->has_facts ? samples_find(&m->samples, from->facts.uuid) : NULL;
	const struct host_devices *hosts = devices_hosts(m->devices);
	struct snapshot_device *to = VEC_PUSH(&s->devices);
	int err;

	if (!to)
		return -ENOMEM;
	to->process = from->process;
	to->pid = from->pid;
	to->device = from->device;
	/* The host's, where the devices themselves reported it; else the process's own. */
	to->number = sampled ? sampled->number : from->ordinal;
	to->has_book = from->member.book;
	to->waiting = to->has_book ? device_book_progress(from->member.book).waiting : 0;
	to->has_facts = from->has_facts;
	to->facts = from->facts;
	for (size_t i = 0; i < hosts->all.n; i++)
		if (hosts->all.v[i] == from->member.host)
			to->host = &s->hosts.v[i];
	to->sets = from->sets;
	memcpy(to->copies, from->copies, sizeof(to->copies));
	err = take_book(s, to, m, from);
	if (!err)
		err = rows_copy(&to->kernels.rows, &from->kernels.rows);
	return err ? err : lanes_copy(&to->lanes, &from->lanes);
}

/* ---- places ---------------------------------------------------------------------------------- */

/* Of processes and devices, where these are from now on. 0 or -ENOMEM: never when there are not
 * more than before. */
static int index_places(struct snapshot *s)
{
	struct map_slot *slot;

	map_clear(&s->by_process);
	map_clear(&s->by_device);
	for (size_t i = 0; i < s->processes.n; i++) {
		slot = map_put(&s->by_process, s->processes.v[i].process, NULL);
		if (!slot)
			return -ENOMEM;
		slot->value = i + 1;
		s->processes.v[i].has_device = s->processes.v[i].in_call = false;
	}
	for (size_t i = 0; i < s->threads.n; i++) {
		const struct snapshot_thread *t = &s->threads.v[i];

		s->processes.v[t->process].in_call |= t->has_book && t->open;
	}
	for (size_t i = 0; i < s->devices.n; i++) {
		const struct snapshot_device *d = &s->devices.v[i];
		struct map_slot *of = map_find(&s->by_process, d->process);
		struct snapshot_process *p = of ? &s->processes.v[of->value - 1] : NULL;

		slot = map_put(&s->by_device, (uint64_t)d->process << 32 | d->device, NULL);
		if (!slot)
			return -ENOMEM;
		slot->value = i + 1;
		if (p && (!p->has_device || d->device < p->first_device))
			p->first_device = d->device;
		if (p)
			p->has_device = true;
	}
	return 0;
}

/* ---- who leaves ------------------------------------------------------------------------------ */

static void free_process(struct snapshot_process *p)
{
	VEC_FREE(&p->child);
	VEC_FREE(&p->memory);
	free(p->memory_line);
	VEC_FREE(&p->ranges);
	rows_free(&p->calls.rows);
	pairs_free(&p->identity);
}

static void free_device(struct snapshot_device *d)
{
	stalls_free(&d->stalls);
	strip_free(&d->strip);
	bins_free(d->bins);
	rows_free(&d->kernels.rows);
	lanes_free(&d->lanes);
}

static bool has_calls(const struct snapshot_process *p)
{
	for (size_t i = 0; i < call_stats_count(&p->calls); i++) {
		const struct call_stat *c = call_stats_at(&p->calls, i);

		if (c->count || c->before || c->open)
			return true;
	}
	return false;
}

/* It had ended before, or (a part of a capture) began later. */
static bool is_outside(const struct snapshot *s, const struct snapshot_process *p)
{
	return (p->has_ended && p->exit_ns <= s->since_ns) || p->start_ns >= s->now_ns;
}

static bool process_leaves(const struct snapshot *s, size_t at)
{
	const struct snapshot_process *p = &s->processes.v[at];

	if (!is_outside(s, p) || has_calls(p))
		return false;
	for (size_t i = 0; i < s->threads.n; i++)
		if (s->threads.v[i].process == at)
			return false;
	for (size_t i = 0; i < s->devices.n; i++)
		if (s->devices.v[i].process == p->process &&
		    s->devices.v[i].sum.close_ns > s->devices.v[i].sum.open_ns)
			return false;
	return true;
}

static void drop_devices(struct snapshot *s, uint32_t process)
{
	size_t kept = 0;

	for (size_t i = 0; i < s->devices.n; i++)
		if (s->devices.v[i].process == process)
			free_device(&s->devices.v[i]);
		else
			s->devices.v[kept++] = s->devices.v[i];
	s->devices.n = kept;
	for (size_t i = 0; i < s->hosts.n; i++) {
		struct snapshot_host *h = &s->hosts.v[i];

		kept = 0;
		for (size_t k = 0; k < h->members.n; k++)
			if (h->members.v[k].process != process)
				h->members.v[kept++] = h->members.v[k];
		h->members.n = kept;
	}
}

/* Threads name their process by its place. */
static void move_threads(struct snapshot *s, size_t from, size_t to)
{
	for (size_t i = 0; i < s->threads.n; i++) {
		struct snapshot_thread *t = &s->threads.v[i];

		if (t->process != from)
			continue;
		t->process = to;
		t->process_comm = s->processes.v[to].comm;
	}
}

static void drop_processes(struct snapshot *s)
{
	size_t kept = 0;

	for (size_t i = 0; i < s->processes.n; i++) {
		if (process_leaves(s, i)) {
			drop_devices(s, s->processes.v[i].process);
			free_process(&s->processes.v[i]);
			continue;
		}
		s->processes.v[kept] = s->processes.v[i];
		if (kept != i)
			move_threads(s, i, kept);
		kept++;
	}
	s->processes.n = kept;
}

static void drop_threads(struct snapshot *s)
{
	size_t kept = 0;

	for (size_t i = 0; i < s->threads.n; i++) {
		const struct snapshot_thread *t = &s->threads.v[i];
		/* Of those that stand for ended ones, none has ended since. */
		bool is_over = t->ended && t->book.close_ns <= s->since_ns &&
			       t->book.close_ns == t->book.open_ns;
		const struct snapshot_process *p = &s->processes.v[t->process];

		if (!is_over && num_max(t->birth_ns, p->start_ns) < s->now_ns)
			s->threads.v[kept++] = s->threads.v[i];
		else
			bins_free(t->bins);
	}
	s->threads.n = kept;
}

/* Those that had ended before, and those (of a part of a capture) that began later. */
static void drop_outside(struct snapshot *s)
{
	drop_threads(s);
	drop_processes(s);
	index_places(s);
}

/* ---- the whole ------------------------------------------------------------------------------- */

static int take_readings(struct snapshot *s, const struct model *m)
{
	int err = 0;

	for (size_t i = 0; i < m->readings.n && !err; i++) {
		struct model_reading *to = VEC_PUSH(&s->readings);

		if (!to)
			return -ENOMEM;
		*to = m->readings.v[i].info;
		to->source = copy_text(s, to->source, &err);
		to->kind = copy_text(s, to->kind, &err);
	}
	return err;
}

static int take_all(struct snapshot *s, const struct model *m)
{
	const struct host_devices *hosts = devices_hosts(m->devices);
	int err = take_readings(s, m);

	if (!err)
		err = pairs_copy(&s->facts, &m->facts);
	if (!err)
		err = notes_copy(&s->notes, &m->notes);
	for (size_t i = 0; i < m->processes.n && !err; i++)
		err = take_process(s, m, m->processes.v[i]);
	for (size_t i = 0; i < m->threads.n && !err; i++)
		err = take_thread(s, m, m->threads.v[i]);
	for (size_t i = 0; i < hosts->all.n && !err; i++)
		err = take_host(s, m, hosts->all.v[i]);
	for (size_t i = 0; i < devices_count(m->devices) && !err; i++)
		err = take_device(s, m, devices_get(m->devices, i));
	if (!err)
		err = index_places(s);
	if (!err)
		err = samples_copy(&s->samples, &m->samples);
	if (!err)
		err = stacks_copy(&s->stacks, &m->stacks);
	if (!err)
		err = consumers_copy(&s->states, &m->consumers);
	if (err)
		return err;
	s->offcpu = consumer_state(&s->states, &offcpu_consumer);
	s->ops = consumer_state(&s->states, &ops_consumer);
	s->kernel_configs = consumer_state(&s->states, &graphs_consumer);
	return 0;
}

struct snapshot *snapshot_take(const struct model *m, uint64_t now_ns)
{
	struct snapshot *s = calloc(1, sizeof(*s));
	int err;

	if (!s)
		return NULL;
	s->texts = strpool_new();
	s->funcs = m->funcs;
	s->session = m->session;
	if (!now_ns)
		now_ns = m->session.stop_ns ? m->session.stop_ns : m->now_ns;
	s->since_ns = s->session.start_ns;
	s->now_ns = num_max(now_ns, s->since_ns);
	model_counts(m, &s->counts);
	err = s->texts ? take_all(s, m) : -ENOMEM;
	if (!err && snapshot_fact(s, "part"))
		drop_outside(s);
	if (!err)
		return s;
	snapshot_free(s);
	errno = -err;
	return NULL;
}

void snapshot_free(struct snapshot *s)
{
	if (!s)
		return;
	for (size_t i = 0; i < s->processes.n; i++)
		free_process(&s->processes.v[i]);
	for (size_t i = 0; i < s->devices.n; i++)
		free_device(&s->devices.v[i]);
	for (size_t i = 0; i < s->hosts.n; i++)
		VEC_FREE(&s->hosts.v[i].members);
	for (size_t i = 0; i < s->threads.n; i++)
		bins_free(s->threads.v[i].bins);
	VEC_FREE(&s->processes);
	map_free(&s->by_process);
	map_free(&s->by_device);
	VEC_FREE(&s->threads);
	VEC_FREE(&s->devices);
	VEC_FREE(&s->hosts);
	VEC_FREE(&s->readings);
	pairs_free(&s->facts);
	consumers_free(&s->states);
	notes_free(&s->notes);
	samples_free(&s->samples);
	stacks_free(&s->stacks);
	strpool_free(s->texts);
	free(s);
}

/* ---- differences: processes ------------------------------------------------------------------ */

static struct snapshot_process *find_process(const struct snapshot *s, uint32_t process)
{
	return (struct snapshot_process *)(uintptr_t)snapshot_process(s, process);
}

/* Of a device that was folded: the one that stands for it now. */
static struct snapshot_device *find_successor(const struct snapshot *later,
					      const struct snapshot_device *of)
{
	for (size_t i = 0; i < later->devices.n; i++) {
		struct snapshot_device *d = &later->devices.v[i];

		if (d->process != MODEL_PAST_PID || d->has_facts != of->has_facts)
			continue;
		if (of->has_facts ? !strcmp(d->facts.uuid, of->facts.uuid) :
				    d->number == of->device)
			return d;
	}
	return NULL;
}

static void subtract_process(struct snapshot_process *p, const struct snapshot_process *earlier)
{
	call_stats_subtract(&p->calls, &earlier->calls);
	range_sums_subtract(p->ranges.v, p->ranges.n, earlier->ranges.v, earlier->ranges.n);
	p->unarmed_ns = num_sub(p->unarmed_ns, earlier->unarmed_ns);
	if (p->past)
		p->past = num_max(num_sub(p->past, earlier->past), 1);
}

/* The process was folded: its sums, and its memory by the devices there, are part of the process
 * that stands for ended ones. */
static void subtract_folded(struct snapshot *later, const struct snapshot *earlier,
			    const struct snapshot_process *of)
{
	struct snapshot_process *past = find_process(later, MODEL_PAST_PID);

	if (!past)
		return;
	subtract_process(past, of);
	for (size_t i = 0; i < of->memory.n; i++) {
		struct memory_sums row = of->memory.v[i];
		const struct snapshot_device *d = snapshot_device(earlier, of->process,
								  row.key.device);
		const struct snapshot_device *successor = d ? find_successor(later, d) : NULL;

		row.key.device = successor ? successor->device : MEMORY_NO_DEVICE;
		memory_sums_subtract(past->memory.v, past->memory.n, &row, 1);
	}
}

static void subtract_processes(struct snapshot *later, const struct snapshot *earlier)
{
	for (size_t i = 0; i < later->processes.n; i++) {
		free(later->processes.v[i].memory_line);
		later->processes.v[i].memory_line = NULL;
	}
	for (size_t i = 0; i < earlier->processes.n; i++) {
		const struct snapshot_process *of = &earlier->processes.v[i];
		struct snapshot_process *p = find_process(later, of->process);

		if (!p) {
			subtract_folded(later, earlier, of);
			continue;
		}
		subtract_process(p, of);
		memory_sums_subtract(p->memory.v, p->memory.n, of->memory.v, of->memory.n);
	}
	/* No range was open for longer than the time since then. */
	for (size_t i = 0; i < later->processes.n; i++)
		for (size_t k = 0; k < later->processes.v[i].ranges.n; k++) {
			struct range_sum *r = &later->processes.v[i].ranges.v[k];

			r->wall_ns = num_min(r->wall_ns, later->now_ns - later->since_ns);
		}
}

/* ---- differences: threads -------------------------------------------------------------------- */

static struct snapshot_thread *find_past(const struct snapshot *s, uint32_t process)
{
	for (size_t i = 0; i < s->threads.n; i++)
		if (s->threads.v[i].past &&
		    s->processes.v[s->threads.v[i].process].process == process)
			return &s->threads.v[i];
	return NULL;
}

/* earlier_past: so many threads the earlier one stood for; 0: it was one. */
static void subtract_book(struct snapshot *later, struct snapshot_thread *t,
			  const struct book_sum *earlier, uint64_t earlier_past)
{
	later->counts.late_ns += book_sum_subtract(&t->book, earlier);
	if (earlier_past)
		t->past = num_max(num_sub(t->past, earlier_past), 1);
}

static void subtract_thread(struct snapshot *later, struct snapshot_thread *t,
			    const struct snapshot_thread *earlier)
{
	/* Time in a call that began before it could be seen is also of this interval if it was in
	 * it when that began. */
	uint32_t still_unseen = earlier->before ? 1u << later->funcs->v[earlier->func].class : 0;

	if (!t->has_book || !earlier->has_book)
		return;
	t->book.unseen &= ~earlier->book.unseen | still_unseen;
	t->sampled_ns = num_sub(t->sampled_ns, earlier->sampled_ns);
	t->sampled_stopped_ns = num_sub(t->sampled_stopped_ns, earlier->sampled_stopped_ns);
	subtract_book(later, t, &earlier->book, earlier->past);
}

/* It has made its first call since then, and is older: it was outside of calls, or not probed. */
static void subtract_silence(struct snapshot *later, const struct snapshot *earlier,
			     struct snapshot_thread *t)
{
	const struct snapshot_process *p =
		find_process(earlier, later->processes.v[t->process].process);
	struct book_sum silent = { .open_ns = t->book.open_ns, .close_ns = earlier->now_ns };
	uint64_t ns = num_sub(silent.close_ns, silent.open_ns);

	if (!t->has_book || t->past || !ns)
		return;
	silent.ns[BUCKET_UNARMED] = p ? num_min(p->unarmed_ns, ns) : 0;
	silent.ns[CLASS_OTHER] = ns - silent.ns[BUCKET_UNARMED];
	subtract_book(later, t, &silent, 0);
}

/* Threads from *at on with smaller numbers were folded into the ended threads of their process, or
 * into those of all processes. */
static void subtract_folded_threads(struct snapshot *later, const struct snapshot *earlier,
				    size_t *at, uint64_t number)
{
	for (; *at < earlier->threads.n && earlier->threads.v[*at].number < number; ++*at) {
		const struct snapshot_thread *of = &earlier->threads.v[*at];
		struct snapshot_thread *past =
			find_past(later, earlier->processes.v[of->process].process);

		past = past ? past : find_past(later, MODEL_PAST_PID);
		if (past && of->has_book)
			subtract_book(later, past, &of->book, of->past);
	}
}

/* Both lists are in the order of numbers. */
static void subtract_threads(struct snapshot *later, const struct snapshot *earlier)
{
	size_t at = 0;

	for (size_t i = 0; i < later->threads.n; i++) {
		struct snapshot_thread *t = &later->threads.v[i];

		bins_free(t->bins);
		t->bins = NULL;
		subtract_folded_threads(later, earlier, &at, t->number);
		if (at < earlier->threads.n && earlier->threads.v[at].number == t->number)
			subtract_thread(later, t, &earlier->threads.v[at++]);
		else
			subtract_silence(later, earlier, t);
	}
	subtract_folded_threads(later, earlier, &at, UINT64_MAX);
}

/* ---- differences: devices -------------------------------------------------------------------- */

static void subtract_devices(struct snapshot *later, const struct snapshot *earlier)
{
	for (size_t i = 0; i < later->devices.n; i++) {
		strip_free(&later->devices.v[i].strip);
		bins_free(later->devices.v[i].bins);
		later->devices.v[i].bins = NULL;
	}
	for (size_t i = 0; i < earlier->devices.n; i++) {
		const struct snapshot_device *of = &earlier->devices.v[i];
		struct snapshot_device *d = (struct snapshot_device *)(uintptr_t)
			snapshot_device(later, of->process, of->device);

		d = d ? d : find_successor(later, of);
		if (!d)
			continue;
		later->counts.late_ns += devices_subtract(&d->sum, d->idle_ns, &of->sum,
							  of->idle_ns);
		stalls_subtract(&d->stalls, &of->stalls);
		kernels_subtract(&d->kernels, &of->kernels);
		lanes_subtract(&d->lanes, &of->lanes);
		num_sub_each((uint64_t *)d->copies, (const uint64_t *)of->copies,
			     sizeof(d->copies) / sizeof(uint64_t));
		num_sub_each((uint64_t *)&d->sets, (const uint64_t *)&of->sets,
			     sizeof(d->sets) / sizeof(uint64_t));
	}
}

static struct snapshot_member *find_member(const struct snapshot_host *h,
					   const struct snapshot_member *of)
{
	struct snapshot_member *past = NULL;

	for (size_t i = 0; i < h->members.n; i++) {
		struct snapshot_member *m = &h->members.v[i];

		if (m->process == of->process && m->device == of->device)
			return m;
		past = m->process == MODEL_PAST_PID ? m : past;
	}
	return past;
}

static struct snapshot_host *find_host_of(const struct snapshot *later,
					  const struct snapshot_host *of)
{
	for (size_t i = 0; i < later->hosts.n; i++) {
		struct snapshot_host *h = &later->hosts.v[i];

		if (of->uuid[0] ? !strcmp(h->uuid, of->uuid) :
				  of->members.n && find_member(h, &of->members.v[0]))
			return h;
	}
	return NULL;
}

static void subtract_host(struct snapshot_host *h, const struct snapshot_host *earlier)
{
	struct share_sum *sum = &h->sum;
	uint64_t wall_ns;

	sum->shared_ns = num_sub(sum->shared_ns, earlier->sum.shared_ns);
	sum->unknown_ns = num_sub(sum->unknown_ns, earlier->sum.unknown_ns);
	sum->unwatched_ns = num_sub(sum->unwatched_ns, earlier->sum.unwatched_ns);
	sum->idle_ns = num_sub(sum->idle_ns, earlier->sum.idle_ns);
	for (size_t i = 0; i < earlier->members.n; i++) {
		const struct share_member *less = &earlier->members.v[i].share;
		struct snapshot_member *m = find_member(h, &earlier->members.v[i]);

		if (!m)
			continue;
		m->share.owned_ns = num_sub(m->share.owned_ns, less->owned_ns);
		m->share.waited_ns = num_sub(m->share.waited_ns, less->waited_ns);
		m->share.gaps_ns = num_sub(m->share.gaps_ns, less->gaps_ns);
		m->share.gaps_idle_ns = num_sub(m->share.gaps_idle_ns, less->gaps_idle_ns);
	}
	wall_ns = sum->shared_ns + sum->unknown_ns + sum->unwatched_ns + sum->idle_ns;
	for (size_t i = 0; i < h->members.n; i++)
		wall_ns += h->members.v[i].share.owned_ns;
	sum->open_ns = sum->close_ns - wall_ns;
}

static void subtract_hosts(struct snapshot *later, const struct snapshot *earlier)
{
	for (size_t i = 0; i < earlier->hosts.n; i++) {
		struct snapshot_host *h = find_host_of(later, &earlier->hosts.v[i]);

		if (h)
			subtract_host(h, &earlier->hosts.v[i]);
	}
}

/* ---- differences: the whole ------------------------------------------------------------------ */

void snapshot_subtract(struct snapshot *later, const struct snapshot *earlier)
{
	later->since_ns = earlier->now_ns;
	subtract_processes(later, earlier);
	subtract_threads(later, earlier);
	subtract_devices(later, earlier);
	subtract_hosts(later, earlier);
	samples_subtract(&later->samples, &earlier->samples, later->since_ns);
	consumers_subtract(&later->states, &earlier->states);
	drop_outside(later);
}

/* ---- finding --------------------------------------------------------------------------------- */

const char *snapshot_thread_comm(const struct snapshot *s, uint32_t process, uint32_t tid)
{
	for (size_t i = s->threads.n; i-- > 0;) {
		const struct snapshot_thread *t = &s->threads.v[i];

		if (s->processes.v[t->process].process != process || t->tid != tid)
			continue;
		if (t->comm[0])
			return t->comm;
		return t->pid == tid && t->process_comm[0] ? t->process_comm : NULL;
	}
	return NULL;
}

/* ---- losses ---------------------------------------------------------------------------------- */

#define CUPTI_RECORD_MAX 256	/* bytes: none of any version's is longer */

static uint64_t sum_received(const struct model_counts *c)
{
	static const uint8_t kinds[] = { EVENT_CALL, EVENT_ENTER, EVENT_EXIT, EVENT_LEFT,
					 EVENT_OFF };
	uint64_t sum = 0;

	for (size_t i = 0; i < sizeof(kinds); i++)
		sum = num_add(sum, c->received[kinds[i]]);
	return sum;
}

/* Kernels that are over and have no record, beyond those of which it is known; and those whose
 * records CUPTI kept are probably the same. */
static void read_uncounted(struct snapshot_losses *l, const struct model_counts *c,
			   uint64_t works_lost, uint64_t kept_bytes)
{
	const uint64_t known = num_add(works_lost, num_add(c->unrecorded, c->invalid[EVENT_WORK])),
		       kernels = num_sub(c->unmet_lost - c->unmet_ended, known),
		       kept = num_add(kept_bytes, CUPTI_RECORD_MAX - 1) / CUPTI_RECORD_MAX;

	l->uncounted = num_max(kernels, kept);
	l->is_at_least = kept > kernels;
}

/*
 * The kernel's counters and the holes in threads' numbers are the same loss; a capture that was
 * cut has only the holes up to there, so the larger of the two is taken.
 */
struct snapshot_losses snapshot_losses(const struct snapshot *s)
{
	struct snapshot_losses l = { 0 };
	uint64_t hits = 0, works_lost = 0, kept_bytes = 0, followed = 0;

	for (size_t i = 0; i < s->readings.n; i++) {
		const struct model_reading *r = &s->readings.v[i];

		/* Copies of stacks that are lost, or of what they refer to, leave calls without
		 * them. */
		if (!strncmp(r->kind, "stack", 5))
			continue;
		if (!strcmp(r->kind, "kept-bytes")) {
			kept_bytes = num_add(kept_bytes, r->lost);
			continue;
		}
		hits = num_add(hits, r->hits);
		l.lost = num_add(l.lost, r->lost);
		works_lost += strcmp(r->kind, event_kind_name(EVENT_WORK)) ? 0 : r->lost;
	}
	read_uncounted(&l, &s->counts, works_lost, kept_bytes);
	l.lost = num_add(num_max(l.lost, s->counts.lost), l.uncounted);
	for (unsigned int kind = 0; kind < EVENT_KIND_END; kind++) {
		l.unfollowed = num_add(l.unfollowed, s->counts.unfollowed[kind]);
		followed += s->counts.unfollowed[kind] ? s->counts.received[kind] : 0;
	}
	l.lost = num_add(l.lost, l.unfollowed);
	followed = num_max(followed, sum_received(&s->counts));
	l.events = num_max(num_add(hits, l.uncounted), num_add(followed, l.lost));
	l.share = num_ratio(l.lost, l.events);
	return l;
}
