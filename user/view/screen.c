// SPDX-License-Identifier: BSD-3-Clause
/* Parts of the screen, from its top to its bottom; each knows how many lines it may have. */
#include "view/screen.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/num.h"
#include "base/units.h"
#include "base/utf8.h"
#include "event/device_number.h"
#include "findings/findings.h"
#include "view/device_bar.h"
#include "view/kernel_names.h"
#include "view/screen_calls.h"
#include "view/screen_line.h"
#include "view/view.h"
#include "view/words.h"

/* Findings of one name, of all processes and devices. */
struct group {
	const struct finding *first;	/* with the largest share */
	size_t n;
	double least;			/* share */
};

struct screen {
	const struct summary *s;
	const struct snapshot *snap;
	bool interval, knows_off_cpu;
	struct findings findings;
	struct group *groups;		/* of these */
	size_t n_groups;
	struct screen_line line;	/* that is being written */
};

enum {				/* lines */
	VERDICT_LINES = 4,	/* at most, with the one before */
	FINDINGS_LINES = 7,	/* ... that are kept for them, if there are as many */
	TIMES_LINES = 6,
	MORE_LINES = 3,
};

static bool is_wide(const struct screen *sc)
{
	return sc->line.width >= 90;
}

static bool is_narrow(const struct screen *sc)
{
	return sc->line.width < 60;
}

/* ---- title ----------------------------------------------------------------------------------- */

/* "12:04:05  ", here, when the interval ended */
static void add_time(struct screen *sc)
{
	const uint64_t offset_ns = snapshot_fact_number(sc->snap, "wall_offset_ns");
	const struct unit_text text = clock_text(num_add(sc->snap->now_ns, offset_ns));

	if (offset_ns && *text.s)
		strbuf_addf(&sc->line.text, "%s  ", text.s);
}

static void add_title(struct screen *sc)
{
	struct strbuf right = STRBUF_INIT;

	if (sc->interval)
		add_time(sc);
	summary_add_title(&sc->line.text, &right, sc->s);
	if (utf8_str_width(sc->line.text.s) + 2 + right.len <= sc->line.width)
		line_go_to(&sc->line, sc->line.width - right.len);
	else
		line_end(&sc->line);
	strbuf_addstr(&sc->line.text, right.s);
	sc->line.text.failed |= right.failed;
	strbuf_free(&right);
	line_end(&sc->line);
}

/* ---- verdict --------------------------------------------------------------------------------- */

static double speedup(double gain)
{
	return gain < 0.999 ? 1 / (1 - gain) : 1000;
}

/* The device that a finding is about, or NULL. */
static const struct snapshot_device *device_of(const struct snapshot *snap, const struct finding *f)
{
	for (size_t i = 0; f && i < snap->devices.n; i++)
		if (snap->devices.v[i].process == f->process &&
		    snap->devices.v[i].number == f->device)
			return &snap->devices.v[i];
	return NULL;
}

/* What shares of findings are of: where others use the device, too, it is the device's time. */
static uint64_t share_wall(const struct snapshot_device *s)
{
	return snapshot_host_is_shared(s->host) ?
		       s->host->sum.close_ns - s->host->sum.open_ns : device_bar_wall_ns(s);
}

static void add_loss(struct strbuf *out, const struct finding *f, const struct snapshot_device *s)
{
	const bool shared = snapshot_host_is_shared(s->host);
	const uint64_t wall_ns = share_wall(s);
	const uint64_t idle_ns = shared ? s->host->sum.idle_ns + s->host->sum.unknown_ns :
					  s->sum.idle_ns;
	const uint64_t unknown = shared ? s->host->sum.unknown_ns : device_bar_unknown_ns(s);

	strbuf_addf(out, "GPU %s was busy %s%s of the time. %s is lost to %s: %s. Without that: at "
		    "best %.2fx", device_text(s->number).s,
		    unknown * 100 >= wall_ns ? "at least " : "",
		    percent_text(num_ratio(num_sub(wall_ns, idle_ns), wall_ns)).s,
		    percent_text(f->share).s, f->name, f->cause.s, speedup(f->gain_bound));
	if (f->doubts)
		strbuf_addf(out, "; but %.*s", (int)f->doubts, f->evidence.s);
	else if (finding_is_own(f))
		strbuf_addstr(out, "; most of it may be gpuprof's own cost");
	strbuf_addch(out, '.');
}

