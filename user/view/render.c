// SPDX-License-Identifier: BSD-3-Clause
/* The formats by name. A new format is a row here and a file render_NAME.c. */
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
