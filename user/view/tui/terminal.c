// SPDX-License-Identifier: BSD-3-Clause
/* Pages come with the escape sequences of view/color.h, which become attributes of curses. */
#define _XOPEN_SOURCE_EXTENDED 1
#define NCURSES_NOMACROS 1
#include "view/tui/terminal.h"

#include <curses.h>
#include <errno.h>
#include <locale.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <term.h>
#include <termios.h>
#include <unistd.h>

#include "base/log.h"
#include "base/num.h"

#undef columns		/* term.h takes these names of capabilities */
#undef lines

struct terminal {
	SCREEN *screen;
	bool ascii, has_color;
	int stderr_fd, held_fd;	/* standard error, and where its messages wait */
	off_t read_to;		/* of these, that terminal_message has returned */
};

/* ---- a crash --------------------------------------------------------------------------------- */

static const int crashes[] = { SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT };
static struct termios before;		/* for the handler */
static char restore[64];		/* what ends curses on this terminal */

static void on_crash(int signal)
{
	if (write(STDOUT_FILENO, restore, strlen(restore)) < 0)
		signal += 0;
	tcsetattr(STDIN_FILENO, TCSANOW, &before);
	raise(signal);		/* SA_RESETHAND: now it ends the program */
}

static void add_string(const char *capability)
{
	const char *s = tigetstr((char *)(uintptr_t)capability);
	const size_t n = strlen(restore);

	if (s && s != (const char *)-1)
		snprintf(restore + n, sizeof(restore) - n, "%s", s);
}

static void catch_crashes(bool on)
{
	const struct sigaction act = { .sa_handler = on ? on_crash : SIG_DFL,
				       .sa_flags = (int)SA_RESETHAND };

	if (on) {
		restore[0] = '\0';
		add_string("sgr0");
		add_string("cnorm");
		add_string("rmkx");
		add_string("rmcup");
	}
	for (size_t i = 0; i < sizeof(crashes) / sizeof(crashes[0]); i++)
		sigaction(crashes[i], &act, NULL);
}

/* ---- messages -------------------------------------------------------------------------------- */

/* A copy of standard error as it was, which is a file in memory from now on. */
static void hold_messages(struct terminal *t)
{
	t->held_fd = memfd_create("gpuprof-messages", MFD_CLOEXEC);
	t->stderr_fd = t->held_fd < 0 ? -1 : dup(STDERR_FILENO);
	if (t->stderr_fd >= 0)
		dup2(t->held_fd, STDERR_FILENO);
}

static void release_messages(struct terminal *t)
{
	char part[4096];
	off_t at = 0;
	ssize_t n;

	if (t->stderr_fd >= 0)
		dup2(t->stderr_fd, STDERR_FILENO);
	while (t->stderr_fd >= 0 && (n = pread(t->held_fd, part, sizeof(part), at)) > 0 &&
	       write(STDERR_FILENO, part, (size_t)n) == n)
		at += n;
	if (t->stderr_fd >= 0)
		close(t->stderr_fd);
	if (t->held_fd >= 0)
		close(t->held_fd);
}

bool terminal_message(struct terminal *t, char *text, size_t size)
{
	const off_t end = t->held_fd < 0 ? 0 : lseek(t->held_fd, 0, SEEK_END);
	char part[1024];
	const off_t from = end > (off_t)sizeof(part) - 1 ? end - (off_t)sizeof(part) + 1 : 0;
	ssize_t n;
	char *line;

	if (end <= t->read_to)
		return false;
	n = pread(t->held_fd, part, sizeof(part) - 1, from);
	t->read_to = end;
	while (n > 0 && part[n - 1] == '\n')
		n--;
	if (n <= 0)
		return false;
	part[n] = '\0';
	line = strrchr(part, '\n');
	snprintf(text, size, "%s", line ? line + 1 : part);
	return true;
}

/* ---- begin and end --------------------------------------------------------------------------- */

bool terminal_is_there(void)
{
	const char *term = getenv("TERM");

	return isatty(STDIN_FILENO) && isatty(STDOUT_FILENO) && term && *term &&
	       strcmp(term, "dumb") != 0;
}

/* Characters beyond ASCII need a locale that has them, whatever language it is of. */
static bool has_utf8(void)
{
	const char *found = setlocale(LC_CTYPE, "");

	if (found && MB_CUR_MAX > 1)
		return true;
	return setlocale(LC_CTYPE, "C.UTF-8") && MB_CUR_MAX > 1;
}

static void init_colors(struct terminal *t, bool has_color)
{
	static const short colors[] = { COLOR_RED, COLOR_GREEN, COLOR_YELLOW, COLOR_CYAN,
					COLOR_MAGENTA };

	t->has_color = has_color && has_colors();
	if (!t->has_color)
		return;
	start_color();
	use_default_colors();
	for (size_t i = 0; i < sizeof(colors) / sizeof(colors[0]); i++)
		init_pair(colors[i], colors[i], -1);
}

