// SPDX-License-Identifier: BSD-3-Clause
/* The table of keys, and a function for what each of them does. */
#include "view/tui/live.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/num.h"
#include "base/utf8.h"

void live_init(struct live *l)
{
	*l = (struct live){ .sort = -1, .has_strips = true };
}

/* ---- moving ---------------------------------------------------------------------------------- */

/* The row that the cursor is in leads from now on, not the process that was in it. */
static void move_to(struct live *l, const struct live_shown *shown, size_t row)
{
	l->cursor[l->page] = num_min(row, num_sub(shown->rows, 1));
	if (l->page == LIVE_HOST)
		l->at = (struct live_process){ 0 };
}

static enum live_request up(struct live *l, struct live_shown *shown)
{
	move_to(l, shown, num_sub(l->cursor[l->page], 1));
	return LIVE_NOTHING;
}

static enum live_request down(struct live *l, struct live_shown *shown)
{
	move_to(l, shown, l->cursor[l->page] + 1);
	return LIVE_NOTHING;
}

static enum live_request page_up(struct live *l, struct live_shown *shown)
{
	move_to(l, shown, num_sub(l->cursor[l->page], num_max(shown->rows_shown, 1)));
	return LIVE_NOTHING;
}

static enum live_request page_down(struct live *l, struct live_shown *shown)
{
	move_to(l, shown, l->cursor[l->page] + num_max(shown->rows_shown, 1));
	return LIVE_NOTHING;
}

static enum live_request home(struct live *l, struct live_shown *shown)
{
	move_to(l, shown, 0);
	return LIVE_NOTHING;
}

static enum live_request end(struct live *l, struct live_shown *shown)
{
	move_to(l, shown, shown->rows);
	return LIVE_NOTHING;
}

/* ---- pages ----------------------------------------------------------------------------------- */

static void go_to(struct live *l, enum live_page page)
{
	if (l->page == page)
		return;
	l->before[page] = l->page;
	l->page = (uint8_t)page;
	l->cursor[page] = 0;
}

static enum live_request open_row(struct live *l, struct live_shown *shown)
{
	if (l->page == LIVE_PROCESS) {
		go_to(l, LIVE_EXPLAIN);
		return LIVE_NOTHING;
	}
	if (!shown->at.pid)
		return LIVE_NOTHING;
	l->at = l->open = shown->at;
	go_to(l, LIVE_PROCESS);
	return LIVE_NOTHING;
}

/* Back by a page; from the first one to what comes now, of all processes. */
static enum live_request back(struct live *l, struct live_shown *shown)
{
	(void)shown;
	if (l->page != LIVE_HOST) {
		l->page = l->before[l->page];
		return LIVE_NOTHING;
	}
	l->filter[0] = '\0';
	l->is_paused = false;
	l->back = 0;
	return LIVE_NOTHING;
}

static enum live_request help(struct live *l, struct live_shown *shown)
{
	(void)shown;
	go_to(l, LIVE_HELP);
	return LIVE_NOTHING;
}

static enum live_request explain(struct live *l, struct live_shown *shown)
{
	if (l->page == LIVE_HOST)
		l->at = shown->at;
	go_to(l, LIVE_EXPLAIN);
	return LIVE_NOTHING;
}

static void turn_tab(struct live *l, const struct live_shown *shown, size_t by)
{
	if (shown->tabs)
		l->tab = (l->tab + by) % shown->tabs;
	l->cursor[LIVE_PROCESS] = 0;
}

static enum live_request next_tab(struct live *l, struct live_shown *shown)
{
	turn_tab(l, shown, 1);
	return LIVE_NOTHING;
}

static enum live_request previous_tab(struct live *l, struct live_shown *shown)
{
	turn_tab(l, shown, num_sub(shown->tabs, 1));
	return LIVE_NOTHING;
}

/* ---- what is shown --------------------------------------------------------------------------- */

static enum live_request ask_filter(struct live *l, struct live_shown *shown)
{
	(void)shown;
	l->prompt = PROMPT_FILTER;
	memcpy(l->typed, l->filter, sizeof(l->typed));
	return LIVE_NOTHING;
}

static enum live_request ask_find(struct live *l, struct live_shown *shown)
{
	(void)shown;
	l->prompt = PROMPT_FIND;
	l->find[0] = '\0';
	return LIVE_NOTHING;
}

static enum live_request unfold(struct live *l, struct live_shown *shown)
{
	(void)shown;
	l->is_unfolded = !l->is_unfolded;
	return LIVE_NOTHING;
}

