/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The terminal: shows pages, reads keys. The only user of curses, which sends no more than what has
 * changed. While it is open, messages on standard error wait: they would write over the page.
 *
 * However the program ends, but by SIGKILL, the terminal is as before: terminal_close, or where the
 * program crashes a handler of the signal.
 */
#ifndef VIEW_TUI_TERMINAL_H
#define VIEW_TUI_TERMINAL_H

#include <sys/types.h>

#include "view/tui/page.h"

struct terminal;

/* Are standard input and output a terminal that can be moved about in, by TERM? */
bool terminal_is_there(void);

/* NULL + errno; logged. */
struct terminal *terminal_open(bool has_color, bool ascii);
/* Then the messages that waited are written. */
void terminal_close(struct terminal *t);

struct screen_shape terminal_shape(const struct terminal *t);

void terminal_draw(struct terminal *t, const struct page *p);

/* A key that is waiting, as live_press takes it, or 0. */
uint32_t terminal_key(struct terminal *t);

/* The last line of what waits on standard error, once; false: there is nothing new. */
bool terminal_message(struct terminal *t, char *text, size_t size);

/* Runs it as a shell does, on the terminal as it was before and as its foreground group, while the
 * caller goes on: it draws nothing and reads no key until terminal_return. A pidfd or -errno. */
int terminal_start(struct terminal *t, const char *command, pid_t *pid);
/* It was waited for: the terminal, as it was before, is the caller's. prompts: for Enter. */
void terminal_take(struct terminal *t, bool prompts);
bool terminal_entered(struct terminal *t);	/* reads a line */
void terminal_return(struct terminal *t);	/* to the live view */

/* Into the clipboard of the terminal that shows this: OSC 52. */
void terminal_copy(struct terminal *t, const char *text);

#endif
