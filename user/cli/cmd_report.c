// SPDX-License-Identifier: BSD-3-Clause
/*
 * `gpuprof report FILE`: a capture becomes a model, and that is printed as any other. Source lines
 * and inlined functions for the frames of any report (--lines).
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/capability.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/log.h"
#include "base/note.h"
#include "base/time.h"
#include "base/units.h"
#include "base/vec.h"
#include "base/num.h"
#include "host/caps.h"
#include "host/proc.h"
#include "base/exit.h"
#include "view/chart.h"
#include "view/html_moments.h"
#include "view/render.h"
#include "view/report.h"
#include "view/torch_memory.h"
#include "cli/verbs.h"
#include "capture/capture.h"
#include "capture/capture_part.h"
#include "elf/elf.h"
#include "elf/lines.h"
#include "event/stacks.h"
#include "view/view.h"

/* ---- source lines ---------------------------------------------------------------------------- */

/*
 * Frames by file, and each file's debug info once. A file is found by its build id, so that no
 * other version of it can be read, wherever the report is made.
 */

struct group {			/* frames of one file */
	const char *file;	/* "BUILD-ID PATH" */
	VEC(struct elf_line) lines;
	VEC(uint64_t) numbers;	/* of the frames, in the same order */
};

static int compare_frames(const void *a, const void *b)
{
	const struct stacks_frame *x = *(const struct stacks_frame *const *)a;
	const struct stacks_frame *y = *(const struct stacks_frame *const *)b;

	return strcmp(x->file, y->file);
}

/* Where the build id ends, the file's path begins. */
static int open_file(const char *file)
{
	const char *blank = strchr(file, ' ');
	char build_id[ELF_BUILD_ID_TEXT];

	if (!blank || (size_t)(blank - file) >= sizeof(build_id))
		return -ENOENT;
	memcpy(build_id, file, (size_t)(blank - file));
	build_id[blank - file] = '\0';
	return elf_open_debug(blank + 1, build_id);
}

static int ask(struct stacks *s, struct group *g)
{
	int fd = open_file(g->file), err = fd;

	if (fd >= 0) {
		err = elf_find_lines(fd, g->lines.v, g->lines.n);
		close(fd);
	}
	if (err == -ENOMEM || err == -ENOTSUP)
		return err;
	if (err == -ETIME || err == -EBADMSG)
		log_warn("cannot read all debug info of %s: %s; what was read is used", g->file,
			 err == -ETIME ? "it takes too long" : "it is damaged");
	else if (err)
		log_debug("no debug info of %s here", g->file);
	err = 0;
	for (size_t i = 0; i < g->lines.n && err != -ENOMEM; i++)
		if (g->lines.v[i].text)
			err = stacks_set_lines(s, g->numbers.v[i], g->lines.v[i].text);
	return err == -ENOMEM ? err : 0;
}

static int ask_group(struct stacks *s, const struct stacks_frame *const *frames, size_t n)
{
	struct group g = { .file = frames[0]->file };
	int err = 0;

	for (size_t i = 0; i < n && !err; i++) {
		struct elf_line *line = VEC_PUSH(&g.lines);
		uint64_t *number = VEC_PUSH(&g.numbers);

		err = line && number ? 0 : -ENOMEM;
		if (err)
			break;
		line->vaddr = frames[i]->offset;
		*number = frames[i]->number;
	}
	if (!err)
		err = ask(s, &g);
	for (size_t i = 0; i < g.lines.n; i++)
		free(g.lines.v[i].text);
	VEC_FREE(&g.lines);
	VEC_FREE(&g.numbers);
	return err;
}

static int ask_all(struct stacks *s, const struct stacks_frame **frames, size_t n)
{
	size_t k;
	int err = 0;

	if (n)
		qsort(frames, n, sizeof(*frames), compare_frames);
	for (size_t i = 0; i < n && !err; i += k) {
		for (k = 1; i + k < n && !compare_frames(&frames[i + k], &frames[i]); k++)
			;
		err = ask_group(s, &frames[i], k);
	}
	return err;
}

/* Reads the debug info of each file that has frames, if this host has that very build of it, and
 * reports those without. 0, or an exit code: this build cannot, or out of memory; logged. */