void screen_verdict_add(struct strbuf *out, const struct snapshot *snap,
			const struct findings *findings, const char *verdict)
{
	const struct finding *f = findings->all.n ? &findings->all.v[0] : NULL;
	const struct snapshot_device *s = device_of(snap, f);
	const char *evidence = strstr(verdict, "\nEvidence: "), *next = strstr(verdict, "\nNext: ");
	const char *end = evidence ? evidence : next ? next : verdict + strlen(verdict);
	const char *line = end;

	while (line > verdict && line[-1] != '\n')
		line--;
	if (evidence && s && f->has_share && !f->is_severe) {
		if (line > verdict)	/* how the command ended */
			strbuf_addf(out, "%.*s ", (int)(line - verdict - 1), verdict);
		add_loss(out, f, s);
		return;
	}
	for (const char *c = verdict; c < end; c++)
		strbuf_addch(out, *c == '\n' ? ' ' : *c);	/* which would be made visible */
}

static void add_verdict(struct screen *sc, const char *verdict)
{
	struct strbuf text = STRBUF_INIT;

	if (!*verdict)
		return;
	screen_verdict_add(&text, sc->snap, &sc->findings, verdict);
	if (!sc->interval)
		line_end(&sc->line);
	line_set_color(&sc->line, LINE_BOLD);
	line_add_sentences(&sc->line, text.s,
			   num_max(VERDICT_LINES, is_narrow(sc) ? sc->line.left / 2 : 0));
	line_set_color(&sc->line, LINE_PLAIN);
	sc->line.out->failed |= text.failed;
	strbuf_free(&text);
}

/* Why there is no verdict, by the report's notes. */
static void add_reasons(struct screen *sc, const struct notes *notes)
{
	for (size_t i = 0; i < notes->all.n && sc->line.left > 2; i++) {
		const struct note *n = &notes->all.v[i];

		if (strcmp(n->code, note_name(NOTE_NO_CALLS)) != 0 &&
		    strcmp(n->code, note_name(NOTE_CHILDREN_NOT_FOLLOWED)) != 0 &&
		    strcmp(n->code, note_name(NOTE_DEVICE_TIMES_MISSING)) != 0)
			continue;
		line_end(&sc->line);
		line_add_sentences(&sc->line, n->text, VERDICT_LINES);
	}
}

/* ---- bars ------------------------------------------------------------------------------------ */

#define LABEL 10
#define RIGHT 12	/* behind the bar: a time */

/* Behind a label: the parts in proportion to their times, and all of it. */
static void add_parts(struct screen *sc, const struct bar_part *parts, const uint64_t *ns, size_t n)
{
	const size_t room = sc->line.width - LABEL, width = is_narrow(sc) ? room : room - RIGHT;
	uint64_t wall_ns;

	line_go_to(&sc->line, LABEL);
	wall_ns = line_add_bar(&sc->line, parts, ns, n, width);
	line_go_to(&sc->line, LABEL + width);
	if (!is_narrow(sc))
		line_add_field(&sc->line, ns_text(wall_ns).s, RIGHT, true);
	line_end(&sc->line);
}

