/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The insides of the join, shared by join.c (what comes) and
 * join_share.c (who gives way to whom); for no other file.
 */
#ifndef JOIN_JOIN_STATE_H
#define JOIN_JOIN_STATE_H

#include "base/map.h"
#include "base/vec.h"
#include "join/api_roles.h"
#include "join/fates.h"
#include "join/join.h"
#include "join/side.h"

struct process {
	uint32_t pid;
	struct launches launches;
	struct works works;
	struct fates fates;
	uint64_t latest_ns;		/* that a record of it named */
	uint64_t told_ns, told_at_ns;	/* the horizon, and the watermark then */
	uint64_t exit_ns;		/* 0: it goes on */
	uint64_t exec_ns;		/* it executed its program then; 0: no such time is known */
	unsigned int untold;		/* records since */
};

struct join {
	struct join_sink sink;
	VEC(struct process *) all;
	struct map by_pid;		/* -> struct process */
	struct process *last;		/* that was found; NULL: none */
	struct join_room room;
	struct {		/* side of a process that has most of the room; NULL: none is known */
		struct process *process;
		bool is_works;
		size_t bytes;
	} largest;
	uint64_t start_ns, stop_ns;	/* of the session; 0: not known */
	uint64_t watermark_ns;		/* 0: there is none */
	bool goes_on;			/* works of the last launches are told elsewhere */
	struct join_counts counts;
	struct api_roles roles;
};

/* The oldest of its works has waited enough. 0 or the sink's error. */
int join_give_up_first(struct join *j, struct process *p);

/* The sides of a process may have become larger; others became smaller, or are gone. */
void share_note_size(struct join *j, struct process *p);
void share_find_largest(struct join *j);

/* For one that wants as much again as it has (0: nothing): of the largest, if it is the larger one even
 * then. 0 or the sink's error. */
int share_make_room(struct join *j, size_t want_bytes);

/* For a name (or NULL): who keeps most of them gives up half. 0 or the sink's error. */
int share_make_text_room(struct join *j, const char *text);

#endif
