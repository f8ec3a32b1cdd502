/* SPDX-License-Identifier: BSD-3-Clause */
/* The version this program was built as: `git describe`, or "unknown". */
#ifndef BASE_VERSION_H
#define BASE_VERSION_H

const char *version_text(void);

#endif
