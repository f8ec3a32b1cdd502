// SPDX-License-Identifier: BSD-3-Clause
/*
 * The course of one live session, in the main thread: which part is called when, signals, timers
 * and the exit code. Sources know where events come from, the model their meaning.
 */
#include "session/session.h"

#include <errno.h>
#include <poll.h>
#include <inttypes.h>
#include <linux/capability.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/exit.h"
#include "base/io.h"
#include "base/log.h"
#include "base/time.h"
#include "base/version.h"
#include "findings/findings_next.h"
#include "host/caps.h"
#include "host/proc.h"
#include "session/helper_source.h"
#include "session/nvml_source.h"
#include "session/pipeline.h"
#include "session/probe_source.h"
#include "session/sched_source.h"

enum session_state { SESSION_STARTING, SESSION_RUNNING, SESSION_STOPPING, SESSION_STOPPED };

enum { SOURCE_HELPERS, SOURCE_PROBES, SOURCE_NVML, SOURCE_SCHED, SOURCES };

struct session {
	const struct session_plan *plan;
	enum session_state state;
	bool started;			/* something was measured, even if an error ended it */
	int rc;				/* exit code, when it is SESSION_STOPPED */
	/* the first one; ends the session. -ENOMEM is not logged yet */
	int err;
	int failure;			/* its exit code where the cause is known; else 0 */

	struct targets targets;
	struct decoder *decoder;
	struct live_source *sources[SOURCES];	/* NULL: not begun, or none */
	struct no_probes no_probes;
	struct pipeline tap;
	struct notes early;		/* until the capture is open */
	struct event_sink sink;		/* session_push: takes the sources' events */

	VEC(int) timers;
	size_t targets_left;
	int epoll_fd, signal_fd;
	uint64_t start_ns, intervals, interval_start_ns, flushed_ns;
	uint64_t read_ns;		/* sources were read last */
	uint64_t interval_end_ns;	/* reached, and the next one has not begun; 0: none */
	bool input_waits;		/* there is something to read */
	bool was_interrupted;		/* a signal ended it */
	uint64_t looked_for_ended_ns;
	uint64_t cpu_ns;		/* that gpuprof had run when it began */
	struct capture_sink_stats kept;
};

/* ---- events that the session itself makes ---------------------------------------------------- */

static int session_push(void *ctx, const struct event *ev)
{
	struct session *s = ctx;

	if (ev->kind == EVENT_NOTE && s->plan->capture_path && !s->tap.keep && !s->err)
		s->err = notes_push(&s->early, ev);
	if (!s->err)
		s->err = pipeline_push(&s->tap, ev);
	for (size_t i = 0; i < SOURCES && !s->err; i++)
		if (s->sources[i] && s->sources[i]->ops->on_event)
			s->err = s->sources[i]->ops->on_event(s->sources[i], ev);
	return s->err;
}

static void keep_error(struct session *s, int err)
{
	if (err && !s->err)
		s->err = err;
}

/* ---- signals --------------------------------------------------------------------------------- */

static const int ends[] = { SIGINT, SIGTERM, SIGQUIT };

static void signals_hold(int signal)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, signal);
	sigprocmask(SIG_BLOCK, &set, NULL);
}

/* From here on they are read, with_trigger: SIGUSR1 too; to the end of the program. A signalfd, the
 * caller's, or -errno. */
static int signals_open(bool with_trigger)
{
	struct sigaction hangup;
	sigset_t set;
	int fd;

	sigemptyset(&set);
	for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++)
		sigaddset(&set, ends[i]);
	/* Under nohup, gpuprof is to survive the hangup. */
	if (sigaction(SIGHUP, NULL, &hangup) || hangup.sa_handler != SIG_IGN)
		sigaddset(&set, SIGHUP);
	if (with_trigger)
		sigaddset(&set, SIGUSR1);
	/* Blocked to the end: a second Ctrl-C must not cost the report. */
	if (sigprocmask(SIG_BLOCK, &set, NULL))
		return -errno;
	signal(SIGPIPE, SIG_IGN);
	fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	return fd < 0 ? -errno : fd;
}

/* The first signal with a command is the command's; the session ends when the command does. A
 * second one ends the session at once. */
