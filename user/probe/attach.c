// SPDX-License-Identifier: BSD-3-Clause
/*
 * The probes of each file. A file is examined once (plan.h) and remembered; its links are made
 * once for each process filter. Owns the memory of files and the hand-over; must not know a
 * file's content or the processes that map it.
 */
#include "probe/attach.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/io.h"
#include "base/log.h"
#include "base/map.h"
#include "base/num.h"
#include "base/str.h"
#include "base/time.h"
#include "base/vec.h"
#include "elf/elf.h"
#include "probe/loader_read.h"
#include "probe/plan.h"

/*
 * Which file an open file really is, for the kernel's uprobes: they belong to an inode, and on
 * overlayfs that is the inode below. fstat(2) shows another one for each overlay, so a file keyed
 * by it would be probed several times and every call counted as often.
 */
struct file_key {
	uint64_t dev, ino;	/* dev in the kernel's own encoding: compare with keys only */
};

/* One mapping of our own, found again in the kernel's list of our mappings. */
static int find_mapping(int iter_fd, uint64_t start, struct file_key *out)
{
	struct gp_mapping rec;
	ssize_t n;

	/* The kernel delivers whole records: a read never ends inside one of this size. */
	while ((n = read(iter_fd, &rec, sizeof(rec))) != 0) {
		if (n < 0 && (errno == EINTR || errno == EAGAIN))
			continue;
		if (n != sizeof(rec))
			return n < 0 ? -errno : -EIO;
		if (rec.start != start || rec.pid != (uint32_t)getpid())
			continue;
		*out = (struct file_key){ .dev = rec.dev, .ino = rec.ino };
		return 0;
	}
	return -ENOENT;
}

/* Maps a page of the file and asks the kernel which file is mapped there. 0 or -errno, not
 * logged. */
static int file_key_read(const struct loader *l, int fd, struct file_key *out)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	void *at = mmap(NULL, page, PROT_READ, MAP_PRIVATE, fd, 0);
	int iter_fd, err;

	if (at == MAP_FAILED)
		return -errno;
	iter_fd = loader_open_mappings(l, getpid());
	err = iter_fd < 0 ? iter_fd : find_mapping(iter_fd, (uintptr_t)at, out);
	io_close(&iter_fd);
	munmap(at, page);
	return err;
}

/* ---- attach ---------------------------------------------------------------------------------- */

/* A file with catalogue functions, below any overlay. While it has probes the kernel holds it, so
 * its number is not given to another. */
struct known {
	struct plan *plan;
	uint64_t fingerprint;	/* of all that was planned */
	/* our own, while probes of it may be made again; else -1 */
	int fd;
	bool filtered;		/* there is a process filter on its probes */
	bool changed;		/* in place; a message was logged */
	bool failed;		/* links could not be made; a message was logged */
	bool driver;		/* launches of the driver are probed */
	bool chosen;		/* the plan holds the best selection that is possible */
	struct attach_info info;
};

/* Where only a few functions can be probed: an attach_file before attach_begin. */
struct wish {
	size_t index;		/* in known */
	pid_t pid;
};

struct few {
	size_t max, used;	/* probes; max 0: there is no limit */
	bool waits;		/* for attach_begin */
	VEC(struct wish) wishes;
};

struct attach {
	struct loader *loader;
	struct plan_rules rules;
	bool handed_over;	/* no filters any more */
	struct few few;
	struct attach_launches launches;
	struct strpool *names;
	VEC(struct known) known;
	/* the file's fstat identity -> index + 1 in known; 0: no functions */
	struct map seen;
	struct map real;	/* how the kernel keys uprobes -> index + 1 in known */
	/* (index, filter) that have their links -> since when */
	struct map done;
	struct map op_ids;	/* of operators that were found */
	VEC(struct attach_op) new_ops;	/* not passed on yet */
};

struct attach_for {
	int fd;			/* of the file */
	pid_t pid;		/* the filter */
};

/* The kernel's error for an instruction that it cannot probe. */
#if defined(__aarch64__)
#define KERNEL_REFUSES EINVAL
#else
#define KERNEL_REFUSES 524	/* ENOTSUPP, not in errno.h */
#endif
#define SEEN_MAX (1u << 16)	/* files remembered; forgetting one costs a second look */

