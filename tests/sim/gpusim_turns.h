/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Processes that have a device one after the other (GPUSIM_TURNS).
 */
#ifndef GPUSIM_TURNS_H
#define GPUSIM_TURNS_H

#include <stdint.h>

/* When a work of so many ns begins that could begin at begin_ns; it has the device then. With the
 * world's lock held. */
uint64_t gpusim_turn_take(int device, uint64_t begin_ns, uint64_t ns);

#endif
