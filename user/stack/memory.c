// SPDX-License-Identifier: BSD-3-Clause
/*
 * A cache of pages. Bounded: when it is full it is emptied, and pages are read again. Pages that
 * cannot be read are not kept: the error is returned each time.
 */
#include "stack/memory.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>

#include "base/map.h"

#define PAGE 4096u		/* arm64's larger pages are read in parts */
#define MAX_PAGES 4096u		/* 16 MiB */
#define COPY_PAGES (STACK_COPY_BYTES / PAGE)

struct stack_memory {
	pid_t pid;
	struct map index;	/* page number -> page */
	size_t n;
	char (*page)[PAGE];
};

struct stack_memory *stack_memory_new(pid_t pid)
{
	struct stack_memory *m = calloc(1, sizeof(*m));

	if (!m)
		return NULL;
	m->pid = pid;
	m->page = malloc((size_t)MAX_PAGES * PAGE);	/* touched only as it fills */
	if (m->page)
		return m;
	free(m);
	return NULL;
}

void stack_memory_free(struct stack_memory *m)
{
	if (!m)
		return;
	map_free(&m->index);
	free(m->page);
	free(m);
}

/* A page to read into; NULL: no memory. */
static char *take_page(struct stack_memory *m, uint64_t number)
{
	struct map_slot *slot;
	bool is_new;

	if (m->n == MAX_PAGES) {
		map_free(&m->index);
		m->n = 0;
	}
	slot = map_put(&m->index, number, &is_new);
	if (!slot)
		return NULL;
	if (is_new)
		slot->value = m->n++;
	return m->page[slot->value];
}

static int read_page(struct stack_memory *m, uint64_t number, const char **page)
{
	const struct map_slot *slot = map_find(&m->index, number);
	char data[PAGE], *to;
	struct iovec local = { data, PAGE }, remote = { (void *)(uintptr_t)(number * PAGE), PAGE };

	if (slot) {
		*page = m->page[slot->value];
		return 0;
	}
	if (process_vm_readv(m->pid, &local, 1, &remote, 1, 0) != PAGE)
		return errno == EPERM || errno == ESRCH ? -errno : -EFAULT;
	to = take_page(m, number);
	if (!to)
		return -ENOMEM;
	*page = memcpy(to, data, PAGE);
	return 0;
}

int stack_memory_read(void *ctx, uint64_t at, void *buf, size_t len)
{
	char *to = buf;

	if (at + len < at)
		return -EFAULT;
	while (len) {
		size_t into = at % PAGE, n = PAGE - into < len ? PAGE - into : len;
		const char *page;
		int err = read_page(ctx, at / PAGE, &page);

		if (err)
			return err;
		memcpy(to, page + into, n);
		to += n;
		at += n;
		len -= n;
	}
	return 0;
}

/* One call for all of it: a page of a vector that cannot be read ends the copy before that page
 * and loses none of those below it. */
int stack_memory_copy(struct stack_memory *m, uint64_t sp)
{
	struct iovec local, remote[COPY_PAGES];
	char *data = malloc(STACK_COPY_BYTES);
	uint64_t first = sp / PAGE;
	ssize_t n;
	int err = 0;

	if (!data)
		return -ENOMEM;
	local = (struct iovec){ data, STACK_COPY_BYTES };
	for (size_t i = 0; i < COPY_PAGES; i++)
		remote[i] = (struct iovec){ (void *)(uintptr_t)((first + i) * PAGE), PAGE };
	n = process_vm_readv(m->pid, &local, 1, remote, COPY_PAGES, 0);
	if (n < 0)
		err = -errno;
	for (ssize_t i = 0; i < n / PAGE && !err; i++) {
		char *to = take_page(m, first + (uint64_t)i);

		if (to)
			memcpy(to, data + i * PAGE, PAGE);
		else
			err = -ENOMEM;
	}
	free(data);
	return err;
}
