// SPDX-License-Identifier: BSD-3-Clause
/* Reading a thread's book, and the cut between two intervals. Changes nothing but in book_cut. */
#include "base/num.h"
#include "ledger/book_state.h"

uint64_t book_blocked(const struct book *b, uint64_t end)
{
	uint64_t from = num_max(b->cursor, b->floor);

	if (b->open_blocked <= b->cut_blocked || end <= from || b->open_class == CLASS_OTHER)
		return 0;
	return num_min(b->open_blocked - b->cut_blocked, end - from);
}

bool book_has(const struct book *b, uint64_t start_ns, uint64_t end_ns)
{
	return b->has_head && start_ns >= num_max(b->head_end, b->floor) && end_ns <= b->cursor;
}

void book_call(struct book *b, unsigned int class, uint64_t ns)
{
	ns = num_min(ns, b->ns[CLASS_OTHER]);
	b->ns[CLASS_OTHER] -= ns;
	b->ns[class] += ns;
}

void book_read(const struct book *b, uint64_t now_ns, struct book_sum *sum)
{
	uint64_t close = num_min(b->stop, b->exit), open = b->floor;

	if (b->stop == UINT64_MAX && !b->has_exit)
		close = now_ns;
	close = num_max(close, num_max(b->cursor, b->floor));
	/* A thread is not born after its first call, whatever was said of it. */
	if (!b->is_cut)
		open = num_max(open, num_min(b->birth, b->has_head ? b->head_end : close));
	*sum = (struct book_sum){ .open_ns = open, .close_ns = close, .unseen = b->unseen };
	for (unsigned int i = 0; i < BUCKET_END; i++)
		sum->ns[i] = b->ns[i];
	for (unsigned int i = 0; i < CLASS_END; i++) {
		sum->blocked_ns[i] = b->blocked[i];
		sum->late_ns[i] = b->late[i];
		sum->calls[i] = b->calls[i];
	}
	if (book_now(b) < CLASS_END && book_now(b) != CLASS_OTHER)
		sum->blocked_ns[b->open_class] += book_blocked(b, close);
	if (b->has_head)
		book_add(sum->ns, b->unarmed, b->head_lost ? BUCKET_LOST : CLASS_OTHER, open,
		       b->head_end);
	book_add(sum->ns, b->unarmed, book_now(b),
	       b->has_head ? num_max(b->cursor, b->floor) : open, close);
}

void book_sum_add(struct book_sum *to, const struct book_sum *from)
{
	to->close_ns += from->close_ns - from->open_ns;
	to->unseen |= from->unseen;
	for (unsigned int i = 0; i < BUCKET_SUM_END; i++)
		to->ns[i] += from->ns[i];
	for (unsigned int i = 0; i < CLASS_END; i++) {
		to->blocked_ns[i] += from->blocked_ns[i];
		to->late_ns[i] += from->late_ns[i];
		to->calls[i] += from->calls[i];
		to->own_ns[i] += from->own_ns[i];
	}
}

void book_cut(struct book *b, uint64_t now_ns, struct book_sum *sum)
{
	uint64_t before = b->floor;

	book_read(b, now_ns, sum);
	for (unsigned int i = 0; i < BUCKET_END; i++)
		b->ns[i] = 0;
	for (unsigned int i = 0; i < CLASS_END; i++)
		b->blocked[i] = b->late[i] = b->calls[i] = 0;
	b->cut_blocked = b->open_blocked;
	b->unseen = b->has_open && b->before ? 1u << b->open_class : 0;
	/* What an earlier cut booked otherwise is not followed any more. */
	if (b->is_cut && b->cut_bucket != book_now(b))
		b->settled = num_max(b->settled, before);
	b->cut_bucket = (uint8_t)book_now(b);
	b->floor = sum->close_ns;
	b->is_cut = true;
	if (b->has_head)
		b->head_end = b->floor;
}
