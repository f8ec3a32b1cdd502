// SPDX-License-Identifier: BSD-3-Clause
/*
 * What is proposed next, by whether the process still runs, whether gpuprof started it, and whether who
 * measured may use probes. Everything proposed is taken by the command line.
 */
#include <stdlib.h>
#include <string.h>

#include "cli/options.h"
#include "lib/test.h"
#include "model_room.h"
#include "findings/findings_next.h"
#include "view/view.h"

enum { PROBES = 1, ENDED = 2, SUDO = 4 };

static struct next_target target(unsigned int how, const char *command)
{
	return (struct next_target){ .pid = 12, .device = 1, .command = command,
				   .probes = how & PROBES, .ended = how & ENDED,
				   .sudo = how & SUDO };
}

TEST(a_next_command_is_one_this_user_may_run)
{
	static const struct {
		enum next what;
		unsigned int how;
		const char *command, *filter, *wanted;
	} cases[] = {
		{ NEXT_CALLERS, PROBES, NULL, "cudaFree",
		  "gpuprof stat --stacks --by stack --table calls --filter cudaFree -d 10s -p 12" },
		{ NEXT_CALLERS, PROBES, NULL, "Malloc|Free",
		  "gpuprof stat --stacks --by stack --table calls --filter 'Malloc|Free' -d 10s -p 12" },
		{ NEXT_CALLERS, PROBES | ENDED, NULL, "cudaFree",
		  "" },	/* it cannot be measured again */
		{ NEXT_CALLERS, PROBES | ENDED, "./train --steps 5", "cudaFree",
		  "gpuprof stat --stacks --by stack --table calls --filter cudaFree -- ./train --steps 5" },
		{ NEXT_CALLERS, 0, NULL, "cudaFree", "gpuprof stacks -p 12" },
		{ NEXT_CALLERS, ENDED, "./train", "cudaFree",
		  "sudo gpuprof stat --stacks --by stack --table calls --filter cudaFree -- ./train" },
		{ NEXT_WAITING, PROBES, "./train", NULL,
		  "gpuprof stat --stacks --wide --table offcpu -d 10s -p 12" },
		{ NEXT_WAITING, 0, NULL, NULL, "gpuprof stacks -p 12" },
		{ NEXT_STACKS, 0, NULL, NULL, "gpuprof stacks -p 12" },
		{ NEXT_STACKS, ENDED, "./train", NULL, "" },
		{ NEXT_COMM, 0, NULL, "nccl",
		  "gpuprof stat --table kernels --filter nccl -d 10s -p 12" },
		{ NEXT_COMM, ENDED, NULL, "nccl", "" },
		{ NEXT_COMM, ENDED, "./train", "nccl",
		  "gpuprof stat --table kernels --filter nccl -- ./train" },
		{ NEXT_THREADS, PROBES, NULL, NULL, "gpuprof stat --table threads -d 10s -p 12" },
		{ NEXT_SMALL, 0, NULL, NULL, "gpuprof stat --table kernels --sort count -d 10s -p 12" },
		{ NEXT_QUEUED, PROBES, NULL, NULL,
		  "gpuprof stat --table kernels --sort queue_p99_ns -d 10s -p 12" },
		{ NEXT_DEVICE, PROBES, NULL, NULL, "gpuprof stat --table processes,devices -d 10s --gpu 1" },
		{ NEXT_DEVICE, 0, NULL, NULL, "gpuprof stat --table processes,devices -d 10s -p 12" },
		{ NEXT_MEMORY, PROBES | ENDED, NULL, NULL, "" },
		{ NEXT_MEMORY, 0, NULL, NULL,
		  "sudo gpuprof stat --stacks --by stack --table memory -d 10s -p 12" },
		{ NEXT_INJECT, 0, NULL, NULL, "gpuprof stat --inject -d 10s -p 12" },
		{ NEXT_RESTART, ENDED, NULL, NULL, "" },
		{ NEXT_DOCTOR, ENDED, NULL, NULL, "" },
		{ NEXT_DOCTOR, PROBES, NULL, NULL, "gpuprof doctor -p 12" },
		{ NEXT_HOST, ENDED, NULL, NULL, "gpuprof doctor" },
		{ NEXT_CALLERS, PROBES | SUDO, NULL, "cudaFree",
		  "sudo gpuprof stat --stacks --by stack --table calls --filter cudaFree -d 10s -p 12" },
		{ NEXT_STACKS, PROBES | SUDO, NULL, NULL, "sudo gpuprof stacks -p 12" },
		{ NEXT_RESTART, SUDO | ENDED, "./train", NULL, "sudo gpuprof stat -- ./train" },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct next_target who = target(cases[i].how, cases[i].command);
		struct strbuf out = STRBUF_INIT;

		next_add(&out, cases[i].what, &who, cases[i].filter);
		assert_string_equal(out.s, cases[i].wanted);
		strbuf_free(&out);
	}
}

