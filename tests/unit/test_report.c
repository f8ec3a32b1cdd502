// SPDX-License-Identifier: BSD-3-Clause
/* Printing: the words around the tables, what the exit code says, and that a report of a capture
 * is the report of the run. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/io.h"
#include "base/exit.h"
#include "lib/test.h"
#include "view/report.h"
#include "lib/stamped.h"
#include "view_of.h"
#include "snap_of.h"
#include "cli/verbs.h"
#include "capture/capture.h"

static const struct funcs funcs = {
	.n = 2,
	.v = {
		{ .name = "cudaLaunchKernel", .library = "cudart", .class = CLASS_LAUNCH },
		{ .name = "cudaDeviceSynchronize", .library = "cudart", .class = CLASS_SYNC,
		  .two = 1 },
	},
};

#define T0 1000000000ull

/* A process of one thread: three launches of 10 us, a hole of `lost` records, and a sync. */
static int play(const struct event_sink *to, unsigned int lost)
{
	static const char *const facts[][2] = {
		{ "host", "node-1" }, { "version", "v0.1" }, { "kernel", "6.18.0" },
		{ "sources", "uprobe" }, { "attach", "session" }, { "children", "not followed" },
		{ "cost_per_hit_ns", "500" }, { "wall_offset_ns", "1700000000000000000" },
	};
	struct event call = { .kind = EVENT_CALL, .has = HAS_END | HAS_RESULT | HAS_SHAPE,
			      .pid = 77, .tid = 77,
			      .call.shape = { { 2, 1, 1 }, { 64, 1, 1 }, 0 } };
	struct event sync = { .kind = EVENT_CALL, .has = HAS_END | HAS_RESULT, .func = 1,
			      .pid = 77, .tid = 77, .seq = 5 + lost };
	int err = 0;

	err |= to->push(to->ctx, &(struct event){ .kind = EVENT_START, .start_ns = T0 });
	for (size_t i = 0; i < sizeof(facts) / sizeof(facts[0]); i++)
		err |= to->push(to->ctx, &(struct event){ .kind = EVENT_FACT,
							  .fact.key = facts[i][0],
							  .fact.value = facts[i][1] });
	err |= to->push(to->ctx, &(struct event){ .kind = EVENT_PROCESS, .pid = 77,
						  .start_ns = T0 / 2, .task.comm = "tr\x1b[ain" });
	err |= to->push(to->ctx, &(struct event){ .kind = EVENT_FORK, .pid = 77, .tid = 99,
						  .start_ns = T0 + 5, .task.comm = "sh" });
	for (call.seq = 1; call.seq <= 3; call.seq++) {
		call.start_ns = T0 + call.seq * 100000;
		call.end_ns = call.start_ns + 10000;
		err |= to->push(to->ctx, &call);
	}
	sync.start_ns = T0 + 600000;
	sync.end_ns = T0 + 900000;
	err |= to->push(to->ctx, &(struct event){ .kind = EVENT_ENTER, .func = 1, .pid = 77,
						  .tid = 77, .seq = 4 + lost,
						  .start_ns = sync.start_ns });
	err |= to->push(to->ctx, &sync);
	err |= to->push(to->ctx, &(struct event){ .kind = EVENT_STOP, .end_ns = T0 + 1000000 });
	return err;
}

static int push_model(void *m, const struct event *ev)
{
	struct event own = stamped(ev);

	return model_push(m, &own);
}

static int push_capture(void *w, const struct event *ev)
{
	struct event own = stamped(ev);

	return capture_push(w, &own);
}

static struct {
	char dir[64], capture[96], out[96];
	struct model *model;
} r;

static struct options o;
static char *text;	/* what was printed last */

static void play_lossy(unsigned int lost)
{
	struct capture_writer *w;

	strcpy(r.dir, "/tmp/gpuprof-test-XXXXXX");
	r.model = model_new(&funcs);
	assert_non_null(mkdtemp(r.dir));
	snprintf(r.capture, sizeof(r.capture), "%s/c.gpr", r.dir);
	snprintf(r.out, sizeof(r.out), "%s/out", r.dir);
	w = capture_create(r.capture, &funcs);
	assert_non_null(w);
	assert_int_equal(play(&(struct event_sink){ push_capture, w }, lost), 0);
	assert_int_equal(capture_close(w, NULL), 0);
	assert_non_null(r.model);
	assert_int_equal(play(&(struct event_sink){ push_model, r.model }, lost), 0);
}

AFTER_EACH
{
	options_free(&o);
	free(text);
	text = NULL;
	model_free(r.model);
	unlink(r.capture);
	unlink(r.out);
	rmdir(r.dir);
}

static void parse(const char *const *words)
{
	char *argv[16] = { (char *)"gpuprof", (char *)"report", r.capture, (char *)"-q",
			   (char *)"-o", r.out };
	int argc = 6;

	while (*words)
		argv[argc++] = (char *)*words++;
	options_free(&o);
	assert_int_equal(options_parse(&o, argc, argv), 0);
}

#define WORDS(...) ((const char *const[]){ __VA_ARGS__, NULL })

static void read_printed(void)
{
	free(text);
	text = io_read_file(r.out, 1 << 20, NULL);
	assert_non_null(text);
}

static int print_model(void)
{
	struct snapshot *snap = snap_take(r.model, 0);
	int rc = report_print(&o.report, snap, NULL);

	snapshot_free(snap);
	return rc;
}

static int print_nothing(void)
{
	struct snapshot *snap = snap_take(r.model, 0);
	int rc = report_judge(&o.report, snap);

	snapshot_free(snap);
	return rc;
}

