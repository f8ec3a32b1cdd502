/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The helper as a file, for processes that are started elsewhere: at one stable path, replaced as a
 * whole, where nobody but its owner and root can replace it (whoever can runs code in all of them).
 */
#ifndef INJECT_INSTALL_H
#define INJECT_INSTALL_H

#include <limits.h>

#define INSTALL_WHY_BYTES (2 * PATH_MAX + 256)

/* Root's: the system's; else in the user's state directory. NULL + errno (ENOENT: no home). The
 * caller frees it. */
char *install_default_dir(void);

/* Makes dir if need be. *path: the file, absolute, with dir as it was given (a link may lead
 * elsewhere after an upgrade); the caller frees it. 1: it was there already, the same; 0:
 * written; -errno, logged. */
int install_helper(const char *dir, char **path);
/* not logged: in why */
int install_helper_quietly(const char *dir, char **path, char why[INSTALL_WHY_BYTES]);

#endif
