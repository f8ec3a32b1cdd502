// SPDX-License-Identifier: BSD-3-Clause
/* Operators of frameworks: which functions of PyTorch are some, and what the model makes of them. */
#include <stdlib.h>
#include <string.h>

#include "facts/ops.h"
#include "gpuprof/control.h"
#include "gpuprof/event.h"
#include "probe/ops.h"
#include "view/falcon.h"
#include "ops_room.h"

/* ---- symbols ---------------------------------------------------------------------------------- */

TEST(operators_are_python_s_wrappers_and_nodes_of_autograd)
{
	static const struct {
		const char *symbol, *name;
		bool entry_only;
	} some[] = {
		{ "_ZN5torch8autogradL15THPVariable_addEP7_objectS2_S2_", "aten.add", false },
		{ "_ZN5torch8autograd16THPVariable_add_EP7_objectS2_S2_", "aten.add_", false },
		{ "_ZN5torch8autogradL18THPVariable_linearEP7_objectS2_S2_", "aten.linear", false },
		{ "_ZN5torch8autogradL22THPVariable_contiguousEP7_objectS2_S2_", "aten.contiguous", false },
		{ "_ZN5torch8autograd9generated14AddmmBackward05applyEOSt6vectorIN2at6TensorESaIS4_EE",
		  "AddmmBackward0", true },
		{ "_ZN5torch8autograd14AccumulateGrad5applyEOSt6vectorIN2at6TensorESaIS4_EE",
		  "AccumulateGrad", true },
		{ "_ZN2at4_ops10add_Tensor4callERKNS_6TensorES4_RKN3c106ScalarE", "aten.add_Tensor", true },
		{ "slot_tp_call", "", false },
		/* The compiler's pieces, properties, and others of the same names. */
		{ "_ZN5torch8autogradL15THPVariable_addEP7_objectS2_S2_.cold", NULL, false },
		{ "_ZN5torch8autograd20THPVariable_get_ndimEP11THPVariablePv", NULL, false },
		{ "_ZN5torch8autograd12THPVariable_EP7_object", NULL, false },
		{ "_ZN5torch8autograd6Engine17evaluate_functionERSt10shared_ptrINS0_9GraphTaskEE", NULL, false },
		{ "_ZN5torch8autograd4Node5applyEv", NULL, false },
		{ "_ZN5torch8autograd5applyEOSt6vectorIN2at6TensorESaIS4_EE", NULL, false },
		{ "_ZN2at4_ops10add_Tensor10redispatchEN3c1014DispatchKeySetERKNS_6TensorE", NULL, false },
		{ "_ZN2at4_ops4callERKNS_6TensorE", NULL, false },
		/* Lies. */
		{ "_ZN5torch8autogradL99THPVariable_addEP7_object", NULL, false },
		{ "_ZN5torch8autogradL0EP7_object", NULL, false },
		{ "_ZN5torch8autogradL18446744073709551615xEP7_object", NULL, false },
		{ "_ZN5torch8autograd", NULL, false },
		{ "_ZN5torch8autogradIiEE", NULL, false },
		{ "", NULL, false },
	};

	for (size_t i = 0; i < sizeof(some) / sizeof(some[0]); i++) {
		struct op_symbol op = { .id = 0 };
		const bool is_one = op_of_symbol(some[i].symbol, NULL, &op);

		if (is_one != (some[i].name != NULL))
			fail_msg("%s", some[i].symbol);
		if (!is_one)
			continue;
		assert_string_equal(op.name, some[i].name);
		assert_int_equal(op.entry_only, some[i].entry_only);
		assert_int_equal(op.is_node, strstr(some[i].symbol, "5apply") != NULL);
		assert_int_equal(op.id, *some[i].name ? op_id(some[i].name) : GP_OP_MODULE);
		assert_true(op.id > GP_OP_BACKWARD && !(op.id & ~GP_COOKIE_OP_BITS));
	}
}

