// SPDX-License-Identifier: BSD-3-Clause
/*
 * What the simulated NVML says of the simulation's processes: who is on a device, with how much
 * memory, for how long; and of a device that vanished under one.
 */
#include <signal.h>
#include <string.h>

#include "lib/test.h"
#include "nvml_room.h"
#include "../sim/gpusim.h"

enum { BYTES = 4096, KERNEL_NS = 100000000 };

static const char kernel[1];

/* A process of the simulation with memory on a device, which does as ordered by single letters. */
struct member {
	pid_t pid;
	int orders, answers;
};

static void report(const struct member *member, char letter)
{
	assert_int_equal(write(member->orders, &letter, 1), 1);
	assert_int_equal(read(member->answers, &letter, 1), 1);
}

static void launch(void)
{
	struct gpusim_work work = { .kind = GPUSIM_KERNEL, .entity = kernel,
				    .shape = { { 1, 1, 1 }, { 1, 1, 1 } } };

	gpusim_kernel_duration(kernel, KERNEL_NS);
	if (gpusim_submit(NULL, &work) == GPUSIM_OK)
		gpusim_wait(NULL, &work);
}

static void live(int orders, int answers, const char *visible)
{
	struct gpusim_context *context = NULL;
	uint64_t address = 0;
	char letter;

	setenv("CUDA_VISIBLE_DEVICES", visible, 1);
	setenv("GPUSIM_QUIET", "1", 1);
	while (read(orders, &letter, 1) == 1) {
		if (letter == 'c' && gpusim_context_create(0, &context))
			_exit(1);
		if (letter == 'm' && gpusim_memory_alloc(BYTES, &address))
			_exit(2);
		if (letter == 'f' && gpusim_memory_free(address))
			_exit(3);
		if (letter == 'k')
			launch();
		if (letter == 'd' && gpusim_context_destroy(context))
			_exit(4);
		if (letter == 'e')
			exit(0);
		if (write(answers, &letter, 1) != 1)
			_exit(5);
	}
	_exit(0);
}

static struct member start(const char *visible)
{
	struct member member;
	int orders[2], answers[2];

	assert_int_equal(pipe(orders) | pipe(answers), 0);
	member.pid = fork();
	if (!member.pid) {
		close(orders[1]);
		close(answers[0]);
		live(orders[0], answers[1], visible);
	}
	close(orders[0]);
	close(answers[1]);
	member.orders = orders[1];
	member.answers = answers[0];
	return member;
}

static void end(const struct member *member, int signal)
{
	if (signal)
		kill(member->pid, signal);
	close(member->orders);
	close(member->answers);
	waitpid(member->pid, NULL, 0);
}

/* How many are on the device; the first of pid: its bytes. */
static unsigned int processes_on(unsigned int index, pid_t pid, unsigned long long *bytes)
{
	struct nvml_process all[8];
	unsigned int count = 8, i;

	OK(NVML(nvmlDeviceGetComputeRunningProcesses_v3)(device_of(index), &count, all));
	for (i = 0; i < count; i++) {
		assert_int_equal(all[i].gpu_instance, NVML_NO_INSTANCE);
		if (all[i].pid == (unsigned int)pid)
			*bytes = all[i].used_bytes;
	}
	return count;
}

TEST(test_processes_and_memory)
{
	struct member one = start("2,0"), other = start("2");
	unsigned long long bytes = 99;
	struct nvml_memory memory;
	struct nvml_memory_v2 newer = { .version = NVML_MEMORY_V2 };
	unsigned int count = 1;
	struct nvml_process first;

	assert_int_equal(processes_on(2, one.pid, &bytes), 0);
	report(&one, 'c');
	report(&other, 'c');
	assert_int_equal(processes_on(2, one.pid, &bytes), 2);
	assert_int_equal(bytes, 0);
	assert_int_equal(processes_on(0, one.pid, &bytes), 0);
	report(&one, 'm');
	processes_on(2, one.pid, &bytes);
	assert_int_equal(bytes, BYTES);
	OK(NVML(nvmlDeviceGetMemoryInfo)(device_of(2), &memory));
	assert_int_equal(memory.used, BYTES);
	assert_int_equal(memory.free + memory.used, memory.total);
	OK(NVML(nvmlDeviceGetMemoryInfo_v2)(device_of(2), &newer));
	assert_int_equal(newer.used + newer.free + newer.reserved, newer.total);
	newer.version = 2;
	assert_int_equal(NVML(nvmlDeviceGetMemoryInfo_v2)(device_of(2), &newer), NVML_VERSION_MISMATCH);
	assert_int_equal(NVML(nvmlDeviceGetComputeRunningProcesses_v3)(device_of(2), &count, &first),
			 NVML_INSUFFICIENT_SIZE);
	assert_int_equal(count, 2);
	report(&one, 'f');
	processes_on(2, one.pid, &bytes);
	assert_int_equal(bytes, 0);
	end(&other, SIGKILL);
	assert_int_equal(processes_on(2, one.pid, &bytes), 1);
	report(&one, 'd');
	assert_int_equal(processes_on(2, one.pid, &bytes), 0);
	end(&one, 0);
}

