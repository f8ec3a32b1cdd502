// SPDX-License-Identifier: BSD-3-Clause
/* What is probed in a file, and what is left out and named, by how its functions begin. */
#include "unit/elf_object.h"

#include "lib/test.h"
#include "probe/plan.h"
#include "unit/row_of.h"

/* Of this library: one function that begins well, one that is stepped, one that is called seldom and
 * stepped, one that the kernel refuses. */
static const char library[] =
	"#define F(name, code) __asm__(\".text\\n.globl \" #name \"\\n.type \" #name \", %function\\n\" "
	"#name \":\\n\" code \"\\n.size \" #name \", .-\" #name);\n"
#if defined(__x86_64__)
	"F(cudaLaunchKernel, \"push %rbp\\npop %rbp\\nret\")\n"
	"F(cudaMemcpyAsync, \"sub $8,%rsp\\nadd $8,%rsp\\nret\")\n"
	"F(cudaInitDevice, \"sub $8,%rsp\\nadd $8,%rsp\\nret\")\n"
	"F(cudaFree, \"vpxor %xmm0,%xmm0,%xmm0\\nret\")\n";
#else
	"F(cudaLaunchKernel, \"nop\\nret\")\n"
	"F(cudaMemcpyAsync, \"stp x29, x30, [sp, -16]!\\nldp x29, x30, [sp], 16\\nret\")\n"
	"F(cudaInitDevice, \"stp x29, x30, [sp, -16]!\\nldp x29, x30, [sp], 16\\nret\")\n"
	"F(cudaFree, \"ldr x0, .\\nret\")\n";
#endif

/* Under the driver's name: launches among others. */
static const char driver[] = "int cuMemAlloc_v2(void) { return 1; }\n"
			     "int cuLaunchKernel(void) { return 2; }\n"
			     "int cuGraphLaunch(void) { return 3; }\n"
			     "int cuStreamSynchronize(void) { return 4; }\n";

/* PLAN_PARTS: in none. */
static enum plan_part part_of(const struct plan *plan, const char *name)
{
	unsigned int part = 0;

	for (size_t i = 0; i < plan_size(plan); i++)
		if (plan->rows[i] == row_of(name)) {
			while (i >= plan->end[part])
				part++;
			return part;
		}
	return PLAN_PARTS;
}

static bool has(const struct plan *plan, const char *name)
{
	return part_of(plan, name) != PLAN_PARTS;
}

static int make_library(void **state)
{
	static struct object o;

	o = object_build(library, "-shared -fPIC");
	*state = &o;
	return 0;
}

static int remove_library(void **state)
{
	object_remove(*state);
	return 0;
}

static struct plan *plan_as(const char *name, const struct object *o,
			    const struct plan_rules *rules)
{
	struct plan *plan = calloc(1, sizeof(*plan));
	int fd = open(o->path, O_RDONLY | O_CLOEXEC);
	struct elf_file *ef = elf_file_open(fd, o->path);

	assert_non_null(plan);
	assert_non_null(ef);
	assert_int_equal(plan_file(plan, ef, name, rules, NULL), 0);
	elf_file_close(ef);
	close(fd);
	return plan;
}

static struct plan *plan_of(const struct object *o, const struct plan_rules *rules)
{
	return plan_as("/usr/lib/libcudart.so.13", o, rules);
}

TEST_TITLED("plan: functions whose first instruction is too dear to step are left out",
	    what_costs_too_much_is_left_out_and_named)
{
	static const uint64_t dear[] = { 0, PLAN_STEP_LIMIT_NS + 1, 16000, UINT64_MAX };

	for (size_t i = 0; i < sizeof(dear) / sizeof(dear[0]); i++) {
		struct plan *plan = plan_of(*state, &(struct plan_rules){ .step_ns = dear[i] });

		assert_true(plan->found);
		assert_true(has(plan, "cudaLaunchKernel"));
		assert_int_equal(plan->outcome[row_of("cudaLaunchKernel")], 0);
		assert_false(has(plan, "cudaMemcpyAsync"));
		assert_int_equal(plan->outcome[row_of("cudaMemcpyAsync")], PLAN_TOO_DEAR);
		free(plan);
	}
}

