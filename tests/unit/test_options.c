// SPDX-License-Identifier: BSD-3-Clause
/* The command line: what is accepted, what is refused, and that every refusal is exit code 2. */
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/time.h"
#include "base/exit.h"
#include "cli/option_row.h"
#include "cli/verbs.h"
#include "lib/test.h"
#include "probe/loader.h"
#include "view/render.h"
#include "view/view.h"

#define WORDS_MAX 16

static struct options o;	/* of the line that was parsed last */
static char *argv[WORDS_MAX + 2];

/* A command line, split at spaces. */
static int parse(const char *line)
{
	static char text[512];
	char *rest = text, *word;
	int argc = 1;

	snprintf(text, sizeof(text), "%s", line);
	argv[0] = (char *)"gpuprof";
	while (argc <= WORDS_MAX && (word = strsep(&rest, " ")))
		if (*word)
			argv[argc++] = word;
	argv[argc] = NULL;
	options_free(&o);
	return options_parse(&o, argc, argv);
}

AFTER_EACH
{
	options_free(&o);
}

/* Parses with standard error in a file; what was said lands in said. */
static int parse_quietly(const char *text, char *said, size_t size)
{
	int file = memfd_create("stderr", 0), saved = dup(STDERR_FILENO), rc;
	ssize_t n;

	assert_true(file >= 0 && saved >= 0);
	dup2(file, STDERR_FILENO);
	rc = parse(text);
	dup2(saved, STDERR_FILENO);
	n = pread(file, said, size - 1, 0);
	said[n > 0 ? n : 0] = '\0';
	close(file);
	close(saved);
	return rc;
}

static void refused(const char *text)
{
	char said[1024];

	if (parse_quietly(text, said, sizeof(said)) != EXIT_USAGE)
		fail_msg("'%s' was accepted", text);
	if (strncmp(said, "gpuprof: ", 9) || strchr(said, '\n') != said + strlen(said) - 1)
		fail_msg("'%s' was not answered with one line: %s", text, said);
}

static void answered(const char *text, const char *line)
{
	char said[1024];

	assert_int_equal(parse_quietly(text, said, sizeof(said)), EXIT_USAGE);
	assert_string_equal(said, line);
}

TEST(nothing_on_the_line_is_all_processes_without_a_verb)
{
	assert_int_equal(parse(""), 0);
	assert_string_equal(o.verb->name, "");
	assert_true(o.session.all);
	assert_int_equal(o.interval_ns, 0);
	assert_int_equal(o.session.duration_ns, 0);
	assert_int_equal(o.session.ring_bytes, 8 << 20);
	assert_int_equal(o.report.format, FORMAT_TEXT);
	assert_true(o.report.max_loss == 0.01);
	assert_null(o.session.cmd);
}

TEST(pids_may_stand_as_pgrep_prints_them)
{
	assert_int_equal(parse("-p 30\n10\n\t20,\n40\n stat"), 0);
	assert_int_equal(o.session.n_pids, 4);
	assert_int_equal(o.session.pids[3], 40);
	refused("-p 30,,10");
	refused("-p 30\n,\n");
	refused("-p \n");
}

TEST(pids_are_distinct_and_keep_their_order)
{
	assert_int_equal(parse("-p 30,10,30 stat --pid=20 -p10"), 0);
	assert_string_equal(o.verb->name, "stat");
	assert_int_equal(o.session.n_pids, 3);
	assert_int_equal(o.session.pids[0], 30);
	assert_int_equal(o.session.pids[1], 10);
	assert_int_equal(o.session.pids[2], 20);
	assert_false(o.session.all);
}

TEST(values_follow_stand_behind_equals_or_stick)
{
	static const char *const lines[] = {
		"stat -d 10s", "stat -d10s", "stat --duration=10s", "stat --duration 10s",
		"--duration 10 stat", "stat -ad10s", "stat -d 1s -d 10s",
	};

	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		assert_int_equal(parse(lines[i]), 0);
		assert_int_equal(o.session.duration_ns, 10 * NS_PER_SEC);
	}
}

TEST(everything_after_two_dashes_is_the_command)
{
	assert_int_equal(parse("stat -v -- train --help -p 1 --"), 0);
	assert_true(o.verbose);
	assert_false(o.help);
	assert_false(o.session.all);
	assert_ptr_equal(o.session.cmd, argv + 4);
	assert_string_equal(o.session.cmd[4], "--");
	assert_null(o.session.cmd[5]);
}

TEST(an_option_does_not_swallow_the_two_dashes)
{
	refused("stat -d -- train");
	refused("stat -p");
	refused("stat --");
}