TEST(test_unwatched_process)
{
	unsigned long long bytes = 0;
	struct nvml_memory memory;

	order("process@1=4711/5000, context_bytes=7");
	assert_int_equal(processes_on(0, 4711, &bytes), 0);
	assert_int_equal(processes_on(1, 4711, &bytes), 1);
	assert_int_equal(bytes, 5000);
	OK(NVML(nvmlDeviceGetMemoryInfo)(device_of(1), &memory));
	assert_int_equal(memory.used, 5000);
	order("");
}

static double metric(unsigned int id, struct nvml_gpm_sample *first, struct nvml_gpm_sample *second,
		     int *result)
{
	union {
		struct nvml_gpm_get get;
		char room[sizeof(struct nvml_gpm_get) + sizeof(struct nvml_gpm_metric)];
	} ask;

	memset(&ask, 0, sizeof(ask));
	ask.get.version = NVML_GPM_VERSION;
	ask.get.count = 1;
	ask.get.first = first;
	ask.get.second = second;
	ask.get.metrics[0].id = id;
	OK(NVML(nvmlGpmMetricsGet)(&ask.get));
	*result = ask.get.metrics[0].result;
	return ask.get.metrics[0].value;
}

/* 100 ms of kernels in a time that a busy machine may make longer: at most that share, and some. */
TEST(test_busy_time)
{
	struct member member = start("1");
	struct nvml_gpm_support support = { .version = NVML_GPM_VERSION };
	struct nvml_gpm_sample *first, *second;
	struct nvml_utilization rates;
	struct nvml_device *device = device_of(1);
	double percent;
	int result;

	OK(NVML(nvmlGpmQueryDeviceSupport)(device, &support));
	assert_int_equal(support.supported, 1);
	OK(NVML(nvmlGpmSampleAlloc)(&first));
	OK(NVML(nvmlGpmSampleAlloc)(&second));
	report(&member, 'c');
	OK(NVML(nvmlGpmSampleGet)(device, first));
	OK(NVML(nvmlDeviceGetUtilizationRates)(device, &rates));
	report(&member, 'k');
	OK(NVML(nvmlGpmSampleGet)(device, second));
	OK(NVML(nvmlDeviceGetUtilizationRates)(device, &rates));
	percent = metric(NVML_GPM_SM, first, second, &result);
	OK(result);
	assert_true(percent > 0 && percent <= 100);
	assert_true(rates.gpu > 0 && rates.gpu <= 100);
	metric(5, first, second, &result);
	assert_int_equal(result, NVML_NOT_SUPPORTED);
	order("gpm.5@1=12.25,gpm.2=none,utilization=42,memory_utilization=7");
	assert_true(metric(5, first, second, &result) == 12.25);
	OK(result);
	metric(NVML_GPM_SM, first, second, &result);
	assert_int_equal(result, NVML_NOT_SUPPORTED);
	OK(NVML(nvmlDeviceGetUtilizationRates)(device, &rates));
	assert_int_equal(rates.gpu, 42);
	assert_int_equal(rates.memory, 7);
	order("gpm=0");
	OK(NVML(nvmlGpmQueryDeviceSupport)(device, &support));
	assert_int_equal(support.supported, 0);
	assert_int_equal(NVML(nvmlGpmSampleGet)(device, first), NVML_NOT_SUPPORTED);
	order("");
	OK(NVML(nvmlGpmSampleFree)(first));
	OK(NVML(nvmlGpmSampleFree)(second));
	end(&member, 0);
}

/* The only process of an instance, and what is used of that. */
static void only_user(struct nvml_device *mig, struct nvml_process *process, uint64_t *used)
{
	struct nvml_memory memory;
	unsigned int count = 1;

	OK(NVML(nvmlDeviceGetComputeRunningProcesses_v3)(mig, &count, process));
	assert_int_equal(count, 1);
	OK(NVML(nvmlDeviceGetMemoryInfo)(mig, &memory));
	*used = memory.used;
}

