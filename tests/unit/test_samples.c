// SPDX-License-Identifier: BSD-3-Clause
/*
 * What devices report of themselves: means over what was sampled, who is on a device, what went wrong, and
 * who had a device that no watched process had.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "ledger/host_devices.c"
#include "event/device_number.h"
#include "findings/findings_rules.h"
#include "ledger/devices.h"
#include "facts/samples.h"
#include "lib/test.h"

#define GPU "GPU-12345678-9abc"
#define MIG "MIG-12345678-9abc"

static struct samples samples, before;
static struct sampled_device *device;
static struct finding found;

static void forget_found(void)
{
	strbuf_free(&found.cause);
	strbuf_free(&found.evidence);
	strbuf_free(&found.next);
	found = (struct finding){ .cause = STRBUF_INIT, .evidence = STRBUF_INIT, .next = STRBUF_INIT };
}

BEFORE_EACH
{
	forget_found();
}

AFTER_EACH
{
	samples_free(&samples);
	samples_free(&before);
	forget_found();
}

/* What has come up to now is in no mean of the difference. */
static void begin_interval(void)
{
	samples_free(&before);
	assert_int_equal(samples_copy(&before, &samples), 0);
}

static const struct sampled_device *since_then(void)
{
	static struct samples later;

	samples_free(&later);
	assert_int_equal(samples_copy(&later, &samples), 0);
	samples_subtract(&later, &before, 0);
	return samples_find(&later, GPU);
}

static int push(const struct event *ev)
{
	return samples_push(&samples, ev, 0, UINT64_MAX, &device);
}

static int sample(uint64_t start_ns, uint64_t end_ns, unsigned int field, uint64_t value)
{
	struct device_sample s = { .has = 1u << field };

	s.v[field] = value;
	return push(&(struct event){ .kind = EVENT_SAMPLE, .sample.uuid = GPU, .sample.number = 3,
				     .start_ns = start_ns, .end_ns = end_ns, .sample.values = s });
}

static void user(uint32_t pid, uint64_t ns)
{
	assert_int_equal(push(&(struct event){ .kind = EVENT_USER, .user.uuid = GPU,
					       .user.number = 3, .process = pid, .pid = pid,
					       .start_ns = ns, .user.bytes = 1000 * pid,
					       .has = HAS_BYTES }), 0);
}

static void fault(unsigned int what, uint64_t number, uint64_t ns)
{
	assert_int_equal(push(&(struct event){ .kind = EVENT_FAULT, .fault.uuid = GPU,
					       .fault.number = 3,
					       .fault.what = (uint8_t)what, .fault.value = number,
					       .start_ns = ns }), 0);
}

static double active(unsigned int field)
{
	double percent;

	return samples_mean(since_then(), field, &percent) ? percent / 100 : -1;
}

/* ---- means ----------------------------------------------------------------------------------- */

TEST(a_mean_is_over_the_time_that_knew_it)
{
	assert_int_equal(sample(1000, 2000, SAMPLE_SM, 5000), 0);
	assert_int_equal(sample(2000, 5000, SAMPLE_SM, 1000), 0);
	assert_int_equal(sample(5000, 9000, SAMPLE_TENSOR, 700), 0);
	assert_true(active(SAMPLE_SM) == 20);
	assert_true(active(SAMPLE_TENSOR) == 7);
	assert_true(active(SAMPLE_DRAM) == -1);
	assert_int_equal(device->sampled_ns, 8000);
	assert_int_equal(device->number, 3);
	begin_interval();
	assert_true(active(SAMPLE_SM) == -1);
	assert_int_equal(sample(9000, 9500, SAMPLE_SM, 10000), 0);
	assert_true(active(SAMPLE_SM) == 100);
}

