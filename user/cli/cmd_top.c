// SPDX-License-Identifier: BSD-3-Clause
/*
 * `gpuprof top`: the live view of a session or of a capture; with --batch its first page as text.
 * Holds session, history and terminal together; what is shown and what keys do is view/tui's.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/exit.h"
#include "base/log.h"
#include "base/num.h"
#include "base/str.h"
#include "base/time.h"
#include "capture/capture_part.h"
#include "cli/progress.h"
#include "cli/top_settings.h"
#include "cli/verbs.h"
#include "host/caps.h"
#include "model/model.h"
#include "session/session.h"
#include "view/output.h"
#include "view/tui/terminal.h"
#include "view/view.h"

#define DELAY_NS NS_PER_SEC
#define DELAY_MIN_NS (250 * NS_PER_MS)
#define WINDOW 5			/* refreshes that are shown together */
#define KEEP_NS (60 * NS_PER_SEC)	/* held in memory for the key w */
#define BATCH_LINES 100000
#define END_GROUP_MS 5000

struct top {
	const struct options *o;
	struct session *s;		/* NULL: a capture is shown */
	struct terminal *t;		/* NULL: text is printed */
	struct live live, at_first;	/* at_first: as it began */
	struct page page;
	struct page_data data;
	struct history history;
	uint64_t cpu_ns, cpu_at_ns;	/* that gpuprof had taken of CPUs, and when */
	char kept[PATH_MAX];		/* the capture that h makes a page of */
	struct strbuf html;		/* that page */
	pid_t html_pid;			/* that writes it; 0: none does */
	int input_fd;			/* readable: a key waits, or the command has ended */
	int waits_fd;			/* that it waits for: standard input, or a pidfd */
	enum { IS_OURS, IS_COMMANDS, IS_READ } terminal;	/* READ: Enter goes back to us */
	pid_t command_pid;
	bool prompts;			/* Enter goes back to us, also if it succeeded */
	bool has_quit;
	int rc;				/* of printing */
};

static int no_memory(struct top *v)
{
	log_error("cannot show the live view: out of memory");
	v->rc = EXIT_FAIL;
	v->has_quit = true;
	return v->rc;
}

static bool is_ascii(const struct options *o)
{
	return o->ascii || report_screen_shape(NULL).ascii;
}

/* ---- what is shown --------------------------------------------------------------------------- */

static void draw(struct top *v)
{
	const struct screen_shape shape = terminal_shape(v->t);
	char message[200];

	if (v->terminal != IS_OURS)
		return;
	if (terminal_message(v->t, message, sizeof(message)))
		snprintf(v->live.message, sizeof(v->live.message), "%s", message);
	do {
		if (page_draw(&v->page, &v->live, &v->data, &shape)) {
			no_memory(v);
			return;
		}
	} while (live_find(&v->live, &v->page.shown));
	terminal_draw(v->t, &v->page);
}

/* The page as text, of as many lines as it needs. */
static void print(struct top *v)
{
	struct screen_shape shape = report_screen_shape(NULL);
	struct strbuf out = STRBUF_INIT;

	shape.lines = BATCH_LINES;
	shape.has_color = report_is_colored(&v->o->report);
	shape.ascii |= v->o->ascii;
	if (page_draw(&v->page, &v->live, &v->data, &shape)) {
		no_memory(v);
		return;
	}
	strbuf_addstr(&out, v->page.text.s);
	strbuf_addch(&out, '\n');
	v->rc = output_write(NULL, &out);
	v->has_quit |= v->rc != EXIT_OK;
	strbuf_free(&out);
}

/* False: it goes on. status: as of waitpid; -1: unknown. */
static bool has_ended(pid_t pid, bool waits, int *status)
{
	pid_t ended;

	*status = -1;
	do
		ended = waitpid(pid, status, waits ? 0 : WNOHANG);
	while (ended < 0 && errno == EINTR);
	return ended;
}

