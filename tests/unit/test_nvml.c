// SPDX-License-Identifier: BSD-3-Clause
/*
 * The reader of NVML against libraries that lie, refuse or do not answer: a table of functions of our
 * own. What a correct library reports is tests/bats/nvml.bats's.
 */
#include "nvml_fakes.h"

#include <stdlib.h>
#include <unistd.h>

#include "lib/test.h"
#include "base/time.h"
#include "source/nvml/nvml.h"

#define HANDLE ((struct nvmlDevice_st *)(uintptr_t)0x1000)

static struct {
	unsigned int init, uuid, utilization, processes, wait, gpm;	/* what they answer */
	unsigned int users, asked, hang;
	double percent;
	struct nvml_process user[2];
	struct nvml_event event;
} fake;

static unsigned int fake_init(void)
{
	while (__atomic_load_n(&fake.hang, __ATOMIC_RELAXED))
		usleep(1000);
	return fake.init;
}

static unsigned int fake_endless(char *text, unsigned int bytes)
{
	memset(text, 'v', bytes);	/* without an end */
	return 0;
}

static unsigned int fake_count(unsigned int *n)
{
	*n = 1;
	return 0;
}

static unsigned int fake_device(unsigned int i, struct nvmlDevice_st **d)
{
	*d = HANDLE;
	return i;
}

static unsigned int fake_text(struct nvmlDevice_st *d, char *text, unsigned int bytes)
{
	(void)d;
	memset(text, 'u', bytes);
	return fake.uuid;
}

static unsigned int fake_index(struct nvmlDevice_st *d, unsigned int *index)
{
	(void)d;
	*index = 3;
	return 0;
}

static unsigned int fake_utilization(struct nvmlDevice_st *d, struct nvml_utilization *u)
{
	(void)d;
	fake.asked++;
	*u = (struct nvml_utilization){ 40, 101 };
	return fake.utilization;
}

static unsigned int fake_processes(struct nvmlDevice_st *d, unsigned int *n, struct nvml_process *p)
{
	(void)d;
	memcpy(p, fake.user, sizeof(fake.user));
	*n = fake.users;
	return fake.processes;
}

static unsigned int fake_register(struct nvmlDevice_st *d, unsigned long long types,
				  struct nvmlEventSet_st *set)
{
	(void)d;
	(void)set;
	assert_true(types & NVML_EVENT_XID);
	return 0;
}

static unsigned int fake_wait(struct nvmlEventSet_st *set, struct nvml_event *e, unsigned int ms)
{
	(void)set;
	(void)ms;
	*e = fake.event;
	return fake.wait;
}

static unsigned int fake_sample(struct nvmlDevice_st *d, struct nvmlGpmSample_st *s)
{
	(void)d;
	(void)s;
	return fake.gpm;
}

static unsigned int fake_metrics(struct nvml_gpm_get *get)
{
	assert_ptr_not_equal(get->before, get->after);
	for (unsigned int i = 0; i < get->n; i++)
		get->metric[i].value = get->metric[i].id == NVML_METRIC_DRAM ? fake.percent : 12.345;
	get->metric[1].code = NVML_NOT_SUPPORTED;
	return 0;
}

static const char *fake_error(unsigned int code)
{
	return code == 999 ? "Unknown Error" : NULL;
}

static const struct nvml_api all = {
	.init = fake_init, .shutdown = fake_nothing, .driver_version = fake_endless, .count = fake_count,
	.device = fake_device, .uuid = fake_text, .name = fake_text, .index = fake_index,
	.utilization = fake_utilization, .processes = fake_processes, .event_set = fake_set,
	.event_types = fake_every_type, .event_register = fake_register, .event_wait = fake_wait,
	.event_free = fake_free, .gpm_supported = fake_support, .gpm_alloc = fake_alloc,
	.gpm_free = fake_release, .gpm_sample = fake_sample, .gpm_metrics = fake_metrics,
	.error = fake_error,
};

/* What was reported last, of each kind. */
static struct {
	struct event ev[EVENT_KIND_END];
	struct device_sample sample;
	unsigned int n[EVENT_KIND_END];
	char text[200];
} got;

static int on_event(void *ctx, const struct event *ev)
{
	(void)ctx;
	got.ev[ev->kind] = *ev;
	got.n[ev->kind]++;
	snprintf(got.text, sizeof(got.text), "%s", ev->sample.uuid);
	if (ev->kind == EVENT_SAMPLE)
		got.sample = ev->sample.values;
	return 0;
}

static struct nvml_reader r;

