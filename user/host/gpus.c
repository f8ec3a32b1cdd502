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

bool gpus_parse_information(const char *text, struct gpu *out)
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

void gpus_read(struct gpus *g, const char *folder)
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

int gpus_find(const struct gpus *g, const char *name)
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
int gpus_parse_access(const char *text)
{
	const char *minor = proc_status_field(text, "DeviceFileMinor");
	unsigned int n;

	return minor && parse_number(minor, strcspn(minor, " \t\n"), &n) ? (int)n : -1;
}

static void read_instance(struct gpus *g, const char *folder, const struct gpu_instance *i)
{
	char path[512], *text;

	snprintf(path, sizeof(path), "%s/gi%u/ci%u/access", folder, i->gi, i->ci);
	text = g->n_instances < GPUS_INSTANCES_MAX ? io_read_file(path, ACCESS_MAX, NULL) : NULL;
	if (!text)
		return;
	g->instance[g->n_instances] = *i;
	g->instance[g->n_instances++].cap = gpus_parse_access(text);
	free(text);
}

static void read_gpu(struct gpus *g, const char *folder, unsigned int index)
{
	struct gpu_instance at = { .gpu = index };
	size_t before = g->n_instances;
	char path[512];

	for (at.gi = 0; at.gi < GPU_INSTANCES; at.gi++) {
		snprintf(path, sizeof(path), "%s/gi%u", folder, at.gi);
		if (access(path, F_OK))
			continue;
		for (at.ci = 0; at.ci < COMPUTE_INSTANCES; at.ci++) {
			at.place = (unsigned int)(g->n_instances - before);
			read_instance(g, folder, &at);
		}
	}
}

void gpus_read_instances(struct gpus *g, const char *folder)
{
	char path[256];

	g->n_instances = 0;
	for (unsigned int i = 0; i < (g->n ? g->n : GPUS_MAX); i++) {
		snprintf(path, sizeof(path), "%s/gpu%u/mig", folder, g->n ? g->v[i].minor : i);
		if (!access(path, F_OK))
			read_gpu(g, path, i);
	}
}

static const struct gpu_instance *find_same(const struct gpus *g, const struct gpu_instance *i)
{
	for (size_t k = 0; k < g->n_instances; k++)
		if (g->instance[k].gpu == i->gpu && g->instance[k].gi == i->gi &&
		    g->instance[k].ci == i->ci)
			return &g->instance[k];
	return NULL;
}

void gpus_set_instances(struct gpus *g, const struct gpu_instance *found, size_t n)
{
	struct gpus *before = n ? malloc(sizeof(*before)) : NULL;

	if (!before)
		return;
	*before = *g;
	g->n_instances = 0;
	for (size_t i = 0; i < n && i < GPUS_INSTANCES_MAX; i++) {
		const struct gpu_instance *same = find_same(before, &found[i]);

		if (found[i].gpu >= GPUS_MAX)
			continue;
		g->instance[g->n_instances] = found[i];
		g->instance[g->n_instances++].cap = same ? same->cap : -1;
	}
	free(before);
}

/* ---- names ---------------------------------------------------------------------------------- */

/* "0:1", "1/0": two numbers apart by a character. */
static bool parse_pair(const char *text, char between, unsigned int *a, unsigned int *b)
{
	const char *at = strchr(text, between);

	return at && parse_number(text, (size_t)(at - text), a) &&
	       parse_number(at + 1, strlen(at + 1), b);
}

bool gpus_names_instance(const char *name)
{
	unsigned int gpu, place;

	return (!strncmp(name, "MIG-", 4) && name[4]) || parse_pair(name, ':', &gpu, &place);
}

static int find_at(const struct gpus *g, unsigned int gpu, unsigned int place)
{
	for (size_t i = 0; i < g->n_instances; i++)
		if (g->instance[i].gpu == gpu && g->instance[i].place == place)
			return (int)i;
	return -ENOENT;
}

