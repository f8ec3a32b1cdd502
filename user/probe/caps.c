// SPDX-License-Identifier: BSD-3-Clause
/* Reads the effective capability set from the kernel, without a library. */
#include "probe/caps.h"

#include <linux/capability.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <unistd.h>

/* In linux/capability.h since 5.8/5.9; Debian 12 has them, older build hosts may not. */
#ifndef CAP_PERFMON
#define CAP_PERFMON 38
#define CAP_BPF 39
#define CAP_CHECKPOINT_RESTORE 40
#endif

const struct caps_need caps_needs[] = {
	{ CAP_BPF, "CAP_BPF", "load BPF programs", true },
	{ CAP_PERFMON, "CAP_PERFMON", "attach probes and watch processes", true },
	{ CAP_SYS_PTRACE, "CAP_SYS_PTRACE", "read what other users' processes map", false },
	{ CAP_DAC_READ_SEARCH, "CAP_DAC_READ_SEARCH", "read libraries in other users' folders",
	  false },
	{ CAP_CHECKPOINT_RESTORE, "CAP_CHECKPOINT_RESTORE", "open deleted libraries by map_files",
	  false },
};

const size_t caps_n_needs = sizeof(caps_needs) / sizeof(caps_needs[0]);

/* CAP_SYS_ADMIN still implies those that were split from it. */
static bool is_split(unsigned int bit)
{
	return bit == CAP_BPF || bit == CAP_PERFMON || bit == CAP_CHECKPOINT_RESTORE;
}

bool caps_have(unsigned int bit)
{
	struct __user_cap_header_struct head = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct data[2] = { 0 };

	if (syscall(SYS_capget, &head, data))
		return false;
	if (is_split(bit) && data[0].effective >> CAP_SYS_ADMIN & 1)
		return true;
	return data[bit / 32].effective >> (bit % 32) & 1;
}

const struct caps_need *caps_missing(void)
{
	for (size_t i = 0; i < caps_n_needs; i++)
		if (caps_needs[i].required && !caps_have(caps_needs[i].bit))
			return &caps_needs[i];
	return NULL;
}
