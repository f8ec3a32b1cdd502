/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How rows of the catalogue are written: COMMON (the part that all rows of a table share; each
 * table defines it before its rows) and the row's own part. A twin takes the same arguments and
 * is a function of its own: its name shows it, and both are probed.
 */
#ifndef CATALOG_ROWS_H
#define CATALOG_ROWS_H

#define ROW(symbol, ...) { .name = #symbol, COMMON, __VA_ARGS__ }
#define ROWS(table) .rows = table, .n_rows = sizeof(table) / sizeof((table)[0])
/* Twins for the per-thread default stream, of calls that take a stream and of those that do not. */
#define PTSZ(symbol, ...) ROW(symbol, __VA_ARGS__), ROW(symbol##_ptsz, __VA_ARGS__)
#define PTDS(symbol, ...) ROW(symbol, __VA_ARGS__), ROW(symbol##_ptds, __VA_ARGS__)
/* Twins with 64-bit sizes. */
#define WIDE(symbol, ...) ROW(symbol, __VA_ARGS__), ROW(symbol##_64, __VA_ARGS__)

/* Tables of tier 0, and those probed on request only. */
#define DEFAULT_ROWS .tier = 0
#define QUERY_ROWS .tier = 1, .class = CLASS_QUERY

/*
 * Arguments behind structs of more than two words by value, the only ones whose words differ
 * between ABIs: x86-64 copies such a struct onto the stack and spends no register on it, arm64
 * passes the address of a copy as if it was a pointer. (Where all other words are, BPF sees to:
 * bpf/abi.bpf.h.)
 *
 *	EXTENT(argument, on_stack)	three words of a struct: extra words 7-9. argument: the one
 *					it is, from 1; on_stack: words of such structs before it
 *	BEHIND(argument, structs)	the word of an argument that has such structs before it
 */

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
