/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Threads and processes that exited: threads become one of their process, processes one of the
 * session (ledger/model_processes.h has the rule).
 */
#ifndef LEDGER_RETENTION_H
#define LEDGER_RETENTION_H

#include "facts/consumer.h"

/* EXIT, IDENTITY: when threads and processes ended. */
extern const struct consumer ends_consumer;

/*
 * EXIT. When a thread exits, threads that exited more than JOIN_WINDOW_NS ago forget their
 * timelines, and where there are more than MODEL_THREADS they become one for each process; with
 * its process, processes that exited become one by model_processes.h's rule.
 */
extern const struct consumer retention_consumer;

#endif
