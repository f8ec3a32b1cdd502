/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Selects processes by the properties that people know: name, user, control group, pod, job,
 * device. All kinds must match; patterns of one kind are alternatives. Const after it is made,
 * so any thread may use it.
 */
#ifndef HOST_SELECTOR_H
#define HOST_SELECTOR_H

#include <stdbool.h>

#include "base/str.h"
#include "host/proc.h"

enum select_kind {
	SELECT_NAME,	/* shell pattern: comm, or base name of the executable or script */
	SELECT_USER,	/* real user: a name or an id */
	SELECT_CGROUP,	/* see cgroup_matches */
	SELECT_POD,	/* shell pattern of its name, or its UID */
	SELECT_JOB,	/* its id; of 123.server also 123 */
	SELECT_GPU,	/* index, or (the beginning of) a UUID; of a MIG instance, too (0:1) */
	SELECT_KINDS
};

const char *select_kind_name(enum select_kind kind);	/* "name", ...: as the options */

struct selector;

struct selector *selector_new(void);	/* NULL + errno */
void selector_free(struct selector *s);

/* Patterns of one kind, with commas between them. 0, -ENOMEM, or -EINVAL: one is no pattern, or
 * means no user or device of this host. */
int selector_add(struct selector *s, enum select_kind kind, const char *list);

/* Is a MIG instance named? Then the caller passes NVML's instances, before anything is matched.
 * Returns a pattern without an instance, as it was given; NULL: all exist. */
struct gpu_instance;
bool selector_names_instances(const struct selector *s);
const char *selector_set_instances(struct selector *s, const struct gpu_instance *found, size_t n);
/* "0:0 (MIG-...), 0:1" */
void selector_print_instances(const struct selector *s, struct strbuf *out);

/* As it was given: "name=train,bench user=alice". */
void selector_describe(const struct selector *s, struct strbuf *out);

/* Does a process match? 1, 0, or -errno: ESRCH (gone), EACCES (a needed file cannot be read).
 * Reads only what the kinds given need. */
int selector_matches(const struct selector *s, struct proc *p);

/* May it match later without running another program: --gpu, since a device is opened after the
 * libraries are loaded. */
bool selector_waits(const struct selector *s);

#endif
