// SPDX-License-Identifier: BSD-3-Clause
/*
 * The search of the dynamic linker, as ld.so(8) documents it: which file each DT_NEEDED of a
 * program becomes on this host. Owns the order of the search and nothing else; must not run
 * anything, and takes every file it opens for hostile.
 *
 * Not followed: DT_FLAGS_1 NODEFLIB, audit libraries, musl's path files. A library missed here
 * is noticed when it is mapped.
 */
#include "target/target_link.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "base/io.h"
#include "base/vec.h"
#include "elf/elf.h"

#define OBJECTS_MAX 4096	/* files of one program; more is a lie */
#define NO_LOADER SIZE_MAX
#define PRELOAD_FILE "/etc/ld.so.preload"
#define PRELOAD_MAX 65536

struct object {
	char *origin;		/* $ORIGIN, owned, as the other texts */
	char *rpath;		/* DT_RPATH: also for the dependencies of its dependencies */
	char *runpath;		/* DT_RUNPATH: for what this needs itself */
	size_t loader;		/* index, or NO_LOADER */
	VEC(char *) needed;
};

struct linker {
	const struct link_host *host;
	VEC(struct object) objects;	/* in load order; the program is the first */
	VEC(char *) names;		/* needed names that were looked for */
	bool secure;			/* runs with more rights than its user: no LD_* */
	char home[PATH_MAX];		/* directory of the program interpreter */
	int rc;				/* not 0: the walk ends */
};

const char *link_getenv(char *const *env, const char *name)
{
	size_t len = strlen(name);

	for (; env && *env; env++)
		if (!strncmp(*env, name, len) && (*env)[len] == '=')
			return *env + len + 1;
	return NULL;
}

/* ---- names -------------------------------------------------------------------------------- */

/* $LIB: the name of the interpreter's directory below / or /usr. */
static const char *lib_name(const struct linker *l)
{
	const char *home = l->home;

	if (!strncmp(home, "/usr/", 5))
		return home + 5;
	return !strncmp(home, "/lib", 4) ? home + 1 : "lib";
}

static const char *platform_name(void)
{
	/* The kernel passes the address of a string. */
	const char *platform = (const char *)getauxval(AT_PLATFORM);

	return platform ? platform : "";
}

/* The length of a dynamic string token at text ("$ORIGIN" or "${ORIGIN}"), or 0. */
static size_t token_length(const char *text, const char *name)
{
	size_t len = strlen(name);

	if (text[0] != '$')
		return 0;
	if (text[1] == '{' && !strncmp(text + 2, name, len) && text[len + 2] == '}')
		return len + 3;
	if (strncmp(text + 1, name, len))
		return 0;
	/* $LIBRARY is not $LIB */
	if (text[len + 1] == '_' || isalnum((unsigned char)text[len + 1]))
		return 0;
	return len + 1;
}

/* text with its tokens replaced, or NULL: out of memory, or $ORIGIN where it is not trusted. */
static char *expand(const struct linker *l, size_t from, const char *text, size_t len)
{
	const struct { const char *token, *value; } table[] = {
		{ "ORIGIN", l->secure ? NULL : l->objects.v[from].origin },
		{ "LIB", lib_name(l) },
		{ "PLATFORM", platform_name() },
	};
	struct strbuf sb = STRBUF_INIT;

	for (size_t at = 0, skip; at < len; at += skip) {
		skip = 0;
		for (size_t i = 0; i < sizeof(table) / sizeof(table[0]) && !skip; i++) {
			skip = token_length(text + at, table[i].token);
			if (skip && !table[i].value) {
				strbuf_free(&sb);
				return NULL;
			}
			if (skip)
				strbuf_addstr(&sb, table[i].value);
		}
		if (!skip) {
			strbuf_addch(&sb, text[at]);
			skip = 1;
		}
	}
	return strbuf_detach(&sb);
}

/* Calls fn for each element of a list of paths; true ends it and is passed on. */
static bool each_element(struct linker *l, size_t from, const char *list, const char *separators,
			 bool (*fn)(struct linker *l, const char *text, const void *arg),
			 const void *arg)
{
	bool done = false;

	for (const char *p = list; p && !done && !l->rc;) {
		size_t len = strcspn(p, separators);
		char *text = expand(l, from, p, len);

		if (text)
			done = fn(l, text, arg);
		free(text);
		p = p[len] ? p + len + 1 : NULL;
	}
	return done;
}

/* ---- objects ------------------------------------------------------------------------------ */

static void add_tag(void *ctx, char kind, const char *text)
{
	struct object *o = ctx;
	char **slot = kind == 'N' ? VEC_PUSH(&o->needed) : kind == 'P' ? &o->rpath : &o->runpath;

	if (!slot)
		return;
	free(*slot);
	*slot = strdup(text);
}

