// SPDX-License-Identifier: BSD-3-Clause
/* Which processes a selector means; what is looked at later, and when. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/time.h"
#include "lib/test.h"
#include "probe/recheck.h"
#include "target/selection.h"

static struct selector *selector(enum select_kind kind, const char *list)
{
	struct selector *s = selector_new();

	assert_non_null(s);
	assert_int_equal(selector_add(s, kind, list), 0);
	return s;
}

static int matches(pid_t pid, enum select_kind kind, const char *list)
{
	struct selector *s = selector(kind, list);
	struct proc p;
	int rc = proc_open(&p, pid);

	if (!rc)
		rc = selector_matches(s, &p);
	proc_close(&p);
	selector_free(s);
	return rc;
}

/* Runs argv with RANK and a job in its environment, and returns when it has become that program. */
static pid_t start(char *const argv[])
{
	char *const env[] = { "SLURM_JOB_ID=4711", NULL };
	pid_t pid = fork();
	char path[32], comm[32] = "";

	assert_true(pid >= 0);
	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		execve(argv[0], argv, env);
		_exit(127);
	}
	snprintf(path, sizeof(path), "/proc/%d/cmdline", pid);
	for (int i = 0; i < 2000 && strcmp(comm, argv[0]); i++) {
		FILE *f = fopen(path, "r");

		usleep(1000);
		if (f && !fread(comm, 1, sizeof(comm) - 1, f))
			comm[0] = '\0';
		if (f)
			fclose(f);
	}
	return pid;
}

static void stop(pid_t pid)
{
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

TEST_TITLED("selector: a process is known by its names, its user and its job",
	    a_process_is_known_by_its_names_user_and_job)
{
	pid_t pid = start((char *[]){ "/bin/sleep", "1000", NULL });
	char uid[16];

	assert_int_equal(matches(pid, SELECT_NAME, "sleep"), 1);
	assert_int_equal(matches(pid, SELECT_NAME, "other,sl[a-f]*"), 1);
	assert_int_equal(matches(pid, SELECT_NAME, "slee"), 0);
	assert_int_equal(matches(pid, SELECT_NAME, "1000"), 0);
	snprintf(uid, sizeof(uid), "%u", getuid());
	assert_int_equal(matches(pid, SELECT_USER, uid), 1);
	assert_int_equal(matches(pid, SELECT_USER, "4242"), 0);
	assert_int_equal(matches(pid, SELECT_JOB, "4711"), 1);
	assert_int_equal(matches(pid, SELECT_JOB, "471"), 0);
	assert_int_equal(matches(pid, SELECT_POD, "*"), 0);
	stop(pid);
	assert_int_equal(matches(pid, SELECT_NAME, "sleep"), -ESRCH);
}

TEST_TITLED("selector: a script is known by its own name, not by an option's value",
	    a_script_is_known_by_its_own_name)
{
	static const char lines[] = "while sleep 0.1; do :; done\n";
	char script[] = "/tmp/gpuprof-script-XXXXXX";
	int fd = mkstemp(script);
	pid_t pid;

	assert_true(fd >= 0);
	assert_int_equal(write(fd, lines, strlen(lines)), strlen(lines));
	close(fd);
	pid = start((char *[]){ "/bin/bash", "-u", "-O", "extglob", script, NULL });
	assert_int_equal(matches(pid, SELECT_NAME, str_basename(script)), 1);
	assert_int_equal(matches(pid, SELECT_NAME, "bash"), 1);
	assert_int_equal(matches(pid, SELECT_NAME, "extglob"), 0);
	stop(pid);
	unlink(script);
}

TEST_TITLED("selector: what is no pattern, no user, no device is refused",
	    what_is_no_pattern_is_refused)
{
	static const struct {
		enum select_kind kind;
		const char *list;
		int rc;
	} cases[] = {
		{ SELECT_NAME, "a*,[]x],[!a-c]?,\\[", 0 }, { SELECT_NAME, "[a", -EINVAL },
		{ SELECT_NAME, "[", -EINVAL }, { SELECT_NAME, "[]", -EINVAL }, { SELECT_NAME, "a\\", -EINVAL },
		{ SELECT_NAME, "", -EINVAL }, { SELECT_NAME, "a,,b", -EINVAL }, { SELECT_NAME, "a,", -EINVAL },
		{ SELECT_USER, "root,0", 0 }, { SELECT_USER, "no such user", -EINVAL },
		{ SELECT_GPU, "first", -EINVAL }, { SELECT_GPU, "64", -EINVAL },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct selector *s = selector_new();

		assert_int_equal(selector_add(s, cases[i].kind, cases[i].list), cases[i].rc);
		selector_free(s);
	}
}

TEST_TITLED("selector: kinds are all to hold, patterns of one kind are alternatives",
	    kinds_are_all_to_hold)
{
	pid_t pid = start((char *[]){ "/bin/sleep", "1000", NULL });
	struct selector *s = selector(SELECT_NAME, "sleep");
	struct selection found = { .denied = 0 };
	struct strbuf sb = STRBUF_INIT;
	bool there = false;

	assert_int_equal(selector_add(s, SELECT_JOB, "4711"), 0);
	assert_int_equal(selector_add(s, SELECT_NAME, "other"), 0);
	assert_int_equal(selection_find(&found, s, false), 0);
	for (size_t i = 0; i < found.all.n; i++)
		there |= found.all.v[i].pid == pid && found.all.v[i].matches;
	assert_true(there);
	selection_free(&found);
	assert_int_equal(selector_add(s, SELECT_USER, "4242"), 0);
	found = (struct selection){ .denied = 0 };
	assert_int_equal(selection_find(&found, s, true), 0);
	assert_int_equal(found.all.n, 0);
	selection_describe(&found, s, &sb);
	assert_string_equal(sb.s, "no process matches name=sleep,other user=4242 job=4711");
	strbuf_free(&sb);
	selection_free(&found);
	selector_free(s);
	stop(pid);
}

TEST_TITLED("later: looks are due once, or again and ever more rarely",
	    looks_are_due_once_or_again_ever_more_rarely)
{
	struct recheck l = { 0 };
	struct recheck_entry look;

	assert_int_equal(recheck_timeout_ms(&l, 0), -1);
	recheck_add(&l, &(struct recheck_entry){ .pid = 1, .due_ns = 10 * NS_PER_MS });
	recheck_add(&l, &(struct recheck_entry){ .pid = 2, .due_ns = 20 * NS_PER_MS,
					    .again_ns = 20 * NS_PER_MS });
	assert_int_equal(recheck_timeout_ms(&l, 0), 11);
	assert_false(recheck_take(&l, 9 * NS_PER_MS, &look));
	assert_true(recheck_take(&l, 20 * NS_PER_MS, &look));
	assert_int_equal(look.pid, 1);
	assert_true(recheck_take(&l, 20 * NS_PER_MS, &look));
	assert_int_equal(look.pid, 2);
	assert_false(recheck_take(&l, 39 * NS_PER_MS, &look));
	assert_true(recheck_take(&l, 40 * NS_PER_MS, &look));
	assert_false(recheck_take(&l, 79 * NS_PER_MS, &look));
	recheck_forget(&l, 2);
	assert_int_equal(recheck_timeout_ms(&l, 0), -1);
	recheck_free(&l);
}
