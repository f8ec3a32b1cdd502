/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the user of the live view looks at, and what each key changes in that. Pure: knows no
 * terminal, no session and no snapshot. Help and the line of keys are made of the same table.
 */
#ifndef VIEW_TUI_LIVE_H
#define VIEW_TUI_LIVE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/str.h"

/* A key: a character (its code point), or one of these behind the last code point. */
enum live_key {
	KEY_OF_UP = 0x110000, KEY_OF_DOWN, KEY_OF_LEFT, KEY_OF_RIGHT, KEY_OF_PAGE_UP,
	KEY_OF_PAGE_DOWN, KEY_OF_HOME, KEY_OF_END, KEY_OF_ENTER, KEY_OF_ESCAPE, KEY_OF_TAB,
	KEY_OF_BACK_TAB, KEY_OF_BACKSPACE, KEY_OF_RESIZE, KEY_OF_F0, KEY_OF_F12 = KEY_OF_F0 + 12,
	KEY_OF_END_OF_INPUT
};

enum live_page { LIVE_HOST, LIVE_PROCESS, LIVE_EXPLAIN, LIVE_HELP, LIVE_PAGES };

/* What a key asks of who holds session and terminal. */
enum live_request {
	LIVE_NOTHING, LIVE_QUIT,
	LIVE_MARK, LIVE_UNMARK,
	LIVE_RUN,		/* page.command, on the terminal */
	LIVE_FOLLOW,		/* the same: a live view of one process */
	LIVE_COPY,		/* page.command, into the terminal's clipboard */
	LIVE_SAVE_TEXT,		/* the screen */
	LIVE_SAVE_CAPTURE,	/* the session's last events */
	LIVE_SAVE_PAGE,		/* that capture, as HTML */
};

enum live_prompt { PROMPT_NONE, PROMPT_FILTER, PROMPT_FIND };

/* A process, whatever row it is in. */
struct live_process {
	uint32_t process;	/* handle */
	uint32_t pid;		/* 0: none */
};

#define LIVE_TEXT 64
#define LIVE_TABS_MAX 16

struct live {
	uint8_t page;			/* enum live_page */
	uint8_t before[LIVE_PAGES];	/* of each page: where Esc goes back to */
	struct live_process open;	/* of LIVE_PROCESS */
	struct live_process at;		/* of LIVE_HOST: the row of the cursor; it moves with it */
	size_t cursor[LIVE_PAGES];	/* row, or first line of text */
	size_t tab;			/* of LIVE_PROCESS */
	int sort;			/* of LIVE_HOST: number of the column; -1: as it is best */
	uint32_t hidden;		/* 1 << number of a column */
	bool is_reversed;
	bool is_unfolded;		/* ranks that are alike have rows of their own */
	bool has_strips;		/* the history of devices is shown */
	bool is_paused;
	size_t back;			/* so many refreshes ago */
	bool since_mark;
	uint8_t prompt;			/* enum live_prompt: what is being typed */
	char filter[LIVE_TEXT], find[LIVE_TEXT];
	char typed[LIVE_TEXT];		/* the filter before */
	bool offers_page;		/* a capture was saved: the key h makes a page of it */
	char message[256];		/* in place of the line of keys, until the next key */
};

/* What the page that is shown has, so that a key can act on it; as page_draw left it. */
struct live_shown {
	size_t rows, rows_shown;	/* of the list, or lines of text */
	size_t sorts, tabs;		/* columns to sort by; tabs */
	struct live_process at;		/* the row of the cursor */
	size_t found;			/* the next row that has live.find; SIZE_MAX: none */
	size_t refreshes;		/* to scroll back to */
	struct strbuf command;		/* for LIVE_RUN and LIVE_COPY */
	struct strbuf next;		/* the command that is recommended; "": none */
};

void live_init(struct live *l);

/* A key was pressed. */
enum live_request live_press(struct live *l, struct live_shown *shown, uint32_t key);

/* Moves the cursor to what is searched for; false: it is there, or nowhere. */
bool live_find(struct live *l, const struct live_shown *shown);

/* A refresh has come: what is looked at while paused stays the same. */
void live_refreshed(struct live *l, size_t refreshes);

/* "F1 Help  F3 Find ...": those of the page that fit into so many columns. */
void live_add_keys(struct strbuf *out, const struct live *l, size_t width);

/* A line for each key, with its help. */
void live_add_help(struct strbuf *out);

#endif
