// SPDX-License-Identifier: BSD-3-Clause
/* Any bytes as an ELF file: everything elf/ can be asked, and what it finds must be in the file. */
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/log.h"
#include "elf/elf.h"
#include "elf/section.h"
#include "elf/usdt.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(int holds)
{
	if (!holds)
		abort();
}

static void take_need(void *ctx, char kind, const char *text)
{
	check(kind == 'N' || kind == 'R' || kind == 'P');
	*(size_t *)ctx += strlen(text);
}

static void on_usdt(void *ctx, const struct elf_usdt *usdt)
{
	const size_t size = *(size_t *)ctx;

	check(usdt->offset < size && usdt->semaphore < size);
	check(strlen(usdt->provider) + strlen(usdt->name) + strlen(usdt->arguments) < size);
}

static void name_addresses(struct elf_file *ef, size_t size)
{
	struct elf_address a[8];

	for (size_t i = 0; i < 8; i++)
		a[i].offset = (8 - i) * size / 8;
	if (!elf_name_addresses(ef, a, 8))
		for (size_t i = 0; i < 8; i++)
			check(!a[i].name || (*a[i].name && strlen(a[i].name) <= ELF_NAME_MAX &&
					     a[i].into <= a[i].offset));
	for (size_t i = 0; i < 8; i++)
		free(a[i].name);
	elf_section_address(ef, ".eh_frame");
	elf_each_usdt(ef, on_usdt, &size);
}

static void ask_all(struct elf_file *ef, size_t size)
{
	struct elf_symbol sym[] = {
		{ .name = "cudaLaunchKernel" }, { .name = "one" }, { .name = "two" },
		{ .name = "three" }, { .name = "two" }, { .name = "" },
		{ .name = "t", .begins = 1 }, { .name = "", .begins = 1 },
	};
	const size_t n = sizeof(sym) / sizeof(sym[0]);
	int left = elf_find_symbols(ef, sym, n);
	char hex[2 * 64 + 1];
	size_t text = 0;

	for (size_t i = 0; i < n && left >= 0; i++) {
		check(sym[i].offset < size && sym[i].opening <= ELF_BRANCH);
		check(!sym[i].offset == (sym[i].opening == ELF_UNKNOWN));
		left -= sym[i].offset != 0;
	}
	check(left <= 0);
	left = elf_find_slot(ef, "__call__", 128, sym);
	check(left == (sym->offset ? 0 : -ENOENT) && sym->offset < size);
	elf_build_id(ef, hex, sizeof(hex));
	check(strlen(hex) % 2 == 0);
	name_addresses(ef, size);
	elf_each_needed(ef, take_need, &text);
	if (elf_interpreter(ef))
		check(strlen(elf_interpreter(ef)) <= size);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static int fd = -1;
	struct elf_file *ef;

	log_threshold = LOG_ERROR;
	if (fd < 0)
		fd = memfd_create("fuzz_elf", MFD_CLOEXEC);
	check(fd >= 0 && !ftruncate(fd, 0) && pwrite(fd, data, size, 0) == (ssize_t)size);
	ef = elf_file_open(fd, "fuzz");
	if (!ef)
		return 0;
	ask_all(ef, size);
	elf_file_close(ef);
	return 0;
}
