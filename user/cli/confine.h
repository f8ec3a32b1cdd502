/* SPDX-License-Identifier: BSD-3-Clause */
/* What a session gives up once it has begun (design §11). */
#ifndef CLI_CONFINE_H
#define CLI_CONFINE_H

struct session;

/*
 * When all is open and before other threads are started: keeps the capabilities that attaching to
 * what comes needs, and those of what this session has still to do. Not -- CMD, which was forked
 * before. A failure is said, and is no error: the session can do without.
 */
void confine_session(const struct session *s);

#endif