static void free_object(struct object *o)
{
	for (size_t i = 0; i < o->needed.n; i++)
		free(o->needed.v[i]);
	VEC_FREE(&o->needed);
	free(o->origin);
	free(o->rpath);
	free(o->runpath);
}

static char *directory_of(const char *path)
{
	const char *slash = strrchr(path, '/');

	if (!slash)
		return strdup(".");
	return strndup(path, slash == path ? 1 : (size_t)(slash - path));
}

static int push_object(struct linker *l, const char *path, struct elf_file *ef, size_t loader)
{
	struct object *o = VEC_PUSH(&l->objects);

	if (!o)
		return -ENOMEM;
	o->loader = loader;
	o->origin = directory_of(path);
	/* The readable part of a malformed file is still probable. */
	elf_each_needed(ef, add_tag, o);
	return o->origin ? 0 : -ENOMEM;
}

/* Takes a file that the search has found. 0, or -errno: the search goes on elsewhere. */
static int add_object(struct linker *l, const char *path, int fd, size_t loader)
{
	struct target_walk *walk = l->host->walk;
	struct elf_file *ef;
	struct stat st;
	int is_new;

	if (l->objects.n >= OBJECTS_MAX)
		return -E2BIG;
	ef = elf_file_open(fd, path);
	if (!ef)
		return -errno;
	is_new = target_walk_mark(walk, fd, &st);
	if (is_new > 0)
		l->rc = push_object(l, path, ef, loader);
	else
		l->rc = is_new;
	elf_file_close(ef);
	if (is_new > 0 && !l->rc)
		l->rc = walk->fn(walk->ctx, &(struct target_file){
			.dev = st.st_dev, .ino = st.st_ino, .path = path, .fd = fd,
		});
	return 0;
}

static bool try_file(struct linker *l, const char *path, size_t loader)
{
	int fd = io_open_regular(AT_FDCWD, path, false), err;

	if (fd < 0)
		return false;
	err = add_object(l, path, fd, loader);
	close(fd);
	return !err;
}

/* ---- the search --------------------------------------------------------------------------- */

struct want {
	const char *name;
	size_t from;		/* the object that needs it */
};

static bool try_dir(struct linker *l, const char *dir, const void *arg)
{
	const struct want *want = arg;
	const char *const *level = ldcache_cpu_levels();
	bool found = false;
	struct strbuf path = STRBUF_INIT;

	if (!*dir)
		dir = ".";
	for (bool more = true; more && !found && !l->rc; level += more) {
		strbuf_reset(&path);
		more = *level;
		if (more)
			strbuf_addf(&path, "%s/glibc-hwcaps/%s/%s", dir, *level, want->name);
		else
			strbuf_addf(&path, "%s/%s", dir, want->name);
		found = !path.failed && try_file(l, path.s, want->from);
	}
	strbuf_free(&path);
	return found;
}

static bool search_rpath(struct linker *l, const struct want *want)
{
	if (l->objects.v[want->from].runpath)
		return false;
	for (size_t i = want->from; i != NO_LOADER; i = l->objects.v[i].loader)
		if (each_element(l, i, l->objects.v[i].rpath, ":", try_dir, want))
			return true;
	return false;
}

static const char *library_path(const struct linker *l)
{
	const char *list = l->secure ? NULL : link_getenv(l->host->env, "LD_LIBRARY_PATH");

	return list && *list ? list : NULL;
}

static bool search_library_path(struct linker *l, const struct want *want)
{
	return each_element(l, 0, library_path(l), ":;", try_dir, want);
}

static bool search_runpath(struct linker *l, const struct want *want)
{
	return each_element(l, want->from, l->objects.v[want->from].runpath, ":", try_dir, want);
}

static bool search_cache(struct linker *l, const struct want *want)
{
	const char *path = l->host->cache ? ldcache_find(l->host->cache, want->name) : NULL;

	return path && try_file(l, path, want->from);
}

static bool search_default(struct linker *l, const struct want *want)
{
	return try_dir(l, l->home, want) ||
	       each_element(l, 0, "/$LIB:/usr/$LIB:/lib:/usr/lib", ":", try_dir, want);
}

/* The order is the linker's. */
static bool (*const searches[])(struct linker *l, const struct want *want) = {
	search_rpath, search_library_path, search_runpath, search_cache, search_default,
};

static bool is_known(struct linker *l, const char *name)
{
	char **slot;

	for (size_t i = 0; i < l->names.n; i++)
		if (!strcmp(l->names.v[i], name))
			return true;
	slot = VEC_PUSH(&l->names);
	if (slot)
		*slot = strdup(name);
	if (slot && *slot)
		return false;
	l->names.n -= slot != NULL;
	l->rc = -ENOMEM;
	return true;
}

