/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The memory that all processes in the join share: for launches and works that wait, and for calls that
 * were captured. Who begins takes a little even where nothing is left; who grows takes what is left.
 * For the files of join.c only.
 */
#ifndef JOIN_JOIN_ROOM_H
#define JOIN_JOIN_ROOM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define JOIN_CALLS_FEW 64

struct join_room {
	int64_t left_bytes;		/* below 0: more have begun than there is room for */
	int64_t text_left_bytes;	/* for names of works that wait */
};

static inline bool join_room_has(const struct join_room *room, size_t bytes)
{
	return room->left_bytes >= (int64_t)bytes;
}

/* A list of n calls, at most max, that wants as much again as it has (cap elements of size bytes): it
 * begins with a few even where there is no room. */
static inline bool join_room_refuses(const struct join_room *room, size_t n, size_t cap, size_t max,
				     size_t size)
{
	return n >= max || (n == cap && cap >= JOIN_CALLS_FEW && !join_room_has(room, cap * size));
}

static inline void join_room_take(struct join_room *room, size_t bytes)
{
	room->left_bytes -= (int64_t)bytes;
}

static inline void join_room_give(struct join_room *room, size_t bytes)
{
	room->left_bytes += (int64_t)bytes;
}

#endif
