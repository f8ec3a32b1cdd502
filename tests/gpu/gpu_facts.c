// SPDX-License-Identifier: BSD-3-Clause
/*
 * gpu_facts NAME: one experiment with the real driver and CUPTI, whose answers gpuprof relies on; without
 * NAME lists all. Each is a process of its own: CUPTI's state is the process's, and a crash is an answer.
 * Answers are lines "key: value". GPUPROF_CUPTI names libcupti, GPU_FACTS_CUDART libcudart. Exit: 0, 1 it
 * could not begin, 77 something that it needs is missing, 2 usage.
 */
#include "facts.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void before_init(void)
{
	uint32_t version = 0;

	FACTS_STEP("cuptiGetVersion before cuInit", facts_cupti.version(&version));
	facts_answer("version", "%u", version);
	facts_answer_clock("clock");
	facts_answer_sizes();
}

/* The driver loads gpu_facts.so, which answers from there. */
static void inside_init(void)
{
	const char *path = getenv("CUDA_INJECTION64_PATH");
	void (*answer)(void) = NULL, *library;

	if (!path || !*path) {
		facts_answer("left out", "CUDA_INJECTION64_PATH names no gpu_facts.so");
		exit(FACTS_SKIP);
	}
	if (!facts_open_driver(true))
		exit(FACTS_SKIP);
	facts_answer("after cuInit", "100 launches");
	for (int i = 0; i < 100; i++)
		facts_nop(NULL);
	facts_cu.synchronize();
	library = dlopen(path, RTLD_NOW | RTLD_NOLOAD);
	if (library)
		*(void **)&answer = dlsym(library, "facts_injected_answer");
	if (answer)
		answer();
	else
		facts_answer("kernels recorded", "unknown: the driver did not load the library");
}

static void end_unflushed(void)
{
	facts_arm();
	for (int i = 0; i < 100; i++)
		facts_nop(NULL);
	facts_answer("end", "with 100 kernels not flushed");
}

enum needs { NOTHING, DRIVER, CUPTI_ALONE, BOTH };

static const struct {
	const char *name, *question;
	enum needs needs;	/* opened before it runs */
	void (*run)(void);
} experiments[] = {
	{ "noinit", "what does CUPTI answer before cuInit?", CUPTI_ALONE, before_init },
	{ "inject", "does arming work inside cuInit?", NOTHING, inside_init },
	{ "address", "does cuGetProcAddress give exported functions?", DRIVER, facts_address },
	{ "census", "how do the driver's functions begin?", DRIVER, facts_census },
	{ "occupied", "is a session without subscriber seen?", BOTH, facts_occupied },
	{ "takeover", "who gets buffers and records after another registers?", BOTH, facts_takeover },
	{ "inflight", "which end has a kernel during which its kind was disabled?", BOTH, facts_inflight },
	{ "withhold", "what does a flush give while a kernel runs?", BOTH, facts_withhold },
	{ "graphs", "do graphs' kernels meet their launch in later sessions?", DRIVER, facts_graphs },
	{ "threads", "how many buffers are out with 96 threads?", BOTH, facts_many_threads },
	{ "clock", "which clock do records have, and how do kernels stand to calls?", BOTH, facts_clock },
	{ "ticks", "do records follow a registered clock of ticks?", BOTH, facts_ticks },
	{ "memory", "which allocations make memory records?", BOTH, facts_memory },
	{ "nested", "which API records does a call of the runtime make?", DRIVER, facts_nested },
	{ "arm", "how long do arming and draining stall launches?", DRIVER, facts_arming },
	{ "cost", "what does a launch cost with each kind?", DRIVER, facts_cost },
	{ "device", "what happens when buffers on the device are used up?", BOTH, facts_device },
	{ "finish", "does a process end well with records that were not flushed?", BOTH, end_unflushed },
};
enum { EXPERIMENTS = sizeof(experiments) / sizeof(experiments[0]) };

static int run(int i)
{
	enum needs needs = experiments[i].needs;

	printf("== %s: %s\n", experiments[i].name, experiments[i].question);
	if ((needs == DRIVER || needs == BOTH) && !facts_open_driver(true))
		return 1;
	if ((needs == CUPTI_ALONE || needs == BOTH) && !facts_open_cupti())
		return FACTS_SKIP;
	experiments[i].run();
	return 0;
}

int main(int argc, char **argv)
{
	for (int i = 0; i < EXPERIMENTS; i++) {
		if (argc < 2)
			printf("%-10s %s\n", experiments[i].name, experiments[i].question);
		else if (!strcmp(argv[1], experiments[i].name))
			return run(i);
	}
	if (argc < 2)
		return 0;
	fprintf(stderr, "gpu_facts: no experiment '%s'\n", argv[1]);
	return 2;
}