TEST(operators_are_in_libraries_of_pytorch)
{
	static const struct {
		const char *library;
		unsigned int at[4];	/* how many kinds of functions, by level */
	} some[] = {
		{ "libtorch_python.so", { 0, 1, 0 } }, { "libtorch_cpu.so", { 0, 1, 2 } },
		{ "libpython3.13.so.1.0", { 0, 1, 1 } }, { "python3.11", { 0, 1, 1 } },
		{ "libtorch_cuda.so", { 0 } }, { "libc10.so", { 0 } },
		{ "libcublas.so.12", { 0, 0, 0, 1 } }, { "libcublasLt.so.13", { 0, 0, 0, 1 } },
	};

	for (size_t i = 0; i < sizeof(some) / sizeof(some[0]); i++)
		for (unsigned int level = OPS_OFF; level <= OPS_GEMMS; level++) {
			const struct ops_file *f = NULL;
			unsigned int n = 0;

			while ((f = ops_file_next(f, some[i].library, 1u << level)))
				n++;
			assert_int_equal(n, some[i].at[level]);
		}
}

TEST(a_name_that_is_too_long_is_no_operator)
{
	char symbol[400] = "_ZN5torch8autogradL212THPVariable_";
	struct op_symbol op;

	memset(symbol + strlen(symbol), 'x', 200);
	strcat(symbol, "EP7_object");
	assert_false(op_of_symbol(symbol, NULL, &op));
}

/* ---- the model -------------------------------------------------------------------------------- */

BEFORE_EACH
{
	restart(BASE);
}

enum module { NONE, NET, NET_LINEAR };

static uint64_t module_id(enum module module)
{
	return module ? GP_OPS_FIRST | (1000 + module) : 0;
}

static void module_named(enum module module, enum module outer, const char *name)
{
	struct event ev = { .kind = EVENT_FRAME, .frame.function = name };

	ev.frame.number = module_id(module);
	ev.frame.caller = module_id(outer);
	ev.frame.flags = FRAME_MODULE;
	push(m, ev);
}

static void assert_rows(const char *wanted)
{
	assert_table(&view_ops, "op count host_total_ns host_self_ns device_ns launches time_source",
		     wanted);
}

TEST(an_operator_has_its_launches_and_their_device_time_and_not_those_of_inner_ones)
{
	named("aten.linear");
	named("aten.relu");
	launch_in(1, 12, 16, "aten.relu");
	launch_in(2, 17, 19, "aten.relu");
	op_of(op_id("aten.relu"), 8, 11, 20, 0, true);
	launch_in(3, 22, 26, "aten.linear");
	op_of(op_id("aten.linear"), 8, 10, 30, 9, true);
	launch_in(4, 32, 36, NULL);
	work_of(1, 40, 45);
	work_of(2, 45, 50);
	work_of(3, 50, 57);
	work_of(4, 57, 60);
	finish(m, BASE + 100);
	assert_rows("aten.linear 1 20 11 7 1 measured\n"
		    "aten.relu 1 9 9 10 2 measured\n");
}

TEST(a_module_has_the_device_time_of_those_inside_it_too)
{
	module_named(NET, NONE, "Net");
	module_named(NET_LINEAR, NET, "Linear");
	launch_of(1, 12, 16, 0, module_id(NET_LINEAR));
	launch_of(2, 17, 19, 0, module_id(NET_LINEAR));
	op_of(module_id(NET_LINEAR), 8, 11, 20, 0, true);
	launch_of(3, 22, 26, 0, module_id(NET));
	op_of(module_id(NET), 8, 10, 30, 9, true);
	work_of(1, 40, 45);
	work_of(2, 45, 50);
	work_of(3, 50, 57);
	finish(m, BASE + 100);
	assert_table(&view_modules, "module calls host_ns host_self_ns device_ns device_self_ns launches",
		     "Net 1 20 11 17 7 1\n"
		     "Net/Linear 1 9 9 10 10 2\n");
	assert_rows("");
}

/* Which of two is known first, the operator or its shape, is chance. */
TEST(an_operator_is_split_by_the_shapes_of_its_first_tensor)
{
	static const struct { uint64_t id; const char *op, *shape; } shapes[] = {
		{ GP_OPS_FIRST | 501, "aten.mm.default", "[8, 64] float32" },
		{ GP_OPS_FIRST | 502, "aten.mm.default", "[] bool" },
		{ GP_OPS_FIRST | 503, "aten.add.Tensor", "[8, 64] float32" },
	};

	named("aten.mm.default");
	for (size_t i = 0; i < 3; i++) {
		struct event ev = { .kind = EVENT_FRAME, .frame.function = shapes[i].shape };

		ev.frame.number = shapes[i].id;
		ev.frame.offset = op_id(shapes[i].op);
		ev.frame.flags = FRAME_SHAPE;
		push(m, ev);
	}
	launch_of(1, 12, 16, shapes[0].id, 0);
	op_of(shapes[0].id, 8, 10, 50, 0, true);
	op_of(shapes[0].id, 8, 60, 64, 0, false);
	op_of(shapes[1].id, 8, 70, 73, 0, true);
	op_of(op_id("aten.mm.default"), 8, 80, 82, 0, true);
	op_of(shapes[2].id, 8, 90, 91, 0, true);
	named("aten.add.Tensor");
	work_of(1, 90, 95);
	finish(m, BASE + 100);
	assert_table(&view_ops, "op input_shape input_dtype count host_total_ns device_ns launches time_source",
		     "aten.mm.default [8, 64] float32 2 44 5 1 upper bound\n"
		     "aten.mm.default [] bool 1 3 ? 0 measured\n"
		     "aten.mm.default ? ? 1 2 ? 0 measured\n"
		     "aten.add.Tensor [8, 64] float32 1 1 ? 0 measured\n");
}

