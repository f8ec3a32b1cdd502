// SPDX-License-Identifier: BSD-3-Clause
/* Who a process is: what control groups, environments and the driver's files say, and must not. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "host/gpus.c"
#include "host/cgroup.h"
#include "host/environment.h"
#include "host/identity.h"
#include "host/users.h"
#include "lib/test.h"

#define ID "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
#define UID "12345678-90ab-cdef-1234-567890abcdef"
#define UID_ "12345678_90ab_cdef_1234_567890abcdef"

/* ---- control groups ------------------------------------------------------------------------- */

static const struct {
	const char *text, *runtime, *container, *pod, *scheduler, *job;
} groups[] = {
	{ "0::/user.slice/user-1000.slice/session-3.scope\n", "", "", "", "", "" },
	{ "0::/system.slice/docker-" ID ".scope\n", "docker", ID, "", "", "" },
	{ "12:cpu,cpuacct:/docker/" ID "\n0::/\n", "docker", ID, "", "", "" },
	{ "0::/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod" UID_
	  ".slice/cri-containerd-" ID ".scope\n", "containerd", ID, UID, "", "" },
	{ "0::/kubepods.slice/kubepods-pod" UID_ ".slice/crio-" ID ".scope\n", "cri-o", ID, UID, "", "" },
	{ "4:memory:/kubepods/besteffort/pod" UID "/" ID "\n", "", ID, UID, "", "" },
	{ "0::/system.slice/containerd.service/kubepods-burstable-pod" UID_
	  ".slice:cri-containerd:" ID "\n", "containerd", ID, UID, "", "" },
	{ "0::/kubelet/kubepods/burstable/pod" UID "/" ID "\n", "", ID, UID, "", "" },
	{ "0::/../../kubepods-pod" UID_ ".slice/cri-containerd-" ID ".scope\n", "containerd", ID, UID,
	  "", "" },
	{ "0::/machine.slice/libpod-" ID ".scope/container\n", "podman", ID, "", "", "" },
	{ "0::/machine.slice/libpod-conmon-" ID ".scope\n", "", "", "", "", "" },
	{ "1:name=systemd:/libpod_parent/libpod-" ID "\n", "podman", ID, "", "", "" },
	{ "0::/lxc.payload.web-1/init.scope\n", "lxc", "web-1", "", "", "" },
	{ "9:freezer:/lxc/web-1\n", "lxc", "web-1", "", "", "" },
	{ "0::/machine.slice/systemd-nspawn@web.service/payload\n", "nspawn", "web", "", "", "" },
	{ "0::/machine.slice/machine-web.scope/payload\n", "nspawn", "web", "", "", "" },
	{ "0::/machine.slice/machine-qemu\\x2d1\\x2dvm.scope\n", "", "", "", "", "" },
	{ "0::/system.slice/slurmstepd.scope/job_123/step_0/user/task_0\n", "", "", "", "slurm", "123" },
	{ "0::/system.slice/node7_slurmstepd.scope/job_123/step_batch\n", "", "", "", "slurm", "123" },
	{ "4:memory:/slurm/uid_1000/job_77/step_0\n", "", "", "", "slurm", "77" },
	{ "0::/user.slice/job_5\n", "", "", "", "", "" },
	{ "5:cpuset:/pbs_jobs.service/jobid/123.server\n", "", "", "", "pbs", "123.server" },
	{ "0::/pbspro.slice/pbspro-123.server.slice\n", "", "", "", "pbs", "123.server" },
	{ "4:memory:/lsf/cluster1/job.101.6592.1473232467\n", "", "", "", "lsf", "101" },
	{ "0::/kubepods/pod../" ID "\n", "", ID, "", "", "" },
	{ "no group at all", "", "", "", "", "" },
	{ "", "", "", "", "", "" },
};

TEST_TITLED("cgroup: containers, pods and jobs are known in every form",
	    every_form_of_control_group_is_known)
{
	struct cgroup_names n;

	for (size_t i = 0; i < sizeof(groups) / sizeof(groups[0]); i++) {
		cgroup_read_names(groups[i].text, &n);
		assert_string_equal(n.runtime, groups[i].runtime);
		assert_string_equal(n.container, groups[i].container);
		assert_string_equal(n.pod, groups[i].pod);
		assert_string_equal(n.scheduler, groups[i].scheduler);
		assert_string_equal(n.job, groups[i].job);
	}
}

