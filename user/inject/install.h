/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The helper as a file, for processes that are started elsewhere: at one stable path, replaced
 * as a whole, where only its owner and root can replace it (replacing it runs code in all of
 * them).
 */
#ifndef INJECT_INSTALL_H
#define INJECT_INSTALL_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* The helper as it was built, which gpuprof carries inside. */

#define INJECT_FILE "libgpuprof.so"	/* its name where it is a file */
#define IMAGE_MEMORY "gpuprof-helper"	/* ... and of the memfd */

const void *inject_image(size_t *len);

/* Writes it to a new memfd, and seals that. Its bytes, or -errno. */
ssize_t inject_image_write(int fd);

/*
 * The variables by which the CUDA driver and NVTX load the helper, for a process that is started
 * here or elsewhere.
 */

#define INJECT_CUDA "CUDA_INJECTION64_PATH"
#define INJECT_NVTX "NVTX_INJECTION64_PATH"	/* only one tool can have NVTX: the user's own */
/* the previous value of INJECT_CUDA: loaded after the helper */
#define INJECT_CHAIN "GPUPROF_CHAIN_INJECTION"

/* By its name: it is a helper, of this gpuprof or another one. */
bool inject_is_helper(const char *path);

/* The path in that variable of our own environment, if it is another tool's; else NULL. */
const char *inject_foreign(const char *name);

/* In the child, before exec: sets the variables that make the CUDA driver load `file` and the
 * helper wait for its reader. The user's own injection is loaded after ours. */
void inject_environment(const char *file);

/* Does the environment that it was started with name a library to be loaded with CUDA or NVTX? True
 * where it cannot be read. */
bool inject_may_load(pid_t pid);

/* True: RLIMIT_FSIZE, which holds for files in memory too, is less than the helper's ring needs;
 * why: "it ...; do ...". pid 0: this process and its children. A limit that cannot be read counts
 * as enough. */
bool inject_lacks_room(pid_t pid, char *why, size_t size);

#define INSTALL_SYSTEM_DIR "/usr/lib/gpuprof"

/* Root's: the system's; else in the user's state directory. NULL + errno (ENOENT: no home). The
 * caller frees it. */
char *install_default_dir(void);

/* Makes dir if need be. *path: the file, absolute, with dir as it was given (a link may lead
 * elsewhere after an upgrade); the caller frees it. 1: it was there already, the same; 0:
 * written; -errno, logged. */
int install_helper(const char *dir, char **path);

/* An open file: 0: this helper, and it can be loaded from there; 1: another file or version; or
 * -errno: the kernel does not let it be loaded (EPERM: no programs there), or be read. */
int install_look(int fd);

/*
 * The helper as a file that a command and all its descendants can load, with all descriptors
 * closed; root's also as any user. It is where files are kept in memory, if programs may be
 * executed there, and stays until the host restarts, at a path that names its user and the hash
 * of its bytes: it is never replaced by another, it stays for processes that outlive the
 * command, and only root and that user can put something else there. In the first that will do of
 * /run (root), XDG_RUNTIME_DIR (users), /dev/shm and where `gpuprof env` installs it. NULL: none
 * will. The caller frees it.
 */
char *shared_file_make(void);

#endif
