// SPDX-License-Identifier: BSD-3-Clause
/*
 * simcalls: calls any function of the CUDA runtime or driver a number of times, for tests of what a
 * profiler counts. As simcalls it is linked to libcudart.so.13, as simcalls-dl it opens one.
 * `simcalls --help` shows its options.
 */
#include "simcalls.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "program.h"

enum { MAX_CALLS = 128, MAX_THREADS = 256 };

struct options {
	struct {
		const struct simcalls_function *function;
		uint64_t count;
	} calls[MAX_CALLS];
	unsigned int call_count;
	uint64_t threads, wait_ms, forks, pause_us, exit_after_ms;
	const char *wait_file, *library;
	bool hang_sync, init, late_dlopen;
};

struct outcome {
	const struct options *options;
	uint64_t calls, errors;
	unsigned int index;
};

static const char usage_text[] =
	"usage: simcalls [OPTION]... FUNCTION=COUNT...\n"
	"each thread of each process calls the functions in the order given\n"
	"  --threads N        threads that do the same (1)\n"
	"  --fork N           processes that do the same, forked before any call (0: this one)\n"
	"  --wait-ms N        first wait so long\n"
	"  --wait-file FILE   first wait until FILE exists\n"
	"  --init             before waiting, let the runtime load and start its driver (not part "
	"of the truth)\n"
	"  --pause-us N       sleep after each call\n"
	"  --hang-sync        at last enter a cudaStreamSynchronize that never returns\n"
	"  --exit-after-ms N  end the process so long after its calls began, whatever hangs\n"
	"  --dlopen PATH      simcalls-dl: the runtime to open (libcudart.so.13)\n"
	"  --late-dlopen      simcalls-dl: open it after waiting, not before\n"
	"  --list             the functions\n";

static void *end_later(void *argument)
{
	const uint64_t *ms = argument;

	sleep_ns(*ms * 1000000);
	exit(0);
}

static void wait_for_start(const struct options *options)
{
	printf("simcalls: ready, pid %d\n", (int)getpid());
	fflush(stdout);
	sleep_ns(options->wait_ms * 1000000);
	while (options->wait_file && access(options->wait_file, F_OK) != 0)
		sleep_ns(5000000);
}

static void *make_calls(void *argument)
{
	struct outcome *outcome = argument;
	const struct options *options = outcome->options;
	struct simcalls_caller *caller = calloc(1, sizeof(*caller));
	char name[24];
	uint64_t n;
	unsigned int i;

	if (!caller)
		abort();
	if (outcome->index) {
		snprintf(name, sizeof(name), "caller-%u", outcome->index);
		pthread_setname_np(pthread_self(), name);
	}
	for (i = 0; i < options->call_count; i++) {
		simcalls_prepare(caller, options->calls[i].function);
		caller->made = 0;
		for (n = 0; n < options->calls[i].count; n++) {
			outcome->errors += simcalls_call(caller, options->calls[i].function) != 0;
			outcome->calls++;
			if (options->pause_us)
				sleep_ns(options->pause_us * 1000);
		}
	}
	if (options->hang_sync && outcome->index == 0)
		simcalls_hang(caller);
	free(caller);
	return NULL;
}

static int open_runtime(const struct options *options)
{
	return simcalls_open(options->library) || simcalls_load() ? -1 : 0;
}

static int run(const struct options *options)
{
	static struct outcome outcomes[MAX_THREADS];
	static pthread_t threads[MAX_THREADS];
	uint64_t exit_after_ms = options->exit_after_ms;
	uint64_t calls = 0, errors = 0;
	pthread_t watchdog;
	unsigned int i;

	if (!options->late_dlopen && open_runtime(options))
		return 1;
	if (options->init && !options->late_dlopen)
		simcalls_init_runtime();
	wait_for_start(options);
	if (options->late_dlopen && open_runtime(options))
		return 1;
	if (exit_after_ms && pthread_create(&watchdog, NULL, end_later, &exit_after_ms))
		return 1;
	for (i = 0; i < options->threads; i++) {
		outcomes[i].options = options;
		outcomes[i].index = i;
		if (i && pthread_create(&threads[i], NULL, make_calls, &outcomes[i]))
			return 1;
	}
	make_calls(&outcomes[0]);
	for (i = 1; i < options->threads; i++)
		pthread_join(threads[i], NULL);
	for (i = 0; i < options->threads; i++) {
		calls += outcomes[i].calls;
		errors += outcomes[i].errors;
	}
	printf("simcalls: pid %d made %" PRIu64 " calls, %" PRIu64 " not successful\n",
	       (int)getpid(), calls, errors);
	return 0;
}

static int run_children(const struct options *options)
{
	uint64_t i;
	int status, worst = 0;

	for (i = 0; i < options->forks; i++) {
		pid_t child = fork();

		if (child == 0)
			exit(run(options));
		if (child < 0) {
			perror("simcalls: fork");
			worst = 1;
		}
	}
	while (wait(&status) > 0)
		if (status)
			worst = 1;
	return worst;
}

static bool parse_number(const char *text, uint64_t *number)
{
	char *end;

	*number = strtoull(text, &end, 0);
	return *text && !*end;
}

static bool parse_call(struct options *options, const char *text)
{
	const char *equals = strchr(text, '=');
	char name[64];
	unsigned int i = options->call_count;

	if (!equals || i == MAX_CALLS)
		return false;
	snprintf(name, sizeof(name), "%.*s", (int)(equals - text), text);
	options->calls[i].function = simcalls_find(name);
	options->call_count++;
	return options->calls[i].function && parse_number(equals + 1, &options->calls[i].count);
}

static bool parse(struct options *options, int argc, char **argv)
{
	const struct program_option known[] = {
		{ "--threads", .number = &options->threads },
		{ "--fork", .number = &options->forks },
		{ "--wait-ms", .number = &options->wait_ms },
		{ "--pause-us", .number = &options->pause_us },
		{ "--exit-after-ms", .number = &options->exit_after_ms },
		{ "--wait-file", .text = &options->wait_file },
		{ "--dlopen", .text = &options->library },
		{ "--hang-sync", .flag = &options->hang_sync },
		{ "--init", .flag = &options->init },
		{ "--late-dlopen", .flag = &options->late_dlopen },
	};
	int taken, i;

	for (i = 1; i < argc; i += taken) {
		taken = 1;
		if (argv[i][0] == '-')
			taken = program_option(known, sizeof(known) / sizeof(known[0]), argv[i],
					       argv[i + 1]);
		else if (!parse_call(options, argv[i]))
			taken = 0;
		if (!taken) {
			fprintf(stderr, "simcalls: not understood: %s\n", argv[i]);
			return false;
		}
	}
	if (!simcalls_takes_path && (options->late_dlopen || options->library)) {
		fputs("simcalls: --dlopen and --late-dlopen are for simcalls-dl\n", stderr);
		return false;
	}
	if (!options->library)
		options->library = "libcudart.so.13";
	return options->threads >= 1 && options->threads <= MAX_THREADS;
}

int main(int argc, char **argv)
{
	static struct options options = { .threads = 1 };

	if (argc == 2 && strcmp(argv[1], "--list") == 0) {
		simcalls_list();
		return 0;
	}
	if (argc == 2 && strcmp(argv[1], "--help") == 0) {
		fputs(usage_text, stdout);
		return 0;
	}
	if (!parse(&options, argc, argv)) {
		fputs(usage_text, stderr);
		return 2;
	}
	return options.forks ? run_children(&options) : run(&options);
}