static void signals_read(struct session *s)
{
	struct signalfd_siginfo info;

	if (read(s->signal_fd, &info, sizeof(info)) != sizeof(info))
		return;
	if (info.ssi_signo == SIGUSR1) {
		capture_sink_fire(s->tap.keep);	/* logged; the session goes on */
		return;
	}
	if (s->targets.command.pid && command_signal(&s->targets.command, &info))
		return;
	s->was_interrupted = true;
	if (s->state == SESSION_RUNNING)
		s->state = SESSION_STOPPING;
}

/* ---- running --------------------------------------------------------------------------------- */

#define FIRST_INTERVAL_MIN_NS (100 * NS_PER_MS)	/* however long the start took */

enum wake { WAKE_SIGNAL = 1, WAKE_DURATION, WAKE_INTERVAL, WAKE_SOURCE, WAKE_TARGET, WAKE_INPUT };

static int add_fd(struct session *s, int fd, enum wake what)
{
	struct epoll_event ev = { .events = EPOLLIN,
				  .data.u64 = (uint64_t)what << 32 | (uint32_t)fd };

	return epoll_ctl(s->epoll_fd, EPOLL_CTL_ADD, fd, &ev) ? -errno : 0;
}

static struct timespec as_timespec(uint64_t ns)
{
	return (struct timespec){ (time_t)(ns / NS_PER_SEC), (long)(ns % NS_PER_SEC) };
}

/* again_ns 0: once. */
static int set_timer(int fd, uint64_t ns, uint64_t again_ns)
{
	const struct itimerspec t = { as_timespec(again_ns), as_timespec(ns) };

	return timerfd_settime(fd, 0, &t, NULL);
}

static int add_timer(struct session *s, uint64_t ns, uint64_t again_ns, enum wake what)
{
	int *fd;

	if (!ns)
		return 0;
	fd = VEC_PUSH(&s->timers);
	if (!fd)
		return -ENOMEM;
	*fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
	if (*fd < 0 || set_timer(*fd, ns, again_ns))
		return -errno;
	return add_fd(s, *fd, what);
}

static void on_interval(struct session *s, int fd)
{
	uint64_t at;

	io_clear(fd);
	if (s->plan->o->count && s->intervals + 1 >= s->plan->o->count) {
		/* its end is the session's: all is known of it then */
		s->state = SESSION_STOPPING;
		return;
	}
	for (size_t i = 0; i < SOURCES; i++)
		if (s->sources[i] && s->sources[i]->ops->catch_up)
			s->sources[i]->ops->catch_up(s->sources[i]);
	at = s->tap.watermark_ns;
	if (!at || at <= s->interval_start_ns) {	/* nothing has been delivered since */
		set_timer(fd, LIVE_BUSY_NS, s->plan->interval_ns);
		return;
	}
	for (size_t i = 0; i < SOURCES; i++) {
		struct live_source *l = s->sources[i];

		if (l && l->ops->cut)
			l->ops->cut(l, at);
		if (l && l->ops->explain_silence)
			l->ops->explain_silence(l, s->interval_start_ns ? LIVE_INTERVAL :
									  LIVE_FIRST_INTERVAL);
	}
	s->interval_end_ns = at;
}

/* An event may have made a source busy. */
static uint64_t read_every_ns(const struct session *s)
{
	for (size_t i = 0; i < SOURCES; i++)
		if (s->sources[i] && s->sources[i]->is_busy)
			return LIVE_BUSY_NS;
	return LIVE_QUIET_NS;
}

/* Until sources are to be read. */
static int wait_ms(const struct session *s)
{
	const uint64_t ns = num_sub(s->read_ns + read_every_ns(s), time_now_ns());

	return (int)((ns + NS_PER_MS - 1) / NS_PER_MS);
}

/* A little earlier, too, since it is awake now. */
static void read_sources(struct session *s, uint64_t now_ns)
{
	if (now_ns < s->read_ns + read_every_ns(s) * 3 / 4)
		return;
	s->read_ns = now_ns;
	for (size_t i = 0; i < SOURCES; i++)
		if (s->sources[i] && s->sources[i]->ops->read)
			keep_error(s, s->sources[i]->ops->read(s->sources[i]));
}

