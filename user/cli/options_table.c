// SPDX-License-Identifier: BSD-3-Clause
/*
 * All options and all verbs, as data. Help, man pages and completions are generated from here:
 * help texts fit behind column 30 of 80. Knows nothing of how the rows are walked (options.c,
 * cmd_help.c).
 */
#include "cli/option_value.h"
#include "probe/loader.h"
#include "probe/plan.h"
#include "view/render.h"
#include "view/view.h"

#define ON(verb) (1u << VERB_##verb)
#define VIEWS (ON(DEFAULT) | ON(TOP))
#define LIVE (VIEWS | ON(STAT) | ON(RECORD))
#define CHOOSES (LIVE | ON(STACKS) | ON(DOCTOR))
#define PRINTS (ON(DEFAULT) | ON(STAT) | ON(REPORT))
#define WRITES (PRINTS | ON(EXPORT))
#define READS (ON(REPORT) | ON(EXPORT))
#define EVERY ((uint32_t)((1ull << VERB_END) - 1))
#define TABLES "Tables: findings, ledger, devices, kernels, lanes, copies, ranges, memory,\n" \
	       "calls, ops, modules, gemm, processes, threads, events; only when asked\n" \
	       "for: offcpu, lines.\n"
#define MEMBER(m) offsetof(struct options, m)

static const char *const format_names[] = {
	[FORMAT_TEXT] = "text", [FORMAT_MD] = "md", [FORMAT_CSV] = "csv", [FORMAT_JSON] = "json",
	[FORMAT_FOLDED] = "folded", [FORMAT_SPEEDSCOPE] = "speedscope", [FORMAT_SVG] = "svg",
	[FORMAT_FALCON] = "falcon", [FORMAT_TUNABLEOP] = "tunableop",
	[FORMAT_TORCH_MEMORY] = "torch-memory", [FORMAT_HTML] = "html", [FORMAT_END] = NULL,
};

static const char *const by_names[] = {
	[CALLS_BY_FUNCTION] = "function", [CALLS_BY_LAUNCH] = "launch",
	[CALLS_BY_RESULT] = "result", [CALLS_BY_STACK] = "stack", NULL,
};

static const char *const color_names[] = {
	[COLOR_AUTO] = "auto", [COLOR_ALWAYS] = "always", [COLOR_NEVER] = "never", NULL,
};

static const char *const attach_names[] = {
	[WAY_AUTO] = "auto", [WAY_SESSION] = "session", [WAY_MULTI] = "multi", [WAY_PERF] = "perf",
	[WAY_NONE] = "none", NULL,
};

static const char *const graphs_names[] = {
	[GRAPHS_AUTO] = "auto", [GRAPHS_NODES] = "nodes", [GRAPHS_WHOLE] = "whole", NULL,
};

static const char *const cupti_names[] = {
	[CUPTI_AUTO] = "auto", [CUPTI_SUBSCRIBE] = "subscribe", NULL,
};

static const char *const launch_names[] = {
	[LAUNCH_AUTO] = "auto", [LAUNCH_BOTH] = "both", [LAUNCH_RUNTIME] = "runtime",
	[LAUNCH_DRIVER] = "driver", [LAUNCH_HELPER] = "helper", NULL,
};

static const char *const off_cpu_names[] = {
	[OFF_CPU_AUTO] = "auto", [OFF_CPU_ON] = "on", [OFF_CPU_OFF] = "off", NULL,
};

static const char *const torch_names[] = {
	[OPS_OFF] = "off", [OPS_PYTHON] = "python", [OPS_ALL] = "all", NULL,
};

static const char *const form_names[] = {
	[HELP_TEXT] = "text", [HELP_MAN] = "man", [HELP_BASH] = "bash", [HELP_ZSH] = "zsh",
	[HELP_FISH] = "fish", [HELP_VERBS] = "verbs", [HELP_WORDS] = "words", [HELP_END] = NULL,
};

