// SPDX-License-Identifier: BSD-3-Clause
#include "inject/install.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/xattr.h>
#include <unistd.h>
#include <xxhash.h>

#include "base/io.h"
#include "base/log.h"
#include "base/num.h"
#include "base/str.h"
#include "gpuprof/ring.h"
#include "host/environment.h"
#include "host/proc.h"
#include "host/users.h"

/* of image_bytes.S */
extern const char inject_image_begin[], inject_image_end[];

const void *inject_image(size_t *len)
{
	*len = (uintptr_t)inject_image_end - (uintptr_t)inject_image_begin;
	return inject_image_begin;
}

ssize_t inject_image_write(int fd)
{
	size_t len;
	const void *image = inject_image(&len);
	int err = io_write_all(fd, image, len);

	if (!err &&
	    fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE | F_SEAL_SEAL))
		err = -errno;
	return err ? err : (ssize_t)len;
}

/* ---- environment ----------------------------------------------------------------------------- */

bool inject_is_helper(const char *path)
{
	return !strcmp(str_basename(path), INJECT_FILE);
}

const char *inject_foreign(const char *name)
{
	const char *path = getenv(name);

	return path && *path && !inject_is_helper(path) ? path : NULL;
}

void inject_environment(const char *file)
{
	const char *before = inject_foreign(INJECT_CUDA);
	char reader[24];

	if (before)
		setenv(INJECT_CHAIN, before, 1);
	setenv(INJECT_CUDA, file, 1);
	if (!inject_foreign(INJECT_NVTX))
		setenv(INJECT_NVTX, file, 1);
	snprintf(reader, sizeof(reader), "%d", (int)getppid());
	setenv("GPUPROF_ARM", reader, 0);
}

bool inject_may_load(pid_t pid)
{
	struct environment env;
	bool may = true;
	struct proc p;

	if (!proc_open(&p, pid)) {
		env = environment_read(&p);
		may = !env.block || environment_find(&env, INJECT_CUDA) ||
		      environment_find(&env, INJECT_NVTX);
	}
	proc_close(&p);
	return may;
}

/* ---- room ------------------------------------------------------------------------------------ */

bool inject_lacks_room(pid_t pid, char *why, size_t size)
{
	/* as in user/helper/ring.c */
	uint64_t least = num_max((uint64_t)sysconf(_SC_PAGESIZE), GP_RING_HEAD_BYTES) +
			 (uint64_t)GP_RING_SLOTS * GP_RING_BYTES_MIN;
	struct rlimit limit;

	if (prlimit(pid, RLIMIT_FSIZE, NULL, &limit) || limit.rlim_cur == RLIM_INFINITY ||
	    limit.rlim_cur >= least)
		return false;
	snprintf(why, size, "it may have no file of more than %" PRIu64 " KiB, and the helper "
		 "needs one of %" PRIu64 " KiB in memory; raise `ulimit -f`",
		 (uint64_t)limit.rlim_cur / 1024, least / 1024);
	return true;
}

/* ---- install --------------------------------------------------------------------------------- */

#define OTHERS (S_IWGRP | S_IWOTH)
#define INSTALL_WHY_BYTES (2 * PATH_MAX + 256)

char *install_default_dir(void)
{
	const char *state = getenv("XDG_STATE_HOME"), *home = getenv("HOME");
	char *dir = NULL;
	int n;

	if (!geteuid())
		return strdup(INSTALL_SYSTEM_DIR);
	if (state && *state == '/')
		n = asprintf(&dir, "%s/gpuprof", state);
	else if (home && *home == '/')
		n = asprintf(&dir, "%s/.local/state/gpuprof", home);
	else
		return errno = ENOENT, NULL;
	return n < 0 ? NULL : dir;
}

static int cannot(char *why, const char *what, const char *dir, int err)
{
	snprintf(why, INSTALL_WHY_BYTES, "cannot %s %s: %s; choose another one with --dir", what,
		 dir, strerror(err));
	return -err;
}

/* May only root and we put something else where this is, if it is where only they can replace
 * it? */
static bool is_ours_alone(const char *path, const struct stat *st)
{
	if (st->st_uid && st->st_uid != geteuid())
		return false;
	if (S_ISLNK(st->st_mode))
		return true;
	if (!S_ISDIR(st->st_mode))
		return false;
	if (!(st->st_mode & OTHERS) || st->st_mode & S_ISVTX)
		return true;
	/* With an access control list the group's bits of the mode bound what others may do. */
	if (st->st_mode & S_IWOTH || lgetxattr(path, "system.posix_acl_access", NULL, 0) >= 0 ||
	    (errno != ENODATA && errno != EOPNOTSUPP))
		return false;
	/* Where users have a group of their own, umask is 002 and ~/.local has mode 0775. */
	return users_has_private_group(geteuid(), st->st_gid);
}

#define LINKS_MAX 40

struct way {			/* through a path, as the kernel goes */
	char done[PATH_MAX - 2];	/* without links, "" for the root */
	char todo[2 * PATH_MAX];
	unsigned int links;
	bool is_missing, is_open;	/* the last part: it was; others can replace it */
};

