// SPDX-License-Identifier: BSD-3-Clause
/*
 * Row tables: the worked example of the header, the bound and its "other" rows, merging, differences,
 * stable addresses; and random keys against a plain list. TEST_SEED repeats a run.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/num.h"
#include "base/rows.h"
#include "lib/random.h"
#include "lib/test.h"

#define MAX 4

struct copy_row {
	struct copy_key {
		uint32_t pid, dir;
	} key;
	uint64_t count, bytes;
	char *text;
};

static void other(void *key)
{
	((struct copy_key *)key)->pid = 0;
}

static const struct rows_type copies = {
	ROWS_OF(struct copy_row), ROWS_SUMS(struct copy_row, count, bytes),
	ROWS_TEXTS(struct copy_row, text, text), .drops_empty = true, .max = MAX, .other = other,
};
static const struct rows_type unbounded = { ROWS_OF(struct copy_row) };

static struct copy_row *get(struct rows *r, const struct rows_type *type, uint32_t pid, uint32_t dir)
{
	struct copy_row *row = rows_get(r, type, &(struct copy_key){ pid, dir }, NULL);

	assert_non_null(row);
	return row;
}

static uint64_t count_of(const struct rows *r, uint32_t pid, uint32_t dir)
{
	const struct copy_row *row = rows_find(r, &copies, &(struct copy_key){ pid, dir });

	return row ? row->count : 0;
}

TEST(a_row_is_found_by_its_key_and_zero_when_it_is_new)
{
	struct rows r = { 0 };
	struct copy_row *row;
	bool is_new;

	assert_null(rows_find(&r, &copies, &(struct copy_key){ 1, 2 }));
	row = rows_get(&r, &copies, &(struct copy_key){ 1, 2 }, &is_new);
	assert_true(is_new && row && !row->count && row->key.pid == 1 && row->key.dir == 2);
	row->count++;
	assert_ptr_equal(rows_get(&r, &copies, &(struct copy_key){ 1, 2 }, &is_new), row);
	assert_false(is_new);
	assert_int_equal(count_of(&r, 1, 2), 1);
	assert_int_equal(count_of(&r, 2, 1), 0);
	assert_int_equal(r.n, 1);
	assert_ptr_equal(r.v[0], row);
	rows_free(&r);
	assert_int_equal(r.n, 0);
}

TEST(beyond_max_new_keys_share_the_other_row)
{
	struct rows r = { 0 };

	for (uint32_t pid = 1; pid <= 10; pid++)
		for (uint32_t dir = 0; dir < 2; dir++)
			get(&r, &copies, pid, dir)->count++;
	assert_int_equal(r.n, MAX + 2);		/* one more of each direction */
	assert_int_equal(count_of(&r, 2, 1), 1);
	assert_int_equal(count_of(&r, 3, 0), 0);
	assert_int_equal(count_of(&r, 0, 0), 8);
	assert_int_equal(count_of(&r, 0, 1), 8);
	get(&r, &copies, 2, 1)->count++;	/* known ones stay apart */
	assert_int_equal(count_of(&r, 2, 1), 2);
	rows_free(&r);
}

TEST(without_other_a_new_key_beyond_max_finds_nothing)
{
	const struct rows_type strict = { ROWS_OF(struct copy_row), .max = 1 };
	struct rows r = { 0 };

	assert_non_null(get(&r, &strict, 1, 1));
	assert_null(rows_get(&r, &strict, &(struct copy_key){ 2, 1 }, NULL));
	assert_non_null(get(&r, &strict, 1, 1));
	rows_free(&r);
}

TEST(tables_merge_by_key_and_the_other_row_takes_the_rest)
{
	struct rows to = { 0 }, from = { 0 };

	for (uint32_t pid = 1; pid <= 3; pid++)
		get(&to, &copies, pid, 0)->count = pid;
	for (uint32_t pid = 3; pid <= 6; pid++)
		get(&from, &copies, pid, 0)->count = 10 * pid;
	assert_int_equal(rows_merge(&to, &from), 0);
	assert_int_equal(count_of(&to, 1, 0), 1);
	assert_int_equal(count_of(&to, 3, 0), 33);
	assert_int_equal(count_of(&to, 4, 0), 40);
	assert_int_equal(count_of(&to, 0, 0), 110);
	assert_int_equal(from.n, 4);
	rows_free(&to);
	rows_free(&from);
}