struct terminal *terminal_open(bool has_color, bool ascii)
{
	struct terminal *t = calloc(1, sizeof(*t));

	if (!t)
		return NULL;
	t->ascii = ascii || !has_utf8();
	tcgetattr(STDIN_FILENO, &before);
	t->screen = newterm(NULL, stdout, stdin);
	if (!t->screen) {
		const char *term = getenv("TERM");

		log_error("cannot show the live view: this host knows no terminal '%s'; TERM=xterm "
			  "gpuprof, or --batch", term ? term : "");
		free(t);
		errno = ENOTSUP;
		return NULL;
	}
	catch_crashes(true);
	init_colors(t, has_color);
	cbreak();
	noecho();
	nonl();
	curs_set(0);
	set_escdelay(25);
	keypad(stdscr, TRUE);
	nodelay(stdscr, TRUE);
	hold_messages(t);
	return t;
}

void terminal_close(struct terminal *t)
{
	if (!t)
		return;
	endwin();
	catch_crashes(false);
	delscreen(t->screen);
	release_messages(t);
	free(t);
}

struct screen_shape terminal_shape(const struct terminal *t)
{
	return (struct screen_shape){ .columns = (unsigned int)num_max((uint64_t)COLS, 1),
				      .lines = (unsigned int)num_max((uint64_t)LINES, 1),
				      .ascii = t->ascii, .has_color = t->has_color };
}

/* ---- pages ----------------------------------------------------------------------------------- */

/* "\033[1;31m": the attributes from here on. Returns how long it is. */
static size_t read_sequence(const char *s, attr_t *attr)
{
	size_t n = 2;

	*attr = A_NORMAL;
	while (s[n] && s[n] != 'm') {
		const unsigned long code = strtoul(s + n, NULL, 10);

		if (code == 1)
			*attr |= A_BOLD;
		if (code >= 31 && code <= 36)
			*attr |= (attr_t)COLOR_PAIR((int)code - 30);
		while (s[n] >= '0' && s[n] <= '9')
			n++;
		n += s[n] == ';';
	}
	return n + (s[n] == 'm');
}

/* Reversed, colours would be those of the background: such a row has none. */
static void draw_line(int y, const char *s, size_t len, attr_t always)
{
	const attr_t kept = always & A_REVERSE ? A_BOLD : ~(attr_t)0;
	attr_t attr = A_NORMAL;

	move(y, 0);
	for (size_t at = 0; at < len;) {
		size_t until = at;

		if (s[at] == '\033' && at + 1 < len && s[at + 1] == '[') {
			at += read_sequence(s + at, &attr);
			continue;
		}
		while (until < len && s[until] != '\033')
			until++;
		attrset((int)((attr & kept) | always));
		addnstr(s + at, (int)(until - at));
		at = until;
	}
	attrset((int)always);
	if (always & A_REVERSE)		/* the whole row */
		while (getcury(stdscr) == y && getcurx(stdscr) < COLS - 1)
			addch(' ');
	attrset(A_NORMAL);
}

/* Terminals that know this show the page at once; others ignore it. */
#define SYNC_BEGIN "\033[?2026h"
#define SYNC_END "\033[?2026l"

static void put(const char *s)
{
	size_t left = strlen(s);

	while (left) {
		const ssize_t n = write(STDOUT_FILENO, s, left);

		if (n < 0 && errno != EINTR)
			return;
		s += n < 0 ? 0 : n;
		left -= n < 0 ? 0 : (size_t)n;
	}
}

void terminal_draw(struct terminal *t, const struct page *p)
{
	const char *at = p->text.s;

	(void)t;
	erase();
	for (int y = 0; *at && y < LINES; y++) {
		const size_t len = strcspn(at, "\n"), line = (size_t)y;
		const bool is_title = line == p->title_line[0] || line == p->title_line[1];

		draw_line(y, at, len, line == p->cursor_line ? A_REVERSE :
				      is_title		     ? A_UNDERLINE :
							       A_NORMAL);
		at += len;
		at += *at == '\n';
	}
	wnoutrefresh(stdscr);
	put(SYNC_BEGIN);
	doupdate();
	put(SYNC_END);
}

/* ---- keys ------------------------------------------------------------------------------------ */

