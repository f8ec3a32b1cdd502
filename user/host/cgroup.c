// SPDX-License-Identifier: BSD-3-Clause
/*
 * Forms of paths are rows of tables. Samples, one part a line:
 *
 *   /system.slice/docker-<64 hex>.scope                             docker, systemd driver
 *   /docker/<64 hex>                                                docker, cgroupfs driver
 *   /kubepods.slice/kubepods-burstable.slice/
 *     kubepods-burstable-pod1234_..._90ab.slice/cri-containerd-<64 hex>.scope
 *   /kubepods/besteffort/pod1234-...-90ab/<64 hex>
 *   /machine.slice/libpod-<64 hex>.scope/container                  podman
 *   /lxc.payload.web/init.scope, /lxc/web                           LXC
 *   /machine.slice/systemd-nspawn@web.service/payload               systemd-nspawn
 *   /system.slice/slurmstepd.scope/job_123/step_0/user/task_0       Slurm, v2
 *   /slurm/uid_1000/job_123/step_0                                  Slurm, v1
 *   /pbs_jobs.service/jobid/123.server, /pbspro.slice/pbspro-123.server.slice
 *   /lsf/cluster/job.123.4567.1600000000                            LSF
 */
#include "host/cgroup.h"

#include <ctype.h>
#include <fnmatch.h>
#include <stdio.h>
#include <string.h>

#include "base/str.h"

#define PART_MAX 256	/* the kernel's limit for a name, NAME_MAX, and a NUL */
#define ID_MIN 12	/* runtimes print at least so many digits of an id */
#define ID_WHOLE 64

/* ---- parts ---------------------------------------------------------------------------------- */

struct walk {			/* over the parts of one path */
	struct cgroup_names *out;
	char part[PART_MAX], parent[PART_MAX];
	bool in_pods, in_slurm, in_pbs, in_lsf;	/* by a part before */
};

#define COPY(to, text, len) str_copy_line(to, sizeof(to), text, len)

static bool starts(const char *text, const char *prefix)
{
	return !strncmp(text, prefix, strlen(prefix));
}

/* The text between prefix and suffix; its length, or -1. */
static long between(const char *part, const char *prefix, const char *suffix, const char **middle)
{
	size_t len = strlen(part), before = strlen(prefix), after = strlen(suffix);

	if (len <= before + after || !starts(part, prefix) || strcmp(part + len - after, suffix))
		return -1;
	*middle = part + before;
	return (long)(len - before - after);
}

/* ---- containers ----------------------------------------------------------------------------- */

static const struct form {
	const char *parent;	/* the part before; NULL: any */
	const char *prefix, *suffix, *runtime;
	bool named;		/* by a name, not by an id of hexadecimal digits */
} forms[] = {
	{ NULL, "docker-", ".scope", "docker", false },
	{ NULL, "cri-containerd-", ".scope", "containerd", false },
	{ NULL, "nerdctl-", ".scope", "containerd", false },
	{ NULL, "crio-", ".scope", "cri-o", false },
	{ NULL, "crio-", "", "cri-o", false },
	{ NULL, "libpod-", ".scope", "podman", false },
	{ NULL, "libpod-", "", "podman", false },
	{ NULL, "lxc.payload.", "", "lxc", true },
	{ NULL, "systemd-nspawn@", ".service", "nspawn", true },
	{ NULL, "machine-qemu", ".scope", "", true },	/* a virtual machine, no container */
	{ NULL, "machine-", ".scope", "nspawn", true },
	{ "docker", "", "", "docker", false },
	{ "cri-containerd", "", "", "containerd", false },	/* slice:cri-containerd:id */
	{ "crio", "", "", "cri-o", false },
	{ "libpod", "", "", "podman", false },
	{ "lxc", "", "", "lxc", true },
	{ "lxc.payload", "", "", "lxc", true },
};

static bool is_hex(const char *text, size_t min, size_t len)
{
	return len >= min && strspn(text, "0123456789abcdefABCDEF") >= len;
}

static void look_for_container(struct walk *w)
{
	size_t len = strlen(w->part);
	const char *id;

	for (const struct form *f = forms; f < forms + sizeof(forms) / sizeof(forms[0]); f++) {
		long n = between(w->part, f->prefix, f->suffix, &id);

		if (n < 0 || (f->parent && strcmp(w->parent, f->parent)) ||
		    !(f->named || is_hex(id, ID_MIN, (size_t)n)))
			continue;
		COPY(w->out->runtime, f->runtime, strlen(f->runtime));
		COPY(w->out->container, id, *f->runtime ? (size_t)n : 0);
		return;
	}
	/* kubepods, ECS: without the name of the runtime */
	if (len == ID_WHOLE && is_hex(w->part, ID_WHOLE, len)) {
		w->out->runtime[0] = '\0';
		COPY(w->out->container, w->part, len);
	}
}

/* ---- pods ----------------------------------------------------------------------------------- */

/* "pod1234-...": as it is; "kubepods-burstable-pod1234_....slice": systemd takes '-' for a
 * level. */
static void look_for_pod(struct walk *w)
{
	const char *uid = w->part;
	size_t len;

	w->in_pods |= starts(w->part, "kubepods") || starts(w->part, "kubelet-kubepods");
	if (!w->in_pods)
		return;
	if (!starts(uid, "pod")) {
		uid = strstr(uid, "-pod");
		uid = uid ? uid + 1 : "pod";
	}
	uid += strlen("pod");
	len = strspn(uid, "0123456789abcdefABCDEF-_");
	if (len < ID_MIN || (uid[len] && strcmp(uid + len, ".slice")))
		return;
	COPY(w->out->pod, uid, len);
	for (char *c = w->out->pod; *c; c++)
		if (*c == '_')
			*c = '-';
}