TEST_TITLED("plan: they are probed where stepping fits the budget",
	    what_fits_the_budget_is_probed_and_named)
{
	static const uint64_t cheap[] = { 1, 300, PLAN_STEP_LIMIT_NS };

	for (size_t i = 0; i < sizeof(cheap) / sizeof(cheap[0]); i++) {
		struct plan *plan = plan_of(*state, &(struct plan_rules){ .step_ns = cheap[i] });

		assert_true(has(plan, "cudaMemcpyAsync"));
		assert_int_equal(plan->outcome[row_of("cudaMemcpyAsync")], PLAN_STEPPED);
		free(plan);
	}
}

TEST_TITLED("plan: the budget is the user's", the_budget_is_the_user_s)
{
	struct plan *dear = plan_of(*state, &(struct plan_rules){ .step_ns = 16000,
								  .step_limit_ns = 16000 });
	struct plan *cheap = plan_of(*state, &(struct plan_rules){ .step_ns = 300,
								   .step_limit_ns = 299 });

	assert_true(has(dear, "cudaMemcpyAsync"));
	assert_false(has(cheap, "cudaMemcpyAsync"));
	free(dear);
	free(cheap);
}

TEST_TITLED("plan: a function that is called seldom is probed at any cost",
	    what_is_called_seldom_is_probed_at_any_cost)
{
	struct plan *plan = plan_of(*state, &(struct plan_rules){ .step_ns = UINT64_MAX });

	assert_true(has(plan, "cudaInitDevice"));
	assert_int_equal(plan->outcome[row_of("cudaInitDevice")], PLAN_STEPPED);
	free(plan);
}

TEST_TITLED("plan: a function that the kernel refuses to probe is named",
	    what_the_kernel_refuses_is_left_out_and_named)
{
	struct plan *plan = plan_of(*state, &(struct plan_rules){ .step_ns = 1 });

	assert_false(has(plan, "cudaFree"));
	assert_int_equal(plan->outcome[row_of("cudaFree")], PLAN_REFUSED);
	free(plan);
}

TEST_TITLED("plan: launches have parts of their own; --launch driver leaves out the runtime's",
	    launches_have_parts_of_their_own)
{
	/* Functions of the compiler's making begin with whatever it likes. */
	static const struct {
		enum plan_launch launch;
		enum plan_part runtime;
	} modes[] = {
		{ LAUNCH_AUTO, PLAN_RUNTIME_LAUNCHES }, { LAUNCH_BOTH, PLAN_RUNTIME_LAUNCHES },
		{ LAUNCH_RUNTIME, PLAN_RUNTIME_LAUNCHES }, { LAUNCH_DRIVER, PLAN_PARTS },
		{ LAUNCH_HELPER, PLAN_RUNTIME_LAUNCHES },
	};
	struct object o = object_build(driver, "-shared -fPIC");

	for (size_t i = 0; i < sizeof(modes) / sizeof(modes[0]); i++) {
		const struct plan_rules rules = { .launch = modes[i].launch, .step_ns = 1 };
		struct plan *runtime = plan_of(*state, &rules);
		struct plan *plan = plan_as("libcuda.so.1", &o, &rules);

		assert_int_equal(part_of(runtime, "cudaLaunchKernel"), modes[i].runtime);
		assert_int_equal(part_of(runtime, "cudaMemcpyAsync"), PLAN_OTHERS);
		assert_int_equal(plan_has_runtime(runtime), modes[i].runtime != PLAN_PARTS);
		assert_int_equal(part_of(plan, "cuLaunchKernel"), PLAN_DRIVER_LAUNCHES);
		assert_int_equal(part_of(plan, "cuGraphLaunch"), PLAN_DRIVER_LAUNCHES);
		assert_int_equal(part_of(plan, "cuMemAlloc_v2"), PLAN_OTHERS);
		assert_int_equal(part_of(plan, "cuStreamSynchronize"), PLAN_OTHERS);
		assert_false(plan_has_runtime(plan));
		free(runtime);
		free(plan);
	}
	object_remove(&o);
}

#define FUNCTION(name, code)                                                                \
	"__asm__(\".text\\n.globl " name "\\n.type " name ", %function\\n" name ":\\n" code \
	"\\n.size " name ", .-" name "\");\n"