BEFORE_EACH
{
	memset(&fake, 0, sizeof(fake));
	memset(&held, 0, sizeof(held));
	memset(&got, 0, sizeof(got));
}

static bool has(unsigned int field)
{
	return got.sample.has >> field & 1;
}

static uint64_t at_one_second(void)
{
	return NS_PER_SEC;
}

static int open_reader(void)
{
	r = (struct nvml_reader){ .api = &all, .sink = { on_event, NULL }, .pids_are_hosts = true,
				  .own_pid = 77 };
	return nvml_reader_open(&r, at_one_second);
}

static void sample_at(uint64_t ns)
{
	nvml_reader_sample(&r, ns);
}

/* ---- reading --------------------------------------------------------------------------------- */

TEST(impossible_readings_are_dropped)
{
	fake.percent = 0.0 / 0.0;
	fake.wait = NVML_TIMEOUT;
	assert_int_equal(open_reader(), 0);
	assert_true(nvml_reader_has_gpm(&r));
	sample_at(2 * NS_PER_SEC);
	assert_int_equal(got.n[EVENT_SAMPLE], 1);
	assert_int_equal(got.ev[EVENT_SAMPLE].start_ns, NS_PER_SEC);
	assert_int_equal(got.ev[EVENT_SAMPLE].end_ns, 2 * NS_PER_SEC);
	assert_int_equal(got.ev[EVENT_SAMPLE].sample.number, 3);
	assert_int_equal(strlen(got.text), NVML_UUID_BYTES - 1);
	assert_true(has(SAMPLE_BUSY) && got.sample.v[SAMPLE_BUSY] == 40);
	assert_false(has(SAMPLE_MEMORY_BUSY));
	assert_true(has(SAMPLE_SM) && got.sample.v[SAMPLE_SM] == 1235);
	assert_false(has(SAMPLE_OCCUPANCY) || has(SAMPLE_DRAM) || has(SAMPLE_POWER_MW));
	nvml_reader_close(&r);
	assert_int_equal(held.samples, 0);
}

TEST(a_refused_query_is_made_once_and_a_failed_one_again)
{
	fake.utilization = NVML_NOT_SUPPORTED;
	assert_int_equal(open_reader(), 0);
	sample_at(2 * NS_PER_SEC);
	sample_at(3 * NS_PER_SEC);
	assert_int_equal(fake.asked, 1);
	assert_string_equal(r.trouble, "");
	r.units[0].refused = 0;
	fake.utilization = 999;
	sample_at(4 * NS_PER_SEC);
	sample_at(5 * NS_PER_SEC);
	assert_int_equal(fake.asked, 3);
	assert_string_equal(r.trouble, "nvmlDeviceGetUtilizationRates: Unknown Error (NVML error 999)");
	nvml_reader_close(&r);
}

TEST(a_lost_device_is_a_fault_once_and_is_left_alone)
{
	fake.utilization = NVML_GPU_IS_LOST;
	assert_int_equal(open_reader(), 0);
	sample_at(2 * NS_PER_SEC);
	sample_at(3 * NS_PER_SEC);
	assert_int_equal(got.n[EVENT_FAULT], 1);
	assert_int_equal(got.ev[EVENT_FAULT].fault.what, FAULT_LOST);
	assert_int_equal(got.n[EVENT_SAMPLE], 0);
	nvml_reader_close(&r);
}

TEST(activity_needs_two_readings_far_enough_apart)
{
	fake.gpm = 999;
	assert_int_equal(open_reader(), 0);
	fake.gpm = 0;
	sample_at(2 * NS_PER_SEC);
	assert_false(has(SAMPLE_SM));	/* there was none to begin with */
	sample_at(2 * NS_PER_SEC + 50 * NS_PER_MS);
	assert_false(has(SAMPLE_SM));	/* too close */
	sample_at(3 * NS_PER_SEC);
	assert_true(has(SAMPLE_SM));
	nvml_reader_close(&r);
}

TEST(processes_without_a_number_are_counted_and_our_own_is_not)
{
	fake.users = 2;
	fake.user[0] = (struct nvml_process){ .pid = 0, .used_bytes = 5 };
	fake.user[1] = (struct nvml_process){ .pid = 12, .used_bytes = NVML_NO_BYTES };
	assert_int_equal(open_reader(), 0);
	sample_at(2 * NS_PER_SEC);
	assert_int_equal(got.n[EVENT_USER], 1);
	assert_int_equal(got.ev[EVENT_USER].pid, 12);
	assert_false(got.ev[EVENT_USER].has & HAS_BYTES);
	assert_int_equal(got.sample.v[SAMPLE_USERS], 2);
	fake.user[1] = (struct nvml_process){ .pid = 77, .used_bytes = 9 };
	sample_at(3 * NS_PER_SEC);
	assert_int_equal(got.sample.v[SAMPLE_USERS], 1);
	fake.users = NVML_USERS_MAX + 9;
	fake.processes = NVML_INSUFFICIENT_SIZE;
	sample_at(4 * NS_PER_SEC);
	assert_false(has(SAMPLE_USERS));
	r.pids_are_hosts = false;
	fake.processes = 0;
	sample_at(5 * NS_PER_SEC);
	assert_false(has(SAMPLE_USERS));
	nvml_reader_close(&r);
}

