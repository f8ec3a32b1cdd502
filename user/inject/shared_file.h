/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The helper as a file that whatever root's command starts can load, with all its descriptors closed and as any
 * user: in memory, until the host starts anew, at a path that its bytes name. So it is never another one, nor
 * missing for what the command leaves behind, and nobody but root can put something else there.
 */
#ifndef INJECT_SHARED_FILE_H
#define INJECT_SHARED_FILE_H

/* NULL: we are not root, or there is no place for it. The caller frees it. */
char *shared_file_make(void);

/* In the first of these directories (NULL ends them) that lets its files be executed and that others cannot turn
 * elsewhere. NULL: none. */
char *shared_file_make_in(const char *const *places);

#endif