/* Worked example: 5 J, the driver anew, 1 J; between readings of 2 s in all. */
TEST(energy_is_the_difference_of_readings)
{
	assert_int_equal(sample(0, 1000, SAMPLE_ENERGY_MJ, 70000), 0);
	assert_int_equal(device->energy_ns, 0);
	assert_int_equal(sample(1000, 2000, SAMPLE_ENERGY_MJ, 75000), 0);
	assert_int_equal(device->energy_mj, 5000);
	assert_int_equal(sample(2000, 3000, SAMPLE_ENERGY_MJ, 100), 0);
	assert_int_equal(sample(3000, 4000, SAMPLE_ENERGY_MJ, 1100), 0);
	assert_int_equal(device->energy_mj, 6000);
	assert_int_equal(device->energy_ns, 2000);
	begin_interval();
	assert_int_equal(since_then()->energy_ns, 0);
	assert_int_equal(sample(4000, 5000, SAMPLE_SM, 1), 0);
	assert_int_equal(sample(5000, 6000, SAMPLE_ENERGY_MJ, 1300), 0);
	assert_int_equal(since_then()->energy_mj, 200);
	assert_int_equal(since_then()->energy_ns, 2000);
}

TEST(power_and_clocks_are_means_of_readings)
{
	double mean;

	assert_int_equal(sample(0, 1000, SAMPLE_POWER_MW, 100000), 0);
	assert_int_equal(sample(1000, 4000, SAMPLE_POWER_MW, 300000), 0);
	assert_true(samples_mean(device, SAMPLE_POWER_MW, &mean) && mean == 250000);
	assert_int_equal(sample(4000, 5000, SAMPLE_SM_MHZ, UINT64_MAX), 0);
	assert_false(samples_mean(device, SAMPLE_SM_MHZ, &mean));
	assert_int_equal(sample(5000, 6000, SAMPLE_TOTAL_BYTES, 5), 0);
	assert_false(samples_mean(device, SAMPLE_TOTAL_BYTES, &mean));
}

TEST(impossible_values_are_refused)
{
	assert_int_equal(sample(1000, 2000, SAMPLE_SM, SAMPLE_FULL + 1), 0);
	assert_true(active(SAMPLE_SM) == -1);
	assert_int_equal(sample(1500, 2000, SAMPLE_SM, 1), -EINVAL);	/* it was reported */
	assert_int_equal(sample(3000, 3000, SAMPLE_SM, 1), -EINVAL);
	assert_int_equal(push(&(struct event){ .kind = EVENT_USER, .pid = 1 }), -EINVAL);
	assert_int_equal(push(&(struct event){ .kind = EVENT_FAULT, .fault.uuid = GPU,
					       .fault.what = FAULT_WHAT_END }), -EINVAL);
}

TEST(a_sample_that_ends_after_the_session_counts_up_to_its_end)
{
	struct device_sample s = { .has = 1u << SAMPLE_SM, .v = { [SAMPLE_SM] = 100 } };

	assert_int_equal(samples_push(&samples, &(struct event){
		.kind = EVENT_SAMPLE, .sample.uuid = GPU, .start_ns = 1000, .end_ns = 3000,
		.sample.values = s },
		0, 2500, &device), 0);
	assert_int_equal(device->sampled_ns, 1500);
}

TEST(a_sample_that_began_before_the_session_counts_from_its_beginning)
{
	struct device_sample s = { .has = 1u << SAMPLE_ENERGY_MJ };
	struct event ev = { .kind = EVENT_SAMPLE, .sample.uuid = GPU };

	for (uint64_t i = 1; i <= 3; i++) {
		s.v[SAMPLE_ENERGY_MJ] = 10 * i;
		ev.start_ns = 1000 * i;
		ev.end_ns = 1000 * (i + 1);
		ev.sample.values = s;
		assert_int_equal(samples_push(&samples, &ev, 2500, UINT64_MAX, &device), 0);
	}
	assert_int_equal(device->sampled_ns, 1500);
	assert_int_equal(device->energy_ns, 1000);	/* from the reading at 3000 */
	assert_int_equal(device->energy_mj, 10);
	ev = (struct event){ .kind = EVENT_FAULT, .start_ns = 2000,
			     .fault = { .uuid = GPU, .what = FAULT_XID, .value = 79 } };
	assert_int_equal(samples_push(&samples, &ev, 2500, UINT64_MAX, &device), 0);
	assert_int_equal(device->faults.n, 0);
}

