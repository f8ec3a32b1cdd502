// SPDX-License-Identifier: BSD-3-Clause
/*
 * Reads folders and links of procfs; calls no driver. MIG instances are those of the driver's
 * files of capabilities: a process that may use one has its file open. These name the GPU
 * instance and the compute instance; numbers and UUIDs are NVML's, so without it the places are
 * counted in the order of the two.
 */
#include "host/gpus.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/io.h"
#include "host/cgroup.h"
#include "host/environment.h"

#define DRIVER "/proc/driver/nvidia/gpus"
#define CAPABILITIES "/proc/driver/nvidia/capabilities"
#define INFORMATION_MAX 65536
#define NODE "/dev/nvidia"
#define CAP_NODE "/dev/nvidia-caps/nvidia-cap"
#define GPU_INSTANCES 32	/* numbers of them on a GPU, and of compute instances in one */
#define COMPUTE_INSTANCES 16
#define ACCESS_MAX 4096

/* ---- the devices of this host ---------------------------------------------------------------- */

static void copy_field(char *out, size_t size, const char *text)
{
	if (text)
		snprintf(out, size, "%.*s", (int)strcspn(text, "\n"), text);
}

static bool parse_number(const char *text, size_t len, unsigned int *n)
{
	*n = 0;
	for (size_t i = 0; i < len; i++) {
		if (text[i] < '0' || text[i] > '9' || i > 5)
			return false;
		*n = *n * 10 + (unsigned int)(text[i] - '0');
	}
	return len > 0;
}

/* The text of a device's file `information`; false: it names no minor. */
static bool gpus_parse_information(const char *text, struct gpu *out)
{
	const char *minor = proc_status_field(text, "Device Minor");

	copy_field(out->uuid, sizeof(out->uuid), proc_status_field(text, "GPU UUID"));
	copy_field(out->model, sizeof(out->model), proc_status_field(text, "Model"));
	return minor && parse_number(minor, strcspn(minor, " \t\n"), &out->minor);
}

static int compare_addresses(const void *a, const void *b)
{
	return strcmp(((const struct gpu *)a)->address, ((const struct gpu *)b)->address);
}

static void read_device(struct gpus *g, const char *folder, const char *address)
{
	struct gpu *gpu = &g->v[g->n];
	char path[512], *text;

	*gpu = (struct gpu){ .minor = 0 };
	if (*address == '.' || strlen(address) >= sizeof(gpu->address))
		return;
	strcpy(gpu->address, address);
	snprintf(path, sizeof(path), "%s/%s/information", folder, address);
	text = io_read_file(path, INFORMATION_MAX, NULL);
	g->n += text && gpus_parse_information(text, gpu);
	free(text);
}

/* Unreadable entries are left out. */
static void read_gpus(struct gpus *g, const char *folder)
{
	DIR *d = opendir(folder);
	struct dirent *entry;

	g->n = 0;
	g->present = d || !access(NODE "ctl", F_OK);
	if (!d)
		return;
	while (g->n < GPUS_MAX && (entry = readdir(d)))
		read_device(g, folder, entry->d_name);
	closedir(d);
	qsort(g->v, g->n, sizeof(g->v[0]), compare_addresses);
}

/* By an index or (the beginning of) a UUID. */
static int find_gpu(const struct gpus *g, const char *name)
{
	unsigned int index;

	if (parse_number(name, strlen(name), &index))
		return index < (g->n ? g->n : GPUS_MAX) ? (int)index : -ENOENT;
	for (size_t i = 0; i < g->n; i++)
		if (!strncmp(g->v[i].uuid, "GPU-", 4) && strlen(name) > 4 &&
		    !strncmp(g->v[i].uuid, name, strlen(name)))
			return (int)i;
	return -ENOENT;
}

/* ---- its MIG instances ----------------------------------------------------------------------- */

