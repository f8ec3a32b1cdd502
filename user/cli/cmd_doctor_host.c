// SPDX-License-Identifier: BSD-3-Clause
/* What of this host lets gpuprof work, and what does not. Knows nothing of any target. */
#include "cli/cmd_doctor.h"

#include <errno.h>
#include <inttypes.h>
#include <linux/capability.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/exit.h"
#include "base/io.h"
#include "catalog/catalog.h"
#include "host/caps.h"
#include "host/proc.h"
#include "probe/loader.h"
#include "session/nvml_ask.h"
#include "target/target_watch.h"

static void check_kernel(struct doctor *d)
{
	struct utsname un = { 0 };

	uname(&un);
	doctor_say(d, GOOD, "kernel", "%s %s", un.release, un.machine);
	if (access("/sys/kernel/btf/vmlinux", R_OK)) {
		doctor_say(d, BAD, "kernel BTF",
			   "missing: needs a kernel with CONFIG_DEBUG_INFO_BTF, and /sys mounted");
		doctor_fail(d, EXIT_UNSUPPORTED);
		return;
	}
	doctor_say(d, GOOD, "kernel BTF", "/sys/kernel/btf/vmlinux");
}

/* A file of one line into line; false: it is not there. */
static bool read_line(const char *path, char *line, size_t size)
{
	char *text = io_read_file(path, 4096, NULL);

	if (!text)
		return false;
	snprintf(line, size, "%.*s", (int)strcspn(text, "\n"), text);
	free(text);
	return true;
}

/* "none [integrity] confidentiality": the one in brackets. */
static void check_lockdown(struct doctor *d)
{
	char line[128];

	if (!read_line("/sys/kernel/security/lockdown", line, sizeof(line)))
		return;		/* a kernel without it, or securityfs is not mounted */
	if (strstr(line, "[confidentiality]"))
		doctor_say(d, BAD, "lockdown", "%s: BPF may not read memory; boot without "
			   "lockdown=confidentiality", line);
	else
		doctor_say(d, GOOD, "lockdown", "%s", line);
}

/* The namespaces of this process. */
static void check_namespaces(struct doctor *d)
{
	char line[128] = "";
	unsigned long from = 0, to = 0, length = 0;

	if (!proc_pids_are_hosts())
		doctor_say(d, BAD, "container",
			   "in a pid namespace of its own, where BPF's pids mean "
			   "nothing: run gpuprof on the host, or the container with --pid=host");
	if (read_line("/proc/self/uid_map", line, sizeof(line)) &&
	    sscanf(line, "%lu %lu %lu", &from, &to, &length) == 3 && length < UINT32_MAX)
		doctor_say(d, BAD, "user namespace",
			   "its capabilities do not count on the host: run "
			   "gpuprof outside of it, as root");
}

static void check_capabilities(struct doctor *d)
{
	for (size_t i = 0; i < caps_n_needs; i++) {
		const struct caps_need *need = &caps_needs[i];
		bool have = caps_have(need->bit);

		doctor_say(d, have ? GOOD : need->required ? BAD : WORSE, need->name, "%s%s%s",
			   have ? "" : "missing: ", have ? "to " : "cannot ", need->why);
	}
	if (caps_missing())
		doctor_fail(d, EXIT_PERMISSION);
}

static const char *const returns_texts[] = {
	[GP_RETURNS_ALL] = "harmless to processes under seccomp",
	[GP_RETURNS_NO_SECCOMP] =
		"would kill processes under seccomp on this kernel: of these, calls "
		"are counted, their times are not known",
	[GP_RETURNS_NONE] = "would kill processes under seccomp on this kernel, and this kind of "
			    "probes cannot spare those: calls are counted, no times are known",
};

/* Of tier 0. */
static unsigned int count_rows(void)
{
	unsigned int n = 0;

	for (unsigned int i = 1; i < catalog_n_rows(); i++)
		n += catalog_row(i)->tier == 0;
	return n;
}

static void check_off_cpu(struct doctor *d, const struct loader *l)
{
	if (!loader_off_cpu(l))
		doctor_say(d, WORSE, "off-CPU",
			   "this kernel refuses the scheduler's hooks: why threads "
			   "do not run is not known (-v says what it refuses)");
	else if (!loader_knows_interrupts(l))
		doctor_say(
			d, WORSE, "off-CPU",
			"known, but an interrupt cannot be told from the thread "
			"in whose time it comes: who woke a thread has a ? (CONFIG_KALLSYMS_ALL)");
	else
		doctor_say(d, GOOD, "off-CPU",
			   "why threads do not run, and who wakes them, is known");
}

