/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The helper as a file that a command and whatever it starts can load, with all descriptors closed;
 * root's also as any user. It is where files are kept in memory, if programs may be executed there,
 * and stays until the host starts anew, at a path that its user and its bytes name: it is never
 * another one, it is not missing for what the command leaves behind, and only root and that user
 * can put something else there.
 */
#ifndef INJECT_SHARED_FILE_H
#define INJECT_SHARED_FILE_H

/* In the first that will do of /run (root), XDG_RUNTIME_DIR (users), /dev/shm and where `gpuprof
 * env` installs it. NULL: none will. The caller frees it. */
char *shared_file_make(void);

/* In the first of these directories (NULL ends them) that lets its files be executed and that
 * others cannot turn elsewhere. NULL: none. */
char *shared_file_make_in(const char *const *places);

#endif
