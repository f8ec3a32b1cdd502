/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The tables of design §9 that a model can fill. Each returns a new table (table_free) or NULL +
 * errno. A cell whose value is not known is left unknown, never zero. now: where books that are
 * still open are read (model_now, or the clock of a live session).
 */
#ifndef VIEW_VIEWS_H
#define VIEW_VIEWS_H

#include "ledger/model.h"
#include "view/table.h"

/* The name of process pid, or NULL: unknown. The cell of its number stays unknown where it stands for many
 * that ended (MODEL_PAST_PID): then the name says how many. */
const char *view_comm(const struct model *m, uint32_t pid);
void view_put_pid(struct cell *cell, uint32_t pid);

enum calls_by { CALLS_BY_FUNCTION, CALLS_BY_LAUNCH, CALLS_BY_RESULT, CALLS_BY_STACK };

/* pid comm function class count errors open bytes total_ns avg_ns p50_ns p99_ns max_ns grid block
 * result process_start_ns; by total_ns, descending. */
struct table *view_calls(const struct model *m, enum calls_by by);

/* pid tid comm bucket ns share blocked_ns wall_ns runqueue_ns (of blocked, at least, ready without a
 * CPU) birth_ns process_start_ns: a row per thread and bucket that is not empty; sum of ns = wall_ns. By pid, tid, birth, and ns descending. */
struct table *view_threads(const struct model *m, uint64_t now_ns);

/* pid user comm rank rank_source job pod container devices busy_share idle_cause launches_per_s
 * sync_share exposed_comm_share live_bytes (of devices) verdict (a finding of at least 5 %, or "none")
 * devices_source job_source pod_uid container_id runtime ns_pid cgroup start_ns cmdline; in the order
 * in which they were first seen. */
struct table *view_processes(const struct model *m, uint64_t now_ns);

/* pid device name bucket count total_ns avg_ns min_ns max_ns p50_ns p99_ns queue_p50_ns queue_p99_ns
 * registers ... limiter symbol: a row per symbol; by total_ns, descending. */
struct table *view_kernels(const struct model *m);

/* The same columns and captured_in captured_tid captured_range evidence: a row per symbol, grid, block,
 * and call that was captured into a graph. No quantiles. Empty unless model_use_launches was called. */
struct table *view_kernels_by_launch(const struct model *m);

/* pid comm device lane works busy_ns latency_p50_ns latency_p99_ns latency_max_ns depth_avg depth_max
 * wall_ns: a row per lane, before them one of all of a process and device that has several. */
struct table *view_lanes(const struct model *m, uint64_t now_ns);

/* pid device direction pinned count bytes total_ns gb_per_s (10^9 bytes); by total_ns. */
struct table *view_copies(const struct model *m);

/* pid nvtx_domain range kind count open wall_ns host_ns device_ns launches; by wall_ns. */
struct table *view_ranges(const struct model *m, uint64_t now_ns);

/* pid comm rank device device_uuid state bucket ns share busy_ns overlapped_ns wall_ns: a row per process,
 * device and bucket, or cause of state idle, that is not empty; sum of ns = wall_ns. By pid, device, and
 * ns descending. */
struct table *view_ledger(const struct model *m, uint64_t now_ns);

/* pid (none: of the device, whoever uses it) device severity finding share gain_bound cause evidence next;
 * the largest share first. */
struct table *view_findings(const struct model *m, uint64_t now_ns);

/* device device_uuid name owner pid ns share wall_ns sm_active_pct tensor_active_pct dram_active_pct
 * sm_occupancy_pct sampled_ns (of which the last four are means) source ("works"; "samples": by NVML)
 * users (pids, by NVML's last sample) power_w energy_j energy_ns (of so long) sm_mhz memory_mhz
 * power_device (whose these are; of an instance its GPU): a row per device of the host and owner
 * ("comm[pid]", shared, unwatched, untold, unknown, idle); sum of ns = wall_ns. Where the whole host is
 * watched, devices that no watched process uses follow: all of "samples", which cover wall_ns. */
struct table *view_devices(const struct model *m, uint64_t now_ns);

/* pid tid comm reason syscall file waker_pid waker_tid waker_comm count open total_ns blocked_ns
 * runqueue_ns max_ns stack: why threads were off the CPU outside calls; by total_ns, descending. */
struct table *view_offcpu(const struct model *m);

/* pid comm device kind stack live_bytes peak_bytes allocs frees failed leaked_bytes nvml_used_bytes since
 * frees_before unsized untracked incomplete (records were lost: no number is sure, leaked_bytes unknown): a row
 * per process, device and kind, or per stack too; by live_bytes. */
struct table *view_memory(const struct model *m, bool by_stack);

/* source kind hits received lost matched orphan late skew invalid */
struct table *view_events(const struct model *m);

#endif
