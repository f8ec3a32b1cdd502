/* SPDX-License-Identifier: BSD-3-Clause */
/* The purpose of the environment: the forms of `gpuprof env --for`. */
#ifndef CLI_CMD_ENV_H
#define CLI_CMD_ENV_H

enum env_form { ENV_SHELL, ENV_SYSTEMD, ENV_DOCKER, ENV_K8S, ENV_SLURM, ENV_FORMS };

#endif
