// SPDX-License-Identifier: BSD-3-Clause
/* Lines of a screen: no line is wider than the screen, whatever is written into it. */
#include <string.h>

#include "base/utf8.h"
#include "lib/test.h"
#include "view/screen_line.h"

static struct strbuf out = STRBUF_INIT;

static const struct bar_part parts[] = {
	{ "busy", "█", "C", LINE_GREEN }, { "none", "x", "x", LINE_RED },
	{ "idle", "·", ".", LINE_PLAIN },
};

static struct screen_line line_of(size_t width, bool ascii)
{
	strbuf_reset(&out);
	return (struct screen_line){ .text = STRBUF_INIT, .width = width, .left = 10,
				     .ascii = ascii, .out = &out };
}

/* Ends the line and the test. */
static void is_written(struct screen_line *l, const char *wanted)
{
	if (l->text.len)
		line_end(l);
	assert_false(out.failed);
	assert_string_equal(out.s, wanted);
	line_free(l);
	strbuf_free(&out);
}

TEST(a_line_is_cut_at_the_width_and_has_no_blanks_at_its_end)
{
	struct screen_line l = line_of(5, false);

	strbuf_addstr(&l.text, "abcde");
	line_end(&l);
	strbuf_addstr(&l.text, "abcdef");
	line_end(&l);
	strbuf_addstr(&l.text, "ab   ");
	line_end(&l);
	line_end(&l);
	assert_int_equal(l.left, 6);
	is_written(&l, "abcde\nabcd…\nab\n\n");
	l = line_of(5, true);
	strbuf_addstr(&l.text, "漢漢漢");	/* two columns each */
	is_written(&l, "漢漢~\n");
}

TEST(a_field_has_its_width_in_columns_not_in_bytes)
{
	struct screen_line l = line_of(40, false);

	line_add_field(&l, "é", 3, false);
	line_add_field(&l, "12", 4, true);
	line_add_field(&l, "abcdef", 4, true);
	line_add_field(&l, "漢漢", 3, false);	/* half of one does not fit */
	strbuf_addstr(&l.text, "|");
	is_written(&l, "é    12abc…漢…|\n");
}

TEST(sentences_are_broken_at_blanks_and_a_number_keeps_its_percent_sign)
{
	struct screen_line l = line_of(12, true);

	line_add_sentences(&l, "it lost 12.5 % of\tthe time", 9);
	is_written(&l, "it lost\n12.5 %\nof\\tthe time\n");
	l = line_of(12, true);
	line_add_sentences(&l, "one two three four five six", 2);
	assert_int_equal(l.left, 8);
	is_written(&l, "one two\nthree four ~\n");
}

TEST(a_bar_is_full_and_its_parts_are_in_proportion)
{
	static const uint64_t ns[] = { 75, 0, 25 }, none[] = { 0, 0, 0 };
	struct screen_line l = line_of(40, true);

	assert_int_equal(line_add_bar(&l, parts, ns, 3, 8), 100);
	line_add_field(&l, "", 1, false);
	line_add_part(&l, &parts[0], ns[0], 100);
	line_end(&l);
	assert_int_equal(line_add_bar(&l, parts, none, 3, 8), 0);
	is_written(&l, "CCCCCC.. C busy 75 %\n");
}

TEST(a_share_is_drawn_in_eighths_and_more_than_all_is_all)
{
	struct screen_line l = line_of(40, false);

	line_add_share(&l, 0.45, 10);
	line_end(&l);
	line_add_share(&l, 2, 4);
	line_end(&l);
	l.ascii = true;
	line_add_share(&l, 0.45, 10);
	is_written(&l, "████▌\n████\n####\n");
}

/* Each way to write a line. */
static void write_all(struct screen_line *l)
{
	static const uint64_t ns[] = { 75, 0, 25 };

	line_set_color(l, LINE_BOLD);
	line_add_sentences(l, "one two three four five six", 9);
	line_set_color(l, LINE_PLAIN);
	line_set_color(l, LINE_RED);
	line_add_field(l, "1 %", 5, true);
	line_set_color(l, LINE_PLAIN);
	line_add_field(l, "abcdef", 4, false);
	line_add_bar(l, parts, ns, 3, 8);	/* its end is cut */
	line_end(l);
	line_add_part(l, &parts[0], ns[0], 100);
}

TEST(text_gets_a_colour_from_an_offset_on_line_by_line)
{
	struct strbuf text = STRBUF_INIT;

	line_color_from(&text, 0, LINE_BOLD);
	assert_string_equal(text.s, "");
	strbuf_addstr(&text, "a b\n\nc\nd");
	line_color_from(&text, 2, LINE_PLAIN);
	assert_string_equal(text.s, "a b\n\nc\nd");
	line_color_from(&text, 2, LINE_BOLD_RED);
	assert_string_equal(text.s, "a \033[1;31mb\033[0m\n\n\033[1;31mc\033[0m\n"
				    "\033[1;31md\033[0m");
	strbuf_free(&text);
}

TEST(colours_have_no_width_end_with_their_line_and_go_on_in_the_next_one)
{
	struct screen_line l = line_of(12, true);

	l.has_color = true;
	write_all(&l);
	is_written(&l, "\033[1mone two\033[0m\n\033[1mthree four\033[0m\n\033[1mfive six\033[0m\n"
		   "\033[31m  1 %\033[0mabc~\033[32mCC\033[0m~\n\033[32mC\033[0m busy 75 %\n");
	l = line_of(12, true);
	write_all(&l);
	is_written(&l, "one two\nthree four\nfive six\n  1 %abc~CC~\nC busy 75 %\n");
}
