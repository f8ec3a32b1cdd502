// SPDX-License-Identifier: BSD-3-Clause
/* Products of matrices: their text, and their table. */
#include <string.h>

#include "catalog/gemms.h"
#include "gpuprof/control.h"
#include "ops_room.h"
#include "view/tunableop.h"

static struct gp_gemm product(const char *function)
{
	struct gp_gemm rec = { .kind = GP_GEMM, .id = GP_OPS_FIRST | 900, .row = (uint8_t)gemm_find(function),
			       .operation = { 1, 0 }, .m = 48, .n = 8, .k = 64, .ld = { 64, 65, 48 }, .batch = 1 };

	return rec;
}

TEST(each_function_has_arguments_where_bpf_reads_them)
{
	static const struct { const char *function; struct gp_gemm_row row; } some[] = {
		{ "cublasLtMatmul", { .is_lt = 1 } },
		{ "cublasSgemm_v2", { .ld = { 2, 4, 7 } } },
		{ "cublasZgemm_v2_64", { .is_wide = 1, .ld = { 2, 4, 7 } } },
		{ "cublasGemmEx", { .type = { 2, 5, 9 }, .ld = { 3, 6, 10 } } },
		{ "cublasGemmStridedBatchedEx_64",
		  { .is_wide = 1, .type = { 2, 6, 11 }, .ld = { 3, 7, 12 }, .batch = 14 } },
	};

	for (size_t i = 0; i < sizeof(some) / sizeof(some[0]); i++) {
		const int row = gemm_find(some[i].function);
		struct op_symbol op;
		struct gp_gemm_row wire;

		assert_in_range(row, 0, GP_GEMM_ROWS - 1);
		wire = gemm_wire_row((unsigned int)row);
		assert_memory_equal(&wire, &some[i].row, sizeof(wire));
		assert_true(op_of_symbol(some[i].function, NULL, &op) && !op.entry_only && !*op.name);
		assert_int_equal(op.id, GP_OP_GEMM + (unsigned int)row);
		assert_false(op.id & ~GP_COOKIE_OP_BITS);
	}
	assert_int_equal(gemm_find("cublasSgemm"), -1);	/* of cublas.h: without a handle */
	assert_int_equal(gemm_find("cublasSgemv_v2"), -1);
	assert_int_equal(gemm_wire_row(GP_GEMM_ROWS).ld[0], 0);
}

TEST(a_product_is_read_as_it_was_written)
{
	struct gp_gemm rec = product("cublasLtMatmul");
	char text[GEMM_TEXT_MAX];
	struct gemm g;

	memcpy(rec.type, (uint8_t[]){ 28, 29, 14 }, sizeof(rec.type));
	rec.bias = 1;
	rec.batch = 3;
	assert_true(gemm_write(&rec, text));
	assert_string_equal(text, "cublasLtMatmul tn 48 8 64 x3 ld 64 65 48 float8_e4m3fn float8_e5m2 bfloat16 bias");
	assert_true(gemm_read(text, &g));
	assert_string_equal(g.function, "cublasLtMatmul");
	assert_string_equal(g.operation, "tn");
	assert_true(g.m == 48 && g.n == 8 && g.k == 64 && g.batch == 3 && g.bias);
	assert_true(g.ld[0] == 64 && g.ld[1] == 65 && g.ld[2] == 48);
	assert_string_equal(g.type[1], "float8_e5m2");
	assert_true(gemm_flops(&g) == 2.0 * 48 * 8 * 64 * 3);
	rec.type[0] = 200;
	assert_true(gemm_write(&rec, text) && strstr(text, " cudaDataType:200 "));
}

TEST(complex_numbers_are_multiplied_by_four_products_each)
{
	struct gp_gemm rec = product("cublasCgemm_v2");
	char text[GEMM_TEXT_MAX];
	struct gemm g;

	assert_true(gemm_write(&rec, text) && gemm_read(text, &g));
	assert_true(gemm_flops(&g) == 8.0 * 48 * 8 * 64);
}

TEST(of_a_product_that_was_not_understood_only_the_function_is_known)
{
	struct gp_gemm rec = product("cublasGemmEx");
	char text[GEMM_TEXT_MAX];
	struct gemm g;

	rec.m = 0;
	assert_true(gemm_write(&rec, text));
	assert_string_equal(text, "cublasGemmEx");
	assert_true(gemm_read(text, &g) && !g.m && !*g.operation);
	rec = product("cublasGemmEx");
	rec.operation[1] = 3;
	assert_true(gemm_write(&rec, text));
	assert_string_equal(text, "cublasGemmEx");
	rec.row = GP_GEMM_ROWS;
	assert_false(gemm_write(&rec, text));
	assert_false(gemm_read("", &g));
	assert_false(gemm_read("cublasGemmEx tn 1 2 3", &g));
}

/* ---- the table -------------------------------------------------------------------------------- */

BEFORE_EACH
{
	restart(BASE);
}

enum { SMALL = 1, LARGE, UNKNOWN, SAME };

static uint64_t id_of(int product)
{
	return GP_OPS_FIRST | (uint64_t)(900 + product);
}

static void product_of(int number, const char *op, const char *text)
{
	struct event ev = { .kind = EVENT_FRAME, .frame.function = text };

	ev.frame.number = id_of(number);
	ev.frame.offset = op ? op_id(op) : 0;
	ev.frame.flags = FRAME_GEMM;
	push(m, ev);
}

