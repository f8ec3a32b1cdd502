// SPDX-License-Identifier: BSD-3-Clause
/*
 * Files that a command is going to load: the program behind the words (PATH, "#!" lines, wrappers
 * such as env and nice), what the dynamic linker makes of it, as ld.so(8) documents its search, and
 * what dlopen and Python load. Runs nothing, and takes every file it opens for hostile. Knows
 * nothing of probes: the caller's `wanted` selects libraries.
 *
 * Not followed: DT_FLAGS_1 NODEFLIB, audit libraries, musl's path files. A library missed here is
 * noticed when it is mapped.
 */
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "base/io.h"
#include "base/str.h"
#include "base/vec.h"
#include "elf/elf.h"
#include "target/target_walk.h"

/* ---- /etc/ld.so.cache ----------------------------------------------------------------------- */

/*
 * Which file the dynamic linker takes for a library name, in the format "glibc-ld.so.cache1.1",
 * alone (ldconfig since glibc 2.32) or behind the older "ld.so-1.7.0" table. The file is written by
 * root, yet every offset in it is checked.
 *
 * new format	magic[20] u32 n_libs u32 strings_len u8 flags u8[3] u32 extensions u32[3]
 *		n_libs x { s32 flags u32 name u32 path u32 osversion u64 hwcap }, strings
 * extensions	u32 magic u32 n, n x { u32 tag u32 flags u32 offset u32 size };
 *		tag 1: u32 string offsets, the CPU levels that hwcap's low half counts
 * All offsets count from the new format's magic.
 */
#define CACHE_MAX (64u << 20)
#define TEXT_MAX 4096	/* of a name or path */

#define OLD_MAGIC "ld.so-1.7.0"
#define OLD_HEADER 16		/* magic and its NUL, u32 n_libs */
#define OLD_ENTRY 12
#define NEW_MAGIC "glibc-ld.so.cache1.1"
#define NEW_HEADER 48
#define NEW_ENTRY 24

#define EXTENSION_MAGIC 0xeaa42174u
#define EXTENSION_CPU_LEVELS 1
#define HWCAP_LEVEL (1ull << 62)	/* hwcap: its low half is the index of a CPU level */

/* entry flags: an ELF library of glibc for this ABI */
#if defined(__x86_64__)
#define ABI_FLAGS 0x0303
#elif defined(__aarch64__)
#define ABI_FLAGS 0x0a03
#else
#error "gpuprof runs on x86-64 and arm64"
#endif

struct ldcache {
	char *data;		/* owned */
	const char *base;	/* the new format's magic, inside data */
	size_t len;		/* from base; base[len - 1] is followed by a NUL */
	uint32_t n_libs;
	uint32_t level_at, n_levels;	/* the array of CPU levels, from base */
};

/* Subdirectories of library directories for newer CPUs, the best first, that this CPU can run; NULL
 * ends them. The dynamic linker calls them glibc-hwcaps. */
static const char *const *ldcache_cpu_levels(void)
{
	static const char *const all[] = { "x86-64-v4", "x86-64-v3", "x86-64-v2", NULL };
#if defined(__x86_64__)
	__builtin_cpu_init();
	if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
	    __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq") &&
	    __builtin_cpu_supports("avx512vl"))
		return all;
	if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi2") &&
	    __builtin_cpu_supports("fma"))
		return all + 1;
	if (__builtin_cpu_supports("sse4.2") && __builtin_cpu_supports("popcnt"))
		return all + 2;
#endif
	return all + 3;
}

static uint32_t read_u32(const struct ldcache *cache, size_t at)
{
	uint32_t x;

	memcpy(&x, cache->base + at, sizeof(x));
	return x;
}

/* A string that ends within TEXT_MAX bytes (a NUL follows the last byte of the file), or NULL. */
static const char *text_at(const struct ldcache *cache, uint32_t at)
{
	return at < cache->len && strnlen(cache->base + at, TEXT_MAX) < TEXT_MAX ?
	       cache->base + at : NULL;
}

static bool inside(const struct ldcache *cache, uint64_t at, uint64_t size)
{
	return at <= cache->len && size <= cache->len - at;
}

