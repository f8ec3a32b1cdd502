// SPDX-License-Identifier: BSD-3-Clause
/* Only what a call returns to may be probed: encodings of calls, and this program's own code. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "lib/emulated.h"

#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <string.h>
#include <unistd.h>

#include "stack/callsite.h"

/* Bytes before a return address, the last n of the 8. */
struct code {
	const char *what;
	uint8_t n, bytes[CALLSITE_BEFORE];
	bool is_call;
};

static const struct code codes[] = {
#if defined(__x86_64__)
	{ "call rel32", 5, { 0xe8, 1, 2, 3, 4 }, true },
	{ "call *%rax", 2, { 0xff, 0xd0 }, true },
	{ "call *%r15", 3, { 0x41, 0xff, 0xd7 }, true },
	{ "call *(%rax)", 2, { 0xff, 0x10 }, true },
	{ "call *8(%rax)", 3, { 0xff, 0x50, 8 }, true },
	{ "call *(%rip)", 6, { 0xff, 0x15, 1, 2, 3, 4 }, true },
	{ "call *8(%rsp)", 4, { 0xff, 0x54, 0x24, 8 }, true },
	{ "call *disp32(,%rax,8)", 7, { 0xff, 0x14, 0xc5, 1, 2, 3, 4 }, true },
	{ "call *disp32(%rax,%rbx)", 7, { 0xff, 0x94, 0x18, 1, 2, 3, 4 }, true },
	{ "call *disp32(%rdi)", 6, { 0xff, 0x97, 1, 2, 3, 4 }, true },
	{ "jmp *%rax", 2, { 0xff, 0xe0 }, false },
	{ "jmp rel32", 5, { 0xe9, 1, 2, 3, 4 }, false },
	{ "push *8(%rsp)", 4, { 0xff, 0x74, 0x24, 8 }, false },
	{ "a call, and one byte more", 6, { 0xe8, 1, 2, 3, 4, 0x90 }, false },
	{ "nothing", 0, { 0 }, false },
#else
	{ "bl", 4, { 0x01, 0x00, 0x00, 0x94 }, true },
	{ "blr x3", 4, { 0x60, 0x00, 0x3f, 0xd6 }, true },
	{ "blraaz x3", 4, { 0x7f, 0x08, 0x3f, 0xd6 }, true },
	{ "br x3", 4, { 0x60, 0x00, 0x1f, 0xd6 }, false },
	{ "b", 4, { 0x01, 0x00, 0x00, 0x14 }, false },
	{ "nothing", 0, { 0 }, false },
#endif
};

static void calls_are_told_from_what_is_none(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(codes) / sizeof(codes[0]); i++) {
		uint8_t before[CALLSITE_BEFORE] = { 0 };

		memcpy(before + CALLSITE_BEFORE - codes[i].n, codes[i].bytes, codes[i].n);
		print_message("  %s\n", codes[i].what);
		assert_int_equal(callsite_ends(before, 0x1000), codes[i].is_call);
	}
}

struct here {
	uint64_t at, offset;
};

static int find_offset(struct dl_phdr_info *info, size_t size, void *ctx)
{
	struct here *here = ctx;
	uint64_t vaddr = here->at - info->dlpi_addr;

	(void)size;
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *ph = &info->dlpi_phdr[i];

		if (ph->p_type == PT_LOAD && vaddr >= ph->p_vaddr &&
		    vaddr < ph->p_vaddr + ph->p_filesz)
			here->offset = vaddr - ph->p_vaddr + ph->p_offset;
	}
	return 1;
}

static __attribute__((noinline)) uint64_t where_it_returns_to(void)
{
	return (uintptr_t)__builtin_extract_return_addr(__builtin_return_address(0));
}

static void a_return_of_ours_is_one_and_what_is_beside_it_is_none(void **state)
{
	struct here here = { .at = where_it_returns_to() };
	int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);

	(void)state;
	needs_real_machine("process_vm_readv, which the emulator does not have");
	assert_true(fd >= 0);
	dl_iterate_phdr(find_offset, &here);
	assert_int_not_equal(here.offset, 0);
	assert_int_equal(callsite_check(getpid(), here.at, fd, here.offset), 0);
	assert_int_equal(callsite_check(getpid(), here.at, fd, here.offset + 4), -ENOTSUP);
	assert_int_equal(callsite_check(getpid(), here.at + 1, fd, here.offset + 1), -ENOTSUP);
	assert_int_equal(callsite_check(getpid(), here.at, fd, 4), -ENOTSUP);
	assert_int_equal(callsite_check(getpid(), here.at, fd, 1ull << 40), -ENOTSUP);
	assert_int_equal(callsite_check(getpid(), 4096, fd, here.offset), -EFAULT);
	close(fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(calls_are_told_from_what_is_none),
		cmocka_unit_test(a_return_of_ours_is_one_and_what_is_beside_it_is_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
