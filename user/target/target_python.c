// SPDX-License-Identifier: BSD-3-Clause
/*
 * The places where pip, conda and Debian put libraries for a Python interpreter: a few prefixes
 * (virtual environment, installation, PYTHONHOME, the user's own) times a few patterns below
 * them. A superset of sys.path, since a directory too many costs a glob, one too few a gap.
 */
#include "target/target_python.h"

#include <errno.h>
#include <glob.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>

#include "base/io.h"

#define CONFIG_MAX 65536

/* From a prefix to directories of packages; "" is for the prefix's own libraries (conda). */
static const char *const package_dirs[] = {
	"lib/python3*/site-packages",
	"lib64/python3*/site-packages",
	"lib/python3*/dist-packages",
	"local/lib/python3*/dist-packages",
};

/* From a directory of packages to directories of libraries. */
static const char *const library_dirs[] = {
	"nvidia/*/lib",
	"torch/lib",
	"jax_plugins/*",
};

#define N(array) (sizeof(array) / sizeof((array)[0]))

bool python_is_interpreter(const char *path)
{
	return !strncmp(str_basename(path), "python", 6);
}

static void add_escaped(struct strbuf *sb, const char *text)
{
	for (; *text; text++) {
		if (strchr("\\*?[", *text))
			strbuf_addch(sb, '\\');
		strbuf_addch(sb, *text);
	}
}

static int each_match(const struct link_host *host, const struct strbuf *pattern)
{
	glob_t found;
	int rc = 0;

	if (pattern->failed)
		return -ENOMEM;
	if (glob(pattern->s, GLOB_ONLYDIR, NULL, &found))
		return 0;
	for (size_t i = 0; i < found.gl_pathc && !rc; i++)
		rc = link_each_wanted(host, found.gl_pathv[i]);
	globfree(&found);
	return rc;
}

/* packages is a pattern below base; NULL: base itself holds packages. */
static int each_package_dir(const struct link_host *host, const char *base, const char *packages)
{
	struct strbuf pattern = STRBUF_INIT;
	int rc = 0;

	for (size_t i = 0; i < N(library_dirs) && !rc; i++) {
		strbuf_reset(&pattern);
		add_escaped(&pattern, base);
		if (packages)
			strbuf_addf(&pattern, "/%s", packages);
		strbuf_addf(&pattern, "/%s", library_dirs[i]);
		rc = each_match(host, &pattern);
	}
	strbuf_free(&pattern);
	return rc;
}

static int each_prefix(const struct link_host *host, const char *prefix)
{
	struct strbuf lib = STRBUF_INIT;
	int rc;

	strbuf_addf(&lib, "%s/lib", prefix);
	rc = lib.failed ? -ENOMEM : link_each_wanted(host, lib.s);
	strbuf_free(&lib);
	for (size_t i = 0; i < N(package_dirs) && !rc; i++)
		rc = each_package_dir(host, prefix, package_dirs[i]);
	return rc;
}

/* The directory `up` levels above path, made canonical; "" when there is none. */
static void parent_of(const char *path, const char *up, char out[static PATH_MAX])
{
	struct strbuf sb = STRBUF_INIT;
	const char *slash = strrchr(path, '/');

	strbuf_add(&sb, path, slash ? (size_t)(slash - path) : 0);
	strbuf_addf(&sb, "%s%s", slash ? "/" : "", up);
	if (sb.failed || !realpath(sb.s, out))
		out[0] = '\0';
	strbuf_free(&sb);
}

/* "home = /usr/bin" of pyvenv.cfg: where the interpreter of a virtual environment comes from. */
static int each_venv_home(const struct link_host *host, const char *dir)
{
	struct strbuf path = STRBUF_INIT;
	char prefix[PATH_MAX], *text, *line, *rest;
	int rc = 0;

	strbuf_addf(&path, "%s/pyvenv.cfg", dir);
	text = path.failed ? NULL : io_read_file(path.s, CONFIG_MAX, NULL);
	for (line = text ? strtok_r(text, "\n", &rest) : NULL; line && !rc;
	     line = strtok_r(NULL, "\n", &rest)) {
		char *value = line + strcspn(line, " \t=");

		if (value - line != 4 || strncmp(line, "home", 4))
			continue;
		value += strspn(value, " \t=");
		value[strcspn(value, "\r")] = '\0';
		strbuf_reset(&path);
		strbuf_addf(&path, "%s/python", value);
		parent_of(path.s, "..", prefix);
		rc = *prefix ? each_prefix(host, prefix) : 0;
	}
	free(text);
	strbuf_free(&path);
	return rc;
}

/* The interpreter under this name: bin/.., and what a virtual environment there points to. */
static int each_home(const struct link_host *host, const char *path)
{
	char dir[PATH_MAX];
	int rc;

	parent_of(path, "..", dir);
	if (!*dir)
		return 0;
	rc = each_prefix(host, dir);
	if (!rc)
		rc = each_venv_home(host, dir);
	parent_of(path, ".", dir);
	return rc || !*dir ? rc : each_venv_home(host, dir);
}

static int each_python_path(const struct link_host *host)
{
	const char *list = link_getenv(host->env, "PYTHONPATH");
	int rc = 0;

	while (list && !rc) {
		size_t len = strcspn(list, ":");
		char *dir = strndup(len ? list : ".", len ? len : 1);

		rc = dir ? each_package_dir(host, dir, NULL) : -ENOMEM;
		free(dir);
		list = list[len] ? list + len + 1 : NULL;
	}
	return rc;
}

/* PYTHONHOME, and the user's own packages. */
static int each_env_prefix(const struct link_host *host)
{
	const char *home = link_getenv(host->env, "PYTHONHOME");
	const char *base = link_getenv(host->env, "PYTHONUSERBASE");
	const char *user = link_getenv(host->env, "HOME");
	struct strbuf sb = STRBUF_INIT;
	int rc = 0;

	if (home && *home) {
		strbuf_add(&sb, home, strcspn(home, ":"));
		rc = sb.failed ? -ENOMEM : each_prefix(host, sb.s);
	}
	strbuf_reset(&sb);
	if (base && *base)
		strbuf_addstr(&sb, base);
	else if (user && *user)
		strbuf_addf(&sb, "%s/.local", user);
	if (!rc && sb.len)
		rc = sb.failed ? -ENOMEM : each_prefix(host, sb.s);
	strbuf_free(&sb);
	return rc;
}

int python_each_file(const struct link_host *host, const char *path)
{
	char real[PATH_MAX];
	int rc;

	if (!host->wanted)
		return 0;
	rc = each_python_path(host);
	if (!rc)
		rc = each_home(host, path);
	if (!rc && realpath(path, real) && strcmp(real, path))
		rc = each_home(host, real);
	return rc ? rc : each_env_prefix(host);
}
