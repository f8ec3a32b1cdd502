// SPDX-License-Identifier: BSD-3-Clause
/* Reads and writes the capability sets of a thread, without a library. */
#include "host/caps.h"

#include <errno.h>
#include <linux/capability.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/log.h"

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

static int read_caps(struct __user_cap_data_struct data[2])
{
	struct __user_cap_header_struct head = { .version = _LINUX_CAPABILITY_VERSION_3 };

	return syscall(SYS_capget, &head, data) ? -errno : 0;
}

static bool has(const struct __user_cap_data_struct data[2], unsigned int bit)
{
	return data[bit / 32].effective >> bit % 32 & 1;
}

bool caps_have(unsigned int bit)
{
	struct __user_cap_data_struct data[2];

	return !read_caps(data) &&
	       (has(data, bit) || (is_split(bit) && has(data, CAP_SYS_ADMIN)));
}

const struct caps_need *caps_missing(void)
{
	for (size_t i = 0; i < caps_n_needs; i++)
		if (caps_needs[i].required && !caps_have(caps_needs[i].bit))
			return &caps_needs[i];
	return NULL;
}

uint64_t caps_of_work(void)
{
	struct __user_cap_data_struct data[2];
	uint64_t set = 0;

	if (read_caps(data))
		return UINT64_MAX;
	for (size_t i = 0; i < caps_n_needs; i++) {
		set |= 1ull << caps_needs[i].bit;
		if (is_split(caps_needs[i].bit) && !has(data, caps_needs[i].bit))
			set |= 1ull << CAP_SYS_ADMIN;
	}
	return set;
}

int caps_keep(uint64_t keep)
{
	struct __user_cap_header_struct head = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct data[2];
	int err = read_caps(data);

	if (err)
		return err;
	for (unsigned int i = 0; i < 2; i++) {
		data[i].effective &= (uint32_t)(keep >> 32 * i);
		data[i].permitted &= (uint32_t)(keep >> 32 * i);
		data[i].inheritable = 0;
	}
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || syscall(SYS_capset, &head, data))
		return -errno;
	return 0;
}

void caps_drop_others(uint64_t keep)
{
	int err = caps_keep(keep);

	if (err)
		log_warn("cannot give up capabilities that are not needed: %s", strerror(-err));
}

uint64_t caps_of_output(const char *output)
{
	return output ? 1ull << CAP_DAC_OVERRIDE : 0;
}
