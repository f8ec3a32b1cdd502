// SPDX-License-Identifier: BSD-3-Clause
/*
 * Puts together what cgroup.c, environment.c, gpus.c and users.c find. Where two sources speak, the
 * kernel's (the control group) comes before the process's own (its environment).
 */
#include "host/identity.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/io.h"
#include "host/cgroup.h"
#include "host/environment.h"
#include "host/users.h"

#define HOSTNAME_MAX 256
#define SHORT_ID 12		/* digits of a container's id that runtimes print */
#define WHOLE_ID 64

int identity_room_init(struct identity_room *room)
{
	struct utsname un = { 0 };

	memset(room, 0, sizeof(*room));
	gpus_read(&room->gpus);
	if (!uname(&un))
		snprintf(room->node, sizeof(room->node), "%s", un.nodename);
	room->names = strpool_new();
	return room->names ? 0 : -ENOMEM;
}

void identity_room_free(struct identity_room *room)
{
	map_free(&room->users);
	strpool_free(room->names);
	room->names = NULL;
}

static void copy(char *out, size_t size, const char *text)
{
	str_copy_line(out, size, text ? text : "", SIZE_MAX);
}

#define COPY(to, text) copy(to, sizeof(to), text)

/* ---- users and pids -------------------------------------------------------------------------- */

/* A name service may be slow: called once for each user. */
static const char *name_user(struct identity_room *room, uid_t uid)
{
	bool is_new = true;
	struct map_slot *slot = map_put(&room->users, uid, &is_new);
	char name[64];

	if (slot && !is_new)
		return (const char *)(uintptr_t)slot->value;
	if (!users_name(uid, name, sizeof(name)))
		snprintf(name, sizeof(name), "%u", uid);
	if (!slot)
		return NULL;
	slot->value = (uintptr_t)strpool_add(room->names, name);
	return (const char *)(uintptr_t)slot->value;
}

static void read_status(struct identity_room *room, struct proc *p, struct identity *out)
{
	const char *text = proc_read(p, PROC_STATUS, NULL);
	const char *user = text ? proc_status_field(text, "Uid") : NULL;
	uint32_t inner = text ? proc_inner_pid(text) : 0;

	if (user && *user >= '0' && *user <= '9')
		COPY(out->user, name_user(room, (uid_t)strtoul(user, NULL, 10)));
	if (inner)
		snprintf(out->ns_pid, sizeof(out->ns_pid), "%u", inner);
}

/* ---- pods, containers, jobs ------------------------------------------------------------------ */

/* /etc/hostname of its root: kubelet mounts the pod's there. A file of the target's: bounded. */
static bool read_hostname(struct proc *p, char *out, size_t size)
{
	int root = openat(p->dir, "root", O_PATH | O_CLOEXEC);
	int fd = root < 0 ? -1 : io_open_regular(root, "etc/hostname", true);
	size_t len = 0;
	char *text = fd < 0 ? NULL : io_read_start(fd, HOSTNAME_MAX, &len);

	io_close(&root);
	if (fd >= 0)
		close(fd);
	if (text)
		text[strcspn(text, "\n")] = '\0';
	copy(out, size, text);
	free(text);
	return *out;
}

/* With the host's network the pod has the host's name too, which is useless. */
bool identity_pod_name(const char *node, struct proc *p, char *out, size_t size)
{
	struct environment env = environment_read(p);
	struct environment_finding pod = environment_get(&env, ENVIRONMENT_POD);
	char own[64], its[64];
	ssize_t n, m;

	copy(out, size, pod.value);
	if (*out && strcmp(out, node))
		return true;
	*out = '\0';
	n = readlink("/proc/self/ns/uts", own, sizeof(own));
	m = readlinkat(p->dir, "ns/uts", its, sizeof(its));
	if (n <= 0 || n != m || !memcmp(own, its, (size_t)n))
		return false;
	return read_hostname(p, out, size) && strcmp(out, node);
}

static void read_groups(struct identity_room *room, struct proc *p, struct identity *out)
{
	const char *text = proc_read(p, PROC_CGROUP, NULL);
	struct cgroup_names names;
	size_t len;

	if (!text)
		return;
	cgroup_read_names(text, &names);
	cgroup_read_path(text, out->cgroup, sizeof(out->cgroup));
	COPY(out->runtime, names.runtime);
	COPY(out->container_id, names.container);
	COPY(out->pod_uid, names.pod);
	COPY(out->job, names.job);
	COPY(out->job_source, names.scheduler);
	len = strlen(names.container);
	snprintf(out->container, sizeof(out->container), "%.*s",
		 len == WHOLE_ID ? SHORT_ID : (int)len, names.container);
	if (*names.pod && !identity_pod_name(room->node, p, out->pod, sizeof(out->pod)))
		COPY(out->pod, names.pod);
}

static void read_environment(struct proc *p, struct identity *out)
{
	struct environment env = environment_read(p);
	struct environment_finding rank = environment_get(&env, ENVIRONMENT_RANK);
	struct environment_finding job = environment_get(&env, ENVIRONMENT_JOB);

	COPY(out->rank, rank.value);
	COPY(out->rank_source, rank.name);
	if (*out->job || !job.value)
		return;
	COPY(out->job, job.value);
	COPY(out->job_source, job.name);
}

void identity_read_devices(struct identity_room *room, struct proc *p, struct identity *out)
{
	struct strbuf list = STRBUF_INIT;
	const char *source;
	struct gpu_set set = gpus_of_process(&room->gpus, p, &source);

	out->devices[0] = out->devices_source[0] = '\0';
	gpu_set_print(&list, &set, &room->gpus);
	if (list.len) {
		COPY(out->devices, list.s);
		COPY(out->devices_source, source);
	}
	strbuf_free(&list);
}

void identity_read(struct identity_room *room, struct proc *p, struct identity *out)
{
	memset(out, 0, sizeof(*out));
	read_status(room, p, out);
	read_groups(room, p, out);
	read_environment(p, out);
	identity_read_devices(room, p, out);
}

#define MEMBER(name) { #name, offsetof(struct identity, name) }

int identity_each(const struct identity *id,
		  int (*fn)(void *ctx, const char *key, const char *value), void *ctx)
{
	static const struct {
		const char *key;
		size_t at;
	} members[] = {
		MEMBER(user), MEMBER(rank), MEMBER(rank_source), MEMBER(job), MEMBER(job_source),
		MEMBER(pod), MEMBER(pod_uid), MEMBER(container), MEMBER(container_id),
		MEMBER(runtime), MEMBER(devices), MEMBER(devices_source), MEMBER(ns_pid),
		MEMBER(cgroup),
	};
	int rc = 0;

	for (size_t i = 0; i < sizeof(members) / sizeof(members[0]) && !rc; i++) {
		const char *value = (const char *)id + members[i].at;

		if (*value)
			rc = fn(ctx, members[i].key, value);
	}
	return rc;
}
