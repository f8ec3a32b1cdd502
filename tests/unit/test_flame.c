// SPDX-License-Identifier: BSD-3-Clause
/* Flame graphs: the exact bytes of both forms, of rows of calls and of times off the CPU. */
#include "lib/test.h"
#include "view/flame.h"

static const struct column call_columns[] = {
	COLUMN_PID, COLUMN_COMM, { .name = "function", .type = CELL_TEXT },
	{ .name = "total_ns", .type = CELL_NS }, { .name = "stack", .type = CELL_STACK },
};
static const struct column off_columns[] = {
	COLUMN_PID, COLUMN_COMM, { .name = "reason", .type = CELL_TEXT },
	{ .name = "total_ns", .type = CELL_NS }, { .name = "stack", .type = CELL_STACK },
};

static void add(struct table *t, uint64_t pid, const char *what, uint64_t ns, const char *stack)
{
	struct cell *row = table_row(t);

	cell_u(&row[0], pid);
	cell_s(t, &row[1], pid ? "train" : NULL);
	cell_s(t, &row[2], what);
	cell_u(&row[3], ns);
	cell_s(t, &row[4], stack);
	assert_false(t->failed);
}

/* calls, offcpu */
static struct table *t[2];

BEFORE_EACH
{
	t[0] = table_new("calls", call_columns, 5);
	t[1] = table_new("offcpu", off_columns, 5);
	assert_true(t[0] && t[1]);
}

AFTER_EACH
{
	table_free(t[0]);
	table_free(t[1]);
}

static void renders(enum format f, const char *wanted)
{
	struct strbuf out = STRBUF_INIT;

	flame_render(&out, t, 2, f);
	assert_false(out.failed);
	assert_string_equal(out.s, wanted);
	strbuf_free(&out);
}

TEST(each_row_is_its_process_stack_and_call_or_reason)
{
	add(t[0], 12, "cudaMemcpy", 30, "main;step;cudaMemcpy");
	add(t[0], 12, "cudaFree", 5, "main;step;libcudart.so.13+0x10");
	add(t[0], 13, "cudaMemcpy", 7, NULL);
	add(t[0], 12, "cudaMalloc", 0, "main;cudaMalloc");
	add(t[1], 12, "lock", 9, "main;load data;a\nb");
	renders(FORMAT_FOLDED,
		"train (pid 12);main;step;cudaMemcpy 30\n"
		"train (pid 12);main;step;libcudart.so.13+0x10;cudaFree 5\n"
		"train (pid 13);[no stack];cudaMemcpy 7\n"
		"train (pid 12);main;load data;a\\nb;[lock] 9\n");
}

TEST(speedscope_has_a_profile_of_each_process_and_each_frame_once)
{
	add(t[0], 12, "cudaMemcpy", 30, "main;cudaMemcpy");
	add(t[0], 13, "cudaMemcpy", 7, "main;cudaMemcpy");
	add(t[1], 12, "lock", 9, "main;a\"b");
	renders(FORMAT_SPEEDSCOPE,
		"{\"$schema\": \"https://www.speedscope.app/file-format-schema.json\",\n"
		"\"exporter\": \"gpuprof\", \"name\": \"gpuprof\",\n"
		"\"shared\": {\"frames\": [\n"
		" {\"name\": \"[lock]\"},\n {\"name\": \"a\\\"b\"},\n {\"name\": \"cudaMemcpy\"},\n"
		" {\"name\": \"main\"},\n {\"name\": \"train (pid 12)\"},\n"
		" {\"name\": \"train (pid 13)\"}]},\n"
		"\"profiles\": [\n"
		"{\"type\": \"sampled\", \"unit\": \"nanoseconds\", \"name\": \"train (pid 12)\", "
		"\"startValue\": 0, \"samples\": [[4,3,2],[4,3,1,0]],\n"
		" \"weights\": [30,9], \"endValue\": 39},\n"
		"{\"type\": \"sampled\", \"unit\": \"nanoseconds\", \"name\": \"train (pid 13)\", "
		"\"startValue\": 0, \"samples\": [[5,3,2]],\n"
		" \"weights\": [7], \"endValue\": 7}]}\n");
}

TEST(without_rows_folded_is_empty_and_without_a_name_it_is_a_process)
{
	renders(FORMAT_FOLDED, "");
	add(t[0], 0, "cudaMemcpy", 7, NULL);
	renders(FORMAT_FOLDED, "process (pid 0);[no stack];cudaMemcpy 7\n");
}
