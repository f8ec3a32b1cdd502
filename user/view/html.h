/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A report as one HTML page, to be sent: `report FILE --html PAGE`. It opens from a file, asks for
 * nothing (a content security policy forbids all but its own style and script), and has at most
 * 2 MB, however long the session was. The verdict, bars and tables are plain HTML; the script
 * (html/page.js) draws what was when from the data of view/html_strips.h, sorts and filters tables,
 * and explains words. Names are text: markup and what no terminal shows are escaped.
 */
#ifndef VIEW_HTML_H
#define VIEW_HTML_H

#include "view/summary.h"

/* Before the first event its model needs model_use_bins and html_moments_consumer
 * (view/html_moments.h): without them the page lacks what was when. verdict: as verdict_add has it.
 * 0 or -ENOMEM. */
int html_add(struct strbuf *out, const struct summary *s, const char *verdict,
	     const struct summary_text *text);

#endif
