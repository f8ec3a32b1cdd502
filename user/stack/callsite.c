// SPDX-License-Identifier: BSD-3-Clause
/* The few encodings of a call, and a comparison of memory with its file. Starts at no symbol and
 * disassembles nothing. */
#include "stack/callsite.h"

#include <errno.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#define AFTER 8u		/* bytes compared from the return address on; probes take fewer */

#if defined(__x86_64__)
#define UNIT 1u			/* what a uprobe overwrites: one byte, int3 */
static const uint8_t breakpoint[UNIT] = { 0xcc };

/* How long "ff /2" with this modrm and sib is: call through a register or memory. 0: no call. */
static size_t indirect_length(uint8_t modrm, uint8_t sib)
{
	unsigned int mod = modrm >> 6, rm = modrm & 7;
	size_t length = 2;

	if ((modrm >> 3 & 7) != 2)
		return 0;
	if (mod == 3)
		return length;
	if (rm == 4) {
		length++;
		rm = sib & 7;
	}
	if (mod == 1)
		return length + 1;
	return mod == 2 || rm == 5 ? length + 4 : length;
}

bool callsite_ends(const uint8_t before[CALLSITE_BEFORE], uint64_t at)
{
	(void)at;
	if (before[CALLSITE_BEFORE - 5] == 0xe8)
		return true;
	for (size_t length = 2; length <= 7; length++) {
		const uint8_t *from = before + (CALLSITE_BEFORE - length);

		if (from[0] == 0xff &&
		    indirect_length(from[1], length > 2 ? from[2] : 0) == length)
			return true;
	}
	return false;
}
#else
#define UNIT 4u
static const uint8_t breakpoint[UNIT] = { 0xa0, 0x00, 0x20, 0xd4 };	/* brk #5 */

/* bl, blr and its forms with pointer authentication */
bool callsite_ends(const uint8_t before[CALLSITE_BEFORE], uint64_t at)
{
	uint32_t insn;

	memcpy(&insn, before + CALLSITE_BEFORE - sizeof(insn), sizeof(insn));
	return at % 4 == 0 && ((insn & 0xfc000000) == 0x94000000 ||
			       (insn & 0xfffffc1f) == 0xd63f0000 ||
			       (insn & 0xfefff800) == 0xd63f0800);
}
#endif

static bool is_same(const uint8_t *memory, const uint8_t *file, size_t n)
{
	for (size_t i = 0; i + UNIT <= n; i += UNIT)
		if (memcmp(memory + i, file + i, UNIT) != 0 &&
		    memcmp(memory + i, breakpoint, UNIT) != 0)
			return false;
	return true;
}

int callsite_check(pid_t pid, uint64_t at, int fd, uint64_t offset)
{
	uint8_t memory[CALLSITE_BEFORE + AFTER], file[CALLSITE_BEFORE + AFTER];
	struct iovec local = { memory, sizeof(memory) };
	struct iovec remote = { (void *)(uintptr_t)(at - CALLSITE_BEFORE), sizeof(memory) };
	ssize_t n;

	if (offset < CALLSITE_BEFORE || at < CALLSITE_BEFORE)
		return -ENOTSUP;
	n = process_vm_readv(pid, &local, 1, &remote, 1, 0);
	if (n < 0)
		return -errno;
	if (n != sizeof(memory) || pread(fd, file, sizeof(file), (off_t)(offset - CALLSITE_BEFORE)) != sizeof(file))
		return -ENOTSUP;
	if (!is_same(memory, file, sizeof(file)) || !callsite_ends(file, at))
		return -ENOTSUP;
	return 0;
}
