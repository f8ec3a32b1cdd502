// SPDX-License-Identifier: BSD-3-Clause
/* Dispatch only: options in, one verb's function, its exit code out. */
#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include "base/exit.h"
#include "base/log.h"
#include "base/note.h"
#include "cli/option_row.h"
#include "cli/verbs.h"
#include "session/nvml_source.h"

static int (*const verbs[VERB_END])(const struct options *o) = {
	[VERB_DEFAULT] = verb_watch, [VERB_TOP] = verb_top,
	[VERB_STAT] = verb_stat, [VERB_RECORD] = verb_record,
	[VERB_REPORT] = verb_report, [VERB_EXPORT] = verb_report,
	[VERB_STACKS] = verb_stacks, [VERB_ENV] = verb_env,
	[VERB_DOCTOR] = verb_doctor, [VERB_VERSION] = verb_version, [VERB_HELP] = verb_help,
};

static int run(const struct options *o)
{
	int rc;

	if (o->quiet)
		log_threshold = LOG_ERROR;
	if (o->verbose)
		log_threshold = LOG_DEBUG;
	if (o->help)
		return help_verb(o->verb);
	rc = mig_select(o->session.selector);
	return rc ? rc : verbs[o->verb - options_verbs](o);
}

int main(int argc, char **argv)
{
	struct options options;
	int rc;

	signal(SIGXFSZ, SIG_IGN);	/* a file too large is an error of write, not our end */
	/* With `>&-` the first file opened would become standard output and be written into. Closed
	 * descriptors are filled with one that fails every write. */
	for (int fd = 0; fd <= STDERR_FILENO; fd++)
		if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", O_RDONLY) != fd)
			return EXIT_FAIL;
	rc = options_parse(&options, argc, argv);
	if (!rc)
		rc = run(&options);
	note_log_rest();
	options_free(&options);
	return rc;
}
