// SPDX-License-Identifier: BSD-3-Clause
/*
 * The page: whatever names are, they are text in it; it asks for nothing; its data is json; and where
 * little is known it says so. TEST_HTML_PAGE=FILE keeps the page of hostile names, for a browser.
 */
#include <stdio.h>
#include <string.h>

#include "base/utf8.h"
#include "lib/work_named.h"
#include "model_each.h"
#include "view/html.h"
#include "view/html_moments.h"
#include "view/verdict.h"
#include "view/view.h"

#define SECOND 1000000000ull
#define HOSTILE "</script><img src=x onerror=\"alert(1)\">'&amp;\n\x1b[31m\xff\xe2\x80\xae"

static struct strbuf page = STRBUF_INIT;

BEFORE_EACH
{
	struct consumers consumers;

	restart(SECOND);
	view_consumers(&consumers);
	consumers.v[consumers.n++] = &html_moments_consumer;
	assert_int_equal(model_use_consumers(m, &consumers), 0);
	model_use_bins(m);
	strbuf_reset(&page);
}

static void render(void)
{
	const struct summary s = summary_read(snap_of(m), false);
	struct strbuf verdict = STRBUF_INIT;
	struct summary_text text;

	assert_int_equal(verdict_add(&verdict, s.snap), 0);
	assert_int_equal(summary_write(&text, &s, verdict.s), 0);
	assert_int_equal(html_add(&page, &s, verdict.s, &text), 0);
	summary_text_free(&text);
	strbuf_free(&verdict);
}

static size_t count(const char *what)
{
	size_t n = 0;

	for (const char *at = page.s; (at = strstr(at, what)); at += strlen(what))
		n++;
	return n;
}

/* 100 ms of a launch with its kernel, then a wait for 900 ms. */
static void run_session(const char *name)
{
	push(m, (struct event){ .kind = EVENT_FACT, .fact.key = "host", .fact.value = name });
	push(m, (struct event){ .kind = EVENT_PROCESS, .pid = 7, .start_ns = SECOND / 2,
				.task.comm = name, .task.cmdline = name });
	push(m, (struct event){ .kind = EVENT_THREAD, .pid = 7, .tid = 7, .start_ns = SECOND / 2,
				.task.comm = name });
	push(m, (struct event){ .kind = EVENT_FRAME, .frame.number = 1, .frame.function = name });
	push(m, (struct event){ .kind = EVENT_STACK, .stack.id = 5, .stack.frame = 1,
				.stack.known = STACK_KNOWN_WHOLE });
	push(m, (struct event){ .kind = EVENT_DEVICE, .pid = 7, .device.name = name,
				.device.facts.uuid = "GPU-1" });
	push(m, (struct event){ .kind = EVENT_CALL, .has = HAS_END, .pid = 7, .tid = 7,
				.func = L, .seq = 1,
				.start_ns = SECOND, .end_ns = SECOND + SECOND / 20,
				.call.stack = 5 });
	push(m, (struct event){ .kind = EVENT_API, .pid = 7, .tid = 7, .api.domain = 5,
				.api.correlation = 1, .start_ns = SECOND,
				.end_ns = SECOND + SECOND / 20 });
	push(m, (struct event){ .kind = EVENT_WORK, .pid = 7, .start_ns = SECOND + SECOND / 20,
				.end_ns = SECOND + SECOND / 10,
				.work = work_named((struct work){ .kind = WORK_KIND_KERNEL,
								  .correlation = 1 }, name) });
	push(m, (struct event){ .kind = EVENT_CALL, .has = HAS_END, .pid = 7, .tid = 7,
				.func = S, .seq = 2,
				.start_ns = SECOND + SECOND / 10, .end_ns = 2 * SECOND,
				.call.stack = 5, .call.blocked_ns = SECOND / 2 });
	push(m, (struct event){ .kind = EVENT_SAMPLE, .start_ns = SECOND, .end_ns = 2 * SECOND,
				.sample = { .uuid = "GPU-1", .name = name,
					    .values = { .has = 1u << SAMPLE_CLOCK_REASONS |
							       1u << SAMPLE_USED_BYTES,
							.v[SAMPLE_CLOCK_REASONS] = CLOCK_THERMAL,
							.v[SAMPLE_USED_BYTES] = 4096 } } });
	push(m, (struct event){ .kind = EVENT_FAULT, .start_ns = SECOND + SECOND / 4,
				.fault = { .uuid = "GPU-1", .name = name, .what = FAULT_XID,
					   .value = 79 } });
	finish(m, 2 * SECOND);
}

static void assert_is_text(void)
{
	for (const char *c = page.s; *c;) {
		const int32_t code = utf8_next(&c);

		assert_true(code == '\n' || code == '\t' || (code > 0 && !utf8_is_unsafe(code)));
	}
}

static void keep_page(void)
{
	const char *path = getenv("TEST_HTML_PAGE");
	FILE *file = path ? fopen(path, "w") : NULL;

	if (!file)
		return;
	fputs(page.s, file);
	fclose(file);
}

TEST(hostile_names_are_text)
{
	run_session(HOSTILE);
	render();
	keep_page();
	assert_is_text();
	assert_int_equal(count("<script"), 2);
	assert_int_equal(count("</script"), 2);
	assert_int_equal(count("<img"), 0);
	assert_true(count("&#60;/script&#62;&#60;img src=x onerror=&#34;") > 3);
	assert_true(count("\\u003c/script>") > 0);
	assert_true(count("\\x1b[31m\\xff\\u202e") > 0);
}