TEST_TITLED("cgroup: a pattern is a path or a part of one, and all below",
	    a_group_is_chosen_by_its_path_or_a_part_of_it)
{
	static const char v2[] = "0::/system.slice/foo-bar\\x2dbaz.service/worker/w1\n";
	static const char v1[] = "3:memory:/jobs/7\n2:cpu:/\n0::/\n";

	assert_true(cgroup_matches(v2, "/system.slice"));
	assert_true(cgroup_matches(v2, "/system.slice/"));
	assert_true(cgroup_matches(v2, "/sys/fs/cgroup/system.slice/foo-bar\\x2dbaz.service"));
	assert_true(cgroup_matches(v2, "/system.slice/*/worker"));
	assert_true(cgroup_matches(v2, "foo-*.service"));
	assert_true(cgroup_matches(v2, "worker/w1"));
	assert_true(cgroup_matches(v2, "w[0-9]"));
	assert_true(cgroup_matches("0::/jobs/\xc3\xa4.slice\n", "\xc3\xa4.*"));
	assert_true(cgroup_matches(v2, "/"));
	assert_true(cgroup_matches(v2, "/sys/fs/cgroup"));
	assert_false(cgroup_matches(v2, "/system"));
	assert_false(cgroup_matches(v2, "/worker"));
	assert_false(cgroup_matches(v2, "service"));
	assert_false(cgroup_matches(v2, "/*/worker"));
	assert_true(cgroup_matches(v1, "/jobs"));
	assert_true(cgroup_matches(v1, "/sys/fs/cgroup/memory/jobs/7"));
	assert_false(cgroup_matches(v1, "/jobs/77"));
	assert_false(cgroup_matches("", "a"));
}

TEST_TITLED("cgroup: the path is that of v2, or the longest of v1",
	    the_path_is_that_of_v2_or_the_longest)
{
	char path[32];

	cgroup_read_path("3:memory:/jobs/7\n2:cpu:/\n0::/\n", path, sizeof(path));
	assert_string_equal(path, "/jobs/7");
	cgroup_read_path("3:memory:/jobs/longer\n0::/a\n1:x:/longest/of/all\n", path, sizeof(path));
	assert_string_equal(path, "/a");
	cgroup_read_path("", path, sizeof(path));
	assert_string_equal(path, "");
}

/* ---- environments --------------------------------------------------------------------------- */

#define ENV(text) ((struct environment){ text, sizeof(text) - 1 })

TEST_TITLED("environment: ranks and jobs are those of the launcher, and digits",
	    ranks_and_jobs_are_those_of_the_launcher)
{
	struct environment torchrun = ENV("PATH=/bin\0XRANK=9\0SLURM_PROCID=4\0RANK=17\0LOCAL_RANK=1");
	struct environment srun = ENV("RANK=\0SLURM_PROCID=4\0SLURM_JOB_ID=99\0RANKS=8\0NOTHING");
	struct environment mpi = ENV("OMPI_COMM_WORLD_RANK=3\0PMI_RANK=2\0PBS_JOBID=5.server");
	struct environment hostile = ENV("RANK=1; rm -rf /\0LOCAL_RANK=-1\0PMI_RANK=99999999999");
	struct environment none = { .block = NULL };

	assert_string_equal(environment_get(&torchrun, ENVIRONMENT_RANK).value, "17");
	assert_string_equal(environment_get(&torchrun, ENVIRONMENT_RANK).name, "RANK");
	assert_string_equal(environment_get(&srun, ENVIRONMENT_RANK).name, "SLURM_PROCID");
	assert_string_equal(environment_get(&srun, ENVIRONMENT_JOB).value, "99");
	assert_string_equal(environment_get(&srun, ENVIRONMENT_JOB).name, "slurm");
	assert_string_equal(environment_get(&mpi, ENVIRONMENT_RANK).value, "3");
	assert_string_equal(environment_get(&mpi, ENVIRONMENT_JOB).name, "pbs");
	assert_null(environment_get(&hostile, ENVIRONMENT_RANK).value);
	assert_null(environment_get(&none, ENVIRONMENT_RANK).value);
	assert_null(environment_find(&torchrun, "RAN"));
	assert_null(environment_find(&srun, "NOTHING"));
	assert_string_equal(environment_find(&srun, "RANK"), "");
}

