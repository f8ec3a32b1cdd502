/* SPDX-License-Identifier: BSD-3-Clause */
/* May a process have a file in memory as large as the helper's ring? A limit of files holds for
 * that, too. */
#ifndef INJECT_ROOM_H
#define INJECT_ROOM_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* pid 0: we, and what we start. What it lacks: "it ...; do ...". What cannot be asked has room. */
bool inject_lacks_room(pid_t pid, char *why, size_t size);

#endif
