// SPDX-License-Identifier: BSD-3-Clause
/*
 * Processes that ended have rows of their own while they are few; then they are one, and every sum is what it
 * would be without. The truth is read from models of so few processes that nothing is folded.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "past_load.h"

#include "lib/test.h"
#include "base/str.h"
#include "base/vec.h"
#include "view/summary.h"
#include "event/event.h"
#include "facts/ranges.h"
#include "view_of.h"
#include "snap_of.h"

#define PROCESSES 2000u
#define CHUNK 250u		/* of these nothing is folded */

/* ---- sums of tables --------------------------------------------------------------------------- */

#define SUMS_MAX 8

struct part {
	const char *table;
	const char *keys[4], *sums[SUMS_MAX];
};

static const struct part parts[] = {
	{ "calls", { "function", "result", "grid" }, { "count", "errors", "open", "bytes", "total_ns", "begun_before" } },
	{ "threads", { "bucket" }, { "ns", "blocked_ns" } },
	{ "ledger", { "device", "device_uuid", "state", "bucket" }, { "ns", "busy_ns", "overlapped_ns" } },
	{ "kernels", { "device", "name", "bucket" }, { "count", "total_ns" } },
	{ "copies", { "device", "direction", "pinned" }, { "count", "bytes", "total_ns" } },
	{ "ranges", { "range", "kind" }, { "count", "open", "wall_ns", "host_ns", "device_ns", "launches" } },
	{ "memory", { "device", "kind" }, { "live_bytes", "peak_bytes", "allocs", "frees", "failed", "leaked_bytes" } },
	{ "lines", { "place" }, { "device_ns", "host_ns", "syncs", "launches" } },
	{ "processes", { "rank" }, { "live_bytes" } },
};

struct sum {
	char key[160];
	uint64_t value[SUMS_MAX];
};

struct sums {
	VEC(struct sum) all;
};

static struct table *make_table(const struct model *m, const char *name)
{
	uint64_t now = snap_of(m)->now_ns;

	if (!strcmp(name, "calls"))
		return view_by(&view_calls, m, 0, CALLS_BY_RESULT);
	if (!strcmp(name, "threads"))
		return view_at(&view_threads, m, now);
	if (!strcmp(name, "ledger"))
		return view_at(&view_ledger, m, now);
	if (!strcmp(name, "kernels"))
		return view_now(&view_kernels, m);
	if (!strcmp(name, "copies"))
		return view_now(&view_copies, m);
	if (!strcmp(name, "ranges"))
		return view_at(&view_ranges, m, now);
	if (!strcmp(name, "lines"))
		return view_at(&view_lines, m, now);
	return strcmp(name, "memory") ? view_at(&view_processes, m, now) : view_now(&view_memory, m);
}

static void add_key(struct strbuf *key, const struct table *t, size_t row, const char *column)
{
	int at = table_column(t, column);
	const struct column *c = &t->columns[at];
	const struct cell *cell = &table_cells(t, row)[at];

	assert_true(at >= 0);
	if (!cell->known)
		strbuf_addstr(key, "|-");
	else if (c->type == CELL_TEXT)
		strbuf_addf(key, "|%s", cell->s);
	else
		strbuf_addf(key, "|%llu", (unsigned long long)cell->u);
}

static struct sum *find_sum(struct sums *s, const char *key)
{
	struct sum *made;

	for (size_t i = 0; i < s->all.n; i++)
		if (!strcmp(s->all.v[i].key, key))
			return &s->all.v[i];
	made = VEC_PUSH(&s->all);
	assert_non_null(made);
	snprintf(made->key, sizeof(made->key), "%s", key);
	return made;
}

static void add_part(struct sums *s, const struct model *m, const struct part *p)
{
	struct table *t = make_table(m, p->table);

	assert_non_null(t);
	for (size_t row = 0; row < t->n_rows; row++) {
		struct strbuf key = STRBUF_INIT;
		struct sum *sum;

		strbuf_addstr(&key, p->table);
		for (int k = 0; k < 4 && p->keys[k]; k++)
			add_key(&key, t, row, p->keys[k]);
		sum = find_sum(s, key.s);
		for (int k = 0; k < SUMS_MAX && p->sums[k]; k++) {
			int at = table_column(t, p->sums[k]);

			assert_true(at >= 0);
			if (table_cells(t, row)[at].known)
				sum->value[k] += table_cells(t, row)[at].u;
		}
		strbuf_free(&key);
	}
	table_free(t);
}

