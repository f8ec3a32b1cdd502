/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The books of devices and threads over time, as the data that the page's script draws. A device's
 * strip is followed by those of the threads of its process, in one order of time: all bins of all
 * strips are of one width. Names are texts of json; no other place in it has a '<'.
 *
 *   {"wall_ns": 2432408390, "bin_ns": 2097152, "left_out": 0, "strips": [
 *    {"gpu": "0", "pid": 12, "comm": "train", "from_ns": 0, "rows": [
 *     ["compute", "gemm", [0, 120034, -3, 99]], ["idle", "lock", [2097152, 1977118]]]},
 *    {"tid": 12, "pid": 12, "comm": "train", "from_ns": 0, "rows": [["call", "sync", [...]]]}]}
 *
 * The numbers of a row are nanoseconds of one bin after the other, and -n stands for n bins of
 * none. They add up to the bucket in the tables `ledger` and `threads`, to the nanosecond: what is
 * known as a sum only (time that another process had the device, gpuprof's own cost) is taken
 * evenly from where it may have been.
 */
#ifndef VIEW_HTML_STRIPS_H
#define VIEW_HTML_STRIPS_H

#include "view/summary.h"

#define HTML_STRIPS_BYTES 700000	/* more, and bins become wider */

/* Does the page show the device? It worked, or may have. */
static inline bool html_shows_device(const struct snapshot_device *d)
{
	return d->has_book && d->sum.close_ns > d->sum.open_ns &&
	       (snapshot_device_has_worked(d) || idle_unknown_ns(d->idle_ns));
}

/* 0 or -ENOMEM. */
int html_strips_add(struct strbuf *out, const struct summary *s);

#endif
