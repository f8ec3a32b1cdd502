// SPDX-License-Identifier: BSD-3-Clause
/*
 * The table `processes`: the identity of each process, its launch rate, the share of its
 * threads' time spent waiting for a device, and its devices' activity. Reads a snapshot; knows
 * nothing of where identities come from.
 */
#include <stdlib.h>

#include "base/num.h"
#include "base/str.h"
#include "base/time.h"
#include "event/device_number.h"
#include "findings/findings.h"
#include "facts/memory_calls.h"
#include "model/own_cost.h"
#include "view/view.h"

enum { PID, USER, COMM, RANK, RANK_SOURCE, JOB, POD, CONTAINER, DEVICES, BUSY_SHARE, IDLE_CAUSE,
       LAUNCHES_PER_S, SYNC_SHARE, EXPOSED_COMM_SHARE, LIVE_BYTES, VERDICT, DEVICES_SOURCE,
       JOB_SOURCE, POD_UID, CONTAINER_ID, RUNTIME, NS_PID, CGROUP, START, CMDLINE, N_COLUMNS };

static const struct column columns[N_COLUMNS] = {
	[PID] = COLUMN_PID,
	[USER] = { "user", NULL, CELL_TEXT, 0, ROLE_LABEL, "user that the process runs as" },
	[COMM] = COLUMN_COMM,
	[RANK] = { "rank", NULL, CELL_ID, 0, ROLE_LABEL, "number of the process in its job" },
	[RANK_SOURCE] = { "rank_source", NULL, CELL_TEXT, 0, ROLE_LABEL, "where the rank is from" },
	[JOB] = { "job", NULL, CELL_TEXT, 0, ROLE_LABEL, "job of the cluster scheduler" },
	[POD] = { "pod", NULL, CELL_TEXT, 0, ROLE_LABEL, "Kubernetes pod" },
	[CONTAINER] = { "container", NULL, CELL_TEXT, 0, ROLE_LABEL, "name of the container" },
	[DEVICES] = { "devices", NULL, CELL_TEXT, 0, ROLE_LABEL, "devices that it uses" },
	[BUSY_SHARE] = { "busy_share", "busy", CELL_SHARE, 0, ROLE_SHARE,
		"of its devices' time with any work" },
	[IDLE_CAUSE] = { "idle_cause", "idle by", CELL_TEXT, 0, ROLE_LABEL,
		"bucket that most of its devices' idle time is in" },
	[LAUNCHES_PER_S] = { "launches_per_s", "launches/s", CELL_REAL, 0, ROLE_MEAN,
		"launches a second, of the time in which they were probed" },
	[SYNC_SHARE] = { "sync_share", "sync", CELL_SHARE, 0, ROLE_SHARE,
		"of its threads' time in sync calls" },
	[EXPOSED_COMM_SHARE] = { "exposed_comm_share", "exposed comm", CELL_SHARE, 0, ROLE_SHARE,
		"of its devices' time in communication that no compute hides" },
	[LIVE_BYTES] = { "live_bytes", "live", CELL_BYTES, 0, ROLE_SUM,
		"device memory allocated now" },
	[VERDICT] = { "verdict", NULL, CELL_TEXT, 0, ROLE_LABEL,
		"its largest finding of at least 5 %, or none" },
	[DEVICES_SOURCE] = { "devices_source", NULL, CELL_TEXT, 1, ROLE_LABEL,
		"where the devices are from" },
	[JOB_SOURCE] = { "job_source", NULL, CELL_TEXT, 1, ROLE_LABEL, "where the job is from" },
	[POD_UID] = { "pod_uid", NULL, CELL_TEXT, 1, ROLE_LABEL, "UID of the pod" },
	[CONTAINER_ID] = { "container_id", NULL, CELL_TEXT, 1, ROLE_LABEL, "id of the container" },
	[RUNTIME] = { "runtime", NULL, CELL_TEXT, 1, ROLE_LABEL, "container runtime" },
	[NS_PID] = { "ns_pid", NULL, CELL_ID, 1, ROLE_LABEL, "its pid in its own pid namespace" },
	[CGROUP] = { "cgroup", NULL, CELL_TEXT, 1, ROLE_LABEL, "its cgroup" },
	[START] = { "start_ns", "start", CELL_ID, 1, ROLE_KEY, "when it was started" },
	[CMDLINE] = { "cmdline", NULL, CELL_TEXT, 1, ROLE_LABEL, "its command line" },
};