/* Who had the devices of the host; how long none had them is of the session, not of processes. */
static void add_hosts(struct sums *s, const struct model *m)
{
	const struct snapshot *snap = snap_of(m);

	for (size_t i = 0; i < snap->hosts.n; i++) {
		const struct snapshot_host *h = &snap->hosts.v[i];
		struct sum *sum = find_sum(s, "devices");

		sum->value[0] += h->sum.shared_ns;
		sum->value[2] += h->sum.unknown_ns;
		for (size_t k = 0; k < h->members.n; k++) {
			sum->value[1] += h->members.v[k].share.owned_ns;
			sum->value[3] += h->members.v[k].share.waited_ns;
		}
	}
}

static void add_counts(struct sums *s, const struct model *m)
{
	struct model_counts c;
	struct sum *sum = find_sum(s, "counts");

	model_counts(m, &c);
	sum->value[0] += c.lost;
	sum->value[1] += c.late_ns;
	sum->value[2] += c.abandoned;
	sum->value[3] += c.matched;
	sum->value[4] += c.orphan;
	sum->value[5] += c.more;
	sum->value[6] += c.unplaced;
	sum->value[7] += c.unseen_frees;
}

static void add_model(struct sums *s, const struct model *m)
{
	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
		add_part(s, m, &parts[i]);
	add_hosts(s, m);
	add_counts(s, m);
}

static void assert_same(struct sums *got, struct sums *truth)
{
	for (size_t i = 0; i < truth->all.n; i++) {
		const struct sum *want = &truth->all.v[i], *have = find_sum(got, want->key);

		for (int k = 0; k < SUMS_MAX; k++)
			if (have->value[k] != want->value[k])
				fail_msg("%s, sum %d: %llu, not %llu", want->key, k,
					 (unsigned long long)have->value[k],
					 (unsigned long long)want->value[k]);
	}
	assert_int_equal(got->all.n, truth->all.n);
}

/* ---- models ----------------------------------------------------------------------------------- */

static struct model *run(uint32_t from, uint32_t to)
{
	struct model *m = session(LOAD_BASE);

	load_run(m, from, to);
	load_stop(m, to);
	return m;
}

static struct sums read_truth(uint32_t processes)
{
	struct sums truth = { .all = { 0 } };

	for (uint32_t n = 0; n < processes; n += CHUNK) {
		struct model *m = run(n, n + CHUNK);

		assert_int_equal(model_processes(m), CHUNK);
		add_model(&truth, m);
		model_free(m);
	}
	return truth;
}

static const struct model_process *find_past(const struct model *m)
{
	for (size_t i = 0; i < model_processes(m); i++)
		if (model_process(m, i)->past)
			return model_process(m, i);
	return NULL;
}

TEST(processes_that_ended_become_one_and_every_sum_stays)
{
	struct sums truth = read_truth(PROCESSES), got = { .all = { 0 } };
	struct model *m = run(0, PROCESSES);
	const struct model_process *past = find_past(m);
	char label[32];

	assert_non_null(past);
	assert_true(model_processes(m) >= MODEL_ENDED);
	assert_int_equal(past->past + model_processes(m) - 1, PROCESSES);
	snprintf(label, sizeof(label), "[%llu ended]", (unsigned long long)past->past);
	assert_string_equal(past->comm, label);
	add_model(&got, m);
	assert_same(&got, &truth);
	model_free(m);
	VEC_FREE(&got.all);
	VEC_FREE(&truth.all);
}

/* Wall time of the one that stands for many is theirs, and its book adds up. */
TEST(the_book_of_those_that_are_one_adds_up)
{
	struct model *m = run(0, PROCESSES);
	const struct snapshot *snap = snap_of(m);
	uint64_t wall = 0;

	for (size_t i = 0; i < snap->devices.n; i++) {
		const struct snapshot_device *d = &snap->devices.v[i];
		uint64_t all = 0;

		for (unsigned int k = 0; k < DEVICE_BUCKETS; k++)
			all += d->sum.owned_ns[k];
		assert_int_equal(all + d->sum.idle_ns, d->sum.close_ns - d->sum.open_ns);
		for (unsigned int k = 0; k < IDLE_CAUSES; k++)
			all += d->idle_ns[k];
		assert_int_equal(all, d->sum.close_ns - d->sum.open_ns);
		wall += all;
	}
	for (uint32_t n = 0; n < PROCESSES; n++)
		wall -= 1200000 + n % 977 * 100;
	assert_int_equal(wall, 0);
	model_free(m);
}