/* Without memory for its name it is shown by its id. */
static void on_op(void *ctx, uint64_t id, const char *name)
{
	struct attach *a = ctx;
	const char *kept = strpool_add(a->names, name);
	struct attach_op *op;
	bool is_new;

	if (!kept || !map_put(&a->op_ids, id, &is_new) || !is_new)
		return;
	op = VEC_PUSH(&a->new_ops);
	if (op)
		*op = (struct attach_op){ id, kept };
}

struct attach *attach_new(struct loader *l, const struct plan_rules *rules)
{
	const struct loader_facts facts = loader_facts(l);
	struct attach *a = calloc(1, sizeof(*a));

	if (!a)
		return NULL;
	a->loader = l;
	a->rules = *rules;
	a->rules.step_ns = facts.step_cost_ns;
	/* Where returns must be refused call by call, the BPF program decides which processes
	 * are followed, not the kernel's filter: see loader_facts. */
	a->handed_over = facts.returns == GP_RETURNS_NO_SECCOMP;
	a->few.max = facts.probes_max;
	a->few.waits = a->few.max > 0;
	a->launches.until = rules->launch == LAUNCH_HELPER ? PLAN_RUNTIME_LAUNCHES : PLAN_PARTS;
	a->names = strpool_new();
	if (!a->names) {
		free(a);
		return NULL;
	}
	if (rules->ops)
		on_op(a, GP_OP_BACKWARD, "autograd.backward");
	return a;
}

unsigned int attach_tier(const struct attach *a)
{
	return a->rules.tier;
}

void attach_free(struct attach *a)
{
	if (!a)
		return;
	for (size_t i = 0; i < a->known.n; i++) {
		free(a->known.v[i].plan);
		io_close(&a->known.v[i].fd);
	}
	VEC_FREE(&a->known);
	VEC_FREE(&a->few.wishes);
	map_free(&a->seen);
	map_free(&a->real);
	map_free(&a->done);
	map_free(&a->op_ids);
	VEC_FREE(&a->new_ops);
	strpool_free(a->names);
	free(a);
}

/* ---- which file it is ------------------------------------------------------------------------ */

static uint64_t mix(uint64_t key, uint64_t more)
{
	return map_hash(key ^ more) + 1;
}

/*
 * An inode number is reused once the file is gone, and a file can be overwritten in place:
 * birth, last change and size distinguish such files.
 */
static uint64_t identity(const struct target_file *file)
{
	uint64_t key = mix(map_hash(file->dev), file->ino);
	struct statx st;

	if (statx(file->fd, "", AT_EMPTY_PATH, STATX_BTIME | STATX_MTIME | STATX_SIZE, &st))
		return key;
	key = mix(key, st.stx_mask & STATX_BTIME ? (uint64_t)st.stx_btime.tv_sec : 0);
	key = mix(key, st.stx_mask & STATX_BTIME ? st.stx_btime.tv_nsec : 0);
	key = mix(key, (uint64_t)st.stx_mtime.tv_sec);
	key = mix(key, st.stx_mtime.tv_nsec);
	return mix(key, st.stx_size);
}

/* The file below any overlay; a poor substitute where the kernel does not report it. */
static uint64_t real_key(struct attach *a, const struct target_file *file)
{
	struct file_key key = { .dev = file->dev, .ino = file->ino };
	int err = file_key_read(a->loader, file->fd, &key);

	if (err)
		log_warn("cannot find the file behind %s: %s; if it lies under several "
			 "overlays, its calls are counted once for each", file->path,
			 strerror(-err));
	return mix(map_hash(key.dev), key.ino);
}

/* Reports functions that moved, whatever part of the plan is carried out. */
static uint64_t fingerprint(const struct plan *plan)
{
	uint64_t print = plan_size(plan);

	for (size_t i = 0; i < plan_size(plan); i++)
		print = mix(print, plan->offsets[i]);
	return print;
}

/* The file's index in known + 1, or -errno. */
static int add_known(struct attach *a, const struct target_file *file, struct elf_file *ef,
		     struct plan *plan)
{
	struct known *k = VEC_PUSH(&a->known);
	char hex[ELF_BUILD_ID_TEXT];