static void parses(const char *command)
{
	char *words = strdup(command), *rest = words, *word, *argv[32] = { NULL };
	struct options o;
	int argc = 0;

	while ((word = strsep(&rest, " ")))
		argv[argc++] = word;
	if (options_parse(&o, argc, argv))
		fail_msg("not taken: %s", command);
	options_free(&o);
	free(words);
}

TEST(every_proposal_is_taken_by_the_command_line)
{
	for (unsigned int what = 0; what < NEXT_KINDS; what++)
		for (unsigned int how = 0; how < 8; how++) {
			struct next_target who = target(how & 3, how & 4 ? "./train --steps 5" : NULL);
			struct strbuf out = STRBUF_INIT;

			if (what == NEXT_INJECT && who.ended)
				continue;	/* there is none any more */
			next_add(&out, (enum next)what, &who, "cudaFree");
			assert_null(strstr(out.s, "CMD"));
			if (*out.s)
				parses(out.s + (strncmp(out.s, "sudo ", 5) ? 0 : 5));
			strbuf_free(&out);
		}
}

static void fact(struct model *m, const char *key, const char *value)
{
	push(m, (struct event){ .kind = EVENT_FACT, .fact.key = key, .fact.value = value });
}

static void assert_typed(const char *command, bool wanted)
{
	if (next_is_typed(command) != wanted)
		fail_msg("%s: %s", command, wanted ? "refused" : "taken");
}

TEST(a_command_is_shown_if_a_shell_would_only_split_it)
{
	char long_one[512];

	assert_typed("torchrun --nproc=2 /home/a_b/t.py x=1", true);
	assert_typed("sh -c './train | tee '\\''my log'\\'''", true);
	assert_typed("./train ''", true);
	assert_typed("./train '\xc3\xa4 $(reboot)'", true);
	assert_typed("", false);
	assert_typed("./a $(reboot)", false);
	assert_typed("./a;reboot", false);
	assert_typed("./a 'b", false);
	assert_typed("./a \\", false);
	assert_typed("./a 'b\nc'", false);
	assert_typed("./a 'b\x1b[2J'", false);
	assert_typed("./a '\xff'", false);
	memset(long_one, 'a', sizeof(long_one));
	long_one[sizeof(long_one) - 1] = '\0';
	assert_typed(long_one, false);
}

static void call(struct model *m, uint32_t seq, uint16_t func, uint64_t stack)
{
	push(m, (struct event){ .kind = EVENT_CALL, .has = HAS_END, .pid = 12, .tid = 12,
				.seq = seq,
				.start_ns = 1000 + 100 * seq, .end_ns = 1010 + 100 * seq,
				.func = func, .call.stack = stack });
}

static void assert_next(const struct snapshot *snap, enum next what, const char *filter,
			const char *wanted)
{
	struct next_target who = next_of(snap, snap->processes.v[0].process, 0);
	struct strbuf out = STRBUF_INIT;

	next_add(&out, what, &who, filter);
	assert_string_equal(out.s, wanted);
	strbuf_free(&out);
}

