// SPDX-License-Identifier: BSD-3-Clause
/*
 * Files that a command is going to load: finds the program behind the words (PATH, "#!" lines,
 * wrappers such as env and nice) and collects the files that the linker, dlopen and Python will
 * load. Runs nothing. Knows nothing of probes: the caller's `wanted` selects libraries.
 */
#include "target/target.h"

#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

#include "base/io.h"
#include "base/str.h"
#include "base/vec.h"
#include "target/target_walk.h"
#include "target/target_link.h"

/* ---- target python ------------------------------------------------------------------------- */

/*
 * The places where pip, conda and Debian put libraries for a Python interpreter: a few prefixes
 * (virtual environment, installation, PYTHONHOME, the user's own) times a few patterns below
 * them. A superset of sys.path, since a directory too many costs a glob, one too few a gap.
 */

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

static bool python_is_interpreter(const char *path)
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

/* The interpreter under this name: bin/.., and the one that a virtual environment there refers
 * to. */
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

/* Reports the wanted libraries of the packages that the interpreter at path would import.
 * 0, the walk's callback's value, or -ENOMEM. */
static int python_each_file(const struct link_host *host, const char *path)
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

#define LEVELS_MAX 5		/* the command and four interpreters or wrapped commands */
#define SHEBANG_MAX 256		/* the kernel reads no more of a "#!" line */
#define CACHE_FILE "/etc/ld.so.cache"
#define DEFAULT_PATH "/bin:/usr/bin"

/* Programs that run the first of their words that is a command. */
static const char *const wrappers[] = {
	"chrt", "env", "ionice", "nice", "nohup", "numactl", "setarch", "setsid", "stdbuf",
	"taskset", "time", "timeout",
};

struct expect {
	struct link_host host;
	struct target_walk walk;
	VEC(char *) words;	/* of the command that is looked at; owned */
};

static bool is_wrapper(const char *path)
{
	for (size_t i = 0; i < sizeof(wrappers) / sizeof(wrappers[0]); i++)
		if (!strcmp(str_basename(path), wrappers[i]))
			return true;
	return false;
}

/* ---- words -------------------------------------------------------------------------------- */

static int add_word(struct expect *x, const char *text, size_t len)
{
	char **slot = VEC_PUSH(&x->words);

	if (!slot)
		return -ENOMEM;
	*slot = strndup(text, len);
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

/* ---- commands ----------------------------------------------------------------------------- */

static bool is_command(const char *path)
{
	struct stat st;

	return !stat(path, &st) && S_ISREG(st.st_mode) && !access(path, X_OK);
}

/* The file that a shell would run for word; caller frees. NULL: none (or out of memory). */
static char *find_command(const struct expect *x, const char *word)
{
	const char *dirs = link_getenv(x->host.env, "PATH");
	struct strbuf path = STRBUF_INIT;

	if (!*word)
		return NULL;
	if (strchr(word, '/'))
		return is_command(word) ? strdup(word) : NULL;
	for (dirs = dirs ? dirs : DEFAULT_PATH; dirs;) {
		size_t len = strcspn(dirs, ":");

		strbuf_reset(&path);
		strbuf_add(&path, len ? dirs : ".", len ? len : 1);
		strbuf_addf(&path, "/%s", word);
		if (!path.failed && is_command(path.s))
			return strbuf_detach(&path);
		dirs = dirs[len] ? dirs + len + 1 : NULL;
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
		rc = add_word(x, word, strlen(word));
	if (!rc)
		rc = add_word(x, script, strlen(script));
	for (size_t i = 1; i < n && !rc; i++)
		rc = add_word(x, x->words.v[i], strlen(x->words.v[i]));
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

	if (fd < 0)
		return fd;
	if (read_shebang(fd, line)) {
		rc = use_interpreter(x, path, line);
		close(fd);
		return rc;
	}
	rc = link_each_file(&x->host, path, fd);
	close(fd);
	if (!rc && python_is_interpreter(path))
		rc = python_each_file(&x->host, path);
	if (!rc && is_wrapper(path))
		unwrap(x);
	else
		drop_words(x, x->words.n);
	return rc;
}

static int visit_command(struct expect *x)
{
	int rc = 0;

	for (int level = 0; level < LEVELS_MAX && x->words.n && !rc; level++) {
		char *path = find_command(x, x->words.v[0]);

		if (!path)	/* only the command itself must exist: running it fails otherwise */
			return level ? 0 : -ENOENT;
		rc = visit_program(x, path);
		free(path);
	}
	return rc;
}

/* ---- dlopen by name ----------------------------------------------------------------------- */

static int visit_cached(void *ctx, const char *name, const char *path)
{
	struct expect *x = ctx;
	int fd, rc;

	if (!x->host.wanted(name))
		return 0;
	fd = io_open_regular(AT_FDCWD, path, false);
	if (fd < 0)
		return 0;
	rc = target_walk_report(&x->walk, 0, fd, path);
	close(fd);
	return rc;
}

int target_expect(char *const argv[], char *const env[], bool (*wanted)(const char *basename),
		  target_file_fn fn, void *ctx)
{
	struct ldcache *cache = ldcache_open(CACHE_FILE);	/* a host without one is fine */
	struct expect x = { .walk = { .fn = fn, .ctx = ctx } };
	int rc = 0;

	x.host = (struct link_host){
		.walk = &x.walk, .cache = cache, .env = env, .wanted = wanted,
	};
	for (; *argv && !rc; argv++)
		rc = add_word(&x, *argv, strlen(*argv));
	if (!rc)
		rc = x.words.n ? visit_command(&x) : -ENOENT;
	if (!rc && cache && wanted)
		rc = ldcache_each(cache, visit_cached, &x);
	drop_words(&x, x.words.n);
	VEC_FREE(&x.words);
	target_walk_end(&x.walk);
	ldcache_free(cache);
	return rc;
}
