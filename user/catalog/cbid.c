// SPDX-License-Identifier: BSD-3-Clause
/* See the header. The tables are written from CUPTI's by scripts/gen-cbids. */
#include "catalog/cbid.h"

#include "gpuprof/cbids.h"

#define ROW(number, name) { number, #name },
static const struct cbid runtime[] = { GP_RUNTIME_CBIDS(ROW) };
static const struct cbid driver[] = { GP_DRIVER_CBIDS(ROW) };
#undef ROW

#define BELOW_MAX(number, name) _Static_assert((number) < CBID_MAX, #name);
GP_RUNTIME_CBIDS(BELOW_MAX)
GP_DRIVER_CBIDS(BELOW_MAX)
#undef BELOW_MAX

const struct cbid *cbid_all(unsigned int domain, size_t *n)
{
	switch (domain) {
	case CBID_RUNTIME:
		*n = sizeof(runtime) / sizeof(runtime[0]);
		return runtime;
	case CBID_DRIVER:
		*n = sizeof(driver) / sizeof(driver[0]);
		return driver;
	default:
		*n = 0;
		return NULL;
	}
}

const char *cbid_name(unsigned int domain, unsigned int number)
{
	size_t n;
	const struct cbid *v = cbid_all(domain, &n);

	for (size_t i = 0; i < n; i++)
		if (v[i].number == number)
			return v[i].name;
	return NULL;
}