/* Has the page been written? If not, its message has come as one of ours. */
static void look_for_page(struct top *v, bool waits)
{
	int status;

	if (!v->html_pid || !has_ended(v->html_pid, waits, &status))
		return;
	v->html_pid = 0;
	if (!status)
		snprintf(v->live.message, sizeof(v->live.message), "the page is in %.200s",
			 v->html.s);
}

/* Since the refresh before. */
static void read_own_cpu(struct top *v)
{
	const uint64_t now_ns = time_now_ns();
	struct timespec cpu = { 0 };
	uint64_t cpu_ns;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &cpu);
	cpu_ns = (uint64_t)cpu.tv_sec * NS_PER_SEC + (uint64_t)cpu.tv_nsec;
	v->data.cpu_share = v->cpu_at_ns ? num_ratio(cpu_ns - v->cpu_ns, now_ns - v->cpu_at_ns) :
					   -1;
	v->cpu_ns = cpu_ns;
	v->cpu_at_ns = now_ns;
}

static void refresh(struct top *v, const struct model *m, uint64_t now_ns)
{
	if (history_add(&v->history, m, now_ns)) {
		no_memory(v);
		return;
	}
	live_refreshed(&v->live, v->history.all.n);
	read_own_cpu(v);
	look_for_page(v, false);
	if (v->t)
		draw(v);
	else
		print(v);
}

/* ---- commands on the terminal, while the session goes on ------------------------------------- */

static void wait_for(struct top *v, int fd)
{
	struct epoll_event ev = { .events = EPOLLIN };

	epoll_ctl(v->input_fd, EPOLL_CTL_DEL, v->waits_fd, NULL);
	epoll_ctl(v->input_fd, EPOLL_CTL_ADD, fd, &ev);
	if (v->waits_fd != STDIN_FILENO)
		close(v->waits_fd);
	v->waits_fd = fd;
}

static void show_again(struct top *v)
{
	v->terminal = IS_OURS;
	terminal_return(v->t);
	draw(v);
}

static void end_command(struct top *v)
{
	int status;

	if (!has_ended(v->command_pid, false, &status))
		return;
	wait_for(v, STDIN_FILENO);
	v->terminal = v->prompts || status ? IS_READ : IS_OURS;
	terminal_take(v->t, v->terminal == IS_READ);
	if (v->terminal == IS_OURS)
		show_again(v);
}

/* The shell ends at once, what it runs perhaps later. */
static void end_group(pid_t group)
{
	int status;

	kill(-group, SIGTERM);
	has_ended(group, true, &status);
	for (int i = 0; i < END_GROUP_MS / 10 && !kill(-group, 0); i++)
		usleep(10000);
}

/* "gpuprof ..." is this program, wherever it is installed. */
static void run_command(struct top *v, const char *options)
{
	const char *command = v->page.shown.command.s;
	const char *sudo = strncmp(command, "sudo ", 5) ? "" : "sudo ";
	struct strbuf text = STRBUF_INIT;
	char self[PATH_MAX];
	const ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);
	int fd;

	command += strlen(sudo);
	if (n > 0 && !strncmp(command, "gpuprof ", 8)) {
		self[n] = '\0';
		strbuf_addstr(&text, geteuid() ? sudo : "");
		strbuf_add_shell(&text, self);
		command += 7;
	}
	strbuf_addf(&text, "%s%s", command, options);
	v->terminal = IS_COMMANDS;
	fd = text.failed ? -ENOMEM : terminal_start(v->t, text.s, &v->command_pid);
	if (fd >= 0) {
		wait_for(v, fd);
	} else {
		snprintf(v->live.message, sizeof(v->live.message), "cannot run it: %s",
			 strerror(-fd));
		show_again(v);
	}
	strbuf_free(&text);
}