static void on_wake(struct session *s, enum wake what, int fd)
{
	switch (what) {
	case WAKE_INPUT:	/* left to the caller */
		s->input_waits = true;
		break;
	case WAKE_SIGNAL:
		signals_read(s);
		break;
	case WAKE_DURATION:
		s->state = SESSION_STOPPING;
		break;
	case WAKE_INTERVAL:
		on_interval(s, fd);
		break;
	case WAKE_SOURCE:
		for (size_t i = 0; i < SOURCES; i++)
			if (s->sources[i] && s->sources[i]->ops->pump)
				s->sources[i]->ops->pump(s->sources[i]);
		break;
	case WAKE_TARGET:
		epoll_ctl(s->epoll_fd, EPOLL_CTL_DEL, fd, NULL);
		if (!--s->targets_left)
			s->state = SESSION_STOPPING;
		break;
	}
}

#define LOOK_FOR_ENDED_NS (5 * NS_PER_SEC)

/* The fact `ended` of processes whose first thread made no call, or whose thread's end was lost: no
 * event reports their end. */
static void note_ended(struct session *s)
{
	const struct model *m = s->tap.model;

	for (size_t i = 0; i < model_processes(m); i++) {
		const struct model_process *p = model_process(m, i);

		if (call_stats_count(&p->calls) && model_may_go_on(m, i) &&
		    targets_has_ended((pid_t)p->pid))
			live_push_trait(&s->sink, (pid_t)p->pid, "ended", "yes");
	}
}

enum session_step session_step(struct session *s)
{
	struct epoll_event ev[8];
	uint64_t now_ns;
	int n;

	if (s->interval_end_ns) {	/* the caller has read the model there */
		s->interval_start_ns = s->interval_end_ns;
		s->interval_end_ns = 0;
		s->intervals++;
	}
	if (s->state != SESSION_RUNNING || s->err)
		return SESSION_ENDED;
	s->input_waits = false;
	n = epoll_wait(s->epoll_fd, ev, 8, wait_ms(s));
	/* Events behind an interval's end wait, so that the model is read at that end. */
	for (int i = 0; i < n && !s->interval_end_ns; i++)
		on_wake(s, (enum wake)(ev[i].data.u64 >> 32), (int)(uint32_t)ev[i].data.u64);
	now_ns = time_now_ns();
	if (!s->interval_end_ns)
		read_sources(s, now_ns);
	if (!s->err && now_ns - s->looked_for_ended_ns >= LOOK_FOR_ENDED_NS) {
		s->looked_for_ended_ns = now_ns;
		note_ended(s);
	}
	if (!s->err && s->tap.keep && now_ns - s->flushed_ns >= NS_PER_SEC) {
		s->flushed_ns = now_ns;
		s->err = capture_sink_flush(s->tap.keep);
	}
	return s->interval_end_ns ? SESSION_INTERVAL :
	       s->input_waits	  ? SESSION_INPUT :
				    SESSION_GOES_ON;
}

const char *session_keep_now(struct session *s)
{
	return s->tap.keep ? capture_sink_fire(s->tap.keep) : NULL;
}

bool session_wait_input(struct session *s)
{
	struct pollfd fds[2] = { { .fd = s->plan->input_fd, .events = POLLIN },
				 { .fd = s->signal_fd, .events = POLLIN } };

	while (!s->was_interrupted && s->signal_fd >= 0) {
		if (poll(fds, 2, -1) < 0 && errno != EINTR)
			return false;
		if (fds[1].revents)
			signals_read(s);
		else
			return true;	/* or a handler of curses ran: it has a key for it */
	}
	return false;
}

/* ---- the parts of a start -------------------------------------------------------------------- */

/* Errors of capabilities and of the kernel, from what makes probes or enters a process. Elsewhere
 * -EACCES is a file's. Returns err, 0 too. */
static int note_failure(struct session *s, int err)
{
	s->failure = !err			     ? 0 :
		     err == -EPERM || err == -EACCES ? EXIT_PERMISSION :
		     err == -ENOTSUP		     ? EXIT_UNSUPPORTED :
						       EXIT_FAIL;
	return err;
}