static void turn_sort(struct live *l, const struct live_shown *shown, int by)
{
	const int n = (int)shown->sorts;

	if (n)
		l->sort = (l->sort + 1 + by + n + 1) % (n + 1) - 1;
}

static enum live_request sort_next(struct live *l, struct live_shown *shown)
{
	turn_sort(l, shown, 1);
	return LIVE_NOTHING;
}

static enum live_request sort_previous(struct live *l, struct live_shown *shown)
{
	turn_sort(l, shown, -1);
	return LIVE_NOTHING;
}

static enum live_request reverse(struct live *l, struct live_shown *shown)
{
	(void)shown;
	l->is_reversed = !l->is_reversed;
	return LIVE_NOTHING;
}

static enum live_request hide(struct live *l, struct live_shown *shown)
{
	(void)shown;
	if (l->sort < 0)
		snprintf(l->message, sizeof(l->message), "F6 first: it hides the column that rows "
			 "are sorted by");
	else
		l->hidden |= 1u << l->sort;
	l->sort = -1;
	return LIVE_NOTHING;
}

static enum live_request show_all(struct live *l, struct live_shown *shown)
{
	(void)shown;
	l->hidden = 0;
	return LIVE_NOTHING;
}

static enum live_request strips(struct live *l, struct live_shown *shown)
{
	(void)shown;
	l->has_strips = !l->has_strips;
	return LIVE_NOTHING;
}

/* ---- time ------------------------------------------------------------------------------------ */

static enum live_request pause_view(struct live *l, struct live_shown *shown)
{
	(void)shown;
	l->is_paused = !l->is_paused;
	if (!l->is_paused)
		l->back = 0;
	return LIVE_NOTHING;
}

static enum live_request older(struct live *l, struct live_shown *shown)
{
	l->is_paused = true;
	l->since_mark = false;
	l->back = num_min(l->back + 1, num_sub(shown->refreshes, 1));
	return LIVE_NOTHING;
}

static enum live_request newer(struct live *l, struct live_shown *shown)
{
	(void)shown;
	l->is_paused = l->back > 1;
	l->back = num_sub(l->back, 1);
	return LIVE_NOTHING;
}

static enum live_request mark(struct live *l, struct live_shown *shown)
{
	(void)shown;
	l->since_mark = !l->since_mark;
	l->is_paused = false;
	l->back = 0;
	return l->since_mark ? LIVE_MARK : LIVE_UNMARK;
}

/* ---- outside of the view --------------------------------------------------------------------- */

static bool take_next(struct live *l, struct live_shown *shown)
{
	strbuf_reset(&shown->command);
	strbuf_addstr(&shown->command, shown->next.s);
	if (!shown->next.len)
		snprintf(l->message, sizeof(l->message), "no command is recommended here");
	return shown->next.len && !shown->command.failed;
}

static enum live_request run_next(struct live *l, struct live_shown *shown)
{
	return take_next(l, shown) ? LIVE_RUN : LIVE_NOTHING;
}

static enum live_request copy_next(struct live *l, struct live_shown *shown)
{
	return take_next(l, shown) ? LIVE_COPY : LIVE_NOTHING;
}

static enum live_request run_for_process(struct live *l, struct live_shown *shown, const char *verb)
{
	const uint32_t pid = l->page == LIVE_HOST ? shown->at.pid : l->open.pid;

	strbuf_reset(&shown->command);
	if (!pid)
		return LIVE_NOTHING;
	strbuf_addf(&shown->command, "gpuprof %s -p %u", verb, pid);
	return shown->command.failed ? LIVE_NOTHING : LIVE_RUN;
}

static enum live_request stacks(struct live *l, struct live_shown *shown)
{
	return run_for_process(l, shown, "stacks");
}

static enum live_request follow(struct live *l, struct live_shown *shown)
{
	return run_for_process(l, shown, "top") ? LIVE_FOLLOW : LIVE_NOTHING;
}

/* It asks first, and says what that may cost. */
static enum live_request inject(struct live *l, struct live_shown *shown)
{
	return run_for_process(l, shown, "stat -d 1s --inject");
}

static enum live_request save_capture(struct live *l, struct live_shown *shown)
{
	(void)l;
	(void)shown;
	return LIVE_SAVE_CAPTURE;
}

static enum live_request save_text(struct live *l, struct live_shown *shown)
{
	(void)l;
	(void)shown;
	return LIVE_SAVE_TEXT;
}

static enum live_request quit(struct live *l, struct live_shown *shown)
{
	(void)l;
	(void)shown;
	return LIVE_QUIT;
}

/* ---- the table ------------------------------------------------------------------------------- */