/* Largest first, those of 1 % and more that fit in whole. */
static void add_causes(struct screen *sc, const struct device_bar *b)
{
	uint64_t left[IDLE_CAUSES];
	const char *before = ": ";
	char text[48];

	memcpy(left, b->s->idle_ns, sizeof(left));
	left[IDLE_UNKNOWN] = left[IDLE_LOST] = left[IDLE_UNARMED] = 0;
	for (unsigned int n = 0; n < 3; n++) {
		unsigned int most = 0;

		for (unsigned int i = 0; i < IDLE_CAUSES; i++)
			if (left[i] > left[most])
				most = i;
		if (left[most] * 100 < b->wall_ns)
			break;
		snprintf(text, sizeof(text), "%s%s %.0f %%", before, idle_name(most),
			 100 * num_ratio(left[most], b->wall_ns));
		if (utf8_str_width(sc->line.text.s) + strlen(text) > sc->line.width)
			break;
		strbuf_addstr(&sc->line.text, text);
		left[most] = 0;
		before = ", ";
	}
}

static void add_bar(struct screen *sc, const struct device_bar *b)
{
	const char *comm = view_comm(sc->snap, b->s->process);

	strbuf_addf(&sc->line.text, "GPU %s", device_text(b->s->number).s);
	if (b->alike)
		strbuf_addf(&sc->line.text, "-%s", device_text(b->last).s);
	add_parts(sc, device_parts, b->ns, DEVICE_PARTS);
	line_go_to(&sc->line, LABEL);
	if (b->alike)
		strbuf_addf(&sc->line.text, "%zu alike  ", b->alike + 1);
	else if (sc->snap->processes.n > 1)
		format_safef(&sc->line.text, "%s (pid %u)  ", comm ? comm : "", b->s->pid);
	for (unsigned int i = 0; i < DEVICE_PARTS; i++) {
		if (b->ns[i] * 200 < b->wall_ns)
			continue;
		line_add_part(&sc->line, &device_parts[i], b->ns[i], b->wall_ns);
		if (i == DEVICE_PART_IDLE)
			add_causes(sc, b);
		strbuf_addstr(&sc->line.text, "  ");
	}
	line_end(&sc->line);
}

static void add_strip(struct screen *sc, const struct strip *strip)
{
	const size_t width = sc->line.width - LABEL - RIGHT;
	uint64_t column_ns;

	strbuf_addstr(&sc->line.text, "busy");
	line_go_to(&sc->line, LABEL);
	column_ns = line_add_strip(&sc->line, strip, sc->snap->since_ns, sc->snap->now_ns, width);
	line_add_field(&sc->line, ns_text(column_ns).s, RIGHT, true);
	line_end(&sc->line);
}

/* strips_keep: so many lines below them are not for strips. */
static void add_bars(struct screen *sc, const struct snapshot_device *first, size_t strips_keep)
{
	const size_t findings = sc->findings.all.n ? sc->findings.all.n + 3 : 0;
	const size_t kept = sc->interval ? 3 : num_min(findings, FINDINGS_LINES) + TIMES_LINES;
	const size_t most = num_max(num_sub(sc->line.left, kept), 3);
	struct device_bar *v = calloc(sc->snap->devices.n + 1, sizeof(*v));
	size_t n = 0, shown, strips;

	sc->line.out->failed |= !v;
	for (size_t i = 0; v && i < sc->snap->devices.n; i++) {
		if (!snapshot_device_has_worked(&sc->snap->devices.v[i]))
			continue;
		v[n] = device_bar_read(&sc->snap->devices.v[i]);
		v[n++].is_first = &sc->snap->devices.v[i] == first;
	}
	if (n) {
		n = device_bars_fold(v, n);
		if (!sc->interval)
			line_end(&sc->line);
	}
	shown = n * 2 + 1 > most ? (most - 2) / 2 + (most == 3) : n;
	shown = num_min(shown, n);
	strips = shown == n && !is_narrow(sc) ? num_sub(sc->line.left, n * 2 + strips_keep) : 0;
	for (size_t i = 0; i < shown; i++) {
		add_bar(sc, &v[i]);
		if (i < strips && !sc->interval)
			add_strip(sc, &v[i].s->strip);
	}
	if (shown < n) {
		strbuf_addf(&sc->line.text, "%zu more (--table ledger)", n - shown);
		line_end(&sc->line);
	}
	free(v);
}

/* ---- findings -------------------------------------------------------------------------------- */

