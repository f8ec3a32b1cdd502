// SPDX-License-Identifier: BSD-3-Clause
/*
 * Devices that are lost and come back, by a table of functions of our own: a host of three GPUs whose
 * handles are good until nvmlShutdown only, and may be refused before.
 */
#include "nvml_fakes.h"

#include "lib/test.h"
#include "base/str.h"
#include "base/time.h"
#include "event/device_number.h"

enum { GPUS = 3, INSTANCES = 2, LIVES = 64 };

/* A handle: of which life of NVML, GPU, and instance (1 ...; 0: the GPU). */
static char handles[LIVES][GPUS][1 + INSTANCES];

static struct {
	unsigned int life, init;	/* how often it began; what that answers */
	unsigned int away;		/* 1 << GPU: it is not there */
	unsigned int refused[GPUS];	/* what its handles of this life answer */
	unsigned int instance;		/* what instances answer */
	bool divided[GPUS];
	uint64_t now_ns, init_ns;
} fake;

static struct nvmlDevice_st *handle_of(unsigned int gpu, unsigned int instance)
{
	return (struct nvmlDevice_st *)&handles[fake.life][gpu][instance];
}

static unsigned int gpu_of(const struct nvmlDevice_st *d)
{
	return (unsigned int)((const char *)d - handles[fake.life][0]) / (1 + INSTANCES);
}

static unsigned int instance_of(const struct nvmlDevice_st *d)
{
	return (unsigned int)((const char *)d - handles[fake.life][0]) % (1 + INSTANCES);
}

/* Handles of another life are never used. */
static unsigned int answer_of(const struct nvmlDevice_st *d)
{
	assert_in_range((uintptr_t)d, (uintptr_t)handles[fake.life],
			(uintptr_t)handles[fake.life] + sizeof(handles[0]) - 1);
	if (fake.away >> gpu_of(d) & 1)
		return NVML_GPU_IS_LOST;
	return instance_of(d) && fake.instance ? fake.instance : fake.refused[gpu_of(d)];
}

static unsigned int fake_init(void)
{
	fake.now_ns += fake.init_ns;
	if (fake.init)
		return fake.init;
	fake.life++;
	memset(fake.refused, 0, sizeof(fake.refused));
	return 0;
}

static unsigned int fake_shutdown(void)
{
	assert_int_equal(held.samples, 0);
	assert_int_equal(held.sets, 0);
	return 0;
}

static unsigned int fake_count(unsigned int *n)
{
	*n = GPUS - (unsigned int)__builtin_popcount(fake.away);
	return 0;
}

/* Who is away is not counted, and the others move up. */
static unsigned int fake_device(unsigned int i, struct nvmlDevice_st **d)
{
	for (unsigned int gpu = 0; gpu < GPUS; gpu++) {
		if (fake.away >> gpu & 1 || i--)
			continue;
		*d = handle_of(gpu, 0);
		return 0;
	}
	return NVML_INVALID_ARGUMENT;
}

static unsigned int fake_uuid(struct nvmlDevice_st *d, char *text, unsigned int bytes)
{
	if (instance_of(d))
		snprintf(text, bytes, "MIG-%c%u", 'a' + gpu_of(d), instance_of(d));
	else
		snprintf(text, bytes, "GPU-%c", 'a' + gpu_of(d));
	return answer_of(d);
}

static unsigned int fake_index(struct nvmlDevice_st *d, unsigned int *index)
{
	*index = 0;
	for (unsigned int gpu = 0; gpu < gpu_of(d); gpu++)
		*index += !(fake.away >> gpu & 1);
	return answer_of(d);
}

static unsigned int fake_memory(struct nvmlDevice_st *d, struct nvml_memory *m)
{
	m->total = m->used = 1;
	return answer_of(d);
}

static unsigned int fake_mode(struct nvmlDevice_st *d, unsigned int *now, unsigned int *pending)
{
	*now = *pending = fake.divided[gpu_of(d)];
	return fake.refused[gpu_of(d)] ? 0 : answer_of(d);	/* it may be known without the device */
}

static unsigned int fake_max(struct nvmlDevice_st *d, unsigned int *n)
{
	*n = fake.divided[gpu_of(d)] ? INSTANCES : 0;
	return answer_of(d);
}

static unsigned int fake_mig(struct nvmlDevice_st *d, unsigned int i, struct nvmlDevice_st **mig)
{
	*mig = handle_of(gpu_of(d), i + 1);
	return fake.instance ? NVML_NOT_FOUND : answer_of(d);
}

