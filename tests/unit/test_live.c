// SPDX-License-Identifier: BSD-3-Clause
/* What keys do to what the user looks at. */
#include "view/tui/live.h"

#include <string.h>

#include "lib/test.h"

static struct live l;
static struct live_shown shown;

/* A list of ten rows, four of them on the screen, as a first page has it. */
BEFORE_EACH
{
	live_init(&l);
	shown = (struct live_shown){ .rows = 10, .rows_shown = 4, .sorts = 3, .tabs = 3, .found = SIZE_MAX,
				     .refreshes = 5, .at = { .process = 1, .pid = 77 },
				     .command = STRBUF_INIT, .next = STRBUF_INIT };
}

AFTER_EACH
{
	strbuf_free(&shown.command);
	strbuf_free(&shown.next);
}

static enum live_request press(uint32_t key)
{
	return live_press(&l, &shown, key);
}

static void type(const char *text)
{
	while (*text)
		press((unsigned char)*text++);
}

TEST(the_cursor_stays_in_the_list)
{
	press('k');
	assert_int_equal(l.cursor[LIVE_HOST], 0);
	press('j');
	press(KEY_OF_DOWN);
	assert_int_equal(l.cursor[LIVE_HOST], 2);
	press(KEY_OF_PAGE_DOWN);
	assert_int_equal(l.cursor[LIVE_HOST], 6);
	press(KEY_OF_END);
	press(KEY_OF_PAGE_DOWN);
	assert_int_equal(l.cursor[LIVE_HOST], 9);
	press(KEY_OF_PAGE_UP);
	assert_int_equal(l.cursor[LIVE_HOST], 5);
	press('g');
	assert_int_equal(l.cursor[LIVE_HOST], 0);
	shown.rows = 0;
	press('j');
	assert_int_equal(l.cursor[LIVE_HOST], 0);
}

TEST(enter_opens_the_process_then_explains_the_row_and_escape_goes_back)
{
	press(KEY_OF_ENTER);
	assert_int_equal(l.page, LIVE_PROCESS);
	assert_int_equal(l.open.pid, 77);
	press(KEY_OF_ENTER);
	assert_int_equal(l.page, LIVE_EXPLAIN);
	press(KEY_OF_ESCAPE);
	assert_int_equal(l.page, LIVE_PROCESS);
	press('?');
	assert_int_equal(l.page, LIVE_HELP);
	press(KEY_OF_ESCAPE);
	press(KEY_OF_ESCAPE);
	assert_int_equal(l.page, LIVE_HOST);
	assert_int_equal(l.at.pid, 77);
}

TEST(without_a_row_nothing_is_opened_and_nothing_run)
{
	shown.at = (struct live_process){ 0 };
	assert_int_equal(press(KEY_OF_ENTER), LIVE_NOTHING);
	assert_int_equal(l.page, LIVE_HOST);
	assert_int_equal(press('s'), LIVE_NOTHING);
	assert_int_equal(press('i'), LIVE_NOTHING);
	assert_int_equal(press('n'), LIVE_NOTHING);
	assert_string_equal(l.message, "no command is recommended here");
	press('j');
	assert_string_equal(l.message, "");
}

TEST(tabs_and_columns_to_sort_by_go_round)
{
	press(KEY_OF_F0 + 6);
	assert_int_equal(l.sort, 0);
	press('>');
	press('>');
	assert_int_equal(l.sort, 2);
	press('>');
	assert_int_equal(l.sort, -1);
	press('<');
	assert_int_equal(l.sort, 2);
	press(KEY_OF_ENTER);
	press(KEY_OF_BACK_TAB);
	assert_int_equal(l.tab, 2);
	press(KEY_OF_TAB);
	assert_int_equal(l.tab, 0);
}

TEST(what_is_typed_filters_at_once_enter_keeps_it_escape_does_not)
{
	press('\\');
	type("ab");
	assert_string_equal(l.filter, "ab");
	press(0xe9);
	assert_string_equal(l.filter, "ab\303\251");
	press(KEY_OF_BACKSPACE);	/* a character, not a byte */
	assert_string_equal(l.filter, "ab");
	press(KEY_OF_UP);
	press(7);
	press(0x202e);			/* would turn the line */
	assert_string_equal(l.filter, "ab");
	press(KEY_OF_ENTER);
	press(KEY_OF_F0 + 4);
	type("cdq");
	assert_string_equal(l.filter, "abcdq");
	press(KEY_OF_ESCAPE);
	assert_string_equal(l.filter, "ab");
	press(KEY_OF_ESCAPE);
	assert_string_equal(l.filter, "");
}