/* Where the new format begins, or NULL. */
static const char *find_base(const char *data, size_t len)
{
	uint64_t at = 0;
	uint32_t n_old;

	if (len >= OLD_HEADER && !memcmp(data, OLD_MAGIC, sizeof(OLD_MAGIC) - 1)) {
		memcpy(&n_old, data + OLD_HEADER - sizeof(n_old), sizeof(n_old));
		at = (OLD_HEADER + (uint64_t)n_old * OLD_ENTRY + 7) & ~7ull;
	}
	return at <= len && len - at >= NEW_HEADER &&
	       !memcmp(data + at, NEW_MAGIC, sizeof(NEW_MAGIC) - 1) ? data + at : NULL;
}

static void find_levels(struct ldcache *cache)
{
	uint32_t at = read_u32(cache, 32), n;

	if (!at || !inside(cache, at, 8) || read_u32(cache, at) != EXTENSION_MAGIC)
		return;
	n = read_u32(cache, at + 4);
	if (!inside(cache, at + 8ull, n * 16ull))
		return;
	for (uint32_t i = 0; i < n; i++) {
		size_t section = at + 8ull + i * 16ull;
		uint32_t offset = read_u32(cache, section + 8);
		uint32_t size = read_u32(cache, section + 12);

		if (read_u32(cache, section) == EXTENSION_CPU_LEVELS &&
		    inside(cache, offset, size)) {
			cache->level_at = offset;
			cache->n_levels = size / 4;
		}
	}
}

static void ldcache_free(struct ldcache *cache)
{
	if (!cache)
		return;
	free(cache->data);
	free(cache);
}

/* The libraries of this machine's 64-bit ABI in data, which the cache then owns (freed with
 * free() also on failure). NULL + errno: EBADMSG (not a cache, or it lies), ENOMEM. */
static struct ldcache *ldcache_parse(char *data, size_t len)
{
	struct ldcache *cache = calloc(1, sizeof(*cache));
	char *ended = cache ? realloc(data, len + 1) : NULL;

	if (!ended) {
		free(data);
		free(cache);
		errno = ENOMEM;
		return NULL;
	}
	ended[len] = '\0';
	cache->data = ended;
	cache->base = find_base(ended, len);
	if (cache->base) {
		cache->len = len - (size_t)(cache->base - ended);
		cache->n_libs = read_u32(cache, 20);
	}
	if (!cache->base || !inside(cache, NEW_HEADER, (uint64_t)cache->n_libs * NEW_ENTRY)) {
		ldcache_free(cache);
		errno = EBADMSG;
		return NULL;
	}
	find_levels(cache);
	return cache;
}

static struct ldcache *ldcache_open(const char *path)
{
	size_t len;
	char *data = io_read_file(path, CACHE_MAX, &len);

	return data ? ldcache_parse(data, len) : NULL;
}

struct entry {
	const char *name, *path;
	unsigned int rank;	/* 0: this CPU cannot use it; 1: for any CPU; more is better */
};

static unsigned int level_rank(const struct ldcache *cache, uint64_t hwcap)
{
	const char *const *level = ldcache_cpu_levels();
	uint32_t index = (uint32_t)hwcap;
	unsigned int rank = 0;
	const char *name;

	if (!hwcap)
		return 1;
	if (!(hwcap & HWCAP_LEVEL) || index >= cache->n_levels)
		return 0;
	name = text_at(cache, read_u32(cache, cache->level_at + (size_t)index * 4));
	for (; *level && name; level++)		/* the last one is the worst, of rank 2 */
		rank += rank || !strcmp(*level, name);
	return rank ? rank + 1 : 0;
}

static struct entry read_entry(const struct ldcache *cache, uint32_t i)
{
	size_t at = NEW_HEADER + (size_t)i * NEW_ENTRY;
	struct entry e = { 0 };
	uint64_t hwcap;

	memcpy(&hwcap, cache->base + at + 16, sizeof(hwcap));
	e.name = text_at(cache, read_u32(cache, at + 4));
	e.path = text_at(cache, read_u32(cache, at + 8));
	if (read_u32(cache, at) == ABI_FLAGS && e.name && e.path)
		e.rank = level_rank(cache, hwcap);
	return e;
}

