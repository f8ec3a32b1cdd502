// SPDX-License-Identifier: BSD-3-Clause
/*
 * pretrain [--steps N] [--faults all|FAULT,...]: see pretrain.h. Runs on the simulated
 * GPU, by the public functions of CUDA and NCCL alone.
 */
#include "pretrain.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *const pretrain_faults[FAULTS] = { "input", "comm", "sync", "pageable" };

void pretrain_check(int error, const char *what)
{
	if (!error)
		return;
	fprintf(stderr, "pretrain: %s: error %d\n", what, error);
	exit(1);
}

static bool plant(struct pretrain *plan, const char *name, size_t length)
{
	bool all = length == 3 && memcmp(name, "all", 3) == 0, found = false;
	int i;

	for (i = 0; i < FAULTS; i++)
		if (all || (strlen(pretrain_faults[i]) == length &&
			    memcmp(pretrain_faults[i], name, length) == 0))
			plan->faults[i] = found = true;
	return found;
}

static bool plant_list(struct pretrain *plan, const char *list)
{
	size_t length;

	for (; *list; list += length + (list[length] == ',')) {
		length = strcspn(list, ",");
		if (!plant(plan, list, length))
			return false;
	}
	return true;
}

static int usage(void)
{
	fputs("usage: pretrain [--steps N] [--faults all|FAULT,...]\n"
	      "faults: input, comm, sync, pageable\n",
	      stderr);
	return 2;
}

static bool train(const struct pretrain *plan, const char *marks)
{
	struct loader *loader = loader_start(plan);
	struct trainer *trainer;
	uint64_t step;

	trainer_warm_up();
	loader_allocate(loader);
	trainer = trainer_new(plan, loader);
	for (step = 0; step < plan->steps; step++)
		trainer_step(trainer);
	trainer_free(trainer);
	loader_end(loader);
	return !marks || marks_write(marks);
}

int main(int argc, char **argv)
{
	struct pretrain plan = { .steps = 30 };
	char *end = "";
	int i;

	for (i = 1; i + 1 < argc && !*end; i += 2) {
		if (strcmp(argv[i], "--steps") == 0)
			plan.steps = strtoull(argv[i + 1], &end, 10);
		else if (strcmp(argv[i], "--faults") != 0 || !plant_list(&plan, argv[i + 1]))
			return usage();
	}
	if (i != argc || *end)
		return usage();
	return !train(&plan, getenv("PRETRAIN_MARKS"));
}
