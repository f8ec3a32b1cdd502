// SPDX-License-Identifier: BSD-3-Clause
/*
 * One row a kind: how its patterns are checked when they are given, and how a process is tested.
 * Kinds are tested in the order of their cost, and the first that fails ends it.
 */
#include "host/selector.h"

#include <errno.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/vec.h"
#include "host/cgroup.h"
#include "host/environment.h"
#include "host/gpus.h"
#include "host/identity.h"
#include "host/users.h"

struct pattern {
	uint8_t kind;		/* enum select_kind */
	char *text;
	int64_t number;		/* uid; index of a device, place of an instance in gpus or < 0 */
	bool is_instance;	/* of MIG */
};

struct selector {
	VEC(struct pattern) patterns;
	struct gpus gpus;	/* read when the first --gpu is given */
	bool has_gpus;
	char node[65];
};

/* ---- names ----------------------------------------------------------------------------------- */

/* fnmatch takes malformed patterns for plain letters: better refuse them. */
static bool is_glob(const char *text)
{
	for (; *text; text++) {
		if (*text == '\\') {
			if (!*++text)
				return false;
			continue;
		}
		if (*text != '[')
			continue;
		text += 1 + (text[1] == '!' || text[1] == '^');
		text = *text ? strchr(text + 1, ']') : NULL;
		if (!text)
			return false;
	}
	return true;
}

static int check_glob(struct selector *s, struct pattern *p)
{
	(void)s;
	return is_glob(p->text) ? 0 : -EINVAL;
}

static bool name_matches(const char *name, const struct pattern *pattern)
{
	return *name && !fnmatch(pattern->text, name, 0);
}

/* Interpreters: their first argument that is no option is the program for people. */
static const struct {
	const char *name;		/* of the executable, before its version */
	const char *with_value;		/* letters of options that a value follows */
} interpreters[] = {
	{ "python", "XW" }, { "pypy", "XW" }, { "bash", "oO" }, { "sh", "o" }, { "dash", "o" },
	{ "zsh", "o" }, { "perl", "I" }, { "ruby", "I" }, { "node", "r" }, { "julia", "JtpL" },
};

/* "python3 -u -X dev train.py", "python3 -m train": the script or module; NULL: none. */
static const char *find_script(const char *exe, const char *args, size_t len)
{
	const char *with_value = NULL;
	size_t at = strnlen(args, len) + 1;

	for (size_t i = 0; i < sizeof(interpreters) / sizeof(interpreters[0]) && !with_value; i++) {
		size_t n = strlen(interpreters[i].name);

		if (!strncmp(exe, interpreters[i].name, n) &&
		    !exe[n + strspn(exe + n, "0123456789.")])
			with_value = interpreters[i].with_value;
	}
	for (; with_value && at < len; at += strnlen(args + at, len - at) + 1) {
		const char *arg = args + at;

		if (*arg != '-')
			return str_basename(arg);
		if (!strcmp(arg, "-c"))
			return NULL;
		if (arg[1] && !arg[2] && strchr(with_value, arg[1]))
			at += strlen(arg) + 1;
	}
	return NULL;
}

/* The last part of the link `exe` without " (deleted)", else of the first argument. */
static void read_exe(const struct proc *p, const char *args, char *out, size_t size)
{
	char path[4096];
	ssize_t n = readlinkat(p->dir, "exe", path, sizeof(path) - 1);

	if (n <= 0) {
		snprintf(out, size, "%s", str_basename(args));
		return;
	}
	path[n] = '\0';
	path[str_len_without(path, " (deleted)")] = '\0';
	snprintf(out, size, "%s", str_basename(path));
}

/* By each name that people may use for it: of the thread, the executable, the script. */
static int match_name(const struct selector *s, const struct pattern *pattern, struct proc *p)
{
	const char *text = proc_read(p, PROC_STAT, NULL), *args, *script;
	struct proc_stat stat;
	char exe[256];
	size_t len;

	(void)s;
	if (!text || proc_parse_stat(text, &stat))
		return -ESRCH;
	if (name_matches(stat.comm, pattern))
		return 1;
	args = proc_read(p, PROC_CMDLINE, &len);
	if (!args || !len)
		return 0;		/* a kernel thread */
	read_exe(p, args, exe, sizeof(exe));
	if (name_matches(exe, pattern))
		return 1;
	script = find_script(exe, args, len);
	return script && name_matches(script, pattern);
}

