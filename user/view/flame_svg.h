/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A flame graph as a picture (SVG): the outermost frame on top, those that it called below it, the
 * widest first, each as wide as its time. Positions are percentages, and each frame cuts its own
 * text, so that the picture fits any width; its name, time and share are its tooltip. Frames too
 * narrow to be seen are left out, and their time stays in those above them. Sample of a frame:
 *
 *   <svg class="f f3" x="12.5%" y="38" width="25%" height="18"><title>cudaMemcpy: 1.2 ms,
 *   25.0 %</title><rect/><text x="4" y="13">cudaMemcpy</text></svg>
 */
#ifndef VIEW_FLAME_SVG_H
#define VIEW_FLAME_SVG_H

#include "view/flame.h"

/* Appends an element for a page, which brings the styles; nothing without time. Where it would have
 * more bytes, wider frames are left out, too. */
#define FLAME_SVG_BYTES 130000
void flame_svg_add(struct strbuf *out, const struct flames *f);

/* Appends a file of its own. */
void flame_svg_add_file(struct strbuf *out, const struct flames *f);

/* Text as HTML and SVG take it, in elements and in quotes; what no terminal could show is written
 * as format_safef does. */
void markup_add(struct strbuf *out, const char *text);

#endif
