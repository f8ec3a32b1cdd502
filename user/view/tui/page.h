/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The pages of the live view, as lines of text: a function of the snapshots, of what the user looks
 * at and of the shape of the screen. Sample of the first page:
 *
 *   gpuprof  vm  12:04:05, last 4.475 s, GPUs 1.1 s behind     cost ~0.16 %, CPU 2.7 %, lost 0 %
 *   GPU 0 loses 24.5 % to input-stall (without it at best 1.32x): thread 8255 (pretrain) is in no
 *   call while the device has nothing to do: it waits for a lock or another thread
 *   GPU  busy  history                last 5 s               SM DRAM    memory     W note
 *     0  62 %  556655665566556655      CCCCCCCCCmmcc.......  41   38  71/80 GB   610
 *              C compute  m copy  c comm  . idle  ? unknown
 *
 *       PID COMMAND        GPU  BUSY GPU TIME         WAITS MOST FOR  GPU LOST LAUNCH/S    MEM
 *      8255 pretrain         0  62 % CCCCCCmmcc.....  input-stall       26.5 %      628  71.0G
 *
 *   F1 Help  F3 Find  F4 Filter  F5 Tree  F6 Sort  Enter Open  s Stacks  e Explain  q Quit
 */
#ifndef VIEW_TUI_PAGE_H
#define VIEW_TUI_PAGE_H

#include "view/screen.h"
#include "view/screen_line.h"
#include "view/tui/history.h"
#include "view/tui/live.h"

#define PAGE_NO_LINE SIZE_MAX
#define PAGE_COLUMNS_MIN 20
#define PAGE_LINES_MIN 6

struct page {			/* start zeroed, with text STRBUF_INIT */
	struct strbuf text;	/* lines, coloured as shape.has_color says */
	size_t cursor_line;	/* or PAGE_NO_LINE */
	size_t title_line[2];	/* headings of tables; or PAGE_NO_LINE */
	struct live_shown shown;
};

struct page_data {
	const struct history *history;
	const char *file;	/* a capture that is played; NULL: none */
	bool has_ended;		/* nothing more will come */
	double cpu_share;	/* that gpuprof itself takes of a CPU; < 0: unknown */
	bool is_batch;		/* text for a file: no keys, all rows */
};

/* Writes page anew; a screen too small has less. 0 or -ENOMEM. */
int page_draw(struct page *p, const struct live *l, const struct page_data *d,
	      const struct screen_shape *shape);
void page_free(struct page *p);

/* The title of a column that processes can be sorted by; NULL: there are no more. */
const char *page_column(int i);

#endif