static int start_helpers(struct session *s)
{
	struct helper_plan plan = { .targets = &s->targets, .sink = &s->sink,
				    .model = s->tap.model, .probes = s->sources[SOURCE_PROBES],
				    .at_intervals = s->plan->interval_ns };

	s->sources[SOURCE_HELPERS] = helper_source_new(&plan);
	s->sources[SOURCE_NVML] = nvml_source_new(&s->sink);
	s->sources[SOURCE_SCHED] = sched_source_new(&s->sink, s->tap.model);
	return s->sources[SOURCE_HELPERS] && s->sources[SOURCE_NVML] && s->sources[SOURCE_SCHED] ?
		       0 : -ENOMEM;
}

static int start_tap(struct session *s)
{
	s->decoder = decoder_new();
	if (!s->decoder)
		return -ENOMEM;
	s->sink = (struct event_sink){ .push = session_push, .ctx = s };
	s->tap.no_cmdline = s->plan->o->no_cmdline;
	if (identity_room_init(&s->tap.room))
		return -ENOMEM;
	s->tap.model = model_new(decoder_funcs(s->decoder));
	if (s->tap.model && s->plan->interval_ns)
		model_use_intervals(s->tap.model);
	if (s->tap.model && s->plan->by_launch)
		model_use_launches(s->tap.model);
	if (s->tap.model && s->plan->has_bins)
		model_use_bins(s->tap.model);
	s->tap.registry = registry_new();
	if (!s->tap.model || !s->tap.registry)
		return -ENOMEM;
	return s->plan->consumers ? model_use_consumers(s->tap.model, s->plan->consumers) : 0;
}

/* The counters so far, into the file that ends. */
static int push_kept(void *ctx, const struct event *ev)
{
	return capture_sink_push(ctx, ev);
}

static void on_cut(void *ctx)
{
	struct session *s = ctx;
	const struct event_sink to = { push_kept, s->tap.keep };

	for (size_t i = 0; i < SOURCES; i++)
		if (s->sources[i] && s->sources[i]->ops->push_counts)
			s->sources[i]->ops->push_counts(s->sources[i], &to);
}

static struct capture_sink_plan plan_capture(const struct session_plan *plan)
{
	const struct session_options *o = plan->o;

	return (struct capture_sink_plan){
		.pattern = plan->capture_path, .max_bytes = o->max_bytes,
		.max_files = o->max_files, .before_ns = o->before_ns, .on = (enum trigger)o->on,
	};
}

/* Of the time before the capture was open. 0, or the capture's error, logged. */
static int keep_early_notes(struct session *s)
{
	int err = 0;

	for (size_t i = 0; i < s->early.all.n && !err; i++) {
		const struct note *n = &s->early.all.v[i];

		err = capture_sink_push(s->tap.keep, &(struct event){
			.kind = EVENT_NOTE, .pid = n->pid, .note.code = n->code,
			.note.text = n->text, .note.severity = n->severity });
	}
	notes_free(&s->early);
	return err;
}

/* The last step that can refuse: a session that never began replaces no older capture. */
static int start_capture(struct session *s)
{
	const struct session_options *o = s->plan->o;
	struct capture_sink_plan plan = plan_capture(s->plan);

	if (!s->plan->capture_path)
		return 0;
	plan.target = s->targets.chosen.n == 1 ? s->targets.chosen.v[0] :
		      o->n_pids	       ? (pid_t)o->pids[0] :
					 s->targets.command.pid;
	s->tap.keep = capture_sink_open(&plan, decoder_funcs(s->decoder));
	if (!s->tap.keep)
		return -EIO;	/* logged */
	s->tap.keep->cut_ctx = s;
	s->tap.keep->on_cut = on_cut;
	return keep_early_notes(s);
}

/* The session began when its probes were in place, not when it was ready to wait. */
static uint64_t left_of(const struct session *s, uint64_t ns)
{
	uint64_t gone = time_now_ns() - s->start_ns;

	return ns > gone ? ns - gone : !!ns;
}

