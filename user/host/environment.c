// SPDX-License-Identifier: BSD-3-Clause
/* Looks variables up; the tables list them in their order of precedence. */
#include "host/environment.h"

#include <stdbool.h>
#include <string.h>

#define RANK_DIGITS 9

struct known {
	const char *variable, *name;
};

/* Variables with a rank for each process come before those with one for each node or step. */
static const struct known ranks[] = {
	{ "RANK", "RANK" },				/* torchrun */
	{ "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_RANK" },
	{ "PMIX_RANK", "PMIX_RANK" },
	{ "PMI_RANK", "PMI_RANK" },			/* MPICH, Intel MPI */
	{ "MV2_COMM_WORLD_RANK", "MV2_COMM_WORLD_RANK" },
	{ "SLURM_PROCID", "SLURM_PROCID" },
	{ "FLUX_TASK_RANK", "FLUX_TASK_RANK" },
	{ "LOCAL_RANK", "LOCAL_RANK" },			/* of this host only */
};

static const struct known jobs[] = {
	{ "SLURM_JOB_ID", "slurm" }, { "SLURM_JOBID", "slurm" }, { "PBS_JOBID", "pbs" },
	{ "LSB_JOBID", "lsf" }, { "FLUX_JOB_ID", "flux" },
};

static const struct known pods[] = {
	{ "POD_NAME", "POD_NAME" }, { "KUBERNETES_POD_NAME", "KUBERNETES_POD_NAME" },
	{ "HOSTNAME", "HOSTNAME" },
};

const char *environment_find(const struct environment *env, const char *name)
{
	size_t n = strlen(name);

	if (!env->block)
		return NULL;
	for (size_t at = 0; at < env->len; at += strlen(env->block + at) + 1)
		if (!strncmp(env->block + at, name, n) && env->block[at + n] == '=')
			return env->block + at + n + 1;
	return NULL;
}

static bool is_any(const char *value)
{
	return *value != '\0';
}

static bool is_rank(const char *value)
{
	size_t digits = strspn(value, "0123456789");

	return digits && digits <= RANK_DIGITS && !value[digits];
}

static struct environment_finding find_first(const struct environment *env,
					     const struct known *known, size_t n,
					     bool (*accepts)(const char *value))
{
	for (size_t i = 0; i < n; i++) {
		const char *value = environment_find(env, known[i].variable);

		if (value && accepts(value))
			return (struct environment_finding){ value, known[i].name };
	}
	return (struct environment_finding){ .value = NULL };
}

#define FIND(env, known, accepts) \
	find_first(env, known, sizeof(known) / sizeof(*(known)), accepts)

struct environment_finding environment_rank(const struct environment *env)
{
	return FIND(env, ranks, is_rank);
}

struct environment_finding environment_job(const struct environment *env)
{
	return FIND(env, jobs, is_any);
}

struct environment_finding environment_pod(const struct environment *env)
{
	return FIND(env, pods, is_any);
}