TEST(of_a_module_with_several_shapes_it_is_unknown_which_has_the_time_of_inner_ones)
{
	static const struct { enum module module; const char *shape; } shapes[] = {
		{ NET, "[8, 64] float32" }, { NET, "[2, 64] float32" },
		{ NET_LINEAR, "[8, 64] float32" }, { NET_LINEAR, "[2, 64] float32" },
	};
	uint64_t id[4];

	module_named(NET, NONE, "Net");
	module_named(NET_LINEAR, NET, "Linear");
	for (size_t i = 0; i < 4; i++) {
		struct event ev = { .kind = EVENT_FRAME, .frame.function = shapes[i].shape };

		ev.frame.number = id[i] = GP_OPS_FIRST | (2000 + i);
		ev.frame.offset = module_id(shapes[i].module);
		ev.frame.flags = FRAME_SHAPE;
		push(m, ev);
	}
	for (size_t i = 0; i < 2; i++) {
		launch_of((uint32_t)(1 + 2 * i), 12 + 20 * i, 16 + 20 * i, 0, id[2 + i]);
		op_of(id[2 + i], 8, 11 + 20 * i, 20 + 20 * i, 0, true);
		launch_of((uint32_t)(2 + 2 * i), 22 + 20 * i, 24 + 20 * i, 0, id[i]);
		op_of(id[i], 8, 10 + 20 * i, 28 + 20 * i, 9, true);
	}
	for (uint32_t i = 1; i <= 4; i++)
		work_of(i, 60 + 8 * i, 60 + 8 * i + i);
	finish(m, BASE + 200);
	assert_table(&view_modules, "module input_shape calls device_ns device_self_ns launches",
		     "Net [8, 64] 1 ? 2 1\n"
		     "Net [2, 64] 1 ? 4 1\n"
		     "Net/Linear [8, 64] 1 1 1 1\n"
		     "Net/Linear [2, 64] 1 3 3 1\n");
}

/* ---- as Falcon has it -------------------------------------------------------------------------- */

static void shaped(uint64_t id, uint64_t plain, const char *shape)
{
	struct event ev = { .kind = EVENT_FRAME, .frame.function = shape };

	ev.frame.number = id;
	ev.frame.offset = plain;
	ev.frame.flags = FRAME_SHAPE;
	push(m, ev);
}

#define OPERATORS "operator count total_time_ms avg_time_ms median_time_ms percent_time"

TEST(falcon_on_the_host_has_the_time_outside_of_operators_inside)
{
	named("aten.linear.default");
	named("aten.addmm.default");
	named("AddmmBackward0");
	for (uint64_t at = 0; at < 30000000; at += 10000000) {
		op_of(op_id("aten.addmm.default"), 8, at + 2000000, at + 5000000, 0, true);
		op_of(op_id("aten.linear.default"), 8, at + 1000000, at + 6000000, 3000000, true);
	}
	op_of(op_id("AddmmBackward0"), 8, 40000000, 50000000, 0, false);
	finish(m, BASE + 60000000);
	assert_table(&view_falcon_operators, OPERATORS,
		     "aten.addmm.default 3 9 3 3 60\n"
		     "aten.linear.default 3 6 2 ? 40\n");
}