	if (!k)
		return -ENOMEM;
	elf_build_id(ef, hex, sizeof(hex));
	*k = (struct known){ .plan = plan, .fingerprint = fingerprint(plan), .fd = -1, .info = {
		.path = strpool_add(a->names, file->path),
		.build_id = strpool_add(a->names, hex),
		.result = { .too_dear = plan->too_dear, .refused = plan->refused },
	} };
	if (k->info.path && k->info.build_id)
		return (int)a->known.n;
	a->known.n--;
	return -ENOMEM;
}

/* A file with functions. Its index + 1, or -errno. */
static int know(struct attach *a, const struct target_file *file, struct elf_file *ef,
		struct plan *plan)
{
	struct map_slot *slot = map_put(&a->real, real_key(a, file), NULL);
	struct known *k;
	int rc;

	if (!slot)
		return -ENOMEM;
	if (slot->value) {
		/* Met again under another name, or written over: probes stay where the old
		 * functions were. */
		k = &a->known.v[slot->value - 1];
		if (!k->changed && k->fingerprint != fingerprint(plan))
			log_warn("%s was overwritten while it is probed: calls of processes that "
				 "load it now are not seen; end gpuprof, and replace libraries by "
				 "renaming", file->path);
		k->changed |= k->fingerprint != fingerprint(plan);
		return (int)slot->value;
	}
	rc = add_known(a, file, ef, plan);
	if (rc > 0)
		slot->value = (uint64_t)rc;
	return rc;
}

bool attach_next_op(struct attach *a, struct attach_op *out)
{
	if (!a->new_ops.n)
		return false;
	*out = a->new_ops.v[--a->new_ops.n];
	return true;
}

/* Where it is not known what tensors look like, operators are recorded without their shapes. */
static void number_layout(struct attach *a, struct plan *plan, const char *path)
{
	const uint64_t number = plan->layout.types ? loader_layout(a->loader, &plan->layout) : 0;
	size_t n = 0;

	for (size_t i = 0; i < plan_size(plan); i++) {
		if (!(plan->rows[i] & GP_COOKIE_SHAPE_BITS))
			continue;
		n++;
		plan->rows[i] = number ? plan->rows[i] | number << GP_COOKIE_LAYOUT_SHIFT :
					 plan->rows[i] & ~GP_COOKIE_SHAPE_BITS;
	}
	if (n && !number)
		log_warn("cannot find where the tensors of %s have their sizes: its operators are "
			 "recorded without --shapes", path);
}

/* Index + 1, 0: it holds no functions, or -errno. */
static int look_at(struct attach *a, const struct target_file *file)
{
	struct elf_file *ef = elf_file_open(file->fd, file->path);
	struct plan *plan;
	int rc;

	if (!ef)
		return errno == ENOMEM ? -ENOMEM : 0;
	plan = calloc(1, sizeof(*plan));
	rc = plan ? plan_file(plan, ef, file->path, &a->rules,
			      &(struct plan_ops_sink){ on_op, a }) : -ENOMEM;
	if (!rc && plan->found && a->rules.shapes)
		number_layout(a, plan, file->path);
	if (!rc && plan->found)
		rc = know(a, file, ef, plan);
	if (rc <= 0 || a->known.v[rc - 1].plan != plan)
		free(plan);
	elf_file_close(ef);
	return rc;
}

/* As look_at, once for each file. */
static int recall(struct attach *a, const struct target_file *file)
{
	struct map_slot *slot;
	bool is_new;
	int rc;

	if (a->seen.n >= SEEN_MAX)
		map_free(&a->seen);
	slot = map_put(&a->seen, identity(file), &is_new);
	if (!slot)
		return -ENOMEM;
	if (!is_new)
		return (int)slot->value;
	rc = look_at(a, file);
	slot->value = rc > 0 ? (uint64_t)rc : 0;
	if (rc < 0)
		map_del(&a->seen, identity(file));
	return rc;
}

/* ---- links ----------------------------------------------------------------------------------- */

struct range {			/* of a plan's probes */
	size_t from, n;
};

static struct range range_of(const struct plan *plan, enum plan_part part)
{
	size_t from = plan_begin(plan, part);