/* The path for a library name on this CPU, or NULL. Owned by the cache. */
static const char *ldcache_find(const struct ldcache *cache, const char *name)
{
	struct entry best = { 0 };

	for (uint32_t i = 0; i < cache->n_libs; i++) {
		struct entry e = read_entry(cache, i);

		if (e.rank > best.rank && !strcmp(e.name, name))
			best = e;
	}
	return best.path;
}

/* Every (name, path) that this CPU may use. fn: 0 goes on, another value is passed on. */
static int ldcache_each(const struct ldcache *cache,
			int (*fn)(void *ctx, const char *name, const char *path), void *ctx)
{
	int rc = 0;

	for (uint32_t i = 0; i < cache->n_libs && !rc; i++) {
		struct entry e = read_entry(cache, i);

		if (e.rank)
			rc = fn(ctx, e.name, e.path);
	}
	return rc;
}

/* ---- what all of it shares ------------------------------------------------------------------ */

#define N(array) (sizeof(array) / sizeof((array)[0]))

struct expect {
	struct target_walk walk;
	struct ldcache *cache;	/* NULL: there is none */
	char *const *env;	/* of the command */
	bool (*wanted)(const char *basename);	/* accepts files that dlopen may load; NULL: none */
	VEC(char *) words;	/* of the command that is looked at; owned */
};

/* The value of name in the command's environment, or NULL. */
static const char *get_env(const struct expect *x, const char *name)
{
	size_t len = strlen(name);

	for (char *const *env = x->env; env && *env; env++)
		if (!strncmp(*env, name, len) && (*env)[len] == '=')
			return *env + len + 1;
	return NULL;
}

/* The next element of a list like PATH, "." for an empty one, to out. False: there is none. */
static bool next_dir(const char **list, struct strbuf *out)
{
	size_t len;

	if (!*list)
		return false;
	len = strcspn(*list, ":");
	strbuf_reset(out);
	strbuf_add(out, len ? *list : ".", len ? len : 1);
	*list = (*list)[len] ? *list + len + 1 : NULL;
	return true;
}

/* A file that cannot be opened is skipped. */
static int report(struct expect *x, const char *path)
{
	int fd = io_open_regular(AT_FDCWD, path, false), rc;

	if (fd < 0)
		return 0;
	rc = target_walk_report(&x->walk, 0, fd, path);
	close(fd);
	return rc;
}

/* Reports the wanted files directly in dir. 0, the callback's value, or -ENOMEM. */
static int report_wanted(struct expect *x, const char *dir)
{
	DIR *d = x->wanted ? opendir(dir) : NULL;
	struct strbuf path = STRBUF_INIT;
	struct dirent *entry;
	int rc = 0;

	while (d && !rc && (entry = readdir(d))) {
		if (!x->wanted(entry->d_name))
			continue;
		strbuf_reset(&path);
		strbuf_addf(&path, "%s/%s", dir, entry->d_name);
		rc = path.failed ? 0 : report(x, path.s);
	}
	if (d)
		closedir(d);
	strbuf_free(&path);
	return rc;
}

/* ---- the dynamic linker --------------------------------------------------------------------- */

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
	struct expect *x;
	VEC(struct object) objects;	/* in load order; the program is the first */
	VEC(char *) names;		/* needed names that were looked for */
	bool secure;			/* runs with more rights than its user: no LD_* */
	char home[PATH_MAX];		/* directory of the program interpreter */
	int rc;				/* not 0: the walk ends */
};

/* $LIB: the name of the interpreter's directory below / or /usr. */
static const char *lib_name(const struct linker *l)
{
	const char *home = l->home;

	if (!strncmp(home, "/usr/", 5))
		return home + 5;
	return !strncmp(home, "/lib", 4) ? home + 1 : "lib";
}

/* The length of a dynamic string token at text ("$ORIGIN" or "${ORIGIN}"), or 0. */
static size_t token_length(const char *text, const char *name)
{
	size_t len = strlen(name);

	if (text[0] != '$')
		return 0;
	if (text[1] == '{' && !strncmp(text + 2, name, len) && text[len + 2] == '}')
		return len + 3;
	/* $LIBRARY is not $LIB */
	return strncmp(text + 1, name, len) || text[len + 1] == '_' ||
	       isalnum((unsigned char)text[len + 1]) ? 0 : len + 1;
}

