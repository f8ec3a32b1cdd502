/* SPDX-License-Identifier: BSD-3-Clause */
/* `gpuprof env --check`: whether programs that are started here will load the helper, or whether
 * running ones have loaded it. Changes nothing. */
#ifndef CLI_ENV_CHECK_H
#define CLI_ENV_CHECK_H

#include "session/session_options.h"

/* Prints a line for each thing that it checks, of the processes in o->pids or, without any, of our
 * own environment. EXIT_OK: all is well. */
int env_check(const struct session_options *o);

#endif