static int start_waits(struct session *s)
{
	const uint64_t first_at_ns = s->plan->first_interval_at_ns;
	const uint64_t first_ns = first_at_ns ? num_max(num_sub(first_at_ns, s->start_ns),
							FIRST_INTERVAL_MIN_NS) :
						s->plan->interval_ns;
	int err;

	s->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	if (s->epoll_fd < 0)
		return -errno;
	s->signal_fd = signals_open(s->plan->o->on == ON_SIGNAL && s->tap.keep);
	err = s->signal_fd < 0 ? s->signal_fd : add_fd(s, s->signal_fd, WAKE_SIGNAL);
	for (size_t i = 0; i < s->targets.pidfds.n && !err; i++)
		err = add_fd(s, s->targets.pidfds.v[i], WAKE_TARGET);
	if (!err && s->targets.command.pidfd >= 0)
		err = add_fd(s, s->targets.command.pidfd, WAKE_TARGET);
	if (!err && s->plan->input_fd)
		err = add_fd(s, s->plan->input_fd, WAKE_INPUT);
	s->targets_left = s->targets.pidfds.n + (s->targets.command.pidfd >= 0);
	for (size_t i = 0; i < SOURCES; i++)
		for (size_t k = 0; k < 2 && !err; k++)
			if (s->sources[i] && s->sources[i]->fds[k] >= 0)
				err = add_fd(s, s->sources[i]->fds[k], WAKE_SOURCE);
	if (!err)
		err = add_timer(s, left_of(s, s->plan->o->duration_ns), 0, WAKE_DURATION);
	if (!err)
		err = add_timer(s, left_of(s, first_ns), s->plan->interval_ns, WAKE_INTERVAL);
	return err ? live_cannot("wait for events", -err) : 0;
}

static int let_go(struct session *s)
{
	const uint32_t pid = (uint32_t)s->targets.command.pid;
	uint64_t exec_ns = time_now_ns();

	if (s->plan->o->cmd_to_stderr)
		log_info("what %s prints goes to standard error: standard output is for the report",
			 s->plan->o->cmd[0]);
	if (command_go(&s->targets.command, s->plan->o->cmd[0]))
		return -EIO;	/* logged */
	if (!s->no_probes.why)
		return 0;
	/* Without probes no source reports that the command executes its program. */
	return session_push(s, &(struct event){ .kind = EVENT_PROCESS, .pid = pid, .tid = pid,
						.end_ns = exec_ns, .task.comm = "" });
}

/* When all is open and before other threads start: keeps what attaching to later files needs. The
 * command was forked before and keeps all. */
static void drop_privileges(const struct session *s)
{
	const struct session_options *o = s->plan->o;
	uint64_t keep = caps_of_work();

	for (size_t i = 0; i < SOURCES; i++)
		keep |= s->sources[i] ? s->sources[i]->caps : 0;
	if (s->targets.command.pid > 0)	/* another user's, from the start or by itself */
		keep |= 1ull << CAP_KILL;
	/* Files that are made or removed later, perhaps in a folder of the user who typed sudo. */
	if (s->plan->output || (s->plan->capture_path && (o->max_bytes || o->before_ns)))
		keep |= 1ull << CAP_DAC_OVERRIDE;
	caps_drop_others(keep);
}

/* ---- facts ----------------------------------------------------------------------------------- */

/* For a proposal to run it again. */
static void fact_command(const struct session *s)
{
	struct strbuf all = STRBUF_INIT;
	bool kept = !s->plan->o->no_cmdline;

	for (char *const *arg = s->plan->o->cmd; *arg; arg++) {
		strbuf_addstr(&all, all.len ? " " : "");
		strbuf_add_shell(&all, *arg);
	}
	live_push_fact(&s->sink, "command", "%s",
		     kept && !all.failed && next_is_typed(all.s) ? all.s : "CMD");
	strbuf_free(&all);
}