static int follow(struct way *w, const char *link, const char *rest)
{
	char target[PATH_MAX], all[2 * PATH_MAX];
	ssize_t n = readlink(link, target, sizeof(target) - 1);

	if (n < 0 || ++w->links > LINKS_MAX)
		return n < 0 ? -errno : -ELOOP;
	target[n] = '\0';
	if (snprintf(all, sizeof(all), "%s/%s", target, rest) >= (int)sizeof(all))
		return -ENAMETOOLONG;
	memcpy(w->todo, all, strlen(all) + 1);
	if (*target == '/')
		*w->done = '\0';
	return 0;
}

/* Readable by all: the process that loads it may be another user's. Only root and we can replace
 * the directory it is made in, or files made there. */
static int make_part(const char *part)
{
	int fd, err;

	if (mkdir(part, 0755))
		return errno == EEXIST ? 0 : -errno;
	fd = open(part, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	err = fd < 0 || fchmod(fd, 0755) ? -errno : 0;	/* whatever the umask is */
	io_close(&fd);
	return err;
}

static int look_at(struct way *w, const char *part, struct stat *st)
{
	int err = lstat(part, st) ? -errno : 0;

	w->is_missing = err == -ENOENT;
	if (w->is_missing) {
		err = make_part(part);
		if (!err && lstat(part, st))
			err = -errno;
	}
	if (!err && !S_ISDIR(st->st_mode) && !S_ISLNK(st->st_mode))
		err = -ENOTDIR;
	w->is_open = !err && !is_ours_alone(part, st);
	return w->is_open ? -EPERM : err;
}

/* One step, checked: 0 or -errno. */
static int step(struct way *w, char part[PATH_MAX])
{
	const char *name = w->todo + strspn(w->todo, "/");
	size_t len = strcspn(name, "/");
	char rest[2 * PATH_MAX];
	struct stat st;
	size_t n;
	int err;

	snprintf(rest, sizeof(rest), "%s", name + len);
	if (len == 2 && !memcmp(name, "..", 2)) {
		char *last = strrchr(w->done, '/');

		*(last ? last : w->done) = '\0';
		snprintf(part, PATH_MAX, "%s/", w->done);
	} else if (!len || (len == 1 && *name == '.')) {
		snprintf(part, PATH_MAX, "%s/", w->done);
	} else if (snprintf(part, PATH_MAX, "%s/%.*s", w->done, (int)len, name) >= PATH_MAX - 2) {
		return -ENAMETOOLONG;
	}
	err = look_at(w, part, &st);
	if (err)
		return err;
	if (S_ISLNK(st.st_mode))
		return follow(w, part, rest);
	n = strlen(part);
	n -= part[n - 1] == '/';
	memcpy(w->done, part, n);
	w->done[n] = '\0';
	memcpy(w->todo, rest, strlen(rest) + 1);
	return 0;
}

/* Each directory and each link on the way to it, from the root: missing ones are made where all
 * before are ours alone. dir: absolute; given: for messages. */
static int make_dir(const char *dir, const char *given, char *why)
{
	char part[PATH_MAX] = "/";
	struct way *w = calloc(1, sizeof(*w));
	struct stat st;
	int err = w ? 0 : -ENOMEM;

	if (!err)
		err = look_at(w, part, &st);
	if (!err && snprintf(w->todo, sizeof(w->todo), "%s", dir) >= (int)sizeof(w->todo))
		err = -ENAMETOOLONG;
	while (!err && *w->todo)
		err = step(w, part);
	if (w && w->is_open)
		snprintf(why, INSTALL_WHY_BYTES, "cannot install the helper in %s: others can "
			 "write to %s, and would run their code in every process that loads it; "
			 "choose another directory with --dir", dir, part);
	else if (err)
		cannot(why, err == -ENOTDIR || (w && w->is_missing) ? "make the directory" :
		       "use the directory", given, -err);
	free(w);
	return err;
}

/* As it was given, so that a link goes on to lead where it will. NULL + errno. */
static char *absolute(const char *dir)
{
	struct strbuf out = STRBUF_INIT;
	char *here = *dir == '/' ? NULL : getcwd(NULL, 0);

	if (*dir != '/' && !here)
		return NULL;
	strbuf_addstr(&out, here ? here : "");
	free(here);
	for (const char *at = dir; at[0]; ) {
		size_t len;

		at += strspn(at, "/");
		len = strcspn(at, "/");
		if (len && !(len == 1 && *at == '.'))
			strbuf_addf(&out, "/%.*s", (int)len, at);
		at += len;
	}
	if (!out.len)
		strbuf_addch(&out, '/');
	errno = ENOMEM;		/* detaching can fail for that only */
	return strbuf_detach(&out);
}

/* ".." cannot be left in: where a link leads elsewhere, it does. */
static char *without_up(char *path)
{
	const char *up = strstr(path, "/..");
	char *whole;

	while (up && up[3] && up[3] != '/')
		up = strstr(up + 3, "/..");
	if (!up)
		return path;
	whole = realpath(path, NULL);
	free(path);
	return whole;
}

static bool is_there(const char *path)
{
	struct stat st;
	size_t len, has = 0;
	const void *image = inject_image(&len);
	char *text;
	bool same;

	if (lstat(path, &st) || !S_ISREG(st.st_mode) || (st.st_mode & 07777) != 0644 ||
	    (st.st_uid && st.st_uid != geteuid()))
		return false;
	text = io_read_file(path, len, &has);
	same = text && has == len && !memcmp(text, image, len);
	free(text);
	return same;
}

/* Processes that have the old file keep it: its name is given to the new one. */
static int replace(const char *path)
{
	struct strbuf tmp = STRBUF_INIT;
	size_t len;
	const void *image = inject_image(&len);
	int fd, err;

	strbuf_addf(&tmp, "%s.XXXXXX", path);
	fd = tmp.failed ? -1 : mkostemp(tmp.s, O_CLOEXEC);
	err = tmp.failed ? -ENOMEM : fd < 0 ? -errno : io_write_all(fd, image, len);
	if (!err && (fchmod(fd, 0644) || fsync(fd) || rename(tmp.s, path)))
		err = -errno;
	if (fd >= 0 && err)
		unlink(tmp.s);
	io_close(&fd);
	strbuf_free(&tmp);
	return err;
}

static int install_in(const char *dir, char **path, char *why)
{
	int err;

	if (asprintf(path, "%s/" INJECT_FILE, dir) < 0) {
		*path = NULL;
		return cannot(why, "use the directory", dir, ENOMEM);
	}
	if (is_there(*path))
		return 1;
	err = replace(*path);
	if (err)
		snprintf(why, INSTALL_WHY_BYTES, "cannot write %s: %s; %s", *path, strerror(-err),
			 err == -EFBIG ? "raise the limit of files (ulimit -f)" :
					 "choose another directory with --dir");
	return err;
}

/* not logged: in why */
static int install_helper_quietly(const char *dir, char **path, char why[INSTALL_WHY_BYTES])
{
	char *whole = *dir ? absolute(dir) : (errno = ENOENT, NULL);
	int err = whole ? make_dir(whole, dir, why) : cannot(why, "use the directory", dir, errno);

	*path = NULL;
	if (!err && whole)
		whole = without_up(whole);
	if (!err)
		err = whole ? install_in(whole, path, why) :
			      cannot(why, "use the directory", dir, errno);
	free(whole);
	if (err < 0) {
		free(*path);
		*path = NULL;
	}
	return err;
}

int install_helper(const char *dir, char **path)
{
	char why[INSTALL_WHY_BYTES] = "";
	int err = install_helper_quietly(dir, path, why);

	if (err < 0)
		log_error("%s", why);
	return err;
}

/* ---- shared file ----------------------------------------------------------------------------- */

/* A security module may still refuse. 0 or -errno. */
static int try_map(int fd)
{
	long page = sysconf(_SC_PAGESIZE);
	void *code = mmap(NULL, (size_t)page, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);

	return code == MAP_FAILED || munmap(code, (size_t)page) ? -errno : 0;
}

static bool can_be_loaded(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	bool can = fd >= 0 && !try_map(fd);

	io_close(&fd);
	return can;
}

int install_look(int fd)
{
	size_t len, has = 0;
	const void *image = inject_image(&len);
	char *text = io_read_start(fd, len + 1, &has);
	int err = !text ? -errno : has != len || memcmp(text, image, len) ? 1 : try_map(fd);

	free(text);
	return err;
}

static char *make_in(const char *place)
{
	char dir[PATH_MAX], why[INSTALL_WHY_BYTES] = "", *path = NULL;
	size_t len;
	const void *image = inject_image(&len);

	/* Each user's own: in a directory for all, the first one owns the name. And each helper's:
	 * two that share a name would only replace each other. */
	snprintf(dir, sizeof(dir), "%s/gpuprof-%u-%016" PRIx64, place, geteuid(),
		 XXH64(image, len, 0));
	if (install_helper_quietly(dir, &path, why) < 0)
		log_debug("%s", why);
	if (path && can_be_loaded(path))
		return path;
	free(path);
	return NULL;
}

/* In the first of these directories (NULL ends them) that lets its files be executed and that
 * others cannot turn elsewhere. NULL: none. */
static char *shared_file_make_in(const char *const *places)
{
	char *path = NULL;
	struct statvfs fs;

	for (; *places && !path; places++)
		if (!statvfs(*places, &fs) && !(fs.f_flag & (ST_NOEXEC | ST_RDONLY)))
			path = make_in(*places);
	return path;
}

/* Many hosts forbid programs in /run, containers in /dev/shm. */
char *shared_file_make(void)
{
	const char *runtime = getenv("XDG_RUNTIME_DIR");
	char *installed = install_default_dir(), *path;

	if (!geteuid())
		path = shared_file_make_in((const char *const[]){ "/run", "/dev/shm", NULL });
	else
		path = shared_file_make_in((const char *const[]){
			runtime && *runtime == '/' ? runtime : "/dev/shm", "/dev/shm", NULL });
	if (!path && installed)
		path = make_in(installed);	/* which is made if need be */
	free(installed);
	return path;
}
