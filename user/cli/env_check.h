/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * `gpuprof env --check`: will a program started here load the helper; has a process that runs
 * loaded it? Installs and changes nothing.
 */
#ifndef CLI_ENV_CHECK_H
#define CLI_ENV_CHECK_H

#include "session/session_options.h"

/* Of the processes chosen by -p, or of our own environment. EXIT_OK: all is well. */
int env_check(const struct session_options *o);

#endif