static void fact_targets(const struct session *s)
{
	const struct session_options *o = s->plan->o;
	struct strbuf chosen = STRBUF_INIT;
	char list[512] = "";
	size_t at = 0;

	if (o->cmd) {
		live_push_fact(&s->sink, "target", "%s", o->cmd[0]);
		fact_command(s);
		return;
	}
	if (o->selector) {
		selector_describe(o->selector, &chosen);
		live_push_fact(&s->sink, "target", "any process with %s", chosen.s);
		strbuf_free(&chosen);
		return;
	}
	for (size_t i = 0; i < o->n_pids && at < sizeof(list) - 16; i++)
		at += (size_t)snprintf(list + at, sizeof(list) - at, "%s%u", i ? "," : "pid ",
				       o->pids[i]);
	live_push_fact(&s->sink, "target", "%s", o->n_pids ? list : "all processes");
	if (!o->n_pids)
		live_push_fact(&s->sink, "whole_host", "yes");
}

static void push_facts(struct session *s)
{
	const struct event_sink *to = &s->sink;
	struct utsname un = { 0 };
	uint64_t wall = time_wall_ns(), mono = time_now_ns();

	uname(&un);
	live_push_fact(to, "host", "%s", un.nodename);
	live_push_fact(to, "kernel", "%s", un.release);
	live_push_fact(to, "arch", "%s", un.machine);
	live_push_fact(to, "version", "%s", version_text());
	live_push_fact(to, "wall_offset_ns", "%" PRIu64, wall - mono);
	live_push_fact(to, "sources", "%s", s->no_probes.why ? "cupti" : "uprobe");
	if (!geteuid() && getenv("SUDO_UID"))
		live_push_fact(to, "sudo", "yes");
	live_push_fact(to, "ring_bytes", "%" PRIu64, s->plan->o->ring_bytes);
	if (s->plan->o->isolate)
		live_push_fact(to, "children", "not followed");
	fact_targets(s);
	if (s->no_probes.why) {
		live_push_fact(to, "without_probes", "%s%s; %s", s->no_probes.why,
			       caps_missing() && s->no_probes.why == caps_missing()->name ?
				       " is missing" : "", s->no_probes.remedy);
		live_push_fact(to, "off_cpu", "%s", s->plan->o->off_cpu == OFF_CPU_OFF ?
			       "not recorded" : SCHED_SAMPLED);
	}
	for (size_t i = 0; i < SOURCES; i++)
		if (s->sources[i] && s->sources[i]->ops->describe)
			s->sources[i]->ops->describe(s->sources[i]);
}

/* ---- the start ------------------------------------------------------------------------------- */

/* Of the processes of -p, if they exist. 0 or -errno, logged unless -ENOMEM. */
static int open_pidfds(struct targets *t)
{
	const struct session_options *o = t->o;

	for (size_t i = 0; i < o->n_pids; i++) {
		int *fd = VEC_PUSH(&t->pidfds);

		if (!fd)
			return -ENOMEM;
		*fd = (int)syscall(SYS_pidfd_open, (pid_t)o->pids[i], 0);
		if (*fd < 0) {
			int err = errno;

			if (err == EINVAL || err == ENOENT)	/* the latter since Linux 6.15 */
				log_error("cannot profile %u: it is a thread, not a process; give "
					  "the pid of its process", o->pids[i]);
			else
				log_error("cannot profile process %u: %s", o->pids[i],
					  err == ESRCH ? "no such process" :
							 strerror(err));
			return -ESRCH;
		}
	}
	return 0;
}

/* Up to the point where nothing of ours can refuse any more. */
static int prepare(struct session *s)
{
	const struct session_options *o = s->plan->o;
	int err = open_pidfds(&s->targets);

	if (!err)
		err = note_failure(s, targets_inject(o));
	if (!err && o->cmd)
		err = command_start(&s->targets.command, o->cmd, o->cmd_to_stderr);
	io_raise_limit();	/* not the command's */
	if (!err)
		err = start_tap(s);
	if (!err) {
		const struct probe_plan plan = { .targets = &s->targets, .decoder = s->decoder,
						 .sink = &s->sink,
						 .needs_launches = s->plan->by_launch ||
								   s->plan->capture_path };

		err = note_failure(s, probe_source_open(&s->sources[SOURCE_PROBES], &plan,
							&s->no_probes));
	}
	/* From here on a signal before start_waits loses no measured data. */
	for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++)
		signals_hold(ends[i]);
	return err ? err : start_capture(s);
}

