// SPDX-License-Identifier: BSD-3-Clause
/*
 * Runs one live session in the main thread. What the events mean is the model's business, what is
 * attached where that of targets.c.
 */
#include "session/session.h"

#include <errno.h>
#include <inttypes.h>
#include <linux/capability.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/signalfd.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "base/exit.h"
#include "base/io.h"
#include "base/log.h"
#include "base/time.h"
#include "probe/loader_read.h"
#include "session/inject_targets.h"
#include "host/caps.h"
#include "session/helper_only.h"
#include "session/session_internal.h"
#include "session/targets.h"

static void signals_hold(int signal);
static void signals_hold_ends(void);
static int signals_open(bool with_trigger);
static void signals_read(struct session *s);

/* ---- events that the session itself makes --------------------------------------------------- */

int session_push(void *ctx, const struct event *ev)
{
	struct session *s = ctx;

	if (!s->err)
		s->err = pipeline_push(&s->tap, ev);
	if (!s->err)
		s->err = helpers_on_event(s, ev);
	if (__builtin_expect(!s->nvml.wanted, 0))
		session_nvml_on_event(s, ev);
	return s->err;
}

/* ---- running -------------------------------------------------------------------------------- */

#define HELPERS_EVERY_NS 20000000ull	/* rings of helpers are read so often */

enum wake { WAKE_SIGNAL = 1, WAKE_DURATION, WAKE_INTERVAL, WAKE_DRAIN, WAKE_WORKER, WAKE_TARGET,
	    WAKE_HELPERS };

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
static int add_timer(struct session *s, uint64_t ns, uint64_t again_ns, enum wake what)
{
	struct itimerspec t = { .it_value = as_timespec(ns), .it_interval = as_timespec(again_ns) };
	int *fd;

	if (!ns)
		return 0;
	fd = VEC_PUSH(&s->timers);
	if (!fd)
		return -ENOMEM;
	*fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
	if (*fd < 0 || timerfd_settime(*fd, 0, &t, NULL))
		return -errno;
	return add_fd(s, *fd, what);
}

struct off_reading {
	struct bpf_source *live;
	uint64_t until_ns;
};

static void on_off(void *ctx, const void *rec, size_t len)
{
	const struct off_reading *r = ctx;

	bpf_source_push_off(r->live, rec, len, r->until_ns);
}

/* Who is off the CPU all the time has no record of it yet. */
static void read_off(struct session *s, uint64_t until_ns)
{
	struct off_reading r = { &s->live, until_ns };

	if (s->loader && loader_each_off(s->loader, on_off, &r))
		log_warn(
			"cannot read who is off the CPU: what began before this interval's end and "
			"goes on is shown as other");
}

static void on_interval(struct session *s, int fd)
{
	uint64_t at = s->tap.watermark_ns;

	io_clear(fd);
	if (s->plan->o->count && s->intervals + 1 >= s->plan->o->count) {
		/* its end is the session's: all is known of it then */
		s->state = SESSION_STOPPING;
		return;
	}
	if (!at || at <= s->interval_start_ns)
		return;		/* nothing has been delivered since */
	if (s->loader)
		read_off(s, at);
	diagnose_interval(s);
	s->interval_end_ns = at;
}

/* The caller has read the model at the interval's end. */
static void end_interval(struct session *s)
{
	model_cut(s->tap.model, s->interval_end_ns);
	s->interval_start_ns = s->interval_end_ns;
	s->interval_end_ns = 0;
	s->intervals++;
}

static void on_wake(struct session *s, enum wake what, int fd)
{
	switch (what) {
	case WAKE_SIGNAL:
		signals_read(s);
		break;
	case WAKE_DURATION:
		s->state = SESSION_STOPPING;
		break;
	case WAKE_INTERVAL:
		on_interval(s, fd);
		break;
	case WAKE_DRAIN:
		/* INSIDE comes before what the thread does next */
		worker_pump(s->worker, &s->sink);
		bpf_source_pump(&s->live);
		break;
	case WAKE_WORKER:
		worker_pump(s->worker, &s->sink);
		break;
	case WAKE_HELPERS:
		io_clear(fd);
		helpers_read(s);
		session_nvml_read(s);
		break;
	case WAKE_TARGET:
		epoll_ctl(s->epoll_fd, EPOLL_CTL_DEL, fd, NULL);
		if (!--s->targets_left)
			s->state = SESSION_STOPPING;
		break;
	}
}