static const char *title_of(const struct finding *f)
{
	const struct word *w = word_of_finding(f->name);

	return w ? w->title : f->name;
}

static int read_groups(struct screen *sc)
{
	const struct findings *f = &sc->findings;
	struct group *groups = sc->groups = calloc(f->all.n + 1, sizeof(*groups));
	size_t n = 0;

	if (!groups)
		return -ENOMEM;
	for (size_t i = 0; i < f->all.n; i++) {
		const struct finding *one = &f->all.v[i];
		size_t at = 0;

		while (at < n && strcmp(groups[at].first->name, one->name) != 0)
			at++;
		if (at == n)
			groups[n++] = (struct group){ one, 0, one->share };
		groups[at].n++;
		groups[at].least = one->share;
	}
	sc->n_groups = n;
	return 0;
}

/* "trainer_step < look", or where that is too long "look"; "train.py:212 in step" or
 * "train.py:212". */
static void add_function(struct strbuf *text, const struct finding *f, size_t width)
{
	const size_t length = strlen(f->where);
	const char *in = length > width ? strstr(f->where, " in ") : NULL;

	if (f->where_caller && strlen(f->where_caller) + strlen(" < ") + length <= width)
		format_safef(text, "%s < ", f->where_caller);
	format_safef(text, "%.*s", (int)(in ? in - f->where : (ptrdiff_t)length), f->where);
}

/* One of them, by its function or its thread; or how many, and the smallest share. */
static void add_where(struct screen *sc, const struct group *g, size_t width)
{
	const struct finding *f = g->first;
	const char *comm = f->tid ? snapshot_thread_comm(sc->snap, f->process, f->tid) :
				    view_comm(sc->snap, f->process);
	struct strbuf text = STRBUF_INIT;

	if (g->n > 1)
		strbuf_addf(&text, "%zu%s%s", g->n, f->has_share ? ", from " : " of them",
			    f->has_share ? percent_text(g->least).s : "");
	else if (f->where)
		add_function(&text, f, width);
	else if (f->tid)
		format_safef(&text, "%u%s%s%s", f->tid, comm ? " (" : "", comm ? comm : "",
			     comm ? ")" : "");
	else if (f->pid)
		format_safef(&text, "pid %u%s%s%s", f->pid, comm ? " (" : "", comm ? comm : "",
			     comm ? ")" : "");
	line_add_field(&sc->line, text.s, width, false);
	sc->line.text.failed |= text.failed;
	strbuf_free(&text);
}

static void add_finding(struct screen *sc, size_t number, const struct group *g)
{
	const struct finding *f = g->first;
	char text[64] = "";

	snprintf(text, sizeof(text), "%2zu", number);
	line_add_field(&sc->line, text, 3, false);
	line_set_color(&sc->line, line_color_of_severity(finding_severity(f)));
	line_add_field(&sc->line, f->has_share ? percent_text(f->share).s : "-", 7, true);
	line_set_color(&sc->line, LINE_PLAIN);
	snprintf(text, sizeof(text), f->has_share ? "%.2fx" : "-", speedup(f->gain_bound));
	if (!is_narrow(sc))
		line_add_field(&sc->line, text, 9, true);
	strbuf_addstr(&sc->line.text, "  ");
	line_add_field(&sc->line, f->name, 18, false);
	if (is_wide(sc))
		line_add_field(&sc->line, title_of(f), 24, false);
	add_where(sc, g, 20);
	if (f->times && f->has_share)
		strbuf_addf(&sc->line.text, " %s%s%s", short_count_text(f->times).s,
			    f->each_ns ? " x " : "", f->each_ns ? ns_text(f->each_ns).s : "");
	line_end(&sc->line);
}

/* Time of different findings of one book does not overlap, but what a graph saves is in both of
 * these. */
static bool is_in_sum(const struct finding *f, const struct finding *first)
{
	return f->has_share && f->process == first->process && f->device == first->device &&
	       strcmp(f->name, "small-kernels") != 0;
}