	return (struct range){ from, plan->end[part] - from };
}

/*
 * Attaches a range of probes; one that the kernel refuses fails the whole link and is not
 * named, so halve until it stands alone. (elf_classify foresees nearly all of them.)
 */
static int attach_range(struct attach *a, const struct loader_probes *how, struct plan *plan,
			struct range r, struct attach_result *result)
{
	struct range first = { r.from, r.n / 2 }, rest = { r.from + r.n / 2, r.n - r.n / 2 };
	struct loader_probes p = *how;
	int err;

	p.offsets = plan->offsets + r.from;
	p.rows = plan->rows + r.from;
	p.semaphores = plan->semaphores + r.from;
	p.n = r.n;
	if (!r.n)
		return 0;
	err = loader_attach(a->loader, &p);
	if (!err)
		result->probes += (unsigned int)r.n;
	if (err != -KERNEL_REFUSES && err != -ENOEXEC)	/* the latter: it cannot be decoded */
		return err;
	if (r.n == 1) {
		if (plan_outcome(plan, *p.rows))
			*plan_outcome(plan, *p.rows) |= PLAN_REFUSED;
		result->refused++;
		return 0;
	}
	err = attach_range(a, how, plan, first, result);
	return err ? err : attach_range(a, how, plan, rest, result);
}

/* Of its links. */
static unsigned int group_of(enum plan_part part)
{
	return part == PLAN_RUNTIME_LAUNCHES ? GP_GROUP_RUNTIME_LAUNCHES :
	       part == PLAN_DRIVER_LAUNCHES  ? GP_GROUP_DRIVER_LAUNCHES : 0;
}

static int attach_plan(struct attach *a, int fd, struct plan *plan, enum plan_part part,
		       const struct loader_probes *how, struct attach_result *result)
{
	struct range all = range_of(plan, part);
	size_t at_once = a->few.max ? 1 : all.n;
	struct loader_probes p = *how;
	char path[64];
	int err = 0;

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	p.path = path;
	p.group = group_of(part);
	p.is_entry_only = part == PLAN_ENTRIES;
	for (size_t i = 0; i < all.n && !err; i += at_once)
		err = attach_range(a, &p, plan, (struct range){ all.from + i, at_once }, result);
	return err;
}

/* Until it is attached, CUPTI's records stand for calls of the file. */
static void note_failed(struct plan *plan, enum plan_part part, bool failed)
{
	struct range all = range_of(plan, part);

	for (size_t i = all.from; i < all.from + all.n; i++) {
		uint8_t *outcome = plan_outcome(plan, plan->rows[i]);

		if (outcome)
			*outcome = (uint8_t)(failed ? *outcome | PLAN_FAILED :
						      *outcome & ~PLAN_FAILED);
	}
}

#define PART_SHIFT 30	/* no pid has that bit */

static uint64_t part_key(size_t index, enum plan_part part)
{
	return (uint64_t)index << 32 | (uint64_t)part << PART_SHIFT;
}

/* 1: (part, filter) had no links and now counts as having them, 0: it has, -ENOMEM. Functions
 * attached for all processes need no filter. */
static int attach_claim(struct attach *a, size_t index, enum plan_part part, pid_t pid)
{
	uint64_t all = part_key(index, part);
	bool is_new;

	if (map_find(&a->done, all))
		return 0;
	return map_put(&a->done, all | (uint32_t)pid, &is_new) ? is_new : -ENOMEM;
}

/* From now on, if it has links. */
static void note_armed(struct attach *a, uint64_t key)
{
	if (map_find(&a->done, key))
		map_put(&a->done, key, NULL)->value = time_now_ns();
}

/* Since when this process is seen, by links of its own or by those for all. */
static uint64_t armed_since(const struct attach *a, size_t index, enum plan_part part, pid_t pid)
{
	const struct map_slot *own = map_find(&a->done, part_key(index, part) | (uint32_t)pid);
	const struct map_slot *all = map_find(&a->done, part_key(index, part));

	return own ? own->value : all ? all->value : 0;
}

