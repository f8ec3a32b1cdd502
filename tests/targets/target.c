// SPDX-License-Identifier: BSD-3-Clause
/* Options, start and end of a test target. */
#include "target.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const struct target_option *find(const struct target_option *options, const char *argument)
{
	if (strncmp(argument, "--", 2))
		return NULL;
	for (; options->name; options++)
		if (!strcmp(options->name, argument + 2))
			return options;
	return NULL;
}

static _Noreturn void usage(const char *program, const struct target_option *own,
		  const struct target_option *common)
{
	fprintf(stderr, "usage: %s [--OPTION VALUE]...\n", program);
	for (; own->name; own++)
		fprintf(stderr, "  --%-12s %s\n", own->name, own->help);
	for (; common->name; common++)
		fprintf(stderr, "  --%-12s %s\n", common->name, common->help);
	exit(2);
}

static void read_options(int argc, char **argv, const struct target_option *own,
			 struct target_control *control)
{
	const struct target_option common[] = {
		{ "truth", NULL, &control->truth, "file for the truth of what was called" },
		{ "ready-file", NULL, &control->ready_file, "made before the wait" },
		{ "wait-file", NULL, &control->wait_file, "no call before this exists" },
		{ "end-file", NULL, &control->end_file, "no exit before this exists" },
		{ NULL, NULL, NULL, NULL },
	};

	memset(control, 0, sizeof(*control));
	for (int i = 1; i < argc; i += 2) {
		const struct target_option *o = find(own, argv[i]);

		if (!o)
			o = find(common, argv[i]);
		if (!o || i + 1 == argc)
			usage(argv[0], own, common);
		if (o->text)
			*o->text = argv[i + 1];
		else
			*o->number = strtoul(argv[i + 1], NULL, 0);
	}
}

static void wait_for(const char *path)
{
	while (path && access(path, F_OK))
		usleep(1000);
}

void target_begin(int argc, char **argv, const struct target_option *options,
		  struct target_control *control)
{
	read_options(argc, argv, options, control);
	if (control->ready_file) {
		int fd = open(control->ready_file, O_CREAT | O_WRONLY | O_CLOEXEC, 0644);

		if (fd < 0)
			perror(control->ready_file);
		else
			close(fd);
	}
	wait_for(control->wait_file);
}

int target_end(const struct target_control *control, int err)
{
	wait_for(control->end_file);
	return err ? 1 : 0;
}
