// SPDX-License-Identifier: BSD-3-Clause
/*
 * client WHEN [FILE]: a program with a profiler of its own (client_profiler.c), which CLIENT_STYLE
 * names. Prints what that saw in each window. WHEN: before: one window, from the start; during: one,
 * after launches that it does not profile; after: the same, once FILE is there; twice: two, some time
 * apart; far: the same, longer apart; teardown: as twice, and the profiler gives CUPTI back between
 * them; short: as during, a quarter of a second long; never: none, but thousands of launches whose works
 * all wait for the first.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "client.h"
#include "cudart_api.h"

enum { LAUNCHES = 1500, SOME = 200, DEEP = 20000, REST_US = 2500000, LONG_REST_US = 4000000,
       REST_STEP_US = 100000 };

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

static void launch_deep(void)
{
	dim3 one = { 1, 1, 1 }, long_one = { 1 << 26, 1, 1 }, block = { 1024, 1, 1 };

	cudaLaunchKernel(&kernel, long_one, block, NULL, 0, NULL);
	for (int i = 0; i < DEEP; i++)
		cudaLaunchKernel(&kernel, one, one, NULL, 0, NULL);
	cudaDeviceSynchronize();
}

/* It launches nothing, and waits for the device now and then: that of a window is known to be over. */
static void rest(useconds_t us)
{
	for (useconds_t i = 0; i < us / REST_STEP_US; i++) {
		usleep(REST_STEP_US);
		cudaDeviceSynchronize();
	}
}

static void window(int launches, bool teardown)
{
	bool on = profiler_begin();
	int missing;

	launch(launches);
	missing = launches - (int)profiler_end(teardown);
	printf("profiler: %s, all kernels", on ? "on" : "it could not subscribe");
	if (missing)
		printf(" but %d", missing);
	printf("\n");
	fflush(stdout);
}

int main(int argc, char **argv)
{
	const char *when = argc > 1 ? argv[1] : "";
	bool teardown = !strcmp(when, "teardown"), far = !strcmp(when, "far");
	const char *style = getenv("CLIENT_STYLE");

	if (style && !profiler_choose(style)) {
		fprintf(stderr, "client: CLIENT_STYLE: no style '%s'\n", style);
		return 2;
	}
	if (!strcmp(when, "never")) {
		launch_deep();
		return 0;
	}
	if (strcmp(when, "before"))
		launch(SOME);
	while (argc > 2 && access(argv[2], F_OK))
		usleep(1000);
	window(!strcmp(when, "short") ? SOME : LAUNCHES, teardown);
	launch(SOME);
	if (teardown || far || !strcmp(when, "twice")) {
		rest(far ? LONG_REST_US : REST_US);
		launch(SOME);
		window(LAUNCHES, teardown);
		launch(SOME);
	}
	return 0;
}
