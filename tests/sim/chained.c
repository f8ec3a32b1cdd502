// SPDX-License-Identifier: BSD-3-Clause
/* libchained.so: another tool's injection, which fails when CHAINED_FAILS is set. */
#include <stdlib.h>

int InitializeInjection(void);

int InitializeInjection(void)
{
	return getenv("CHAINED_FAILS") == NULL;
}