TEST(ring_sizes_round_up_to_a_power_of_two)
{
	static const struct {
		const char *line;
		uint64_t bytes;
	} rows[] = {
		{ "stat --ring-size 64k", 64 << 10 }, { "stat --ring-size 65k", 128 << 10 },
		{ "stat --ring-size 65536", 64 << 10 }, { "stat --ring-size 3M", 4 << 20 },
		{ "stat --ring-size 1g", 1 << 30 }, { "stat --ring-size 1023m", 1 << 30 },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		assert_int_equal(parse(rows[i].line), 0);
		assert_int_equal(o.session.ring_bytes, rows[i].bytes);
	}
}

TEST(choices_are_the_enums_of_their_rooms)
{
	assert_int_equal(parse("stat --format json --by result --attach multi"), 0);
	assert_int_equal(o.report.format, FORMAT_JSON);
	assert_int_equal(o.report.by, CALLS_BY_RESULT);
	assert_int_equal(o.session.attach, WAY_MULTI);
	assert_int_equal(parse("stat --format text --by launch --attach session"), 0);
	assert_int_equal(o.report.format, FORMAT_TEXT);
	assert_int_equal(o.report.by, CALLS_BY_LAUNCH);
	assert_int_equal(o.session.attach, WAY_SESSION);
	assert_int_equal(o.report.color, COLOR_AUTO);
	assert_int_equal(parse("report f --color always"), 0);
	assert_int_equal(o.report.color, COLOR_ALWAYS);
	assert_int_equal(parse("-p 1 --color never"), 0);
	assert_int_equal(o.report.color, COLOR_NEVER);
	assert_int_equal(parse("record -p 1 --color never"), EXIT_USAGE);
}

TEST(a_budget_is_kept_without_a_verb_unless_it_is_off)
{
	static const struct {
		const char *line;
		double share;
	} lines[] = {
		{ "-p 1", 0.01 }, { "-- train", 0.01 }, { "-i 5s", 0.01 },
		{ "-p 1 --budget 0.5%", 0.005 }, { "-p 1 --budget off", 0 },
		{ "stat -p 1", 0 }, { "record -p 1", 0 }, { "stat --budget 2 -p 1", 0.02 },
		{ "record --budget=1% -p 1", 0.01 }, { "stat --budget off -p 1", 0 },
	};

	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		assert_int_equal(parse(lines[i].line), 0);
		assert_float_equal((float)o.session.budget, (float)lines[i].share, 1e-6f);
	}
	assert_int_equal(parse("stat --budget 1% --launch both -p 1"), EXIT_USAGE);
	assert_int_equal(parse("-p 1 --launch both"), 0);
	assert_true(o.session.budget == 0);
}

TEST(percentages_become_shares)
{
	assert_int_equal(parse("report f --max-loss 0.5%"), 0);
	assert_true(o.report.max_loss == 0.005);
	assert_int_equal(parse("report f --max-loss 100"), 0);
	assert_true(o.report.max_loss == 1);
}

TEST(bad_values_are_refused)
{
	static const char *const lines[] = {
		"-p 0", "-p -1", "-p 12x", "-p 1,", "-p ,1", "-p 1,,2", "-p 4194305",
		"-p 99999999999999999999", "-p=1", "-d 0", "-d 0.1ms", "-d -1", "-d 10q",
		"-d 1e400",
		"-d inf", "-d nan", "-d 0x10", "-n 0", "-n 1.5", "-i 0s", "--ring-size 1k",
		"--ring-size 2g", "--ring-size 64kk", "--ring-size 18446744073709551616",
		"--ring-size 17179869184g", "--format xml", "--format=", "--by pid", "--top 0",
		"--max-loss 101", "--max-loss -1", "--max-loss nan", "--max-loss 1%%", "--all=1",
		"--budget 0%", "--budget 5us", "--budget on", "--budget 101%", "--filter=", "--attach kprobe",
	};

	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++)
		refused(lines[i]);
}

TEST(targets_exclude_each_other)
{
	refused("-p 1 -a");
	refused("stat -p 1 -- cmd");
	refused("record -a -- cmd");
	refused("report f -- cmd");
	refused("-v -q");
}

TEST(options_of_another_verb_are_refused)
{
	refused("report f -d 1s");
	refused("stat -n 3");
	refused("record --table calls");
	refused("version --wide");
	refused("-o f");
}

