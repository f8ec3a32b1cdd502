// SPDX-License-Identifier: BSD-3-Clause
/* Reads folders and links of procfs; asks no driver. */
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

/* ---- the devices of this host ---------------------------------------------------------------- */

static void copy_field(char *out, size_t size, const char *text)
{
	if (text)
		snprintf(out, size, "%.*s", (int)strcspn(text, "\n"), text);
}

bool gpus_parse_number(const char *text, size_t len, unsigned int *n)
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
	return minor && gpus_parse_number(minor, strcspn(minor, " \t\n"), &out->minor);
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

	if (gpus_parse_number(name, strlen(name), &index))
		return index < (g->n ? g->n : GPUS_MAX) ? (int)index : -ENOENT;
	for (size_t i = 0; i < g->n; i++)
		if (!strncmp(g->v[i].uuid, "GPU-", 4) && strlen(name) > 4 &&
		    !strncmp(g->v[i].uuid, name, strlen(name)))
			return (int)i;
	return -ENOENT;
}

/* ---- what a process has open ----------------------------------------------------------------- */

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

	return len > skip && !strncmp(path, node, skip) && gpus_parse_number(path + skip, len - skip, minor);
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

/* ---- what a process may see ------------------------------------------------------------------ */

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

/* False: it cannot be told which one it is. */
static bool add_visible(struct gpu_set *set, const struct gpus *g, const char *name, bool *known)
{
	bool is_instance = gpus_names_instance(name) && !strchr(name, ':');
	int i = is_instance ? gpus_find_instance(g, name) : gpus_find(g, name);

	*known = i >= 0;
	if (is_instance && *known)
		gpu_set_add_instance(set, g, (size_t)i);
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
	while (*list && known) {	/* CUDA takes none from the first one on that is not there */
		size_t len = strcspn(list, ",");

		snprintf(name, sizeof(name), "%.*s", (int)(len < 79 ? len : 79), list);
		if (!by_number && gpus_parse_number(name, strlen(name), &ignored))
			return false;
		if (!add_visible(set, g, name, &known))
			return false;
		list += len + (list[len] == ',');
	}
	return true;
}