static int flush_capture(struct session *s)
{
	uint64_t now = time_now_ns();

	if (!s->tap.keep || now - s->flushed_ns < NS_PER_SEC)
		return 0;
	s->flushed_ns = now;
	return capture_sink_flush(s->tap.keep);
}

/* What comes behind an interval's end waits, so that the model is read as it is there. */
static void wait_for_events(struct session *s)
{
	struct epoll_event ev[8];
	int n = epoll_wait(s->epoll_fd, ev, 8, 1000);

	for (int i = 0; i < n && !s->interval_end_ns; i++)
		on_wake(s, (enum wake)(ev[i].data.u64 >> 32), (int)(uint32_t)ev[i].data.u64);
}

enum session_step session_step(struct session *s)
{
	if (s->interval_end_ns)
		end_interval(s);
	if (s->state != SESSION_RUNNING || s->err)
		return SESSION_ENDED;
	wait_for_events(s);
	if (!s->err)
		diagnose_ended(s);
	if (!s->err)
		s->err = flush_capture(s);
	return s->interval_end_ns ? SESSION_INTERVAL : SESSION_GOES_ON;
}

/* ---- start ---------------------------------------------------------------------------------- */

static int exit_code(int err)
{
	if (err == -EPERM || err == -EACCES)
		return EXIT_PERMISSION;
	if (err == -ENOTSUP)
		return EXIT_UNSUPPORTED;
	return err ? EXIT_FAIL : EXIT_OK;
}

/* Only -ENOMEM means that nobody has said it yet. */
static int logged(int err)
{
	return err == ENOMEM ? -EIO : -err;
}

static const char *const advice[] = {
	[EMFILE] = "; raise the limit of open files (ulimit -n)",
	[EAGAIN] = " to start a thread; raise the limit of processes (ulimit -u)",
	[ENOMEM] = "; give a smaller --ring-size, or raise the limit of memory (ulimit -v)",
};

static int cannot(const char *what, int err)
{
	const char *text = (size_t)err < sizeof(advice) / sizeof(advice[0]) ? advice[err] : NULL;

	log_error("cannot %s: %s%s", what, strerror(err), text ? text : "");
	return logged(err);
}

static int start_loader(struct session *s)
{
	const struct session_options *o = s->plan->o;
	struct loader_options lo = {
		.way = (enum loader_way)o->attach,
		.ring_bytes = o->ring_bytes,
		.follow_all = o->all,
		.follow_children = o->cmd || !o->isolate,
		.off_cpu = o->off_cpu == OFF_CPU_ON || (o->off_cpu == OFF_CPU_AUTO && !o->all),
		.stack_bytes = o->stacks ? (uint32_t)o->stack_bytes : 0,
	};

	s->loader = loader_new(&lo);
	if (!s->loader)
		return logged(errno);
	s->attach = attach_new(s->loader);
	if (s->attach) {
		attach_set_tier(s->attach, (unsigned int)o->tier);
		attach_set_budget(s->attach, o->budget_ns);
		attach_set_launch(s->attach, (enum plan_launch)o->launch);
	}
	s->inside = inflight_new(s->loader, (unsigned int)o->tier);
	s->worker = s->attach ? worker_new(s->attach, s->inside) : NULL;
	if (!s->worker)
		return cannot("watch what is mapped", errno);
	s->live.decoder = s->decoder;
	s->live.sink = s->sink;
	s->live.drain = drain_start(loader_calls_fd(s->loader), loader_tasks_fd(s->loader));
	return s->live.drain ? 0 : cannot("read the ring buffers", errno);
}

static int attach_targets(struct session *s)
{
	int err = targets_attach(s);

	return err ? err : attach_begin(s->attach);
}

/* Without them if it must and can be. */
static int start_probes(struct session *s)
{
	int err = helper_only_choose(s);

	if (err || s->blind)
		return err;
	err = helper_only_after(s, start_loader(s));
	if (!err && !s->blind)
		err = attach_targets(s);
	if (s->blind)
		drop_probes(s);
	return err;
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
	s->tap.registry = registry_new();
	if (!s->tap.model || !s->tap.registry)
		return -ENOMEM;
	return s->plan->consumers ? model_use_consumers(s->tap.model, s->plan->consumers) : 0;
}