/* ---- devices -------------------------------------------------------------------------------- */

static void write_file(const char *path, const char *text)
{
	FILE *f = fopen(path, "w");

	assert_non_null(f);
	fputs(text, f);
	fclose(f);
}

static void plant(const char *folder, const char *address, const char *model, unsigned int minor)
{
	char path[256], text[256];

	snprintf(path, sizeof(path), "%s/%s", folder, address);
	assert_int_equal(mkdir(path, 0700), 0);
	snprintf(path, sizeof(path), "%s/%s/information", folder, address);
	snprintf(text, sizeof(text), "Model: \t\t %s\nIRQ:   \t\t 24\nGPU UUID: \t GPU-%08x-aaaa\n"
		 "Bus Location: \t %s\nDevice Minor: \t %u\nGPU Excluded:\t No\n", model, minor,
		 address, minor);
	write_file(path, text);
}

static void remove_folder(const char *folder)
{
	char command[128];

	snprintf(command, sizeof(command), "rm -r '%s'", folder);
	assert_int_equal(system(command), 0);
}

TEST_TITLED("gpus: numbered in the order of their addresses",
	    devices_are_numbered_in_the_order_of_their_addresses)
{
	char folder[] = "/tmp/gpus-XXXXXX";
	struct gpus g;

	assert_non_null(mkdtemp(folder));
	plant(folder, "0000:af:00.0", "B", 0);
	plant(folder, "0000:3b:00.0", "A", 1);
	read_gpus(&g, folder);
	remove_folder(folder);
	assert_true(g.present);
	assert_int_equal(g.n, 2);
	assert_int_equal(g.v[0].minor, 1);
	assert_int_equal(find_gpu(&g, "1"), 1);
	assert_int_equal(find_gpu(&g, "2"), -ENOENT);
	assert_int_equal(find_gpu(&g, "GPU-00000001"), 0);
	assert_int_equal(find_gpu(&g, "GPU-"), -ENOENT);
	assert_int_equal(find_gpu(&g, "all"), -ENOENT);
	read_gpus(&g, "/no/such/folder");
	assert_int_equal(g.n, 0);
	assert_int_equal(find_gpu(&g, "63"), 63);
	assert_int_equal(find_gpu(&g, "64"), -ENOENT);
}

TEST_TITLED("gpus: what CUDA_VISIBLE_DEVICES leaves is told only where it can be",
	    visible_devices_are_listed_only_where_they_can_be)
{
	struct gpus alike = { .n = 2, .v = { { .uuid = "GPU-aaaa" }, { .uuid = "GPU-bbbb" } } };
	struct gpus mixed = { .n = 2, .v = { { .uuid = "GPU-aaaa", .model = "A" }, { .uuid = "GPU-bbbb" } } };
	struct environment one = ENV("CUDA_VISIBLE_DEVICES=1");
	struct environment uuid = ENV("CUDA_VISIBLE_DEVICES=GPU-bb,GPU-aa");
	struct environment ordered = ENV("CUDA_VISIBLE_DEVICES=1\0CUDA_DEVICE_ORDER=PCI_BUS_ID");
	struct environment broken = ENV("CUDA_VISIBLE_DEVICES=0,-1,1");
	struct environment empty = ENV("CUDA_VISIBLE_DEVICES=");
	struct environment none = ENV("");
	struct gpu_set set;

	assert_true(gpus_visible_to(&alike, &one, false, &set));
	assert_int_equal(set.gpus, 2);
	assert_false(gpus_visible_to(&alike, &one, true, &set));
	assert_false(gpus_visible_to(&mixed, &one, false, &set));
	assert_true(gpus_visible_to(&mixed, &ordered, false, &set));
	assert_true(gpus_visible_to(&mixed, &uuid, true, &set));
	assert_int_equal(set.gpus, 3);
	assert_true(gpus_visible_to(&alike, &broken, false, &set));
	assert_int_equal(set.gpus, 1);
	assert_true(gpus_visible_to(&alike, &empty, false, &set));
	assert_int_equal(set.gpus, 0);
	assert_false(gpus_visible_to(&alike, &none, false, &set));
}

