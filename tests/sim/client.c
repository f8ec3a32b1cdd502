// SPDX-License-Identifier: BSD-3-Clause
/*
 * client WHEN [FILE]: a program with a profiler of its own (client_profiler.c). Prints what that saw in
 * each window. WHEN: before: one window, from the start; during: one, after launches that it does not
 * profile; after: the same, once FILE is there; twice: two, some time apart; teardown: the same, and
 * the profiler gives CUPTI back between them.
 */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "client.h"
#include "cudart_api.h"

enum { LAUNCHES = 1500, SOME = 200, REST_US = 2500000 };

static char kernel;

static void launch(int n)
{
	dim3 one = { 1, 1, 1 };

	for (int i = 0; i < n; i++) {
		cudaLaunchKernel(&kernel, one, one, NULL, 0, NULL);
		usleep(1000);
	}
	cudaDeviceSynchronize();
}

static void window(bool teardown)
{
	bool on = profiler_begin();

	launch(LAUNCHES);
	printf("profiler: %s, %s\n", on ? "on" : "it could not subscribe",
	       profiler_end(teardown) == LAUNCHES ? "all kernels" : "not all kernels");
	fflush(stdout);
}

int main(int argc, char **argv)
{
	const char *when = argc > 1 ? argv[1] : "";
	bool teardown = !strcmp(when, "teardown");

	if (strcmp(when, "before"))
		launch(SOME);
	while (argc > 2 && access(argv[2], F_OK))
		usleep(1000);
	window(teardown);
	launch(SOME);
	if (teardown || !strcmp(when, "twice")) {
		usleep(REST_US);
		launch(SOME);
		window(teardown);
		launch(SOME);
	}
	return 0;
}
