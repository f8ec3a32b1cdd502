/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The lines of a screen of fixed width, written from left to right: fields, sentences, bars. A line
 * is built in `text`, to which callers may append too (printable, one line). line_end cuts it to
 * the width and adds it to `out`; only there do colours become escape sequences. Sample:
 *
 *   GPU 0     CCCCCCCCCCCCCCCCCCCCCCCCmmmmmmmmmcccccc.........................     2.431 s
 *             C compute 38 %  m copy 14 %  c comm 10 %  . idle 38 %
 *   busy      148377562473664736674645637465646647456474663     53.86 ms
 */
#ifndef VIEW_SCREEN_LINE_H
#define VIEW_SCREEN_LINE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"
#include "base/vec.h"
#include "view/color.h"

struct color_mark {
	size_t at;		/* offset in the text */
	enum line_color color;
};

struct screen_line {
	struct strbuf text;	/* what is written so far */
	size_t width;		/* columns of the screen */
	size_t left;		/* how many more lines fit */
	bool ascii, has_color;
	enum line_color first;	/* of the text before the first mark */
	VEC(struct color_mark) marks;
	struct strbuf *out;	/* complete lines */
};

/* One kind of time in a bar; its glyph is one column wide. */
struct bar_part {
	const char *name, *glyph, *ascii;
	enum line_color color;	/* of the glyph */
};

static inline void line_free(struct screen_line *l)
{
	strbuf_free(&l->text);
	VEC_FREE(&l->marks);
}

/* The colour of what is added from here on, in the next lines too. */
static inline void line_set_color(struct screen_line *l, enum line_color color)
{
	bool is_same = l->marks.n && l->marks.v[l->marks.n - 1].color == color;
	struct color_mark *mark = l->has_color && !is_same ? VEC_PUSH(&l->marks) : NULL;

	if (mark)
		*mark = (struct color_mark){ l->text.len, color };
	l->text.failed |= l->has_color && !is_same && !mark;
}

/* Completes the line, without trailing blanks. Out of memory: out->failed. */
void line_end(struct screen_line *l);

/* Pads with blanks up to that column, if the line is shorter. */
void line_go_to(struct screen_line *l, size_t column);

/* The text, cut or padded to that width; right: aligned to the right. */
void line_add_field(struct screen_line *l, const char *text, size_t width, bool right);

/* Sentences, wrapped at blanks into `most` lines at most. */
void line_add_sentences(struct screen_line *l, const char *text, size_t most);

/* Its glyph, so often. */
void line_add_glyphs(struct screen_line *l, const struct bar_part *part, size_t n);

/* A bar of that width: n parts, in proportion to their times. Returns the sum of these. */
uint64_t line_add_bar(struct screen_line *l, const struct bar_part *parts, const uint64_t *ns,
		      size_t n, size_t width);

/* "C compute 38 %", of all_ns */
void line_add_part(struct screen_line *l, const struct bar_part *part, uint64_t ns,
		   uint64_t all_ns);

static inline void line_add_glyph(struct screen_line *l, const struct bar_part *part)
{
	line_add_glyphs(l, part, 1);
}

struct strip;
struct strip_time;

/* "·", "▁" to "█", "?": how busy it was, in eighths of what is known of it; blank where less than
 * half of ns was in its book. */
void line_add_level(struct screen_line *l, const struct strip_time *t, uint64_t ns);

/* "·▁▅█?": how busy a device was from start to end, a column for each part of that time, in eighths
 * of what is known of it; blank where its book was not open. Returns how long a column is. */
uint64_t line_add_strip(struct screen_line *l, const struct strip *strip, uint64_t start_ns,
			uint64_t end_ns, size_t width);

/* "████▌": a share of that width, in eighths of a column, or in whole columns of ASCII */
void line_add_share(struct screen_line *l, double share, size_t width);

#endif