#define ON(page) (1u << LIVE_##page)
#define LISTS (ON(HOST) | ON(PROCESS))
#define TEXTS (ON(EXPLAIN) | ON(HELP))
#define F(n) (KEY_OF_F0 + (n))

struct key_row {
	uint32_t keys[3];	/* that do the same; 0: no more */
	uint8_t pages;		/* 1 << enum live_page: where they do */
	const char *names;	/* of the keys */
	const char *label;	/* in the line of keys; NULL: not there */
	const char *help;
	enum live_request (*press)(struct live *l, struct live_shown *shown);
};

static const struct key_row rows[] = {
	{ { F(1), '?', 'h' }, LISTS, "F1 ? h", "F1 Help", "this list of keys", help },
	{ { 'q', F(10) }, LISTS | TEXTS, "q F10", "q Quit", "quit", quit },
	{ { F(3), '/' }, LISTS, "F3 /", "F3 Find", "go to the row with what is typed", ask_find },
	{ { F(4), '\\' }, LISTS, "F4 \\", "F4 Filter", "show only rows with what is typed",
	  ask_filter },
	{ { F(5) }, ON(HOST), "F5", "F5 Tree", "ranks that are alike: in rows of their own, or one",
	  unfold },
	{ { F(6), '>' }, ON(HOST), "F6 >", "F6 Sort", "sort by the next column", sort_next },
	{ { '<' }, ON(HOST), "<", NULL, "sort by the column before", sort_previous },
	{ { 'I' }, ON(HOST), "I", NULL, "the other way round", reverse },
	{ { '-' }, ON(HOST), "-", NULL, "hide the column that rows are sorted by", hide },
	{ { '+' }, ON(HOST), "+", NULL, "show all columns", show_all },
	{ { KEY_OF_ENTER }, LISTS, "Enter", "Enter Open", "open the process, or explain the row",
	  open_row },
	{ { KEY_OF_ESCAPE, KEY_OF_BACKSPACE }, LISTS | TEXTS, "Esc", "Esc Back",
	  "back; at last without filter, and to what comes now", back },
	{ { KEY_OF_TAB, KEY_OF_RIGHT }, ON(PROCESS), "Tab right", "Tab Next table",
	  "of a process: the next table", next_tab },
	{ { KEY_OF_BACK_TAB, KEY_OF_LEFT }, ON(PROCESS), "S-Tab left", NULL,
	  "of a process: the table before", previous_tab },
	{ { KEY_OF_UP, 'k' }, LISTS | TEXTS, "up k", NULL, "up", up },
	{ { KEY_OF_DOWN, 'j' }, LISTS | TEXTS, "down j", NULL, "down", down },
	{ { KEY_OF_PAGE_UP }, LISTS | TEXTS, "PgUp", NULL, "up by a screen", page_up },
	{ { KEY_OF_PAGE_DOWN }, LISTS | TEXTS, "PgDn", NULL, "down by a screen", page_down },
	{ { KEY_OF_HOME, 'g' }, LISTS | TEXTS, "Home g", NULL, "to the first row", home },
	{ { KEY_OF_END, 'G' }, LISTS | TEXTS, "End G", NULL, "to the last row", end },
	{ { 's' }, LISTS, "s", "s Stacks", "the stacks of the process, now", stacks },
	{ { 'e' }, LISTS, "e", "e Explain", "what the row means, and its evidence", explain },
	{ { 'n' }, LISTS | ON(EXPLAIN), "n", "n Next", "run the command that is recommended",
	  run_next },
	{ { 'y' }, LISTS | ON(EXPLAIN), "y", NULL, "copy it (OSC 52)", copy_next },
	{ { 'f' }, LISTS, "f", "f Follow", "follow it alone, its time off the CPU too; q: back",
	  follow },
	{ { 'i' }, LISTS, "i", NULL, "bring the helper into the process (it asks)",
	  inject },
	{ { 't' }, LISTS, "t", NULL, "the history of devices: show, or leave out", strips },
	{ { ' ' }, LISTS | TEXTS, "space", "space Pause", "pause, and go on", pause_view },
	{ { '[' }, LISTS | TEXTS, "[", NULL, "an earlier refresh", older },
	{ { ']' }, LISTS | TEXTS, "]", NULL, "a later one", newer },
	{ { 'm' }, LISTS, "m", "m Mark",
	  "add up all from now on (or of the capture); again: no more", mark },
	{ { 'w' }, LISTS, "w", "w Save", "save a capture of the last minute; then h: a page of it",
	  save_capture },
	{ { 'P' }, LISTS | TEXTS, "P", NULL, "save the screen as text", save_text },
};

