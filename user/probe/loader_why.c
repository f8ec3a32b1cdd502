// SPDX-License-Identifier: BSD-3-Clause
/* Why BPF programs cannot be loaded or attached here, as well as can be known, in one line. */
#include "probe/loader_why.h"

#include <errno.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/log.h"
#include "probe/caps.h"

#define HOST_PID_NAMESPACE "pid:[4026531836]"	/* PROC_PID_INIT_INO of every kernel */

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

static int why_kernel(int err, const struct loader_needs *last, bool all, const char *release)
{
	log_error("cannot attach: kernel %s lacks %s, which came with Linux %s (%s)%s", release,
		  last->what, last->since, strerror(-err),
		  all ? "; gpuprof needs that kernel or a later one" :
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
	if (access("/sys/kernel/btf/vmlinux", R_OK)) {
		log_error("cannot load BPF programs: kernel %s has no BTF "
			  "(/sys/kernel/btf/vmlinux); use a kernel with CONFIG_DEBUG_INFO_BTF",
			  un.release);
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
	char link[64] = "";

	if (readlink("/proc/self/ns/pid", link, sizeof(link) - 1) <= 0 ||
	    !strcmp(link, HOST_PID_NAMESPACE))
		return false;
	log_error("cannot profile from inside a container: it has pids of its own; run gpuprof on "
		  "the host, or the container with --pid=host");
	return true;
}
