// SPDX-License-Identifier: BSD-3-Clause
/*
 * Kernels' classes, on names as they were seen in the field (tests/data/kernel_names.csv: name, the
 * finer bucket of a later stage, stack): what a class must hold it holds, and nothing that it must not.
 */
#include <stdio.h>
#include <string.h>

#include "bucket/kernel_class.h"
#include "lib/test.h"

/* Finer buckets whose kernels are all of one class. */
static const struct {
	const char *bucket;
	enum kernel_class class;
} whole[] = {
	{ "gemm", KERNEL_GEMM }, { "moe.gemm", KERNEL_GEMM }, { "comm", KERNEL_COMM },
	{ "conv", KERNEL_CONV }, { "optimizer", KERNEL_OPTIMIZER },
};

/* Classes of which no other bucket may have a kernel. */
static const struct {
	enum kernel_class class;
	const char *buckets;
} only[] = {
	{ KERNEL_GEMM, "gemm moe.gemm" }, { KERNEL_COMM, "comm" }, { KERNEL_CONV, "conv" },
	{ KERNEL_ATTENTION, "attn.compute" }, { KERNEL_NORM, "norm" },
	{ KERNEL_OPTIMIZER, "optimizer" },
};

static void check(const char *name, const char *bucket)
{
	enum kernel_class class = kernel_class_of(name);

	for (size_t i = 0; i < sizeof(whole) / sizeof(whole[0]); i++)
		if (!strcmp(whole[i].bucket, bucket) && class != whole[i].class)
			fail_msg("%s is %s, not %s", name, bucket, kernel_class_name(class));
	for (size_t i = 0; i < sizeof(only) / sizeof(only[0]); i++)
		if (only[i].class == class && !strstr(only[i].buckets, bucket))
			fail_msg("%s is %s, not %s", name, bucket, kernel_class_name(class));
}

/* name,bucket,stack; a name with commas is in quotes, and none has a quote. */
TEST(names_seen_in_the_field)
{
	char line[8192], *name, *end, *bucket;
	FILE *f = fopen("tests/data/kernel_names.csv", "r");
	int n = 0;

	assert_non_null(f);
	assert_non_null(fgets(line, sizeof(line), f));
	for (; fgets(line, sizeof(line), f); n++) {
		name = line + (*line == '"');
		end = *line == '"' ? strstr(name, "\",") : strchr(name, ',');
		assert_non_null(end);
		bucket = end + 1 + (*line == '"');
		*end = '\0';
		bucket[strcspn(bucket, ",\n")] = '\0';
		check(name, bucket);
	}
	fclose(f);
	assert_true(n > 100);
}

TEST(an_unnamed_kernel_is_other)
{
	assert_int_equal(kernel_class_of(NULL), KERNEL_OTHER);
	assert_int_equal(kernel_class_of(""), KERNEL_OTHER);
	assert_string_equal(kernel_class_name(KERNEL_CLASSES), "?");
}
