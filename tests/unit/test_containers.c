// SPDX-License-Identifier: BSD-3-Clause
/* Maps, vectors and searches in what is sorted: the promises of user/base to those that keep things. */
#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "base/sorted.h"
#include "base/vec.h"
#include "lib/random.h"
#include "lib/test.h"

/* ---- map and vector ----------------------------------------------------------------------------- */

#define KEYS 300

struct map_model {
	bool there[KEYS];
	uint64_t value[KEYS];
	size_t n;
};

/* Keys that collide: few distinct hashes matter less than many in one run of slots. */
static uint64_t key_of(uint64_t i)
{
	return i < 3 ? (uint64_t[]){ 0, UINT64_MAX, 1ull << 63 }[i] : i * 0x100000000ull;
}

static void map_step(struct map *m, struct map_model *model)
{
	uint64_t i = below(KEYS), value = random_next();
	struct map_slot *slot;
	bool is_new;

	switch (below(5)) {
	case 0:
	case 1:
		slot = map_put(m, key_of(i), &is_new);
		assert_non_null(slot);
		assert_int_equal(is_new, !model->there[i]);
		assert_int_equal(slot->value, model->there[i] ? model->value[i] : 0);
		slot->value = model->value[i] = value;
		model->n += !model->there[i];
		model->there[i] = true;
		break;
	case 2:
	case 3:
		assert_int_equal(map_del(m, key_of(i)), model->there[i]);
		model->n -= model->there[i];
		model->there[i] = false;
		break;
	default:
		slot = map_find(m, key_of(i));
		assert_int_equal(slot != NULL, model->there[i]);
		if (slot)
			assert_int_equal(slot->value, model->value[i]);
	}
}

TEST_TITLED("map: equals an array, also while keys are deleted", map_equals_an_array)
{
	for (int round = 0; round < 50; round++) {
		struct map_model model = { .n = 0 };
		struct map m = { 0 };

		assert_null(map_find(&m, 0));
		assert_false(map_del(&m, 0));
		for (int step = 0; step < random_rounds(4000); step++) {
			map_step(&m, &model);
			assert_int_equal(m.n, model.n);
			assert_true(m.n * 2 <= m.cap);
		}
		for (uint64_t i = 0; i < KEYS; i++) {
			struct map_slot *slot = map_find(&m, key_of(i));

			assert_int_equal(slot != NULL, model.there[i]);
			if (slot)
				assert_int_equal(slot->value, model.value[i]);
		}
		map_free(&m);
		assert_int_equal(m.n, 0);
	}
}

TEST_TITLED("map: may be used again after it was freed", map_may_be_reused_after_free)
{
	struct map m = { 0 };

	map_put(&m, 7, NULL)->value = 8;
	map_free(&m);
	assert_null(map_find(&m, 7));
	map_put(&m, 7, NULL)->value = 9;
	assert_int_equal(map_find(&m, 7)->value, 9);
	map_free(&m);
	map_free(&m);
}

static unsigned int n_freed;

static void count_and_free(void *value)
{
	n_freed++;
	free(value);
}

TEST_TITLED("map: frees what it points to, once each", map_frees_what_it_points_to)
{
	struct map m = { 0 };

	map_free_each(&m, count_and_free);
	assert_int_equal(n_freed, 0);
	for (uint64_t i = 0; i < 20; i++)
		map_put(&m, i, NULL)->value = i % 2 ? (uintptr_t)malloc(1) : 0;
	map_free_each(&m, count_and_free);
	assert_int_equal(n_freed, 10);
	assert_null(map_find(&m, 1));
}

TEST_TITLED("vec: grows, new elements are zero", vec_grows_zeroed)
{
	VEC(struct { uint32_t a; char b[9]; }) vec = { 0 };

	for (uint32_t i = 0; i < 1000; i++) {
		static const char zero[9];

		assert_non_null(VEC_PUSH(&vec));
		assert_int_equal(vec.n, i + 1);
		assert_int_equal(vec.v[i].a, 0);
		assert_memory_equal(vec.v[i].b, zero, sizeof(zero));
		memset(&vec.v[i], 0xab, sizeof(vec.v[i]));
		vec.v[i].a = i;
	}
	for (uint32_t i = 0; i < 1000; i++)
		assert_int_equal(vec.v[i].a, i);
	vec.n = 0;
	assert_int_equal(VEC_PUSH(&vec)->a, 0);		/* used memory is cleared again */
	VEC_FREE(&vec);
	assert_null(vec.v);
	assert_int_equal(vec.cap, 0);
}

/* ---- sorted --------------------------------------------------------------------------------- */

struct element {
	uint32_t other;
	uint64_t key;
};

static const uint64_t SORTED[] = { 0, 3, 3, 3, 7, 8, UINT64_MAX - 1, UINT64_MAX };
#define N_SORTED (sizeof(SORTED) / sizeof(SORTED[0]))

static size_t count(size_t n, uint64_t key, uint64_t also)
{
	size_t counted = 0;

	for (size_t i = 0; i < n; i++)
		counted += SORTED[i] < key || (also && SORTED[i] == key);
	return counted;
}

TEST_TITLED("sorted: the count is that of all elements, one by one", sorted_counts_as_one_by_one)
{
	static const uint64_t asked[] = { 0, 1, 2, 3, 4, 7, 8, 9, UINT64_MAX - 2, UINT64_MAX - 1, UINT64_MAX };
	struct element e[N_SORTED];

	memset(e, 0xff, sizeof(e));
	for (size_t i = 0; i < N_SORTED; i++)
		e[i].key = SORTED[i];
	for (size_t n = 0; n <= N_SORTED; n++) {
		for (size_t i = 0; i < sizeof(asked) / sizeof(asked[0]); i++) {
			assert_int_equal(SORTED_BELOW(e, n, key, asked[i]), count(n, asked[i], 0));
			assert_int_equal(SORTED_UP_TO(e, n, key, asked[i]), count(n, asked[i], 1));
		}
	}
}

TEST_TITLED("sorted: of no elements none is read", sorted_reads_nothing_of_nothing)
{
	const struct element *none = NULL;
	size_t n = 0;

	assert_int_equal(SORTED_BELOW(none, n, key, 5), 0);
	assert_int_equal(SORTED_UP_TO(none, n, key, 5), 0);
}

TEST_GROUP(random_seed, NULL);