static const struct { int code; uint32_t key; } special[] = {
	{ KEY_UP, KEY_OF_UP }, { KEY_DOWN, KEY_OF_DOWN }, { KEY_LEFT, KEY_OF_LEFT },
	{ KEY_RIGHT, KEY_OF_RIGHT }, { KEY_PPAGE, KEY_OF_PAGE_UP },
	{ KEY_NPAGE, KEY_OF_PAGE_DOWN }, { KEY_HOME, KEY_OF_HOME }, { KEY_END, KEY_OF_END },
	{ KEY_ENTER, KEY_OF_ENTER }, { KEY_BTAB, KEY_OF_BACK_TAB },
	{ KEY_BACKSPACE, KEY_OF_BACKSPACE }, { KEY_RESIZE, KEY_OF_RESIZE },
};

static const struct { wint_t code; uint32_t key; } control[] = {
	{ '\r', KEY_OF_ENTER }, { '\n', KEY_OF_ENTER }, { '\t', KEY_OF_TAB },
	{ 27, KEY_OF_ESCAPE }, { 127, KEY_OF_BACKSPACE }, { 8, KEY_OF_BACKSPACE },
	{ 4, KEY_OF_END_OF_INPUT },
};

uint32_t terminal_key(struct terminal *t)
{
	wint_t code = 0;
	const int kind = get_wch(&code);

	(void)t;
	if (kind == ERR)
		return 0;
	if (kind == KEY_CODE_YES) {
		if (code > KEY_F0 && code <= KEY_F(12))
			return KEY_OF_F0 + (uint32_t)(code - KEY_F0);
		for (size_t i = 0; i < sizeof(special) / sizeof(special[0]); i++)
			if ((int)code == special[i].code)
				return special[i].key;
		return KEY_OF_RESIZE;	/* a key that nothing is bound to: it does nothing */
	}
	for (size_t i = 0; i < sizeof(control) / sizeof(control[0]); i++)
		if (code == control[i].code)
			return control[i].key;
	return code ? (uint32_t)code : KEY_OF_RESIZE;
}

/* ---- commands and the clipboard -------------------------------------------------------------- */

/* Without being stopped, since we are in the background. */
static void take_foreground(pid_t group)
{
	signal(SIGTTOU, SIG_IGN);
	tcsetpgrp(STDIN_FILENO, group);
	signal(SIGTTOU, SIG_DFL);
}

/* The terminal's signals (Ctrl-C) are the command's, not ours; but Ctrl-Z does nothing: no shell
 * would let it go on. */
static void run(const char *command)
{
	sigset_t none;

	setpgid(0, 0);
	take_foreground(getpid());
	signal(SIGTSTP, SIG_IGN);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	dup2(STDOUT_FILENO, STDERR_FILENO);
	execl("/bin/sh", "sh", "-c", command, (char *)NULL);
	_exit(127);
}

int terminal_start(struct terminal *t, const char *command, pid_t *pid)
{
	int fd, err;

	(void)t;
	def_prog_mode();
	endwin();
	printf("\n$ %s\n", command);
	fflush(stdout);
	*pid = fork();
	if (!*pid)
		run(command);
	if (*pid < 0)
		return -errno;
	setpgid(*pid, *pid);	/* here, too: either may be the first */
	fd = (int)syscall(SYS_pidfd_open, *pid, 0);
	err = errno;
	if (fd >= 0)
		return fd;
	kill(*pid, SIGKILL);
	waitpid(*pid, NULL, 0);
	return -err;
}

void terminal_take(struct terminal *t, bool prompts)
{
	(void)t;
	take_foreground(getpgrp());
	if (prompts)
		printf("\nEnter: back to the live view\n");
	fflush(stdout);
}

bool terminal_entered(struct terminal *t)
{
	char line[256];
	const ssize_t n = read(STDIN_FILENO, line, sizeof(line));

	(void)t;
	return n <= 0 || line[n - 1] == '\n';
}

/* Its size may be another, which only the group in the foreground was notified of. */
void terminal_return(struct terminal *t)
{
	(void)t;
	reset_prog_mode();
	raise(SIGWINCH);
	clearok(stdscr, TRUE);
}

static const char base64[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

void terminal_copy(struct terminal *t, const char *text)
{
	struct strbuf out = STRBUF_INIT;
	const size_t n = strlen(text);

	(void)t;
	strbuf_addstr(&out, "\033]52;c;");
	for (size_t i = 0; i < n; i += 3) {
		const uint32_t has = (uint32_t)num_min(n - i, 3);
		const uint32_t bits = (uint32_t)(unsigned char)text[i] << 16 |
				      (has > 1 ? (uint32_t)(unsigned char)text[i + 1] << 8 : 0) |
				      (has > 2 ? (uint32_t)(unsigned char)text[i + 2] : 0);

		for (uint32_t k = 0; k < 4; k++)
			strbuf_addch(&out, k > has ? '=' : base64[bits >> (18 - 6 * k) & 63]);
	}
	strbuf_addstr(&out, "\a");
	if (!out.failed)
		put(out.s);
	strbuf_free(&out);
}
