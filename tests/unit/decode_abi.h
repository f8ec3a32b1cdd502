/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Calls as the compiler makes them: `see` is called through the real prototypes of the probed
 * functions and keeps the words that a probe would capture.
 */
#ifndef UNIT_DECODE_ABI_H
#define UNIT_DECODE_ABI_H

#include <stddef.h>
#include <stdint.h>

#include "gpuprof/event.h"

/* ---- the vendor's public layouts, as far as a launch needs them ------------------------------ */

typedef struct { unsigned int x, y, z; } dim3;
typedef void *handle;

struct runtime_config {		/* cudaLaunchConfig_t */
	dim3 grid, block;
	size_t shared;
	handle stream;
	void *attrs;
	unsigned int n_attrs;
};

struct driver_config {		/* CUlaunchConfig */
	unsigned int gx, gy, gz, bx, by, bz, shared;
	handle stream;
	void *attrs;
	unsigned int n_attrs;
};

/* ---- calls as the compiler makes them --------------------------------------------------------- */

/* Six registers, then further arguments in registers or on the stack; bytes the caller left
 * undefined stay as they are. */
enum { SEEN_STACK = 16 };
uint64_t seen[GP_REGS + SEEN_STACK];

#define SEE __asm__("see")
int see_launch(const void *func, dim3 grid, dim3 block, void **args, size_t shared,
	       handle stream) SEE;
int see_launch_six(handle func, unsigned int gx, unsigned int gy, unsigned int gz, unsigned int bx,
		   unsigned int by, unsigned int bz, unsigned int shared, handle stream,
		   void **args, void **extra) SEE;
int see_runtime_config(const struct runtime_config *config, const void *func, void **args) SEE;
int see_driver_config(const struct driver_config *config, handle func, void **args,
		      void **extra) SEE;
int see_graph(handle graph, handle stream) SEE;
int see_words(handle a, uint64_t b, uint64_t c, uint64_t d, uint64_t e) SEE;
int see_all_reduce(const void *from, void *to, size_t count, int type, int op, handle comm,
		   handle stream) SEE;
int see_copy(void *to, const void *from, size_t bytes, int dir, handle stream) SEE;

#ifdef __x86_64__
__asm__(".text\n"
	".type see, @function\n"
	"see:\n"
	"	lea seen(%rip), %r10\n"
	"	mov %rdi, (%r10)\n"
	"	mov %rsi, 8(%r10)\n"
	"	mov %rdx, 16(%r10)\n"
	"	mov %rcx, 24(%r10)\n"
	"	mov %r8, 32(%r10)\n"
	"	mov %r9, 40(%r10)\n"
	"	lea 8(%rsp), %rsi\n"
	"	lea 48(%r10), %rdi\n"
	"	mov $16, %ecx\n"
	"	rep movsq\n"
	"	xor %eax, %eax\n"
	"	ret\n"
	".size see, .-see\n");
#elif defined(__aarch64__)
__asm__(".text\n"
	".type see, %function\n"
	"see:\n"
	"	adrp x9, seen\n"
	"	add x9, x9, :lo12:seen\n"
	"	stp x0, x1, [x9], #16\n"
	"	stp x2, x3, [x9], #16\n"
	"	stp x4, x5, [x9], #16\n"
	"	stp x6, x7, [x9], #16\n"
	"	mov x10, sp\n"
	"	mov w11, #7\n"
	"1:	ldp x12, x13, [x10], #16\n"
	"	stp x12, x13, [x9], #16\n"
	"	subs w11, w11, #1\n"
	"	b.ne 1b\n"
	"	mov w0, #0\n"
	"	ret\n"
	".size see, .-see\n");
#endif

#endif
