/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The input of the rules: the books of one process on one device, with the names for its stalls.
 * Read from a snapshot by findings_read; tests fill it in.
 */
#ifndef FINDINGS_FINDING_BOOK_H
#define FINDINGS_FINDING_BOOK_H

#include "findings/findings_next.h"
#include "model/snapshot.h"

#define FINDING_NO_DEVICE UINT32_MAX	/* of no device of the process is anything known */

/*
 * Processes that NVML saw on a device beside those whose works are reported: processes that are not
 * watched, or watched ones (known by their calls) without a helper that reports works.
 */
struct device_users {
	const struct snapshot *snap;		/* NULL: no process is watched */
	const struct snapshot_host *host;	/* whose works are reported; NULL: no device's */
};

/* All are watched. */
bool device_users_are_watched(const struct device_users *o, const struct sampled_device *d);

/* A stall with its names. */
struct finding_stall {
	struct stall stall;
	uint64_t late_ns;		/* of the later half of the session */
	/* gpuprof's cost for its thread, wherever; 0: none, or unknown */
	uint64_t own_ns;
	const char *comm;		/* of the thread; "": unknown */
	const char *function;		/* NULL: none, or unknown */
	uint64_t calls, calls_ns;	/* of that function in the process */
	const struct offcpu_row *off;	/* where the thread was longest off the CPU; NULL: not
					 * seen */
};

/* Kinds of places beside those of stalls: all calls of these classes. */
#define PLACE_COPIES STALL_KINDS
#define PLACE_COLLECTIVES (STALL_KINDS + 1)

/* The program's own function that calls of a kind were made from, or where threads waited outside
 * of calls (STALL_HOST): of those whose stack is known. */
struct finding_place {
	unsigned int kind;		/* enum stall_kind, or PLACE_* */
	/* or a place in it; interned, as the next: compared by address */
	const char *function;
	const char *caller;		/* of the program's own, too; NULL: none */
	uint64_t ns;			/* of the stalls; of PLACE_*: of the calls; off the CPU */
};

struct finding_copies {
	uint64_t count, bytes, busy_ns;
	uint64_t owned_ns;		/* of busy_ns: nothing that comes first ran beside */
};

struct finding_book {
	uint32_t process;
	uint32_t pid, device;		/* pid 0: no process reports the device; or
					 * FINDING_NO_DEVICE */
	uint32_t ordinal;		/* the process's own number of the device */
	struct next_target target;		/* as commands name it */
	uint64_t wall_ns;

	/* How far the measurement bears a verdict; 0, false: it does. */
	uint64_t measured_ns;		/* the session's length so far */
	double lost_share;		/* of its events */
	uint64_t gpuprof_cpu_ns;	/* that gpuprof itself ran; 0: unknown */
	bool off_cpu_unknown;		/* nor if a thread was stopped or had no CPU */
	bool off_cpu_sampled;		/* else: that is an estimate */

	/* Others use the device, too; what is lost there is lost to all of them. */
	bool is_shared;
	uint64_t device_ns;		/* with any of them; if not is_shared: wall_ns */
	double idle_part;		/* of the process's gaps: no other one had the device */
	double alone_part;		/* ... and of the time that it ran */

	uint64_t compute_ns, compute_busy_ns;	/* owned, and summed over works */
	uint64_t comm_ns, comm_busy_ns;
	uint64_t comms;			/* communications */
	/* Another rank, of as many, whose communications are much shorter: the others wait for it
	 * in theirs. 0: none */
	uint32_t late_process, late_pid;
	uint64_t late_comm_ns;		/* of each of its communications */
	uint64_t kernels, kernels_ns;	/* without these */
	const char *comm_kernel;	/* the longest of them; NULL: unknown */
	uint32_t comm_tid;		/* the thread longest in calls of collectives; 0: unknown */
	const char *comm_thread;	/* its name */
	struct finding_copies pageable, pinned;	/* between host and device; pinned.owned_ns: of all
						 * memory that is not pageable */
	struct finding_stall *stalls;
	size_t n_stalls;
	VEC(struct finding_place) places;	/* of each kind, function and caller one */

	/* Unknown where has_ is false. */
	bool has_waited;
	uint64_t waited_ns;		/* for works of other processes on the device */
	bool has_memory;
	uint64_t leaked_bytes, leaks;	/* not freed when the process ended */
	uint64_t peak_bytes;		/* that it had, over all kinds */

	/* Calls after which all fail; NULL: none, or with another device of the process. */
	const struct func *fatal_function;	/* the one of most of them */
	int32_t fatal_result;
	uint64_t fatal_calls;

	/* Samples of the device; NULL: none, or reported with another process on it. */
	const struct sampled_device *sampled;
	const struct sampled_device *gpu;	/* ... and of a MIG instance, its GPU */
	uint64_t session_ns;		/* where it began */
	uint64_t shared_ns, unwatched_ns;	/* of the host's device's book, and in it */
	struct device_users others;
};

/* "GPU 0: XID 79, the GPU has fallen off the bus" */
void finding_add_fault(struct strbuf *out, const struct sampled_device *d,
		       const struct sample_fault *f);

#endif