TEST(there_is_room_for_so_much_and_no_more)
{
	char uuid[32];

	for (unsigned int i = 0; i < SAMPLES_DEVICES_MAX + 10; i++) {
		struct event ev = { .kind = EVENT_FAULT, .fault.uuid = uuid,
				    .fault.what = FAULT_XID, .start_ns = 1 };

		snprintf(uuid, sizeof(uuid), "GPU-%u", i);
		assert_int_equal(push(&ev), i < SAMPLES_DEVICES_MAX ? 0 : -EINVAL);
	}
	samples_free(&samples);
	for (unsigned int i = 0; i < SAMPLES_FAULTS_MAX + 10; i++)
		fault(FAULT_XID, i, 5);
	assert_int_equal(device->faults.n, SAMPLES_FAULTS_MAX);
	assert_int_equal(device->more_faults, 10);
	for (uint32_t pid = 1; pid <= SAMPLES_USERS_MAX; pid++)
		user(pid, 1000);
	assert_int_equal(push(&(struct event){ .kind = EVENT_USER, .user.uuid = GPU,
					       .process = 9999999 }), -EINVAL);
	assert_int_equal(sample(500, 1000, SAMPLE_USERS, SAMPLES_USERS_MAX), 0);
	assert_int_equal(sample(1000, 2000, SAMPLE_USERS, 0), 0);
	user(9999999, 3000);		/* those that are gone make room */
	assert_int_equal(device->users.n, 1);
}

/* ---- who is on it ---------------------------------------------------------------------------- */

TEST(a_process_keeps_its_last_figure)
{
	user(12, 2000);
	assert_int_equal(sample(1000, 2000, SAMPLE_USERS, 1), 0);
	assert_int_equal(sample(2000, 3000, SAMPLE_USERS, 0), 0);
	assert_int_equal(samples_user(samples_find(&samples, GPU), 12)->used_bytes, 12000);
	assert_null(samples_user(samples_find(&samples, GPU), 13));
}

TEST(a_mig_instance_is_found_by_every_spelling)
{
	assert_int_equal(sample(1000, 2000, SAMPLE_SM, 1), 0);
	assert_ptr_equal(samples_find(&samples, MIG), device);
	assert_null(samples_find(&samples, "GPU-12345678-9abd"));
	assert_null(samples_find(&samples, ""));
}

static struct devices *devices_of(uint32_t pid)
{
	static const struct device_facts facts = { .uuid = GPU };
	const struct event ev = { .kind = EVENT_DEVICE, .process = pid, .pid = pid,
				  .device.facts = facts };
	struct devices *d = devices_new();

	assert_int_equal(devices_push_facts(d, &ev, 0), 0);
	return d;
}

static uint64_t unwatched(struct devices *d, uint64_t now_ns)
{
	struct share_book *b = share_book_copy(devices_hosts(d)->all.v[0]->book);
	struct share_sum sum;

	share_book_settle_all(b, now_ns);
	share_book_sum(b, &sum);
	share_book_free(b);
	return sum.unwatched_ns;
}

/* Worked example: 7 is watched, 12 is there at 2000, 3000 and 4000; no kernel ran up to 4000. */
TEST(unwatched_is_from_sample_to_sample_while_kernels_ran)
{
	struct devices *d = devices_of(7);

	for (uint64_t at = 1000; at <= 6000; at += 1000) {
		struct device_sample s = { .has = 1u << SAMPLE_USERS | 1u << SAMPLE_BUSY };

		user(7, at);
		if (at >= 2000 && at <= 4000)
			user(12, at);
		s.v[SAMPLE_USERS] = at >= 2000 && at <= 4000 ? 2 : 1;
		s.v[SAMPLE_BUSY] = at == 4000 ? 0 : 50;
		assert_int_equal(push(&(struct event){ .kind = EVENT_SAMPLE, .sample.uuid = GPU,
						       .start_ns = at - 1000, .end_ns = at,
						       .sample.values = s }), 0);
		assert_int_equal(host_devices_sample(devices_hosts(d), device, at - 1000, true), 0);
	}
	assert_int_equal(unwatched(d, 6000), 1000);
	devices_free(d);
}

