/* SPDX-License-Identifier: BSD-3-Clause */
/* The columns of a table, as data: what their cells hold, and what may be done with them. */
#ifndef VIEW_COLUMN_H
#define VIEW_COLUMN_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

enum cell_type {
	CELL_TEXT,
	CELL_INT,	/* text form: thousands as 1,234,567 */
	CELL_NS,	/* nanoseconds; text form: 1.234 ms */
	CELL_BYTES,	/* text form: 1.5 MiB */
	CELL_SHARE,	/* 0..1; text form: 12.3 % */
	CELL_REAL,	/* text form: three digits, or thousands as 11,148 */
	CELL_ID,	/* integer that is a name (pid): never grouped */
	/* a device's number on the host (event/device_number.h): 0, or of a MIG instance 0:1; csv
	 * and json: its GPU's */
	CELL_DEVICE,
	CELL_BOOL,	/* u is 0 or 1; text form: yes, no; csv and json: true, false */
	/* frames joined by ';', outermost first; json: an array; text form: below the row,
	 * innermost first */
	CELL_STACK,
	CELL_PROSE,	/* sentences; text form: below the row, under its title */
	CELL_COMMAND,	/* to be typed: the same, on one line however long */
};

/* The meaning of a column's numbers: which of them add up, and how two rows of one key are
 * compared. */
enum column_role {
	ROLE_KEY = 1,	/* rows of one table differ in these */
	ROLE_LABEL,	/* describes the row */
	ROLE_SUM,	/* adds up over rows and captures */
	ROLE_TOTAL,	/* adds up over captures; the same in all rows of a book */
	ROLE_MEAN,	/* a mean, a quantile or a rate: compared, never added */
	ROLE_MAX,
	ROLE_MIN,
	ROLE_SHARE,	/* of a total: computed anew after adding */
};

struct column {
	const char *name;	/* as in csv and json; never changes its meaning */
	const char *title;	/* text form; NULL: the name without its unit suffix */
	uint8_t type;		/* enum cell_type */
	uint8_t wide;		/* 1: shown in text form only with --wide; COLUMN_* */
	uint8_t role;		/* enum column_role */
	const char *help;	/* one line */
};

/* Shown in text form with --wide, or where a number is not 0; or the first column is unknown; or
 * there is room for it beside numbers. */
#define COLUMN_RARE 2
#define COLUMN_INSTEAD 3
#define COLUMN_SPARE 4

/* Columns of several tables. */
#define COLUMN_PID { "pid", NULL, CELL_ID, 0, ROLE_KEY, "process id on the host" }
#define COLUMN_COMM { "comm", NULL, CELL_TEXT, 0, ROLE_LABEL, \
	"name of the process, as the kernel has it" }
#define COLUMN_DEVICE { "device", NULL, CELL_DEVICE, 0, ROLE_KEY, \
	"number of the device on the host; of a MIG instance, its GPU's" }
#define COLUMN_MIG { "mig", NULL, CELL_ID, 1, ROLE_KEY, \
	"number of the MIG instance on its GPU; no instance: unknown" }

struct column_title {
	char s[48];
};

/* The heading in text and md. */
static inline struct column_title column_title(const struct column *c)
{
	size_t len = strlen(c->name);
	struct column_title text;

	if (len > 3 && !strcmp(c->name + len - 3, "_ns"))
		len -= 3;
	else if (len > 6 && !strcmp(c->name + len - 6, "_bytes"))
		len -= 6;
	if (c->title)
		snprintf(text.s, sizeof(text.s), "%s", c->title);
	else if (!strcmp(c->name, "ns"))
		snprintf(text.s, sizeof(text.s), "time");
	else
		snprintf(text.s, sizeof(text.s), "%.*s", (int)len, c->name);
	return text;
}

/* The cells of such columns have s. */
static inline bool cell_is_text(unsigned int type)
{
	return type == CELL_TEXT || type == CELL_STACK || type == CELL_PROSE ||
	       type == CELL_COMMAND;
}

/* The column of this name or title; index or -ENOENT. */
int column_find(const struct column *columns, unsigned int n, const char *name);

#endif