static bool load(struct linker *l, const char *name, const void *arg)
{
	const struct want want = { .name = name, .from = *(const size_t *)arg };
	bool found = false;

	if (!*name || is_known(l, name))
		return false;
	if (strchr(name, '/')) {
		try_file(l, name, want.from);
		return false;
	}
	for (size_t i = 0; i < sizeof(searches) / sizeof(searches[0]) && !found && !l->rc; i++)
		found = searches[i](l, &want);
	return false;
}

/* Breadth first, as the linker; objects grow meanwhile, so nothing keeps an address of them. */
static void load_all(struct linker *l)
{
	for (size_t i = 0; i < l->objects.n && !l->rc; i++)
		for (size_t k = 0; k < l->objects.v[i].needed.n && !l->rc; k++)
			each_element(l, i, l->objects.v[i].needed.v[k], "", load, &i);
}

static void load_preloads(struct linker *l)
{
	static const size_t program;
	char *text = io_read_file(PRELOAD_FILE, PRELOAD_MAX, NULL);

	if (!l->secure)
		each_element(l, 0, link_getenv(l->host->env, "LD_PRELOAD"), ": ", load, &program);
	if (text)
		each_element(l, 0, text, ": \t\n", load, &program);
	free(text);
}

/* ---- a program ---------------------------------------------------------------------------- */

static bool is_secure(int fd)
{
	struct stat st;

	if (fstat(fd, &st))
		return false;
	return (st.st_mode & S_ISUID) ||
	       (st.st_mode & (S_ISGID | S_IXGRP)) == (S_ISGID | S_IXGRP) ||
	       fgetxattr(fd, "security.capability", NULL, 0) > 0;
}

/* The interpreter's path into buf; false: the program is static. */
static bool read_interpreter(int fd, const char *path, char *buf, size_t size)
{
	struct elf_file *ef = elf_file_open(fd, path);
	const char *interp = ef ? elf_interpreter(ef) : NULL;
	size_t len = interp ? strnlen(interp, size) : 0;

	if (len == size)
		len = 0;
	memcpy(buf, interp ? interp : "", len);
	buf[len] = '\0';
	if (ef)
		elf_file_close(ef);
	return len;
}

static void load_interpreter(struct linker *l, const char *interp)
{
	char *real = realpath(interp, NULL), *home = real ? directory_of(real) : NULL;

	if (home && strlen(home) < sizeof(l->home))
		strcpy(l->home, home);
	else
		strcpy(l->home, "/lib");
	free(home);
	free(real);
	/* It is there already when something needs it by name, and needs nothing itself. */
	is_known(l, str_basename(interp));
	if (!l->rc)
		try_file(l, interp, NO_LOADER);
}

static bool visit_wanted_dir(struct linker *l, const char *dir, const void *arg)
{
	(void)arg;
	l->rc = link_each_wanted(l->host, *dir ? dir : ".");
	return l->rc;
}

static void each_dlopen_dir(struct linker *l)
{
	each_element(l, 0, library_path(l), ":;", visit_wanted_dir, NULL);
	each_element(l, 0, l->objects.v[0].rpath, ":", visit_wanted_dir, NULL);
	each_element(l, 0, l->objects.v[0].runpath, ":", visit_wanted_dir, NULL);
}

int link_each_file(const struct link_host *host, const char *path, int fd)
{
	struct linker l = { .host = host, .secure = is_secure(fd) };
	char *real = realpath(path, NULL);	/* $ORIGIN of a program is where it really is */
	char interp[PATH_MAX];
	bool dynamic = read_interpreter(fd, path, interp, sizeof(interp));
	int err = add_object(&l, real ? real : path, fd, NO_LOADER);

	if (!err && !l.rc && dynamic && l.objects.n) {
		load_interpreter(&l, interp);
		load_preloads(&l);
		load_all(&l);
		if (!l.rc)
			each_dlopen_dir(&l);
	}
	for (size_t i = 0; i < l.objects.n; i++)
		free_object(&l.objects.v[i]);
	for (size_t i = 0; i < l.names.n; i++)
		free(l.names.v[i]);
	VEC_FREE(&l.objects);
	VEC_FREE(&l.names);
	free(real);
	return err ? err : l.rc;
}

/* ---- dlopen ------------------------------------------------------------------------------- */

int link_each_wanted(const struct link_host *host, const char *dir)
{
	DIR *d = host->wanted ? opendir(dir) : NULL;
	struct strbuf path = STRBUF_INIT;
	struct dirent *entry;
	int rc = 0;

	while (d && !rc && (entry = readdir(d))) {
		int fd;

		if (!host->wanted(entry->d_name))
			continue;
		strbuf_reset(&path);
		strbuf_addf(&path, "%s/%s", dir, entry->d_name);
		fd = path.failed ? -ENOMEM : io_open_regular(AT_FDCWD, path.s, false);
		if (fd < 0)
			continue;
		rc = target_walk_report(host->walk, 0, fd, path.s);
		close(fd);
	}
	if (d)
		closedir(d);
	strbuf_free(&path);
	return rc;
}