static void add_sum(struct screen *sc)
{
	const struct finding *first = &sc->findings.all.v[0];
	const struct snapshot_device *s = device_of(sc->snap, first);
	double gain = 0;
	size_t n = 0;

	for (size_t i = 0; s && i < sc->findings.all.n; i++) {
		const struct finding *f = &sc->findings.all.v[i];

		if (!is_in_sum(f, first))
			continue;
		gain += f->gain_bound - f->gain_of_others;
		n++;
	}
	if (n < 2 || gain >= 0.999)
		return;
	strbuf_addf(&sc->line.text, "    all %zu findings of GPU %s", n, device_text(s->number).s);
	if (sc->snap->processes.n > 1)
		strbuf_addf(&sc->line.text, ", pid %u,", s->pid);
	strbuf_addf(&sc->line.text, " fixed: at best %.2fx (%s instead of %s)", speedup(gain),
		    ns_text((uint64_t)((1 - gain) * (double)share_wall(s))).s,
		    ns_text(share_wall(s)).s);
	line_end(&sc->line);
}

static bool names_functions(const struct screen *sc, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (sc->groups[i].n == 1 && sc->groups[i].first->where)
			return true;
	return false;
}

/* So many lines are for what follows. */
static void add_findings(struct screen *sc, size_t kept)
{
	const size_t n = sc->n_groups;
	const size_t most = num_max(num_sub(sc->line.left, kept), num_min(sc->line.left, 4));
	const size_t shown = num_min(n, num_sub(most, 3));

	if (!shown)
		return;
	if (!sc->interval)
		line_end(&sc->line);
	strbuf_addf(&sc->line.text, " %-2s%7s%s  %-18s", "#", "lost",
		    is_narrow(sc) ? "" : "  at best", "finding");
	if (is_wide(sc))
		strbuf_addf(&sc->line.text, "%-24s", "what is wrong");
	strbuf_addf(&sc->line.text, "%-20s how often",
		    names_functions(sc, shown) ? "where" : "where (thread)");
	line_end(&sc->line);
	for (size_t i = 0; i < shown; i++)
		add_finding(sc, i + 1, &sc->groups[i]);
	if (shown < n)
		strbuf_addf(&sc->line.text, "    %zu more (--table findings)", n - shown);
	if (shown < n)
		line_end(&sc->line);
	else
		add_sum(sc);
}

/* ---- time of a device, and its kernels ------------------------------------------------------- */

struct time_row {
	const char *name;
	uint64_t ns;
};

static int compare_rows(const void *a, const void *b)
{
	const struct time_row *x = a, *y = b;

	return x->ns < y->ns ? 1 : -(x->ns > y->ns);
}

/* Buckets of the book, the largest first. */
static size_t read_rows(const struct snapshot_device *s, struct time_row *rows)
{
	uint64_t ns[DEVICE_BUCKETS_END] = { 0 };
	size_t n = 0;

	for (unsigned int i = 0; i < DEVICE_BUCKETS_END; i++)
		ns[device_bucket_row(i)] += s->sum.owned_ns[i];
	for (unsigned int i = 0; i < DEVICE_BUCKETS_END; i++)
		if (ns[i])
			rows[n++] = (struct time_row){ device_bucket_name(i), ns[i] };
	if (s->sum.idle_ns > device_bar_unknown_ns(s))
		rows[n++] = (struct time_row){ "idle", s->sum.idle_ns - device_bar_unknown_ns(s) };
	if (device_bar_unknown_ns(s))
		rows[n++] = (struct time_row){ "unknown", device_bar_unknown_ns(s) };
	qsort(rows, n, sizeof(*rows), compare_rows);
	return n;
}

static int compare_kernels(const void *a, const void *b)
{
	const struct kernel_stats *const *x = a, *const *y = b;

	return (*x)->time.total < (*y)->time.total ? 1 : -((*x)->time.total > (*y)->time.total);
}

#define LEFT 48

