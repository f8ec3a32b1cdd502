// SPDX-License-Identifier: BSD-3-Clause
/* Walks from the innermost frame to its callers, and writes them the other way round. */
#include "view/folded.h"

#include <errno.h>
#include <inttypes.h>

#define DEPTH_MAX 1024u		/* of one stack: capture files may hold deeper ones than we write */

/* "93ac61ec /usr/lib/libc.so.6" -> "libc.so.6" */
static const char *file_name(const char *file)
{
	const char *blank = file ? strchr(file, ' ') : NULL;

	return blank ? str_basename(blank + 1) : NULL;
}

static void add_frame(struct strbuf *sb, const struct stacks_frame *f)
{
	const char *file = file_name(f->file);

	if (f->flags & FRAME_GAP) {
		strbuf_addstr(sb, "[...]");
		return;
	}
	if (f->lines) {
		strbuf_addstr(sb, f->lines);
		return;
	}
	if (!f->function) {
		strbuf_addf(sb, file ? "%s+0x%" PRIx64 : "%s0x%" PRIx64, file ? file : "",
			    f->offset);
		return;
	}
	for (const char *c = f->function; *c; c++)
		strbuf_addch(sb, *c == ';' ? ':' : *c);
}

static void add_stack(struct strbuf *sb, const struct stacks *stacks, const struct stacks_stack *s)
{
	const struct stacks_frame *frame[DEPTH_MAX], *f = stacks_frame(stacks, s->frame);
	size_t n = 0;

	for (; f && n < DEPTH_MAX; f = stacks_frame(stacks, f->caller))
		frame[n++] = f;
	if (f || s->known != STACK_KNOWN_WHOLE)
		strbuf_addstr(sb, "[...];");
	while (n--) {
		add_frame(sb, frame[n]);
		if (n)
			strbuf_addch(sb, ';');
	}
}

int folded_text(struct folded *f, uint64_t id, const char **text)
{
	const struct stacks_stack *s = stacks_find(f->stacks, id);
	struct strbuf sb = STRBUF_INIT;
	struct map_slot *slot;

	*text = NULL;
	if (!s || !s->frame)
		return 0;
	if (!f->texts)
		f->texts = strpool_new();
	slot = f->texts ? map_put(&f->by_id, id, NULL) : NULL;
	if (!slot)
		return -ENOMEM;
	if (!slot->value) {
		add_stack(&sb, f->stacks, s);
		slot->value = sb.failed ? 0 : (uintptr_t)strpool_add(f->texts, sb.s);
		strbuf_free(&sb);
	}
	*text = (const char *)(uintptr_t)slot->value;
	return *text ? 0 : -ENOMEM;
}
