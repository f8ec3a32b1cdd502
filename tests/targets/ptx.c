// SPDX-License-Identifier: BSD-3-Clause
/*
 * A program that calls every function of the vendor's PTX compiler, which needs no GPU: programs
 * that compile, one that does not, and none at all. The compiler is an archive, so it ends up in
 * what is linked: in this program, or with TARGET_SHARED in a library that this program begins.
 */
#include <nvPTXCompiler.h>
#include <stdlib.h>
#include <string.h>

#include "target.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static struct truth truth;

static const char *result_name(int code)
{
	static const char *const names[] = {
		[NVPTXCOMPILE_SUCCESS] = "NVPTXCOMPILE_SUCCESS",
		[NVPTXCOMPILE_ERROR_INVALID_COMPILER_HANDLE] =
			"NVPTXCOMPILE_ERROR_INVALID_COMPILER_HANDLE",
		[NVPTXCOMPILE_ERROR_INVALID_INPUT] = "NVPTXCOMPILE_ERROR_INVALID_INPUT",
		[NVPTXCOMPILE_ERROR_COMPILATION_FAILURE] = "NVPTXCOMPILE_ERROR_COMPILATION_FAILURE",
		[NVPTXCOMPILE_ERROR_COMPILER_INVOCATION_INCOMPLETE] =
			"NVPTXCOMPILE_ERROR_COMPILER_INVOCATION_INCOMPLETE",
		[NVPTXCOMPILE_ERROR_UNSUPPORTED_PTX_VERSION] =
			"NVPTXCOMPILE_ERROR_UNSUPPORTED_PTX_VERSION",
	};

	return code >= 0 && code < (int)COUNT(names) && names[code] ? names[code] : "?";
}

#define CALL(known_bytes, name, ...)                                                            \
	do {                                                                                    \
		uint64_t start_ns = truth_now_ns();                                             \
		int result = (int)name(__VA_ARGS__);                                            \
		truth_call(&truth, #name, start_ns, result)->bytes += (known_bytes);            \
	} while (0)

static int go_on(void *payload, void *reserved)
{
	(void)payload;
	(void)reserved;
	return 0;
}

/* What was made, and what was said about it. */
static void take(nvPTXCompilerHandle compiler)
{
	size_t bytes = 0;
	char *buffer;

	CALL(0, nvPTXCompilerGetCompiledProgramSize, compiler, &bytes);
	buffer = calloc(1, bytes + 1);
	CALL(0, nvPTXCompilerGetCompiledProgram, compiler, buffer);
	free(buffer);
	CALL(0, nvPTXCompilerGetErrorLogSize, compiler, &bytes);
	buffer = calloc(1, bytes + 1);
	CALL(0, nvPTXCompilerGetErrorLog, compiler, buffer);
	free(buffer);
	CALL(0, nvPTXCompilerGetInfoLogSize, compiler, &bytes);
	buffer = calloc(1, bytes + 1);
	CALL(0, nvPTXCompilerGetInfoLog, compiler, buffer);
	free(buffer);
}

static void compile(const char *ptx)
{
	const char *options[] = { "--gpu-name=sm_80", "--verbose" };
	nvPTXCompilerHandle compiler = NULL;

	CALL(strlen(ptx), nvPTXCompilerCreate, &compiler, strlen(ptx), ptx);
	CALL(0, nvPTXCompilerSetFlowCallback, compiler, go_on, NULL);
	CALL(0, nvPTXCompilerCompile, compiler, (int)COUNT(options), options);
	take(compiler);
	CALL(0, nvPTXCompilerDestroy, &compiler);
}

static void versions(void)
{
	unsigned int major, minor;
	int n = 0, (*all)[2];

	CALL(0, nvPTXCompilerGetVersion, &major, &minor);
	CALL(0, nvPTXCompilerGetNumSupportedVersions, &n);
	all = calloc((size_t)n + 1, sizeof(*all));
	CALL(0, nvPTXCompilerGetSupportedVersions, all);
	free(all);
}

static void refused(void)
{
	nvPTXCompilerHandle none = NULL;

	CALL(0, nvPTXCompilerCompile, none, 0, NULL);
	CALL(0, nvPTXCompilerDestroy, &none);
}

#ifdef TARGET_SHARED
#define MAIN ptx_main
int ptx_main(int argc, char **argv);
#else
#define MAIN main
#endif

int MAIN(int argc, char **argv)
{
	static const char *const programs[] = {
		".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry f() { ret; }\n",
		".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry other() { ret; }\n",
		".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry f() { rot; }\n",
		".version 99.9\n.target sm_80\n.address_size 64\n",
	};
	unsigned long rounds = 1;
	const struct target_option options[] = {
		{ "rounds", &rounds, NULL, "how often (1)" },
		{ NULL, NULL, NULL, NULL },
	};
	struct target_control control;

	target_begin(argc, argv, options, &control);
	for (unsigned long i = 0; i < rounds; i++) {
		for (size_t k = 0; k < COUNT(programs); k++)
			compile(programs[k]);
		refused();
		versions();
	}
	return target_end(&control, truth_write(control.truth, &truth, 1, result_name));
}