TEST(processes_without_a_number_are_strangers)
{
	struct devices *d = devices_of(7);

	for (uint64_t at = 1000; at <= 3000; at += 1000) {
		user(7, at);
		assert_int_equal(sample(at - 1000, at, SAMPLE_USERS, 2), 0);
		assert_int_equal(host_devices_sample(devices_hosts(d), device, at - 1000, true), 0);
	}
	assert_int_equal(unwatched(d, 3000), 2000);
	devices_free(d);
}

TEST(a_book_waits_for_strangers_where_it_may)
{
	struct devices *d = devices_of(7);
	struct share_book *b = devices_hosts(d)->all.v[0]->book;
	struct share_sum sum;

	user(12, 1000);
	assert_int_equal(sample(500, 1000, SAMPLE_USERS, 1), 0);
	assert_int_equal(host_devices_sample(devices_hosts(d), device, 500, true), 0);
	share_book_settle(b, 0, 5000);
	share_book_sum(b, &sum);
	assert_int_equal(sum.close_ns, 1000);
	assert_int_equal(host_devices_sample(devices_hosts(d), device, 500, false), 0);
	share_book_sum(b, &sum);
	assert_int_equal(sum.close_ns, 5000);
	devices_free(d);
}

/* ---- findings -------------------------------------------------------------------------------- */

static const struct snapshot *watched;	/* NULL: no process is */

static bool judge(const char *rule, const struct finding_book *b)
{
	for (size_t i = 0; i < finding_device_rules_n; i++)
		if (!strcmp(finding_device_rules[i].name, rule))
			return finding_device_rules[i].judge(b, &found);
	fail();
	return false;
}

/* Whether it holds. What was found is there until the next is judged. */
static bool judged(const char *rule)
{
	static struct snapshot_member self = { .process = 7, .pid = 7 };
	static const struct snapshot_host on_device = { .members = { &self, 1, 1 } };
	struct finding_book b = { .pid = 7, .sampled = device, .wall_ns = 10000, .shared_ns = 10000, .session_ns = 1000,
				  .unwatched_ns = 2500, .others = { watched, &on_device } };

	forget_found();
	return judge(rule, &b);
}

TEST(the_worst_fault_is_the_cause_and_all_are_evidence)
{
	fault(FAULT_ECC_CORRECTED, 0, 500001000);
	fault(FAULT_ECC_CORRECTED, 0, 700001000);
	assert_true(judged("device-fault"));
	assert_string_equal(finding_severity(&found), "low");
	fault(FAULT_XID, 79, 12300001000);
	fault(FAULT_XID, 4711, 12300001000);
	assert_true(judged("device-fault"));
	assert_string_equal(finding_severity(&found), "high");
	assert_string_equal(found.cause.s, "GPU 3: XID 79, the GPU has fallen off the bus");
	assert_string_equal(found.evidence.s, "by NVML: an error of memory was corrected at 0.5 s, 2 times; "
			    "XID 79 at 12.3 s; XID 4711 at 12.3 s");
}

static void instance_fault(uint64_t number)
{
	assert_int_equal(push(&(struct event){ .kind = EVENT_FAULT, .fault.uuid = "MIG-1",
					       .fault.what = FAULT_XID,
					       .fault.number = device_number_instance(3, 1),
					       .fault.value = number, .start_ns = 100001000 }), 0);
}