TEST(the_latest_the_failed_and_the_longest_lived_keep_own_rows)
{
	const uint64_t end = load_begin(PROCESSES / 2);
	struct model *m = session(LOAD_BASE);
	size_t found = 0, failed = 0;

	load_push(m, (struct event){ .kind = EVENT_CALL, .pid = 7, .tid = 7, .seq = 1, .func = L,
				     .start_ns = LOAD_BASE, .end_ns = LOAD_BASE + 10 });
	load_run(m, 0, PROCESSES / 2);
	load_push(m, (struct event){ .kind = EVENT_EXIT, .pid = 7, .tid = 7, .seq = 2, .end_ns = end });
	load_run(m, PROCESSES / 2, PROCESSES);
	load_stop(m, PROCESSES);
	for (size_t i = 0; i < model_processes(m); i++) {
		const struct model_process *p = model_process(m, i);

		found += p->pid == LOAD_PID + PROCESSES - 1 || p->pid == 7;
		failed += !p->past && p->pid >= LOAD_PID && (p->pid - LOAD_PID) % 10 == 0;
	}
	assert_int_equal(found, 2);
	assert_true(failed >= MODEL_ENDED / 4);
	model_free(m);
}

/* Its first thread makes no call, so its end is not reported, but found out. */
TEST(a_process_found_exited_is_folded_too)
{
	enum { FOUND = 1000 };
	struct model *m = session(LOAD_BASE);

	for (uint32_t n = 0; n < FOUND; n++) {
		const uint32_t pid = LOAD_PID + n;

		load_birth(m, n);
		load_work(m, n, 1, load_begin(n) + 1000, 1000);
		load_push(m, (struct event){ .kind = EVENT_CALL, .pid = pid, .tid = pid + 1000000, .seq = 1,
					     .func = L, .start_ns = load_begin(n), .end_ns = load_begin(n) + 9 });
		load_push(m, (struct event){ .kind = EVENT_EXIT, .pid = pid, .tid = pid + 1000000, .seq = 2,
					     .end_ns = load_begin(n) + 10000 });
		load_push(m, (struct event){ .kind = EVENT_WATERMARK, .end_ns = load_begin(n) + 20000 });
		load_push(m, (struct event){ .kind = EVENT_IDENTITY, .pid = pid,
					     .fact.key = "ended", .fact.value = "yes" });
	}
	assert_non_null(find_past(m));
	assert_int_equal(find_past(m)->past + model_processes(m) - 1, FOUND);
	assert_true(model_processes(m) < MODEL_ENDED + 200);
	load_stop(m, FOUND);
	model_free(m);
}

/* Its first thread has ended; of another that is not known: it may go on, until it is found that none does. */
TEST(a_process_of_which_an_end_was_lost_waits_until_it_is_found)
{
	enum { PROCESSES_LOST = 1000 };
	struct model *m = session(LOAD_BASE);
	size_t kept_apart;

	for (uint32_t n = 0; n < PROCESSES_LOST; n++) {
		const uint32_t pid = LOAD_PID + n;

		load_birth(m, n);
		load_work(m, n, 1, load_begin(n) + 1000, 1000);
		for (uint32_t i = 0; i < 2; i++)
			load_push(m, (struct event){ .kind = EVENT_CALL, .pid = pid, .tid = pid + i * 1000000,
						     .seq = 1, .func = L, .start_ns = load_begin(n),
						     .end_ns = load_begin(n) + 9 });
		load_push(m, (struct event){ .kind = EVENT_EXIT, .pid = pid, .tid = pid, .seq = 2,
					     .end_ns = load_begin(n) + 10000 });
		load_push(m, (struct event){ .kind = EVENT_WATERMARK, .end_ns = load_begin(n) + 20000 });
	}
	kept_apart = model_processes(m);
	assert_int_equal(kept_apart, PROCESSES_LOST);
	for (size_t i = 0; i < kept_apart; i++)
		assert_true(model_may_go_on(m, i));
	for (uint32_t n = 0; n < PROCESSES_LOST; n++)
		load_push(m, (struct event){ .kind = EVENT_IDENTITY, .pid = LOAD_PID + n,
					     .fact.key = "ended", .fact.value = "yes" });
	for (size_t i = 0; i < kept_apart; i++)
		assert_false(model_may_go_on(m, i));
	load_run(m, PROCESSES_LOST, PROCESSES_LOST + 200);
	assert_non_null(find_past(m));
	assert_int_equal(find_past(m)->past + model_processes(m) - 1, PROCESSES_LOST + 200);
	assert_true(model_processes(m) < MODEL_ENDED + 200);
	load_stop(m, PROCESSES_LOST + 200);
	model_free(m);
}

