// SPDX-License-Identifier: BSD-3-Clause
/*
 * The simulated NVML by itself: identities, states, events, MIG, and that each order is obeyed.
 */
#include <signal.h>
#include <string.h>

#include "nvml_room.h"
#include "lib/test.h"

static unsigned int power(unsigned int index)
{
	struct nvml_device *device;
	unsigned int mw;
	int result = NVML(nvmlDeviceGetHandleByIndex_v2)(index, &device);

	return result ? (unsigned int)result : (unsigned int)NVML(nvmlDeviceGetPowerUsage)(device, &mw);
}

static void begin_anew(void)
{
	OK(NVML(nvmlShutdown)());
	OK(NVML(nvmlInit_v2)());
}

/* Before the others, which begin anew, too: it was over 1 ms after the first beginning. */
TEST(test_a_reset_ends_for_a_process_that_reinitialises)
{
	order("reset@1=6:0:1");
	usleep(5000);
	assert_int_equal(power(1), NVML_NOT_FOUND);
	OK(power(0));
	begin_anew();
	OK(power(1));
	order("reset@1=15");
	begin_anew();
	assert_int_equal(power(1), NVML_GPU_IS_LOST);
	order("");
}

TEST(test_identity)
{
	struct nvml_device *device, *found;
	unsigned int count, index;
	char text[80], name[80];

	OK(NVML(nvmlDeviceGetCount_v2)(&count));
	assert_int_equal(count, 4);
	device = device_of(3);
	OK(NVML(nvmlDeviceGetUUID)(device, text, sizeof(text)));
	assert_string_equal(text, "GPU-67707573-696d-0000-0000-000000000003");
	OK(NVML(nvmlDeviceGetHandleByUUID)(text, &found));
	assert_ptr_equal(found, device);
	OK(NVML(nvmlDeviceGetIndex)(device, &index));
	assert_int_equal(index, 3);
	OK(NVML(nvmlDeviceGetName)(device, name, sizeof(name)));
	assert_string_equal(name, "gpusim device 3");
	OK(NVML(nvmlSystemGetDriverVersion)(name, sizeof(name)));
	assert_string_equal(name, "gpusim");
	OK(NVML(nvmlSystemGetNVMLVersion)(name, sizeof(name)));
	assert_string_equal(name, "gpusim");
	assert_int_equal(NVML(nvmlDeviceGetUUID)(device, text, 8), NVML_INSUFFICIENT_SIZE);
	assert_int_equal(NVML(nvmlDeviceGetHandleByUUID)("GPU-0", &found), NVML_NOT_FOUND);
}

TEST(test_wrong_words)
{
	struct nvml_device *device = device_of(0);
	unsigned int number;

	assert_int_equal(NVML(nvmlDeviceGetHandleByIndex_v2)(4, &device), NVML_INVALID_ARGUMENT);
	assert_int_equal(NVML(nvmlDeviceGetIndex)(NULL, &number), NVML_INVALID_ARGUMENT);
	assert_int_equal(NVML(nvmlDeviceGetIndex)((struct nvml_device *)((char *)device + 1), &number),
			 NVML_INVALID_ARGUMENT);
	assert_int_equal(NVML(nvmlDeviceGetIndex)((struct nvml_device *)&number, &number),
			 NVML_INVALID_ARGUMENT);
	assert_int_equal(NVML(nvmlDeviceGetPowerUsage)(device, NULL), NVML_INVALID_ARGUMENT);
	assert_int_equal(NVML(nvmlDeviceGetClockInfo)(device, 4, &number), NVML_INVALID_ARGUMENT);
	assert_string_equal(NVML(nvmlErrorString)(NVML_GPU_IS_LOST), "GPU is lost");
	assert_string_equal(NVML(nvmlErrorString)(-1), "Unknown Error");
}

TEST(test_inits_are_counted)
{
	unsigned int count;

	OK(NVML(nvmlInitWithFlags)(0));
	OK(NVML(nvmlShutdown)());
	OK(NVML(nvmlDeviceGetCount_v2)(&count));
	OK(NVML(nvmlShutdown)());
	assert_int_equal(NVML(nvmlDeviceGetCount_v2)(&count), NVML_UNINITIALIZED);
	assert_int_equal(NVML(nvmlShutdown)(), NVML_UNINITIALIZED);
	order("error.nvmlInit_v2=9");
	assert_int_equal(NVML(nvmlInit_v2)(), 9);
	order("");
	OK(NVML(nvmlInit_v2)());
}