/* Under -a the time of threads off the CPU is estimated; of one process alone it is traced. */
static void follow_process(struct top *v)
{
	struct strbuf options = STRBUF_INIT;

	if (!v->s || snapshot_knows_off_cpu(history_at(&v->history, 0))) {
		snprintf(v->live.message, sizeof(v->live.message), "%s",
			 v->s ? "its time off the CPU is traced here, too" :
				"this is a capture: no process can be followed");
		return;
	}
	if (v->o->ascii)
		strbuf_addstr(&options, " --ascii");
	if (v->o->delay_ns)
		strbuf_addf(&options, " --delay %lluus",
			    (unsigned long long)(v->o->delay_ns / NS_PER_US));
	v->prompts = false;
	if (!options.failed)
		run_command(v, options.s);
	strbuf_free(&options);
}

/* ---- its life -------------------------------------------------------------------------------- */

static void top_init(struct top *v, const struct options *o, size_t window)
{
	*v = (struct top){ .o = o, .history.window = window,
			   .page = { .text = STRBUF_INIT, .shown.command = STRBUF_INIT,
				     .shown.next = STRBUF_INIT },
			   .html = STRBUF_INIT,
			   .data = { .is_batch = o->batch, .cpu_share = -1 } };
	v->data.history = &v->history;
	live_init(&v->live);
	if (!o->batch) {
		top_settings_read(&v->live);
		v->input_fd = epoll_create1(EPOLL_CLOEXEC);
		if (v->input_fd < 0)
			log_error("cannot wait for keys: %s", strerror(errno));
		wait_for(v, STDIN_FILENO);
	}
	v->at_first = v->live;
}

static void top_free(struct top *v)
{
	if (v->t)
		top_settings_write(&v->live, &v->at_first);
	if (v->terminal == IS_COMMANDS) {
		end_group(v->command_pid);
		terminal_take(v->t, false);
	}
	terminal_close(v->t);
	if (v->input_fd > 0)
		close(v->input_fd);
	look_for_page(v, true);
	page_free(&v->page);
	strbuf_free(&v->html);
	history_free(&v->history);
}

/* ---- keys ------------------------------------------------------------------------------------ */

static void save_text(struct top *v)
{
	char path[64];
	struct screen_shape shape = terminal_shape(v->t);
	struct strbuf text = STRBUF_INIT;

	shape.has_color = false;
	snprintf(path, sizeof(path), "gpuprof-%llu.txt",
		 (unsigned long long)(time_now_ns() / NS_PER_MS));
	if (!page_draw(&v->page, &v->live, &v->data, &shape)) {
		strbuf_addstr(&text, v->page.text.s);
		if (output_write(path, &text) == EXIT_OK)
			snprintf(v->live.message, sizeof(v->live.message), "the screen is in %s",
				 path);
	}
	strbuf_free(&text);
}

static void save_capture(struct top *v)
{
	const char *path = v->data.file;
	char ignored[200];

	if (v->o->capture) {
		snprintf(v->live.message, sizeof(v->live.message), "everything is kept in %.200s",
			 v->o->capture);
		return;
	}
	if (v->s)
		path = session_keep_now(v->s);
	if (!path)
		return;
	terminal_message(v->t, ignored, sizeof(ignored));	/* the same, for a command line */
	snprintf(v->kept, sizeof(v->kept), "%s%s", *path == '-' ? "./" : "", path);
	snprintf(v->live.message, sizeof(v->live.message), "%s%.180s; h: a page of it, to send",
		 v->s ? "the last minute is in " : "this is a capture already: ", path);
	v->live.offers_page = true;
}

/* In the current directory, by a process of its own: a session goes on meanwhile. */
static void save_page(struct top *v)
{
	const char *name = str_basename(v->kept);
	char *argv[] = { (char[]){ "gpuprof" }, (char[]){ "report" }, (char[]){ "-q" },
			 (char[]){ "--html" }, NULL, v->kept, NULL };
	posix_spawn_file_actions_t files;
	posix_spawnattr_t attr;
	sigset_t none;
	int err;

	look_for_page(v, true);
	strbuf_reset(&v->html);
	strbuf_addf(&v->html, "%.*s.html", (int)str_len_without(name, ".gpr"), name);
	argv[4] = v->html.s;
	sigemptyset(&none);
	posix_spawn_file_actions_init(&files);
	posix_spawn_file_actions_addopen(&files, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
	posix_spawnattr_init(&attr);
	posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETSIGMASK);
	posix_spawnattr_setsigmask(&attr, &none);
	err = posix_spawn(&v->html_pid, "/proc/self/exe", &files, &attr, argv, environ);
	posix_spawnattr_destroy(&attr);
	posix_spawn_file_actions_destroy(&files);
	if (err) {
		v->html_pid = 0;
		snprintf(v->live.message, sizeof(v->live.message),
			 "cannot start gpuprof for the page: %s", strerror(err));
		return;
	}
	snprintf(v->live.message, sizeof(v->live.message), "writing the page ...");
	look_for_page(v, v->data.has_ended);
}