static struct capture_sink_plan plan_capture(const struct session_plan *plan)
{
	const struct session_options *o = plan->o;

	return (struct capture_sink_plan){ .pattern = plan->capture_path,
				      .max_bytes = o->max_bytes,
				      .max_files = o->max_files,
				      .before_ns = o->before_ns,
				      .on = (enum trigger)o->on };
}

/* The last step that can refuse: a session that never began replaces no older capture. */
static int start_capture(struct session *s)
{
	const struct session_options *o = s->plan->o;
	struct capture_sink_plan plan = plan_capture(s->plan);

	if (!s->plan->capture_path)
		return 0;
	plan.target = s->chosen.n == 1 ? s->chosen.v[0] :
		      o->n_pids	       ? (pid_t)o->pids[0] :
					 s->command.pid;
	s->tap.keep = capture_sink_open(&plan, decoder_funcs(s->decoder));
	if (!s->tap.keep)
		return -EIO;	/* logged; a capture's EACCES is no missing capability */
	s->tap.keep->cut_ctx = s;
	s->tap.keep->on_cut = counts_cut;
	if (s->worker)
		worker_keep(s->worker, s->tap.keep);
	return 0;
}

/* The session began when its probes were in place, not when it was ready to wait. */
static uint64_t left_of(const struct session *s, uint64_t ns)
{
	uint64_t gone = time_now_ns() - s->start_ns;

	return ns > gone ? ns - gone : !!ns;
}

static int start_stacks(struct session *s)
{
	struct stack_feed *feed;

	if (!s->loader || loader_stacks_fd(s->loader) < 0)
		return 0;
	feed = stack_feed_new(s->loader);
	if (!feed)
		return cannot("read stacks of calls", errno);
	worker_feed(s->worker, feed);
	return 0;
}

static int start_waits(struct session *s)
{
	int err;

	s->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	if (s->epoll_fd < 0)
		return -errno;
	s->signal_fd = signals_open(s->plan->o->on == ON_SIGNAL && s->tap.keep);
	err = s->signal_fd < 0 ? s->signal_fd : add_fd(s, s->signal_fd, WAKE_SIGNAL);
	for (size_t i = 0; i < s->pidfds.n && !err; i++)
		err = add_fd(s, s->pidfds.v[i], WAKE_TARGET);
	if (!err && s->command.pidfd >= 0)
		err = add_fd(s, s->command.pidfd, WAKE_TARGET);
	s->targets_left = s->pidfds.n + (s->command.pidfd >= 0);
	if (!err && s->live.drain)
		err = add_fd(s, drain_queue_fd(drain_queue_of(s->live.drain)), WAKE_DRAIN);
	if (!err && s->worker)
		err = add_fd(s, worker_fd(s->worker), WAKE_WORKER);
	if (!err)
		err = add_timer(s, left_of(s, s->plan->o->duration_ns), 0, WAKE_DURATION);
	if (!err)
		err = add_timer(s, left_of(s, s->plan->interval_ns), s->plan->interval_ns,
				WAKE_INTERVAL);
	if (!err)
		err = add_timer(s, HELPERS_EVERY_NS, HELPERS_EVERY_NS, WAKE_HELPERS);
	return err ? cannot("wait for events", -err) : 0;
}

static int let_go(struct session *s)
{
	uint64_t exec_ns = time_now_ns();

	if (command_go(&s->command, s->plan->o->cmd[0]))
		return -EIO;	/* logged; a command's EACCES is no missing capability */
	return helper_only_exec(s, exec_ns);
}

/* Perf events of probes need CAP_SYS_ADMIN, also for what is loaded later. */
static bool makes_perf_events(const struct session *s)
{
	return s->loader && loader_way(s->loader) == WAY_PERF;
}

/* It may be another user's, from the start or by itself. */
static bool signals_command(const struct session *s)
{
	return s->command.pid > 0;
}

/* Files that are made or removed later, perhaps in a folder of the user who typed sudo. */
static bool makes_files_later(const struct session *s)
{
	const struct session_options *o = s->plan->o;

	return s->plan->output || (s->plan->capture_path && (o->max_bytes || o->before_ns));
}

static const struct {
	unsigned int bit;
	bool (*is_needed)(const struct session *s);
} extras[] = {
	{ CAP_SYS_ADMIN, makes_perf_events },
	{ CAP_KILL, signals_command },
	{ CAP_DAC_OVERRIDE, makes_files_later },
};

