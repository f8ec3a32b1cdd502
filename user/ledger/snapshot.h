/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * An immutable picture of a model: all that tables, findings and the words around them are made of,
 * with the books closed at one time. Views read snapshots only, so that the model may go on
 * meanwhile. As bounded as the model is.
 *
 * The table of functions and the texts of stacks are the model's, which must live as long.
 */
#ifndef LEDGER_SNAPSHOT_H
#define LEDGER_SNAPSHOT_H

#include "base/pairs.h"
#include "facts/kernel_configs.h"
#include "facts/ranges.h"
#include "ledger/model.h"

struct snapshot_process {	/* as struct model_process */
	uint32_t pid;
	char comm[16];
	const char *cmdline;
	uint64_t start_ns, exec_ns, exit_ns;
	uint64_t past;
	uint64_t children;
	VEC(struct model_child) child;
	struct call_stats calls;
	struct pairs identity;
	bool has_ended;			/* by the end of the session, whenever */
	bool has_memory;		/* something is known of it */
	bool memory_incomplete;		/* see model_memory_incomplete */
	VEC(struct memory_sums) memory;
	VEC(struct range_sum) ranges;
	uint64_t unarmed_ns;		/* with a library mapped that was not yet probed */
};

struct snapshot_host;

struct snapshot_device {	/* of one process, or of those that ended */
	uint32_t pid, device;		/* device: the process's own ordinal */
	uint32_t number;		/* as it is shown: model_device_number */
	bool has_book;			/* false: it stands for ended processes */
	bool has_facts;
	struct device_facts facts;
	const struct snapshot_host *host;	/* NULL: it has not joined */
	struct device_sum sum;
	uint64_t idle_ns[IDLE_CAUSES];	/* add up to sum.idle_ns */
	struct stalls stalls;
	struct kernels kernels;
	struct lanes lanes;
	struct copy_stats copies[COPY_DEFAULT + 2][3];
	struct copy_stats sets;
};

struct snapshot_member {	/* a process's device, as one of a host's device */
	uint32_t pid, device;
	bool has_book;
	struct share_member share;
};

struct snapshot_host {		/* a device of the host */
	char uuid[DEVICE_UUID_LEN + 8];	/* "": unknown */
	char name[64];
	struct share_sum sum;
	VEC(struct snapshot_member) members;
};

struct snapshot {
	struct model_session session;
	uint64_t now_ns;		/* where books that are open were read */
	struct model_counts counts;
	const struct funcs *funcs;
	struct pairs facts;
	VEC(struct model_reading) readings;
	VEC(struct snapshot_process) processes;
	VEC(struct model_thread) threads;
	VEC(struct snapshot_device) devices;
	VEC(struct snapshot_host) hosts;
	struct samples samples;
	struct offcpu offcpu;
	struct stacks stacks;
	struct kernel_configs kernel_configs;	/* empty without model_use_launches */
	struct strpool *texts;
};

/* Open books are closed at now_ns, in the model's interval; 0: model_now. NULL + errno. */
struct snapshot *snapshot_take(const struct model *m, uint64_t now_ns);
void snapshot_free(struct snapshot *s);

const char *snapshot_fact(const struct snapshot *s, const char *key);	/* NULL: no such fact */
uint64_t snapshot_fact_number(const struct snapshot *s, const char *key); /* 0: none, or no number */

/* The newest of that number, or NULL. */
const struct snapshot_process *snapshot_process(const struct snapshot *s, uint32_t pid);
/* EVENT_IDENTITY; NULL: nothing. */
const char *snapshot_identity(const struct snapshot_process *p, const char *key);

/* What a thread (the last one of that number) is called, or else its process; NULL: unknown. */
const char *snapshot_thread_comm(const struct snapshot *s, uint32_t pid, uint32_t tid);

/* or NULL */
const struct snapshot_device *snapshot_device(const struct snapshot *s, uint32_t pid,
					      uint32_t device);
/* Of an unknown one the process's own ordinal. */
uint32_t snapshot_device_number(const struct snapshot *s, uint32_t pid, uint32_t device);

#endif
