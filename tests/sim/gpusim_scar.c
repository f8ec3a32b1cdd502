// SPDX-License-Identifier: BSD-3-Clause
/*
 * GPUSIM_SCAR=N: with the N-th kernel of the process a byte of the driver's code changes for good, as
 * where a tool that patches code does not put back what it found. The place is in a function that a
 * process needs once.
 */
#include "gpusim_internal.h"

#include <sys/mman.h>
#include <unistd.h>

enum { INTO = 15 };

static unsigned char *place;

void gpusim_scar_place(void (*code)(void))
{
	place = (unsigned char *)(uintptr_t)code + INTO;
}

void gpusim_scar(void)
{
	uintptr_t page_bytes = (uintptr_t)sysconf(_SC_PAGESIZE);
	uintptr_t page = (uintptr_t)place & ~(page_bytes - 1);

	if (place && !mprotect((void *)page, page_bytes, PROT_READ | PROT_WRITE | PROT_EXEC))
		*place ^= 1;
}