TEST(it_asks_for_nothing)
{
	static const char *const bad[] = { "http:", "https:", "//fonts", "@import", "url(", "src=\"",
					   "<link", "<iframe", "fetch(", "XMLHttp", "import(" };

	run_session("train");
	render();
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_int_equal(count(bad[i]), 0);
	assert_int_equal(count("default-src 'none'; style-src 'sha256-"), 1);
	assert_int_equal(count(" style="), 0);		/* which the policy forbids */
	assert_int_equal(count(" onclick="), 0);
}

TEST(it_has_the_sums_and_the_moments)
{
	run_session("train");
	render();
	assert_int_equal(count("[\"compute\", \"other\", ["), 1);
	assert_int_equal(count("[\"call\", \"sync\", ["), 1);
	assert_int_equal(count("\"ns\": 250000000, \"times\": 1, \"text\": \"GPU 0: XID 79, "), 1);
	assert_int_equal(count("{\"gpu\": \"0\", \"from_ns\": 0, \"to_ns\": 1000000000, \"why\": \"heat\"}"),
			 1);
	assert_int_equal(count("\"points\": [[1000000000,4096]]"), 1);
	assert_int_equal(count("<svg class=\"flame\""), 2);	/* calls, device time */
}

TEST(what_is_not_known_is_said)
{
	finish(m, 2 * SECOND);
	render();
	assert_int_equal(count("\"strips\": [\n]}"), 1);
	assert_int_equal(count("No GPU worked for these processes, as far as is known"), 1);
	assert_int_equal(count("The capture has no stacks"), 1);
}

/* The first are shown, the others are a sum. */
TEST(long_tables_end_in_the_sum_of_the_others)
{
	char name[32];

	push(m, (struct event){ .kind = EVENT_PROCESS, .pid = 7, .start_ns = SECOND / 2 });
	push(m, (struct event){ .kind = EVENT_CALL, .pid = 7, .tid = 7, .func = L, .seq = 1,
				.start_ns = SECOND, .end_ns = SECOND + 10 });
	for (uint32_t i = 0; i < 600; i++) {
		snprintf(name, sizeof(name), "kernel%u", i);
		push(m, (struct event){ .kind = EVENT_WORK, .pid = 7,
					.start_ns = SECOND + 1000 * (i + 1),
					.end_ns = SECOND + 1000 * (i + 1) + 10,
					.work = work_named((struct work){ .kind = WORK_KIND_KERNEL },
							   name) });
	}
	finish(m, 2 * SECOND);
	render();
	assert_int_equal(count("<tfoot>"), 1);
	assert_int_equal(count("<td>100 more</td>"), 1);
	assert_int_equal(count("data-v=\"1000\">1.000 us</td>"), 1);	/* their time */
}

#define MANY 120

/* Devices, threads and processes, with long names, and what they did in each of many moments. */
TEST(it_has_at_most_two_megabytes)
{
	static char name[3000];
	uint32_t seq[MANY] = { 0 };

	memset(name, 'k', sizeof(name) - 1);
	for (uint32_t i = 0; i < MANY; i++)
		push(m, (struct event){ .kind = EVENT_PROCESS, .pid = 1000 + i,
					.start_ns = SECOND / 2, .task.comm = name,
					.task.cmdline = name });
	for (uint32_t i = 1; i < 3000; i++) {
		push(m, (struct event){ .kind = EVENT_FRAME, .frame.number = i,
					.frame.caller = i / 2, .frame.function = name });
		push(m, (struct event){ .kind = EVENT_STACK, .stack.id = i, .stack.frame = i,
					.stack.known = STACK_KNOWN_WHOLE });
	}
	for (uint32_t i = 0; i < 150 * MANY; i++) {
		const uint32_t of = i % MANY;
		const uint64_t start = SECOND + i * 50000ull, end = start + 300000 + i % 7;

		memcpy(name, &i, 2);
		push(m, (struct event){ .kind = EVENT_CALL, .has = HAS_END, .pid = 1000 + of,
					.tid = 1000 + of, .func = i % 3 ? L : S, .seq = ++seq[of],
					.start_ns = start, .end_ns = end,
					.call.stack = 1 + i % 2999 });
		push(m, (struct event){ .kind = EVENT_WORK, .pid = 1000 + of, .start_ns = start,
					.end_ns = end,
					.work = work_named((struct work){ .kind = WORK_KIND_KERNEL },
							   name) });
		push(m, (struct event){ .kind = EVENT_MEMORY, .pid = 1000 + of, .start_ns = start,
					.has = HAS_BYTES,
					.memory = { .op = MEMORY_ALLOC, .address = i + 1ull,
						    .kind = 1 + i % 7, .bytes = 1000 + i } });
		push(m, (struct event){ .kind = EVENT_SAMPLE, .start_ns = start, .end_ns = end,
					.sample = { .uuid = "GPU-1", .number = of,
						    .values = { .has = 1u << SAMPLE_CLOCK_REASONS |
								       1u << SAMPLE_USED_BYTES,
								.v[SAMPLE_CLOCK_REASONS] =
									CLOCK_THERMAL,
								.v[SAMPLE_USED_BYTES] = i } } });
	}
	finish(m, 2 * SECOND);
	render();
	assert_true(page.len < 2000000);
	assert_true(count("{\"gpu\": \"0\", \"pid\"") > 60);
}

static int free_page(void **state)
{
	(void)state;
	strbuf_free(&page);
	return 0;
}

TEST_GROUP(NULL, free_page);