/* May probes of its launches be taken off, and be made again? */
static bool changes_launches(const struct attach *a, const struct known *k)
{
	return a->rules.launch == LAUNCH_AUTO && !a->few.max &&
	       plan_size(k->plan) > plan_begin(k->plan, PLAN_RUNTIME_LAUNCHES);
}

/* Makes the links of a part. 0 or -errno, logged once for the file but for -ESRCH. */
static int make_links(struct attach *a, struct known *k, enum plan_part part,
		      const struct attach_for *to, struct attach_result *result)
{
	int err = attach_plan(a, to->fd, k->plan, part,
			      &(struct loader_probes){ .pid = to->pid }, result);

	if (err == -ESRCH)
		return err;
	note_failed(k->plan, part, err);
	if (err && !k->failed)
		log_error("cannot attach to %s: %s; see gpuprof doctor", k->info.path,
			  strerror(-err));
	k->failed |= err;
	return err;
}

/* The same of a claimed part, the first time: adds them to result and to the file's info. */
static int attach_links(struct attach *a, struct known *k, enum plan_part part,
			const struct attach_for *to, struct attach_result *result)
{
	int err = make_links(a, k, part, to, result);

	if (err)
		return err;
	k->driver |= part == PLAN_DRIVER_LAUNCHES && range_of(k->plan, part).n;
	k->filtered |= result->probes && to->pid;
	result->left_out = k->plan->left_out;
	k->info.result = *result;
	if (!result->probes || k->fd >= 0 || !(to->pid || changes_launches(a, k)))
		return 0;
	k->fd = fcntl(to->fd, F_DUPFD_CLOEXEC, 0);
	return k->fd < 0 ? -errno : 0;
}

/*
 * ---- a few probes ------------------------------------------------------------------------------
 *
 * Ways of attaching in which only a few functions can be probed at a time: candidates at the
 * start are collected, so that the best of all files are chosen; files that come later share the
 * rest. Owns the choice and its order in time; plan.c ranks.
 */

static int is_runtime(void *ctx, const struct target_file *file)
{
	struct attach *a = ctx;
	int index = recall(a, file);

	return index > 0 && plan_has_runtime(a->known.v[index - 1].plan);
}

/* Does the process map a runtime whose launches are probed? If unknown, no: a launch that is hit
 * twice is better than none. pid 0: a command that has not begun, with the libraries it will
 * load. */
static bool has_runtime(struct attach *a, pid_t pid)
{
	if (pid)
		return target_each_file(pid, is_runtime, a) == 1;
	for (size_t i = 0; i < a->known.n; i++)
		if (plan_has_runtime(a->known.v[i].plan))
			return true;
	return false;
}

/* The last part of plans that a process wants probed; pid as above. */
static enum plan_part last_part(struct attach *a, pid_t pid)
{
	if (a->rules.launch == LAUNCH_HELPER)
		return PLAN_ENTRIES;
	return a->rules.launch == LAUNCH_RUNTIME && has_runtime(a, pid) ? PLAN_RUNTIME_LAUNCHES :
									  PLAN_DRIVER_LAUNCHES;
}

/* Keeps of the plans for n files the best functions that are still possible, for good. */
static int choose(struct attach *a, struct known *k, size_t n)
{
	struct plan **plans = calloc(n ? n : 1, sizeof(struct plan *));
	int err;

	if (!plans)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++)
		plans[i] = k[i].plan;
	err = plan_keep_core(plans, n, last_part(a, 0), a->few.max - a->few.used);
	for (size_t i = 0; i < n && !err; i++) {
		a->few.used += plan_size(k[i].plan);
		k[i].chosen = true;
	}
	free(plans);
	return err;
}

/* Two processes use one file: probes for each would be as many again. */
static int wish(struct attach *a, size_t index, const struct attach_for *to)
{
	struct known *k = &a->known.v[index];
	struct wish *w = VEC_PUSH(&a->few.wishes);

	if (!w)
		return -ENOMEM;
	*w = (struct wish){ index, to->pid };
	if (k->fd >= 0) {
		a->handed_over = true;
		return 0;
	}
	k->fd = fcntl(to->fd, F_DUPFD_CLOEXEC, 0);
	return k->fd < 0 ? -errno : 0;
}

