// SPDX-License-Identifier: BSD-3-Clause
/* Which jobs hang, and which rank the others wait for: a table of what each rank does. */
#include <stdio.h>
#include <string.h>

#include "base/time.h"
#include "findings/findings.h"
#include "lib/test.h"
#include "model_room.h"
#include "view_of.h"

#define BASE (1000 * NS_PER_SEC)
#define SESSION_NS (20 * NS_PER_SEC)
#define RANKS 4

/* A rank's life in tenths of a second since the session began. */
struct life {
	int16_t in;		/* the call that it is in at the end; -1: none */
	uint16_t since;
	uint16_t collectives;	/* that returned before */
	int16_t ended;		/* 0: it lives; negative: a reading found it stopped then */
};

static uint64_t at(unsigned int tenths)
{
	return BASE + tenths * (NS_PER_SEC / 10);
}

static void push_text(struct model *m, uint32_t pid, const char *key, const char *value)
{
	push(m, (struct event){ .kind = EVENT_IDENTITY, .pid = pid, .tid = pid, .fact.key = key,
				.fact.value = value });
}

static void push_rank(struct model *m, uint32_t pid, uint32_t number, const char *job,
		      const struct life *life)
{
	uint32_t seq = 0;
	char text[16];

	snprintf(text, sizeof(text), "%u", number);
	push(m, (struct event){ .kind = EVENT_PROCESS, .pid = pid, .start_ns = at(1),
				.task.comm = "train" });
	push_text(m, pid, "rank", text);
	if (job)
		push_text(m, pid, "job", job);
	while (seq < life->collectives) {
		seq++;
		push(m, (struct event){ .kind = EVENT_CALL, .has = HAS_END, .pid = pid, .tid = pid,
					.seq = seq, .func = N, .start_ns = at(2 * seq),
					.end_ns = at(2 * seq) + 1000 });
	}
	if (life->in >= 0)
		push(m, (struct event){ .kind = EVENT_ENTER, .pid = pid, .tid = pid, .seq = seq + 1,
					.func = (uint16_t)life->in, .start_ns = at(life->since) });
	if (life->ended < 0)
		push(m, (struct event){ .kind = EVENT_OFF, .pid = pid, .tid = pid,
					.seq = seq + (life->in >= 0),
					.start_ns = at(life->in >= 0 ? life->since : 30),
					.end_ns = at((unsigned int)-life->ended),
					.off.reason = life->in >= 0 ? OFF_CALL_STOPPED :
								      OFF_STOPPED });
	if (life->ended > 0) {
		push(m, (struct event){ .kind = EVENT_EXIT, .pid = pid, .tid = pid,
					.seq = seq + 1 + (life->in >= 0),
					.start_ns = at((unsigned int)life->ended), .end_ns = at((unsigned int)life->ended) });
		push_text(m, pid, "ended", "yes");
	}
}

static struct findings find(struct model *m)
{
	struct findings f = { 0 };

	finish(m, BASE + SESSION_NS);
	assert_int_equal(findings_of(&f, m, 0), 0);
	return f;
}

static void finds(const struct life *lives, const char *severity, const char *cause)
{
	struct model *m = session(BASE);
	struct findings f;

	for (uint32_t i = 0; i < RANKS; i++)
		push_rank(m, 100 + i, i, NULL, &lives[i]);
	f = find(m);
	assert_int_equal(f.all.n, cause ? 1 : 0);
	if (cause) {
		assert_string_equal(f.all.v[0].name, "hang");
		assert_string_equal(f.all.v[0].cause.s, cause);
		assert_string_equal(finding_severity(&f.all.v[0]), severity);
	}
	findings_free(&f);
	snap_end(m);
}