TEST(falcon_on_a_device_has_its_time_by_shape_of_what_launched_some)
{
	const uint64_t mm = op_id("aten.mm.default"), wide = GP_OPS_FIRST | 501, flat = GP_OPS_FIRST | 502;

	named("aten.mm.default");
	named("aten.t.default");
	named("aten.add.Tensor");
	shaped(wide, mm, "[8, 64] float16");
	shaped(flat, mm, "[7] float32");
	launch_of(1, 12, 16, wide, 0);
	op_of(wide, 8, 10, 20, 0, true);
	launch_of(2, 32, 36, flat, 0);
	op_of(flat, 8, 30, 40, 0, true);
	op_of(op_id("aten.t.default"), 8, 50, 60, 0, true);
	launch_in(3, 72, 76, "aten.add.Tensor");
	op_of(op_id("aten.add.Tensor"), 8, 70, 80, 0, true);
	work_of(1, 100000, 2100000);
	work_of(2, 3000000, 4000000);
	work_of(3, 5000000, 6000000);
	finish(m, BASE + 9000000);
	assert_table(&view_falcon_operators, OPERATORS " input_shapes input_dtypes",
		     "aten.mm.default 1 2 2 ? 50 (8, 64) torch.float16\n"
		     "aten.mm.default 1 1 1 ? 25 (7,) torch.float32\n"
		     "aten.add.Tensor 1 1 1 ? 25 N/A N/A\n");
}

TEST(falcon_adds_up_the_modules_of_a_class_and_shape)
{
	const uint64_t outer = GP_OPS_FIRST | 501, inner = GP_OPS_FIRST | 502;

	module_named(NET, NONE, "Linear");
	module_named(NET_LINEAR, NET, "Linear");
	shaped(outer, module_id(NET), "[] bool");
	shaped(inner, module_id(NET_LINEAR), "[] bool");
	launch_of(1, 12, 16, 0, inner);
	op_of(inner, 8, 11, 20, 0, true);
	op_of(outer, 8, 10, 30, 9, true);
	work_of(1, 1000, 500001000);
	finish(m, BASE + 600000000);
	assert_table(&view_falcon_modules,
		     "layer_type input_shape input_dtype time_per_call call_count total_time original_key",
		     "Linear () torch.bool 0.5 2 1 Linear|()|torch.bool|{}\n");
}

/* The last node is only seen to be over in the next backward pass. */
TEST(a_node_is_over_with_the_backward_pass_that_it_began_in)
{
	named("MulBackward0");
	named("AccumulateGrad");
	op_of(op_id("MulBackward0"), 9, 12, 15, 0, false);
	op_of(GP_OP_BACKWARD, 8, 10, 20, 0, true);
	op_of(op_id("AccumulateGrad"), 9, 15, 52, 0, false);
	op_of(op_id("MulBackward0"), 9, 52, 55, 0, false);
	op_of(GP_OP_BACKWARD, 8, 50, 60, 0, true);
	op_of(op_id("AccumulateGrad"), 9, 55, 99, 0, false);
	finish(m, BASE + 100);
	assert_rows("0x8000000000000001 2 20 20 ? 0 measured\n"
		    "AccumulateGrad 2 10 10 ? 0 upper bound\n"
		    "MulBackward0 2 6 6 ? 0 upper bound\n");
}

TEST(operators_of_a_time_outside_of_the_session_are_not_counted)
{
	named("aten.add");
	op_of(op_id("aten.add"), 8, 10, 20, 0, true);
	push(m, (struct event){ .kind = EVENT_OP, .pid = 7, .tid = 8, .has = HAS_END,
				.start_ns = BASE - 10, .end_ns = BASE + 5, .op.id = op_id("aten.add") });
	push(m, (struct event){ .kind = EVENT_STOP, .end_ns = BASE + 100 });
	op_of(op_id("aten.add"), 8, 90, 120, 0, true);
	op_of(op_id("aten.add"), 8, 110, 120, 0, true);
	assert_int_equal(model_finish(m), 0);
	assert_rows("aten.add 2 20 20 ? 0 measured\n");
}

TEST(an_interval_has_what_came_in_it)
{
	struct snapshot *before, *after;

	named("aten.add");
	op_of(op_id("aten.add"), 8, 10, 20, 0, true);
	before = snapshot_take(m, BASE + 50);
	op_of(op_id("aten.add"), 8, 60, 63, 0, true);
	after = snapshot_take(m, BASE + 100);
	assert_non_null(before);
	assert_non_null(after);
	snapshot_subtract(after, before);
	assert_int_equal(ops_count(after->ops), 1);
	assert_int_equal(ops_at(after->ops, 0)->count, 1);
	assert_int_equal(ops_at(after->ops, 0)->time.total, 3);
	snapshot_free(before);
	snapshot_free(after);
}
