/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Arguments behind structs of more than two words by value, the only ones whose words differ
 * between ABIs: x86-64 copies such a struct onto the stack and spends no register on it, arm64
 * passes the address of a copy as if it was a pointer. (Where all other words are, BPF sees to:
 * bpf/abi.bpf.h.)
 *
 *	EXTENT(argument, on_stack)	three words of a struct: extra words 7-9. argument: which one it
 *					is, from 1; on_stack: words of such structs before it
 *	BEHIND(argument, structs)	the word of an argument that has such structs before it
 */
#ifndef CATALOG_CATALOG_ABI_H
#define CATALOG_CATALOG_ABI_H

#if defined(__x86_64__)
#define EXTENT(argument, on_stack) .extra = GP_EXTRA_STACK_AT, .extra_words = 3, \
	.at = { (on_stack), (on_stack) + 1, (on_stack) + 2 }
#define BEHIND(argument, structs) ((argument) - (structs))
#elif defined(__aarch64__)
#define EXTENT(argument, on_stack) .extra = GP_EXTRA_DEREF, .extra_words = 3, \
	.from = (argument) - 1
#define BEHIND(argument, structs) (argument)
#else
#error "gpuprof knows the ABI of x86-64 and arm64 only"
#endif

#endif
