// SPDX-License-Identifier: BSD-3-Clause
/* Places in code that are marked for tracers, and where their arguments are. */
#include "unit/elf_object.h"

#include "catalog/catalog.h"
#include "elf/usdt.h"
#include "gpuprof/control.h"
#include "lib/test.h"
#include "probe/operands.h"
#include "probe/plan.h"
#include "unit/row_of.h"

/* What <sys/sdt.h> makes of DTRACE_PROBE in a function: a nop, a note, and the section to which the
 * note's addresses are compared. */
#define PLACE(provider, name, arguments, semaphore) \
	"__asm__(\".text\\nnop\\n990: nop\\n.pushsection .note.stapsdt,\\\"?\\\",\\\"note\\\"\\n" \
	".balign 4\\n.4byte 992f-991f, 994f-993f, 3\\n991: .asciz \\\"stapsdt\\\"\\n992: .balign 4\\n" \
	"993: .8byte 990b\\n.8byte _.stapsdt.base\\n.8byte " semaphore "\\n" \
	".asciz \\\"" provider "\\\"\\n.asciz \\\"" name "\\\"\\n.asciz \\\"" arguments "\\\"\\n" \
	"994: .balign 4\\n.popsection\\n\");\n"
#define BASE_SECTION \
	"__asm__(\".pushsection .stapsdt.base,\\\"aG\\\",\\\"progbits\\\",.stapsdt.base,comdat\\n" \
	".weak _.stapsdt.base\\n.hidden _.stapsdt.base\\n_.stapsdt.base: .space 1\\n" \
	".size _.stapsdt.base, 1\\n.popsection\\n\");\n" \
	"__attribute__((section(\".probes\"))) unsigned short counter = 0;\n"

#if defined(__x86_64__)
#define MALLOC "-8@%rax -1@%dl -8@%r14 -8@56(%rsp)"
#define MALLOC_OF_STACK "-8@-56(%rbp) -1@%al -8@%r12"
#define FREE "-8@%rdi"
#else
#define MALLOC "-8@x0 -1@w1 -8@x19 -8@[sp, 56]"
#define MALLOC_OF_STACK "-8@[x29, -56] -1@w1 -8@x20"
#define FREE "-8@x0"
#endif

static const char library[] = BASE_SECTION "int f(void) { return 1; }\n"
	PLACE("pytorch", "malloc", MALLOC, "counter")
	PLACE("pytorch", "free", FREE, "counter")
	PLACE("pytorch", "malloc", MALLOC_OF_STACK, "0")
	PLACE("other", "free", FREE, "0");

static struct elf_usdt found[8];
static char texts[8][3][64];
static size_t n_found;

static void on_place(void *ctx, const struct elf_usdt *usdt)
{
	char (*text)[64] = texts[n_found];

	assert_ptr_equal(ctx, found);
	assert_true(n_found < 8);
	snprintf(text[0], 64, "%s", usdt->provider);
	snprintf(text[1], 64, "%s", usdt->name);
	snprintf(text[2], 64, "%s", usdt->arguments);
	found[n_found++] = *usdt;
}

TEST(marked_places_are_those_of_the_file_s_notes)
{
	struct opened o = open_built(library, "-shared -fPIC");
	uint16_t there = 1;

	n_found = 0;
	assert_int_equal(elf_each_usdt(o.ef, on_place, found), 0);
	assert_int_equal(n_found, 4);
	assert_string_equal(texts[0][0], "pytorch");
	assert_string_equal(texts[0][1], "malloc");
	assert_string_equal(texts[0][2], MALLOC);
	assert_string_equal(texts[3][0], "other");
	assert_true(found[0].semaphore && found[0].semaphore == found[1].semaphore && !found[2].semaphore);
	assert_int_equal(elf_read(o.ef, found[0].semaphore, &there, sizeof(there)), 0);
	assert_int_equal(there, 0);
	for (size_t i = 1; i < n_found; i++)
		assert_true(found[i].offset > found[i - 1].offset);
	close_built(&o);
}