int gpus_find_instance(const struct gpus *g, const char *name)
{
	unsigned int gpu, place;

	if (parse_pair(name, ':', &gpu, &place))
		return find_at(g, gpu, place);
	if (!gpus_names_instance(name))
		return -ENOENT;
	for (size_t i = 0; i < g->n_instances; i++)
		if (!strncmp(g->instance[i].uuid, name, strlen(name)))
			return (int)i;
	return -ENOENT;
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

struct gpu_set gpu_set_both(const struct gpu_set *a, const struct gpu_set *b)
{
	struct gpu_set both = { .gpus = a->gpus & b->gpus };

	for (size_t i = 0; i < GPUS_INSTANCES_MAX / 64; i++)
		both.instances[i] = a->instances[i] & b->instances[i];
	return both;
}

static bool has_any_of(const struct gpu_set *set, const struct gpus *g, unsigned int gpu)
{
	for (size_t i = 0; i < g->n_instances; i++)
		if (g->instance[i].gpu == gpu && gpu_set_has_instance(set, i))
			return true;
	return false;
}

static void add_instances(struct strbuf *out, const struct gpu_set *set, const struct gpus *g,
			  unsigned int gpu)
{
	for (size_t i = 0; i < g->n_instances; i++)
		if (g->instance[i].gpu == gpu && gpu_set_has_instance(set, i))
			strbuf_addf(out, "%s%u:%u", out->len ? "," : "", gpu, g->instance[i].place);
}

void gpu_set_print(struct strbuf *out, const struct gpu_set *set, const struct gpus *g)
{
	for (unsigned int i = 0; i < GPUS_MAX; i++) {
		if (!(set->gpus >> i & 1))
			continue;
		if (has_any_of(set, g, i))
			add_instances(out, set, g, i);
		else
			strbuf_addf(out, "%s%u", out->len ? "," : "", i);
	}
}

/* ---- open devices --------------------------------------------------------------------------- */

static uint64_t mask_of_minor(const struct gpus *g, unsigned int minor)
{
	if (!g->n)
		return minor < GPUS_MAX ? 1ull << minor : 0;
	for (size_t i = 0; i < g->n; i++)
		if (g->v[i].minor == minor)
			return 1ull << i;
	return 0;
}

/* Where the process has another root than we, its paths may begin with that root's folder. */
static void skip_root(const char **path, size_t *len)
{
	const char *at = memmem(*path, *len, NODE, strlen(NODE));

	if (!at)
		return;
	*len -= (size_t)(at - *path);
	*path = at;
}

/* "/dev/nvidia3"; not "/dev/nvidiactl", nor a file that only begins so. */
static bool parse_node(const char *node, const char *path, size_t len, unsigned int *minor)
{
	size_t skip = strlen(node);

	return len > skip && !strncmp(path, node, skip) &&
	       parse_number(path + skip, len - skip, minor);
}

static void add_path(struct gpu_set *set, const struct gpus *g, const char *path, size_t len)
{
	unsigned int minor;

	skip_root(&path, &len);
	if (parse_node(NODE, path, len, &minor))
		set->gpus |= mask_of_minor(g, minor);
	else if (parse_node(CAP_NODE, path, len, &minor))
		gpu_set_add_cap(set, g, minor);
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

int gpus_open_by(const struct gpus *g, struct proc *p, struct gpu_set *set)
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

static bool all_alike(const struct gpus *g)
{
	for (size_t i = 1; i < g->n; i++)
		if (strcmp(g->v[i].model, g->v[0].model))
			return false;
	return true;
}

/* By default CUDA counts the fastest device first. */
static bool counts_by_address(const struct gpus *g, const struct environment *env)
{
	const char *order = environment_find(env, "CUDA_DEVICE_ORDER");

	return (order && !strcmp(order, "PCI_BUS_ID")) || all_alike(g);
}

/* False: unknown which one it is. */
static bool add_visible(struct gpu_set *set, const struct gpus *g, const char *name, bool *known)
{
	bool is_instance = gpus_names_instance(name) && !strchr(name, ':');
	int i = is_instance ? gpus_find_instance(g, name) : gpus_find(g, name);

	*known = i >= 0;
	if (is_instance && *known)
		add_instance(set, g, (size_t)i);
	else if (*known)
		set->gpus |= 1ull << i;
	return *known || !is_instance;
}

bool gpus_visible_to(const struct gpus *g, const struct environment *env, bool contained,
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
		if (!by_number && parse_number(name, strlen(name), &ignored))
			return false;
		if (!add_visible(set, g, name, &known))
			return false;
		list += len + (list[len] == ',');
	}
	return true;
}