TEST(faults_of_a_gpu_are_faults_of_its_instances)
{
	struct finding_book b = { .pid = 7, .session_ns = 1000 };

	instance_fault(43);
	b.sampled = device;
	assert_null(samples_gpu_of(&samples, device));
	fault(FAULT_XID, 79, 300001000);
	b.gpu = samples_gpu_of(&samples, b.sampled);
	assert_ptr_equal(b.gpu, device);
	assert_null(samples_gpu_of(&samples, device));
	assert_true(judge("device-fault", &b));
	assert_string_equal(found.cause.s, "GPU 3: XID 79, the GPU has fallen off the bus");
	assert_string_equal(found.evidence.s, "by NVML: XID 43 at 0.1 s; GPU 3 XID 79 at 0.3 s");
	forget_found();
	b.gpu = NULL;
	assert_true(judge("device-fault", &b));
	assert_string_equal(found.cause.s, "GPU 3:1: XID 43, a process's work was stopped after a fault");
}

TEST(throttled_clocks_are_reported_by_reason)
{
	assert_int_equal(sample(0, 9600, SAMPLE_CLOCK_REASONS, CLOCK_IDLE | CLOCK_SETTING), 0);
	assert_int_equal(sample(9600, 10000, SAMPLE_CLOCK_REASONS, CLOCK_POWER_CAP), 0);
	assert_false(judged("throttled"));		/* 4 %: usual under load */
	assert_int_equal(sample(10000, 12000, SAMPLE_CLOCK_REASONS, CLOCK_POWER_CAP | CLOCK_THERMAL), 0);
	assert_true(judged("throttled") && found.is_notable && !found.has_share);
	assert_string_equal(found.cause.s, "GPU 3: its clocks were kept down by its power limit");
	assert_string_equal(found.evidence.s, "17 % of the time by heat, 20 % of the time by its power limit; "
			    "sampled by NVML, about once a second");
}

TEST(strangers_are_named_and_those_that_are_watched_are_none)
{
	user(7, 1000);
	user(12, 1000);
	assert_true(judged("unwatched-process") && !found.has_share);
	assert_string_equal(found.cause.s, "GPU 3 is used by others that are not watched: pid 12 (11.7 KiB of its "
			    "memory)");
	assert_non_null(strstr(found.evidence.s, "(25.0 %)"));
	assert_false(judged("untold-process"));
}

static void call(struct model *m, uint32_t pid)
{
	static const char *const names[] = { "helper_why", "no helper is in it" };

	assert_int_equal(model_push(m, &(struct event){ .kind = EVENT_PROCESS, .process = pid, .pid = pid,
							.tid = pid,
							.start_ns = 1, .task.comm = "train" }), 0);
	assert_int_equal(model_push(m, &(struct event){ .kind = EVENT_IDENTITY, .process = pid, .pid = pid,
							.tid = pid, .fact.key = names[0],
							.fact.value = names[1] }), 0);
	assert_int_equal(model_push(m, &(struct event){ .kind = EVENT_CALL, .process = pid, .pid = pid,
							.tid = pid, .seq = 1,
							.func = 1, .start_ns = 10, .end_ns = 20 }), 0);
}

TEST(a_watched_process_without_a_helper_is_not_unwatched)
{
	static const struct funcs funcs = { .n = 2, .v = { [1] = { .name = "cudaLaunchKernel", .class = CLASS_LAUNCH } } };
	struct model *m = model_new(&funcs);
	struct snapshot *snap;

	assert_non_null(m);
	call(m, 12);
	watched = snap = snapshot_take(m, 0);
	user(7, 1000);
	user(12, 1000);
	assert_false(judged("unwatched-process"));
	assert_true(judged("untold-process"));
	assert_string_equal(found.cause.s, "GPU 3 is used by others whose works are not known: pid 12 (train, "
			    "watched: no helper is in it; 11.7 KiB of its memory)");
	user(13, 1000);
	assert_true(judged("unwatched-process"));
	assert_non_null(strstr(found.cause.s, "not all are watched: "));
	assert_non_null(strstr(found.cause.s, "pid 12 (train, watched: no helper is in it; 11.7 KiB of its memory)"));
	assert_non_null(strstr(found.cause.s, "pid 13 (12.7 KiB of its memory)"));
	assert_false(judged("untold-process"));
	watched = NULL;
	snapshot_free(snap);
	model_free(m);
}
