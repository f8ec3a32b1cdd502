/* SPDX-License-Identifier: BSD-3-Clause */
/* Where the packages of a Python interpreter keep libraries, found without running it. */
#ifndef TARGET_TARGET_PYTHON_H
#define TARGET_TARGET_PYTHON_H

#include "target/target_link.h"

bool python_is_interpreter(const char *path);

/* Reports the wanted libraries of the packages that the interpreter at path would import.
 * 0, the walk's callback's value, or -ENOMEM. */
int python_each_file(const struct link_host *host, const char *path);

#endif
