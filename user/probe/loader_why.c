// SPDX-License-Identifier: BSD-3-Clause
/* Why BPF programs cannot be loaded or attached here, as well as can be known, in one line. */
#include "probe/loader_why.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/log.h"
#include "host/caps.h"
#include "host/proc.h"

/* Errors that no other way of attaching would mend. */
static const struct {
	int err;
	const char *text;
} reasons[] = {
	{ EPERM, "the kernel denies it although no capability is missing; check kernel lockdown, "
		 "LSM policy and user namespaces" },
	{ ENOMEM, "out of memory; give a smaller --ring-size" },
	{ EMFILE, "too many open files; raise the limit (ulimit -n)" },
};

bool loader_why_final(int err)
{
	for (size_t i = 0; i < sizeof(reasons) / sizeof(reasons[0]); i++)
		if (err == -reasons[i].err)
			return true;
	return false;
}

/* "6.12.1-amd64" is older than "6.13". */
static bool is_older(const char *release, const char *since)
{
	unsigned int is[2] = { 0 }, wants[2] = { 0 };

	sscanf(release, "%u.%u", &is[0], &is[1]);
	sscanf(since, "%u.%u", &wants[0], &wants[1]);
	return is[0] < wants[0] || (is[0] == wants[0] && is[1] < wants[1]);
}

static int why_kernel(int err, const struct loader_needs *last, bool all, const char *release)
{
	if (!is_older(release, last->since))
		log_error("cannot attach: kernel %s should have %s and refuses them (%s); -v says "
			  "what it refuses, please report it", release, last->what, strerror(-err));
	else
		log_error("cannot attach: kernel %s lacks %s, which came with Linux %s (%s)%s", release,
			  last->what, last->since, strerror(-err),
			  all ? "; probes need that kernel or a later one, --attach none does without" :
				"; --attach auto takes the best way that there is");
	return ENOTSUP;
}

int loader_why(int err, const struct loader_needs *last, bool all)
{
	const struct caps_need *cap = caps_missing();
	struct utsname un = { 0 };

	uname(&un);
	if (cap) {
		log_error("cannot load BPF programs: %s is missing (needed to %s); run as root or "
			  "with sudo", cap->name, cap->why);
		return EPERM;
	}
	if ((err == -EACCES || err == -EPERM) && last->capability && !caps_have(last->capability)) {
		log_error("cannot attach: %s is missing (needed for %s, the only way to probe that "
			  "%s); run as root or with sudo", last->capability_name, last->what,
			  all ? "this kernel has" : "was asked for");
		return EPERM;
	}
	if (access("/proc/self/maps", R_OK)) {
		log_error("cannot attach: procfs is not mounted on /proc, and it tells who runs and what they use; "
			  "mount -t proc proc /proc");
		return ENOTSUP;
	}
	if (access("/sys/kernel/btf/vmlinux", R_OK)) {
		log_error("cannot load BPF programs: kernel %s has no BTF "
			  "(/sys/kernel/btf/vmlinux); use one with CONFIG_DEBUG_INFO_BTF, or measure "
			  "without probes (--attach none)", un.release);
		return ENOTSUP;
	}
	for (size_t i = 0; i < sizeof(reasons) / sizeof(reasons[0]); i++) {
		if (err != -reasons[i].err)
			continue;
		log_error("cannot load BPF programs: %s", reasons[i].text);
		return reasons[i].err;
	}
	return why_kernel(err, last, all, un.release);
}

/* BPF sees the host's pids; inside a namespace no pid that we or a user know is one of those. */
bool loader_why_not_here(void)
{
	if (proc_pids_are_hosts())
		return false;
	log_error("cannot profile from inside a container: it has pids of its own; run gpuprof on "
		  "the host, or the container with --pid=host");
	return true;
}