/* ---- jobs ----------------------------------------------------------------------------------- */

static void set_job(struct walk *w, const char *scheduler, const char *id, size_t len)
{
	if (!len)
		return;
	COPY(w->out->scheduler, scheduler, strlen(scheduler));
	COPY(w->out->job, id, len);
}

static void look_for_job(struct walk *w)
{
	static const char *const pbs[] = { "pbspro-", "pbs_jobs-", "pbs-" };
	const char *id;
	long n;

	if (w->in_slurm && starts(w->part, "job_"))
		set_job(w, "slurm", w->part + 4, strlen(w->part + 4));
	if (w->in_pbs && !strcmp(w->parent, "jobid"))
		set_job(w, "pbs", w->part, strlen(w->part));
	for (size_t i = 0; w->in_pbs && i < sizeof(pbs) / sizeof(pbs[0]); i++) {
		n = between(w->part, pbs[i], ".slice", &id);
		if (n > 0 && isdigit((unsigned char)*id))
			set_job(w, "pbs", id, (size_t)n);
	}
	if (w->in_lsf && starts(w->part, "job."))
		set_job(w, "lsf", w->part + 4, strcspn(w->part + 4, "."));
	w->in_slurm |= starts(w->part, "slurm") || strstr(w->part, "_slurmstepd.scope");
	w->in_pbs |= starts(w->part, "pbs");
	w->in_lsf |= !strcmp(w->part, "lsf");
}

/* ---- paths ---------------------------------------------------------------------------------- */

/* A runtime that does not know its parent's form leaves "slice:prefix:id" in one part. */
static void take_path(struct cgroup_names *out, const char *path, size_t len)
{
	struct walk w = { .out = out };

	for (size_t at = 0, n; at < len; at += n + 1) {
		n = 0;
		while (at + n < len && path[at + n] != '/' && path[at + n] != ':')
			n++;
		if (!n)
			continue;
		memcpy(w.parent, w.part, sizeof(w.parent));
		COPY(w.part, path + at, n);
		look_for_container(&w);
		look_for_pod(&w);
		look_for_job(&w);
	}
}

struct line {
	const char *path;
	size_t len;
	bool unified;		/* of v2 */
};

/* "4:memory:/a/b\n", "0::/a/b\n": the next one that is such a line; false: no more. */
static bool next_line(const char **text, struct line *out)
{
	while (**text) {
		size_t n = strcspn(*text, "\n");
		const char *line = *text, *end = line + n, *colon = memchr(line, ':', n);

		*text = end + (*end == '\n');
		colon = colon ? memchr(colon + 1, ':', (size_t)(end - colon - 1)) : NULL;
		if (!colon)
			continue;
		*out = (struct line){ colon + 1, (size_t)(end - colon - 1), starts(line, "0::") };
		return true;
	}
	return false;
}

void cgroup_read_names(const char *text, struct cgroup_names *out)
{
	struct line line;

	memset(out, 0, sizeof(*out));
	while (next_line(&text, &line))
		take_path(out, line.path, line.len);
}

void cgroup_read_path(const char *text, char *out, size_t size)
{
	struct line line, best = { .path = "" };

	while (next_line(&text, &line))
		if (line.len > 1 && !best.unified && (line.unified || line.len > best.len))
			best = line;
	str_copy_line(out, size, best.path, best.len);
}

/* ---- patterns ------------------------------------------------------------------------------- */

/*
 * FNM_LEADING_DIR: a pattern that matches the beginning, up to a slash, matches all below.
 * FNM_NOESCAPE: systemd's names hold backslashes.
 */
static bool path_matches(const char *path, const char *pattern)
{
	const int flags = FNM_PATHNAME | FNM_LEADING_DIR | FNM_NOESCAPE;

	if (*pattern == '/')
		return !fnmatch(pattern, path, flags);
	for (; *path; path += strcspn(path, "/")) {
		path += *path == '/';
		if (!fnmatch(pattern, path, flags))
			return true;
	}
	return false;
}

static bool any_matches(const char *text, const char *pattern)
{
	char path[4096];
	struct line line;

	if (!*pattern || !strcmp(pattern, "/"))
		return true;
	while (next_line(&text, &line)) {
		snprintf(path, sizeof(path), "%.*s", (int)line.len, line.path);
		if (path_matches(path, pattern))
			return true;
	}
	return false;
}

/* As the file system shows it: "/sys/fs/cgroup/a.slice", of v1 "/sys/fs/cgroup/memory/a". */
bool cgroup_matches(const char *text, const char *pattern)
{
	static const char mount[] = "/sys/fs/cgroup";
	size_t len = strlen(mount);
	char wanted[4096];

	snprintf(wanted, sizeof(wanted), "%s", pattern);
	for (size_t n = strlen(wanted); n > 1 && wanted[n - 1] == '/'; n--)
		wanted[n - 1] = '\0';
	if (!starts(wanted, mount) || (wanted[len] && wanted[len] != '/'))
		return any_matches(text, wanted);
	if (any_matches(text, wanted + len))
		return true;
	len += 1 + strcspn(wanted + len + 1, "/");
	return wanted[len] && any_matches(text, wanted + len);
}