static int start(struct session *s)
{
	const struct targets *t = &s->targets;
	int err = prepare(s);
	struct live_source *probes = s->sources[SOURCE_PROBES];

	if (err)
		return err;
	err = start_helpers(s);
	s->cpu_ns = time_own_cpu_ns();
	push_facts(s);
	s->start_ns = time_now_ns();
	s->tap.oldest_ns = t->command.pid ? s->start_ns : 0;
	if (!err)
		err = session_push(s, &(struct event){ .kind = EVENT_START,
						       .start_ns = s->start_ns });
	for (size_t i = 0; i < t->o->n_pids && !s->err; i++)
		s->err = pipeline_describe(&s->tap, (pid_t)t->o->pids[i]);
	for (size_t i = 0; i < t->chosen.n && !s->err; i++)
		s->err = pipeline_describe(&s->tap, t->chosen.v[i]);
	if (!err && probes)
		err = probes->ops->begin(probes, s->start_ns);
	drop_privileges(s);
	if (!err && probes)
		err = probes->ops->run(probes, s->tap.keep);
	if (!err)
		err = start_waits(s);
	if (!err && t->command.pid)
		err = let_go(s);
	s->state = err ? SESSION_STOPPING : SESSION_RUNNING;
	return err;
}

struct session *session_open(const struct session_plan *plan)
{
	const struct capture_sink_plan capture = plan_capture(plan);
	struct session *s = calloc(1, sizeof(*s));

	if (!s) {
		log_error("cannot begin to measure: out of memory");
		return NULL;
	}
	s->plan = plan;
	s->targets.o = plan->o;
	s->targets.command = (struct command)COMMAND_NONE;
	s->epoll_fd = s->signal_fd = -1;
	if (plan->o->on == ON_SIGNAL)
		signals_hold(SIGUSR1); /* one that comes before its purpose exists waits */
	s->rc = plan->capture_path && capture_sink_plan_check(&capture) ?
			EXIT_USAGE : targets_ask_inject(plan->o);
	if (s->rc) {
		s->state = SESSION_STOPPED;
		return s;
	}
	s->err = start(s);
	s->started = !s->err;
	return s;
}

/* ---- the end --------------------------------------------------------------------------------- */

/* Is it stopped, now? Then that is why, whatever was probed. */
static bool add_stopped(struct strbuf *why, pid_t pid)
{
	struct strbuf by = STRBUF_INIT;
	struct proc_stat stat;
	bool is = proc_stat_of(pid, &stat) && proc_add_stopped(&by, pid, stat.state);

	if (is)
		strbuf_addf(why, "process %d (%s) is %s", pid, stat.comm, by.s);
	strbuf_free(&by);
	return is;
}

/* The fact `no_calls`: why the tables may be empty. */
static void explain_empty(struct session *s)
{
	const struct targets *t = &s->targets;
	struct strbuf why = STRBUF_INIT;
	bool known = false;

	for (size_t i = 0; i < t->o->n_pids && !known; i++)
		known = add_stopped(&why, (pid_t)t->o->pids[i]);
	for (size_t i = 0; i < t->chosen.n && !known; i++)
		known = add_stopped(&why, t->chosen.v[i]);
	for (size_t i = 0; i < SOURCES && !known; i++)
		if (s->sources[i] && s->sources[i]->ops->explain_empty)
			s->sources[i]->ops->explain_empty(s->sources[i], &why);
	if (why.len && !why.failed)
		live_push_fact(&s->sink, "no_calls", "%s", why.s);
	strbuf_free(&why);
}

static void stop_sources(struct session *s, uint64_t now_ns)
{
	struct live_source *l;

	for (size_t i = 0; i < SOURCES; i++)
		if ((l = s->sources[i]) && l->ops->request_stop)
			l->ops->request_stop(l);
	for (size_t i = 0; i < SOURCES; i++)
		if ((l = s->sources[i]) && l->ops->stop)
			keep_error(s, l->ops->stop(l, now_ns));
	for (size_t i = 0; i < SOURCES; i++)
		if ((l = s->sources[i]) && l->ops->finish)
			keep_error(s, l->ops->finish(l));
}

