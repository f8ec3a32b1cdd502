// SPDX-License-Identifier: BSD-3-Clause
/*
 * Any control groups, environment, stat, status and driver file make names that are short, of
 * printable characters, and of what the text holds. The input: a pattern, a NUL, the text.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "host/cgroup.h"
#include "host/environment.h"
#include "host/gpus.c"
#include "host/proc.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_name(const char *name, size_t size)
{
	if (!memchr(name, '\0', size))
		abort();
	for (; *name; name++)
		if ((unsigned char)*name < ' ' || *name == 0x7f)
			abort();
}

static void check_groups(const char *text, const char *pattern)
{
	struct cgroup_names n;
	char path[16];

	cgroup_read_names(text, &n);
	check_name(n.runtime, sizeof(n.runtime));
	check_name(n.container, sizeof(n.container));
	check_name(n.pod, sizeof(n.pod));
	check_name(n.scheduler, sizeof(n.scheduler));
	check_name(n.job, sizeof(n.job));
	if (strspn(n.pod, "0123456789abcdefABCDEF-") != strlen(n.pod))
		abort();
	cgroup_read_path(text, path, sizeof(path));
	check_name(path, sizeof(path));
	cgroup_matches(text, pattern);
}

static void check_environment(const char *text, size_t len)
{
	const struct environment env = { text, len };
	struct environment_finding rank = environment_get(&env, ENVIRONMENT_RANK), job = environment_get(&env, ENVIRONMENT_JOB);
	static const struct gpus g = { .n = 1, .v = { { .uuid = "GPU-1234" } }, .n_instances = 1,
				       .instance = { { .gi = 1, .uuid = "MIG-1" } } };
	struct gpu_set set;

	if (rank.value && (rank.value < text || rank.value > text + len || strtoul(rank.value, NULL, 10) >
			   999999999))
		abort();
	if (job.value && (job.value < text || job.value > text + len || !*job.value))
		abort();
	environment_get(&env, ENVIRONMENT_POD);
	if (gpus_visible_to(&g, &env, false, &set) && set.gpus > 1)
		abort();
}

static void check_procfs(const char *text)
{
	struct proc_stat stat;
	struct gpu gpu = { .uuid = "" };
	const char *uid = proc_status_field(text, "Uid");

	if (!proc_parse_stat(text, &stat) && !memchr(stat.comm, '\0', sizeof(stat.comm)))
		abort();
	if (uid && (uid < text || uid > text + strlen(text)))
		abort();
	if (gpus_parse_access(text) > 999999)
		abort();
	if (gpus_parse_information(text, &gpu) && gpu.minor > 999999)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *pattern = malloc(size + 2), *text;
	size_t len;

	if (!pattern)
		return 0;
	if (size)
		memcpy(pattern, data, size);
	pattern[size] = pattern[size + 1] = '\0';
	len = strlen(pattern);
	text = pattern + (len < size ? len + 1 : size);
	check_groups(text, pattern);
	check_environment(text, size - (size_t)(text - pattern));
	check_procfs(text);
	free(pattern);
	return 0;
}