/* ---- users ----------------------------------------------------------------------------------- */

static int check_user(struct selector *s, struct pattern *p)
{
	uid_t uid;

	(void)s;
	if (!users_find(p->text, &uid))
		return -EINVAL;
	p->number = uid;
	return 0;
}

static int match_user(const struct selector *s, const struct pattern *pattern, struct proc *p)
{
	const char *text = proc_read(p, PROC_STATUS, NULL);
	const char *uid = text ? proc_status_field(text, "Uid") : NULL;

	(void)s;
	if (!text)
		return -errno;
	return uid && strtol(uid, NULL, 10) == pattern->number;
}

/* ---- control groups, pods, jobs -------------------------------------------------------------- */

static int match_cgroup(const struct selector *s, const struct pattern *pattern, struct proc *p)
{
	const char *text = proc_read(p, PROC_CGROUP, NULL);

	(void)s;
	return text ? cgroup_matches(text, pattern->text) : -errno;
}

static int match_pod(const struct selector *s, const struct pattern *pattern, struct proc *p)
{
	const char *text = proc_read(p, PROC_CGROUP, NULL);
	struct cgroup_names names;
	char name[80];

	if (!text)
		return -errno;
	cgroup_read_names(text, &names);
	if (!*names.pod)
		return 0;
	if (!strcasecmp(names.pod, pattern->text))
		return 1;
	if (identity_pod_name(s->node, p, name, sizeof(name)))
		return !fnmatch(pattern->text, name, 0);
	return proc_read(p, PROC_ENVIRON, NULL) ? 0 : -errno;
}

static bool same_job(const char *job, const char *wanted)
{
	size_t len = strlen(wanted);

	return !strncmp(job, wanted, len) && (!job[len] || job[len] == '.');
}

static int match_job(const struct selector *s, const struct pattern *pattern, struct proc *p)
{
	const char *groups = proc_read(p, PROC_CGROUP, NULL);
	struct cgroup_names names = { .job = "" };
	struct environment_finding job;
	struct environment env;

	(void)s;
	if (groups)
		cgroup_read_names(groups, &names);
	if (*names.job)
		return same_job(names.job, pattern->text);
	env = environment_read(p);
	if (!env.block)
		return -errno;
	job = environment_get(&env, ENVIRONMENT_JOB);
	return job.value && same_job(job.value, pattern->text);
}

/* ---- devices --------------------------------------------------------------------------------- */

static int check_gpu(struct selector *s, struct pattern *p)
{
	if (!s->has_gpus)
		gpus_read(&s->gpus);
	s->has_gpus = true;
	p->number = gpus_find(&s->gpus, p->text, &p->is_instance);
	return p->number < 0 && !p->is_instance ? -EINVAL : 0;
}

static int match_gpu(const struct selector *s, const struct pattern *pattern, struct proc *p)
{
	const char *source;
	struct gpu_set set = gpus_of_process(&s->gpus, p, &source);

	if (!set.gpus)
		return proc_read(p, PROC_ENVIRON, NULL) ? 0 : -errno;
	if (!pattern->is_instance)
		return set.gpus >> pattern->number & 1;
	return pattern->number >= 0 && gpu_set_has_instance(&set, (size_t)pattern->number);
}

bool selector_names_instances(const struct selector *s)
{
	for (size_t i = 0; i < s->patterns.n; i++)
		if (s->patterns.v[i].is_instance)
			return true;
	return false;
}

const char *selector_set_instances(struct selector *s, const struct gpu_instance *found, size_t n)
{
	const char *missing = NULL;

	gpus_set_instances(&s->gpus, found, n);
	for (size_t i = 0; i < s->patterns.n; i++) {
		struct pattern *p = &s->patterns.v[i];

		if (!p->is_instance)
			continue;
		p->number = gpus_find(&s->gpus, p->text, &p->is_instance);
		if (p->number < 0 && !missing)
			missing = p->text;
	}
	return missing;
}