static int fulfil(struct attach *a, const struct wish *w)
{
	struct known *k = &a->known.v[w->index];
	pid_t pid = a->handed_over ? 0 : w->pid;
	struct attach_result result = k->info.result;
	int err = attach_claim(a, w->index, PLAN_OTHERS, pid);

	if (err == 1)
		err = attach_links(a, k, PLAN_OTHERS, &(struct attach_for){ k->fd, pid }, &result);
	if (!pid)
		io_close(&k->fd);
	return err == -ESRCH ? 0 : err;		/* it has just exited; the watch reports that */
}

int attach_begin(struct attach *a)
{
	int err;

	if (!a->few.waits)
		return 0;
	a->few.waits = false;
	map_free(&a->done);
	err = choose(a, a->known.v, a->known.n);
	for (size_t i = 0; i < a->few.wishes.n && !err; i++)
		err = fulfil(a, &a->few.wishes.v[i]);
	VEC_FREE(&a->few.wishes);
	return err;
}

/* The same where few.max is set: later, or with the best functions still possible. */
static int attach_few(struct attach *a, size_t index, const struct attach_for *to,
		      struct attach_result *result)
{
	struct known *k = &a->known.v[index];
	bool again = k->fd >= 0;	/* as in wish */
	int err = 0;

	if (a->few.waits || again) {
		result->probes = (unsigned int)plan_size(k->plan);
		return a->few.waits ? wish(a, index, to) : attach_hand_over(a);
	}
	if (!k->chosen)
		err = choose(a, k, 1);
	return err ? err : attach_links(a, k, PLAN_OTHERS, to, result);
}

/* ---- files ----------------------------------------------------------------------------------- */

static bool has_calls(const struct plan *plan)
{
	return plan->has_calls && plan_size(plan);
}

static int attach_part(struct attach *a, size_t index, enum plan_part part,
		       const struct attach_for *to, struct attach_result *result)
{
	int err = attach_claim(a, index, part, to->pid);
	unsigned int before = result->probes;

	if (err <= 0)
		return err;
	err = a->few.max ? attach_few(a, index, to, result) :
			   attach_links(a, &a->known.v[index], part, to, result);
	/* Descriptors or memory may be available next time; a file with some of its links gets
	 * no second ones. */
	if (err && result->probes == before)
		map_del(&a->done, part_key(index, part) | (uint32_t)to->pid);
	else
		note_armed(a, part_key(index, part) | (uint32_t)to->pid);
	return err;
}

/* A part that has no links now: they are made when it has them again. */
static int put_off(struct attach *a, size_t index, enum plan_part part, const struct attach_for *to)
{
	struct known *k = &a->known.v[index];
	int rc = attach_claim(a, index, part, to->pid);

	if (rc <= 0)
		return rc;
	k->driver |= part == PLAN_DRIVER_LAUNCHES;
	k->filtered |= to->pid > 0;
	if (k->fd < 0)
		k->fd = fcntl(to->fd, F_DUPFD_CLOEXEC, 0);
	return k->fd < 0 ? -errno : 0;
}

int attach_file(struct attach *a, const struct target_file *file, pid_t pid,
		struct attach_result *result)
{
	int index = recall(a, file), err = 0;
	struct attach_for to = { file->fd, a->handed_over ? 0 : pid };
	enum plan_part last;

	*result = (struct attach_result){ 0 };
	if (index <= 0)
		return index;
	*result = a->known.v[--index].info.result;
	result->probes = 0;
	if (changes_launches(a, &a->known.v[index]) && a->launches.until != PLAN_PARTS &&
	    !a->launches.stays) {
		attach_set_launches(a, PLAN_PARTS, false);
		a->launches.returns++;
	}
	last = a->few.max ? PLAN_OTHERS : last_part(a, file->pid);
	for (unsigned int part = 0; part <= last; part++) {
		int rc;

		if (part && !range_of(a->known.v[index].plan, part).n)
			continue;
		rc = part < a->launches.until || !a->launches.stays ?
			     attach_part(a, (size_t)index, part, &to, result) :
			     put_off(a, (size_t)index, part, &to);
		err = err ? err : rc;
		result->armed_ns = num_max(result->armed_ns,
					   armed_since(a, (size_t)index, part, file->pid));
	}
	result->has_probes = plan_size(a->known.v[index].plan);
	result->has_calls = has_calls(a->known.v[index].plan);
	return err;
}

