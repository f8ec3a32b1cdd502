/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A page while it is drawn, and what its parts share: lists that scroll, texts, the finding that
 * matters to a process. page.c begins and ends it; page_host.c and page_process.c are in between.
 */
#ifndef VIEW_TUI_DRAWING_H
#define VIEW_TUI_DRAWING_H

#include "findings/findings.h"
#include "view/tui/page.h"

struct drawing {
	struct page *page;
	const struct live *l;
	const struct page_data *d;
	const struct snapshot *snap;
	struct findings findings;	/* of snap */
	struct screen_line line;	/* line.left: lines that are free above the last one */
	size_t lines;			/* ... at the beginning */
};

/* The number of the line that is being written. */
static inline size_t page_line(const struct drawing *g)
{
	return g->lines - g->line.left;
}

/* Each writes what is between the header and the last line. */
void page_host_add(struct drawing *g);
void page_process_add(struct drawing *g);
void page_explain_add(struct drawing *g);

/* Lines of a text, from the cursor's on. */
void drawing_add_text(struct drawing *g, const char *text);

/* The first of a list's rows that is shown, so that the cursor's is, too. */
size_t drawing_first_row(const struct drawing *g, size_t cursor, size_t rows, size_t room);

/* The first finding of a process, or (0) of all; NULL: none. */
const struct finding *drawing_finding(const struct drawing *g, uint32_t process);

/* Is it in the text? Of a small letter the large one is, too. */
static inline bool drawing_matches(const char *typed, const char *text)
{
	return !*typed || (text && strcasestr(text, typed));
}

#endif