/* The fact `command_signal`: what killed the command, if it has ended so by itself. */
static void explain_death(struct session *s)
{
	static const struct {
		int signal;
		const char *name;
	} names[] = { { SIGSEGV, "SIGSEGV" }, { SIGABRT, "SIGABRT" }, { SIGBUS, "SIGBUS" },
		      { SIGFPE, "SIGFPE" },   { SIGILL, "SIGILL" },   { SIGKILL, "SIGKILL" },
		      { SIGSYS, "SIGSYS" },   { SIGTRAP, "SIGTRAP" } };
	const pid_t pid = s->targets.command.pid;
	siginfo_t info = { 0 };

	if (pid <= 0 || waitid(P_PID, (id_t)pid, &info, WEXITED | WNOHANG | WNOWAIT) ||
	    !info.si_pid || info.si_code == CLD_EXITED)
		return;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (names[i].signal == info.si_status)
			live_push_fact(&s->sink, "command_signal", "%s", names[i].name);
}

/* Nothing recorded is lost by stopping: probes off, rings emptied, then the calls still open.
 * The model is finished when it has all, as in a report. */
static void read_last(struct session *s)
{
	struct live_source *helpers = s->sources[SOURCE_HELPERS];
	uint64_t now_ns = time_now_ns();

	if (!helpers || !s->sources[SOURCE_SCHED])
		return;
	session_push(s, &(struct event){ .kind = EVENT_STOP, .end_ns = now_ns });
	stop_sources(s, now_ns);
	live_push_fact(&s->sink, "gpuprof_cpu_ns", "%" PRIu64, time_own_cpu_ns() - s->cpu_ns);
	explain_empty(s);
	explain_death(s);
	note_ended(s);
	helpers->ops->explain_silence(helpers, LIVE_END);
	keep_error(s, model_finish(s->tap.model));
	helpers->ops->warn(helpers);
}

static void close_all(int *fds, size_t n)
{
	for (size_t i = 0; i < n; i++)
		io_close(&fds[i]);
}

static void release(struct session *s)
{
	for (size_t i = 0; i < SOURCES; i++)
		if (s->sources[i])
			s->sources[i]->ops->release(s->sources[i]);
	notes_free(&s->early);
	pipeline_free(&s->tap);
	close_all(s->targets.pidfds.v, s->targets.pidfds.n);
	close_all(s->timers.v, s->timers.n);
	VEC_FREE(&s->targets.pidfds);
	VEC_FREE(&s->targets.chosen);
	VEC_FREE(&s->targets.users);
	VEC_FREE(&s->timers);
	io_close(&s->epoll_fd);
}

/* ---- stop and close -------------------------------------------------------------------------- */

int session_stop(struct session *s)
{
	int err = s->err;

	if (s->state == SESSION_STOPPED)
		return s->rc;
	s->state = SESSION_STOPPING;
	read_last(s);
	if (s->tap.keep) {
		int closed = capture_sink_close(s->tap.keep, &s->kept);

		s->tap.keep = NULL;
		err = err ? err : closed;
	}
	err = err ? err : s->err;
	if (err == -ENOMEM)
		log_error("out of memory: the session ends here; what was measured so far is kept");
	release(s);
	if (!s->started)
		command_abandon(&s->targets.command);
	s->state = SESSION_STOPPED;
	s->rc = s->targets.command.unrun ? s->targets.command.unrun :
		s->failure		 ? s->failure :
		err			 ? EXIT_FAIL :
					   EXIT_OK;
	return s->rc;
}

uint64_t session_interval_end(const struct session *s)
{
	return s->interval_end_ns;
}

struct model *session_model(const struct session *s)
{
	return s->started ? s->tap.model : NULL;
}

const struct capture_sink_stats *session_kept(const struct session *s)
{
	return &s->kept;
}

int session_close(struct session *s, int rc)
{
	int status = s->targets.command.pid ? command_attend(&s->targets.command, s->signal_fd) : 0;

	io_close(&s->signal_fd);
	model_free(s->tap.model);
	for (size_t i = 0; i < SOURCES; i++)
		if (s->sources[i])
			s->sources[i]->ops->free(s->sources[i]);
	decoder_free(s->decoder);
	free(s);
	return status ? status : rc;
}