TEST(test_instances)
{
	struct member one, other;
	struct nvml_device *device = device_of(1), *mig[2];
	struct nvml_gpm_sample *first[2], *second[2];
	struct nvml_process process;
	char uuid[80];
	uint64_t used;
	int result;

	order("mig@1=2,gpm.5@1/1=12.5");
	for (unsigned int i = 0; i < 2; i++) {
		OK(NVML(nvmlDeviceGetMigDeviceHandleByIndex)(device, i, &mig[i]));
		OK(NVML(nvmlGpmSampleAlloc)(&first[i]));
		OK(NVML(nvmlGpmSampleAlloc)(&second[i]));
		OK(NVML(nvmlGpmMigSampleGet)(device, i + 1, first[i]));
	}
	OK(NVML(nvmlDeviceGetUUID)(mig[0], uuid, sizeof(uuid)));
	one = start(uuid);
	OK(NVML(nvmlDeviceGetUUID)(mig[1], uuid, sizeof(uuid)));
	other = start(uuid);
	report(&one, 'c');
	report(&other, 'c');
	report(&other, 'm');
	report(&one, 'k');
	only_user(mig[0], &process, &used);
	assert_true(process.pid == (unsigned int)one.pid && process.gpu_instance == 1 && !used);
	only_user(mig[1], &process, &used);
	assert_true(process.pid == (unsigned int)other.pid && process.gpu_instance == 2);
	assert_int_equal(used, BYTES);
	for (unsigned int i = 0; i < 2; i++)
		OK(NVML(nvmlGpmMigSampleGet)(device, i + 1, second[i]));
	assert_true(metric(NVML_GPM_SM, first[0], second[0], &result) > 0);
	assert_true(metric(NVML_GPM_SM, first[1], second[1], &result) <= 0);
	metric(5, first[0], second[0], &result);
	assert_int_equal(result, NVML_NOT_SUPPORTED);
	assert_true(metric(5, first[1], second[1], &result) == 12.5);
	for (unsigned int i = 0; i < 2; i++) {
		OK(NVML(nvmlGpmSampleFree)(first[i]));
		OK(NVML(nvmlGpmSampleFree)(second[i]));
	}
	end(&other, 0);		/* it has the other's pipes, too */
	end(&one, 0);
	order("");
}

TEST(test_vanished_device)
{
	struct nvml_device *device = device_of(3);
	struct nvml_event_set *set;
	struct nvml_event_data data;
	struct member member;
	char text[80];

	OK(NVML(nvmlEventSetCreate)(&set));
	OK(NVML(nvmlDeviceRegisterEvents)(device, NVML_EVENT_XID, set));
	setenv("GPUSIM_VANISH", "2", 1);
	member = start("3");
	unsetenv("GPUSIM_VANISH");
	report(&member, 'c');
	report(&member, 'k');
	assert_int_equal(NVML(nvmlEventSetWait_v2)(set, &data, 0), NVML_TIMEOUT);
	report(&member, 'k');
	assert_int_equal(NVML(nvmlDeviceGetUUID)(device, text, sizeof(text)), NVML_GPU_IS_LOST);
	OK(NVML(nvmlEventSetWait_v2)(set, &data, 0));
	assert_ptr_equal(data.device, device);
	assert_int_equal(data.data, 79);
	assert_int_equal(NVML(nvmlEventSetWait_v2)(set, &data, 0), NVML_TIMEOUT);
	end(&member, 0);
	assert_int_equal(NVML(nvmlDeviceGetUUID)(device, text, sizeof(text)), NVML_GPU_IS_LOST);
	OK(NVML(nvmlDeviceGetUUID)(device_of(2), text, sizeof(text)));
	order("lost@2=1");
	assert_int_equal(NVML(nvmlDeviceGetHandleByIndex_v2)(2, &device), NVML_GPU_IS_LOST);
	order("");
	OK(NVML(nvmlEventSetFree)(set));
}

TEST(test_without_a_board)
{
	struct nvml_memory memory;
	unsigned long long bytes;

	unsetenv("GPUSIM_BOARD");
	assert_int_equal(processes_on(0, 0, &bytes), 0);
	OK(NVML(nvmlDeviceGetMemoryInfo)(device_of(0), &memory));
	assert_int_equal(memory.free, memory.total);
	setenv("GPUSIM_BOARD", board, 1);
}

TEST_GROUP(room_begin, room_end);
