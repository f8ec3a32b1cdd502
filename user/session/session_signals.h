/* SPDX-License-Identifier: BSD-3-Clause */
/* The signals of a session: which are held back until somebody waits for them, and what each does. */
#ifndef SESSION_SESSION_SIGNALS_H
#define SESSION_SESSION_SIGNALS_H

#include "session/session_internal.h"

void signals_hold(int signal);
void signals_hold_ends(void);		/* those that end a session */

/* From here on they are read, with_trigger: SIGUSR1 too; to the end of the program. A signalfd, the
 * caller's, or -errno. */
int signals_open(bool with_trigger);
void signals_read(struct session *s);	/* one of signal_fd */

#endif
