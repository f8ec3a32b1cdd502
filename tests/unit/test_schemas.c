// SPDX-License-Identifier: BSD-3-Clause
/* Texts of a file, and the names of PyTorch's operators among them. */
#include "elf_object.h"

#include "elf/elf.h"
#include "lib/test.h"
#include "probe/ops.h"
#include "probe/schemas.h"

#define LIBRARY "-shared -fPIC -nostdlib"

/* As libtorch_cpu has them; the last three are none. */
static const char registered[] =
	"const char *const texts[] = {\n"
	"	\"add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor\",\n"
	"	\"add_.Tensor(Tensor(a!) self, Tensor other, *, Scalar alpha=1) -> Tensor(a!)\",\n"
	"	\"aten::mm(Tensor self, Tensor mat2) -> Tensor\",\n"
	"	\"empty.memory_format(SymInt[] size) -> Tensor\",\n"
	"	\"view_as_real(Tensor(a) self) -> Tensor(a)\",\n"
	"	\"special_i0.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)\",\n"
	"	\"foo_i0.other(Tensor self) -> Tensor\",\n"
	"	\"i0.other(Tensor self) -> Tensor\",\n"
	"	\"prims::div(Tensor self, Tensor other) -> Tensor\",\n"
	"	\"an error (of no kind) -> it\", \"(Tensor self) -> Tensor\" };\n";

static void assert_named(const struct schemas *s, const char *function, const char *name)
{
	const struct schema *found = schemas_find(s, function, strlen(function));

	if (!name)
		assert_null(found);
	else if (!found || strcmp(found->name, name))
		fail_msg("%s is %s", function, found ? found->name : "not found");
}

TEST(a_functions_name_and_overload_are_those_that_it_is_registered_with)
{
	struct opened l = open_built(registered, LIBRARY);
	struct schemas *s = schemas_read(l.ef);
	struct op_symbol op;

	assert_non_null(s);
	assert_named(s, "add_Tensor", "add.Tensor");
	assert_named(s, "add__Tensor", "add_.Tensor");
	assert_named(s, "mm", "mm");
	assert_named(s, "special_i0_out", "special_i0.out");
	assert_named(s, "div", NULL);
	assert_named(s, "an", NULL);
	assert_named(s, "", NULL);
	/* What a linker keeps as the end of another: but for what has a text of its own. */
	assert_named(s, "i0_out", "i0.out");
	assert_named(s, "real", "real");
	assert_named(s, "i0_other", "i0.other");
	assert_named(s, "out", NULL);

	assert_true(op_of_symbol("_ZN2at4_ops10add_Tensor4callERKNS_6TensorES4_", s, &op));
	assert_string_equal(op.name, "aten.add.Tensor");
	assert_false(op.is_idle);
	assert_true(op_of_symbol("_ZN2at4_ops19empty_memory_format4callEv", s, &op));
	assert_string_equal(op.name, "aten.empty.memory_format");
	assert_true(op.is_idle);
	assert_true(op_of_symbol("_ZN2at4_ops2mm4callERKNS_6TensorES4_", s, &op));
	assert_string_equal(op.name, "aten.mm.default");
	assert_true(op_of_symbol("_ZN2at4_ops6sub_as4callERKNS_6TensorES4_", s, &op));
	assert_string_equal(op.name, "aten.sub_as");
	schemas_free(s);
	close_built(&l);
}

TEST(the_first_tensor_is_behind_a_hidden_result_and_what_is_before_it)
{
	static const struct {
		const char *function, *rest;
		unsigned int tensor;
	} some[] = {
		{ "a", "(Tensor self, Tensor mat2) -> Tensor", 2 },
		{ "b", "(Tensor(a!) self, *, float p=0.5) -> Tensor(a!)", 1 },
		{ "c", "(Tensor(a) self, int dim) -> Tensor(a)", 2 },
		{ "d", "(Scalar self, Tensor other) -> Tensor", 3 },
		{ "e", "(float p, Tensor self) -> (Tensor, Tensor)", 2 },
		{ "f", "(SymInt[] size, Tensor self) -> Tensor[]", 4 },
		{ "g", "(int a, int b, int c, int d, int e, Tensor self) -> bool", 6 },
		{ "h", "(Tensor self, Tensor other) -> bool", 1 },
		{ "i", "(Tensor self) -> ()", 1 },
		{ "j", "(*, Tensor self) -> Tensor", 0 },
		/* No register is left; a list; what may be none; what the compiler chooses; unknown. */
		{ "k", "(int a, int b, int c, int d, int e, Tensor self) -> Tensor", 0 },
		{ "l", "(Tensor[] tensors, int dim=0) -> Tensor", 0 },
		{ "m", "(Tensor? self) -> Tensor", 0 },
		{ "n", "(Tensor self, *, Tensor(a!) q, Tensor(b!) r) -> (Tensor(a!), Tensor(b!))", 0 },
		{ "o", "(Dimname[] names, Tensor self) -> Tensor", 0 },
		{ "p", "(SymInt[] size, *, ScalarType? dtype=None) -> Tensor", 0 },
		{ "q", "() -> Tensor", 0 },
	};
	char source[8192] = "const char *const texts[] = {\n";
	struct opened l;
	struct schemas *s;

	for (size_t i = 0; i < sizeof(some) / sizeof(some[0]); i++)
		snprintf(source + strlen(source), sizeof(source) - strlen(source), "\"%s%s\",\n",
			 some[i].function, some[i].rest);
	strcat(source, "};\n");
	l = open_built(source, LIBRARY);
	s = schemas_read(l.ef);
	assert_non_null(s);
	for (size_t i = 0; i < sizeof(some) / sizeof(some[0]); i++) {
		const struct schema *found = schemas_find(s, some[i].function, 1);

		if (!found || found->tensor != some[i].tensor)
			fail_msg("%s%s: %d", some[i].function, some[i].rest, found ? found->tensor : -1);
	}
	schemas_free(s);
	close_built(&l);
}

struct found {
	unsigned int n;
	size_t longest;
};

static void on_text(void *ctx, const char *text)
{
	struct found *f = ctx;

	f->n++;
	f->longest = f->longest > strlen(text) ? f->longest : strlen(text);
	assert_non_null(strstr(text, "needle"));
}

/* Also where windows of reading end, and none that is longer than a text may be. */
TEST(each_text_is_found_wherever_it_stands)
{
	static const char source[] =
		"#define A(n) const struct { char before[n], text[16]; } a##n = "
		"{ { [0 ... n - 2] = 'x' }, \"a needle here\" };\n"
		"A(1048570) A(2097140) A(3145720) A(12)\n"
		"const struct { char text[5000]; } long_one = { \"needle in \" \"long\" };\n"
		"const struct { char before[9000], text[16]; } too_long = "
		"{ { [0 ... 8999] = 'x' }, \"needle\" };\n";
	struct opened l = open_built(source, LIBRARY);
	struct found f = { 0 };

	assert_int_equal(elf_each_text(l.ef, "needle", on_text, &f), 0);
	assert_true(f.n >= 5 && f.n <= 6);	/* one may come twice */
	assert_int_equal(f.longest, strlen("needle in long"));
	close_built(&l);
}

TEST_GROUP(NULL, NULL);
