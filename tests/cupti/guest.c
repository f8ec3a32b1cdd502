// SPDX-License-Identifier: BSD-3-Clause
/*
 * guest [LIBRARY...]: loads the libraries, then starts CUDA as any program does, and if there is no
 * driver, goes on without. Then its helper is called as a driver would. Exits 7 after a moment in
 * which the helper can do what it does.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { STATUS = 7, MOMENT_US = 300000 };

static void call(const char *path, const char *name)
{
	void *library = path ? dlopen(path, RTLD_NOW | RTLD_LOCAL) : NULL;
	void *at = library ? dlsym(library, name) : NULL;
	int (*function)(void);

	memcpy(&function, &at, sizeof(at));
	if (function)
		function();
}

int main(int argc, char **argv)
{
	void *driver, *at;
	int (*init)(unsigned int flags);

	for (int i = 1; i < argc; i++)
		printf("%s\n", dlopen(argv[i], RTLD_NOW | RTLD_LOCAL) ? "loaded" : dlerror());
	driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_GLOBAL);
	at = driver ? dlsym(driver, "cuInit") : NULL;
	memcpy(&init, &at, sizeof(at));
	if (init)
		printf("cuInit: %d\n", init(0));
	else
		call(getenv("CUDA_INJECTION64_PATH"), "InitializeInjection");
	fflush(stdout);
	usleep(MOMENT_US);
	printf("%s\n", driver ? "ends" : "ends without a driver");
	return STATUS;
}