/* "DeviceFileMinor: 13\nDeviceFileMode: 292\n..." */
static int gpus_parse_access(const char *text)
{
	const char *minor = proc_status_field(text, "DeviceFileMinor");
	unsigned int n;

	return minor && parse_number(minor, strcspn(minor, " \t\n"), &n) ? (int)n : -1;
}

static void read_gpu_instances(struct gpus *g, const char *folder, unsigned int index)
{
	struct gpu_instance at = { .gpu = index };
	size_t before = g->n_instances;
	char path[512], *text;

	for (at.gi = 0; at.gi < GPU_INSTANCES; at.gi++) {
		snprintf(path, sizeof(path), "%s/gi%u", folder, at.gi);
		if (access(path, F_OK))
			continue;
		for (at.ci = 0; at.ci < COMPUTE_INSTANCES; at.ci++) {
			snprintf(path, sizeof(path), "%s/gi%u/ci%u/access", folder, at.gi, at.ci);
			text = g->n_instances < GPUS_INSTANCES_MAX ?
				       io_read_file(path, ACCESS_MAX, NULL) : NULL;
			if (!text)
				continue;
			at.place = (unsigned int)(g->n_instances - before);
			at.cap = gpus_parse_access(text);
			g->instance[g->n_instances++] = at;
			free(text);
		}
	}
}

static void read_instances(struct gpus *g, const char *folder)
{
	char path[256];

	g->n_instances = 0;
	for (unsigned int i = 0; i < (g->n ? g->n : GPUS_MAX); i++) {
		snprintf(path, sizeof(path), "%s/gpu%u/mig", folder, g->n ? g->v[i].minor : i);
		if (!access(path, F_OK))
			read_gpu_instances(g, path, i);
	}
}

void gpus_read(struct gpus *g)
{
	read_gpus(g, DRIVER);
	read_instances(g, CAPABILITIES);
}

/* The file of an instance's capability: the same for both readings; -1: unknown. */
static int cap_of(const struct gpus *g, const struct gpu_instance *i)
{
	for (size_t k = 0; k < g->n_instances; k++)
		if (g->instance[k].gpu == i->gpu && g->instance[k].gi == i->gi &&
		    g->instance[k].ci == i->ci)
			return g->instance[k].cap;
	return -1;
}

void gpus_set_instances(struct gpus *g, const struct gpu_instance *found, size_t n)
{
	struct gpus *before = n ? malloc(sizeof(*before)) : NULL;

	if (!before)
		return;
	*before = *g;
	g->n_instances = 0;
	for (size_t i = 0; i < n && i < GPUS_INSTANCES_MAX; i++) {
		if (found[i].gpu >= GPUS_MAX)
			continue;
		g->instance[g->n_instances] = found[i];
		g->instance[g->n_instances++].cap = cap_of(before, &found[i]);
	}
	free(before);
}

/* ---- names ---------------------------------------------------------------------------------- */

/* "0:1": a GPU and the place of its instance. */
static bool parse_pair(const char *text, unsigned int *gpu, unsigned int *place)
{
	const char *at = strchr(text, ':');

	return at && parse_number(text, (size_t)(at - text), gpu) &&
	       parse_number(at + 1, strlen(at + 1), place);
}

static bool is_instance_uuid(const char *name)
{
	return !strncmp(name, "MIG-", 4) && strlen(name) > 4;
}

static int find_instance(const struct gpus *g, const char *name)
{
	unsigned int gpu, place;
	bool pair = parse_pair(name, &gpu, &place), uuid = is_instance_uuid(name);

	for (size_t i = 0; i < g->n_instances; i++) {
		const struct gpu_instance *at = &g->instance[i];

		if (pair ? at->gpu == gpu && at->place == place :
			   uuid && !strncmp(at->uuid, name, strlen(name)))
			return (int)i;
	}
	return -ENOENT;
}

