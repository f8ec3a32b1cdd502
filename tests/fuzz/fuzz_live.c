// SPDX-License-Identifier: BSD-3-Clause
/*
 * The live view: each two bytes of the input are a key, or a new size of the terminal, after which
 * the page is drawn. No page is higher or wider than the terminal, and the cursor is on it.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"
#include "capture/capture.h"
#include "model/model.h"
#include "view/tui/page.h"
#include "view/view.h"

#define KEYS_MOST 64		/* of an input */

static const char *const names[] = { "pretrain-faulty", "device-shared", "ranks-alike", "train-no-helper",
				     "burst", "torch" };
#define NAMES (sizeof(names) / sizeof(names[0]))

static struct capture {
	struct capture_reader *reader;
	struct model *model;
	struct history history;
	uint64_t next_ns;
} captures[NAMES];

static int take(void *ctx, const struct event *ev)
{
	struct capture *c = ctx;
	int err = model_push(c->model, ev);

	if (!err && ev->kind == EVENT_WATERMARK && ev->end_ns >= c->next_ns) {
		err = history_add(&c->history, c->model, ev->end_ns);
		c->next_ns = ev->end_ns + 250000000;
	}
	return err;
}

static void read_capture(struct capture *c, const char *name)
{
	struct consumers list;
	char path[128];

	snprintf(path, sizeof(path), "tests/captures/data/%s.gpr", name);
	c->reader = capture_open(path);
	c->model = c->reader ? model_new(capture_funcs(c->reader)) : NULL;
	c->history.window = 2;
	if (!c->model || model_use_consumers(c->model, view_consumers(&list)))
		abort();
	model_use_intervals(c->model);
	if (capture_read(c->reader, &(struct event_sink){ take, c }) || model_finish(c->model) ||
	    history_add(&c->history, c->model, 0))
		abort();
	c->history.since = snapshot_take(c->model, 0);
}

static void check(const struct page *p, const struct screen_shape *shape)
{
	const size_t columns = shape->columns < PAGE_COLUMNS_MIN ? PAGE_COLUMNS_MIN : shape->columns;
	const size_t most = shape->lines < PAGE_LINES_MIN ? PAGE_LINES_MIN : shape->lines;
	size_t lines = 0;

	for (char *at = p->text.s; *at; lines++) {
		char *end = strchr(at, '\n');

		if (!end)
			abort();
		*end = '\0';
		if (utf8_str_width(at) > columns)
			abort();
		at = end + 1;
	}
	if (lines > most || (p->cursor_line != PAGE_NO_LINE && p->cursor_line >= most))
		abort();
}

static uint32_t key_of(const uint8_t *data)
{
	static const char letters[] = " /\\<>?IPq[]eghijkmnstwyGx";
	const uint32_t number = data[1];

	if (data[0] & 1)
		return KEY_OF_UP + number % (KEY_OF_END_OF_INPUT - KEY_OF_UP);
	return data[0] & 2 ? number * 37 : (uint32_t)(unsigned char)letters[number % (sizeof(letters) - 1)];
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct page page = { .text = STRBUF_INIT, .shown.command = STRBUF_INIT, .shown.next = STRBUF_INIT };
	struct screen_shape shape = { .columns = 80, .lines = 24 };
	struct page_data d = { .file = "run.gpr", .cpu_share = -1 };
	struct capture *c;
	struct live l;

	if (!size)
		return 0;
	c = &captures[data[0] % NAMES];
	if (!c->reader)
		read_capture(c, names[data[0] % NAMES]);
	d.history = &c->history;
	live_init(&l);
	if (page_draw(&page, &l, &d, &shape))
		abort();
	for (size_t i = 1; i + 1 < size && i < 2 * KEYS_MOST; i += 2) {
		if (data[i] >= 240) {
			shape.columns = data[i + 1];
			shape.lines = data[i] % 16 * 4;
			shape.ascii = data[i] & 1;
		} else {
			live_press(&l, &page.shown, key_of(data + i));
		}
		do {
			if (page_draw(&page, &l, &d, &shape))
				abort();
		} while (live_find(&l, &page.shown));
		check(&page, &shape);
	}
	page_free(&page);
	return 0;
}