TEST(the_footer_counts_folded_processes)
{
	struct model *m = run(0, PROCESSES);
	struct snapshot *snap = snap_take(m, 0);
	const struct summary summary = summary_read(snap, false);
	struct summary_text text;
	char label[64];

	assert_int_equal(summary_write(&text, &summary, ""), 0);
	assert_non_null(strstr(text.head.s, "gpuprof: 2000 processes, "));
	snprintf(label, sizeof(label), " processes are added up as one, [%llu ended], ",
		 (unsigned long long)find_past(m)->past);
	assert_non_null(strstr(text.foot.s, "\nended: "));
	assert_non_null(strstr(text.foot.s, label));
	summary_text_free(&text);
	snapshot_free(snap);
	model_free(m);
}

/* Without what lives at an interval's end, and is so in the next one, too; without the causes of
 * idle time and the time of open ranges, of which not all is known then. */
static void add_counted(struct sums *s, const struct model *m)
{
	static const struct part counted[] = {
		{ "calls", { "function", "result", "grid" }, { "count", "errors", "bytes", "total_ns" } },
		{ "threads", { "bucket" }, { "ns", "blocked_ns" } },
		{ "ledger", { "device", "device_uuid", "state" }, { "ns", "busy_ns", "overlapped_ns" } },
		{ "kernels", { "device", "name", "bucket" }, { "count", "total_ns" } },
		{ "copies", { "device", "direction", "pinned" }, { "count", "bytes", "total_ns" } },
		{ "ranges", { "range", "kind" }, { "count", "device_ns", "launches" } },
	};

	for (size_t i = 0; i < sizeof(counted) / sizeof(counted[0]); i++)
		add_part(s, m, &counted[i]);
	add_hosts(s, m);
}

/* Two intervals add up to the session, though most of the first one's processes are folded in the
 * second. */
TEST(an_interval_has_nothing_of_processes_that_ended_before)
{
	struct model *m = session(LOAD_BASE);
	struct sums parts_of_it = { .all = { 0 } }, whole = { .all = { 0 } };

	model_use_intervals(m);
	load_run(m, 0, PROCESSES);
	add_counted(&parts_of_it, m);
	snap_cut(m, snap_of(m)->now_ns);
	load_run(m, PROCESSES, 2 * PROCESSES);
	load_stop(m, 2 * PROCESSES);
	assert_non_null(snapshot_process(snap_of(m), MODEL_PAST_PID));
	add_counted(&parts_of_it, m);
	snap_forget();
	add_counted(&whole, m);
	assert_same(&parts_of_it, &whole);
	model_free(m);
	VEC_FREE(&parts_of_it.all);
	VEC_FREE(&whole.all);
}

static int push_to(void *model, const struct event *ev)
{
	return model_push(model, ev);
}

static struct model *replay(struct capture_reader *r)
{
	struct model *m = model_new(capture_funcs(r));

	assert_non_null(m);
	assert_int_equal(capture_read(r, &(struct event_sink){ push_to, m }), 0);
	assert_int_equal(model_finish(m), 0);
	return m;
}

TEST(a_replay_is_the_run)
{
	char dir[] = "/tmp/gpuprof-past-XXXXXX", path[64];
	struct sums run_sums = { .all = { 0 } }, again = { .all = { 0 } };
	struct model *m = session(LOAD_BASE), *replayed;
	struct capture_reader *reader;

	assert_non_null(mkdtemp(dir));
	snprintf(path, sizeof(path), "%s/run.gpr", dir);
	load_writer = capture_create(path, &funcs);
	assert_non_null(load_writer);
	assert_int_equal(capture_push(load_writer, &(struct event){ .kind = EVENT_START,
								    .start_ns = LOAD_BASE }), 0);
	load_run(m, 0, PROCESSES);
	load_stop(m, PROCESSES);
	assert_int_equal(capture_close(load_writer, NULL), 0);
	load_writer = NULL;
	reader = capture_open(path);
	assert_non_null(reader);
	replayed = replay(reader);
	unlink(path);
	rmdir(dir);
	assert_int_equal(find_past(replayed)->past, find_past(m)->past);
	add_model(&run_sums, m);
	add_model(&again, replayed);
	assert_same(&again, &run_sums);
	model_free(m);
	VEC_FREE(&run_sums.all);
	VEC_FREE(&again.all);
	model_free(replayed);
	capture_free(reader);
}

/* Its number means those that are one. */
TEST(an_event_of_pid_zero_is_invalid)
{
	struct model *m = session(LOAD_BASE);
	struct model_counts counts;

	push(m, (struct event){ .kind = EVENT_CALL, .pid = MODEL_PAST_PID, .tid = 1, .seq = 1,
				.start_ns = LOAD_BASE + 1, .end_ns = LOAD_BASE + 2 });
	model_counts(m, &counts);
	assert_int_equal(counts.invalid[EVENT_CALL], 1);
	assert_int_equal(model_processes(m), 0);
	model_free(m);
}
