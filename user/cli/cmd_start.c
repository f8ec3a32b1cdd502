// SPDX-License-Identifier: BSD-3-Clause
/*
 * `gpuprof` alone, by a user who may not probe: who is on which GPU, and what to type. Sample:
 *
 *  gpuprof 0.3: where does GPU time go?  gpu-171: driver 570.86, 2 devices
 *
 *   GPU   busy         memory  process                             user        to measure it
 *     0   97 %    71 / 80 GiB    8255 python            rank 0     alice       gpuprof -p 8255
 *     1   12 %    64 / 80 GiB    9310 VLLM::Worker_TP0             svc         sudo gpuprof -p 9310
 */
#include <errno.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/exit.h"
#include "base/vec.h"
#include "base/version.h"
#include "cli/verbs.h"
#include "facts/samples.h"
#include "host/identity.h"
#include "host/proc.h"
#include "session/nvml_source.h"
#include "view/output.h"
#include "view/render.h"

#define SAMPLE_US 20000
#define SAMPLES 30		/* turns at most, until each device had a sample */

struct host {
	struct samples samples;
	VEC(struct device_sample) last;	/* of each device there */
};

static int take_sample(void *ctx, const struct event *ev)
{
	struct host *host = ctx;
	struct event own = *ev;
	struct sampled_device *d;
	size_t i = 0;

	own.process = ev->pid;		/* no registry gives handles here */
	if ((ev->kind != EVENT_SAMPLE && ev->kind != EVENT_USER) ||
	    samples_push(&host->samples, &own, 0, UINT64_MAX, &d))
		return 0;
	while (host->last.n < host->samples.all.n && VEC_PUSH(&host->last))
		host->last.v[host->last.n - 1] = (struct device_sample){ 0 };
	while (i < host->last.n && host->samples.all.v[i] != d)
		i++;
	if (i < host->last.n && ev->kind == EVENT_SAMPLE)
		host->last.v[i] = ev->sample.values;
	return 0;
}

/* What NVML knows of devices now; st as it was asked. */
static void read_devices(struct host *host, struct nvml_status *st)
{
	struct nvml *n = nvml_start(nvml_load);
	const struct event_sink sink = { take_sample, host };

	if (!n) {
		*st = (struct nvml_status){ .state = NVML_FAILED };
		snprintf(st->why, sizeof(st->why), "%s", strerror(errno));
		return;
	}
	nvml_ask(n, st);
	for (int i = 0; st->state == NVML_RUNNING && i < SAMPLES; i++) {
		usleep(SAMPLE_US);
		nvml_pump(n, &sink);
		if (host->samples.all.n == st->devices && i > SAMPLES / 2)
			break;
	}
	nvml_ask_end(n);
}

/* ---- the table ------------------------------------------------------------------------------- */

/* Has the process the helper, as far as this user can see? */
static bool has_helper(pid_t pid)
{
	static const char *const ring[] = { "gpuprof-ring" };

	return proc_maps_any(pid, ring, 1);
}

static void add_user(struct strbuf *out, struct identity_room *room, const struct sample_user *u)
{
	struct proc proc;
	struct proc_stat stat = { 0 };
	struct identity id = { .user = "" };
	const bool has = has_helper((pid_t)u->pid);

	proc_stat_of((pid_t)u->pid, &stat);
	if (!proc_open(&proc, (pid_t)u->pid))
		identity_read(room, &proc, &id);
	proc_close(&proc);
	format_safef(out, "%7u %-16s%s%-4s  %-10s", u->pid, *stat.comm ? stat.comm : "?",
		     *id.rank ? "  rank " : "       ", id.rank, *id.user ? id.user : "?");
	strbuf_addf(out, "  %sgpuprof -p %u\n", has ? "" : "sudo ", u->pid);
}

static bool has_field(const struct device_sample *s, unsigned int field)
{
	return s->has >> field & 1;
}

static void add_device(struct strbuf *out, struct identity_room *room,
		       const struct sampled_device *d, const struct device_sample *last)
{
	const double gib = 1 << 30;
	char share[16] = "?", memory[32] = "?";
	bool any = false;

	if (has_field(last, SAMPLE_BUSY))
		snprintf(share, sizeof(share), "%u %%", (unsigned int)last->v[SAMPLE_BUSY]);
	if (has_field(last, SAMPLE_USED_BYTES) && has_field(last, SAMPLE_TOTAL_BYTES))
		snprintf(memory, sizeof(memory), "%.0f / %.0f GiB",
			 (double)last->v[SAMPLE_USED_BYTES] / gib,
			 (double)last->v[SAMPLE_TOTAL_BYTES] / gib);
	for (size_t i = 0; i < d->users.n; i++) {
		if (d->users.v[i].seen_ns < d->last_ns || !d->users.v[i].pid)
			continue;
		if (any)
			strbuf_addf(out, "%27s", "");
		else
			strbuf_addf(out, "%4s  %5s  %13s ", device_text(d->number).s, share,
				    memory);
		any = true;
		add_user(out, room, &d->users.v[i]);
	}
	if (!any)
		strbuf_addf(out, "%4s  %5s  %13s  %s\n", device_text(d->number).s, share, memory,
			    d->has_users ? "no process" : "processes are not known here");
}

static const char verbs_text[] =
	"gpuprof stat -- python train.py    run a program, say what slows it; needs no root\n"
	"sudo gpuprof                       every GPU process of this host, every 5 s\n"
	"sudo gpuprof stacks -p PID         it hangs: which rank waits for which?\n"
	"gpuprof record -- python train.py  keep everything; then: gpuprof report FILE\n"
	"gpuprof doctor                     what works here\n"
	"\n"
	"options: gpuprof help VERB         words: gpuprof help words\n";

int print_start(void)
{
	struct identity_room room;
	struct host host = { 0 };
	struct strbuf out = STRBUF_INIT;
	struct nvml_status st;
	struct utsname un = { 0 };
	int rc;

	uname(&un);
	read_devices(&host, &st);
	format_safef(&out, "gpuprof %s: where does GPU time go?  %s: ", version_text(),
		     un.nodename);
	if (*st.driver)
		format_safef(&out, "driver %s, %u device%s", st.driver, st.devices,
			     st.devices == 1 ? "" : "s");
	else
		format_safef(&out, "no NVIDIA driver (%s)", *st.why ? st.why : NVML_LIBRARY);
	strbuf_addstr(&out, "\n\n");
	if (!identity_room_init(&room)) {
		if (host.last.n)
			strbuf_addf(&out, "%4s  %5s  %13s  %-34s  %-10s  %s\n", "GPU", "busy",
				    "memory", "process", "user", "to measure it");
		for (size_t i = 0; i < host.last.n; i++)
			add_device(&out, &room, host.samples.all.v[i], &host.last.v[i]);
		if (host.last.n)
			strbuf_addch(&out, '\n');
	}
	identity_room_free(&room);
	strbuf_addstr(&out, verbs_text);
	rc = output_write(NULL, &out);
	strbuf_free(&out);
	VEC_FREE(&host.last);
	samples_free(&host.samples);
	return rc;
}