/* all_ns: of all kernels, which may run side by side */
static void add_kernel(struct screen *sc, const struct kernel_stats *k, const char *name,
		       uint64_t all_ns)
{
	struct strbuf safe = STRBUF_INIT;

	format_safef(&safe, "%s", name);
	line_add_field(&sc->line, safe.s, sc->line.width - LEFT - 28, false);
	line_add_field(&sc->line, short_count_text(k->time.count).s, 8, true);
	line_add_field(&sc->line, ns_text(k->time.total / k->time.count).s, 11, true);
	line_add_field(&sc->line, percent_text(num_ratio(k->time.total, all_ns)).s, 9, true);
	sc->line.text.failed |= safe.failed;
	strbuf_free(&safe);
}

static void add_times(struct screen *sc, const struct snapshot_device *s)
{
	struct time_row rows[DEVICE_BUCKETS_END + 2];
	const size_t n_rows = read_rows(s, rows), n_kernels = kernels_count(&s->kernels);
	const struct kernel_stats **kernels = calloc(n_kernels + 1, sizeof(kernels[0]));
	const bool both = is_wide(sc);
	const size_t lines = num_min(num_max(n_rows, both ? n_kernels : 0),
				     num_sub(sc->line.left, 2));
	const uint64_t all_ns = kernels_total_ns(&s->kernels);
	struct kernel_names *names = kernel_names_new(sc->snap);

	sc->line.out->failed |= !kernels || !names;
	if (!kernels || !names || !lines) {
		kernel_names_free(names);
		free(kernels);
		return;
	}
	for (size_t i = 0; i < n_kernels; i++)
		kernels[i] = kernels_at(&s->kernels, i);
	qsort(kernels, n_kernels, sizeof(kernels[0]), compare_kernels);
	line_end(&sc->line);
	strbuf_addf(&sc->line.text, "time of GPU %s", device_text(s->number).s);
	if (sc->snap->processes.n > 1)
		strbuf_addf(&sc->line.text, ", pid %u", s->pid);
	if (both && n_kernels) {
		line_go_to(&sc->line, LEFT);
		line_add_field(&sc->line, "kernels", sc->line.width - LEFT - 28, false);
		strbuf_addf(&sc->line.text, "%8s%11s%9s", "count", "avg", "of all");
	}
	line_end(&sc->line);
	for (size_t i = 0; i < lines; i++) {
		if (i < n_rows) {
			const double share = num_ratio(rows[i].ns, device_bar_wall_ns(s));

			strbuf_addstr(&sc->line.text, " ");
			line_add_field(&sc->line, rows[i].name, is_narrow(sc) ? 10 : 13, false);
			if (!is_narrow(sc))
				line_add_field(&sc->line, ns_text(rows[i].ns).s, 11, true);
			line_add_field(&sc->line, percent_text(share).s, 9, true);
			strbuf_addstr(&sc->line.text, "  ");
			if (sc->line.width >= 32)
				line_add_share(&sc->line, share, 10);
		}
		line_go_to(&sc->line, LEFT);
		if (both && i < n_kernels)
			add_kernel(sc, kernels[i], kernel_names_of(names, kernels[i]->name),
				   all_ns);
		line_end(&sc->line);
	}
	kernel_names_free(names);
	free(kernels);
}

/* ---- without devices: threads --------------------------------------------------------------- */

/* Of a thread's time: what it did, as far as its bar shows. */
enum thread_part { LAUNCHING, WAITING, CALLS, RUNNING, NO_CALL, OFF, UNSEEN, THREAD_PARTS };

static const struct bar_part thread_parts[THREAD_PARTS] = {
	[LAUNCHING] = { "launch", "╱", "l", LINE_GREEN },
	[WAITING] = { "sync", "░", "s", LINE_CYAN },
	[CALLS] = { "other calls", "▒", "o", LINE_MAGENTA },
	[RUNNING] = { "on a CPU", "▚", "r", LINE_PLAIN },
	[NO_CALL] = { "in no call", "▚", "n", LINE_PLAIN },
	[OFF] = { "off the CPU", "·", ".", LINE_PLAIN },
	[UNSEEN] = { "unknown", "?", "?", LINE_PLAIN },
};