static const char *const env_names[] = {
	[ENV_SHELL] = "shell", [ENV_SYSTEMD] = "systemd", [ENV_DOCKER] = "docker",
	[ENV_K8S] = "k8s", [ENV_SLURM] = "slurm", [ENV_CDI] = "cdi",
	[ENV_APPTAINER] = "apptainer", [ENV_PROLOG] = "prolog", [ENV_FORMS] = NULL,
};

const char *const options_groups[GROUP_END] = {
	[GROUP_TARGETS] = "Targets",
	[GROUP_TIME] = "Time",
	[GROUP_OUTPUT] = "Output",
	[GROUP_MEASURE] = "Measuring",
	[GROUP_OTHER] = "Other",
};

static const char *const tier_names[] = { "0", "1", NULL };
static const char *const on_names[] = { [ON_EXIT] = "exit", [ON_SIGNAL] = "signal", NULL };

static const struct option_row rows[] = {
	{
		.name = "pid", .letter = 'p', .group = GROUP_TARGETS, .arg = "PID[,PID...]",
		.verbs = LIVE | ON(STACKS) | ON(ENV) | ON(DOCTOR), .set = option_set_pids,
		.completes = COMPLETE_PIDS,
		.accepts = "process ids such as 1234 or 1234,1240",
		.help = "measure these processes and all below",
	}, {
		.name = "name", .group = GROUP_TARGETS, .arg = "GLOB[,GLOB...]",
		.verbs = CHOOSES, .set = option_set_selector,
		.accepts = "shell patterns of names such as train or 'py*'",
		.help = "those with this comm, program or script",
	}, {
		.name = "user", .group = GROUP_TARGETS, .arg = "USER[,USER...]",
		.verbs = CHOOSES, .set = option_set_selector,
		.accepts = "users of this host, by name or number",
		.help = "those of this user (name or uid)",
	}, {
		.name = "cgroup", .group = GROUP_TARGETS, .arg = "PATH[,PATH...]",
		.verbs = CHOOSES, .set = option_set_selector,
		.accepts = "paths of control groups, or patterns of their parts such as 'docker-*'",
		.help = "those in this control group or below (glob)",
	}, {
		.name = "pod", .group = GROUP_TARGETS, .arg = "POD[,POD...]",
		.verbs = CHOOSES, .set = option_set_selector,
		.accepts = "names of Kubernetes pods, or their UIDs",
		.help = "those of this pod (name, glob or UID)",
	}, {
		.name = "job", .group = GROUP_TARGETS, .arg = "ID[,ID...]",
		.verbs = CHOOSES, .set = option_set_selector,
		.accepts = "ids of jobs such as 1234",
		.help = "those of this Slurm, PBS, LSF or Flux job",
	}, {
		.name = "gpu", .group = GROUP_TARGETS, .arg = "GPU[,GPU...]",
		.verbs = CHOOSES, .set = option_set_selector,
		.accepts = "devices of this host, by index (0, or 0:1 for a MIG instance) or UUID",
		.help = "those that have this device or MIG instance open",
	}, {
		.name = "isolate", .group = GROUP_TARGETS,
		.verbs = LIVE | ON(STACKS), .set = option_set_flag, .at = MEMBER(session.isolate),
		.help = "not the processes below those chosen",
	}, {
		.name = "all", .letter = 'a', .group = GROUP_TARGETS,
		.verbs = LIVE, .set = option_set_flag, .at = MEMBER(session.all),
		.help = "measure every process of this host (the default)",
	}, {
		.name = "duration", .letter = 'd', .group = GROUP_TIME, .arg = "DUR",
		.verbs = LIVE, .set = option_set_duration, .at = MEMBER(session.duration_ns),
		.accepts = "a duration such as 10s, 500ms or 2m",
		.help = "stop after DUR (10s, 500ms, 2m)",
	}, {
		.name = "interval", .letter = 'i', .group = GROUP_TIME, .arg = "DUR",
		.verbs = ON(DEFAULT), .set = option_set_interval, .at = MEMBER(interval_ns),
		.accepts = "a duration of at least 250ms, such as 5s",
		.help = "print every DUR, from 250ms on (5s; at first 1s)",
	}, {
		.name = "delay", .group = GROUP_TIME, .arg = "DUR",
		.verbs = VIEWS, .set = option_set_interval, .at = MEMBER(delay_ns),
		.accepts = "a duration of at least 250ms, such as 1s",
		.help = "live view: refresh every DUR (1s)",
	}, {
		.name = "count", .letter = 'n', .group = GROUP_TIME, .arg = "N",
		.verbs = VIEWS, .set = option_set_number, .at = MEMBER(session.count),
		.accepts = "a number from 1 up",
		.help = "stop after N intervals",
	}, {
		.name = "from", .group = GROUP_TIME, .arg = "TIME",
		.verbs = READS, .set = option_set_moment, .at = MEMBER(from),
		.accepts = "a time from the beginning such as 10s, or of day such as 09:15:02",
		.help = "only what came after TIME (10s, 09:15:02)",
	}, {
		.name = "to", .group = GROUP_TIME, .arg = "TIME",
		.verbs = READS, .set = option_set_moment, .at = MEMBER(to),
		.accepts = "a time from the beginning such as 20s, or of day such as 09:15:12",
		.help = "only what came before TIME",
	}, {
		.name = "output", .letter = 'o', .group = GROUP_OUTPUT, .arg = "FILE",
		.verbs = ON(STAT) | ON(RECORD) | READS | ON(STACKS),
		.set = option_set_text, .at = MEMBER(report.output), .completes = COMPLETE_FILES,
		.accepts = "the name of a file",
		.help = "write to FILE (record: keep an older one); csv: DIR/",
	}, {
		.name = "html", .group = GROUP_OUTPUT, .arg = "FILE",
		.verbs = ON(STAT) | READS, .set = option_set_text, .at = MEMBER(report.html),
		.completes = COMPLETE_FILES,
		.accepts = "the name of a file",
		.help = "also write a page to send: one file, no network",
	}, {
		.name = "max-size", .group = GROUP_OUTPUT, .arg = "SIZE",
		.verbs = ON(RECORD), .set = option_set_size, .at = MEMBER(session.max_bytes),
		.accepts = "a size of at least 64k, such as 100m or 2g",
		.help = "of a file, then the next (--before: of memory)",
	}, {
		.name = "max-files", .group = GROUP_OUTPUT, .arg = "N",
		.verbs = ON(RECORD), .set = option_set_number, .at = MEMBER(session.max_files),
		.accepts = "a number from 1 up",
		.help = "keep the last N files of --max-size",
	}, {
		.name = "before", .group = GROUP_OUTPUT, .arg = "DUR",
		.verbs = ON(RECORD), .set = option_set_duration, .at = MEMBER(session.before_ns),
		.accepts = "a duration such as 30s or 2m",
		.help = "hold the last DUR in memory until --on",
	}, {
		.name = "on", .group = GROUP_OUTPUT, .arg = "EVENT",
		.verbs = ON(RECORD), .set = option_set_choice, .at = MEMBER(session.on),
		.choices = on_names, .accepts = "exit or signal",
		.help = "write on exit (default) or signal (SIGUSR1)",
	}, {
		.name = "batch", .group = GROUP_OUTPUT,
		.verbs = ON(TOP), .set = option_set_flag, .at = MEMBER(batch),
		.help = "print each refresh as text, for logs",
	}, {
		.name = "ascii", .group = GROUP_OUTPUT,
		.verbs = VIEWS, .set = option_set_flag, .at = MEMBER(ascii),
		.help = "live view: bars of letters, not of blocks",
	}, {
		.name = "capture", .group = GROUP_OUTPUT, .arg = "FILE",
		.verbs = VIEWS | ON(STAT), .set = option_set_text, .at = MEMBER(capture),
		.completes = COMPLETE_FILES,
		.accepts = "the name of a file",
		.help = "also keep a capture in FILE",
	}, {
		.name = "table", .group = GROUP_OUTPUT, .arg = "LIST",
		.verbs = WRITES, .set = option_set_text, .at = MEMBER(report.tables),
		.accepts = "names of tables such as calls,threads",
		.help = "of those named above (csv without DIR/: calls)",
	}, {
		.name = "format", .group = GROUP_OUTPUT, .arg = "FORMAT",
		.verbs = WRITES | ON(STACKS), .set = option_set_choice, .at = MEMBER(report.format),
		.choices = format_names,
		.accepts = "text, md, csv, json, html, folded, speedscope, svg, falcon, "
			   "tunableop or torch-memory",
		.help = "text, md, csv, json, html; folded, svg, falcon ...",
	}, {
		.name = "color", .group = GROUP_OUTPUT, .arg = "WHEN",
		.verbs = PRINTS | ON(TOP) | ON(STACKS), .set = option_set_choice,
		.at = MEMBER(report.color),
		.choices = color_names, .accepts = "auto, always or never",
		.help = "in colour: auto (on a terminal), always, never",
	}, {
		.name = "by", .group = GROUP_OUTPUT, .arg = "WHAT",
		.verbs = WRITES, .set = option_set_choice, .at = MEMBER(report.by),
		.choices = by_names, .accepts = "function, launch, result or stack",
		.help = "rows by function, launch, result or stack",
	}, {
		.name = "sort", .group = GROUP_OUTPUT, .arg = "COLUMN",
		.verbs = WRITES, .set = option_set_text, .at = MEMBER(report.sort),
		.accepts = "the name of a column",
		.help = "sort by COLUMN, largest first",
	}, {
		.name = "top", .group = GROUP_OUTPUT, .arg = "N",
		.verbs = WRITES, .set = option_set_number, .at = MEMBER(report.top),
		.accepts = "a number from 1 up",
		.help = "N rows of each table (text, md: 500; --table: all)",
	}, {
		.name = "filter", .group = GROUP_OUTPUT, .arg = "REGEX",
		.verbs = WRITES, .set = option_set_text, .at = MEMBER(report.filter),
		.accepts = "an extended regular expression",
		.help = "only functions and kernels that match",
	}, {
		.name = "wide", .group = GROUP_OUTPUT,
		.verbs = PRINTS, .set = option_set_flag, .at = MEMBER(report.wide),
		.help = "all columns, and names in full",
	}, {
		.name = "full", .group = GROUP_OUTPUT,
		.verbs = PRINTS | ON(STACKS), .set = option_set_flag, .at = MEMBER(report.full),
		.help = "all tables, or every frame, instead of one screen",
	}, {
		.name = "timeline", .group = GROUP_OUTPUT,
		.verbs = ON(REPORT), .set = option_set_flag, .at = MEMBER(report.timeline),
		.help = "GPUs and threads over time, as rows of 100 cells",
	}, {
		.name = "annotate", .group = GROUP_OUTPUT, .arg = "FILE",
		.verbs = ON(REPORT), .set = option_set_text, .at = MEMBER(report.annotate),
		.completes = COMPLETE_FILES,
		.accepts = "the name of a source file",
		.help = "FILE with what each of its lines did (--full: all)",
	}, {
		.name = "all-threads", .group = GROUP_OUTPUT,
		.verbs = ON(STACKS), .set = option_set_flag, .at = MEMBER(all_threads),
		.help = "also those of CUDA and gpuprof",
	}, {
		.name = "lines", .group = GROUP_OUTPUT,
		.verbs = ON(STAT) | READS, .set = option_set_flag, .at = MEMBER(lines),
		.help = "of compiled code: source lines, inlined functions",
	}, {
		.name = "prune", .group = GROUP_OUTPUT, .arg = "PCT",
		.verbs = WRITES, .set = option_set_percent, .at = MEMBER(report.prune),
		.accepts = "a percentage from 0 to 100 such as 1%",
		.help = "table gemm: only products with so much of its time",
	}, {
		.name = "max-loss", .group = GROUP_OUTPUT, .arg = "PCT",
		.verbs = WRITES | ON(RECORD), .set = option_set_percent,
		.at = MEMBER(report.max_loss),
		.accepts = "a percentage from 0 to 100 such as 0.5%",
		.help = "exit 5 when more is lost (default 1%)",
	}, {
		.name = "attach", .group = GROUP_MEASURE, .arg = "WAY",
		.verbs = LIVE | ON(DOCTOR), .set = option_set_choice, .at = MEMBER(session.attach),
		.choices = attach_names, .accepts = "auto, session, multi, perf or none",
		.help = "probes by: auto, session, multi, perf, none",
	}, {
		.name = "launch", .group = GROUP_MEASURE, .arg = "WHOSE",
		.verbs = LIVE, .set = option_set_choice, .at = MEMBER(session.launch),
		.choices = launch_names, .accepts = "auto, both, runtime, driver or helper",
		.help = "launches probed: auto, both, runtime, driver, helper",
	}, {
		.name = "graphs", .group = GROUP_MEASURE, .arg = "HOW",
		.verbs = LIVE, .set = option_set_choice, .at = MEMBER(session.graphs),
		.choices = graphs_names, .accepts = "auto, nodes or whole",
		.help = "CUDA graphs by their nodes, or whole (cheaper)",
	}, {
		.name = "cupti", .group = GROUP_MEASURE, .arg = "HOW",
		.verbs = LIVE, .set = option_set_choice, .at = MEMBER(session.cupti),
		.choices = cupti_names, .accepts = "auto or subscribe",
		.help = "subscribe: exact graph nodes, no other client",
	}, {
		.name = "tier", .group = GROUP_MEASURE, .arg = "N",
		.verbs = LIVE, .set = option_set_choice, .at = MEMBER(session.tier),
		.choices = tier_names, .accepts = "0 or 1",
		.help = "1: queries, cublas and cudnn routines too",
	}, {
		.name = "budget", .group = GROUP_MEASURE, .arg = "SHARE",
		.verbs = LIVE, .set = option_set_budget, .at = MEMBER(session.budget),
		.accepts = "a share of a thread's time such as 1%, or off",
		.help = "what probes may cost: 1% (stat, record: off), or off",
	}, {
		.name = "step-limit", .group = GROUP_MEASURE, .arg = "DUR",
		.verbs = LIVE | ON(DOCTOR), .set = option_set_duration,
		.at = MEMBER(session.step_limit_ns),
		.accepts = "a duration such as 5us",
		.help = "what single-stepping may add to a call (2us)",
	}, {
		.name = "ring-size", .group = GROUP_MEASURE, .arg = "BYTES",
		.verbs = LIVE, .set = option_set_ring, .at = MEMBER(session.ring_bytes),
		.accepts = "a size from 64k to 1g",
		.help = "kernel buffer, 64k to 1g (default 8m)",
	}, {
		.name = "stacks", .group = GROUP_MEASURE,
		.verbs = LIVE, .set = option_set_flag, .at = MEMBER(session.stacks),
		.help = "take the stack of each call, not only if it blocks",
	}, {
		.name = "no-stacks", .group = GROUP_MEASURE,
		.verbs = LIVE, .set = option_set_flag, .at = MEMBER(session.no_stacks),
		.help = "take no stacks, not even of calls that block",
	}, {
		.name = "stack-size", .group = GROUP_MEASURE, .arg = "BYTES",
		.verbs = LIVE, .set = option_set_stack, .at = MEMBER(session.stack_bytes),
		.accepts = "a size from 512 to 16k",
		.help = "seen of a stack, 512 to 16k (default 4k)",
	}, {
		.name = "off-cpu", .group = GROUP_MEASURE, .arg = "WHEN",
		.verbs = LIVE, .set = option_set_choice, .at = MEMBER(session.off_cpu),
		.choices = off_cpu_names, .accepts = "auto, on or off",
		.help = "why threads do not run: auto (or sampled), on, off",
	}, {
		.name = "torch", .group = GROUP_MEASURE, .arg = "WHAT",
		.verbs = LIVE, .set = option_set_choice, .at = MEMBER(session.torch),
		.choices = torch_names, .accepts = "off, python or all",
		.help = "operators of PyTorch: off, python (it calls), all",
	}, {
		.name = "shapes", .group = GROUP_MEASURE,
		.verbs = LIVE, .set = option_set_flag, .at = MEMBER(session.shapes),
		.help = "--torch all by the shape of the first tensor",
	}, {
		.name = "gemms", .group = GROUP_MEASURE,
		.verbs = LIVE, .set = option_set_flag, .at = MEMBER(session.gemms),
		.help = "products of matrices by cuBLAS (--table gemm)",
	}, {
		.name = "torch-memory", .group = GROUP_MEASURE,
		.verbs = LIVE, .set = option_set_flag, .at = MEMBER(session.torch_memory),
		.help = "what PyTorch's allocator gives (--table memory)",
	}, {
		.name = "no-cmdline", .group = GROUP_MEASURE,
		.verbs = LIVE, .set = option_set_flag, .at = MEMBER(session.no_cmdline),
		.help = "do not keep command lines of processes",
	}, {
		.name = "inject", .group = GROUP_MEASURE,
		.verbs = LIVE, .set = option_set_flag, .at = MEMBER(session.inject),
		.help = "-p and below: bring in the helper by ptrace (asks)",
	}, {
		.name = "yes", .group = GROUP_MEASURE,
		.verbs = LIVE, .set = option_set_flag, .at = MEMBER(session.yes),
		.help = "do not ask before --inject",
	}, {
		.name = "force", .group = GROUP_MEASURE,
		.verbs = LIVE, .set = option_set_flag, .at = MEMBER(session.force),
		.help = "--inject before R560 (CUDA 12.6)",
	}, {
		.name = "as", .group = GROUP_OUTPUT, .arg = "FORM",
		.verbs = ON(HELP), .set = option_set_choice, .at = MEMBER(form),
		.choices = form_names, .accepts = "text, man, bash, zsh, fish, verbs or words",
		.help = "text, man, bash, zsh, fish, verbs or words",
	}, {
		.name = "for", .group = GROUP_OUTPUT, .arg = "WHAT",
		.verbs = ON(ENV), .set = option_set_choice, .at = MEMBER(env_form),
		.choices = env_names,
		.accepts = "shell, systemd, docker, cdi, apptainer, k8s, slurm or prolog",
		.help = "shell (default), or see above",
	}, {
		.name = "dir", .group = GROUP_OUTPUT, .arg = "DIR",
		.verbs = ON(ENV), .set = option_set_text, .at = MEMBER(dir),
		.completes = COMPLETE_FILES,
		.accepts = "the name of a directory",
		.help = "install there (root: /usr/lib/gpuprof)",
	}, {
		.name = "check", .group = GROUP_OUTPUT,
		.verbs = ON(ENV), .set = option_set_flag, .at = MEMBER(check),
		.help = "is it set, there, loaded? here or in -p; exit 0 or 1",
	}, {
		.name = "remove", .group = GROUP_OUTPUT,
		.verbs = ON(ENV), .set = option_set_flag, .at = MEMBER(remove),
		.help = "print what unsets the variables in this shell",
	}, {
		.name = "verbose", .letter = 'v', .group = GROUP_OTHER,
		.verbs = EVERY, .set = option_set_flag, .at = MEMBER(verbose),
		.help = "say more on standard error",
	}, {
		.name = "quiet", .letter = 'q', .group = GROUP_OTHER,
		.verbs = EVERY, .set = option_set_flag, .at = MEMBER(quiet),
		.help = "say only errors on standard error",
	}, {
		.name = "help", .letter = 'h', .group = GROUP_OTHER,
		.verbs = EVERY, .set = option_set_flag, .at = MEMBER(help),
		.help = "print this page",
	}, {
		.name = "version", .letter = 'V', .group = GROUP_OTHER,
		.verbs = EVERY, .set = option_set_flag, .at = MEMBER(version),
		.help = "the same as `gpuprof version`",
	},
	{ .name = NULL },
};

