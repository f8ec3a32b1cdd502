// SPDX-License-Identifier: BSD-3-Clause
/*
 * The reader of NVML at a GPU in MIG mode, by a table of functions of our own: what is reported of instances,
 * what of their GPU alone, and of which of them a fault is.
 */
#include "nvml_fakes.h"

#include "lib/test.h"
#include "base/str.h"
#include "base/time.h"
#include "event/device_number.h"

enum { GPU, FIRST, SECOND, THIRD, UNITS };	/* the second and third share a GPU instance */

static char handles[UNITS];
static struct {
	unsigned int memory;		/* what it answers */
	unsigned int away;		/* 1 << unit: it is not there */
	struct nvml_event event;
} fake;

static struct nvmlDevice_st *handle_of(unsigned int unit)
{
	return (struct nvmlDevice_st *)&handles[unit];
}

static unsigned int unit_of(const struct nvmlDevice_st *d)
{
	return (unsigned int)((const char *)d - handles);
}

static unsigned int fake_count(unsigned int *n)
{
	*n = 1;
	return 0;
}

static unsigned int fake_device(unsigned int i, struct nvmlDevice_st **d)
{
	*d = handle_of(GPU);
	return i;
}

static unsigned int fake_text(struct nvmlDevice_st *d, char *text, unsigned int bytes)
{
	snprintf(text, bytes, "%s-%u", unit_of(d) == GPU ? "GPU" : "MIG", unit_of(d));
	return 0;
}

static unsigned int fake_index(struct nvmlDevice_st *d, unsigned int *index)
{
	(void)d;
	*index = 5;
	return 0;
}

static unsigned int fake_mode(struct nvmlDevice_st *d, unsigned int *now, unsigned int *pending)
{
	(void)d;
	*now = *pending = 1;
	return 0;
}

static unsigned int fake_max(struct nvmlDevice_st *d, unsigned int *n)
{
	(void)d;
	*n = 7;
	return 0;
}

/* The places 0, 2 and 3 are taken. */
static unsigned int fake_mig(struct nvmlDevice_st *d, unsigned int i, struct nvmlDevice_st **mig)
{
	(void)d;
	if (i == 1 || i > 3 || fake.away >> (i ? i : FIRST) & 1)
		return NVML_NOT_FOUND;
	*mig = handle_of(i ? i : FIRST);
	return 0;
}

static unsigned int fake_gpu_instance(struct nvmlDevice_st *d, unsigned int *id)
{
	*id = unit_of(d) == FIRST ? 4 : 9;
	return 0;
}

static unsigned int fake_compute_instance(struct nvmlDevice_st *d, unsigned int *id)
{
	*id = unit_of(d) == THIRD;
	return 0;
}

static unsigned int fake_memory(struct nvmlDevice_st *d, struct nvml_memory *m)
{
	assert_int_not_equal(unit_of(d), GPU);
	m->total = 1000;
	m->used = unit_of(d);
	return fake.memory;
}

static unsigned int fake_processes(struct nvmlDevice_st *d, unsigned int *n, struct nvml_process *p)
{
	assert_int_not_equal(unit_of(d), GPU);
	p[0] = (struct nvml_process){ .pid = 100 + unit_of(d), .used_bytes = 7 };
	*n = 1;
	return 0;
}

static unsigned int fake_power(struct nvmlDevice_st *d, unsigned int *mw)
{
	assert_int_equal(unit_of(d), GPU);
	*mw = 250000;
	return 0;
}

static unsigned int fake_register(struct nvmlDevice_st *d, unsigned long long types,
				  struct nvmlEventSet_st *set)
{
	(void)types;
	(void)set;
	assert_int_equal(unit_of(d), GPU);
	return 0;
}

static unsigned int fake_wait(struct nvmlEventSet_st *set, struct nvml_event *e, unsigned int ms)
{
	(void)set;
	(void)ms;
	*e = fake.event;
	return 0;
}

static unsigned int fake_sample(struct nvmlDevice_st *d, unsigned int instance,
				struct nvmlGpmSample_st *s)
{
	(void)s;
	assert_int_equal(unit_of(d), GPU);
	assert_true(instance == 4 || instance == 9);
	return 0;
}

static unsigned int fake_metrics(struct nvml_gpm_get *get)
{
	for (unsigned int i = 0; i < get->n; i++)
		get->metric[i].value = 50;
	return 0;
}

static const struct nvml_api api = {
	.init = fake_nothing, .shutdown = fake_nothing, .driver_version = fake_version,
	.count = fake_count, .device = fake_device, .uuid = fake_text, .name = fake_text,
	.index = fake_index, .mig_mode = fake_mode, .mig_max = fake_max, .mig_device = fake_mig,
	.gpu_instance = fake_gpu_instance, .compute_instance = fake_compute_instance,
	.memory = fake_memory, .processes = fake_processes, .power = fake_power,
	.event_set = fake_set, .event_types = fake_every_type, .event_register = fake_register,
	.event_wait = fake_wait, .event_free = fake_free, .gpm_supported = fake_support,
	.gpm_alloc = fake_alloc, .gpm_free = fake_release, .gpm_mig_sample = fake_sample,
	.gpm_metrics = fake_metrics,
};

