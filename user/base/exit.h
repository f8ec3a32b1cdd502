/* SPDX-License-Identifier: BSD-3-Clause */
/* Exit statuses of gpuprof (design §9). `-- CMD` passes the command's own status on. */
#ifndef BASE_EXIT_H
#define BASE_EXIT_H

enum exit_code {
	EXIT_OK = 0,
	EXIT_FAIL = 1,
	EXIT_USAGE = 2,		/* the command line is wrong */
	EXIT_PERMISSION = 3,	/* a capability is missing; the message names it */
	EXIT_UNSUPPORTED = 4,	/* not on this kernel or with this library */
	EXIT_PARTIAL = 5,	/* printed, but loss above --max-loss or a recovered file */
	EXIT_NOT_RUN = 126,	/* the command exists and cannot be run; as in shells */
	EXIT_NOT_FOUND = 127,	/* there is no such command */
};

#endif