static const struct verb verbs[VERB_END + 1] = {
	[VERB_DEFAULT] = {
		.name = "", .has_targets = true,
		.summary = "the live view; not on a terminal: a report every few seconds",
		.usage = "[options] [-p PID[,PID...] | --name GLOB ... | -a | -- CMD ARG...]",
		.about = "On a terminal the live view (gpuprof top). Else, with CMD, or with -i,\n"
			 "-n, --table and the like: a report every interval, until the targets\n"
			 "end or Ctrl-C. Alone and without privileges: who is on which GPU.\n"
			 TABLES
			 "'gpuprof help' lists the verbs.\n",
		.examples = "  gpuprof -p 1234\n"
			    "  gpuprof -p 1234 -i 2s -n 10 --table threads\n",
	},
	[VERB_TOP] = {
		.name = "top", .has_targets = true, .max_args = 1,
		.completes = COMPLETE_CAPTURES,
		.summary = "the live view: GPUs, processes, and why they wait",
		.usage = "top [options] [FILE | -p PID[,PID...] | --name GLOB ... | -a]",
		.about = "Enter opens a process, e explains a row, ? lists the keys, q quits.\n"
			 "What is shown is of the last 5 refreshes. FILE: a capture, as a whole;\n"
			 "[ and ] go through its time.\n",
		.examples = "  gpuprof top -p 1234\n"
			    "  gpuprof top run.gpr\n"
			    "  gpuprof top --batch -n 3 -a > log\n",
	},
	[VERB_STAT] = {
		.name = "stat", .has_targets = true,
		.summary = "measure for a while, then print one screen, or tables",
		.usage = "stat [options] [-p PID[,PID...] | --name GLOB ... | -a | -- CMD ARG...]",
		.about = "Measures until CMD or the targets end, -d is over, or Ctrl-C. Then it "
			 "prints one screen:\n"
			 "the largest avoidable loss, the time of each device, all losses, top "
			 "kernels. --full: all tables.\n"
			 TABLES,
		.examples = "  gpuprof stat -p 1234 -d 10s\n"
			    "  gpuprof stat --name 'train*' --user alice -d 10s\n"
			    "  gpuprof stat --job 1234 --gpu 0,1 -d 10s\n"
			    "  gpuprof stat --table calls --format csv -- ./train\n",
	},
	[VERB_RECORD] = {
		.name = "record", .has_targets = true,
		.summary = "measure and keep everything in a capture file",
		.usage = "record [-o FILE] [options] [-p PID[,PID...] | --name GLOB ... | -a | "
			 "-- CMD ARG...]",
		.about = "Records until CMD or the targets end, -d is over, or Ctrl-C. What was\n"
			 "recorded stays readable, however it ends. FILE may hold %h (host), %p "
			 "(pid),\n"
			 "%r (rank), %j (Slurm job), %t (start time) and %%.\n",
		.examples = "  gpuprof record -o run.gpr -p 1234 -d 1m\n"
			    "  gpuprof record -o run.%r.gpr --max-size 1g --max-files 4 -- "
			    "./train\n"
			    "  gpuprof record --before 30s --on exit -p 1234\n",
	},
	[VERB_REPORT] = {
		.name = "report", .max_args = 1,
		.completes = COMPLETE_CAPTURES,
		.summary = "print one screen, or the tables, of a capture file",
		.usage = "report [FILE] [options]",
		.about = "The same screen or tables as `gpuprof stat` of the same run; needs no "
			 "privileges.\nWithout FILE: of the newest .gpr file here.\n"
			 TABLES,
		.examples = "  gpuprof report run.gpr --table findings,ledger\n"
			    "  gpuprof report run.gpr --from 09:15:02 --to 09:15:12\n"
			    "  gpuprof report run.gpr --html run.html\n"
			    "  gpuprof report run.gpr --timeline\n"
			    "  gpuprof report run.gpr --annotate train.py\n"
			    "  gpuprof report run.gpr --by launch --top 20\n"
			    "  gpuprof report run.gpr --format json -o run.json\n",
	},
	[VERB_EXPORT] = {
		.name = "export", .max_args = 1,
		.completes = COMPLETE_CAPTURES,
		.summary = "write a capture as other programs read it",
		.usage = "export [FILE] --format FORMAT [-o FILE] [options]",
		.needs_format = true,
		.about = "html         a page to send: one file, no network\n"
			 "svg          time of threads by stack, a flame graph\n"
			 "folded       the same stacks, for flamegraph.pl and inferno\n"
			 "speedscope   the same, for speedscope.app\n"
			 "falcon       operators (--table modules) in Falcon's columns\n"
			 "tunableop    products of matrices (record --gemms), for PyTorch's tuner\n"
			 "torch-memory PyTorch's allocator (--torch-memory), for its viewer\n"
			 "csv, json    as 'gpuprof report'. Without FILE: the newest .gpr here.\n",
		.examples = "  gpuprof export run.gpr --format tunableop -o untuned.csv\n"
			    "  gpuprof export run.gpr --format torch-memory -o state.pickle\n",
	},
	[VERB_STACKS] = {
		.name = "stacks",
		.summary = "where every thread of a process is, now",
		.usage = "stacks [-p PID[,PID...] | --name GLOB ...] [options]",
		.about = "Works on what already hangs, and stops nothing: which ranks wait for\n"
			 "which, the call that each thread is in, its stack (of CPython 3.8 to\n"
			 "3.14 with file, line and function), what it waits for. Stacks that are\n"
			 "alike are shown once.\n",
		.examples = "  gpuprof stacks -p 1234\n"
			    "  gpuprof stacks --job 1234 --format json\n",
	},
	[VERB_ENV] = {
		.name = "env",
		.summary = "install the helper, print what loads it",
		.usage = "env [--for WHAT] [--dir DIR] | --check [-p PID] | --remove",
		.about = "For device times of processes that gpuprof does not start: installs "
			 "the helper\n"
			 "(without root: below ~/.local/state) and prints the variables by which "
			 "CUDA and\n"
			 "NVTX load it. It sleeps until gpuprof watches the process (-p PID).\n"
			 "--for shell, systemd; docker, cdi (a device of Docker and Podman), "
			 "apptainer;\n"
			 "k8s (an init container brings the helper); slurm, prolog (TaskProlog).\n",
		.examples = "  eval \"$(gpuprof env)\"; ./train & sudo gpuprof stat -d 10s -p $!\n"
			    "  docker run $(gpuprof env --for docker) ...\n"
			    "  gpuprof env --for k8s > patch.yaml\n"
			    "  gpuprof env --check -p 1234\n"
			    "  eval \"$(gpuprof env --remove)\"\n",
	},
	[VERB_DOCTOR] = {
		.name = "doctor",
		.summary = "what works on this host, what does not, what to do",
		.usage = "doctor [-p PID[,PID...] | --name GLOB ...]",
		.about = "With -p also why a process shows nothing.\n",
		.examples = "  gpuprof doctor -p 1234\n",
	},
	[VERB_VERSION] = {
		.name = "version",
		.summary = "print the version",
		.usage = "version",
		.about = "", .examples = "  gpuprof version\n",
	},
	[VERB_HELP] = {
		.name = "help", .max_args = 1, .completes = COMPLETE_VERBS,
		.summary = "explain a verb, or a word of the output",
		.usage = "help [VERB|WORD] [--as FORM]",
		.about = "A word: any table, column, bucket of time, finding or note of a report.\n"
			 "'help words' lists them; 'help agents' is a page for programs,\n"
			 "'help schema' the JSON Schema of a report.\n"
			 "Forms: text; man (roff; of words and tables, too); bash, zsh and fish:\n"
			 "completions of the command line, for a file that the shell reads;\n"
			 "verbs and words: their names, one a line.\n",
		.examples = "  gpuprof help stat\n"
			    "  gpuprof help input-stall\n"
			    "  gpuprof help --as bash > ~/.local/share/bash-completion/completions/"
			    "gpuprof\n",
	},
};

_Static_assert(sizeof(rows) / sizeof(rows[0]) <= OPTIONS_ROWS_MAX + 1, "raise OPTIONS_ROWS_MAX");
_Static_assert(VERB_END <= OPTIONS_VERBS_MAX, "option_row.verbs has a bit for each verb");

const struct option_row *const options_rows = rows;
const struct verb *const options_verbs = verbs;
