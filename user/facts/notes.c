// SPDX-License-Identifier: BSD-3-Clause
/* See the header. */
#include "facts/notes.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Texts are copied. */
static int add(struct notes *n, const struct note *note)
{
	struct note *slot = VEC_PUSH(&n->all);

	if (!slot)
		return -ENOMEM;
	*slot = *note;
	slot->code = strdup(note->code);
	slot->text = strdup(note->text);
	return slot->code && slot->text ? 0 : -ENOMEM;
}

int notes_push(struct notes *n, const struct event *ev)
{
	const struct note note = { .pid = ev->pid, .severity = ev->note.severity,
				   .code = ev->note.code,
				   .text = ev->note.text ? ev->note.text : "" };

	if (!note.code)
		return -EINVAL;
	return n->all.n < NOTES_MAX ? add(n, &note) : 0;
}

int notes_add(struct notes *n, enum note_code code, uint32_t pid, const char *text)
{
	return add(n, &(struct note){ .pid = pid, .severity = note_severity(code),
				      .code = note_name(code), .text = text });
}

int notes_copy(struct notes *to, const struct notes *from)
{
	int err = 0;

	for (size_t i = 0; i < from->all.n && !err; i++)
		err = add(to, &from->all.v[i]);
	return err;
}

void notes_free(struct notes *n)
{
	for (size_t i = 0; i < n->all.n; i++) {
		free((char *)n->all.v[i].code);
		free((char *)n->all.v[i].text);
	}
	VEC_FREE(&n->all);
}
