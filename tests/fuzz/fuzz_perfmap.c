// SPDX-License-Identifier: BSD-3-Clause
/* Any bytes as a map of made code: names are of the file, of lines that hold the address, and the
 * last such line's. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "stack/perfmap.c"

#define QUERIES 16u

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(int holds)
{
	if (!holds)
		abort();
}

/* The same, line by line and in full. */
static int find_last(const char *text, size_t size, uint64_t address, struct perfmap_line *last)
{
	int found = 0;

	for (size_t at = 0; at < size;) {
		const char *end = memchr(text + at, '\n', size - at);
		size_t len = end ? (size_t)(end - text) - at : size - at;
		struct perfmap_line l;

		if (perfmap_parse(text + at, len, &l) && address >= l.start &&
		    address - l.start < l.size) {
			*last = l;
			found = 1;
		}
		at += len + 1;
	}
	return found;
}

static void check_query(const char *text, size_t size, const struct perfmap_query *q)
{
	struct perfmap_line last;
	int found = find_last(text, size, q->address, &last) && last.name[0];

	check(!q->name == !found);
	if (!found)
		return;
	check(q->start == last.start && strlen(q->name) <= PERFMAP_NAME_MAX);
	check(!strncmp(q->name, last.name, last.len));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct perfmap_query q[QUERIES] = { 0 };
	int fd = memfd_create("perfmap", MFD_CLOEXEC);

	if (size >= sizeof(uint64_t) * QUERIES && size < 60000) {
		for (size_t i = 0; i < QUERIES; i++) {
			memcpy(&q[i].address, data + i * 8, 8);
			q[i].address &= 0xffff;	/* else nothing is ever hit */
		}
		data += sizeof(uint64_t) * QUERIES;
		size -= sizeof(uint64_t) * QUERIES;
		check(write(fd, data, size) == (ssize_t)size);
		check(!perfmap_name(fd, q, QUERIES));
		for (size_t i = 0; i < QUERIES; i++) {
			check_query((const char *)data, size, &q[i]);
			free(q[i].name);
		}
	}
	close(fd);
	return 0;
}