static enum thread_part part_of(unsigned int bucket)
{
	if (bucket == CLASS_LAUNCH)
		return LAUNCHING;
	if (bucket == CLASS_SYNC)
		return WAITING;
	if (bucket == CLASS_OTHER || bucket == BUCKET_GPUPROF)
		return RUNNING;
	if (bucket < CLASS_END)
		return CALLS;
	return bucket_is_off(bucket) ? OFF : UNSEEN;
}

static uint64_t drive_ns(const struct snapshot_thread *t)
{
	return t->has_book && !t->past ? t->book.ns[CLASS_LAUNCH] + t->book.ns[CLASS_SYNC] : 0;
}

static int compare_threads(const void *a, const void *b)
{
	const uint64_t x = drive_ns(*(const struct snapshot_thread *const *)a),
		       y = drive_ns(*(const struct snapshot_thread *const *)b);

	return x < y ? 1 : -(x > y);
}

static void add_thread(struct screen *sc, const struct snapshot_thread *t)
{
	const uint64_t wall_ns = t->book.close_ns - t->book.open_ns;
	uint64_t ns[THREAD_PARTS] = { 0 };

	for (unsigned int i = 0; i < BUCKET_END; i++)
		ns[part_of(i)] += t->book.ns[i];
	if (!sc->knows_off_cpu) {
		ns[OFF] = num_min(t->sampled_ns, ns[RUNNING]);
		ns[NO_CALL] = ns[RUNNING] - ns[OFF];
		ns[RUNNING] = 0;
	}
	strbuf_addf(&sc->line.text, "%u", t->tid);
	add_parts(sc, thread_parts, ns, THREAD_PARTS);
	line_go_to(&sc->line, LABEL);
	format_safef(&sc->line.text, "%s: ", t->comm[0] ? t->comm : t->process_comm);
	for (unsigned int i = 0; i < THREAD_PARTS; i++)
		if (ns[i]) {
			line_add_part(&sc->line, &thread_parts[i], ns[i], wall_ns);
			strbuf_addstr(&sc->line.text, "  ");
		}
	line_end(&sc->line);
}

/* Those that launch and wait most: they drive the devices, as far as is known. */
static void add_threads(struct screen *sc)
{
	const struct snapshot_thread **v = calloc(sc->snap->threads.n + 1, sizeof(v[0]));
	const size_t kept = sc->interval ? 1 : FINDINGS_LINES + TIMES_LINES;
	const size_t most = num_sub(sc->line.left, kept) / 2;
	size_t n = 0;

	sc->line.out->failed |= !v;
	for (size_t i = 0; v && i < sc->snap->threads.n; i++)
		if (drive_ns(&sc->snap->threads.v[i]))
			v[n++] = &sc->snap->threads.v[i];
	if (n) {
		qsort(v, n, sizeof(v[0]), compare_threads);
		if (!sc->interval)
			line_end(&sc->line);
		strbuf_addf(&sc->line.text, "thread%s that launch%s and wait%s", n > 1 ? "s" : "",
			    n > 1 ? "" : "es", n > 1 ? "" : "s");
		line_end(&sc->line);
	}
	for (size_t i = 0; i < num_min(n, most); i++)
		add_thread(sc, v[i]);
	if (n > most) {
		strbuf_addf(&sc->line.text, "%zu more (--table threads)", n - most);
		line_end(&sc->line);
	}
	free(v);
}

/* ---- next and more --------------------------------------------------------------------------- */

/* So many the next command takes, which is not cut. */
static size_t next_lines(const char *verdict, size_t width)
{
	const char *next = strstr(verdict, "Next: ");

	return next ? 1 + strcspn(next, "\n") / width : 1;
}

