// SPDX-License-Identifier: BSD-3-Clause
/*
 * The files a process maps executable, now: walks /proc/PID/maps and opens them, also when
 * deleted or in another mount namespace. Owns the opening of files that a target names. Must not
 * know of ELF or probes.
 */
#include "target/target.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "base/io.h"
#include "base/log.h"
#include "target/target_walk.h"
#include "target/target_mapping.h"

#define DELETED " (deleted)"
#define DELETED_LEN (sizeof(DELETED) - 1)


/* ---- one mapping -------------------------------------------------------------------------- */

struct mapping {
	uint64_t start, end, offset;
	uint64_t dev, ino;	/* as the kernel shows them; 0 unknown. May differ from stat's */
	char perms[5];
	char *path;		/* as d_path wrote it, newlines as they are */
	char *escaped;		/* the same before \012 was undone, owned; NULL when equal */
};

/* The kernel writes newlines as \012 and leaves backslashes alone. */
static void unescape(char *path)
{
	char *to = path;

	for (const char *from = path; *from; to++) {
		bool newline = !strncmp(from, "\\012", 4);

		*to = newline ? '\n' : *from;
		from += newline ? 4 : 1;
	}
	*to = '\0';
}

/* "55d0-55d2 r-xp 00002000 fe:00 247498    /usr/bin/head\n". The path points into line. */
static bool parse_mapping(char *line, struct mapping *m)
{
	unsigned int major, minor;
	int at = 0;

	if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %4s %" SCNx64 " %x:%x %" SCNu64 " %n",
		   &m->start, &m->end, m->perms, &m->offset, &major, &minor, &m->ino, &at) != 7 ||
	    !at)
		return false;
	m->dev = makedev(major, minor);
	line[strcspn(line, "\n")] = '\0';
	m->path = line + at;
	m->escaped = NULL;
	return true;
}

static bool is_code(const struct mapping *m)
{
	return strchr(m->perms, 'x') && m->ino && *m->path == '/';
}

static bool ends_deleted(const char *path)
{
	size_t len = strlen(path);

	return len > DELETED_LEN && !strcmp(path + len - DELETED_LEN, DELETED);
}

static int open_map_file(pid_t pid, const struct mapping *m)
{
	char link[80];

	snprintf(link, sizeof(link), "/proc/%d/map_files/%" PRIx64 "-%" PRIx64, pid, m->start,
		 m->end);
	return io_open_regular(AT_FDCWD, link, false);
}

