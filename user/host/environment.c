// SPDX-License-Identifier: BSD-3-Clause
/* Looks variables up; the tables list them in their order of precedence. */
#include "host/environment.h"

#include <string.h>

#define RANK_DIGITS 9

/* name: of the variable, or (jobs) of the scheduler that sets it. */
struct known {
	const char *variable, *name;
};

#define SELF(variable) { variable, variable }

/* Variables with a rank for each process come before those with one for each node or step. */
static const struct known ranks[] = {
	SELF("RANK"),				/* torchrun */
	SELF("OMPI_COMM_WORLD_RANK"),
	SELF("PMIX_RANK"),
	SELF("PMI_RANK"),			/* MPICH, Intel MPI */
	SELF("MV2_COMM_WORLD_RANK"),
	SELF("SLURM_PROCID"),
	SELF("FLUX_TASK_RANK"),
	SELF("LOCAL_RANK"),			/* of this host only */
	{ NULL, NULL },
};

static const struct known jobs[] = {
	{ "SLURM_JOB_ID", "slurm" }, { "SLURM_JOBID", "slurm" }, { "PBS_JOBID", "pbs" },
	{ "LSB_JOBID", "lsf" }, { "FLUX_JOB_ID", "flux" }, { NULL, NULL },
};

static const struct known pods[] = {
	SELF("POD_NAME"), SELF("KUBERNETES_POD_NAME"), SELF("HOSTNAME"), { NULL, NULL },
};

static const struct known *const kinds[] = {
	[ENVIRONMENT_RANK] = ranks, [ENVIRONMENT_JOB] = jobs, [ENVIRONMENT_POD] = pods,
};

struct environment environment_read(struct proc *p)
{
	struct environment env = { .len = 0 };

	env.block = proc_read(p, PROC_ENVIRON, &env.len);
	return env;
}

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

struct environment_finding environment_get(const struct environment *env,
					   enum environment_kind kind)
{
	for (const struct known *k = kinds[kind]; k->variable; k++) {
		const char *value = environment_find(env, k->variable);
		size_t digits = value ? strspn(value, "0123456789") : 0;

		if (!value || !*value)
			continue;
		if (kind != ENVIRONMENT_RANK || (digits <= RANK_DIGITS && !value[digits]))
			return (struct environment_finding){ value, k->name };
	}
	return (struct environment_finding){ .value = NULL };
}
