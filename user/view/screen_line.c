// SPDX-License-Identifier: BSD-3-Clause
/* Widths are those of terminal columns, not of bytes. */
#include "view/screen_line.h"

#include <string.h>

#include "base/num.h"
#include "base/utf8.h"
#include "model/snapshot.h"
#include "view/render.h"

/* How many bytes of it fit into so many columns. */
static size_t fit(const char *s, size_t columns)
{
	const char *at = s, *end = s;

	while (*at) {
		const int32_t code = utf8_next(&at);
		const unsigned int width = code < 0 ? 1 : utf8_width(code);

		if (width > columns)
			break;
		columns -= width;
		end = at;
	}
	return (size_t)(end - s);
}

static void add_run(struct strbuf *out, enum line_color color, const char *s, size_t len)
{
	const size_t from = out->len;

	strbuf_add(out, s, len);
	line_color_from(out, from, color);
}

/* The first bytes of the text with its colours; the last one goes on in the next line. */
static void add_colored(struct screen_line *l, size_t len)
{
	size_t at = 0;

	for (size_t i = 0; i < l->marks.n; i++) {
		const size_t end = num_min(l->marks.v[i].at, len);

		add_run(l->out, l->first, l->text.s + at, end - at);
		l->first = l->marks.v[i].color;
		at = end;
	}
	add_run(l->out, l->first, l->text.s + at, len - at);
	l->marks.n = 0;
}

void line_end(struct screen_line *l)
{
	struct strbuf *text = &l->text;
	size_t len;

	l->left = num_sub(l->left, 1);
	while (text->len && text->s[text->len - 1] == ' ')
		text->s[--text->len] = '\0';
	len = text->len;
	if (utf8_str_width(text->s) > l->width)
		len = fit(text->s, l->width - 1);
	add_colored(l, len);
	if (len < text->len)
		strbuf_addstr(l->out, l->ascii ? "~" : "…");
	strbuf_addch(l->out, '\n');
	l->out->failed |= text->failed;
	strbuf_reset(text);
}

void line_go_to(struct screen_line *l, size_t column)
{
	for (size_t at = utf8_str_width(l->text.s); at < column; at++)
		strbuf_addch(&l->text, ' ');
}

void line_add_field(struct screen_line *l, const char *text, size_t width, bool right)
{
	const size_t at = utf8_str_width(l->text.s), wide = utf8_str_width(text);

	if (wide > width) {
		strbuf_add(&l->text, text, fit(text, width - 1));
		strbuf_addstr(&l->text, l->ascii ? "~" : "…");
	} else {
		if (right)
			line_go_to(l, at + width - wide);
		strbuf_addstr(&l->text, text);
	}
	line_go_to(l, at + width);
}

void line_add_sentences(struct screen_line *l, const char *text, size_t most)
{
	struct strbuf safe = STRBUF_INIT;
	char *rest, *word;

	format_safef(&safe, "%s", text);
	rest = safe.len ? safe.s : NULL;
	while (most && (word = strsep(&rest, " "))) {
		const size_t at = utf8_str_width(l->text.s);

		if (rest && *rest == '%') {	/* its unit stays with a number */
			rest[-1] = ' ';
			strsep(&rest, " ");
		}
		if (at && at + 1 + utf8_str_width(word) > l->width) {
			if (!--most)
				strbuf_addstr(&l->text, l->ascii ? " ..." : " …");
			line_end(l);
		}
		if (most && *word)
			strbuf_addf(&l->text, "%s%s", l->text.len ? " " : "", word);
	}
	if (l->text.len)
		line_end(l);
	l->out->failed |= safe.failed;
	strbuf_free(&safe);
}

/* ---- bars ------------------------------------------------------------------------------------ */

void line_add_glyphs(struct screen_line *l, const struct bar_part *part, size_t n)
{
	line_set_color(l, part->color);
	while (n--)
		strbuf_addstr(&l->text, l->ascii ? part->ascii : part->glyph);
	line_set_color(l, LINE_PLAIN);
}

uint64_t line_add_bar(struct screen_line *l, const struct bar_part *parts, const uint64_t *ns,
		      size_t n, size_t width)
{
	uint64_t at_ns = 0, all_ns = 0;
	size_t at = 0;

	for (size_t i = 0; i < n; i++)
		all_ns += ns[i];
	for (size_t i = 0; i < n; i++) {
		const size_t from = at;
		double end;

		at_ns += ns[i];
		end = num_ratio(at_ns, all_ns) * (double)width;
		while (at < width && (double)at + 0.5 < end)
			at++;
		line_add_glyphs(l, &parts[i], at - from);
	}
	return all_ns;
}

void line_add_part(struct screen_line *l, const struct bar_part *part, uint64_t ns, uint64_t all_ns)
{
	line_add_glyph(l, part);
	strbuf_addf(&l->text, " %s %.0f %%", part->name, 100 * num_ratio(ns, all_ns));
}

/* Of that time, mostly. */
static const char *cell_of(const struct strip_time *t, uint64_t ns, bool ascii)
{
	static const char *const eighths[] = { "·", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█" };
	static const char *const digits[] = { ".", "1", "2", "3", "4", "5", "6", "7", "8" };
	const uint64_t known_ns = t->busy_ns + t->idle_ns;
	size_t level;

	if (known_ns + t->unknown_ns <= ns / 2)
		return " ";
	if (t->unknown_ns > known_ns)
		return "?";
	level = (size_t)(8 * num_ratio(t->busy_ns, known_ns) + 0.5);
	if (t->busy_ns && !level)
		level = 1;
	return ascii ? digits[level] : eighths[level];
}

void line_add_level(struct screen_line *l, const struct strip_time *t, uint64_t ns)
{
	strbuf_addstr(&l->text, cell_of(t, ns, l->ascii));
}

uint64_t line_add_strip(struct screen_line *l, const struct strip *strip, uint64_t start_ns,
			uint64_t end_ns, size_t width)
{
	const uint64_t ns = num_sub(end_ns, start_ns);

	for (size_t i = 0; i < width; i++) {
		const uint64_t from = start_ns + num_scale(ns, i, width);
		const uint64_t to = start_ns + num_scale(ns, i + 1, width);
		const struct strip_time t = strip_read(strip, from, to);

		line_add_level(l, &t, to - from);
	}
	return width ? ns / width : 0;
}

void line_add_share(struct screen_line *l, double share, size_t width)
{
	static const char *const eighths[] = {
		"", "▏", "▎", "▍", "▌", "▋", "▊", "▉",
	};
	const size_t n = (size_t)(num_min((uint64_t)(share * 1e6), 1000000) * width * 8 / 1000000);

	for (size_t i = 0; i < n / 8; i++)
		strbuf_addstr(&l->text, l->ascii ? "#" : "█");
	if (!l->ascii)
		strbuf_addstr(&l->text, eighths[n % 8]);
}