TEST(test_power_and_clocks)
{
	unsigned long long before, after, bits;
	struct nvml_device *device = device_of(0);
	unsigned int number;

	order("power_mw@0=250000,clock.1@0=1755,throttle@0=0x24");
	OK(NVML(nvmlDeviceGetPowerUsage)(device, &number));
	assert_int_equal(number, 250000);
	OK(NVML(nvmlDeviceGetClockInfo)(device, 1, &number));
	assert_int_equal(number, 1755);
	OK(NVML(nvmlDeviceGetCurrentClocksThrottleReasons)(device, &bits));
	assert_int_equal(bits, 0x24);
	OK(NVML(nvmlDeviceGetCurrentClocksEventReasons)(device, &bits));
	assert_int_equal(bits, 0x24);
	OK(NVML(nvmlDeviceGetCurrentClocksEventReasons)(device_of(1), &bits));
	assert_int_equal(bits, 0);
	OK(NVML(nvmlDeviceGetTotalEnergyConsumption)(device, &before));
	usleep(5000);
	OK(NVML(nvmlDeviceGetTotalEnergyConsumption)(device, &after));
	assert_true(after >= before + 1000);
	order("power_mw=none");
	assert_int_equal(NVML(nvmlDeviceGetPowerUsage)(device, &number), NVML_NOT_SUPPORTED);
	/* A fact that has had its time, and one whose time comes. */
	order("throttle=0x8:0:1,throttle=0x4:4000000000");
	OK(NVML(nvmlDeviceGetCurrentClocksEventReasons)(device, &bits));
	assert_int_equal(bits, 0);
	order("");
}

TEST(test_mig)
{
	struct nvml_device *device = device_of(1), *mig, *found;
	struct nvml_gpm_sample *sample;
	struct nvml_process process;
	struct nvml_memory memory;
	struct nvml_utilization rates;
	unsigned int now, pending, number;
	char text[80];

	OK(NVML(nvmlDeviceGetMigMode)(device, &now, &pending));
	assert_int_equal(now | pending, 0);
	OK(NVML(nvmlDeviceGetMaxMigDeviceCount)(device, &number));
	assert_int_equal(number, 0);
	assert_int_equal(NVML(nvmlDeviceGetMigDeviceHandleByIndex)(device, 0, &mig),
			 NVML_INVALID_ARGUMENT);
	order("mig@1=2,process@1=17/4096/2");
	OK(NVML(nvmlDeviceGetMigMode)(device, &now, &pending));
	assert_int_equal(now, 1);
	OK(NVML(nvmlDeviceGetMaxMigDeviceCount)(device, &number));
	assert_int_equal(number, 7);
	assert_int_equal(NVML(nvmlDeviceGetMigDeviceHandleByIndex)(device, 2, &mig), NVML_NOT_FOUND);
	OK(NVML(nvmlDeviceGetMigDeviceHandleByIndex)(device, 1, &mig));
	OK(NVML(nvmlDeviceIsMigDeviceHandle)(mig, &number));
	assert_int_equal(number, 1);
	OK(NVML(nvmlDeviceGetUUID)(mig, text, sizeof(text)));
	assert_memory_equal(text, "MIG-", 4);
	OK(NVML(nvmlDeviceGetHandleByUUID)(text, &found));
	assert_ptr_equal(found, mig);
	OK(NVML(nvmlDeviceGetDeviceHandleFromMigDeviceHandle)(mig, &found));
	assert_ptr_equal(found, device);
	OK(NVML(nvmlDeviceGetGpuInstanceId)(mig, &number));
	assert_int_equal(number, 2);
	OK(NVML(nvmlDeviceGetComputeInstanceId)(mig, &number));
	assert_int_equal(number, 0);
	number = 1;
	OK(NVML(nvmlDeviceGetComputeRunningProcesses_v3)(mig, &number, &process));
	assert_int_equal(number, 1);
	assert_int_equal(process.gpu_instance, 2);
	OK(NVML(nvmlDeviceGetMemoryInfo)(mig, &memory));
	assert_int_equal(memory.used, 4096);
	assert_int_equal(NVML(nvmlDeviceGetUtilizationRates)(device, &rates), NVML_NOT_SUPPORTED);
	OK(NVML(nvmlGpmSampleAlloc)(&sample));
	assert_int_equal(NVML(nvmlGpmSampleGet)(device, sample), NVML_NOT_SUPPORTED);
	OK(NVML(nvmlGpmMigSampleGet)(device, 2, sample));
	assert_int_equal(NVML(nvmlGpmMigSampleGet)(device, 3, sample), NVML_INVALID_ARGUMENT);
	OK(NVML(nvmlGpmSampleFree)(sample));
	assert_int_equal(NVML(nvmlDeviceGetPowerUsage)(mig, &number), NVML_INVALID_ARGUMENT);
	OK(NVML(nvmlDeviceGetPowerUsage)(device, &number));
	order("");
	assert_int_equal(NVML(nvmlDeviceGetIndex)(mig, &number), NVML_INVALID_ARGUMENT);
}

