// SPDX-License-Identifier: BSD-3-Clause
/*
 * Who gives way to whom where processes share the join's room: whoever has most, so that one that comes
 * late gets its part. Only sizes are compared, never what is in them.
 */
#include <string.h>

#include "base/num.h"
#include "join/join_state.h"

void share_note_size(struct join *j, struct process *p)
{
	size_t launches = launches_bytes(&p->launches), works = works_bytes(&p->works);

	if (num_max(launches, works) <= j->largest.bytes)
		return;
	j->largest.process = p;
	j->largest.is_works = works > launches;
	j->largest.bytes = num_max(launches, works);
}

void share_find_largest(struct join *j)
{
	j->largest.process = NULL;
	j->largest.bytes = 0;
	for (size_t i = 0; i < j->all.n; i++)
		share_note_size(j, j->all.v[i]);
}

static int halve_works(struct join *j, struct process *p)
{
	int err = 0;

	while (!err && p->works.waiting && !works_fit(&p->works))
		err = join_give_up_first(j, p);
	if (!err)
		works_halve(&p->works, &j->room);
	return err;
}

int share_make_room(struct join *j, size_t want_bytes)
{
	int64_t left_bytes = INT64_MIN;		/* before; those that have just begun give nothing */
	int err = 0;

	while (!err && want_bytes && !join_room_has(&j->room, want_bytes) &&
	       j->largest.bytes >= 4 * want_bytes && j->room.left_bytes > left_bytes) {
		left_bytes = j->room.left_bytes;
		if (j->largest.is_works)
			err = halve_works(j, j->largest.process);
		else
			launches_halve(&j->largest.process->launches, &j->room);
		share_find_largest(j);
	}
	return err;
}

int share_make_text_room(struct join *j, const char *text)
{
	struct process *most = NULL;
	size_t left;
	int err = 0;

	if (!text || (int64_t)strlen(text) < j->room.text_left_bytes)
		return 0;
	for (size_t i = 0; i < j->all.n; i++)
		if (!most || j->all.v[i]->works.text_bytes > most->works.text_bytes)
			most = j->all.v[i];
	left = most->works.text_bytes / 2;
	while (!err && most->works.waiting && most->works.text_bytes > left)
		err = join_give_up_first(j, most);
	return err;
}
