/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a user can do something about: rules over the books of one process on one device. A rule says
 * when it holds, its cause, its evidence, the share of the device's wall time that is lost so, at most
 * how much is gained by removing the cause alone, and the command that shows more. Rules are pure
 * functions of a finding_book (two tables, findings_rules.h), which findings_read makes of a model.
 *
 * Shares of different findings of a book overlap nowhere, but other-process's: a nanosecond of the
 * device is in one at most.
 *
 * What a thread lost in launching and in waits may be for what probes cost it: up to so much its evidence
 * names as gpuprof's own cost (ledger/own_cost.h), and it is not gained.
 *
 * rule            lost, and gained at most if removed
 * needless-sync   device idle since it ran dry while the thread waited for it in a synchronising call,
 *                 or in a copy of less than 64 KiB, until it had work again; less what host code or
 *                 waiting of 1 ms or more in between took
 * input-stall     device idle while the thread was outside of all calls for 1 ms or more
 * exposed-comm    communication with no compute beside it
 * cpu-starved     device idle while the thread was ready to run and had no CPU
 * stopped         device idle while a signal or a debugger had stopped the thread
 * launch-bound    device idle because the thread had not launched yet: in launch calls and short ways
 *                 between them
 * unpinned-copies copies of pageable memory with no compute beside them, and device idle in the call
 * blocking-copies the same of copies of 64 KiB or more, where none was of pageable memory
 * steady-compile  device idle in compiling and loading of modules, of the later half of the session
 * alloc-stall     device idle in allocations and frees
 * comm-call       device idle in calls of collectives
 * small-kernels   device idle for less than 200 us between works that were all launched before,
 *                 where kernels take 20 us or less; gain: that, and launch-bound's (one graph is one launch)
 * device-wait     device idle for 200 us and more although work was launched: it waits for other streams,
 *                 devices or processes, less what is known to be other-process
 * other-process   device idle for this process while works of it waited for another one's
 * never-freed     device memory that was allocated and not freed at exit, 1 MiB and a hundredth of what the
 *                 process had, or more: no share of time
 * cuda-error      a call of CUDA failed as all of the process's do from then on (findings_device.c): no
 *                 share of time, told once for each process, and before all others, but where it had no
 *                 device from the beginning
 * device-fault    the device told of a fault, as XIDs (findings_device.c): no share of time; before all
 *                 others where work cannot go on; this and the next ones once for each device
 * throttled       its clocks were kept down by power or heat: no share of what was lost so
 * unwatched-process  processes that are not watched had the device: no share of time
 * untold-process  only watched ones had, whose works no helper told: the same
 */
#ifndef FINDINGS_FINDINGS_H
#define FINDINGS_FINDINGS_H

#include "base/str.h"
#include "base/vec.h"
#include "findings/finding_book.h"

#define FINDING_SHARE_MIN 0.01		/* what is less is not worth a line */
#define FINDING_SHARE_MEDIUM 0.05
#define FINDING_SHARE_HIGH 0.20

struct finding {
	const char *name;
	uint32_t pid, device;		/* pid 0: of the device, whoever uses it; or FINDING_NO_DEVICE */
	uint32_t tid;			/* 0: no one thread */
	bool is_severe, is_notable;	/* high, or at least medium, whatever its share */
	const char *headline;		/* of a verdict, where it is severe, or nothing is known of any device */
	bool has_share;
	double share, gain_bound;	/* of the device's wall time */
	double own_share;		/* of share, up to: gpuprof's own cost, estimated */
	struct strbuf cause, evidence, next;
};

struct findings {
	VEC(struct finding) all;
};

/* "high", "medium", "low", by what is not gpuprof's own */
const char *finding_severity(const struct finding *f);

/* Appends what the rules find in this book. 0 or -ENOMEM. */
int findings_judge(struct findings *f, const struct finding_book *b);

/* Most of its share may be gpuprof's own cost: not the program's fault. */
bool finding_is_own(const struct finding *f);

/* All books of a model as of now; the largest share first, but before what is mostly gpuprof's own cost
 * what is not and has FINDING_SHARE_MEDIUM. f is zeroed. 0 or -errno. */
int findings_read(struct findings *f, const struct model *m, uint64_t now_ns);

void findings_free(struct findings *f);

#endif