static void check_probes(struct doctor *d)
{
	struct loader_options lo = { .way = (enum loader_way)d->o->session.attach,
				     .ring_bytes = d->o->session.ring_bytes, .off_cpu = true };
	struct loader *l;

	if (lo.way == WAY_NONE) {
		doctor_say(d, WORSE, "probes", "not wanted: --attach none");
		return;
	}
	l = loader_new(&lo);
	if (!l) {
		doctor_say(d, BAD, "probes", "cannot be attached; the message on stderr says why");
		doctor_fail(d, errno == EPERM ? EXIT_PERMISSION : EXIT_UNSUPPORTED);
		return;
	}
	doctor_say(d, GOOD, "probes",
		   "%s links; a recorded call costs its thread %" PRIu64 " ns here",
		   loader_way_name(loader_way(l)), loader_call_cost_ns(l));
	doctor_say(d, GOOD, "ring memory", "%" PRIu64 " KiB", d->o->session.ring_bytes / 1024);
	d->probes = true;
	d->step_ns = loader_step_cost_ns(l);
	d->returns_kill = loader_returns(l) != GP_RETURNS_ALL;
	doctor_say(d, d->returns_kill ? WORSE : GOOD, "return probes", "%s",
		   returns_texts[loader_returns(l)]);
	check_off_cpu(d, l);
	if (loader_probes_max(l))
		doctor_say(d, WORSE, "functions", "the best %zu of %u at a time: launches, waits, "
			   "copies, collectives, memory (Linux 6.6: all)", loader_probes_max(l),
			   count_rows());
	loader_free(l);
}

static void check_watch(struct doctor *d)
{
	struct target_watch *w = target_watch_new(getpid());

	if (w) {
		doctor_say(d, GOOD, "watching processes", "libraries loaded later are seen");
	} else {
		doctor_say(d, WORSE, "watching processes", "libraries loaded later are not seen");
	}
	target_watch_free(w);
}

/* Limits and settings that matter to who is not allowed to pass them. */
static void check_limits(struct doctor *d)
{
	struct rlimit files, locked;
	char line[64];

	if (!getrlimit(RLIMIT_NOFILE, &files))
		doctor_say(
			d, files.rlim_max < 4096 ? WORSE : GOOD, "open files",
			"at most %llu (ulimit -Hn); a link or two for each library, one for each "
			"CPU",
			(unsigned long long)files.rlim_max);
	if (!getrlimit(RLIMIT_MEMLOCK, &locked) && locked.rlim_max < 1 << 20)
		doctor_say(d, WORSE, "locked memory",
			   "at most %llu KiB (ulimit -Hl): less room for events "
			   "of processes",
			   (unsigned long long)locked.rlim_max / 1024);
	if (!caps_have(CAP_PERFMON) &&
	    read_line("/proc/sys/kernel/perf_event_paranoid", line, sizeof(line)))
		doctor_say(d, WORSE, "perf_event_paranoid", "%s, and CAP_PERFMON is missing", line);
	if (read_line("/proc/sys/kernel/yama/ptrace_scope", line, sizeof(line)) && *line != '0' &&
	    !caps_have(CAP_SYS_PTRACE))
		doctor_say(d, WORSE, "yama ptrace_scope", "%s, and CAP_SYS_PTRACE is missing: only "
			   "gpuprof's own children can be read", line);
}

void doctor_host(struct doctor *d)
{
	check_kernel(d);
	check_lockdown(d);
	check_namespaces(d);
	check_capabilities(d);
	check_probes(d);
	check_watch(d);
	check_limits(d);
	doctor_nvml(d);
}

/* ---- doctor nvml --------------------------------------------------------------------------- */

/* Is there an NVML, does it answer, and what does it tell? */

static void say(struct doctor *d, const struct nvml_status *st)
{
	if (st->state == NVML_STARTING)
		doctor_say(d, WORSE, "NVML", "does not answer for %u s while %s; nvidia-smi would "
			   "hang as well; dmesg may tell why", NVML_ASK_S, st->doing);
	else if (st->state == NVML_FAILED)
		doctor_say(d, WORSE, "NVML",
			   "%s: how active devices are, who else is on them and their "
			   "faults are not known",
			   st->why);
	else if (*st->why)
		doctor_say(d, WORSE, "NVML", "driver %s, %u device%s; %s", st->driver, st->devices,
			   st->devices == 1 ? "" : "s", st->why);
	else
		doctor_say(d, GOOD, "NVML", "driver %s, %u device%s, %s%s", st->driver, st->devices,
			   st->devices == 1 ? "" : "s",
			   st->gpm ? "activity by GPM" :
				     "without their activity (GPM, from Hopper on)",
			   st->pids_are_hosts ? "" : ", without processes (in a pid namespace)");
}

void doctor_nvml(struct doctor *d)
{
	struct nvml *n = nvml_start(nvml_load);
	struct nvml_status st;

	if (!n) {
		doctor_say(d, WORSE, "NVML", "cannot be asked: %s", strerror(errno));
		return;
	}
	nvml_ask(n, &st);
	say(d, &st);
	nvml_ask_end(n);
}
