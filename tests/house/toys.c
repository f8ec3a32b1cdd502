// SPDX-License-Identifier: BSD-3-Clause
/*
 * Writes a capture with events of the kind that toy.patch adds. Compiles without it, too: its kind is
 * the last one, and the schema says where its two numbers are.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "capture/capture.h"
#include "event/schema.h"

#define PID 77

static const uint64_t toys[][2] = { { 1, 10 }, { 2, 5 }, { 1, 32 } };	/* id, value */

static void set(struct event *ev, const struct event_field *f, uint64_t value)
{
	memcpy(event_field_at(ev, f), &value, sizeof(value));
}

static int push_toys(struct capture_writer *w)
{
	struct event ev = { .kind = EVENT_KIND_END - 1, .process = 1, .pid = PID,
			    .start_ns = 2000 };
	const struct event_schema *s = event_schema(ev.kind);
	int err = strcmp(s->name, "toy") || s->n != 2 ? -EINVAL : 0;

	for (size_t i = 0; i < sizeof(toys) / sizeof(toys[0]) && !err; i++) {
		set(&ev, &s->fields[0], toys[i][0]);
		set(&ev, &s->fields[1], toys[i][1]);
		err = capture_push(w, &ev);
	}
	return err;
}

int main(int argc, char **argv)
{
	static const struct funcs funcs;
	const struct event start = { .kind = EVENT_START, .start_ns = 1000 };
	const struct event process = { .kind = EVENT_PROCESS, .process = 1, .pid = PID,
				       .start_ns = 500, .task.comm = "player" };
	const struct event stop = { .kind = EVENT_STOP, .end_ns = 9000 };
	struct capture_writer *w = argc == 2 ? capture_create(argv[1], &funcs) : NULL;
	int err;

	if (!w)
		return 1;
	err = capture_push(w, &start);
	if (!err)
		err = capture_push(w, &process);
	if (!err)
		err = push_toys(w);
	if (!err)
		err = capture_push(w, &stop);
	if (err)
		fprintf(stderr, "%s\n", strerror(-err));
	return capture_close(w, NULL) || err;
}