/* Four calls: two of the small one, in two operators, one of the large one, and one that is unknown. */
static void multiply(void)
{
	static const int products[] = { SMALL, LARGE, UNKNOWN, SAME };

	named("aten.mm");
	named("aten.linear");
	product_of(SMALL, "aten.mm", "cublasSgemm_v2 nn 8 4 2 x1 ld 8 2 8 float32 float32 float32");
	product_of(LARGE, "aten.mm", "cublasGemmEx tn 100 100 100 x1 ld 100 100 100 float16 float16 float32");
	product_of(UNKNOWN, NULL, "cublasLtMatmul");
	product_of(SAME, "aten.linear", "cublasSgemm_v2 nn 8 4 2 x1 ld 8 2 8 float32 float32 float32");
	for (uint32_t i = 0; i < 4; i++) {
		const uint64_t at = 10 + 20 * i;

		launch_of(i + 1, at + 2, at + 6, id_of(products[i]), 0);
		op_of(id_of(products[i]), 8, at, at + 8, 0, true);
		op_of(op_id(products[i] == SAME ? "aten.linear" : "aten.mm"), 8, at - 1, at + 10, 0, true);
	}
	work_of(1, 100, 110);
	work_of(2, 110, 180);
	work_of(3, 180, 190);
	work_of(4, 190, 200);
	finish(m, BASE + 300);
}

TEST(products_alike_are_one_row_with_their_device_time_and_that_of_those_above)
{
	multiply();
	assert_table(&view_gemm, "function layout m n k dtype calls host_ns launches device_ns share cumulative_share "
				 "tflops",
		     "cublasGemmEx tn 100 100 100 float16, float16, float32 1 8 1 70 0.7 0.7 28.5714\n"
		     "cublasSgemm_v2 nn 8 4 2 float32 2 16 2 20 0.2 0.9 0.0128\n"
		     "cublasLtMatmul ? ? ? ? ? 1 8 1 10 0.1 1 ?\n");
}

TEST(of_a_product_the_launches_and_their_time_are_its_operators_too)
{
	multiply();
	assert_table(&view_ops, "op count device_ns launches", "aten.mm 3 80 2\naten.linear 1 10 1\n");
}

TEST(without_device_times_the_products_that_were_asked_for_most_come_first)
{
	product_of(SMALL, NULL, "cublasSgemm_v2 nn 8 4 2 x1 ld 8 2 8 float32 float32 float32");
	product_of(LARGE, NULL, "cublasSgemm_v2 nn 8 4 4 x1 ld 8 4 8 float32 float32 float32");
	for (uint64_t at = 10; at < 40; at += 10)
		op_of(id_of(at > 10 ? LARGE : SMALL), 8, at, at + 5, 0, true);
	finish(m, BASE + 300);
	assert_table(&view_gemm, "k calls device_ns share cumulative_share tflops", "4 2 ? ? ? ?\n2 1 ? ? ? ?\n");
}

TEST(pruned_are_the_rows_that_add_less)
{
	struct snapshot *snap;
	struct table *t;

	multiply();
	snap = snap_take(m, 0);
	t = view_fill(&view_gemm, &(struct view_query){ .snapshot = snap, .prune = 0.2 });
	assert_int_equal(t->n_rows, 2);
	assert_int_equal(t->cut, 1);
	table_free(t);
	snapshot_free(snap);
}

TEST(tunableop_has_a_line_for_each_product_that_it_tunes)
{
	static const char *const texts[] = {
		"cublasSgemm_v2 nn 32 8 64 x1 ld 32 64 32 float32 float32 float32",
		"cublasGemmEx nn 32 8 64 x1 ld 32 64 32 float32 float32 float32",	/* the same line */
		"cublasLtMatmul tn 48 8 64 x1 ld 64 64 48 bfloat16 bfloat16 bfloat16 bias",
		"cublasGemmStridedBatchedEx nc 24 8 16 x4 ld 24 16 24 float16 float16 float16",
		"cublasLtMatmul nn 24 8 16 x5 ld 24 16 24 float64 float64 float64",
		"cublasCgemm_v2 tt 4 4 4 x1 ld 4 4 4 complex64 complex64 complex64",
		"cublasGemmBatchedEx nn 24 8 16 x4 ld 24 16 24 float16 float16 float16",
		"cublasLtMatmul tn 16 16 16 x1 ld 16 16 16 float8_e4m3fn float8_e4m3fn bfloat16",
		"cublasLtMatmul",
	};
	struct strbuf out = STRBUF_INIT;
	struct table *t;

	for (int i = 0; i < 9; i++) {
		product_of(i, NULL, texts[i]);
		for (int times = i; times < 9; times++)
			op_of(id_of(i), 8, 10 + 100 * (uint64_t)i + 10 * (uint64_t)times,
			      15 + 100 * (uint64_t)i + 10 * (uint64_t)times, 0, true);
	}
	finish(m, BASE + 3000);
	t = view_now(&view_gemm, m);
	assert_int_equal(tunableop_add(&out, t), 3);
	assert_string_equal(out.s, "GemmTunableOp_float_NN,nn_32_8_64_ld_32_64_32\n"
				   "GemmAndBiasTunableOp_BFloat16_TN,tn_48_8_64_ld_64_64_48\n"
				   "GemmStridedBatchedTunableOp_Half_NC,nc_24_8_16_B_4_ld_24_16_24\n"
				   "GemmStridedBatchedTunableOp_double_NN,nn_24_8_16_B_5_ld_24_16_24\n"
				   "GemmTunableOp_c10::complex<float>_TT,tt_4_4_4_ld_4_4_4\n");
	strbuf_free(&out);
	table_free(t);
}