static int find_lines(struct stacks *s)
{
	const struct stacks_frame **frames = calloc(s->frames.n + 1, sizeof(*frames));
	size_t n = 0;
	int err = frames ? 0 : -ENOMEM;

	for (size_t i = 0; i < s->frames.n && frames; i++)
		if (s->frames.v[i].file && !(s->frames.v[i].flags & FRAME_PYTHON))
			frames[n++] = &s->frames.v[i];
	if (!err)
		err = ask_all(s, frames, n);
	free(frames);
	if (err == -ENOTSUP)
		log_error("cannot look up source lines: this gpuprof was built without libdw; "
			  "leave out --lines");
	else if (err)
		log_error("cannot look up source lines: %s", strerror(-err));
	return err == -ENOTSUP ? EXIT_UNSUPPORTED : err ? EXIT_FAIL : 0;
}

/* ---- reports --------------------------------------------------------------------------------- */

#define EVENTS_UNSHOWN 65536	/* between two looks at the clock */

struct reading {
	const struct capture_reader *from;
	const char *path;
	struct model *to;
	uint64_t events;
	uint64_t shown_ns;		/* when its progress was shown, at first when it began */
	bool is_quiet;
};

static void show_progress(struct reading *r)
{
	const uint64_t now_ns = time_now_ns();

	if (r->is_quiet || now_ns - r->shown_ns < NS_PER_SEC)
		return;
	r->shown_ns = now_ns;
	log_status("reading %s: %.0f %%, %s events", r->path, 100 * capture_progress(r->from),
		   count_text(r->events).s);
}

/* With the warnings of when it was recorded. */
static int push(void *reading, const struct event *ev)
{
	struct reading *r = reading;

	if (ev->kind == EVENT_NOTE && ev->note.severity == NOTE_WARNING && ev->note.text)
		note_log(ev->note.code ? ev->note.code : "", NOTE_WARNING, ev->pid, ev->note.text);
	if (++r->events % EVENTS_UNSHOWN == 0)
		show_progress(r);
	return model_push(r->to, ev);
}

static int explain_state(const struct capture_reader *r, const char *path)
{
	struct capture_counts n = capture_counts(r);

	switch (capture_state(r)) {
	case CAPTURE_COMPLETE:
		return EXIT_OK;
	case CAPTURE_CUT:
		log_warn("%s is incomplete: it ends without its end mark, so the recorder was "
			 "killed or the file was cut; %llu blocks were read", path,
			 (unsigned long long)n.blocks);
		return EXIT_PARTIAL;
	case CAPTURE_GROWING:
		log_warn("%s is still being recorded: this is what it holds so far, %llu blocks",
			 path, (unsigned long long)n.blocks);
		return EXIT_PARTIAL;
	default:
		log_warn("%s is damaged: %llu blocks with at least %llu events were skipped, "
			 "%llu blocks were read", path, (unsigned long long)n.bad_blocks,
			 (unsigned long long)n.bad_events, (unsigned long long)n.blocks);
		return EXIT_PARTIAL;
	}
}

#define START_NS 30000000	/* of a process, from two readings of procfs: clock ticks */

static bool runs(const struct snapshot_process *p)
{
	struct proc_stat stat;

	return proc_stat_of((pid_t)p->pid, &stat) &&
	       num_sub(stat.start_ns, p->start_ns) <= START_NS &&
	       num_sub(p->start_ns, stat.start_ns) <= START_NS;
}

void report_look_around(struct snapshot *snap, const char *capture)
{
	struct stat st;

	if (capture && !stat(capture, &st) && S_ISREG(st.st_mode) &&
	    strncmp(capture, "/dev/", 5) && strncmp(capture, "/proc/", 6))
		snap->capture = capture;
	for (size_t i = 0; i < snap->processes.n && proc_pids_are_hosts(); i++) {
		struct snapshot_process *p = &snap->processes.v[i];

		p->is_gone = !p->has_ended && !runs(p);
	}
}

int report_interval(const struct options *o, const struct model *m, uint64_t now_ns,
		    const struct snapshot *before, const struct report_state *how)
{
	struct snapshot *snap = snapshot_take(m, now_ns);
	int lines, rc;

	if (!snap) {
		log_error("cannot report: out of memory");
		return EXIT_FAIL;
	}
	report_look_around(snap, how ? how->capture : NULL);
	if (before)
		snapshot_subtract(snap, before);
	lines = o->lines ? find_lines(&snap->stacks) : 0;
	rc = report_print(&o->report, snap, how);
	snapshot_free(snap);
	return rc ? rc : lines;
}

int judge_model(const struct options *o, const struct model *m)
{
	struct snapshot *snap = snapshot_take(m, 0);
	int rc = snap ? report_judge(&o->report, snap) : EXIT_FAIL;

	snapshot_free(snap);
	return rc;
}

