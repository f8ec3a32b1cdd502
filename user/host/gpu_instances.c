// SPDX-License-Identifier: BSD-3-Clause
/*
 * MIG instances, as the driver's files of capabilities have them: who may use one has its file open.
 * These say which GPU instance and compute instance it is; numbers and UUIDs are NVML's, so without it
 * the places are counted in the order of the two.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/io.h"
#include "host/gpus.h"

#define GPU_INSTANCES 32	/* numbers of them on a GPU, and of compute instances in one */
#define COMPUTE_INSTANCES 16
#define ACCESS_MAX 4096
#define OLD_UUID "MIG-GPU-"	/* MIG-GPU-<the GPU's>/<gpu instance>/<compute instance> */

/* ---- which there are ------------------------------------------------------------------------- */

/* "DeviceFileMinor: 13\nDeviceFileMode: 292\n..." */
int gpus_parse_access(const char *text)
{
	const char *minor = proc_status_field(text, "DeviceFileMinor");
	unsigned int n;

	return minor && gpus_parse_number(minor, strcspn(minor, " \t\n"), &n) ? (int)n : -1;
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
		if (g->instance[k].gpu == i->gpu && g->instance[k].gi == i->gi && g->instance[k].ci == i->ci)
			return &g->instance[k];
	return NULL;
}

void gpus_tell_instances(struct gpus *g, const struct gpu_instance *told, size_t n)
{
	struct gpus *before = n ? malloc(sizeof(*before)) : NULL;

	if (!before)
		return;
	*before = *g;
	g->n_instances = 0;
	for (size_t i = 0; i < n && i < GPUS_INSTANCES_MAX; i++) {
		const struct gpu_instance *same = find_same(before, &told[i]);

		if (told[i].gpu >= GPUS_MAX)
			continue;
		g->instance[g->n_instances] = told[i];
		g->instance[g->n_instances++].cap = same ? same->cap : -1;
	}
	free(before);
}

/* ---- by what they are named ------------------------------------------------------------------ */

/* "0:1", "1/0": two numbers apart by a character. */
static bool parse_pair(const char *text, char between, unsigned int *a, unsigned int *b)
{
	const char *at = strchr(text, between);

	return at && gpus_parse_number(text, (size_t)(at - text), a) &&
	       gpus_parse_number(at + 1, strlen(at + 1), b);
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

/* Of drivers before R470, and known to later ones. */
static int find_by_old_uuid(const struct gpus *g, const char *name)
{
	const char *gpu_uuid = name + strlen("MIG-"), *slash = strchr(name, '/');
	size_t len = slash ? (size_t)(slash - gpu_uuid) : 0;
	struct gpu_instance wanted = { .gpu = 0 };
	const struct gpu_instance *found;

	if (!slash || !parse_pair(slash + 1, '/', &wanted.gi, &wanted.ci))
		return -ENOENT;
	while (wanted.gpu < g->n && (strlen(g->v[wanted.gpu].uuid) != len ||
				     strncmp(g->v[wanted.gpu].uuid, gpu_uuid, len) != 0))
		wanted.gpu++;
	found = wanted.gpu < g->n ? find_same(g, &wanted) : NULL;
	return found ? (int)(found - g->instance) : -ENOENT;
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
	return strncmp(name, OLD_UUID, strlen(OLD_UUID)) != 0 ? -ENOENT : find_by_old_uuid(g, name);
}

bool gpus_old_uuid(const struct environment *env, const char *gpu_uuid, char *out, size_t size)
{
	const char *list = environment_find(env, "CUDA_VISIBLE_DEVICES");
	unsigned int gi, ci;
	size_t len = strlen(gpu_uuid);
	char first[80];

	if (!list || strncmp(list, OLD_UUID, strlen(OLD_UUID)) != 0)
		return false;
	str_copy_line(first, sizeof(first), list + strlen("MIG-"), strcspn(list, ",") - strlen("MIG-"));
	if (strncmp(first, gpu_uuid, len) != 0 || first[len] != '/' ||
	    !parse_pair(first + len + 1, '/', &gi, &ci))
		return false;
	return snprintf(out, size, "MIG-%s/%u/%u", gpu_uuid, gi, ci) < (int)size;
}

/* ---- sets ------------------------------------------------------------------------------------ */

void gpu_set_add_instance(struct gpu_set *set, const struct gpus *g, size_t i)
{
	set->gpus |= 1ull << g->instance[i].gpu;
	set->instances[i / 64] |= 1ull << i % 64;
}

bool gpu_set_has_instance(const struct gpu_set *set, size_t i)
{
	return set->instances[i / 64] >> i % 64 & 1;
}

void gpu_set_add_cap(struct gpu_set *set, const struct gpus *g, unsigned int cap)
{
	for (size_t i = 0; i < g->n_instances; i++)
		if (g->instance[i].cap == (int)cap)
			gpu_set_add_instance(set, g, i);
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
