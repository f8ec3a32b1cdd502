/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The user-mode registers of all threads of some processes, now, without stopping them (a BPF task
 * iterator; Linux 5.15). Knows nothing of stacks.
 */
#ifndef PROBE_LOADER_REGS_H
#define PROBE_LOADER_REGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "gpuprof/regs.h"

typedef void (*loader_regs_fn)(void *ctx, const struct gp_thread_regs *regs);

/* 0 or -errno, not logged, as there is another way (procfs): EPERM (no right to load BPF programs),
 * ENOTSUP (in a pid namespace, where BPF shows other pids than procfs). */
int loader_read_regs(const uint32_t *pids, size_t n, loader_regs_fn fn, void *ctx);

/* For the loader: opens a task iterator's output (opts may be NULL; fd or -errno), and visits
 * all register records in one (0 or -errno). */
struct bpf_program;
struct bpf_iter_attach_opts;
int loader_open_iterator(struct bpf_program *prog, const struct bpf_iter_attach_opts *opts);
int loader_regs_each(int iter_fd, loader_regs_fn fn, void *ctx);

#endif
