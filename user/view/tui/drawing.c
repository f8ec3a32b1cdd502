// SPDX-License-Identifier: BSD-3-Clause
/* Lists and texts that are longer than the screen. */
#include "view/tui/drawing.h"

#include <string.h>

#include "base/num.h"
#include "view/render.h"

const struct finding *drawing_finding(const struct drawing *g, uint32_t process)
{
	for (size_t i = 0; i < g->findings.all.n; i++)
		if (!process || g->findings.all.v[i].process == process)
			return &g->findings.all.v[i];
	return NULL;
}

size_t drawing_first_row(const struct drawing *g, size_t cursor, size_t rows, size_t room)
{
	const size_t last = num_sub(rows, room);

	if (g->d->is_batch || rows <= room)
		return 0;
	return num_min(num_sub(cursor, room / 2), last);
}

void drawing_add_text(struct drawing *g, const char *text)
{
	struct live_shown *shown = &g->page->shown;
	size_t lines = 0, first;

	for (const char *at = text; *at; at += strcspn(at, "\n"), at += *at == '\n')
		lines++;
	shown->rows_shown = g->line.left;
	shown->rows = num_sub(lines, g->line.left) + 1;
	first = num_min(g->l->cursor[g->l->page], shown->rows - 1);
	for (const char *at = text; *at && g->line.left; at += *at == '\n') {
		const size_t len = strcspn(at, "\n");

		if (first) {
			first--;
		} else {
			format_safef(&g->line.text, "%.*s", (int)len, at);
			line_end(&g->line);
		}
		at += len;
	}
}
