/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the live view is like when it begins: as it was left, in a file of its user's,
 * ~/.config/gpuprof/top (or below XDG_CONFIG_HOME). A line for each thing that is not as at first;
 * other lines are ignored. Sample:
 *
 *   sort LAUNCH/S
 *   hidden MEM
 *   unfolded
 */
#ifndef CLI_TOP_SETTINGS_H
#define CLI_TOP_SETTINGS_H

#include "view/tui/live.h"

/* l is as live_init has it, and stays so where there is no file. */
void top_settings_read(struct live *l);

/* Where that differs from `before`. A home that belongs to another user (sudo) is left alone;
 * failures are of no matter. */
void top_settings_write(const struct live *l, const struct live *before);

#endif