static void plant_instance(const char *folder, const char *instance, unsigned int minor)
{
	char path[256], text[256];

	snprintf(text, sizeof(text), "mkdir -p '%s/%s'", folder, instance);
	assert_int_equal(system(text), 0);
	snprintf(path, sizeof(path), "%s/%s/access", folder, instance);
	snprintf(text, sizeof(text), "DeviceFileMinor: %u\nDeviceFileMode: 292\nDeviceFileModify: 1\n", minor);
	write_file(path, text);
}

static void is_printed(const struct gpu_set *set, const struct gpus *g, const char *wanted)
{
	struct strbuf text = STRBUF_INIT;

	gpu_set_print(&text, set, g);
	assert_string_equal(text.s ? text.s : "", wanted);
	strbuf_free(&text);
}

/* Two GPUs, of which the second's minor is 0. */
static struct gpus divided(void)
{
	struct gpus g = { .n = 2, .v = { { .uuid = "GPU-aaaa", .minor = 1 }, { .uuid = "GPU-bbbb" } } };
	char folder[] = "/tmp/caps-XXXXXX";

	assert_non_null(mkdtemp(folder));
	plant_instance(folder, "gpu0/mig/gi9/ci1", 86);
	plant_instance(folder, "gpu0/mig/gi9/ci0", 85);
	plant_instance(folder, "gpu0/mig/gi2/ci0", 22);
	plant_instance(folder, "gpu7/mig/gi2/ci0", 99);	/* of no device */
	read_instances(&g, folder);
	remove_folder(folder);
	assert_int_equal(g.n_instances, 3);
	return g;
}

TEST_TITLED("gpus: MIG instances are numbered in their order and known by what is open",
	    instances_are_numbered_in_their_order_and_known_by_what_is_open)
{
	struct gpus g = divided();
	struct gpu_set set = { .gpus = 1 };

	assert_int_equal(find_instance(&g, "1:0"), 0);
	assert_int_equal(g.instance[0].gi, 2);
	assert_int_equal(find_instance(&g, "1:2"), 2);
	assert_int_equal(g.instance[2].cap, 86);
	assert_int_equal(find_instance(&g, "1:3"), -ENOENT);
	assert_int_equal(find_instance(&g, "0:0"), -ENOENT);
	assert_int_equal(find_instance(&g, "MIG-"), -ENOENT);
	gpu_set_add_cap(&set, &g, 85);
	gpu_set_add_cap(&set, &g, 4711);
	is_printed(&set, &g, "0,1:1");
	assert_true(gpu_set_has_instance(&set, 1));
	assert_int_equal(set.gpus, 3);		/* who is in an instance is on its GPU */
	gpu_set_add_cap(&set, &g, 86);
	is_printed(&set, &g, "0,1:1,1:2");
}

TEST_TITLED("gpus: a MIG instance is found by its UUID", an_instance_is_found_by_its_uuid)
{
	static const struct gpu_instance reported[] = {
		{ .gpu = 1, .place = 5, .gi = 9, .ci = 1, .uuid = "MIG-1111" },
		{ .gpu = 1, .place = 6, .gi = 2, .ci = 0, .uuid = "MIG-2222" },
	};
	struct environment new = ENV("CUDA_VISIBLE_DEVICES=MIG-2222");
	struct environment other = ENV("CUDA_VISIBLE_DEVICES=MIG-3333");
	struct gpus g = divided();
	struct gpu_set set;

	assert_false(gpus_visible_to(&g, &new, true, &set));
	gpus_set_instances(&g, NULL, 0);
	assert_int_equal(g.n_instances, 3);
	gpus_set_instances(&g, reported, 2);
	assert_int_equal(find_instance(&g, "1:5"), 0);
	assert_int_equal(g.instance[0].cap, 86);
	assert_int_equal(find_instance(&g, "1:0"), -ENOENT);
	assert_true(gpus_visible_to(&g, &new, true, &set));
	is_printed(&set, &g, "1:6");
	assert_false(gpus_visible_to(&g, &other, true, &set));
}

