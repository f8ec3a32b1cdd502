// SPDX-License-Identifier: BSD-3-Clause
/*
 * What tests of the catalogue read: `events CAPTURE` prints each call of a capture as a line of
 * json, in the order of the file; `events --rows` prints the catalogue's rows so. Words of a
 * call's arguments have been decoded by then; what is not known is not printed.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "capture/capture.h"
#include "catalog/catalog.h"

static void print_shape(const struct launch_shape *s)
{
	printf(", \"grid\": [%u, %u, %u], \"block\": [%u, %u, %u], \"shared\": %" PRIu64,
	       s->grid[0], s->grid[1], s->grid[2], s->block[0], s->block[1], s->block[2],
	       s->shared_bytes);
}

static void print_number(const char *name, uint64_t value, bool is_known)
{
	if (is_known)
		printf(", \"%s\": %" PRIu64, name, value);
}

static int print_call(void *ctx, const struct event *ev)
{
	const struct func *func;

	if (ev->kind != EVENT_CALL && ev->kind != EVENT_ENTER && ev->kind != EVENT_OPEN)
		return 0;
	func = &((const struct funcs *)ctx)->v[ev->func];
	printf("{\"kind\": \"%s\", \"library\": \"%s\", \"function\": \"%s\", \"tid\": %u, "
	       "\"seq\": %u",
	       event_kind_name(ev->kind), func->library, func->name, ev->tid, ev->seq);
	if (ev->has & HAS_RESULT)
		printf(", \"result\": %d", ev->call.result);
	print_number("bytes", ev->call.bytes, ev->has & HAS_BYTES);
	print_number("dir", ev->call.dir, ev->has & HAS_DIR);
	print_number("stream", ev->call.stream, ev->has & HAS_STREAM);
	print_number("entity", ev->call.entity, ev->has & HAS_ENTITY);
	if (ev->has & HAS_SHAPE)
		print_shape(&ev->call.shape);
	puts("}");
	return 0;
}

static int print_capture(const char *path)
{
	struct capture_reader *reader = capture_open(path);
	int err;

	if (!reader)
		return 1;
	err = capture_read(reader,
			   &(struct event_sink){ print_call, (void *)capture_funcs(reader) });
	capture_free(reader);
	return err ? 1 : 0;
}

static void print_rows(void)
{
	static struct funcs funcs;

	catalog_funcs(&funcs);
	for (unsigned int i = 1; i < funcs.n; i++) {
		if (catalog_row(i)->asks || catalog_row(i)->is_mark)
			continue;	/* no call */
		printf("{\"library\": \"%s\", \"function\": \"%s\", \"class\": \"%s\", \"tier\": "
		       "%u, "
		       "\"two\": %u}\n",
		       funcs.v[i].library, funcs.v[i].name, class_name(funcs.v[i].class),
		       catalog_row(i)->tier, funcs.v[i].two);
	}
}

int main(int argc, char **argv)
{
	if (argc == 2 && !strcmp(argv[1], "--rows")) {
		print_rows();
		return 0;
	}
	if (argc == 2)
		return print_capture(argv[1]);
	fprintf(stderr, "usage: events CAPTURE | --rows\n");
	return 2;
}
