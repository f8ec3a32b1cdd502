/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The container, pod and job of a process, by its control groups (the text of /proc/PID/cgroup,
 * v1 and v2). Pure; the text is untrusted.
 */
#ifndef HOST_CGROUP_H
#define HOST_CGROUP_H

#include <stdbool.h>
#include <stddef.h>

struct cgroup_names {		/* "": none, or in no form that is known */
	char runtime[16];	/* "docker", "containerd", "cri-o", "podman", "lxc", "nspawn" */
	char container[72];	/* its id, or its name where the runtime has no ids */
	char pod[48];		/* the UID of a Kubernetes pod */
	char scheduler[8];	/* "slurm", "pbs", "lsf" */
	char job[64];
};

void cgroup_read_names(const char *text, struct cgroup_names *out);

/*
 * Is the process in the group that pattern names, or below it? A pattern with a slash in front is a
 * whole path (that of the file system, /sys/fs/cgroup/..., too); one without may begin at any
 * part of the path. Parts may hold the wildcards of a shell, which match no slash.
 */
bool cgroup_matches(const char *text, const char *pattern);

/* The path that stands for the process: of v2, else the longest of v1. */
void cgroup_read_path(const char *text, char *out, size_t size);

#endif