TEST(words_must_fit_the_verb)
{
	refused("stta");
	refused("report a b");
	refused("stat 1234");
	refused("help stat record");
	assert_int_equal(parse("report run.gpr"), 0);
	assert_int_equal(o.n_args, 1);
	assert_string_equal(o.args[0], "run.gpr");
}

TEST(unknown_options_are_refused)
{
	refused("--duraton 3");
	refused("-x");
	refused("-a\xff");
	refused("--=");
	refused("--x=y");
	refused("---");
}

TEST(a_refusal_names_the_valid_values)
{
	answered("--duraton 3",
		 "gpuprof: unknown option '--duraton'; did you mean '--duration'?\n");
	answered("reprot f", "gpuprof: unknown verb 'reprot'; did you mean 'report'?\n");
	answered("frobnicate", "gpuprof: unknown verb 'frobnicate'; the verbs are top, stat, record, report, "
		 "export, stacks, env, doctor, version, help\n");
	answered("/bin/true -x", "gpuprof: '/bin/true' is a program; type: gpuprof stat -- /bin/true\n");
	answered("-i 249ms", "gpuprof: option '--interval': '249ms' is not accepted; "
		 "give a duration of at least 250ms, such as 5s\n");
	answered("stat -d soon", "gpuprof: option '--duration': 'soon' is not accepted; "
		 "give a duration such as 10s, 500ms or 2m\n");
	answered("report f -d 1s", "gpuprof: option '--duration' does not apply to 'report'; "
		 "it is for gpuprof without a verb, top, stat, record\n");
	answered("-p 1 -a", "gpuprof: use either --pid or --all\n");
}

TEST(an_option_without_effect_is_refused)
{
	answered("stat --by stack", "gpuprof: option '--by stack' needs '--stacks': without it few are "
		 "taken\n");
	answered("stat --stack-size 16k", "gpuprof: option '--stack-size' needs '--stacks': without it "
		 "none are taken here\n");
	answered("-p 1 --stack-size 16k --no-stacks", "gpuprof: option '--stack-size' needs "
		 "'--stacks': without it none are taken here\n");
	answered("stat --stacks --no-stacks", "gpuprof: option '--no-stacks' excludes '--stacks'\n");
	assert_int_equal(parse("-p 1 --stack-size 16k"), 0);
	answered("report f --lines", "gpuprof: option '--lines' needs '--by stack' or '--table lines': lines are those of a "
		 "stack's frames\n");
	assert_int_equal(parse("stat --stacks --by stack --lines --stack-size 16k"), 0);
	assert_int_equal(parse("report f --by stack"), 0);
}

TEST(help_and_version_win_over_missing_arguments)
{
	assert_int_equal(parse("report --help"), 0);
	assert_true(o.help);
	assert_string_equal(o.verb->name, "report");
	assert_int_equal(parse("-V"), 0);
	assert_string_equal(o.verb->name, "version");
	assert_int_equal(parse("help -V stat"), 0);
	assert_string_equal(o.verb->name, "version");
	assert_int_equal(o.n_args, 0);
	assert_int_equal(parse("report -V"), 0);
	assert_string_equal(o.verb->name, "version");
}

TEST(the_nearest_name_is_a_short_edit_away)
{
	static const char *const names[] = { "stat", "record", "report" };

	assert_string_equal(str_nearest("stta", names, 3), "stat");
	assert_string_equal(str_nearest("reprot", names, 3), "report");
	assert_string_equal(str_nearest("recrod", names, 3), "record");
	assert_null(str_nearest("zzzz", names, 3));
	assert_null(str_nearest("", names, 3));
}

TEST(every_row_is_complete_and_its_help_fits)
{
	const struct option_row *rows = options_rows;
	const struct verb *v = options_verbs;
	size_t n = 0;

	while (rows[n].name)
		n++;
	assert_true(n <= OPTIONS_ROWS_MAX);	/* the parser's bit set */
	for (size_t i = 0; i < n; i++) {
		assert_non_null(rows[i].set);
		assert_true(rows[i].verbs && rows[i].verbs < 1u << VERB_END);
		assert_true(!rows[i].arg == !rows[i].accepts);
		assert_true(strlen(rows[i].help) <= 52);
		for (size_t k = 0; k < i; k++) {
			assert_string_not_equal(rows[i].name, rows[k].name);
			assert_true(!rows[i].letter || rows[i].letter != rows[k].letter);
		}
	}
	for (size_t i = 0; v[i].name; i++) {
		assert_non_null(v[i].about);
		assert_non_null(v[i].examples);
		assert_true(v[i].max_args <= OPTIONS_ARGS_MAX);
	}
}
