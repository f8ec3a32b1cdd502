/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the files of the loader share and nobody else sees: the loaded object with its links, and
 * the ways to make these. loader.c opens and chooses, loader_links.c attaches, loader_self.c tries
 * all of it on ourselves, loader_read.c reads what the programs keep.
 */
#ifndef PROBE_LOADER_INTERNAL_H
#define PROBE_LOADER_INTERNAL_H

#include "base/vec.h"
/* Types that the skeleton speaks of. */
#include "gpuprof/control.h"
#include "gpuprof/row.h"
#include "gpuprof.skel.h"
#include "probe/close_later.h"
#include "probe/loader.h"
#include "probe/loader_why.h"

struct loader_fds {
	int *v;
	size_t n, cap;
};

struct loader {
	struct gpuprof_bpf *skel;
	enum loader_way way;
	bool off_cpu;
	struct loader_fds links;	/* of the uprobes */
	struct loader_fds events;	/* WAY_PERF: what the links are of */
	struct close_later *closing;	/* events whose links are gone */
	struct gp_counts before;	/* counted by the calibration */
	uint64_t call_cost_ns, nested_cost_ns, step_cost_ns;
	uint8_t returns;		/* GP_RETURNS_* */
};

/* One program on the entries or on the returns of a file's functions; or, of a session, on both. */
struct loader_leg {
	struct bpf_program *prog;
	bool is_return;
};

/* How links are made: one of these for each enum loader_way. */
struct loader_links {
	const char *name;
	struct loader_needs needs;
	unsigned int probes_max;	/* see loader_probes_max */
	unsigned int attach_type;	/* what its programs are loaded for */
	/* The programs of a call that is followed to its return, in the order they are attached. */
	size_t (*legs)(const struct gpuprof_bpf *skel, struct loader_leg legs[2]);
	/* Links for one leg at all of these probes (rows are cookies here), kept in l->links. 0 or
	 * -errno; after an error some may be there. */
	int (*add)(struct loader *l, const struct loader_leg *leg, const struct loader_probes *p);
};

/* What a task iterator writes, to read from; opts may be NULL. fd or -errno. */
int loader_open_iterator(struct bpf_program *prog, const struct bpf_iter_attach_opts *opts);

const struct loader_links *loader_links_of(enum loader_way way);
void loader_choose_programs(const struct loader *l);	/* between open and load */

/* The scheduler's hooks, as far as this kernel has them; between open and load. */
void loader_choose_sched(const struct gpuprof_bpf *skel);

/* Probes ourselves: does this way attach, whom may it follow to the return, and what does it cost?
 * 0 or -errno. */
int loader_test_self(struct loader *l, const struct loader_options *options);

/* What is probed of us (loader_self.c); the first one returns where it returns to. */
uintptr_t loader_probe_me(void);
uintptr_t loader_step_me(void);

/* Do processes under seccomp live through the return probes of loader_probe_me? 1, 0 (no, or it is
 * not known) or -errno of attaching. Leaves links. */
int loader_test_returns(struct loader *l, struct loader_probes probes);

#endif