/* --from, --to. 0, EXIT_USAGE or EXIT_FAIL, logged. */
static int choose_part(const struct options *o, struct capture_reader *r, const char *path,
		       struct capture_part *part)
{
	struct capture_span span;
	int err = capture_read_span(r, &span);

	if (err) {
		log_error("cannot read %s: %s", path,
			  err == -ENODATA ? "it holds no time" : strerror(-err));
		return EXIT_FAIL;
	}
	return capture_part_choose(part, &span, &o->from, &o->to) ? EXIT_USAGE : 0;
}

static int report_capture(const struct options *o, const char *path, struct capture_reader *r,
			  struct model *m)
{
	struct reading reading = { .from = r, .path = path, .to = m,
				   .shown_ns = time_now_ns(), .is_quiet = o->quiet };
	struct report_state how = { .capture = path };
	struct capture_part part = { .to = { push, &reading } };
	/* A timeline is of a time that is known beforehand. */
	const bool is_part = o->from.is_given || o->to.is_given || o->report.timeline;
	int state, rc = is_part ? choose_part(o, r, path, &part) : 0, err;
	struct consumers consumers;

	if (rc)
		return rc;
	view_consumers(&consumers);
	if (o->report.timeline)
		consumers.v[consumers.n++] = &chart_consumer;
	if (o->report.format == FORMAT_TORCH_MEMORY)
		consumers.v[consumers.n++] = &torch_memory_consumer;
	if (report_has_page(&o->report)) {
		consumers.v[consumers.n++] = &html_moments_consumer;
		model_use_bins(m);
	}
	err = model_use_consumers(m, &consumers);
	if (!err)
		err = capture_read(r, is_part ? &(struct event_sink){ capture_part_push, &part } :
						&part.to);
	if (!err)
		err = model_finish(m);
	log_status("%s", "");
	if (err) {
		log_error("cannot read %s: %s", path, strerror(-err));
		return EXIT_FAIL;
	}
	state = explain_state(r, path);
	how.incomplete = state != EXIT_OK;
	rc = report_interval(o, m, 0, NULL, &how);
	return rc ? rc : state;
}

/* The newest .gpr file in the working directory. False: there is none. */
static bool find_newest(char newest[NAME_MAX + 1])
{
	DIR *dir = opendir(".");
	struct timespec at = { 0 };
	struct dirent *entry;
	struct stat st;

	*newest = '\0';
	while (dir && (entry = readdir(dir))) {
		if (!str_ends_in(entry->d_name, ".gpr") ||
		    fstatat(dirfd(dir), entry->d_name, &st, AT_SYMLINK_NOFOLLOW) ||
		    !S_ISREG(st.st_mode))
			continue;
		if (*newest &&
		    (st.st_mtim.tv_sec < at.tv_sec ||
		     (st.st_mtim.tv_sec == at.tv_sec && st.st_mtim.tv_nsec <= at.tv_nsec)))
			continue;
		at = st.st_mtim;
		snprintf(newest, NAME_MAX + 1, "%s", entry->d_name);
	}
	if (dir)
		closedir(dir);
	return *newest;
}

int verb_report(const struct options *o)
{
	const char *path = o->n_args ? o->args[0] : NULL;
	struct capture_reader *r;
	char newest[NAME_MAX + 1];
	struct model *m;
	int rc = report_check(&o->report);

	if (rc)
		return rc;
	if (!path && !find_newest(newest)) {
		log_error("'report' needs a capture, and no .gpr file is here; give one: "
			  "gpuprof report FILE");
		return EXIT_USAGE;
	}
	if (!path) {
		path = newest;
		log_info("%s is the newest capture here", path);
	}
	r = capture_open(path);
	if (!r)
		return EXIT_FAIL;
	/* Before anything of the capture is read. Source lines are in files of those who built the
	 * target. */
	caps_drop_others((o->lines || o->report.annotate ? 1ull << CAP_DAC_READ_SEARCH : 0) |
			 caps_of_output(o->report.output) | caps_of_output(o->report.html));
	m = model_new(capture_funcs(r));
	if (m && o->report.by == CALLS_BY_LAUNCH)
		model_use_launches(m);
	if (m)
		rc = report_capture(o, path, r, m);
	else
		log_error("cannot read %s: %s", path, strerror(errno));
	model_free(m);
	capture_free(r);
	return m ? rc : EXIT_FAIL;
}