TEST(a_row_moves_to_another_table_with_its_address)
{
	struct rows to = { 0 }, from = { 0 };
	struct copy_row *row = get(&from, &copies, 7, 1);

	row->text = strdup("kept");
	assert_int_equal(rows_take(&to, &copies, from.v[0]), 0);
	from.n--;
	rows_free(&from);
	assert_ptr_equal(rows_find(&to, &copies, &(struct copy_key){ 7, 1 }), row);
	assert_string_equal(row->text, "kept");
	rows_free(&to);
}

static bool is_used(void *ctx, void *row)
{
	(void)ctx;
	return ((struct copy_row *)row)->count;
}

TEST(rows_that_are_not_kept_are_gone_and_the_others_stay_where_they_are)
{
	struct rows r = { 0 };
	struct copy_row *row[40];

	for (uint32_t i = 0; i < 40; i++) {
		row[i] = get(&r, &unbounded, 100 + i, 0);
		row[i]->count = i % 3;
	}
	rows_keep(&r, is_used, NULL);
	assert_int_equal(r.n, 26);
	for (uint32_t i = 0; i < 40; i++)
		assert_ptr_equal(rows_find(&r, &unbounded, &(struct copy_key){ 100 + i, 0 }),
				 i % 3 ? row[i] : NULL);
	assert_non_null(get(&r, &unbounded, 100, 0));
	rows_free(&r);
}

TEST(bytes_include_rows_index_and_owned_memory)
{
	struct rows r = { 0 };
	size_t bytes;

	assert_int_equal(rows_bytes(&r), 0);
	get(&r, &copies, 1, 1);
	bytes = rows_bytes(&r);
	assert_true(bytes >= sizeof(struct copy_row) + sizeof(struct rows_slot));
	get(&r, &copies, 1, 1)->text = strdup("x");
	assert_int_equal(rows_bytes(&r), bytes + 2);
	rows_trim(&r);
	assert_true(rows_bytes(&r) < bytes + 2);
	assert_non_null(get(&r, &copies, 2, 1));
	rows_free(&r);
}

/* A row that has gone, as one of an ended process, was added to the "other" row. */
TEST(a_difference_has_the_rows_that_grew)
{
	struct rows r = { 0 }, earlier = { 0 };

	get(&r, &copies, 1, 1)->count = 2;
	get(&r, &copies, 2, 1)->count = 3;
	get(&r, &copies, 0, 5)->count = 10;
	get(&earlier, &copies, 1, 1)->count = 2;
	get(&earlier, &copies, 2, 1)->count = 1;
	get(&earlier, &copies, 9, 5)->count = 4;
	rows_subtract(&r, &earlier);
	assert_int_equal(r.n, 2);
	assert_int_equal(count_of(&r, 2, 1), 2);
	assert_int_equal(count_of(&r, 0, 5), 6);
	rows_free(&r);
	rows_free(&earlier);
}

/* The worked example of the header, and a whole that became less. */
TEST(what_a_part_lost_is_taken_from_those_that_grew)
{
	uint64_t parts[] = { 10, 30, 60 }, fewer[] = { 5, 0, 3 };
	const uint64_t earlier[] = { 0, 40, 20 };

	assert_int_equal(num_subtract_parts(parts, earlier, 3), 10);
	assert_int_equal(parts[0], 10);
	assert_int_equal(parts[1], 0);
	assert_int_equal(parts[2], 30);
	assert_int_equal(num_subtract_parts(fewer, earlier, 3), 57);
	assert_int_equal(fewer[0] + fewer[1] + fewer[2], 0);
}

#define KEYS 500

TEST(random_keys_are_counted_as_in_a_plain_list)
{
	struct rows r = { 0 };
	uint64_t counts[KEYS] = { 0 };
	size_t n = 0;

	for (int i = 0; i < random_rounds(20000); i++) {
		uint32_t key = (uint32_t)below(KEYS);

		n += !counts[key];
		counts[key]++;
		get(&r, &unbounded, key << 16, key & 1)->count++;
	}
	assert_int_equal(r.n, n);
	for (uint32_t key = 0; key < KEYS; key++)
		assert_int_equal(count_of(&r, key << 16, key & 1), counts[key]);
	rows_free(&r);
}

TEST_GROUP(random_seed, NULL);
