// SPDX-License-Identifier: BSD-3-Clause
/* Where tensors have their type, by the code of a library. */
#include "elf_object.h"

#include "elf/elf.h"
#include "lib/test.h"
#include "probe/tensors.h"

#define IS_COMPLEX "_ZN2at6native10is_complexERKNS_6TensorE"

/* The function has these bytes. False: nothing is known. */
static bool read_code(const char *name, const char *bytes, struct gp_layout *out)
{
	char source[1024];
	struct opened o;
	bool known;

	snprintf(source, sizeof(source),
		 "__asm__(\".text\\n.globl %s\\n.type %s, %%function\\n%s:\\n.byte %s\\n\"\n"
		 "\".size %s, 64\\n.skip 64\\n\");\n", name, name, name, bytes, name);
	o = open_built(source, "-shared -fPIC -nostdlib");
	*out = (struct gp_layout){ 9, 9 };
	known = tensors_read(o.ef, out);
	close_built(&o);
	return known;
}

#define LOAD "0x48,0x8b,0x07,0x0f,0xb7,0xb8,"
#define LIMIT "0x66,0x83,0xff,"

TEST(the_type_is_where_a_function_reads_it)
{
	static const struct {
		const char *name, *bytes;
		struct gp_layout layout;	/* types 0: unknown */
	} some[] = {
		{ IS_COMPLEX, LOAD "0xa0,0,0,0," LIMIT "0x2f", { 160, 47 } },	/* PyTorch 2.15 */
		{ IS_COMPLEX, LOAD "0xb0,0,0,0," LIMIT "0x12", { 176, 18 } },	/* 1.13 */
		{ IS_COMPLEX, "0xf3,0x0f,0x1e,0xfa," LOAD "0xa8,0,0,0," LIMIT "0x2f", { 168, 47 } },
		{ IS_COMPLEX, LOAD "0xa1,0,0,0," LIMIT "0x2f", { 0 } },
		{ IS_COMPLEX, LOAD "0x60,0,0,0," LIMIT "0x2f", { 0 } },
		{ IS_COMPLEX, LOAD "0xa0,0,1,0," LIMIT "0x2f", { 0 } },
		{ IS_COMPLEX, LOAD "0xa0,0,0,0x80," LIMIT "0x2f", { 0 } },
		{ IS_COMPLEX, "0x48,0x8b,0x07,0x0f,0xb7,0x80,0xa0,0,0,0," LIMIT "0x2f", { 0 } },
		{ IS_COMPLEX, "0xc3", { 0 } },
		{ "is_complex", LOAD "0xa0,0,0,0," LIMIT "0x2f", { 0 } },
	};

	for (size_t i = 0; i < sizeof(some) / sizeof(some[0]); i++) {
		struct gp_layout layout;
		const bool known = read_code(some[i].name, some[i].bytes, &layout);

#if !defined(__x86_64__)
		(void)known;	/* it is x86-64's code: read, without harm */
#else
		if (known != !!some[i].layout.types || layout.type_at != some[i].layout.type_at ||
		    layout.types != some[i].layout.types)
			fail_msg("row %zu: %d, %u of %u", i, known, layout.type_at, layout.types);
#endif
	}
}