TEST(a_file_without_notes_or_with_cut_ones_has_no_places)
{
	struct opened o = open_built("int f(void) { return 1; }", "-shared -fPIC");
	struct image im;

	n_found = 0;
	assert_int_equal(elf_each_usdt(o.ef, on_place, found), 0);
	assert_int_equal(n_found, 0);
	close_built(&o);
	im = image_build(library, "-shared -fPIC");
	for (size_t i = 0; i + 8 < im.size; i++)
		if (!memcmp(im.byte + i, "stapsdt\0", 8))
			memset(im.byte + i - 12, 0xff, 12);	/* sizes and type of a note */
	o.fd = image_fd(&im);
	o.ef = elf_file_open(o.fd, "image");
	assert_non_null(o.ef);
	n_found = 0;
	assert_int_equal(elf_each_usdt(o.ef, on_place, found), 0);
	assert_int_equal(n_found, 0);
	elf_file_close(o.ef);
	close(o.fd);
	free(im.byte);
}

static unsigned int operand(uint64_t cookie, unsigned int i)
{
	return cookie >> (GP_COOKIE_OPERANDS_SHIFT + i * GP_OPERAND_BITS) & GP_OPERAND_NONE;
}

TEST(arguments_are_taken_from_registers_of_any_size)
{
#if defined(__x86_64__)
	static const struct { const char *text; unsigned int reg[3]; } some[] = {
		{ "-8@%rax -1@%dl -8@%r14 -8@56(%rsp)", { 0, 1, 14 } },
		{ "-8@%r14 -4@%edi -8@%r13 -4@$0", { 14, 5, 13 } },
		{ "-8@%rdi", { 5, 31, 31 } }, { "8@%rbp -1@%r9b 4@%r10d", { 6, 9, 10 } },
		{ "-8@%rsi -4@$3 -8@8(%rax)", { 4, 31, 31 } },
	};
	static const char *const none[] = { "", "-8@-56(%rbp) -1@%al", "-8@$4", "-8@%rxx", "-8@%r16", "%rax" };
#else
	static const struct { const char *text; unsigned int reg[3]; } some[] = {
		{ "8@x19 1@w2 8@[sp, 8]", { 19, 2, 31 } },
	};
	static const char *const none[] = { "", "8@[sp]", "8@x31", "8@%rax" };
#endif

	for (size_t i = 0; i < sizeof(some) / sizeof(some[0]); i++)
		for (unsigned int k = 0; k < 3; k++)
			assert_int_equal(operand(operands_cookie(some[i].text), k), some[i].reg[k]);
	for (size_t i = 0; i < sizeof(none) / sizeof(none[0]); i++)
		assert_int_equal(operands_cookie(none[i]), 0);
}

/* The malloc whose first argument is on the stack is left out, with a message. */
TEST(on_request_pytorch_s_places_are_probed_with_their_semaphores)
{
	struct opened o = open_built(library, "-shared -fPIC");
	struct plan_rules rules = { .marks = true };
	struct plan *plan = calloc(1, sizeof(*plan));

	assert_non_null(plan);
	assert_int_equal(plan_file(plan, o.ef, "/opt/libc10_cuda.so", &rules, NULL), 0);
	assert_int_equal(plan_size(plan), 2);
	assert_int_equal(plan->end[PLAN_ENTRIES] - plan->end[PLAN_OTHERS], 2);
	assert_int_equal((uint32_t)plan->rows[0], row_of("pytorch:malloc"));
	assert_int_equal((uint32_t)plan->rows[1], row_of("pytorch:free"));
	assert_true(plan->semaphores[0] && plan->semaphores[0] == plan->semaphores[1]);
	assert_true(plan->found && plan->has_calls);
	*plan = (struct plan){ .found = false };
	rules.marks = false;
	assert_int_equal(plan_file(plan, o.ef, "/opt/libc10_cuda.so", &rules, NULL), 0);
	assert_false(plan->found || plan_size(plan));
	free(plan);
	close_built(&o);
}
