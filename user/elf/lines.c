// SPDX-License-Identifier: BSD-3-Clause
/*
 * The parent's side: the child and its limits, and reading its output, which is as hostile as
 * its input: `INDEX TEXT` lines. The child's use of libdw is in lines_dwarf.c.
 */
#include "elf/lines.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/time.h"
#include "elf/elf.h"
#include "elf/lines_dwarf.h"

#define SECONDS 10u
#define MEMORY_MAX (4ull << 30)
#define ANSWER_MAX (16u << 20)
#define NO_USER 65534u

/* ---- the child ---------------------------------------------------------------------------- */

static void limit(int what, uint64_t most)
{
	struct rlimit r = { most, most };

	setrlimit(what, &r);
}

static void give_up_rights(void)
{
	limit(RLIMIT_CPU, SECONDS);
	limit(RLIMIT_CORE, 0);
	limit(RLIMIT_FSIZE, 0);
#ifndef __SANITIZE_ADDRESS__		/* its shadow takes terabytes of addresses */
	limit(RLIMIT_AS, MEMORY_MAX);
#endif
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	/* EPERM: the session has given the right to do so away, and others with it. */
	if (!geteuid() && (setgroups(0, NULL) || setresgid(NO_USER, NO_USER, NO_USER) ||
			   setresuid(NO_USER, NO_USER, NO_USER)) && errno != EPERM)
		_exit(1);
}

static void answer(int fd, int to, const struct elf_line *lines, size_t n)
{
	FILE *out = fdopen(to, "w");
	int err;

	give_up_rights();
	if (!out)
		_exit(1);
	err = dwarf_answer(fd, lines, n, out);
	if (fflush(out))
		_exit(1);
	_exit(err == -ENOENT ? 2 : err ? 1 : 0);
}

/* ---- the parent --------------------------------------------------------------------------- */

static int read_all(int fd, struct strbuf *sb)
{
	uint64_t end_ns = time_now_ns() + SECONDS * NS_PER_SEC;
	struct pollfd p = { .fd = fd, .events = POLLIN };
	char buf[16384];

	for (;;) {
		uint64_t now_ns = time_now_ns();
		ssize_t n;

		if (now_ns >= end_ns || !poll(&p, 1, (int)((end_ns - now_ns) / NS_PER_MS) + 1))
			return -ETIME;
		n = read(fd, buf, sizeof(buf));
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n ? -errno : 0;
		strbuf_add(sb, buf, (size_t)n);
		if (sb->len > ANSWER_MAX)
			return -EBADMSG;
		if (sb->failed)
			return -ENOMEM;
	}
}

static int take_answers(char *text, struct elf_line *lines, size_t n)
{
	char *save = NULL, *end;

	for (char *line = strtok_r(text, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
		unsigned long i = strtoul(line, &end, 10);

		if (end == line || *end != ' ' || i >= n || lines[i].text)
			continue;
		lines[i].text = strdup(end + 1);
		if (!lines[i].text)
			return -ENOMEM;
	}
	return 0;
}

static int judge(pid_t child, int err)
{
	int status = 0;

	if (err)
		kill(child, SIGKILL);
	while (waitpid(child, &status, 0) < 0 && errno == EINTR)
		;
	if (err)
		return err;
	if (WIFSIGNALED(status))
		return WTERMSIG(status) == SIGXCPU ? -ETIME : -EBADMSG;
	return WEXITSTATUS(status) == 2 ? -ENOENT : WEXITSTATUS(status) ? -EBADMSG : 0;
}

int elf_find_lines(int fd, struct elf_line *lines, size_t n)
{
	struct strbuf sb = STRBUF_INIT;
	int pipes[2], err, taken = 0;
	pid_t child;

	for (size_t i = 0; i < n; i++)
		lines[i].text = NULL;
	if (!dwarf_is_built_in())
		return -ENOTSUP;
	if (pipe2(pipes, O_CLOEXEC))
		return -errno;
	child = fork();
	if (!child)
		answer(fd, pipes[1], lines, n);
	err = child < 0 ? -errno : 0;
	close(pipes[1]);
	if (!err)
		err = judge(child, read_all(pipes[0], &sb));
	close(pipes[0]);
	/* Lines written before it failed are as good as without the failure. */
	if (sb.len && !sb.failed)
		taken = take_answers(sb.s, lines, n);
	strbuf_free(&sb);
	return taken ? taken : err;
}

/* ---- files -------------------------------------------------------------------------------- */

static int open_of_build(const char *path, const char *build_id)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	struct elf_file *ef = NULL;
	char hex[ELF_BUILD_ID_TEXT] = "";
	struct stat st;

	if (fd < 0)
		return -errno;
	if (!fstat(fd, &st) && S_ISREG(st.st_mode))
		ef = elf_file_open(fd, path);
	if (ef)
		elf_build_id(ef, hex, sizeof(hex));
	elf_file_close(ef);
	if (*hex && !strcmp(hex, build_id))
		return fd;
	close(fd);
	return -ENOENT;
}

int elf_open_debug(const char *path, const char *build_id)
{
	char debug[256];
	int fd;

	if (strlen(build_id) < 4 || strlen(build_id) >= ELF_BUILD_ID_TEXT ||
	    strspn(build_id, "0123456789abcdef") != strlen(build_id))
		return -ENOENT;
	snprintf(debug, sizeof(debug), "/usr/lib/debug/.build-id/%.2s/%s.debug", build_id,
		 build_id + 2);
	fd = open_of_build(debug, build_id);
	return fd >= 0 ? fd : open_of_build(path, build_id);
}