TEST(the_rank_that_all_others_wait_for_is_named)
{
	static const struct {
		struct life lives[RANKS];
		const char *severity, *cause;
	} jobs[] = {
		{ { { S, 50, 9, 0 }, { N, 49, 8, 0 }, { S, 50, 9, 0 }, { S, 51, 9, 0 } }, "high",
		  "ranks 0, 2-3 wait in cudaStreamSynchronize for rank 1, which is in ncclAllReduce" },
		{ { { N, 50, 9, 0 }, { N, 50, 9, 0 }, { N, 50, 9, 0 }, { -1, 0, 9, 0 } }, "high",
		  "ranks 0-2 wait in ncclAllReduce for rank 3, which is in no call" },
		{ { { C, 50, 9, 0 }, { S, 50, 9, 0 }, { -1, 0, 9, 0 }, { -1, 0, 9, 0 } }, "high",
		  "ranks 0-1 wait in cudaMemcpy for rank 2 (pid 102), which is in no call, and "
		  "rank 3 (pid 103), which is in no call" },
		{ { { S, 50, 9, 0 }, { S, 50, 9, 0 }, { S, 50, 8, 0 }, { S, 50, 9, 0 } }, "high",
		  "ranks 0-1, 3 wait in cudaStreamSynchronize for rank 2, which is in "
		  "cudaStreamSynchronize" },
		{ { { S, 50, 9, 0 }, { S, 50, 9, 0 }, { S, 50, 9, 0 }, { S, 50, 9, 0 } }, "high",
		  "ranks 0-3 wait in cudaStreamSynchronize, and no rank is behind" },
		{ { { -1, 0, 9, 60 }, { S, 61, 9, 0 }, { S, 61, 9, 0 }, { S, 61, 9, 0 } }, "high",
		  "ranks 1-3 wait in cudaStreamSynchronize for rank 0, which has ended" },
		{ { { N, 50, 9, 0 }, { N, 50, 9, 0 }, { N, 50, 9, -199 }, { N, 50, 9, 0 } }, "high",
		  "ranks 0-1, 3 wait in ncclAllReduce for rank 2, which is stopped by a signal or "
		  "a debugger, in ncclAllReduce; go on with: kill -CONT 102" },
		{ { { S, 50, 9, 0 }, { -1, 0, 9, -199 }, { S, 50, 9, 0 }, { S, 50, 9, 0 } }, "high",
		  "ranks 0, 2-3 wait in cudaStreamSynchronize for rank 1, which is stopped by a "
		  "signal or a debugger, in no call; go on with: kill -CONT 101" },
		/* its user ended it */
		{ { { S, 50, 9, 180 }, { N, 50, 8, 181 }, { S, 50, 9, 180 }, { S, 50, 9, 182 } }, "high",
		  "ranks 0, 2-3 wait in cudaStreamSynchronize for rank 1, which is in ncclAllReduce" },
		/* for 2 s of 20 s */
		{ { { S, 180, 9, 0 }, { N, 180, 8, 0 }, { S, 180, 9, 0 }, { S, 180, 9, 0 } }, "medium",
		  "ranks 0, 2-3 wait in cudaStreamSynchronize for rank 1, which is in ncclAllReduce" },
	};

	for (size_t i = 0; i < sizeof(jobs) / sizeof(jobs[0]); i++)
		finds(jobs[i].lives, jobs[i].severity, jobs[i].cause);
}

TEST(a_job_of_which_a_rank_goes_on_does_not_hang)
{
	static const struct life jobs[][RANKS] = {
		{ { S, 50, 9, 0 }, { N, 195, 8, 0 }, { S, 50, 9, 0 }, { S, 50, 9, 0 } },
		{ { S, 50, 9, 0 }, { S, 195, 9, 0 }, { -1, 0, 9, 0 }, { -1, 0, 9, 0 } },
		{ { -1, 0, 9, 0 }, { -1, 0, 9, 0 }, { -1, 0, 9, 0 }, { -1, 0, 9, 0 } },
		{ { -1, 0, 9, 100 }, { -1, 0, 9, 100 }, { -1, 0, 9, 101 }, { -1, 0, 9, 102 } },
	};

	for (size_t i = 0; i < sizeof(jobs) / sizeof(jobs[0]); i++)
		finds(jobs[i], NULL, NULL);
}

/* Data loaders have their rank's variables and make no calls. */
TEST(children_that_make_no_calls_are_no_ranks)
{
	const struct life waits = { S, 50, 9, 0 }, none = { -1, 0, 0, 0 };
	struct model *m = session(BASE);
	struct findings f;

	for (uint32_t i = 0; i < RANKS; i++) {
		push_rank(m, 100 + i, i, NULL, i == 2 ? &none : &waits);
		push_rank(m, 200 + i, i, NULL, &none);
	}
	f = find(m);
	assert_int_equal(f.all.n, 1);
	assert_int_equal(f.all.v[0].pid, 102);
	findings_free(&f);
	snap_end(m);
}

TEST(each_job_is_judged_alone)
{
	static const struct life lives[] = { { S, 50, 9, 0 }, { N, 50, 8, 0 } };
	struct model *m = session(BASE);
	struct findings f;

	for (uint32_t i = 0; i < 2; i++) {
		push_rank(m, 100 + i, i, "a", &lives[i]);
		push_rank(m, 200 + i, i, "b", &lives[!i]);
	}
	f = find(m);
	assert_int_equal(f.all.n, 2);
	assert_int_equal(f.all.v[0].pid, 101);
	assert_int_equal(f.all.v[1].pid, 200);
	findings_free(&f);
	snap_end(m);
}

/* Two jobs of one name: whose rank 1 rank 0 waits for is not known. */
TEST(ranks_of_several_jobs_without_names_are_not_judged)
{
	static const struct life lives[] = { { S, 50, 9, 0 }, { N, 50, 8, 0 } };
	struct model *m = session(BASE);
	struct findings f;

	for (uint32_t i = 0; i < 2; i++) {
		push_rank(m, 100 + i, i, NULL, &lives[i]);
		push_rank(m, 200 + i, i, NULL, &lives[i]);
	}
	f = find(m);
	assert_int_equal(f.all.n, 0);
	findings_free(&f);
	snap_end(m);
}