static void handle(struct top *v, enum live_request request)
{
	switch (request) {
	case LIVE_QUIT:
		v->has_quit = true;
		break;
	case LIVE_MARK:
	case LIVE_UNMARK:
		if (v->s)	/* of a capture `since` is all of it */
			history_mark(&v->history, request == LIVE_MARK);
		break;
	case LIVE_RUN:
		v->prompts = true;
		run_command(v, "");
		break;
	case LIVE_FOLLOW:
		follow_process(v);
		break;
	case LIVE_COPY:
		terminal_copy(v->t, v->page.shown.command.s);
		snprintf(v->live.message, sizeof(v->live.message), "copied: %.200s",
			 v->page.shown.command.s);
		break;
	case LIVE_SAVE_TEXT:
		save_text(v);
		break;
	case LIVE_SAVE_CAPTURE:
		save_capture(v);
		break;
	case LIVE_SAVE_PAGE:
		save_page(v);
		break;
	case LIVE_NOTHING:
		break;
	}
}

/* All keys that wait, then a page of what they changed. */
static void read_keys(struct top *v)
{
	bool any = false;
	uint32_t key;

	while (!v->has_quit && v->terminal == IS_OURS && (key = terminal_key(v->t))) {
		any = true;
		handle(v, live_press(&v->live, &v->page.shown, key));
		if (!v->has_quit)
			draw(v);
	}
	if (!any && !terminal_is_there())
		v->has_quit = true;
}

static void read_input(struct top *v)
{
	if (v->terminal == IS_COMMANDS)
		end_command(v);
	else if (v->terminal == IS_READ && terminal_entered(v->t))
		show_again(v);
	else if (v->terminal == IS_OURS)
		read_keys(v);
}

/* ---- a session ------------------------------------------------------------------------------- */

static void run_session(struct top *v)
{
	enum session_step step;

	while (!v->has_quit && (step = session_step(v->s))) {
		if (step == SESSION_INTERVAL)
			refresh(v, session_model(v->s), session_interval_end(v->s));
		else if (step == SESSION_INPUT && v->t)
			read_input(v);
	}
}

/* What was seen last stays on the screen until a key or a signal ends the view. */
static void show_end(struct top *v)
{
	v->data.has_ended = true;
	if (session_model(v->s))
		refresh(v, session_model(v->s), 0);
	while (v->t && !v->has_quit && session_wait_input(v->s))
		read_input(v);
}

static int view_session(const struct options *o)
{
	struct session_options measure = o->session;
	struct consumers consumers;
	struct session_plan plan = { .o = &measure, .capture_path = o->capture,
				     .consumers = view_consumers(&consumers),
				     .interval_ns = o->delay_ns ? o->delay_ns : DELAY_NS };
	struct progress progress;
	struct top v;
	int rc;

	if (!o->capture && !o->batch) {
		measure.before_ns = KEEP_NS;
		measure.on = ON_SIGNAL;
		plan.capture_path = "gpuprof-%t.gpr";
	}
	plan.first_interval_at_ns = o->batch ? 0 : time_now_ns() + 1;
	top_init(&v, o, o->batch ? 1 : WINDOW);
	plan.input_fd = v.input_fd;
	progress_begin(&progress, o);
	v.s = session_open(&plan);
	if (!v.s)
		return EXIT_FAIL;
	if (!o->batch && session_model(v.s)) {
		v.t = terminal_open(report_is_colored(&o->report), is_ascii(o));
		v.has_quit = !v.t;
		v.rc = v.t ? EXIT_OK : EXIT_UNSUPPORTED;
		if (v.t)
			draw(&v);
	}
	run_session(&v);
	rc = session_stop(v.s);
	if (!v.has_quit && !(o->batch && o->session.count && v.history.seen >= o->session.count))
		show_end(&v);
	top_free(&v);
	return session_close(v.s, rc ? rc : v.rc);
}