static void add_more(struct screen *sc, const char *verdict)
{
	static const char page[] = "   --html run.html: a page to send";
	const char *next = strstr(verdict, "Next: ");
	const struct finding *f = sc->findings.all.n ? &sc->findings.all.v[0] : NULL;

	if (sc->interval)
		return;
	strbuf_addch(sc->line.out, '\n');
	if (next)	/* whole, however long: it is to be copied */
		strbuf_addf(sc->line.out, "next   %.*s\n", (int)strcspn(next + 6, "\n"), next + 6);
	strbuf_addstr(&sc->line.text, "more   --full: all tables");
	if (f)
		strbuf_addf(&sc->line.text, "   words: gpuprof help %s", f->name);
	if (sc->line.text.len + strlen(page) <= sc->line.width)
		strbuf_addstr(&sc->line.text, page);
	line_end(&sc->line);
}

/* ---- all of it ------------------------------------------------------------------------------- */

static double unknown_share(const struct snapshot_device *s)
{
	return num_ratio(device_bar_unknown_ns(s), device_bar_wall_ns(s));
}

/* The device of the first finding; else of those that have worked the one least is known of. */
static const struct snapshot_device *first_device(const struct screen *sc)
{
	const struct snapshot_device *s =
		sc->findings.all.n ? device_of(sc->snap, &sc->findings.all.v[0]) : NULL;
	const struct snapshot_device *most = NULL;

	if (s && snapshot_device_has_worked(s))
		return s;
	for (size_t i = 0; i < sc->snap->devices.n; i++) {
		s = &sc->snap->devices.v[i];
		if (snapshot_device_has_worked(s) &&
		    (!most || unknown_share(s) > unknown_share(most)))
			most = s;
	}
	return most;
}

/* Of the lines below bars, those that are worth more than when a device was busy: all findings,
 * and four rows of times on a wide screen, else all. */
static size_t strips_keep(const struct screen *sc, const struct snapshot_device *s)
{
	struct time_row rows[DEVICE_BUCKETS_END + 2];
	const size_t findings = sc->n_groups ? sc->n_groups + 3 : 0;
	const size_t times = is_wide(sc) ? 0 : read_rows(s, rows) + 2;

	return findings + num_max(times, TIMES_LINES);
}

int screen_add(struct strbuf *out, const struct summary *s, const char *verdict,
	       const struct notes *notes, const struct screen_shape *shape)
{
	const size_t columns = num_max(shape->columns, SCREEN_COLUMNS_MIN);
	const size_t lines = num_min(num_max(shape->lines, SCREEN_LINES_MIN), SCREEN_LINES);
	struct screen sc = {
		.s = s, .snap = s->snap, .interval = shape->interval,
		.knows_off_cpu = snapshot_knows_off_cpu(s->snap),
		.line = { .text = STRBUF_INIT, .out = out, .ascii = shape->ascii,
			  .has_color = shape->has_color,
			  .width = num_min(columns, SCREEN_COLUMNS), .left = lines - MORE_LINES } };
	const struct snapshot_device *device;
	int err = findings_read(&sc.findings, s->snap);

	if (sc.interval)
		sc.line.left = SCREEN_INTERVAL_LINES;
	else
		sc.line.left = num_sub(sc.line.left, next_lines(verdict, sc.line.width) - 1);
	if (!err)
		err = read_groups(&sc);
	if (!err) {
		device = first_device(&sc);
		add_title(&sc);
		add_verdict(&sc, verdict);
		if (!*verdict)
			add_reasons(&sc, notes);
		if (device)
			add_bars(&sc, device, strips_keep(&sc, device));
		else
			add_threads(&sc);
		add_findings(&sc, sc.interval ? 0 : TIMES_LINES);
		if (sc.interval)
			;
		else if (device)
			add_times(&sc, device);
		else
			screen_calls_add(&sc.line, sc.snap);
		add_more(&sc, verdict);
	}
	free(sc.groups);
	findings_free(&sc.findings);
	line_free(&sc.line);
	return err ? err : out->failed ? -ENOMEM : 0;
}