/* ---- all of it ------------------------------------------------------------------------------ */

TEST_TITLED("users: have a name or a number", users_have_a_name_or_a_number)
{
	char name[48];
	uid_t uid;

	assert_true(users_name(0, name, sizeof(name)));
	assert_string_equal(name, "root");
	assert_true(users_find("root", &uid));
	assert_int_equal(uid, 0);
	assert_true(users_find("4242", &uid));
	assert_int_equal(uid, 4242);
	assert_false(users_find("no such user", &uid));
	assert_false(users_find("-1", &uid));
	assert_false(users_find("4294967295", &uid));
	assert_false(users_find("", &uid));
}

static int count(void *n, const char *key, const char *value)
{
	assert_true(*key && *value);
	++*(int *)n;
	return 0;
}

TEST_TITLED("identity: this process has one", this_process_has_an_identity)
{
	struct identity_room room;
	struct identity id;
	struct proc p;
	int n = 0;

	assert_int_equal(identity_room_init(&room), 0);
	assert_int_equal(proc_open(&p, getpid()), 0);
	identity_read(&room, &p, &id);
	assert_true(*id.user);
	assert_int_equal(identity_each(&id, count, &n), 0);
	assert_true(n > 0);
	proc_close(&p);
	identity_room_free(&room);
}

/* As procfs names the device of a process whose root is a folder of ours. */
TEST_TITLED("gpus: a device is known where its process has another root",
	    a_device_is_known_where_its_process_has_another_root)
{
	struct gpus g = { .present = true };
	char root[] = "/tmp/gpus-XXXXXX", dev[32], node[64];
	struct gpu_set set;
	struct proc p;
	int fd;

	assert_non_null(mkdtemp(root));
	snprintf(dev, sizeof(dev), "%s/dev", root);
	snprintf(node, sizeof(node), "%s/nvidia3", dev);
	assert_int_equal(mkdir(dev, 0700), 0);
	fd = open(node, O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
	assert_true(fd >= 0);
	assert_int_equal(proc_open(&p, getpid()), 0);
	assert_int_equal(gpus_open_by(&g, &p, &set), 0);
	assert_true(set.gpus & 1u << 3);
	proc_close(&p);
	close(fd);
	assert_int_equal(unlink(node) | rmdir(dev) | rmdir(root), 0);
}

/* id -G asks as getgrouplist does, for any source of users that this host has. */
static void groups_are_those_that_id_prints(const char *user)
{
	gid_t got[64], primary = 0;
	char command[128], *end, line[1024] = "";
	FILE *f;
	size_t n;

	snprintf(command, sizeof(command), "id -g %s && id -G %s", user, user);
	f = popen(command, "r");
	assert_non_null(f);
	assert_non_null(fgets(line, sizeof(line), f));
	primary = (gid_t)strtoul(line, NULL, 10);
	assert_non_null(fgets(line, sizeof(line), f));
	pclose(f);
	n = users_groups(user, primary, got, 64);
	end = line;
	for (size_t i = 0; i < n; i++)
		assert_int_equal(got[i], strtoul(end, &end, 10));
	assert_string_equal(end, "\n");
	assert_int_equal(users_groups(user, primary, got, 1), 1);
	assert_int_equal(got[0], primary);
}

TEST_TITLED("users: have the groups that name services know", users_have_the_groups_of_this_host)
{
	gid_t got[4];

	groups_are_those_that_id_prints("root");
	groups_are_those_that_id_prints("daemon");
	groups_are_those_that_id_prints("man");
	assert_int_equal(users_groups("no such user", 9, got, 4), 1);
	assert_int_equal(got[0], 9);
	assert_int_equal(users_groups("", 9, got, 4), 1);
	assert_true(users_has_private_group(0, 0));
	assert_false(users_has_private_group(0, 1));
	assert_false(users_has_private_group(65534, 65534));	/* nobody's group is nogroup */
	assert_false(users_has_private_group(4242424, 4242424));
}
