// SPDX-License-Identifier: BSD-3-Clause
/*
 * A reader that asks for CUPTI's subscription: the nodes of all graphs are recorded as they are made, a
 * profiler of the user's own works as if no reader had asked, and what cannot be had is said.
 */
#include <dlfcn.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/map.h"
#include "base/time.h"
#include "lib/test.h"
#include "source/helper/ring_reader.h"
#include "helper/collect.h"
#include "lib/helper_run.h"

#define PROFILED "profiler: on, all kernels\n"
#define WANTS (GP_RING_WANT_KINDS | GP_RING_WANT_NODES | GP_RING_WANT_SUBSCRIBED)
#define WAIT_NS 20000000000ull

static const char *const graphs[] = { "build/sim/mix", "--graphs", "only", "--rounds", "200", "--pause-us",
				      "100", NULL };

static void run(struct helper_run *r, const char *const *argv, const char *faults)
{
	const char *const environment[] = { "GPUSIM_CUPTI_FAULTS", faults, NULL };

	helper_run_wanting(r, WANTS, argv, faults ? environment : NULL);
	helper_run_watch(r);
	assert_int_equal(r->status, 0);
}

struct nodes {
	struct map made;	/* number -> of which call's, as a number from 1 */
	uint64_t calls, of_graphs, unknown, strangers;
	uint32_t tid;		/* that captures */
};

static void on_record(struct helper_seen *seen, uint16_t kind, const void *payload)
{
	const struct gp_ring_node *node = payload;
	const struct gp_ring_kernel *kernel = payload;
	struct nodes *n = seen->ctx;

	if (kind == GP_RING_NODE) {
		const struct map_slot *of = map_find(&n->made, node->original);
		uint64_t made = node->original ? of ? of->value : 0 : ++n->calls;

		n->strangers += !node->tid || node->tid != (n->tid ? n->tid : node->tid);
		n->tid = node->tid;
		map_put(&n->made, node->node, NULL)->value = made;
	} else if (kind == GP_RING_KERNEL && kernel->graph) {
		const struct map_slot *slot = map_find(&n->made, kernel->graph_node);

		n->of_graphs++;
		n->unknown += !slot || !slot->value;
	}
}

TEST(every_node_that_runs_is_known_by_the_one_that_was_captured)
{
	struct helper_run r;
	struct nodes nodes = { .calls = 0 };

	helper_run_wanting(&r, WANTS, graphs, NULL);
	r.seen.on_record = on_record;
	r.seen.ctx = &nodes;
	helper_run_watch(&r);
	assert_int_equal(r.status, 0);
	assert_true(nodes.of_graphs > 200);
	assert_int_equal(nodes.unknown, 0);
	assert_int_equal(nodes.strangers, 0);
	assert_string_equal(r.head.unsubscribed, "");
	assert_int_equal(r.head.subscribed_ns, 0);	/* it was given back */
	map_free(&nodes.made);
}

TEST(a_reader_without_the_request_gets_no_nodes)
{
	struct helper_run r;

	helper_run_wanting(&r, WANTS & ~GP_RING_WANT_SUBSCRIBED, graphs, NULL);
	helper_run_watch(&r);
	assert_int_equal(r.seen.kind[GP_RING_NODE], 0);
	assert_true(r.seen.kind[GP_RING_KERNEL] > 0);
	assert_string_equal(r.head.unsubscribed, "");
}

TEST(a_cupti_that_refuses_callbacks_is_used_without)
{
	struct helper_run r;

	run(&r, graphs, "deaf");
	assert_int_equal(r.seen.kind[GP_RING_NODE], 0);
	assert_true(r.seen.kind[GP_RING_KERNEL] > 0);
	assert_string_equal(r.head.unsubscribed,
			    "cuptiEnableCallback failed: CUPTI_ERROR_NOT_INITIALIZED");
}

TEST(an_earlier_subscriber_keeps_cupti)
{
	struct helper_run r;

	run(&r, graphs, "busy");
	assert_int_equal(r.seen.kind[GP_RING_NODE], 0);
	assert_int_equal(r.seen.kind[GP_RING_KERNEL], 0);
	assert_string_equal(r.head.occupant, "another CUPTI client");
}

TEST(the_users_own_profiler_works_unchanged)
{
	static const struct {
		const char *when, *out;
		bool watched;	/* some kernels are recorded */
	} all[] = {
		{ "before", PROFILED, false }, { "during", PROFILED, true },
	};
	struct helper_run r;

	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		run(&r, (const char *const[]){ "build/sim/client", all[i].when, NULL }, NULL);
		assert_int_equal(strncmp(r.out, all[i].out, strlen(all[i].out) - 1), 0);
		assert_int_equal(r.seen.kind[GP_RING_KERNEL] > 0, all[i].watched);
		assert_string_equal(r.head.occupant, "probably torch.profiler");
		if (all[i].watched)
			assert_string_equal(r.head.unsubscribed, "CUPTI is left free for another client: "
					    "probably torch.profiler");
	}
}

static bool becomes(struct helper_run *r, bool held, bool renew)
{
	for (uint64_t end = time_now_ns() + WAIT_NS; time_now_ns() < end; usleep(2000)) {
		if (renew)
			ring_reader_renew(r->source, time_now_ns());
		ring_reader_head(r->source, &r->head);
		if (!!r->head.subscribed_ns == held)
			return true;
	}
	return false;
}

TEST(it_is_given_back_when_the_lease_has_run_out)
{
	struct helper_run r;

	helper_run_wanting(&r, WANTS, (const char *const[]){
		"build/sim/mix", "--graphs", "only", "--rounds", "1000000", "--pause-us", "1000", NULL },
		NULL);
	assert_true(becomes(&r, true, true));
	assert_true(becomes(&r, false, false));
	kill(r.pid, SIGKILL);
	assert_int_equal(waitpid(r.pid, &r.status, 0), r.pid);
	ring_reader_close(r.source);
	close(r.out_fd);
}

/* CUPTI itself is no client; what is linked with it may be one. */
TEST(a_possible_profiler_is_detected_by_loaded_libraries)
{
	char path[] = "/tmp/gpuprof-client-XXXXXX", command[128];
	int fd = mkstemp(path);

	assert_true(fd >= 0);
	close(fd);
	snprintf(command, sizeof(command), "cp build/sim/libtorch_cpu.so %s", path);
	assert_int_equal(system(command), 0);
	assert_null(cupti_client_expected());
	assert_null(cupti_client_expected());
	assert_non_null(dlopen("build/sim/libcupti.so.13", RTLD_NOW));
	assert_null(cupti_client_expected());
	assert_non_null(dlopen(path, RTLD_NOW));
	unlink(path);
	assert_string_equal(cupti_client_expected(), "what is linked with libcupti");
	assert_non_null(dlopen("build/sim/libtorch_cpu.so", RTLD_NOW));
	assert_string_equal(cupti_client_expected(), "probably torch.profiler");
	assert_string_equal(cupti_client_expected(), "probably torch.profiler");
}