/* When all is open and before other threads start: keeps what attaching to later files needs. The
 * command was forked before and keeps all. */
static void drop_privileges(const struct session *s)
{
	uint64_t keep = caps_of_work();

	for (size_t i = 0; i < sizeof(extras) / sizeof(extras[0]); i++)
		if (extras[i].is_needed(s))
			keep |= 1ull << extras[i].bit;
	caps_drop_others(keep);
}

static int start(struct session *s)
{
	const struct session_options *o = s->plan->o;
	int err = targets_check(s);

	if (!err)
		err = inject_targets(o);
	if (!err && o->cmd)
		err = command_start(&s->command, o->cmd);
	io_raise_limit();	/* not the command's */
	if (!err)
		err = start_tap(s);
	if (!err)
		err = start_probes(s);
	/* What is measured from here on is not lost to a signal that comes before somebody waits.
	 */
	signals_hold_ends();
	if (!err)
		err = start_capture(s);
	if (err)
		return err;
	err = helpers_start(s);
	targets_facts(s);
	s->start_ns = time_now_ns();
	s->tap.oldest_ns = s->command.pid ? s->start_ns : 0;
	if (!err)
		err = session_push(s,
				   &(struct event){ .kind = EVENT_START, .start_ns = s->start_ns });
	targets_processes(s);
	if (!err && s->inside)
		err = inflight_find(s->inside, s->start_ns, &s->sink);
	drop_privileges(s);
	if (!err)
		err = start_stacks(s);
	if (!err && s->worker)
		err = worker_run(s->worker);
	if (!err)
		err = start_waits(s);
	if (!err && s->command.pid)
		err = let_go(s);
	s->state = err ? SESSION_STOPPING : SESSION_RUNNING;
	return err;
}

static int check_plan(const struct session_plan *plan)
{
	const struct capture_sink_plan capture = plan_capture(plan);

	if (plan->capture_path && capture_sink_plan_check(&capture))
		return EXIT_USAGE;
	return inject_targets_ask(plan->o);
}

struct session *session_open(const struct session_plan *plan)
{
	struct session *s = calloc(1, sizeof(*s));

	if (!s) {
		log_error("cannot begin to measure: out of memory");
		return NULL;
	}
	s->plan = plan;
	s->command = (struct command)COMMAND_NONE;
	s->epoll_fd = s->signal_fd = -1;
	if (plan->o->on == ON_SIGNAL)
		signals_hold(SIGUSR1); /* one that comes before there is what it asks for waits */
	s->rc = check_plan(plan);
	if (s->rc) {
		s->state = SESSION_STOPPED;
		return s;
	}
	s->err = start(s);
	s->started = !s->err;
	return s;
}

/* ---- session stop -------------------------------------------------------------------------- */

/*
 * How a session ends: in which order probes, rings, threads' last states and counters are read, so
 * that nothing recorded is lost, and what is freed. Knows nothing of how it began.
 */

static void pump(void *ctx)
{
	bpf_source_pump(&((struct session *)ctx)->live);
}

struct states {
	VEC(struct loader_state) all;
	VEC(struct gp_off) off;		/* who is off the CPU */
	bool full;
};

static void on_state(void *ctx, const void *rec, size_t len)
{
	struct states *states = ctx;
	struct loader_state *slot = VEC_PUSH(&states->all);

	if (slot)
		memcpy(slot, rec, len);
	states->full |= !slot;
}

static void on_last_off(void *ctx, const void *rec, size_t len)
{
	struct states *states = ctx;
	struct gp_off *slot = VEC_PUSH(&states->off);

	if (slot)
		memcpy(slot, rec, len);
	states->full |= !slot;
}

/* At once, since a thread that ends takes its state with it. */
static void read_states(struct session *s, struct states *states)
{
	if (loader_each_off(s->loader, on_last_off, states) ||
	    loader_each_state(s->loader, on_state, states) || states->full)
		log_warn("cannot read the threads' last states; calls still open are not shown");
}

