/* SPDX-License-Identifier: BSD-3-Clause */
/* The messages of a session (EVENT_NOTE), in the order they came; the first NOTES_MAX. */
#ifndef FACTS_NOTES_H
#define FACTS_NOTES_H

#include "base/note.h"
#include "base/vec.h"
#include "event/event.h"

#define NOTES_MAX 256

struct note {
	uint32_t pid;		/* 0: of no process */
	uint8_t severity;	/* enum note_severity, or one of a later version */
	const char *code;	/* owned, with text */
	const char *text;
};

struct notes {			/* start zeroed */
	VEC(struct note) all;
};

int notes_push(struct notes *n, const struct event *ev);	/* 0, -EINVAL (no code), -ENOMEM */
/* One that is made of other data, over any bound. 0 or -ENOMEM. */
int notes_add(struct notes *n, enum note_code code, uint32_t pid, const char *text);
int notes_copy(struct notes *to, const struct notes *from);	/* 0 or -ENOMEM */
void notes_free(struct notes *n);

#endif