TEST(more_than_fits_is_not_typed)
{
	press('/');
	for (int i = 0; i < 2 * LIVE_TEXT; i++)
		press(0x6f22);
	assert_int_equal(strlen(l.find), (LIVE_TEXT - 1) / 3 * 3);
}

TEST(find_moves_the_cursor_to_the_row)
{
	press('/');
	type("x");
	shown.found = 3;
	assert_true(live_find(&l, &shown));
	assert_int_equal(l.cursor[LIVE_HOST], 3);
	assert_false(live_find(&l, &shown));
}

TEST(while_paused_the_same_refresh_is_shown)
{
	press(' ');
	assert_true(l.is_paused);
	live_refreshed(&l, 6);
	live_refreshed(&l, 7);
	assert_int_equal(l.back, 2);
	press('[');
	assert_int_equal(l.back, 3);
	press(']');
	press(']');
	press(']');
	assert_int_equal(l.back, 0);
	assert_false(l.is_paused);
	live_refreshed(&l, 8);
	assert_int_equal(l.back, 0);
	for (int i = 0; i < 20; i++)
		press('[');
	assert_int_equal(l.back, 4);
	press(' ');
	assert_int_equal(l.back, 0);
}

TEST(a_mark_is_set_and_taken_away)
{
	press('[');
	assert_int_equal(press('m'), LIVE_MARK);
	assert_true(l.since_mark && !l.is_paused && !l.back);
	assert_int_equal(press('m'), LIVE_UNMARK);
	assert_false(l.since_mark);
}

TEST(commands_are_of_the_process_or_those_recommended)
{
	assert_int_equal(press('s'), LIVE_RUN);
	assert_string_equal(shown.command.s, "gpuprof stacks -p 77");
	strbuf_addstr(&shown.next, "gpuprof stat -p 5");
	assert_int_equal(press('y'), LIVE_COPY);
	assert_string_equal(shown.command.s, "gpuprof stat -p 5");
	assert_int_equal(press('n'), LIVE_RUN);
	press(KEY_OF_ENTER);
	assert_int_equal(press('i'), LIVE_RUN);
	assert_string_equal(shown.command.s, "gpuprof stat -d 1s --inject -p 77");
	assert_int_equal(press('f'), LIVE_FOLLOW);
	assert_string_equal(shown.command.s, "gpuprof top -p 77");
	press(KEY_OF_ESCAPE);
	shown.at.pid = 0;
	assert_int_equal(press('f'), LIVE_NOTHING);
}

TEST(a_page_is_made_only_of_the_capture_just_saved)
{
	assert_int_equal(press('w'), LIVE_SAVE_CAPTURE);
	l.offers_page = true;		/* it was saved */
	assert_int_equal(press('h'), LIVE_SAVE_PAGE);
	assert_int_equal(press('h'), LIVE_NOTHING);
	assert_int_equal(l.page, LIVE_HELP);
	press(KEY_OF_ESCAPE);
	l.offers_page = true;
	press('j');
	press('h');
	assert_int_equal(l.page, LIVE_HELP);
}

TEST(a_key_has_no_two_meanings_and_unknown_ones_have_none)
{
	const struct live before = l;

	assert_int_equal(press('%'), LIVE_NOTHING);
	assert_int_equal(press(KEY_OF_RESIZE), LIVE_NOTHING);
	assert_memory_equal(&before, &l, sizeof(l));
	assert_int_equal(press('q'), LIVE_QUIT);
	assert_int_equal(press(KEY_OF_F0 + 10), LIVE_QUIT);
	assert_int_equal(press(KEY_OF_END_OF_INPUT), LIVE_QUIT);
	press('\\');
	assert_int_equal(press('q'), LIVE_NOTHING);
	assert_string_equal(l.filter, "q");
}

TEST(the_line_of_keys_fits_and_has_those_of_the_page)
{
	struct strbuf line = STRBUF_INIT, help = STRBUF_INIT;

	live_add_keys(&line, &l, 40);
	assert_true(line.len <= 40);
	assert_string_equal(line.s, "F1 Help  q Quit  F3 Find  F4 Filter");
	live_add_help(&help);
	for (size_t page = 0; page < LIVE_PAGES; page++) {
		strbuf_reset(&line);
		l.page = (uint8_t)page;
		live_add_keys(&line, &l, 400);
		assert_non_null(strstr(line.s, "q Quit"));
		assert_int_equal(!!strstr(line.s, "F5 Tree"), page == LIVE_HOST);
	}
	assert_non_null(strstr(help.s, "q F10       quit\n"));
	strbuf_free(&line);
	strbuf_free(&help);
}