static unsigned int fake_id(struct nvmlDevice_st *d, unsigned int *id)
{
	*id = instance_of(d);
	return answer_of(d);
}

static unsigned int fake_types(struct nvmlDevice_st *d, unsigned long long *types)
{
	*types = NVML_EVENT_XID;
	return answer_of(d);
}

static unsigned int fake_register(struct nvmlDevice_st *d, unsigned long long types,
				  struct nvmlEventSet_st *set)
{
	(void)types;
	(void)set;
	return answer_of(d);
}

static unsigned int fake_wait(struct nvmlEventSet_st *set, struct nvml_event *e, unsigned int ms)
{
	(void)set;
	(void)ms;
	*e = (struct nvml_event){ .type = NVML_EVENT_XID };	/* of no device */
	return 0;
}

static unsigned int fake_answering_support(struct nvmlDevice_st *d, struct nvml_gpm_support *s)
{
	s->supported = 1;
	return answer_of(d);
}

static unsigned int fake_sample(struct nvmlDevice_st *d, struct nvmlGpmSample_st *s)
{
	(void)s;
	return answer_of(d);
}

static unsigned int fake_mig_sample(struct nvmlDevice_st *d, unsigned int id, struct nvmlGpmSample_st *s)
{
	(void)id;
	(void)s;
	return answer_of(d);
}

static unsigned int fake_metrics(struct nvml_gpm_get *get)
{
	(void)get;
	return 0;
}

static const struct nvml_api api = {
	.init = fake_init, .shutdown = fake_shutdown, .driver_version = fake_version,
	.count = fake_count, .device = fake_device, .uuid = fake_uuid, .name = fake_uuid,
	.index = fake_index, .memory = fake_memory, .mig_mode = fake_mode, .mig_max = fake_max,
	.mig_device = fake_mig, .gpu_instance = fake_id, .compute_instance = fake_id,
	.event_set = fake_set, .event_types = fake_types, .event_register = fake_register,
	.event_wait = fake_wait, .event_free = fake_free, .gpm_supported = fake_answering_support,
	.gpm_alloc = fake_alloc, .gpm_free = fake_release, .gpm_sample = fake_sample,
	.gpm_mig_sample = fake_mig_sample, .gpm_metrics = fake_metrics,
};

/* All that was reported: "GPU-a 0; lost GPU-b 1; MIG-a1 0:0; ". */
static struct strbuf got = STRBUF_INIT;

static int on_event(void *ctx, const struct event *ev)
{
	(void)ctx;
	if (ev->kind == EVENT_FAULT)
		strbuf_addstr(&got, ev->fault.what == FAULT_LOST ? "lost " : ev->fault.what == FAULT_BACK ? "back " : "? ");
	strbuf_addf(&got, "%s %s; ", ev->fault.uuid, device_text(ev->fault.number).s);
	return 0;
}

static void is_reported(const char *wanted)
{
	assert_string_equal(got.s ? got.s : "", wanted);
	strbuf_reset(&got);
}

static uint64_t clock_of_test(void)
{
	return fake.now_ns;
}

static struct nvml_reader r;

static void open_reader(void)
{
	r = (struct nvml_reader){ .api = &api, .sink = { on_event, NULL } };
	assert_int_equal(nvml_reader_open(&r, clock_of_test), 0);
}

/* As the thread does it: was it begun anew? */
static bool turn(void)
{
	fake.now_ns += NS_PER_SEC;
	nvml_reader_sample(&r, fake.now_ns);
	if (!nvml_reader_must_reopen(&r, fake.now_ns))
		return false;
	nvml_reader_reopen(&r, clock_of_test);
	return true;
}

static void close_reader(void)
{
	nvml_reader_close(&r);
	assert_int_equal(held.samples, 0);
	assert_int_equal(held.sets, 0);
}

static void begin_anew(void)
{
	memset(&fake, 0, sizeof(fake));
	memset(&held, 0, sizeof(held));
	fake.now_ns = NS_PER_SEC;
	open_reader();
}

BEFORE_EACH
{
	begin_anew();
}

AFTER_EACH
{
	close_reader();
	strbuf_free(&got);
}