#define ROWS (sizeof(rows) / sizeof(rows[0]))

static const struct key_row *row_of(uint32_t key, enum live_page page)
{
	for (size_t i = 0; i < ROWS; i++)
		for (size_t k = 0; k < sizeof(rows[i].keys) / sizeof(rows[i].keys[0]); k++)
			if (key && rows[i].keys[k] == key && rows[i].pages >> page & 1)
				return &rows[i];
	return NULL;
}

/* ---- typing ---------------------------------------------------------------------------------- */

static void add_typed(char typed[LIVE_TEXT], uint32_t code)
{
	const size_t n = strlen(typed);
	char utf8[5] = { 0 };

	if (code >= KEY_OF_UP || utf8_is_unsafe((int32_t)code))
		return;
	if (code < 0x80)
		utf8[0] = (char)code;
	else if (code < 0x800)
		snprintf(utf8, sizeof(utf8), "%c%c", (int)(0xc0 | code >> 6),
			 (int)(0x80 | (code & 0x3f)));
	else if (code < 0x10000)
		snprintf(utf8, sizeof(utf8), "%c%c%c", (int)(0xe0 | code >> 12),
			 (int)(0x80 | (code >> 6 & 0x3f)), (int)(0x80 | (code & 0x3f)));
	else
		snprintf(utf8, sizeof(utf8), "%c%c%c%c", (int)(0xf0 | code >> 18),
			 (int)(0x80 | (code >> 12 & 0x3f)), (int)(0x80 | (code >> 6 & 0x3f)),
			 (int)(0x80 | (code & 0x3f)));
	if (n + strlen(utf8) < LIVE_TEXT)
		memcpy(typed + n, utf8, strlen(utf8) + 1);
}

static void remove_typed(char typed[LIVE_TEXT])
{
	size_t n = strlen(typed);

	while (n && ((unsigned char)typed[--n] & 0xc0) == 0x80)
		;
	typed[n] = '\0';
}

/* Rows are filtered and found while one types. Esc: as before; Enter: it stays. */
static void press_prompt(struct live *l, uint32_t key)
{
	char *text = l->prompt == PROMPT_FILTER ? l->filter : l->find;

	if (key == KEY_OF_ESCAPE)
		snprintf(text, LIVE_TEXT, "%s", l->prompt == PROMPT_FILTER ? l->typed : "");
	if (key == KEY_OF_ESCAPE || key == KEY_OF_ENTER)
		l->prompt = PROMPT_NONE;
	else if (key == KEY_OF_BACKSPACE)
		remove_typed(text);
	else
		add_typed(text, key);
}

enum live_request live_press(struct live *l, struct live_shown *shown, uint32_t key)
{
	const struct key_row *row;

	if (key == KEY_OF_END_OF_INPUT)
		return LIVE_QUIT;
	if (key == KEY_OF_RESIZE)
		return LIVE_NOTHING;
	l->message[0] = '\0';
	if (l->offers_page && key == 'h') {
		l->offers_page = false;
		return LIVE_SAVE_PAGE;
	}
	l->offers_page = false;
	if (l->prompt != PROMPT_NONE) {
		press_prompt(l, key);
		return LIVE_NOTHING;
	}
	row = row_of(key, (enum live_page)l->page);
	return row ? row->press(l, shown) : LIVE_NOTHING;
}

bool live_find(struct live *l, const struct live_shown *shown)
{
	if (!l->find[0] || shown->found == SIZE_MAX || shown->found == l->cursor[l->page])
		return false;
	move_to(l, shown, shown->found);
	return true;
}

void live_refreshed(struct live *l, size_t refreshes)
{
	if (l->is_paused)
		l->back = num_min(l->back + 1, num_sub(refreshes, 1));
}

/* ---- help ------------------------------------------------------------------------------------ */

void live_add_keys(struct strbuf *out, const struct live *l, size_t width)
{
	size_t at = 0;

	for (size_t i = 0; i < ROWS; i++) {
		const size_t wide = rows[i].label ? strlen(rows[i].label) + 2 * !!at : 0;

		if (!rows[i].label || !(rows[i].pages >> l->page & 1) || at + wide > width)
			continue;
		strbuf_addf(out, "%s%s", at ? "  " : "", rows[i].label);
		at += wide;
	}
}

void live_add_help(struct strbuf *out)
{
	for (size_t i = 0; i < ROWS; i++)
		strbuf_addf(out, "%-11s %s\n", rows[i].names, rows[i].help);
}