int gpus_find(const struct gpus *g, const char *name, bool *is_instance)
{
	unsigned int gpu, place;

	*is_instance = is_instance_uuid(name) || parse_pair(name, &gpu, &place);
	return *is_instance ? find_instance(g, name) : find_gpu(g, name);
}

/* ---- sets ------------------------------------------------------------------------------------ */

static void add_instance(struct gpu_set *set, const struct gpus *g, size_t i)
{
	set->gpus |= 1ull << g->instance[i].gpu;
	set->instances[i / 64] |= 1ull << i % 64;
}

static void gpu_set_add_cap(struct gpu_set *set, const struct gpus *g, unsigned int cap)
{
	for (size_t i = 0; i < g->n_instances; i++)
		if (g->instance[i].cap == (int)cap)
			add_instance(set, g, i);
}

void gpu_set_print(struct strbuf *out, const struct gpu_set *set, const struct gpus *g)
{
	for (unsigned int gpu = 0; gpu < GPUS_MAX; gpu++) {
		bool whole = true;

		if (!(set->gpus >> gpu & 1))
			continue;
		for (size_t i = 0; i < g->n_instances; i++) {
			if (g->instance[i].gpu != gpu || !gpu_set_has_instance(set, i))
				continue;
			whole = false;
			strbuf_addf(out, "%s%u:%u", out->len ? "," : "", gpu, g->instance[i].place);
		}
		if (whole)
			strbuf_addf(out, "%s%u", out->len ? "," : "", gpu);
	}
}

/* ---- open devices --------------------------------------------------------------------------- */

/* "/dev/nvidia3"; not "/dev/nvidiactl", nor a file that only begins so. */
static bool parse_node(const char *node, const char *path, size_t len, unsigned int *minor)
{
	size_t skip = strlen(node);

	return len > skip && !strncmp(path, node, skip) &&
	       parse_number(path + skip, len - skip, minor);
}

static void add_path(struct gpu_set *set, const struct gpus *g, const char *path, size_t len)
{
	/* Where the process has another root than ours, its paths may begin with that folder. */
	const char *node = memmem(path, len, NODE, strlen(NODE));
	unsigned int minor;

	if (!node)
		return;
	len -= (size_t)(node - path);
	if (parse_node(NODE, node, len, &minor)) {
		for (size_t i = 0; i < GPUS_MAX; i++)
			if (g->n ? i < g->n && g->v[i].minor == minor : i == minor)
				set->gpus |= 1ull << i;
	} else if (parse_node(CAP_NODE, node, len, &minor)) {
		gpu_set_add_cap(set, g, minor);
	}
}