/* ---- a capture ------------------------------------------------------------------------------- */

struct playing {
	struct top *v;
	struct model *m;
	uint64_t step_ns, next_ns;	/* between refreshes; of the next one */
	int err;
};

static int play_event(void *ctx, const struct event *ev)
{
	struct playing *p = ctx;
	int err = model_push(p->m, ev);

	if (!err && ev->kind == EVENT_WATERMARK && ev->end_ns >= p->next_ns) {
		err = history_add(&p->v->history, p->m, ev->end_ns);
		p->next_ns = ev->end_ns + p->step_ns;
	}
	return err;
}

/* Reads all of it: a snapshot of each step, and one of all. 0 or -errno. */
static int play(struct top *v, struct capture_reader *r, struct model *m,
		const struct capture_span *span)
{
	const uint64_t ns = num_sub(span->stop_ns, span->start_ns);
	struct playing p = { .v = v, .m = m, .step_ns = v->o->delay_ns };
	struct consumers consumers;
	int err;

	if (!p.step_ns)
		p.step_ns = num_max(DELAY_MIN_NS, ns / (HISTORY_MAX / 2));
	p.next_ns = span->start_ns + p.step_ns;
	model_use_intervals(m);
	err = model_use_consumers(m, view_consumers(&consumers));
	if (!err)
		err = capture_read(r, &(struct event_sink){ play_event, &p });
	if (!err)
		err = model_finish(m);
	if (!err)
		err = history_add(&v->history, m, 0);
	if (!err)
		v->history.since = snapshot_take(m, 0);
	if (!err && !v->history.since)
		err = -ENOMEM;
	for (size_t i = 0; !err && i < v->history.all.n; i++)
		report_look_around(v->history.all.v[i], v->data.file);
	if (!err)
		report_look_around(v->history.since, v->data.file);
	return err;
}

static void show_capture(struct top *v)
{
	struct pollfd in = { .fd = v->input_fd, .events = POLLIN };

	v->live.since_mark = true;
	v->data.has_ended = true;
	if (v->o->batch) {
		print(v);
		return;
	}
	v->t = in.fd < 0 ? NULL : terminal_open(report_is_colored(&v->o->report), is_ascii(v->o));
	if (!v->t) {
		v->rc = EXIT_UNSUPPORTED;
		return;
	}
	draw(v);
	while (!v->has_quit && (poll(&in, 1, -1) >= 0 || errno == EINTR))
		read_input(v);
}

static int view_capture(const struct options *o)
{
	struct capture_reader *r = capture_open(o->args[0]);
	struct model *m = r ? model_new(capture_funcs(r)) : NULL;
	struct capture_span span;
	struct top v;
	int err;

	if (!r)
		return EXIT_FAIL;
	top_init(&v, o, 1);
	v.data.file = o->args[0];
	caps_drop_others(caps_of_output(NULL));
	err = m ? capture_read_span(r, &span) : -ENOMEM;
	if (!err)
		err = play(&v, r, m, &span);
	if (err)
		log_error("cannot read %s: %s", o->args[0],
			  err == -ENODATA ? "it holds no time" : strerror(-err));
	else
		show_capture(&v);
	top_free(&v);
	model_free(m);
	capture_free(r);
	return err ? EXIT_FAIL : v.rc;
}

int verb_top(const struct options *o)
{
	if (!o->batch && !terminal_is_there()) {
		log_error("the live view needs a terminal; for text: gpuprof top --batch -n 1");
		return EXIT_USAGE;
	}
	return o->n_args ? view_capture(o) : view_session(o);
}