TEST(a_report_of_a_capture_is_the_report_of_the_run)
{
	static const char *const formats[] = { "text", "md", "csv", "json" };
	static const char *const by[] = { "function", "launch", "result" };
	const struct report_state how = { .capture = r.capture };

	play_lossy(1);
	for (size_t i = 0; i < 12; i++) {
		char *run;

		/* A csv is one table. */
		parse(WORDS("--format", formats[i % 4], "--by", by[i / 4], "--table",
			    i % 4 == 2 ? "calls" : "events,calls,threads", "--max-loss", "100"));
		assert_int_equal(report_interval(&o, r.model, 0, NULL, &how), EXIT_OK);
		read_printed();
		run = strdup(text);
		assert_int_equal(verb_report(&o), EXIT_OK);
		read_printed();
		assert_string_equal(run, text);
		free(run);
	}
}

TEST(header_and_footer_have_measured_lost_and_cost)
{
	struct snapshot *snap;
	struct summary s;
	struct summary_text said;

	play_lossy(0);
	snap = snap_take(r.model, 0);
	s = summary_read(snap, false);
	assert_int_equal(summary_write(&said, &s, ""), 0);
	assert_string_equal(said.head.s, "gpuprof: pid 77 (tr\\x1b[ain), 1.000 ms on node-1");
	assert_string_equal(said.foot.s, "lost: none of 5 events; gpuprof cost: ~0.2 % of the targets' "
			    "thread time (estimated: 4 calls x 500 ns)\n"
			    "not followed: 1 child of pid 77: 99 (sh)\n"
			    "device times: not known, no helper told of any: -- CMD and gpuprof env "
			    "bring one into what is started, --inject into what runs");
	snapshot_free(snap);
	summary_text_free(&said);
}

/* Counters are the session's, as those of the table events; calls and time are the interval's. */
TEST(figures_of_a_later_interval_have_their_time_span)
{
	struct strbuf sb = STRBUF_INIT;

	play_lossy(0);
	snap_cut(r.model, snap_of(r.model)->now_ns);
	foot_of(&sb, r.model);
	assert_non_null(strstr(sb.s, "lost since the session began: none of 5 events; gpuprof cost: ~0 ns "
			       "in this interval (estimated: 0 calls x 500 ns)"));
	strbuf_free(&sb);
	snap_forget();
}

TEST(meta_has_the_clock_on_the_wall_and_the_losses)
{
	play_lossy(2);
	parse(WORDS("--format", "json", "--max-loss", "100"));
	assert_int_equal(print_model(), EXIT_OK);
	read_printed();
	assert_non_null(strstr(text, "\"host\": \"node-1\", "
			       "\"start\": \"2023-11-14T22:13:21.000000000Z\", "
			       "\"end\": \"2023-11-14T22:13:21.001000000Z\", "
			       "\"duration_ns\": 1000000, \"version\": \"v0.1\""));
	assert_non_null(strstr(text, "\"complete\": true, \"events\": 7, \"lost\": 2"));
}

TEST(loss_above_the_limit_is_exit_5_with_a_report)
{
	play_lossy(1);
	parse(WORDS("--full", "--max-loss", "10%"));
	assert_int_equal(print_model(), EXIT_PARTIAL);
	assert_int_equal(print_nothing(), EXIT_PARTIAL);
	read_printed();
	assert_non_null(strstr(text, "lost: 1 of 6 events (16.7 %)"));
	parse(WORDS("--full", "--max-loss", "17%"));
	assert_int_equal(print_model(), EXIT_OK);
}

TEST(a_capture_without_its_end_is_exit_5_with_a_report)
{
	size_t len;

	play_lossy(0);
	parse(WORDS("--format", "json"));
	free(io_read_file(r.capture, 1 << 20, &len));
	assert_int_equal(truncate(r.capture, (off_t)len - 1), 0);
	assert_int_equal(verb_report(&o), EXIT_PARTIAL);
	read_printed();
	assert_non_null(strstr(text, "\"complete\": false"));
	assert_int_equal(unlink(r.capture), 0);
	assert_int_equal(verb_report(&o), EXIT_FAIL);
}

TEST(names_are_checked_before_anything_is_read)
{
	static const char *const bad[][2] = {
		{ "--table", "call" }, { "--table", "calls,,threads" }, { "--sort", "cont" },
		{ "--filter", "(" }, { "--filter", "[" },
	};

	play_lossy(0);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		parse(WORDS(bad[i][0], bad[i][1]));
		assert_int_equal(report_check(&o.report), EXIT_USAGE);
	}
	parse(WORDS("--table", "threads", "--filter", "x"));
	assert_int_equal(report_check(&o.report), EXIT_USAGE);
	parse(WORDS("--table", "threads,calls", "--sort", "p99_ns", "--filter", "x"));
	assert_int_equal(report_check(&o.report), EXIT_OK);
}

TEST(filter_sort_and_top_choose_the_rows)
{
	play_lossy(0);
	parse(WORDS("--format", "csv", "--filter", "Sync|Launch", "--sort", "count", "--top", "1"));
	assert_int_equal(print_model(), EXIT_OK);
	read_printed();
	assert_non_null(strstr(text, ",cudaLaunchKernel,launch,3,"));
	assert_null(strstr(text, "cudaDeviceSynchronize"));
	parse(WORDS("--format", "csv", "--filter", "^cudaDevice"));
	assert_int_equal(print_model(), EXIT_OK);
	read_printed();
	assert_null(strstr(text, "cudaLaunchKernel"));
	assert_non_null(strstr(text, "cudaDeviceSynchronize"));
}

TEST(an_output_that_cannot_take_it_is_exit_1)
{
	play_lossy(0);
	parse(WORDS("-o", "/dev/full"));
	assert_int_equal(print_model(), EXIT_FAIL);
	parse(WORDS("-o", "/nonexistent/file"));
	assert_int_equal(verb_report(&o), EXIT_FAIL);
}