bool attach_wants(struct attach *a, const struct target_file *file)
{
	int index = recall(a, file);

	return index > 0 && has_calls(a->known.v[index - 1].plan);
}

bool attach_follows(const struct attach *a, pid_t pid)
{
	return loader_follows(a->loader, pid);
}

/* Links for all processes, which wait, for files that have some with a filter. 0 or -errno. */
static int hand_over(struct attach *a, size_t index, enum plan_part part)
{
	struct known *k = &a->known.v[index];
	struct attach_result result = { 0 };
	int rc = k->filtered ? attach_claim(a, index, part, 0) : 0;

	if (rc == 1)
		rc = part < a->launches.until ?
			     attach_plan(a, k->fd, k->plan, part,
					 &(struct loader_probes){ .waits = true },
					 &result) : 0;
	if (rc < 0)
		map_del(&a->done, part_key(index, part));
	return rc;
}

int attach_hand_over(struct attach *a)
{
	int err = 0;

	if (a->handed_over || a->few.waits) {
		a->handed_over = true;
		return 0;
	}
	for (size_t i = 0; i < a->known.n; i++) {
		for (unsigned int part = 0; part < PLAN_PARTS; part++) {
			int rc = part != PLAN_DRIVER_LAUNCHES || a->known.v[i].driver ?
					 hand_over(a, i, part) : 0;

			err = rc ? rc : err;
		}
	}
	if (err) {
		log_error("cannot attach for all processes: %s; children are not measured",
			  strerror(-err));
		return err;
	}
	loader_hand_over(a->loader);
	a->handed_over = true;
	for (size_t i = 0; i < a->known.n; i++) {
		struct known *k = &a->known.v[i];

		k->filtered = false;
		if (!changes_launches(a, k))
			io_close(&k->fd);
		for (unsigned int part = 0; part < PLAN_PARTS; part++)
			note_armed(a, part_key(i, part));
	}
	return 0;
}

/* ---- launches that need no probes ------------------------------------------------------------ */

struct attach_launches attach_launches(const struct attach *a)
{
	return a->launches;
}

/* Links as those that were taken off. A process that has ended needs none. */
static void attach_again(struct attach *a, enum plan_part part)
{
	for (size_t i = 0; i < a->done.cap; i++) {
		struct map_slot *done = &a->done.slot[i];
		pid_t pid = (pid_t)(done->key & ((1u << PART_SHIFT) - 1));
		struct attach_result result = { 0 };
		struct known *k;

		if (!done->used || (done->key >> PART_SHIFT & 3) != part ||
		    (a->handed_over && pid))
			continue;
		k = &a->known.v[done->key >> 32];
		make_links(a, k, part, &(struct attach_for){ k->fd, pid }, &result);
		done->value = time_now_ns();
	}
}

void attach_set_launches(struct attach *a, enum plan_part until, bool stays)
{
	/* The runtime's first and last: what the driver does inside it is not the driver's own. */
	for (unsigned int part = PLAN_RUNTIME_LAUNCHES; part < PLAN_PARTS; part++)
		if (part < until && part >= a->launches.until)
			attach_again(a, part);
	for (unsigned int part = PLAN_PARTS - 1; part >= PLAN_RUNTIME_LAUNCHES; part--)
		if (part >= until && part < a->launches.until)
			loader_detach_group(a->loader, group_of(part));
	a->launches.until = until;
	a->launches.stays = stays;
	a->launches.since_ns = time_now_ns();
}

bool attach_probes_driver(const struct attach *a)
{
	for (size_t i = 0; i < a->known.n; i++)
		if (a->known.v[i].driver)
			return true;
	return false;
}

uint8_t attach_outcome(const struct attach *a, unsigned int row)
{
	uint8_t outcome = 0;

	for (size_t i = 0; i < a->known.n; i++)
		outcome |= a->known.v[i].plan->outcome[row];
	return outcome;
}

size_t attach_count(const struct attach *a)
{
	return a->known.n;
}

const struct attach_info *attach_get(const struct attach *a, size_t i)
{
	return &a->known.v[i].info;
}