/* Of the books of a process's threads. */
struct thread_time {
	uint64_t sync_ns, wall_ns;
};

static struct thread_time *add_up_threads(const struct snapshot *snap)
{
	struct thread_time *sums = calloc(snap->processes.n + 1, sizeof(*sums));
	struct own_cost cost = own_cost_read(snap);

	for (size_t i = 0; sums && i < snap->threads.n; i++) {
		struct snapshot_thread t = snap->threads.v[i];
		struct thread_time *sum;

		if (!t.has_book)
			continue;
		own_cost_take(&cost, &t.book);
		sum = &sums[t.process];
		sum->sync_ns = num_add(sum->sync_ns, t.book.ns[CLASS_SYNC]);
		sum->wall_ns = num_add(sum->wall_ns, t.book.close_ns - t.book.open_ns);
	}
	return sums;
}

static uint64_t count_launches(const struct snapshot *snap, const struct snapshot_process *p)
{
	const struct funcs *funcs = snap->funcs;
	uint64_t launches = 0;

	for (size_t i = 0; i < call_stats_count(&p->calls); i++) {
		const struct call_stat *t = call_stats_at(&p->calls, i);

		if (t->key.func < funcs->n && funcs->v[t->key.func].class == CLASS_LAUNCH)
			launches = num_add(launches, t->count);
	}
	return launches;
}

static void fill_rates(struct cell *row, const struct snapshot *snap,
		       const struct snapshot_process *p, const struct thread_time *time)
{
	uint64_t from_ns = num_max(snap->since_ns, p->start_ns);
	uint64_t to_ns = p->exit_ns ? num_min(p->exit_ns, snap->now_ns) : snap->now_ns;

	/* Where --budget left launches out, of the time that it did not. */
	uint64_t unprobed_ns = snapshot_fact(snap, "launches_unprobed_ns") ? p->unarmed_ns : 0;
	uint64_t probed_ns = num_sub(num_sub(to_ns, from_ns), unprobed_ns);

	if (probed_ns)
		cell_d(&row[LAUNCHES_PER_S], (double)count_launches(snap, p) * NS_PER_SEC /
					     (double)probed_ns);
	if (time->wall_ns)
		cell_d(&row[SYNC_SHARE], (double)time->sync_ns / (double)time->wall_ns);
}

/* ---- what its devices did -------------------------------------------------------------------- */

struct device_time {		/* of all devices of a process */
	uint64_t wall_ns, comm_ns, idle_total_ns;
	uint64_t idle_ns[IDLE_CAUSES];
};

static struct device_time add_up_devices(const struct snapshot *snap, uint32_t process)
{
	struct device_time sum = { 0 };

	for (size_t i = 0; i < snap->devices.n; i++) {
		const struct snapshot_device *s = &snap->devices.v[i];

		if (s->process != process)
			continue;
		sum.wall_ns += s->sum.close_ns - s->sum.open_ns;
		sum.comm_ns += s->sum.owned_ns[DEVICE_KERNELS + KERNEL_COMM];
		sum.idle_total_ns += s->sum.idle_ns;
		for (unsigned int k = 0; k < IDLE_CAUSES; k++)
			sum.idle_ns[k] += s->idle_ns[k];
	}
	return sum;
}

/* The name of its largest finding that matters to the process itself, or "none". */
static const char *find_verdict(const struct findings *f, uint32_t process)
{
	const struct finding *first = NULL;

	for (size_t i = 0; i < f->all.n; i++) {
		const struct finding *this = &f->all.v[i];

		if (this->process != process)
			continue;
		if (this->is_severe)
			return this->name;
		if (this->has_share && (!first || this->waits_share > first->waits_share))
			first = this;
	}
	return first && first->waits_share >= FINDING_SHARE_MEDIUM ? first->name : "none";
}