#if defined(__x86_64__)
#define BEGIN "push %rbp\\nmov %rsp,%rbp\\npop %rbp\\n"
#define JUMP "jmp "
#define REFUSED "vpxor %xmm0,%xmm0,%xmm0\\nret"
#else
#define BEGIN "sub sp, sp, #32\\nmov w4, w4\\nadd sp, sp, #32\\n"
#define JUMP "b "
#define REFUSED "ldr x0, .\\nret"
#endif
#define TARGET ".global target\\n.hidden target\\ntarget:\\n"

/* CUDA's __cudaLaunchKernel, made of `jumping`, and its cudaLaunchKernel of `target`. */
static void jumping_library(const char *jumping, const char *target, bool is_jump_probed)
{
	char source[1024];
	struct object o;
	struct plan *plan;

	snprintf(source, sizeof(source), "%s%s", jumping, target);
	o = object_build(source, "-shared -fPIC");
	plan = plan_of(&o, &(struct plan_rules){ .step_ns = 1 });
	assert_int_equal(has(plan, "__cudaLaunchKernel"), is_jump_probed);
	assert_int_equal(plan->outcome[row_of("__cudaLaunchKernel")] & PLAN_REFUSED, 0);
	free(plan);
	object_remove(&o);
}

TEST_TITLED("plan: a launch function that only jumps to another is probed there alone",
	    a_function_that_only_jumps_is_probed_where_it_jumps_to)
{
	const char *launch = FUNCTION("cudaLaunchKernel", TARGET BEGIN "ret");

	jumping_library(FUNCTION("__cudaLaunchKernel", BEGIN JUMP "target"), launch, false);
	jumping_library(FUNCTION("__cudaLaunchKernel", BEGIN "nop\\n" JUMP "target"), launch, true);
	jumping_library(FUNCTION("__cudaLaunchKernel", BEGIN JUMP "target + 4"), launch, true);
	jumping_library(FUNCTION("__cudaLaunchKernel", BEGIN "ret"), launch, true);
	jumping_library(FUNCTION("__cudaLaunchKernel", BEGIN JUMP "target"),
			FUNCTION("cudaLaunchKernel", TARGET REFUSED), true);
}

/* A program with the PTX compiler inside: its functions, and what the vendor's make calls the rest. */
#define PTX_FUNCTIONS \
	"int nvPTXCompilerCreate(void) { return 1; }\n" \
	"int nvPTXCompilerCompile(void) { return 2; }\n"
#define MAIN "int main(void) { return nvPTXCompilerCreate() + nvPTXCompilerCompile(); }\n"

static void compiler_inside(const char *source, const char *args, bool is_there)
{
	struct object o = object_build(source, args);
	struct plan *plan = plan_as("/opt/program", &o, &(struct plan_rules){ .step_ns = 1 });

	assert_int_equal(plan->found, is_there);
	assert_int_equal(has(plan, "nvPTXCompilerCreate"), is_there);
	assert_int_equal(has(plan, "nvPTXCompilerCompile"), is_there);
	assert_int_equal(plan_size(plan), is_there ? 2 : 0);
	free(plan);
	object_remove(&o);
}

TEST_TITLED("plan: a program with the PTX compiler inside is known by what is inside it",
	    a_program_with_the_ptx_compiler_inside_is_known)
{
#define INNER "int libnvptxcompiler_static_7fe1(void) { return 3; }\n"
	compiler_inside(INNER PTX_FUNCTIONS MAIN, "", true);
	compiler_inside(INNER PTX_FUNCTIONS, "-shared -fPIC", true);
	compiler_inside("static __attribute__((used)) " INNER PTX_FUNCTIONS, "-shared -fPIC", true);
}

TEST_TITLED("plan: a program's own functions are not taken for the PTX compiler's",
	    functions_of_its_own_are_not_taken_for_the_compiler_s)
{
	compiler_inside(PTX_FUNCTIONS MAIN, "", false);
	compiler_inside("static __attribute__((noipa)) " PTX_FUNCTIONS MAIN, "", false);
	compiler_inside(PTX_FUNCTIONS "int libnvptxcompiler_static_7fe1;\n" MAIN, "", false);
	compiler_inside(PTX_FUNCTIONS "int my_libnvptxcompiler_static_7(void) { return 1; }\n" MAIN,
			"", false);
}

TEST_GROUP(make_library, remove_library);