TEST(a_returning_device_has_its_number_and_new_time)
{
	assert_false(turn());
	is_reported("GPU-a 0; GPU-b 1; GPU-c 2; ");
	fake.away = 1 << 1;
	assert_true(turn());
	is_reported("lost GPU-b 1; GPU-a 0; GPU-c 2; ");
	assert_true(turn());			/* c is NVML's 1 now */
	is_reported("GPU-a 0; GPU-c 2; ");
	fake.away = 0;
	assert_false(turn());
	is_reported("GPU-a 0; GPU-c 2; ");
	assert_true(turn());
	is_reported("GPU-a 0; GPU-c 2; back GPU-b 1; ");
	assert_int_equal(r.units[1].sampled_ns, fake.now_ns);	/* nothing is reported of when it was lost */
	assert_false(turn());
	is_reported("GPU-a 0; GPU-b 1; GPU-c 2; ");
}

TEST(handles_that_are_refused_are_found_anew)
{
	static const unsigned int codes[] = { NVML_GPU_IS_LOST, NVML_RESET_REQUIRED, NVML_UNINITIALIZED,
					      NVML_NOT_FOUND, NVML_INVALID_ARGUMENT };

	for (size_t i = 0; i < sizeof(codes) / sizeof(codes[0]); i++) {
		close_reader();
		begin_anew();
		turn();
		strbuf_reset(&got);
		fake.refused[2] = codes[i];
		assert_true(turn());
		is_reported("GPU-a 0; GPU-b 1; lost GPU-c 2; back GPU-c 2; ");
		assert_false(turn());
		is_reported("GPU-a 0; GPU-b 1; GPU-c 2; ");
	}
}

TEST(it_is_looked_for_seldom_and_ever_more_so)
{
	unsigned int begun = 0;

	fake.away = 1;
	for (int s = 0; s < 600; s++)
		begun += turn();
	assert_in_range(begun, 14, 16);		/* after 0, 1, 3, 7, 15, 31 s, and then each minute */
	fake.away = 0;
	for (int s = 0; s < 130; s++)
		turn();
	fake.away = 1;
	assert_true(turn());			/* as the first time */
	assert_true(turn());
	strbuf_reset(&got);
}

TEST(one_that_begins_slowly_does_so_still_less)
{
	unsigned int begun = 0;

	fake.away = 1;
	fake.init_ns = 6 * NS_PER_SEC;
	while (fake.now_ns < 700 * NS_PER_SEC)
		begun += turn();
	assert_in_range(begun, 5, 6);
	strbuf_reset(&got);
}

TEST(a_driver_that_is_away_loses_all_and_all_come_back)
{
	fake.refused[0] = NVML_UNINITIALIZED;
	fake.init = NVML_DRIVER_NOT_LOADED;
	assert_true(turn());
	is_reported("lost GPU-a 0; GPU-b 1; GPU-c 2; lost GPU-b 1; lost GPU-c 2; ");
	assert_false(nvml_reader_wait(&r, 1, clock_of_test));
	fake.init = 0;
	assert_true(turn());
	is_reported("back GPU-a 0; back GPU-b 1; back GPU-c 2; ");
	assert_true(nvml_reader_wait(&r, 1, clock_of_test));
	is_reported("");
}

TEST(a_gpu_that_is_divided_meanwhile_shows_its_instances_and_becomes_whole_again)
{
	fake.divided[1] = true;
	assert_true(turn());
	is_reported("GPU-a 0; GPU-b 1; GPU-c 2; ");
	assert_false(turn());
	is_reported("GPU-a 0; GPU-b 1; GPU-c 2; MIG-b1 1:0; MIG-b2 1:1; ");
	fake.divided[1] = false;
	assert_true(turn());
	strbuf_reset(&got);
	assert_false(turn());
	is_reported("GPU-a 0; GPU-b 1; GPU-c 2; ");
}

TEST(a_removed_instance_affects_no_other)
{
	close_reader();
	fake.divided[0] = true;
	open_reader();
	turn();
	is_reported("GPU-a 0; MIG-a1 0:0; MIG-a2 0:1; GPU-b 1; GPU-c 2; ");
	fake.instance = NVML_NOT_FOUND;
	assert_false(turn());
	is_reported("GPU-a 0; GPU-b 1; GPU-c 2; ");
	fake.instance = 0;
	assert_false(turn());
	strbuf_reset(&got);
	fake.away = 1;				/* but its GPU takes all */
	assert_true(turn());
	is_reported("lost GPU-a 0; GPU-b 1; GPU-c 2; ");
	fake.away = 0;
	assert_true(turn());
	strbuf_reset(&got);
	turn();
	is_reported("GPU-a 0; MIG-a1 0:0; MIG-a2 0:1; GPU-b 1; GPU-c 2; ");
}