TEST(what_a_capture_holds_is_read_from_it_and_the_rest_measured_anew)
{
	struct model *m = session(1000);
	struct consumers consumers;
	struct snapshot *snap;

	assert_int_equal(model_use_consumers(m, view_consumers(&consumers)), 0);
	call(m, 1, S, 7);
	call(m, 2, L, 0);
	finish(m, 2000);
	snap = snapshot_take(m, 0);
	assert_next(snap, NEXT_THREADS, NULL, "gpuprof stat --table threads -d 10s -p 12");
	snap->capture = "run.gpr";
	assert_next(snap, NEXT_THREADS, NULL, "gpuprof report run.gpr --table threads");
	assert_next(snap, NEXT_CALLERS, "Synchronize|Wait",
		    "gpuprof report run.gpr --by stack --table calls --filter 'Synchronize|Wait'");
	assert_next(snap, NEXT_CALLERS, "Launch",	/* no stack of it was taken */
		    "gpuprof stat --stacks --by stack --table calls --filter Launch -d 10s -p 12");
	assert_next(snap, NEXT_WAITING, NULL,
		    "gpuprof stat --stacks --wide --table offcpu -d 10s -p 12");
	assert_next(snap, NEXT_SMALL, NULL,
		    "gpuprof stat --table kernels --sort count -d 10s -p 12");
	assert_next(snap, NEXT_STACKS, NULL, "gpuprof stacks -p 12");
	snap->processes.v[0].is_gone = true;
	assert_next(snap, NEXT_STACKS, NULL, "gpuprof report run.gpr --table threads");
	assert_next(snap, NEXT_THREADS, NULL, "gpuprof report run.gpr --table threads");
	assert_next(snap, NEXT_SMALL, NULL, "");
	snap->processes.v[0].is_gone = false;
	snap->capture = "my run's.gpr";
	assert_next(snap, NEXT_THREADS, NULL,
		    "gpuprof report 'my run'\\''s.gpr' --table threads");
	snap->capture = "-x.gpr";
	assert_next(snap, NEXT_THREADS, NULL, "gpuprof report ./-x.gpr --table threads");
	snap->capture = "a\nb.gpr";	/* in no line */
	assert_next(snap, NEXT_THREADS, NULL, "gpuprof stat --table threads -d 10s -p 12");
	snapshot_free(snap);
	model_free(m);
}

TEST(a_command_from_a_capture_is_left_out_unless_a_shell_would_only_split_it)
{
	struct model *m = session(1000);
	struct snapshot *snap;
	struct next_target who;

	push(m, (struct event){ .kind = EVENT_PROCESS, .pid = 12, .task.comm = "a" });
	fact(m, "command", "./a $(reboot)");
	snap = snapshot_take(m, 0);
	who = next_of(snap, snap->processes.v[0].process, 3);
	assert_null(who.command);
	assert_true(who.probes && !who.ended);
	assert_int_equal(who.device, 3);
	snapshot_free(snap);
	push(m, (struct event){ .kind = EVENT_PROCESS, .pid = 13, .task.comm = "python3.11" });
	fact(m, "command", "CMD");	/* --no-cmdline */
	snap = snapshot_take(m, 0);
	assert_null(next_of(snap, snap->processes.v[0].process, 0).command);
	snapshot_free(snap);
	fact(m, "command", "torchrun --nproc=2 /home/a_b/t.py x=1");
	fact(m, "without_probes", "CAP_BPF is missing; run as root or with sudo");
	snap = snapshot_take(m, 0);
	who = next_of(snap, snap->processes.v[1].process, 0);
	assert_string_equal(who.command, "torchrun --nproc=2 /home/a_b/t.py x=1");
	assert_false(who.probes);
	fact(m, "without_probes", "--attach none; leave that out");
	snapshot_free(snap);
	snap = snapshot_take(m, 0);
	who = next_of(snap, snap->processes.v[1].process, 0);
	assert_true(who.probes && !who.sudo);
	fact(m, "sudo", "yes");
	snapshot_free(snap);
	snap = snapshot_take(m, 0);
	assert_true(next_of(snap, snap->processes.v[1].process, 0).sudo);
	snapshot_free(snap);
	model_free(m);
}
