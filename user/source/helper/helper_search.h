/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Looks for a helper's ring among the descriptors of a process, a few at a time: a process may have
 * a hundred thousand of them, and a host ten thousand processes. Often while the process is new, then
 * ever less. What is found has the name of a ring and is memory, so that it makes nobody wait; whether it
 * is one is for helper_source_open to check. Knows nothing of what is in it.
 */
#ifndef SOURCE_HELPER_HELPER_SEARCH_H
#define SOURCE_HELPER_HELPER_SEARCH_H

#include <dirent.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct helper_search {		/* start zeroed: it is due */
	DIR *dir;		/* NULL: it has not begun */
	uint64_t at_ns, every_ns;	/* the next one; 0: at once */
	unsigned int times;
};

struct helper_found {		/* fd and pidfd are the caller's to close */
	int fd, pidfd;
	int number;		/* of the descriptor, in the process */
};

/* Goes on by at most *left descriptors, from which it takes what it cost. 1: found; called again it looks
 * at the descriptors behind that one, so stop if it is the right one. 0: there was no time for all of them:
 * call again. Else this round is over: -ENOENT: there is none, -ESRCH: no such process, -EPERM... */
int helper_search(struct helper_search *s, pid_t pid, uint64_t now_ns, unsigned int *left,
		  struct helper_found *out);
bool helper_search_is_due(const struct helper_search *s, uint64_t now_ns);
void helper_search_soon(struct helper_search *s);	/* as if the process were new */
void helper_search_hurry(struct helper_search *s);	/* it is due, and then goes on as before */
void helper_search_stop(struct helper_search *s);

/* What has that number now, as a path (O_PATH): the caller's to close; or -errno: -ENOENT: nothing has. */
int helper_search_again(pid_t pid, int number);
bool helper_search_is_same(int fd, int other);	/* file; either may be a path */

#endif