static int read_links(const struct gpus *g, struct proc *p, struct gpu_set *set)
{
	int fd = openat(p->dir, "fd", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *d = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *entry;
	char path[PATH_MAX];
	int err = errno;

	if (!d) {
		io_close(&fd);
		return err == ENOENT ? -ESRCH : -err;
	}
	while ((entry = readdir(d))) {
		ssize_t n = readlinkat(dirfd(d), entry->d_name, path, sizeof(path));

		if (n > 0 && (size_t)n < sizeof(path))
			add_path(set, g, path, (size_t)n);
	}
	closedir(d);
	return 0;
}

/* A device that is mapped stays in use after its descriptor is closed. */
static void read_maps(const struct gpus *g, struct proc *p, struct gpu_set *set)
{
	int fd = openat(p->dir, "maps", O_RDONLY | O_CLOEXEC);
	FILE *f = fd < 0 ? NULL : fdopen(fd, "r");
	char *line = NULL;
	size_t cap = 0;
	ssize_t n;

	while (f && (n = getline(&line, &cap, f)) > 0) {
		const char *path = memchr(line, '/', (size_t)n);

		if (path)
			add_path(set, g, path, (size_t)(line + n - path) - 1);
	}
	free(line);
	if (f)
		fclose(f);
	else
		io_close(&fd);
}

/* By its file descriptors and mappings. 0, or -EACCES, -ESRCH. */
static int gpus_open_by(const struct gpus *g, struct proc *p, struct gpu_set *set)
{
	int err;

	*set = (struct gpu_set){ .gpus = 0 };
	if (!g->present)
		return 0;
	err = read_links(g, p, set);
	if (!err && !set->gpus)
		read_maps(g, p, set);
	return err;
}

/* ---- visible devices ------------------------------------------------------------------------ */

/* By default CUDA counts the fastest device first. */
static bool counts_by_address(const struct gpus *g, const struct environment *env)
{
	const char *order = environment_find(env, "CUDA_DEVICE_ORDER");

	if (order && !strcmp(order, "PCI_BUS_ID"))
		return true;
	for (size_t i = 1; i < g->n; i++)
		if (strcmp(g->v[i].model, g->v[0].model))
			return false;
	return true;
}

/* False: unknown which one it is. */
static bool add_visible(struct gpu_set *set, const struct gpus *g, const char *name, bool *known)
{
	bool is_instance = is_instance_uuid(name) && !strchr(name, ':');
	int i = is_instance ? find_instance(g, name) : find_gpu(g, name);

	*known = i >= 0;
	if (is_instance && *known)
		add_instance(set, g, (size_t)i);
	else if (*known)
		set->gpus |= 1ull << i;
	return *known || !is_instance;
}

/*
 * Devices that CUDA_VISIBLE_DEVICES leaves it. False: all, or unknown (its numbers count in an
 * order that depends on the models, and within a container from that one's first device).
 */
static bool gpus_visible_to(const struct gpus *g, const struct environment *env, bool contained,
			    struct gpu_set *set)
{
	const char *list = environment_find(env, "CUDA_VISIBLE_DEVICES");
	bool by_number = !contained && counts_by_address(g, env), known = true;
	unsigned int ignored;
	char name[80];

	*set = (struct gpu_set){ .gpus = 0 };
	if (!list)
		return false;
	/* CUDA takes none from the first one on that is not there */
	while (*list && known) {
		size_t len = strcspn(list, ",");

		snprintf(name, sizeof(name), "%.*s", (int)(len < 79 ? len : 79), list);
		if ((!by_number && parse_number(name, strlen(name), &ignored)) ||
		    !add_visible(set, g, name, &known))
			return false;
		list += len + (list[len] == ',');
	}
	return true;
}

/* ---- devices of a process ------------------------------------------------------------------- */

static bool has_instances(const struct gpu_set *set)
{
	for (size_t i = 0; i < GPUS_INSTANCES_MAX / 64; i++)
		if (set->instances[i])
			return true;
	return false;
}

/* The open devices, less the hidden ones: CUDA may open more than it uses. */
struct gpu_set gpus_of_process(const struct gpus *g, struct proc *p, const char **source)
{
	const char *groups = proc_read(p, PROC_CGROUP, NULL);
	struct environment env = environment_read(p);
	struct gpu_set open = { .gpus = 0 }, visible = { .gpus = 0 }, both = { .gpus = 0 };
	struct cgroup_names names = { .runtime = "" };
	bool visible_known;

	if (groups)
		cgroup_read_names(groups, &names);
	gpus_open_by(g, p, &open);
	visible_known = gpus_visible_to(g, &env, names.container[0], &visible);
	*source = open.gpus ? "open" : "visible";
	if (!open.gpus)
		return visible;
	both.gpus = open.gpus & visible.gpus;
	if (!visible_known || !both.gpus)
		return open;
	for (size_t i = 0; i < GPUS_INSTANCES_MAX / 64; i++)
		both.instances[i] = open.instances[i] & visible.instances[i];
	/* An instance that is visible need not be seen open, nor one that is open be named. */
	if (!has_instances(&both))
		memcpy(both.instances, has_instances(&open) ? open.instances : visible.instances,
		       sizeof(both.instances));
	return both;
}