static void push_states(struct session *s, struct states *states, uint64_t now_ns)
{
	for (size_t i = 0; i < states->all.n; i++)
		bpf_source_push_state(&s->live, &states->all.v[i], sizeof(states->all.v[i]),
				      now_ns);
	/* Behind the last numbers, so that what is missing before them is known. */
	for (size_t i = 0; i < states->off.n; i++)
		bpf_source_push_off(&s->live, &states->off.v[i], sizeof(states->off.v[i]), now_ns);
	VEC_FREE(&states->all);
	VEC_FREE(&states->off);
}

static void stop_probes(struct session *s, uint64_t now_ns)
{
	struct states states = { 0 };

	worker_stop(s->worker);
	worker_pump(s->worker, &s->sink);
	if (s->inside)
		inflight_stop(s->inside, &s->sink);	/* s->err has the sink's error */
	loader_detach(s->loader);
	read_states(s, &states);
	drain_finish(s->live.drain, pump, s);
	worker_finish_stacks(s->worker);
	worker_pump(s->worker, &s->sink);
	probes_report(s);
	diagnose_empty(s);
	push_states(s, &states, now_ns);
	counts_push(s);
}

/* Nothing recorded is lost by stopping: probes off, rings emptied, then what was still open. The
 * model is finished when it has all, as a report does it. */
static void read_last(struct session *s)
{
	uint64_t now_ns = time_now_ns();
	int err;

	if (!s->live.drain && !s->blind)
		return;
	session_push(s, &(struct event){ .kind = EVENT_STOP, .end_ns = now_ns });
	session_nvml_stop(s);
	helpers_stop(s);
	if (s->blind)
		diagnose_empty(s);
	else
		stop_probes(s, now_ns);
	session_nvml_end(s);
	diagnose_end(s);
	err = model_finish(s->tap.model);
	if (err && !s->err)
		s->err = err;
	helpers_warn(s);
}

static void close_all(int *fds, size_t n)
{
	for (size_t i = 0; i < n; i++)
		io_close(&fds[i]);
}

static void free_probes(struct session *s)
{
	worker_free(s->worker);
	inflight_free(s->inside);
	attach_free(s->attach);
	drain_free(s->live.drain);
}

void drop_probes(struct session *s)
{
	free_probes(s);
	loader_free(s->loader);
	s->worker = NULL;
	s->inside = NULL;
	s->attach = NULL;
	s->live.drain = NULL;
	s->loader = NULL;
}

static void release(struct session *s)
{
	free_probes(s);
	map_free(&s->forked.looked_at);
	map_free(&s->closed.looked_at);
	helpers_free(s->helpers);
	pipeline_free(&s->tap);
	close_all(s->pidfds.v, s->pidfds.n);
	close_all(s->timers.v, s->timers.n);
	VEC_FREE(&s->pidfds);
	VEC_FREE(&s->chosen);
	VEC_FREE(&s->users);
	VEC_FREE(&s->timers);
	io_close(&s->epoll_fd);
}

/* ---- session signals ----------------------------------------------------------------------- */

/* See the header. */

static const int ends[] = { SIGINT, SIGTERM, SIGQUIT };

static void add_ends(sigset_t *set)
{
	for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++)
		sigaddset(set, ends[i]);
}

static void signals_hold(int signal)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, signal);
	sigprocmask(SIG_BLOCK, &set, NULL);
}

static void signals_hold_ends(void)
{
	sigset_t set;

	sigemptyset(&set);
	add_ends(&set);
	sigprocmask(SIG_BLOCK, &set, NULL);
}

/* nohup: who started us wants us to live on. */
static bool hangs_up(void)
{
	struct sigaction now;

	return sigaction(SIGHUP, NULL, &now) || now.sa_handler != SIG_IGN;
}

/* From here on they are read, with_trigger: SIGUSR1 too; to the end of the program. A signalfd, the
 * caller's, or -errno. */
static int signals_open(bool with_trigger)
{
	sigset_t set;
	int fd;

	sigemptyset(&set);
	add_ends(&set);
	if (hangs_up())
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
	if (!s->command.pid || !command_signal(&s->command, &info))
		s->state = SESSION_STOPPING;
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
		command_abandon(&s->command);
	s->state = SESSION_STOPPED;
	s->rc = s->command.unrun ? s->command.unrun : exit_code(err);
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
	int status = s->command.pid ? command_attend(&s->command, s->signal_fd) : 0;

	io_close(&s->signal_fd);
	model_free(s->tap.model);
	decoder_free(s->decoder);
	loader_free(s->loader);
	free(s);
	return status ? status : rc;
}
