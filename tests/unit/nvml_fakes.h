/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Functions for a table of NVML's that answer as any library does, for tests of its reader that are not of
 * these; and what the reader holds of them. What a test is of, it answers itself.
 */
#ifndef UNIT_NVML_FAKES_H
#define UNIT_NVML_FAKES_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "source/nvml/nvml.c"

static struct {
	uintptr_t samples, sets;
} held;

static inline unsigned int fake_nothing(void)
{
	return 0;
}

static inline unsigned int fake_version(char *text, unsigned int bytes)
{
	snprintf(text, bytes, "1");
	return 0;
}

static inline unsigned int fake_set(struct nvmlEventSet_st **set)
{
	*set = (struct nvmlEventSet_st *)(++held.sets * 8);
	return 0;
}

static inline unsigned int fake_free(struct nvmlEventSet_st *set)
{
	(void)set;
	held.sets--;
	return 0;
}

static inline unsigned int fake_every_type(struct nvmlDevice_st *d, unsigned long long *types)
{
	(void)d;
	*types = UINT64_MAX;
	return 0;
}

static inline unsigned int fake_support(struct nvmlDevice_st *d, struct nvml_gpm_support *s)
{
	(void)d;
	s->supported = 1;
	return 0;
}

static inline unsigned int fake_alloc(struct nvmlGpmSample_st **s)
{
	*s = (struct nvmlGpmSample_st *)(++held.samples * 8);
	return 0;
}

static inline unsigned int fake_release(struct nvmlGpmSample_st *s)
{
	(void)s;
	held.samples--;
	return 0;
}

#endif
