/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Another process's memory, read without stopping it (process_vm_readv), page by page, each page
 * once. A stack is copied in one go, so that it is as of one moment as can be. Private to the room.
 */
#ifndef STACK_MEMORY_H
#define STACK_MEMORY_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define STACK_COPY_BYTES (64u << 10)

struct stack_memory;

struct stack_memory *stack_memory_new(pid_t pid);	/* NULL + errno */
void stack_memory_free(struct stack_memory *m);

/* A stack_read_fn; ctx is the struct stack_memory. */
int stack_memory_read(void *ctx, uint64_t at, void *buf, size_t len);

/* Copies the readable part of STACK_COPY_BYTES from sp up, anew. 0 or -errno of the first page. */
int stack_memory_copy(struct stack_memory *m, uint64_t sp);

#endif
