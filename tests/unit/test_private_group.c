// SPDX-License-Identifier: BSD-3-Clause
/* Whose group is a user's own, and whose is not, in doubt neither. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "inject/private_group.h"

#define ROOT "root:x:0:0:root:/root:/bin/bash\n"
#define ANN "ann:x:1000:1000:Ann,,,:/home/ann:/bin/bash\n"
#define BOB "bob:x:1001:1001::/home/bob:/bin/bash\n"
#define GROUPS "root:x:0:\nann:x:1000:\nbob:x:1001:\n"

static bool is_private(const char *passwd, const char *group, uid_t uid, gid_t gid)
{
	FILE *p = fmemopen((char *)(uintptr_t)passwd, strlen(passwd), "r");
	FILE *g = fmemopen((char *)(uintptr_t)group, strlen(group), "r");
	bool is;

	assert_true(p && g);
	is = private_group_is(p, g, uid, gid);
	fclose(p);
	fclose(g);
	return is;
}

static void the_users_own_group_is_private(void **state)
{
	(void)state;
	assert_true(is_private(ROOT ANN BOB, GROUPS, 1000, 1000));
	assert_true(is_private(ROOT ANN BOB, GROUPS, 0, 0));
	assert_true(is_private(ROOT ANN BOB, "ann:x:1000:ann\n", 1000, 1000));
	assert_true(is_private(ANN "annie:x:1000:1000::/:/bin/sh\n", GROUPS, 1000, 1000));	/* the same user */
}

static void a_group_of_others_is_not(void **state)
{
	static const struct {
		const char *passwd, *group;
		uid_t uid;
		gid_t gid;
	} not[] = {
		{ ROOT ANN BOB, GROUPS, 1001, 1000 },			/* another's */
		{ ROOT ANN BOB, GROUPS, 1000, 1001 },
		{ ROOT ANN BOB, "ann:x:1000:bob\n", 1000, 1000 },
		{ ROOT ANN BOB, "ann:x:1000:ann,bob\n", 1000, 1000 },
		{ ROOT ANN "eve:x:1002:1000::/:/bin/sh\n", GROUPS, 1000, 1000 },
		{ "eve:x:1002:1000::/:/bin/sh\n" ANN, GROUPS, 1000, 1000 },
		{ ROOT "ann:x:1000:100::/:/bin/sh\n", "users:x:100:\n", 1000, 100 },
		{ ANN, "users:x:1000:\n", 1000, 1000 },			/* another name */
		{ ANN, "ann:x:1000:\nstaff:x:1000:bob\n", 1000, 1000 },	/* a number twice */
		{ ANN, "staff:x:50:\n", 1000, 1000 },			/* a directory service's */
		{ BOB, GROUPS, 1000, 1000 },
		{ ANN "+::::::\n", GROUPS, 1000, 1000 },		/* and all those of NIS */
		{ ANN, GROUPS "+:::\n", 1000, 1000 },
		{ "\n", GROUPS, 1000, 1000 },
		{ ANN, "\n", 1000, 1000 },
		{ "ann", "ann", 1000, 1000 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(not) / sizeof(not[0]); i++)
		if (is_private(not[i].passwd, not[i].group, not[i].uid, not[i].gid))
			fail_msg("case %zu", i);
}

/* What is behind a line that is too long was not read. */
static void after_what_cannot_be_read_it_is_none(void **state)
{
	size_t len = 100000;
	char *passwd = malloc(len + 200);

	(void)state;
	assert_non_null(passwd);
	strcpy(passwd, ANN);
	memset(passwd + strlen(passwd), 'x', len);
	strcpy(passwd + strlen(ANN) + len, ":x:1005:1000::/:/bin/sh\n");
	assert_false(is_private(passwd, GROUPS, 1000, 1000));
	free(passwd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_users_own_group_is_private),
		cmocka_unit_test(a_group_of_others_is_not),
		cmocka_unit_test(after_what_cannot_be_read_it_is_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
