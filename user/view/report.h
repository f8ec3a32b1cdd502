/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * From a snapshot to a printed report. stat, the interval mode and report all print here, from the
 * snapshot alone, so that the same events give the same bytes.
 *
 * Session facts (EVENT_FACT) that are read, all optional:
 *   host             name of the host
 *   version          of the gpuprof that measured
 *   kernel           release of the kernel
 *   sources          what the events came from: "uprobe", "cupti", and how calls were known by it
 *   without_probes   why there were none, and how to have them
 *   target           what was asked for: "pid 12,13", a command, "all processes"
 *   command          that gpuprof started, as a shell takes it, or "CMD"
 *   sudo             "yes" when who measured was root by sudo, as who reads it is not
 *   attach           kind of probes: "session", "multi"
 *   wall_offset_ns   CLOCK_REALTIME - CLOCK_MONOTONIC, decimal
 *   cost_per_hit_ns  calibrated cost of one recorded call, decimal
 *   cost_per_nested_ns  of one that was hit and not recorded, decimal
 *   nested           how many those were, decimal
 *   driver_version   of NVIDIA's driver, by NVML: "580.65.06"
 *   cuda_version     of the driver's CUDA, by the helper: "13.0"
 *   nvml             what is read by NVML: "driver 580.65, 8 devices, activity by GPM"
 *   nvml_missing     why some of it is not
 *   part             of the capture's time, that the snapshot is of: "1.000 s to 2.500 s"
 *   part_options     which it was asked for with: "--from 1s --to 2.5s"
 *   no_calls         why there may be no call at all
 *   children         "not followed" when children are only named
 * Counters (EVENT_COUNT): all are records (hits, received, lost).
 */
#ifndef VIEW_REPORT_H
#define VIEW_REPORT_H

#include <stdbool.h>
#include <stdint.h>

#include "model/snapshot.h"
#include "view/output.h"
#include "view/render.h"
#include "view/screen.h"

/* Is text in colour? auto: on a terminal. */
enum color_when { COLOR_AUTO, COLOR_ALWAYS, COLOR_NEVER };

struct report_options {
	const char *tables;		/* "calls,threads"; NULL: the default ones */
	const char *sort;		/* column; NULL: each table's own order */
	const char *filter;		/* extended regex on names; NULL none */
	const char *output;		/* file; NULL: standard output */
	const char *html;		/* this file becomes a page of it, too (view/html.h) */
	int format;			/* enum format of view/render.h */
	int color;			/* enum color_when */
	int by;				/* enum calls_by of view/view.h */
	uint64_t top;			/* rows of each table; 0: all */
	double prune;			/* of the table gemm: no rows with a smaller share */
	bool wide;			/* text, md: all columns */
	bool full;			/* text: all tables, even if none were asked for */
	bool timeline;			/* text: what was when (view/chart.h) */
	const char *annotate;		/* text: this source, line by line (view/annotate.h) */
	double max_loss;		/* share, 0..1 */
};

/* Of what shows standard output (path NULL): the terminal's; else as COLUMNS and LINES say. */
struct screen_shape report_screen_shape(const char *path);

struct report_state {
	const char *capture;	/* the file that keeps the events; NULL: none */
	bool incomplete;	/* the capture was cut or damaged */
	/* not the first report of this output: set apart by an empty line */
	bool again;
	bool unjudged;		/* more follow: report_judge judges the loss at the end */
};

static inline bool report_is_colored(const struct report_options *o)
{
	return o->color == COLOR_AUTO ? !o->output && output_is_colored() :
					o->color == COLOR_ALWAYS;
}

/* Before measuring or reading: are tables, sort and filter valid, can output be written?
 * EXIT_OK, or an exit code and a logged error. */
int report_check(const struct report_options *o);
/* which report_check has found good */
bool report_shows_stacks(const struct report_options *o);
/* Of the whole model, before the first event (view/html.h)? */
static inline bool report_has_page(const struct report_options *o)
{
	return o->html || o->format == FORMAT_HTML;
}

/* Prints the report to o->output or standard output. state may be NULL. EXIT_OK, EXIT_FAIL,
 * EXIT_USAGE, or EXIT_PARTIAL: printed, but more than max_loss was lost. */
int report_print(const struct report_options *o, const struct snapshot *snap,
		 const struct report_state *state);

/* Prints nothing on standard output: EXIT_OK, or EXIT_PARTIAL as report_print would judge. */
int report_judge(const struct report_options *o, const struct snapshot *snap);

#endif