/* All that was reported: "sample MIG-1 5:0 has 0x20c0; ". */
static struct strbuf got = STRBUF_INIT;

static int on_event(void *ctx, const struct event *ev)
{
	(void)ctx;
	strbuf_addf(&got, "%s %s ", ev->kind == EVENT_SAMPLE ? "sample" :
		    ev->kind == EVENT_USER ? "user" : "fault", ev->user.uuid);
	strbuf_addstr(&got, device_text(ev->user.number).s);
	if (ev->kind == EVENT_SAMPLE)
		strbuf_addf(&got, " has %x", ev->sample.values.has);
	else
		strbuf_addf(&got, " %u", ev->kind == EVENT_USER ? ev->pid : (unsigned int)ev->fault.value);
	strbuf_addstr(&got, "; ");
	return 0;
}

static uint64_t at_one_second(void)
{
	return NS_PER_SEC;
}

static struct nvml_reader opened(void)
{
	struct nvml_reader r = { .api = &api, .sink = { on_event, NULL }, .pids_are_hosts = true };

	memset(&fake, 0, sizeof(fake));
	memset(&held, 0, sizeof(held));
	assert_int_equal(nvml_reader_open(&r, at_one_second), 0);
	return r;
}

static void is_reported(const char *wanted)
{
	assert_string_equal(got.s, wanted);
	strbuf_reset(&got);
}

TEST(instances_have_own_figures_and_share_those_of_the_gpu)
{
	struct nvml_reader r = opened();

	assert_int_equal(r.n, UNITS);
	nvml_reader_sample(&r, 2 * NS_PER_SEC);
	/* Power; memory and users, and activity of the GPU instance where it is all one's own. */
	is_reported("sample GPU-0 5 has 100; user MIG-1 5:0 101; sample MIG-1 5:0 has 20cf; "
		"user MIG-2 5:2 102; sample MIG-2 5:2 has 20c0; user MIG-3 5:3 103; "
		"sample MIG-3 5:3 has 20c0; ");
	assert_string_equal(r.trouble, "");
	nvml_reader_close(&r);
}

static void fault(struct nvml_reader *r, unsigned int gpu_instance, unsigned int compute_instance)
{
	fake.event = (struct nvml_event){ handle_of(GPU), NVML_EVENT_XID, 43, gpu_instance,
					  compute_instance };
	assert_true(nvml_reader_wait(r, 1, at_one_second));
}

TEST(a_fault_is_of_its_instance_or_of_all_that_it_may_be_of)
{
	struct nvml_reader r = opened();

	fault(&r, 9, 1);
	is_reported("fault MIG-3 5:3 43; ");
	fault(&r, 9, NVML_NO_INSTANCE);
	is_reported("fault MIG-2 5:2 43; fault MIG-3 5:3 43; ");
	fault(&r, NVML_NO_INSTANCE, NVML_NO_INSTANCE);
	is_reported("fault GPU-0 5 43; ");
	fault(&r, 2, 0);		/* an instance that was made since */
	is_reported("fault GPU-0 5 43; ");
	nvml_reader_close(&r);
}

TEST(a_gpu_is_lost_once_with_all_its_instances)
{
	struct nvml_reader r = opened();

	fake.memory = NVML_GPU_IS_LOST;
	nvml_reader_sample(&r, 2 * NS_PER_SEC);
	is_reported("sample GPU-0 5 has 100; fault GPU-0 5 0; ");
	nvml_reader_sample(&r, 3 * NS_PER_SEC);
	is_reported("");
	nvml_reader_close(&r);
}

TEST(instances_come_and_go_while_others_are_used)
{
	struct nvml_reader r = opened();

	fake.away = 1u << FIRST | 1u << THIRD;
	nvml_reader_sample(&r, 2 * NS_PER_SEC);
	is_reported("sample GPU-0 5 has 100; user MIG-2 5:2 102; sample MIG-2 5:2 has 20cf; ");
	assert_int_equal(held.samples, 2);
	fault(&r, 9, 1);		/* of one that is gone */
	is_reported("fault GPU-0 5 43; ");
	fake.away = 1u << SECOND;
	nvml_reader_sample(&r, 3 * NS_PER_SEC);
	is_reported("sample GPU-0 5 has 100; ");	/* there is nothing to report yet */
	nvml_reader_sample(&r, 4 * NS_PER_SEC);
	is_reported("sample GPU-0 5 has 100; user MIG-1 5:0 101; sample MIG-1 5:0 has 20cf; "
		"user MIG-3 5:3 103; sample MIG-3 5:3 has 20cf; ");
	assert_int_equal(r.n, UNITS);
	assert_int_equal(held.samples, 4);
	nvml_reader_close(&r);
	assert_int_equal(held.samples, 0);
}

static int tear_down(void **state)
{
	(void)state;
	strbuf_free(&got);
	return 0;
}

TEST_GROUP(NULL, tear_down);
