// SPDX-License-Identifier: BSD-3-Clause
/*
 * One pass over the file, in pieces, keeping for each address only where its name stands. Knows
 * nothing of frames.
 */
#include "stack/perfmap.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/num.h"
#include "base/sorted.h"
#include "host/proc.h"
#include "target/target_mapping.h"

#define PIECE (64u << 10)	/* longer lines are cut */
#define MAX_ANSWERS (1u << 24)	/* lines that hold an address; a file of lies has more */

/* ---- lines -------------------------------------------------------------------------------- */

static unsigned int digit_of(char c)
{
	if (c >= '0' && c <= '9')
		return (unsigned int)(c - '0');
	c |= 0x20;
	return c >= 'a' && c <= 'f' ? (unsigned int)(c - 'a') + 10 : 16;
}

/* A hex number and the blank behind it. */
static bool take_hex(const char **at, const char *end, uint64_t *out)
{
	const char *p = *at;
	uint64_t value = 0;

	if (end - p > 2 && p[0] == '0' && p[1] == 'x')
		p += 2;
	for (*at = p; p < end && p - *at <= 16 && digit_of(*p) < 16; p++)
		value = value << 4 | digit_of(*p);
	if (p == *at || p - *at > 16 || p == end || *p != ' ')
		return false;
	*at = p + 1;
	*out = value;
	return true;
}

struct perfmap_line {
	uint64_t start, size;
	const char *name;	/* not terminated */
	size_t len;
};

/* False: no such line. len without the newline. */
static bool perfmap_parse(const char *line, size_t len, struct perfmap_line *out)
{
	const char *at = line, *end = line + len;

	if (!take_hex(&at, end, &out->start) || !take_hex(&at, end, &out->size) || at == end ||
	    out->size > UINT64_MAX - out->start)
		return false;
	out->name = at;
	out->len = num_min((uint64_t)(end - at), PERFMAP_NAME_MAX);
	return out->size;
}

/* ---- the pass ----------------------------------------------------------------------------- */

struct answer {			/* where the name of an address stands so far */
	uint64_t start;
	uint64_t at;		/* in the file */
	uint32_t len;		/* 0: nowhere */
};

struct pass {
	struct perfmap_query *query;
	struct answer *answer;
	size_t n;
	uint32_t answers;
};

static int compare_queries(const void *a, const void *b)
{
	const struct perfmap_query *x = a, *y = b;

	return num_compare(x->address, y->address);
}

static void take_line(struct pass *p, const char *line, size_t len, uint64_t at)
{
	struct perfmap_line l;

	if (!perfmap_parse(line, len, &l))
		return;
	for (size_t i = SORTED_BELOW(p->query, p->n, address, l.start); i < p->n; i++) {
		if (p->query[i].address - l.start >= l.size || p->answers >= MAX_ANSWERS)
			return;
		p->answers++;
		p->answer[i] = (struct answer){ l.start, at + (uint64_t)(l.name - line),
						(uint32_t)l.len };
	}
}

static int read_lines(struct pass *p, int fd)
{
	char *buf = malloc(PIECE);
	uint64_t at = 0;
	int err = 0;

	if (!buf)
		return -ENOMEM;
	while (at < PERFMAP_BYTES_MAX) {
		ssize_t n = pread(fd, buf, PIECE, (off_t)at);
		size_t done = 0;
		const char *end;

		if (n <= 0) {
			err = n ? -errno : 0;
			break;
		}
		while ((end = memchr(buf + done, '\n', (size_t)n - done))) {
			take_line(p, buf + done, (size_t)(end - buf) - done, at + done);
			done = (size_t)(end - buf) + 1;
		}
		if (!done) {	/* no newline: too long, or the last one */
			take_line(p, buf, (size_t)n, at);
			done = (size_t)n;
		}
		at += done;
	}
	free(buf);
	return err;
}

static int read_names(const struct pass *p, int fd)
{
	for (size_t i = 0; i < p->n; i++) {
		const struct answer *a = &p->answer[i];
		char *name;

		if (!a->len)
			continue;
		name = calloc(1, (size_t)a->len + 1);
		if (!name)
			return -ENOMEM;
		p->query[i].start = a->start;
		/* It may have changed since; the present content is no worse than the earlier. */
		if (pread(fd, name, a->len, (off_t)a->at) == (ssize_t)a->len && *name)
			p->query[i].name = name;
		else
			free(name);
	}
	return 0;
}

int perfmap_name(int fd, struct perfmap_query *queries, size_t n)
{
	struct pass p = { .query = queries, .n = n };
	int err;

	if (!n)
		return 0;
	for (size_t i = 0; i < n; i++)
		queries[i] = (struct perfmap_query){ .owner = queries[i].owner,
						     .address = queries[i].address };
	qsort(queries, n, sizeof(*queries), compare_queries);
	p.answer = calloc(n, sizeof(*p.answer));
	if (!p.answer)
		return -ENOMEM;
	err = read_lines(&p, fd);
	if (!err)
		err = read_names(&p, fd);
	free(p.answer);
	return err;
}

/* ---- the file ----------------------------------------------------------------------------- */

/* Whose it is, and which pid it knows itself by. 0 or -errno. */
static int read_owner(pid_t pid, uint32_t *inner, uint32_t *uid)
{
	struct proc p;
	int err = proc_open(&p, pid);
	const char *text = err ? NULL : proc_read(&p, PROC_STATUS, NULL), *user;

	if (!err && !text)
		err = -errno;
	user = text ? proc_status_field(text, "Uid") : NULL;
	if (!err && (!user || sscanf(user, "%" SCNu32, uid) != 1))
		err = -EBADMSG;
	*inner = text ? proc_inner_pid(text) : 0;
	if (!*inner)
		*inner = (uint32_t)pid;
	proc_close(&p);
	return err;
}

int perfmap_open(pid_t pid)
{
	uint32_t inner, uid;
	struct stat st;
	char path[32];
	int fd = read_owner(pid, &inner, &uid);

	if (fd < 0)
		return fd;
	snprintf(path, sizeof(path), "/tmp/perf-%u.map", inner);
	fd = target_open_in_root(pid, path);
	if (fd < 0)
		return fd;
	if (!fstat(fd, &st) && S_ISREG(st.st_mode) && (st.st_uid == uid || !st.st_uid))
		return fd;
	close(fd);
	return -EPERM;
}