/* text with its tokens replaced, or NULL: out of memory, or $ORIGIN where it is not trusted. */
static char *expand(const struct linker *l, size_t from, const char *text, size_t len)
{
	/* The kernel passes the address of a string. */
	const char *platform = (const char *)getauxval(AT_PLATFORM);
	const struct { const char *token, *value; } table[] = {
		{ "ORIGIN", l->secure ? NULL : l->objects.v[from].origin },
		{ "LIB", lib_name(l) },
		{ "PLATFORM", platform ? platform : "" },
	};
	struct strbuf sb = STRBUF_INIT;

	for (size_t at = 0, skip; at < len; at += skip) {
		skip = 0;
		for (size_t i = 0; i < N(table) && !skip; i++) {
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

static char *directory_of(const char *path)
{
	const char *slash = strrchr(path, '/');

	if (!slash)
		return strdup(".");
	return strndup(path, slash == path ? 1 : (size_t)(slash - path));
}


/* Takes a file that the search has found. 0, or -errno: the search goes on elsewhere. */
static int add_object(struct linker *l, const char *path, int fd, size_t loader)
{
	struct target_walk *walk = &l->x->walk;
	size_t seen = walk->seen.n;
	struct elf_file *ef;

	if (l->objects.n >= OBJECTS_MAX)
		return -E2BIG;
	ef = elf_file_open(fd, path);
	if (!ef)
		return -errno;
	l->rc = target_walk_report(walk, 0, fd, path);
	if (!l->rc && walk->seen.n > seen) {
		struct object *o = VEC_PUSH(&l->objects);

		if (o) {
			o->loader = loader;
			o->origin = directory_of(path);
			/* The readable part of a malformed file is still probable. */
			elf_each_needed(ef, add_tag, o);
		}
		l->rc = o && o->origin ? 0 : -ENOMEM;
	}
	elf_file_close(ef);
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
	const char *const *level = ldcache_cpu_levels();
	struct strbuf path = STRBUF_INIT;
	const struct want *want = arg;
	bool found = false;

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

static const char *library_path(const struct linker *l)
{
	const char *list = l->secure ? NULL : get_env(l->x, "LD_LIBRARY_PATH");

	return list && *list ? list : NULL;
}

/* The order is the linker's. */
static void search(struct linker *l, const struct want *want)
{
	const char *runpath = l->objects.v[want->from].runpath, *cached;

	for (size_t i = runpath ? NO_LOADER : want->from; i != NO_LOADER;
	     i = l->objects.v[i].loader)
		if (each_element(l, i, l->objects.v[i].rpath, ":", try_dir, want))
			return;
	if (each_element(l, 0, library_path(l), ":;", try_dir, want) ||
	    each_element(l, want->from, runpath, ":", try_dir, want) || l->rc)
		return;
	cached = l->x->cache ? ldcache_find(l->x->cache, want->name) : NULL;
	if (!(cached && try_file(l, cached, want->from)) && !try_dir(l, l->home, want))
		each_element(l, 0, "/$LIB:/usr/$LIB:/lib:/usr/lib", ":", try_dir, want);
}

static bool is_known(struct linker *l, const char *name)
{
	char **slot;

	for (size_t i = 0; i < l->names.n; i++)
		if (!strcmp(l->names.v[i], name))
			return true;
	slot = VEC_PUSH(&l->names);
	if (slot)
		*slot = strdup(name);
	if (!slot || !*slot)
		l->rc = -ENOMEM;
	return l->rc;
}

static bool load(struct linker *l, const char *name, const void *arg)
{
	const struct want want = { .name = name, .from = *(const size_t *)arg };

	if (!*name || is_known(l, name))
		return false;
	if (strchr(name, '/'))
		try_file(l, name, want.from);
	else
		search(l, &want);
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
		each_element(l, 0, get_env(l->x, "LD_PRELOAD"), ": ", load, &program);
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
	l->rc = report_wanted(l->x, *dir ? dir : ".");
	return l->rc;
}

/*
 * Reports the ELF program behind fd (which stays the caller's), its interpreter, preloaded
 * libraries, all dependencies in the linker's order, and the wanted files of the directories
 * that its dlopen searches. 0, the walk's callback's value, or -errno (ENOEXEC, EBADMSG: no
 * program). Missing dependencies are skipped: running the program will fail on them.
 */
static int link_program(struct expect *x, const char *path, int fd)
{
	struct linker l = { .x = x, .secure = is_secure(fd) };
	char *real = realpath(path, NULL);	/* $ORIGIN of a program is where it really is */
	char interp[PATH_MAX];
	bool dynamic = read_interpreter(fd, path, interp, sizeof(interp));
	int err = add_object(&l, real ? real : path, fd, NO_LOADER);

	if (!err && !l.rc && dynamic && l.objects.n) {
		load_interpreter(&l, interp);
		load_preloads(&l);
		load_all(&l);
		each_element(&l, 0, library_path(&l), ":;", visit_wanted_dir, NULL);
		each_element(&l, 0, l.objects.v[0].rpath, ":", visit_wanted_dir, NULL);
		each_element(&l, 0, l.objects.v[0].runpath, ":", visit_wanted_dir, NULL);
	}
	for (size_t i = 0; i < l.objects.n; i++) {
		struct object *o = &l.objects.v[i];

		for (size_t k = 0; k < o->needed.n; k++)
			free(o->needed.v[k]);
		VEC_FREE(&o->needed);
		free(o->origin);
		free(o->rpath);
		free(o->runpath);
	}
	for (size_t i = 0; i < l.names.n; i++)
		free(l.names.v[i]);
	VEC_FREE(&l.objects);
	VEC_FREE(&l.names);
	free(real);
	return err ? err : l.rc;
}

/* ---- Python --------------------------------------------------------------------------------- */

/*
 * The places where pip, conda and Debian put libraries for a Python interpreter: a few prefixes
 * (virtual environment, installation, PYTHONHOME, the user's own) times a few patterns below
 * them. A superset of sys.path, since a directory too many costs a glob, one too few a gap.
 */

#define CONFIG_MAX 65536

/* From a prefix to directories of packages. */
static const char *const package_dirs[] = {
	"lib/python3*/site-packages",
	"lib64/python3*/site-packages",
	"lib/python3*/dist-packages",
	"local/lib/python3*/dist-packages",
};

/* From a directory of packages to directories of libraries. */
static const char *const library_dirs[] = { "nvidia/*/lib", "torch/lib", "jax_plugins/*" };

static void add_escaped(struct strbuf *sb, const char *text)
{
	for (; *text; text++) {
		if (strchr("\\*?[", *text))
			strbuf_addch(sb, '\\');
		strbuf_addch(sb, *text);
	}
}

/* packages is a pattern below base; NULL: base itself holds packages. */
static int each_package_dir(struct expect *x, const char *base, const char *packages)
{
	struct strbuf pattern = STRBUF_INIT;
	int rc = 0;

	for (size_t i = 0; i < N(library_dirs) && !rc; i++) {
		glob_t found;

		strbuf_reset(&pattern);
		add_escaped(&pattern, base);
		if (packages)
			strbuf_addf(&pattern, "/%s", packages);
		strbuf_addf(&pattern, "/%s", library_dirs[i]);
		if (pattern.failed || glob(pattern.s, GLOB_ONLYDIR, NULL, &found))
			continue;
		for (size_t k = 0; k < found.gl_pathc && !rc; k++)
			rc = report_wanted(x, found.gl_pathv[k]);
		globfree(&found);
	}
	rc = !rc && pattern.failed ? -ENOMEM : rc;
	strbuf_free(&pattern);
	return rc;
}

static int each_prefix(struct expect *x, const char *prefix)
{
	struct strbuf lib = STRBUF_INIT;
	int rc;

	strbuf_addf(&lib, "%s/lib", prefix);
	rc = lib.failed ? -ENOMEM : report_wanted(x, lib.s);
	strbuf_free(&lib);
	for (size_t i = 0; i < N(package_dirs) && !rc; i++)
		rc = each_package_dir(x, prefix, package_dirs[i]);
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
static int each_venv_home(struct expect *x, const char *dir)
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
		rc = *prefix ? each_prefix(x, prefix) : 0;
	}
	free(text);
	strbuf_free(&path);
	return rc;
}

/* The interpreter under this name: bin/.., and the one that a virtual environment there refers
 * to. */
static int each_home(struct expect *x, const char *path)
{
	char dir[PATH_MAX];
	int rc;

	parent_of(path, "..", dir);
	if (!*dir)
		return 0;
	rc = each_prefix(x, dir);
	if (!rc)
		rc = each_venv_home(x, dir);
	parent_of(path, ".", dir);
	return rc || !*dir ? rc : each_venv_home(x, dir);
}

static int each_python_path(struct expect *x)
{
	const char *list = get_env(x, "PYTHONPATH");
	struct strbuf dir = STRBUF_INIT;
	int rc = 0;

	while (!rc && next_dir(&list, &dir))
		rc = dir.failed ? -ENOMEM : each_package_dir(x, dir.s, NULL);
	strbuf_free(&dir);
	return rc;
}

/* PYTHONHOME, and the user's own packages. */
static int each_env_prefix(struct expect *x)
{
	const char *home = get_env(x, "PYTHONHOME");
	const char *base = get_env(x, "PYTHONUSERBASE");
	const char *user = get_env(x, "HOME");
	struct strbuf sb = STRBUF_INIT;
	int rc = 0;

	if (home && *home) {
		strbuf_add(&sb, home, strcspn(home, ":"));
		rc = sb.failed ? -ENOMEM : each_prefix(x, sb.s);
	}
	strbuf_reset(&sb);
	if (base && *base)
		strbuf_addstr(&sb, base);
	else if (user && *user)
		strbuf_addf(&sb, "%s/.local", user);
	if (!rc && sb.len)
		rc = sb.failed ? -ENOMEM : each_prefix(x, sb.s);
	strbuf_free(&sb);
	return rc;
}

/* Reports the wanted libraries of the packages that the interpreter at path would import.
 * 0, the walk's callback's value, or -ENOMEM. */
static int each_python_file(struct expect *x, const char *path)
{
	int rc = each_python_path(x);
	char real[PATH_MAX];

	if (!rc)
		rc = each_home(x, path);
	if (!rc && realpath(path, real) && strcmp(real, path))
		rc = each_home(x, real);
	return rc ? rc : each_env_prefix(x);
}

/* ---- the command's words -------------------------------------------------------------------- */

#define LEVELS_MAX 5		/* the command and four interpreters or wrapped commands */
#define SHEBANG_MAX 256		/* the kernel reads no more of a "#!" line */
#define CACHE_FILE "/etc/ld.so.cache"
#define DEFAULT_PATH "/bin:/usr/bin"

/* Programs that run the first of their words that is a command. */
static const char *const wrappers[] = {
	"chrt", "env", "ionice", "nice", "nohup", "numactl", "setarch", "setsid", "stdbuf",
	"taskset", "time", "timeout",
};

static bool is_wrapper(const char *path)
{
	for (size_t i = 0; i < N(wrappers); i++)
		if (!strcmp(str_basename(path), wrappers[i]))
			return true;
	return false;
}

static int add_word(struct expect *x, const char *text)
{
	char **slot = VEC_PUSH(&x->words);

	if (!slot)
		return -ENOMEM;
	*slot = strdup(text);
	if (*slot)
		return 0;
	x->words.n--;
	return -ENOMEM;
}

static void drop_words(struct expect *x, size_t n)
{
	for (size_t i = 0; i < n; i++)
		free(x->words.v[i]);
	VEC_DROP_FIRST(&x->words, n);
}

static bool is_command(const char *path)
{
	struct stat st;

	return !stat(path, &st) && S_ISREG(st.st_mode) && !access(path, X_OK);
}

/* The file that a shell would run for word; caller frees. NULL: none (or out of memory). */
static char *find_command(struct expect *x, const char *word)
{
	const char *dirs = get_env(x, "PATH");
	struct strbuf path = STRBUF_INIT;

	if (!*word)
		return NULL;
	if (strchr(word, '/'))
		return is_command(word) ? strdup(word) : NULL;
	dirs = dirs ? dirs : DEFAULT_PATH;
	while (next_dir(&dirs, &path)) {
		strbuf_addf(&path, "/%s", word);
		if (!path.failed && is_command(path.s))
			return strbuf_detach(&path);
	}
	strbuf_free(&path);
	return NULL;
}

/*
 * `env -i A=b nice -n 5 python3 x.py`: the next command is the first word that is no option and
 * no assignment and that can be run. Numbers and file names rarely pass as commands.
 */
static void unwrap(struct expect *x)
{
	size_t i;

	for (i = 1; i < x->words.n; i++) {
		const char *word = x->words.v[i];
		char *path = *word == '-' || strchr(word, '=') ? NULL : find_command(x, word);

		free(path);
		if (path)
			break;
	}
	drop_words(x, i);
}

/* "#!/usr/bin/env -S python3 -u": the words of line come before those of the command. */
static int use_interpreter(struct expect *x, const char *script, char *line)
{
	size_t n = x->words.n;
	char *rest, *word;
	int rc = 0;

	for (word = strtok_r(line, " \t", &rest); word && !rc; word = strtok_r(NULL, " \t", &rest))
		rc = add_word(x, word);
	if (!rc)
		rc = add_word(x, script);
	for (size_t i = 1; i < n && !rc; i++)
		rc = add_word(x, x->words.v[i]);
	drop_words(x, n);
	return rc;
}

/* The text behind "#!" in fd into line; false: it is no script. */
static bool read_shebang(int fd, char line[static SHEBANG_MAX])
{
	ssize_t n = pread(fd, line, SHEBANG_MAX - 1, 0);

	if (n < 2 || memcmp(line, "#!", 2))
		return false;
	line[n] = '\0';
	line[strcspn(line, "\n")] = '\0';
	memmove(line, line + 2, strlen(line + 2) + 1);
	return true;
}

/* Reports the files that the program at path loads; the remaining words are the next command. */
static int visit_program(struct expect *x, const char *path)
{
	int fd = io_open_regular(AT_FDCWD, path, false), rc;
	char line[SHEBANG_MAX];
	bool is_script;

	if (fd < 0)
		return fd;
	is_script = read_shebang(fd, line);
	rc = is_script ? use_interpreter(x, path, line) : link_program(x, path, fd);
	close(fd);
	if (is_script)
		return rc;
	if (!rc && x->wanted && !strncmp(str_basename(path), "python", 6))
		rc = each_python_file(x, path);
	if (!rc && is_wrapper(path))
		unwrap(x);
	else
		drop_words(x, x->words.n);
	return rc;
}


static int visit_cached(void *ctx, const char *name, const char *path)
{
	return ((struct expect *)ctx)->wanted(name) ? report(ctx, path) : 0;
}

int target_expect(char *const argv[], char *const env[], bool (*wanted)(const char *basename),
		  target_file_fn fn, void *ctx)
{
	struct expect x = { .walk = { .fn = fn, .ctx = ctx }, .env = env, .wanted = wanted,
			    .cache = ldcache_open(CACHE_FILE) };
	int rc = 0;

	for (; *argv && !rc; argv++)
		rc = add_word(&x, *argv);
	if (!rc && !x.words.n)
		rc = -ENOENT;
	for (int level = 0; level < LEVELS_MAX && x.words.n && !rc; level++) {
		char *path = find_command(&x, x.words.v[0]);

		if (!path) {	/* only the command itself must exist: running it fails otherwise */
			rc = level ? 0 : -ENOENT;
			break;
		}
		rc = visit_program(&x, path);
		free(path);
	}
	if (!rc && x.cache && wanted)	/* for dlopen by name */
		rc = ldcache_each(x.cache, visit_cached, &x);
	drop_words(&x, x.words.n);
	VEC_FREE(&x.words);
	map_free(&x.walk.seen);
	ldcache_free(x.cache);
	return rc;
}
