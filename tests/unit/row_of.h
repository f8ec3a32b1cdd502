/* SPDX-License-Identifier: BSD-3-Clause */
/* The catalogue row of a function by its name. The test includes cmocka.h first. */
#ifndef UNIT_ROW_OF_H
#define UNIT_ROW_OF_H

#include <string.h>

#include "catalog/catalog.h"
#include "lib/cmocka.h"

static unsigned int row_of(const char *name)
{
	for (unsigned int i = 1; i < catalog_n_rows(); i++)
		if (!strcmp(catalog_row(i)->name, name))
			return i;
	fail_msg("no row %s", name);
	return 0;
}

#endif
