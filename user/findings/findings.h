/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Problems that a user can act on: rules over the books of one process on one device. A rule gives
 * its cause, its evidence, the share of the device's wall time that the problem costs, the most
 * that fixing this cause alone saves, and the command that shows more. Rules are pure functions of
 * a finding_book (two tables, findings_rules.h), which findings_read makes of a snapshot.
 *
 * Shares of different findings of one book do not overlap.
 *
 * Where several processes use a device, a process's gap costs the device only as much as that was
 * idle meanwhile, over all of them (ledger/host_devices.h): of each of its gaps the same part, so
 * that all its shares are at most the device's idle share. What the process itself waits is
 * waits_share, which the evidence names.
 *
 * A thread may spend time in launches and waits because probes slow it down: the evidence names up
 * to that much as gpuprof's own cost (model/own_cost.h), and fixing the cause does not save it.
 *
 * rule            time that it costs, which fixing it saves at most
 * needless-sync   the GPU ran out of work while the thread waited for it in a synchronising call or
 *                 a copy of less than 64 KiB, until it had work again; less the host code or
 *                 waiting of 1 ms or more in between; saves that and what copies have, too, since
 *                 the host runs ahead (for at most as long as it is in these calls)
 * input-stall     GPU idle while the thread was outside of all calls for 1 ms or more
 * exposed-comm    communication that no compute overlaps; where another rank's communications are
 *                 much shorter, that one is late, and its findings come first
 * cpu-starved     GPU idle while the thread was ready to run and had no CPU
 * stopped         GPU idle while a signal or a debugger had stopped the thread
 * launch-bound    GPU idle because the thread had not launched yet: in launch calls and short code
 *                 between them
 * unpinned-copies copies of pageable memory that no compute overlaps, and GPU idle in the call
 * blocking-copies the same for copies of 64 KiB or more that calls wait for, if none was of
 *                 pageable memory
 * steady-compile  GPU idle in compiling and loading modules, in the later half of the session
 * alloc-stall     GPU idle in allocations and frees
 * comm-call       GPU idle in calls of collectives
 * small-kernels   GPU idle for less than 200 us between works that were all launched before, if
 *                 kernels take 20 us or less; saves that and launch-bound's (one graph, one launch)
 * device-wait     GPU idle for 200 us and more although work was launched: it waits for other
 *                 streams, devices or processes; less what other-process has
 * other-process   none: its work waited for another process's, with which the GPU was busy
 * never-freed     no share: device memory not freed at exit, if it is 1 MiB and a hundredth of the
 *                 process's peak, or more
 * hang            no share, once per job: its ranks do not go on (hang.h); before all other
 *                 findings if for 10 s or half of the session
 * cuda-error      no share, once per process: a call failed as all later ones do; before all other
 *                 findings unless the process never had a device
 * device-fault    no share, as the next ones once per device: the device reported a fault, as XIDs;
 *                 before all other findings if work cannot go on
 * throttled       no share: power or heat kept its clocks down
 * unwatched-process  no share: processes that are not watched had the device
 * untold-process  no share: only watched processes had it, without a helper that reports works
 */
#ifndef FINDINGS_FINDINGS_H
#define FINDINGS_FINDINGS_H

#include "base/str.h"
#include "base/vec.h"
#include "findings/finding_book.h"

#define FINDING_SHARE_MIN 0.01		/* smaller shares are not reported */
#define FINDING_SHARE_MEDIUM 0.05
#define FINDING_SHARE_HIGH 0.20

/* On less than this a finding is never high, and its evidence begins with why. */
#define FINDING_MEASURED_NS 1000000000ull
#define FINDING_TIMES 10
#define FINDING_LOST_MAX 0.01		/* of the events: the default of --max-loss */

struct finding {
	const char *name;
	uint32_t process;
	uint32_t pid, device;		/* pid 0: about the device, not a process; or
					 * FINDING_NO_DEVICE */
	uint32_t tid;			/* 0: no one thread */
	const char *function;		/* that most of it is in; NULL: none. The snapshot's */
	const char *where, *where_caller;	/* the program's own function that most of it is
						 * in, and its caller; NULL: unknown */
	bool is_severe, is_notable;	/* high, or at least medium, whatever its share */
	const char *headline;		/* of a verdict, where it is severe, or nothing is known
					 * of any device */
	bool has_share;
	double share, gain_bound;	/* of the device's wall time */
	double gain_of_others;		/* the part of gain_bound that is in others', too */
	double waits_share;		/* of its own: other processes may have had it */
	uint32_t late_process;		/* the rank that this one waits for; 0: none is known */
	bool is_after;			/* that one's finding comes first: it is larger */
	uint64_t times;			/* it happened so often; 0: it has no number */
	uint64_t each_ns;		/* one of them, on average; 0: not known */
	size_t doubts;			/* bytes of the evidence: why it is uncertain */
	bool is_one_off;		/* nearly all of it is a single time */
	bool needs_off_cpu;		/* it was, or may have been, stopped or without a CPU */
	bool is_uncertain;		/* never high */
	double own_share;		/* of share, up to: gpuprof's own cost, estimated */
	const char *advice;		/* as `fix` of a word; NULL: that of the finding's name */
	struct strbuf cause, evidence, next;
};

struct findings {
	VEC(struct finding) all;
};

/* "high", "medium", "low", by the share without gpuprof's own cost */
const char *finding_severity(const struct finding *f);

/* Appends the findings of the rules in this book. 0 or -ENOMEM. */
int findings_judge(struct findings *f, const struct finding_book *b);

/* Most of its share may be gpuprof's own cost: not the program's fault. */
static inline bool finding_is_own(const struct finding *f)
{
	return f->own_share > f->share / 2;
}

/* All books of a snapshot; the largest share first, but findings of FINDING_SHARE_MEDIUM come
 * before those that are mostly gpuprof's own cost. f is zeroed. 0 or -errno. */
int findings_read(struct findings *f, const struct snapshot *snap);

void findings_free(struct findings *f);

#endif
