// SPDX-License-Identifier: BSD-3-Clause
/* Compares the function's first bytes. */
#include "probe/tensors.h"

#include <string.h>

#include "elf/elf.h"

#define IS_COMPLEX "_ZN2at6native10is_complexERKNS_6TensorE"
#define TYPE_AT 6		/* of its bytes: where the type is in a tensor, 32 bits */
#define TYPES 13		/* how many types there are */

static const uint8_t code[] = {
	0x48, 0x8b, 0x07, 0x0f, 0xb7, 0xb8, 0, 0, 0, 0, 0x66, 0x83, 0xff, 0
};

#define SMALLEST 104u		/* sizes, strides and the number of elements are before it */
#define LARGEST 512u

bool tensors_read(struct elf_file *ef, struct gp_layout *out)
{
	struct elf_symbol sym = { .name = IS_COMPLEX };
	uint8_t found[sizeof(code)];
	uint32_t type_at;
	uint8_t types;

	*out = (struct gp_layout){ 0 };
	if (elf_find_symbols(ef, &sym, 1) <= 0 || elf_read(ef, sym.offset, found, sizeof(found)))
		return false;
	memcpy(&type_at, found + TYPE_AT, sizeof(type_at));
	types = found[TYPES];
	memset(found + TYPE_AT, 0, sizeof(type_at));
	found[TYPES] = 0;
	if (memcmp(found, code, sizeof(code)) || type_at < SMALLEST || type_at > LARGEST ||
	    type_at % 8)
		return false;
	*out = (struct gp_layout){ (uint16_t)type_at, types };
	return true;
}
