/* SPDX-License-Identifier: BSD-3-Clause */
/* A number of a thread's file `status` in procfs. */
#ifndef HELPER_STATUS_H
#define HELPER_STATUS_H

#include <stdbool.h>
#include <stdint.h>

/* What follows field, which is "\nName:". False: there is no such line, or the file cannot be read. */
bool status_number(const char *path, const char *field, int base, uint64_t *out);

#endif
