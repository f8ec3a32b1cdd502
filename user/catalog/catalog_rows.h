/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How rows of the catalogue are written: COMMON (what all rows of a table share; each table
 * defines it before its rows) and what the row has of its own. A twin takes the same arguments and
 * is a function of its own: its name says so, and both are probed.
 */
#ifndef CATALOG_CATALOG_ROWS_H
#define CATALOG_CATALOG_ROWS_H

#define ROW(symbol, ...) { .name = #symbol, COMMON, __VA_ARGS__ }
/* Twins for the per-thread default stream, of calls that take a stream and of those that do not. */
#define PTSZ(symbol, ...) ROW(symbol, __VA_ARGS__), ROW(symbol##_ptsz, __VA_ARGS__)
#define PTDS(symbol, ...) ROW(symbol, __VA_ARGS__), ROW(symbol##_ptds, __VA_ARGS__)
/* Twins with 64-bit sizes. */
#define WIDE(symbol, ...) ROW(symbol, __VA_ARGS__), ROW(symbol##_64, __VA_ARGS__)

/* Tables of tier 0, and what is probed on request only. */
#define DEFAULT_ROWS .tier = 0
#define QUERY_ROWS .tier = 1, .class = CLASS_QUERY

#endif