static int open_root(pid_t pid)
{
	char root[40];
	int fd;

	snprintf(root, sizeof(root), "/proc/%d/root", pid);
	fd = open(root, O_PATH | O_DIRECTORY | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

/*
 * Another file may have taken the path. Overlay and btrfs show other devices in maps than in
 * stat; there they cannot be compared, but a replaced file would be marked as deleted.
 */
static int open_checked(int dirfd, const char *path, const struct mapping *m)
{
	int fd = io_open_regular(dirfd, path, true);
	struct stat st;

	if (fd < 0 || (!fstat(fd, &st) && (st.st_ino == m->ino ||
					   (st.st_dev != m->dev && !ends_deleted(m->path)))))
		return fd;
	close(fd);
	return -ENOENT;
}

static bool same_mount_namespace(pid_t pid)
{
	struct stat mine, theirs;
	char ns[40];

	snprintf(ns, sizeof(ns), "/proc/%d/ns/mnt", pid);
	return !stat("/proc/self/ns/mnt", &mine) && !stat(ns, &theirs) &&
	       mine.st_ino == theirs.st_ino && mine.st_dev == theirs.st_dev;
}

/* maps shows a chrooted process' files as seen from our root, a container's from its own. */
static int open_by_path(pid_t pid, const struct mapping *m)
{
	int root = open_root(pid), fd;

	if (root < 0)
		return root;
	fd = open_checked(root, m->path, m);
	if (fd == -ENOENT && m->escaped)	/* a name that really has \012 in it */
		fd = open_checked(root, m->escaped, m);
	close(root);
	if (fd != -ENOENT || !same_mount_namespace(pid))
		return fd;
	root = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (root < 0)
		return -errno;
	fd = open_checked(root, m->path, m);
	close(root);
	return fd;
}

static int open_mapping(pid_t pid, const struct mapping *m)
{
	int by_map = open_map_file(pid, m), fd;

	if (by_map >= 0)
		return by_map;
	fd = open_by_path(pid, m);
	if (fd >= 0 || !strncmp(m->path, "/memfd:", 7))
		return fd;
	if (by_map != -EPERM && by_map != -EACCES)
		return fd;
	log_debug("cannot open %s, which process %d has mapped: %s", m->path, pid, strerror(-fd));
	return -EACCES;
}

/* Takes " (deleted)" off unless the file is really called so. */
static void clean_path(pid_t pid, int fd, char *path)
{
	struct stat mapped, named;
	bool real = false;
	int root, at;

	if (!ends_deleted(path))
		return;
	root = open_root(pid);
	if (root >= 0) {
		at = io_open_path(root, path, true);
		real = at >= 0 && !fstat(at, &named) && !fstat(fd, &mapped) &&
		       named.st_ino == mapped.st_ino && named.st_dev == mapped.st_dev;
		if (at >= 0)
			close(at);
		close(root);
	}
	if (!real)
		path[strlen(path) - DELETED_LEN] = '\0';
}

static int report_open(struct target_walk *walk, pid_t pid, int fd, char *path)
{
	int rc;

	clean_path(pid, fd, path);
	rc = target_walk_report(walk, pid, fd, path);
	close(fd);
	return rc;
}

/* ---- all mappings ------------------------------------------------------------------------- */

/* Distinguishes "gone" from "hidden by the mount options of /proc". */
static bool pid_exists(pid_t pid)
{
	return !kill(pid, 0) || errno != ESRCH;
}

bool target_is_hidden(pid_t pid)
{
	char path[40];

	snprintf(path, sizeof(path), "/proc/%d", pid);
	return pid > 0 && access(path, F_OK) && errno == ENOENT && pid_exists(pid);
}

static int open_maps(pid_t pid, FILE **maps)
{
	char path[40];
	int err;

	if (pid <= 0)
		return -ESRCH;
	snprintf(path, sizeof(path), "/proc/%d/maps", pid);
	*maps = fopen(path, "re");
	if (*maps)
		return 0;
	err = errno;
	if (err == ENOENT)		/* gone, or /proc hides it (hidepid) */
		err = pid_exists(pid) ? EACCES : ESRCH;
	if (err == EPERM)
		err = EACCES;
	/* For one process an error, for a whole host a count: the caller reports it. */
	if (err != ESRCH && err != EACCES)
		log_error("cannot read %s: %s", path, strerror(err));
	return -err;
}

/* From within a chroot, paths of another mount namespace begin at its real root: the length of the
 * root of the process in them, which is written to root; 0: they begin at that one. */
static size_t foreign_root(pid_t pid, char *root, size_t size)
{
	char link[40];
	ssize_t len;

	snprintf(link, sizeof(link), "/proc/%d/root", pid);
	len = readlink(link, root, size);
	return len > 1 && (size_t)len < size && !same_mount_namespace(pid) ? (size_t)len : 0;
}


/* fn: 0 goes on. Lines that do not parse are skipped. */
static int each_mapping(pid_t pid, int (*fn)(void *ctx, struct mapping *m), void *ctx)
{
	char *line = NULL, root[PATH_MAX];
	size_t cap = 0, root_len;
	struct mapping m;
	FILE *maps;
	int rc = open_maps(pid, &maps);

	if (rc)
		return rc;
	root_len = foreign_root(pid, root, sizeof(root));
	while (!rc && (errno = 0, getline(&line, &cap, maps)) > 0) {
		if (!parse_mapping(line, &m))
			continue;
		if (strstr(m.path, "\\012")) {
			m.escaped = strdup(m.path);
			unescape(m.path);
		}
		if (root_len && !strncmp(m.path, root, root_len) && m.path[root_len] == '/') {
			m.path += root_len;
			if (m.escaped)
				memmove(m.escaped, m.escaped + root_len,
					strlen(m.escaped + root_len) + 1);
		}
		rc = fn(ctx, &m);
		free(m.escaped);
	}
	if (!rc && errno)
		rc = -errno;
	free(line);
	fclose(maps);
	return rc;
}

struct file_walk {
	struct target_walk walk;
	struct map tried;	/* mappings by what maps shows, to open each file once */
	pid_t pid;
	unsigned int opened, denied;
};


static int visit_mapping(void *ctx, struct mapping *m)
{
	uint64_t key = target_walk_key(m->dev, m->ino);
	struct file_walk *fw = ctx;
	bool is_new = false;
	int fd;

	if (!is_code(m))
		return 0;
	/* Subvolumes of btrfs share a device number here, so the path counts too. */
	for (const char *p = m->path; *p; p++)
		key = map_hash(key ^ (unsigned char)*p);
	if (!map_put(&fw->tried, key, &is_new))
		return -ENOMEM;
	if (!is_new)
		return 0;
	fd = open_mapping(fw->pid, m);
	fw->opened += fd >= 0;
	fw->denied += fd == -EACCES;
	return fd < 0 ? 0 : report_open(&fw->walk, fw->pid, fd, m->path);
}


int target_each_file(pid_t pid, target_file_fn fn, void *ctx)
{
	struct file_walk fw = { .walk = { .fn = fn, .ctx = ctx }, .pid = pid };
	int rc = each_mapping(pid, visit_mapping, &fw);

	map_free(&fw.tried);
	map_free(&fw.walk.seen);
	if (rc || !fw.denied)
		return rc;
	if (!fw.opened)		/* the process cannot be read: the caller reports that */
		return -EACCES;
	log_warn("cannot open %u of the files that process %d has mapped: permission denied; needs "
		 "CAP_CHECKPOINT_RESTORE and CAP_SYS_PTRACE", fw.denied, pid);
	return 0;
}

/* ---- the file of a mapping event ---------------------------------------------------------- */

struct find {
	struct target_walk walk;
	pid_t pid;
	uint64_t start;
	bool found;
};

static int visit_found(void *ctx, struct mapping *m)
{
	struct find *find = ctx;
	int fd;

	if (!is_code(m) || find->start < m->start || find->start >= m->end || find->found)
		return 0;
	find->found = true;
	fd = open_mapping(find->pid, m);
	return fd < 0 ? fd : report_open(&find->walk, find->pid, fd, m->path);
}

int target_mapped_file(pid_t pid, uint64_t start, uint64_t len, const char *path,
		       target_file_fn fn, void *ctx)
{
	struct mapping m = { .start = start, .end = start + len };
	struct find find = { .walk = { .fn = fn, .ctx = ctx }, .pid = pid, .start = start };
	int fd = open_map_file(pid, &m), rc;

	if (fd >= 0) {
		m.path = strdup(path ? path : "");
		rc = m.path ? report_open(&find.walk, pid, fd, m.path) : -ENOMEM;
		free(m.path);
	} else {
		/* Not permitted, or the mapping was split since: the linker maps a whole file
		 * and then replaces parts. */
		rc = each_mapping(pid, visit_found, &find);
		if (!rc && !find.found)
			rc = -ENOENT;
	}
	map_free(&find.walk.seen);
	return rc;
}

/* ---- the file of a mapping that is gone ------------------------------------------------------ */

struct search {
	struct target_walk walk;
	pid_t pid;		/* had it mapped */
	uint64_t ino;
	const char *path;
	struct map roots;	/* that were searched */
	bool found;
};

/* 0: there is no such process, or we may not look. */
static uint64_t root_key(pid_t pid)
{
	struct stat root, ns;
	char path[40];

	snprintf(path, sizeof(path), "/proc/%d/root", pid);
	if (stat(path, &root))
		return 0;
	snprintf(path, sizeof(path), "/proc/%d/ns/mnt", pid);
	return stat(path, &ns) ? 0 : target_walk_key(root.st_dev, root.st_ino) ^ ns.st_ino;
}

static int search_root(void *ctx, pid_t of)
{
	struct search *s = ctx;
	uint64_t key = root_key(of);
	struct stat st;
	bool is_new;
	int fd, rc = 0;

	if (!key)
		return 0;
	if (!map_put(&s->roots, key, &is_new))
		return -ENOMEM;
	fd = is_new ? target_open_in_root(of, s->path) : -ENOENT;
	if (fd < 0)
		return 0;
	s->found = !fstat(fd, &st) && st.st_ino == s->ino;
	if (s->found)
		rc = target_walk_report(&s->walk, s->pid, fd, s->path);
	close(fd);
	return rc ? rc : s->found;
}

int target_unmapped_file(pid_t pid, uint64_t ino, const char *path, target_file_fn fn, void *ctx)
{
	struct search s = { .walk = { .fn = fn, .ctx = ctx }, .pid = pid, .ino = ino,
			    .path = path };
	int rc = search_root(&s, getpid());

	if (!rc)
		rc = target_each_pid(search_root, &s);
	map_free(&s.roots);
	map_free(&s.walk.seen);
	if (s.found)
		return rc == 1 ? 0 : rc;
	return rc < 0 ? rc : -ENOENT;
}

/* ---- mappings for others ------------------------------------------------------------------ */

struct mapping_walk {
	target_mapping_fn fn;
	void *ctx;
	pid_t pid;
};

static int visit_any(void *ctx, struct mapping *m)
{
	struct mapping_walk *mw = ctx;
	struct target_mapping out = {
		.pid = mw->pid, .start = m->start, .end = m->end, .offset = m->offset,
		.dev = m->dev, .ino = m->ino, .path = m->path, .code = strchr(m->perms, 'x'),
		.internal = m,
	};

	return mw->fn(mw->ctx, &out);
}

int target_each_mapping(pid_t pid, target_mapping_fn fn, void *ctx)
{
	struct mapping_walk mw = { .fn = fn, .ctx = ctx, .pid = pid };

	return each_mapping(pid, visit_any, &mw);
}

int target_open_in_root(pid_t pid, const char *path)
{
	int root = open_root(pid), fd;

	if (root < 0)
		return root;
	fd = io_open_regular(root, path, true);
	close(root);
	return fd;
}

int target_mapping_open(const struct target_mapping *m)
{
	return open_mapping(m->pid, m->internal);
}
