/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The catalogue: every function that can be probed, as data. One table per library, one row per
 * function; a new function is a new row. Rows list the raw words that BPF captures and the
 * meaning of each; they know nothing of how probes are attached.
 *
 * Words are numbered from 1 in rows (0 = there is none): 1-6 are the first six integer arguments,
 * 7-12 the extra words (further arguments, in registers or not, or what argument `from` points to).
 * A dim3 by value takes two words: x | y << 32, then z.
 *
 * Names that share an address get one probe, that of the first row; so an alias (pncclX) needs no
 * row, and no two rows of a library are aliases: a twin (_ptsz, _64) is a function of its own.
 */
#ifndef CATALOG_CATALOG_H
#define CATALOG_CATALOG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "catalog/func.h"
#include "gpuprof/event.h"
#include "gpuprof/row.h"

enum row_shape {		/* where a launch's grid and block are */
	SHAPE_NONE,
	SHAPE_DIM3,		/* dim3 grid in words 2-3, dim3 block in 4-5, shared 7, stream 8 */
	SHAPE_SIX,		/* words 2-7, shared 8, stream 9 (cuLaunchKernel) */
	SHAPE_RUNTIME_CONFIG,	/* cudaLaunchConfig_t in words 7-11 */
	SHAPE_DRIVER_CONFIG,	/* CUlaunchConfig in words 7-11 */
	SHAPE_GEMM,		/* m, n, k in words 4-6 */
	SHAPE_GEMMS,		/* ... and the number of products in word 7 */
};

enum row_dir {			/* which way a copy goes */
	DIR_NONE,
	DIR_WORD,		/* cudaMemcpyKind in word `dir_word` */
	/* CUmemorytype of the source there, of the destination in the next */
	DIR_TYPES,
	DIR_H2D, DIR_D2H, DIR_D2D, DIR_DEFAULT,
};

struct catalog_row {
	const char *name;	/* the exported symbol */
	uint8_t class;		/* enum call_class */
	uint8_t tier;		/* 0: always probed, 1: on request; CATALOG_TIER_NONE */
	uint8_t two;		/* may block or last: a record at entry too */
	uint8_t rare;		/* called seldom: a single-stepped probe is acceptable */
	uint8_t jumps;		/* ends in a jump to another row's function */
	uint8_t extra;		/* GP_EXTRA_*: extra words to read ... */
	uint8_t extra_words;	/* ... how many ... */
	uint8_t from;		/* ... behind which pointer: of argument 0, 1, ... 5 ... */
	uint8_t at[GP_EXTRA_MAX]; /* ... and for GP_EXTRA_*_AT, where, in 8-byte words */
	uint8_t shape;		/* enum row_shape */
	/* word of the launched function, of a memory pool, communicator or event, of the graph
	 * that another is made of, of the graph that is changed or ended */
	uint8_t entity;
	/* word of the memory that is allocated or freed, of a graph that is made ... */
	uint8_t address;
	uint8_t out;		/* ... where that is stored, when the call returns (words 1, 2) */
	uint8_t bytes;		/* word of a byte or element count */
	uint8_t scale;		/* bytes per element; 0: 1 */
	uint8_t dtype;		/* word of an ncclDataType_t, the element size */
	uint8_t times[2];	/* words of further factors (height and depth of a copy) */
	uint8_t arrays;		/* bytes are unknown unless this word and the next are 0 */
	uint8_t stream;		/* word of the stream handle */
	uint8_t dir;		/* enum row_dir */
	uint8_t dir_word;
	uint8_t role;		/* enum func_role, unless its class implies it */
	uint8_t asks;		/* is no call: PyTorch's workers run for the thread in it */
	uint8_t is_mark;	/* "PROVIDER:NAME", a place that is marked (USDT) */
};

struct catalog_library {
	const char *name;	/* "cudart": also names its results */
	/* "libcudart.so"; the name may have a version or a wheel's hash. NULL: always static */
	const char *file;
	const char *marker;	/* a static copy has this as a local symbol; NULL: never static */
	bool marker_begins;	/* ... or functions, global or local, whose names begin with it */
	const struct catalog_row *rows;
	size_t n_rows;
};

extern const struct catalog_library catalog_cudart, catalog_cuda, catalog_nccl, catalog_nvrtc,
				    catalog_nvjitlink, catalog_nvptxcompiler, catalog_cublas,
				    catalog_cublaslt, catalog_cudnn, catalog_torch, catalog_c10;

#define CATALOG_LIBRARIES 11
#define CATALOG_TIERS 2
#define CATALOG_TIER_NONE 255u
const struct catalog_library *catalog_library(unsigned int i);	/* i < CATALOG_LIBRARIES */

/* Rows of all libraries are numbered through, from 1; the number is the attach cookie, the wire's
 * `row` and the index into struct funcs. */
unsigned int catalog_first_row(unsigned int library);

/* highest number + 1 */
static inline unsigned int catalog_n_rows(void)
{
	return catalog_first_row(CATALOG_LIBRARIES);
}

const struct catalog_row *catalog_row(unsigned int row);	/* NULL: no such row */

/* Where only a few functions can be probed: the best is 1, one that is not worth it 0. */
unsigned int catalog_core_rank(unsigned int row);

/* The one whose files are called so ("libcudart.so.13.0.96"), or -1. */
int catalog_library_of(const char *basename);
bool catalog_wants_file(const char *basename);	/* is there one? */
bool catalog_has_tier(const char *basename, unsigned int tier);	/* rows of that tier or below */

const struct catalog_row *catalog_find(const char *name);	/* NULL: no such row */

/* Also of functions of a capture, by their names. */
enum func_role catalog_role(const struct func *fn);
void catalog_funcs(struct funcs *out);			/* the func table of live sources */
void catalog_wire_row(const struct catalog_row *row, struct gp_row *out);

#endif