void selector_print_instances(const struct selector *s, struct strbuf *out)
{
	for (size_t i = 0; i < s->gpus.n_instances; i++) {
		const struct gpu_instance *at = &s->gpus.instance[i];

		strbuf_addf(out, "%s%u:%u", i ? ", " : "", at->gpu, at->place);
		if (*at->uuid)
			strbuf_addf(out, " (%s)", at->uuid);
	}
}

/* ---- kinds ----------------------------------------------------------------------------------- */

static const struct {
	const char *name;
	int (*check)(struct selector *s, struct pattern *p);	/* NULL: any text will do */
	int (*match)(const struct selector *s, const struct pattern *pattern, struct proc *p);
} kinds[SELECT_KINDS] = {
	[SELECT_NAME] = { "name", check_glob, match_name },
	[SELECT_USER] = { "user", check_user, match_user },
	[SELECT_CGROUP] = { "cgroup", check_glob, match_cgroup },
	[SELECT_POD] = { "pod", check_glob, match_pod },
	[SELECT_JOB] = { "job", NULL, match_job },
	[SELECT_GPU] = { "gpu", check_gpu, match_gpu },
};

static const uint8_t by_cost[SELECT_KINDS] = {
	SELECT_CGROUP, SELECT_USER, SELECT_NAME, SELECT_POD, SELECT_JOB, SELECT_GPU,
};

const char *select_kind_name(enum select_kind kind)
{
	return kinds[kind].name;
}

struct selector *selector_new(void)
{
	struct selector *s = calloc(1, sizeof(*s));
	struct utsname un;

	if (s && !uname(&un))
		snprintf(s->node, sizeof(s->node), "%s", un.nodename);
	return s;
}

void selector_free(struct selector *s)
{
	if (!s)
		return;
	for (size_t i = 0; i < s->patterns.n; i++)
		free(s->patterns.v[i].text);
	VEC_FREE(&s->patterns);
	free(s);
}

static int add(struct selector *s, enum select_kind kind, const char *text, size_t len)
{
	struct pattern *p = len ? VEC_PUSH(&s->patterns) : NULL;
	int err = 0;

	if (!p)
		return len ? -ENOMEM : -EINVAL;
	*p = (struct pattern){ .kind = (uint8_t)kind, .text = strndup(text, len) };
	if (!p->text)
		err = -ENOMEM;
	else if (kinds[kind].check)
		err = kinds[kind].check(s, p);
	if (err) {
		free(p->text);
		s->patterns.n--;
	}
	return err;
}

int selector_add(struct selector *s, enum select_kind kind, const char *list)
{
	int err;

	for (;;) {
		size_t len = strcspn(list, ",");

		err = add(s, kind, list, len);
		if (err || !list[len])
			return err;
		list += len + 1;
	}
}

void selector_describe(const struct selector *s, struct strbuf *out)
{
	unsigned int last = SELECT_KINDS;

	for (unsigned int kind = 0; kind < SELECT_KINDS; kind++)
		for (size_t i = 0; i < s->patterns.n; i++) {
			const char *before = last == SELECT_KINDS ? "" : " ";

			if (s->patterns.v[i].kind != kind)
				continue;
			if (kind == last)
				strbuf_addf(out, ",%s", s->patterns.v[i].text);
			else
				strbuf_addf(out, "%s%s=%s", before, kinds[kind].name,
					    s->patterns.v[i].text);
			last = kind;
		}
}

int selector_matches(const struct selector *s, struct proc *p)
{
	int rc = 1;

	/* Of each kind that was given, one pattern at least. */
	for (size_t k = 0; rc == 1 && k < SELECT_KINDS; k++)
		for (size_t i = 0, tried = 0; i < s->patterns.n && (!tried || !rc); i++) {
			if (s->patterns.v[i].kind != by_cost[k])
				continue;
			rc = kinds[by_cost[k]].match(s, &s->patterns.v[i], p);
			tried++;
		}
	return rc;
}

bool selector_waits(const struct selector *s)
{
	return s->has_gpus;
}