static void fill_devices(struct table *t, struct cell *row, const struct snapshot *snap,
			 const struct findings *f, uint32_t process)
{
	const struct device_time sum = add_up_devices(snap, process);
	unsigned int largest = 0;

	if (!sum.wall_ns)
		return;
	cell_d(&row[BUSY_SHARE], (double)(sum.wall_ns - sum.idle_total_ns) / (double)sum.wall_ns);
	cell_d(&row[EXPOSED_COMM_SHARE], (double)sum.comm_ns / (double)sum.wall_ns);
	for (unsigned int i = 1; i < IDLE_CAUSES; i++)
		if (sum.idle_ns[i] > sum.idle_ns[largest])
			largest = i;
	if (sum.idle_ns[largest])
		cell_s(t, &row[IDLE_CAUSE], idle_name(largest));
	if (process != MODEL_PAST_PID)	/* judged: the processes with rows of their own */
		cell_s(t, &row[VERDICT], find_verdict(f, process));
}

/* A process in a MIG instance has its GPU open, and no other device: its own CUDA identifies the
 * instance by the UUID, and NVML by the number. */
static void fill_instances(struct table *t, struct cell *row, const struct snapshot *snap,
			   uint32_t process)
{
	struct strbuf list = STRBUF_INIT;

	for (size_t i = 0; i < snap->devices.n; i++) {
		const struct snapshot_device *s = &snap->devices.v[i];

		if (s->process == process && device_number_is_instance(s->number))
			strbuf_addf(&list, "%s%s", list.len ? "," : "", device_text(s->number).s);
	}
	if (!list.len)
		return;
	cell_text(t, &row[DEVICES], &list);
	cell_s(t, &row[DEVICES_SOURCE], "used");
}

/* Of the memory that was seen to be allocated. */
static void fill_memory(struct cell *row, const struct snapshot_process *p)
{
	uint64_t bytes = 0;

	for (size_t i = 0; i < p->memory.n; i++) {
		const struct memory_sums *s = &p->memory.v[i];

		if (!s->key.by_stack && memory_kind_is_device(s->key.kind))
			bytes = num_add(bytes, s->live_bytes);
	}
	if (p->has_memory && !p->memory_incomplete)
		cell_u(&row[LIVE_BYTES], bytes);
}

static void fill_identity(struct table *t, struct cell *row, const struct snapshot_process *p)
{
	static const uint8_t known[] = {
		USER, RANK, RANK_SOURCE, JOB, POD, CONTAINER, DEVICES, DEVICES_SOURCE, JOB_SOURCE,
		POD_UID, CONTAINER_ID, RUNTIME, NS_PID, CGROUP,
	};

	for (size_t k = 0; k < sizeof(known); k++) {
		const struct column *c = &columns[known[k]];
		const char *value = snapshot_identity(p, c->name);

		if (value && c->type == CELL_ID)
			cell_u(&row[known[k]], strtoull(value, NULL, 10));
		else
			cell_s(t, &row[known[k]], value);
	}
}

static void add_row(struct table *t, const struct snapshot *snap, const struct findings *findings,
		    const struct snapshot_process *p, const struct thread_time *time)
{
	struct cell *row = table_row(t);

	view_put_pid(&row[PID], p->pid);
	if (p->start_ns)
		cell_u(&row[START], p->start_ns);
	fill_rates(row, snap, p, time);
	fill_memory(row, p);
	cell_s(t, &row[COMM], p->comm[0] ? p->comm : NULL);
	cell_s(t, &row[CMDLINE], p->cmdline);
	fill_identity(t, row, p);
	fill_devices(t, row, snap, findings, p->process);
	if (p->process != MODEL_PAST_PID)
		fill_instances(t, row, snap, p->process);
}

static void fill(struct table *t, const struct view_query *q)
{
	const struct snapshot *snap = q->snapshot;
	struct thread_time *times = add_up_threads(snap);
	struct findings f = { 0 };

	t->failed |= !times || findings_read(&f, snap);
	for (size_t i = 0; i < snap->processes.n && !t->failed; i++) {
		const struct snapshot_process *p = &snap->processes.v[i];

		/* others were only seen to fork or exec */
		if (call_stats_count(&p->calls) || times[i].wall_ns || p->has_device)
			add_row(t, snap, &f, p, &times[i]);
	}
	findings_free(&f);
	free(times);
}

const struct view view_processes = {
	.name = "processes",
	.help = "a process: who it is, what its devices and threads did",
	.columns = columns, .n_columns = N_COLUMNS,
	.fill = fill,
};