static void append(const char *facts)
{
	char path[PATH_MAX];
	FILE *file;

	snprintf(path, sizeof(path), "%s/facts", board);
	file = fopen(path, "a");
	assert_non_null(file);
	fprintf(file, "%s\n", facts);
	fclose(file);
}

TEST(test_events)
{
	struct nvml_device *device = device_of(1);
	struct nvml_event_set *set;
	struct nvml_event_data data;
	unsigned long long types;

	order("xid@1=31,ecc_double@1=0:4000000000");
	OK(NVML(nvmlDeviceGetSupportedEventTypes)(device, &types));
	assert_int_equal(types, NVML_EVENTS);
	OK(NVML(nvmlEventSetCreate)(&set));
	assert_int_equal(NVML(nvmlDeviceRegisterEvents)(device, 1ULL << 40, set), NVML_NOT_SUPPORTED);
	OK(NVML(nvmlDeviceRegisterEvents)(device, NVML_EVENT_XID | NVML_EVENT_ECC_DOUBLE, set));
	assert_int_equal(NVML(nvmlEventSetWait_v2)(set, &data, 0), NVML_TIMEOUT);
	append("xid@2=13 clock_event@1=0 xid@1=74 xid@1/2=43");
	OK(NVML(nvmlEventSetWait_v2)(set, &data, 1000));
	assert_ptr_equal(data.device, device);
	assert_int_equal(data.type, NVML_EVENT_XID);
	assert_int_equal(data.data, 74);
	assert_int_equal(data.gpu_instance, NVML_NO_INSTANCE);
	OK(NVML(nvmlEventSetWait_v2)(set, &data, 1000));
	assert_ptr_equal(data.device, device);
	assert_int_equal(data.data, 43);
	assert_int_equal(data.gpu_instance, 3);
	assert_int_equal(NVML(nvmlEventSetWait_v2)(set, &data, 10), NVML_TIMEOUT);
	OK(NVML(nvmlEventSetFree)(set));
	order("");
}

TEST(test_ordered_errors_and_hangs)
{
	struct nvml_device *device = device_of(0);
	unsigned int number;
	pid_t child;

	order("error.nvmlDeviceGetPowerUsage@1=999,error.nvmlSystemGetDriverVersion=4,"
	      "hang.nvmlDeviceGetIndex=1");
	OK(NVML(nvmlDeviceGetPowerUsage)(device, &number));
	assert_int_equal(NVML(nvmlDeviceGetPowerUsage)(device_of(1), &number), 999);
	assert_int_equal(NVML(nvmlSystemGetDriverVersion)((char *)&number, sizeof(number)), 4);
	child = fork();
	if (!child) {
		alarm(1);
		NVML(nvmlDeviceGetIndex)(device, &number);
		_exit(0);
	}
	waitpid(child, (int *)&number, 0);
	assert_true(WIFSIGNALED((int)number));
	assert_int_equal(WTERMSIG((int)number), SIGALRM);
	order("");
}

TEST_GROUP(room_begin, room_end);