TEST(events_are_of_devices_and_kinds_that_are_known)
{
	assert_int_equal(open_reader(), 0);
	fake.event = (struct nvml_event){ HANDLE, NVML_EVENT_XID, 79, NVML_NO_INSTANCE,
					  NVML_NO_INSTANCE };
	assert_true(nvml_reader_wait(&r, 1, time_now_ns));
	assert_int_equal(got.n[EVENT_FAULT], 1);
	assert_int_equal(got.ev[EVENT_FAULT].fault.what, FAULT_XID);
	assert_int_equal(got.ev[EVENT_FAULT].fault.value, 79);
	fake.event.device = NULL;
	assert_true(nvml_reader_wait(&r, 1, time_now_ns));
	fake.event = (struct nvml_event){ .device = HANDLE, .type = 1ull << 40 };
	assert_true(nvml_reader_wait(&r, 1, time_now_ns));
	assert_int_equal(got.n[EVENT_FAULT], 1);
	fake.wait = 999;		/* it cannot wait any more, and would spin */
	assert_false(nvml_reader_wait(&r, 1, time_now_ns));
	assert_null(r.events);
	nvml_reader_close(&r);
}

TEST(no_device_has_no_name_and_any_init_may_fail)
{
	static const unsigned int codes[] = { 1, 2, 3, 4, 9, 12, 18, 999, 4711 };

	fake.uuid = 999;
	assert_int_equal(open_reader(), 0);
	assert_int_equal(r.n, 0);
	sample_at(2 * NS_PER_SEC);
	nvml_reader_close(&r);
	for (size_t i = 0; i < sizeof(codes) / sizeof(codes[0]); i++) {
		fake.init = codes[i];
		assert_int_not_equal(open_reader(), 0);
		assert_non_null(strstr(r.trouble, "nvmlInit_v2"));
		nvml_reader_close(&r);
	}
}

/* ---- the thread ------------------------------------------------------------------------------ */

static int load_fake(struct nvml_api *api, char *why, unsigned int why_bytes)
{
	(void)why;
	(void)why_bytes;
	*api = all;
	return 0;
}

static int load_nothing(struct nvml_api *api, char *why, unsigned int why_bytes)
{
	(void)api;
	snprintf(why, why_bytes, "it is not here");
	return -1;
}

static struct nvml_status status_of(struct nvml *n)
{
	struct nvml_status st;

	nvml_status(n, &st);
	return st;
}

TEST(the_thread_sends_a_last_sample_when_stopped)
{
	struct event_sink sink = { on_event, NULL };
	struct nvml *n;

	fake.wait = NVML_TIMEOUT;	/* at once: the thread does not spin */
	n = nvml_start(load_fake);
	assert_non_null(n);
	for (int i = 0; i < 5000 && !status_of(n).sent; i++)
		usleep(1000);
	nvml_stop(n);
	assert_true(nvml_wait(n, 10000));
	assert_int_equal(status_of(n).state, NVML_ENDED);
	assert_int_equal(status_of(n).devices, 1);
	assert_int_equal(nvml_pump(n, &sink), 0);
	assert_true(got.n[EVENT_SAMPLE] >= 1);
	nvml_free(n);
}

TEST(a_missing_library_ends_the_thread_with_a_reason)
{
	struct nvml *n = nvml_start(load_nothing);

	assert_true(nvml_wait(n, 10000));
	assert_int_equal(status_of(n).state, NVML_FAILED);
	assert_string_equal(status_of(n).why, "it is not here");
	nvml_free(n);
}

TEST(a_library_that_does_not_answer_is_left_alone)
{
	struct nvml *n;

	fake.hang = 1;
	n = nvml_start(load_fake);
	nvml_stop(n);
	assert_false(nvml_wait(n, 20));
	assert_int_equal(status_of(n).state, NVML_STARTING);
	nvml_free(n);
	__atomic_store_n(&fake.hang, 0, __ATOMIC_RELAXED);	/* it answers after all */
	usleep(50000);
}
