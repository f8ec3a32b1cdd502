// SPDX-License-Identifier: BSD-3-Clause
/*
 * The parent's side: the child and its limits, and reading its output, which is as hostile as
 * its input: `INDEX TEXT` lines. The child uses libdw, and may crash.
 */
#include "elf/lines.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#ifdef GPUPROF_LIBDW
#include <dwarf.h>
#include <elfutils/libdw.h>
#endif

#include "base/time.h"
#include "elf/demangle.h"
#include "elf/elf.h"

/* ---- debug info ------------------------------------------------------------------------------ */

#ifdef GPUPROF_LIBDW

static const bool dwarf_is_built_in = true;

struct place {
	const char *file;	/* NULL: unknown */
	int line;
};

/* Characters that would end the output line, or a frame of it, are left out. */
static void put_safe(FILE *out, const char *s, size_t max)
{
	for (size_t i = 0; i < max && s[i]; i++)
		if (s[i] != '\n' && s[i] != ';')
			fputc(s[i], out);
}

static void put_function(FILE *out, Dwarf_Die *die)
{
	struct strbuf shown = STRBUF_INIT;
	Dwarf_Attribute a;
	const char *name = dwarf_formstring(dwarf_attr_integrate(die, DW_AT_linkage_name, &a));

	if (!name)
		name = dwarf_diename(die);
	elf_demangle(&shown, name ? name : "?");
	put_safe(out, shown.s, ELF_SHOWN_MAX);
	strbuf_free(&shown);
}

/* Where the function that was put here was called. */
static struct place place_of_call(Dwarf_Die *cu, Dwarf_Die *inlined)
{
	Dwarf_Word file = 0, line = 0;
	struct place p = { .file = NULL };
	Dwarf_Attribute a;
	Dwarf_Files *files;
	size_t n;

	if (dwarf_formudata(dwarf_attr(inlined, DW_AT_call_line, &a), &line) ||
	    dwarf_formudata(dwarf_attr(inlined, DW_AT_call_file, &a), &file) ||
	    dwarf_getsrcfiles(cu, &files, &n) || file >= n)
		return p;
	p.file = dwarf_filesrc(files, file, NULL, NULL);
	p.line = (int)line;
	return p;
}

static bool is_function(Dwarf_Die *die)
{
	return dwarf_tag(die) == DW_TAG_inlined_subroutine || dwarf_tag(die) == DW_TAG_subprogram;
}

/* scopes: the innermost first; the last function among them is the one that stands there. */
static void put_scopes(FILE *out, Dwarf_Die *cu, Dwarf_Addr at, Dwarf_Die *scopes, int n)
{
	Dwarf_Die *function[ELF_LINES_INLINED];
	size_t k = 0;

	for (int i = 0; i < n && k < ELF_LINES_INLINED; i++) {
		if (!is_function(&scopes[i]))
			continue;
		function[k++] = &scopes[i];
		if (dwarf_tag(&scopes[i]) == DW_TAG_subprogram)
			break;
	}
	while (k--) {
		Dwarf_Line *line = k ? NULL : dwarf_getsrc_die(cu, at);
		struct place p = { .file = line ? dwarf_linesrc(line, NULL, NULL) : NULL };

		if (line)
			dwarf_lineno(line, &p.line);
		else if (k)
			p = place_of_call(cu, function[k - 1]);
		put_function(out, function[k]);
		if (p.file && p.line > 0) {
			fputs(" (", out);
			put_safe(out, str_basename(p.file), 256);
			fprintf(out, ":%d)", p.line);
		}
		fputs(k ? ";" : "\n", out);
	}
}

static void put_line(FILE *out, Dwarf *d, size_t i, Dwarf_Addr at)
{
	Dwarf_Die cu, *innermost = NULL, *scopes = NULL;
	bool has_function = false;
	int n = 0;

	if (!dwarf_addrdie(d, at, &cu))
		return;
	/* Around an inlined function these are the scopes of its definition; those of the place
	 * that it was put into are its parents. */
	if (dwarf_getscopes(&cu, at, &innermost) > 0)
		n = dwarf_getscopes_die(&innermost[0], &scopes);
	for (int k = 0; k < n; k++)
		has_function |= is_function(&scopes[k]);
	if (has_function) {
		fprintf(out, "%zu ", i);
		put_scopes(out, &cu, at, scopes, n);
	}
	free(innermost);
	free(scopes);
}

/* Writes "INDEX TEXT\n" for each of the lines that debug info has. 0, -ENOENT: there is none. */
static int dwarf_answer(int fd, const struct elf_line *lines, size_t n, FILE *out)
{
	Dwarf *d = dwarf_begin(fd, DWARF_C_READ);

	if (!d)
		return -ENOENT;
	for (size_t i = 0; i < n; i++)
		put_line(out, d, i, lines[i].vaddr);
	dwarf_end(d);
	return 0;
}

#else

static const bool dwarf_is_built_in = false;

static int dwarf_answer(int fd, const struct elf_line *lines, size_t n, FILE *out)
{
	(void)fd, (void)lines, (void)n, (void)out;
	return -ENOTSUP;
}

#endif

/* ---- its limits ------------------------------------------------------------------------------ */

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
	if (!dwarf_is_built_in)
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
