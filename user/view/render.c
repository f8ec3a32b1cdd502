// SPDX-License-Identifier: BSD-3-Clause
/*
 * The formats by name: a new one is a row here and a file render_NAME.c. And what those for people
 * leave out.
 */
#include "view/render.h"

#include <errno.h>
#include <string.h>

static const struct {
	const char *name;
	void (*render)(struct strbuf *out, const struct report *r);
} formats[FORMAT_END] = {
	[FORMAT_TEXT] = { "text", render_text },
	[FORMAT_MD] = { "md", render_md },
	[FORMAT_CSV] = { "csv", render_csv },
	[FORMAT_JSON] = { "json", render_json },
};

int format_from_name(const char *name)
{
	for (int i = 0; i < FORMAT_END; i++)
		if (!strcmp(formats[i].name, name))
			return i;
	return -EINVAL;
}

void report_render(struct strbuf *out, const struct report *r, enum format f)
{
	formats[f].render(out, r);
}

static bool is_known(const struct table *t, unsigned int column)
{
	for (size_t row = 0; row < table_rows(t); row++)
		if (table_cells(t, row)[column].known)
			return true;
	return !table_rows(t);
}

unsigned int render_columns(const struct report *r, const struct table *t, unsigned int *column)
{
	unsigned int n, shown = 0;
	const struct column *c = table_columns(t, &n);

	for (unsigned int i = 0; i < n; i++)
		if (r->wide || (!c[i].wide && is_known(t, i)))
			column[shown++] = i;
	return shown;
}
